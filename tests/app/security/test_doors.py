"""Who may pass: without a token, with a wrong one, with one that may not; by another host, from another site, with too much."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
from typing import Any

import anyio.to_thread
import httpx
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from finexpert.app.guard import COOKIE
from finexpert.app.people import access
from finexpert.app.people.people import local_person
from finexpert.app.serving import check_login
from finexpert.app.state import tables
from finexpert.errors import ConfigurationError, Refused

JSON = {"content-type": "application/json"}


def every_door(app: Any) -> list[tuple[str, str]]:
    """Each method and path that is served, with something in the places of its parameters."""
    found = [("GET", "/metrics"), ("POST", "/logout"), ("GET", "/api/openapi.json"), ("GET", "/"), ("POST", "/mcp")]
    for path, methods in app.openapi()["paths"].items():
        filled = re.sub(r"\{\w+\}", "1", path)
        found += [(method.upper(), filled) for method in methods]
    return found


def test_no_door_opens_without_a_token(house: Any) -> None:
    doors = every_door(house.app)
    assert len(doors) > 50
    with house.stranger() as stranger:
        statuses = {(method, path): stranger.request(method, path).status_code for method, path in doors}
    assert set(statuses.values()) == {401}, statuses


def test_the_schema_is_for_those_who_are_known(house: Any) -> None:
    with house.stranger() as stranger, house.client() as eve:
        assert stranger.get("/api/openapi.json").status_code == 401
        assert "/api/conversations" in eve.get("/api/openapi.json").json()["paths"]
        assert eve.get("/docs").status_code == 404


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/login"])
def test_what_is_open_says_nothing(house: Any, path: str) -> None:
    with house.stranger() as stranger:
        reply = stranger.get(path)
    assert reply.status_code == 200
    assert str(house.desk.settings.home) not in reply.text
    assert "Sales" not in reply.text


@pytest.mark.parametrize(
    "said",
    [
        "Bearer",
        "Bearer ",
        "Bearer nonsense",
        "Bearer fx_00000000000000-0000000000000000_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "Basic YW5uOmFubg==",
        "bearer ' OR 1=1 --",
    ],
)
def test_a_wrong_token(house: Any, said: str) -> None:
    with house.stranger() as stranger:
        reply = stranger.get("/api/me", headers={"authorization": said})
    assert reply.status_code == 401
    assert reply.headers["www-authenticate"] == "Bearer"


def test_the_right_id_with_a_wrong_secret(house: Any) -> None:
    secret = house.token("eve")
    wrong = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    assert access.person_of_token(house.desk.state, secret) is not None
    assert access.person_of_token(house.desk.state, wrong) is None


def test_a_token_is_not_passed_over_for_a_cookie(house: Any) -> None:
    cookie = access.login(house.desk.state, house.office.ann, 1)
    with house.stranger() as stranger:
        stranger.cookies.set(COOKIE, cookie)
        assert stranger.get("/api/me").status_code == 200
        assert stranger.get("/api/me", headers={"authorization": "Bearer nonsense"}).status_code == 401


def test_a_token_expires(house: Any) -> None:
    secret = house.token("eve", days=1)
    with house.desk.state.writing() as connection:
        past = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=1)
        connection.execute(tables.tokens.update().values(expires=past))
    assert access.person_of_token(house.desk.state, secret) is None


@pytest.mark.parametrize("days", [0, -1, 10_000, float("nan")])
def test_a_token_is_good_for_a_time(house: Any, days: float) -> None:
    with pytest.raises(Refused, match="days"):
        house.token("eve", days=days)


def test_a_revoked_token_ends_its_logins_too(house: Any) -> None:
    secret = house.token("eve")
    with house.stranger() as stranger:
        origin = {"origin": house.base}
        assert stranger.post("/login", data={"token": secret}, headers=origin).status_code == 303
        assert stranger.get("/api/me").json()["name"] == "eve"
        access.revoke_token(house.desk.state, "eve", "test")
        assert stranger.get("/api/me").status_code == 401
        assert stranger.get("/api/me", headers={"authorization": f"Bearer {secret}"}).status_code == 401


def test_secrets_are_kept_nowhere(house: Any) -> None:
    secret = house.token("eve")
    cookie = access.login(house.desk.state, house.office.ann, 1)
    house.desk.state.engine.dispose()
    kept = b"".join(path.read_bytes() for path in house.desk.folder.glob("state.sqlite*"))
    assert secret.rpartition("_")[2].encode() not in kept
    assert cookie.encode() not in kept


@pytest.mark.parametrize(
    ("role", "scopes", "method", "path"),
    [
        ("reader", None, "GET", "/api/audit"),
        ("reader", None, "GET", "/api/tokens"),
        ("reader", None, "GET", "/metrics"),
        ("reader", None, "POST", "/api/terms"),
        ("reader", None, "PUT", "/api/sources/{source}/columns/sales.note/published"),
        ("teacher", None, "POST", "/api/tokens"),
        ("teacher", None, "POST", "/api/sources"),
        ("owner", ["read"], "POST", "/api/conversations"),
        ("owner", ["read"], "GET", "/api/sources/{source}/columns/sales.note/values"),
        ("owner", ["read", "ask"], "DELETE", "/api/terms/x"),
        ("owner", ["ask"], "GET", "/api/sources"),
    ],
)
def test_a_role_or_scope_that_is_not_enough(house: Any, role: str, scopes: Any, method: str, path: str) -> None:
    bodies = {
        "/api/terms": {"term": "a", "meaning": "b"},
        "/api/tokens": {"name": "x"},
        "/api/sources": {"name": "x", "address": "postgresql://x/y"},
        "/api/conversations": {"source": house.office.source},
    }
    given = {} if scopes is None else {"scopes": scopes}
    with house.client("mia", role, **given) as mia:
        reply = mia.request(method, path.format(source=house.office.source), json=bodies.get(path))
    assert reply.status_code == 403, reply.text
    assert reply.json()["error"]["type"] == "Forbidden"


def test_a_token_gives_no_more_than_who_makes_it_has(house: Any) -> None:
    with house.client("ann", "owner", scopes=["read", "manage"]) as ann:
        made = ann.post("/api/tokens", json={"name": "bot", "role": "owner"}).json()["token"]
    assert made["scopes"] == ["manage", "read"]


def test_tokens_of_another_team_are_not_seen_or_ended(house: Any) -> None:
    house.token("theirs", team="other")
    (theirs,) = access.tokens(house.desk.state)
    with house.client("ann", "owner") as ann:
        assert [each["name"] for each in ann.get("/api/tokens").json()] == ["ann"]
        assert ann.delete(f"/api/tokens/{theirs.id}").status_code == 404


# Which host, and which site.


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "[::1].evil.example"]
)
def test_a_host_that_is_not_ours(client: TestClient, host: str) -> None:
    assert client.get("/api/me", headers={"host": host}).status_code == 400


@pytest.mark.parametrize("host", ["127.0.0.1:8400", "localhost:8400", "[::1]:8400", "LOCALHOST"])
def test_a_host_that_is_ours(client: TestClient, host: str) -> None:
    assert client.get("/api/me", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "x-forwarded-host", "x-forwarded-proto"])
def test_a_server_without_a_login_does_not_stand_behind_a_proxy(client: TestClient, header: str) -> None:
    reply = client.get("/api/me", headers={header: "8.8.8.8"})
    assert reply.status_code == 403
    assert "behind a proxy" in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://127.0.0.1:8400.evil.example"},
        {"origin": ""},
        {"origin": "https://evil.example", "authorization": "x"},
        {"origin": "https://evil.example", "authorization": "Bearer fx_1_2"},
        {"sec-fetch-site": "cross-site", "authorization": "Basic YTpi"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_site_changes_nothing_on_a_server_without_a_login(
    client: TestClient, office: Any, headers: Any
) -> None:
    body = {"source": office.source}
    assert client.post("/api/conversations", json=body, headers=headers).status_code == 403
    assert office.desk.conversations(local_person()) == []


def test_our_own_page_and_programs_change_things(client: TestClient, office: Any) -> None:
    body = {"source": office.source}
    for headers in (
        {"origin": "http://127.0.0.1:8400"},
        {"sec-fetch-site": "same-origin"},
        {},
        {"authorization": "Bearer none"},
    ):
        assert client.post("/api/conversations", json=body, headers=headers).status_code == 201


@pytest.mark.parametrize("headers", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {}])
def test_a_cookie_alone_changes_nothing(house: Any, headers: Any) -> None:
    with house.stranger() as browser:
        browser.cookies.set(COOKIE, access.login(house.desk.state, house.office.ann, 1))
        body = {"source": house.office.source}
        assert browser.post("/api/conversations", json=body, headers=headers).status_code == 403
        assert browser.post("/api/conversations", json=body, headers={"origin": house.base}).status_code == 201


def test_another_site_opens_no_websocket(client: TestClient) -> None:
    with (
        pytest.raises(WebSocketDisconnect) as ended,
        client.websocket_connect("/x", headers={"origin": "https://evil.example"}),
    ):
        pass
    assert ended.value.code == 1008


def test_no_other_site_is_told_that_it_may_read(client: TestClient) -> None:
    reply = client.options(
        "/api/me", headers={"origin": "https://evil.example", "access-control-request-method": "GET"}
    )
    assert "access-control-allow-origin" not in reply.headers
    assert (
        "access-control-allow-origin" not in client.get("/api/me", headers={"origin": "https://evil.example"}).headers
    )


# What a server listens to.


@pytest.mark.parametrize(
    "options", [{"host": "0.0.0.0"}, {"host": "192.0.2.7"}, {"login": True}, {"url": "https://x.example"}]
)
def test_nobody_serves_others_without_a_way_to_log_in(make_office: Any, options: Any) -> None:
    office = make_office(**options)
    with pytest.raises(ConfigurationError, match="serve token create"):
        check_login(office.desk)
    info, _ = access.make_token(office.desk.state, "ann", role="owner", team="local", days=1, made_by="test")
    check_login(office.desk)
    access.revoke_token(office.desk.state, info.id, "test")
    with pytest.raises(ConfigurationError):
        check_login(office.desk)


def test_headers_of_every_reply(house: Any) -> None:
    with house.client() as eve, house.stranger() as stranger:
        replies = [eve.get("/api/me"), stranger.get("/api/me"), stranger.get("/login"), eve.get("/nowhere")]
    for reply in replies:
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["strict-transport-security"]
        assert "server" not in reply.headers
    assert replies[0].headers["cache-control"] == "no-store"
    assert "unsafe-eval" not in replies[0].headers["content-security-policy"]


def test_what_is_too_large_is_not_read(house: Any) -> None:
    with house.client() as eve:
        said = eve.post("/api/conversations", content=b"x", headers={**JSON, "content-length": "9000000000"})
        assert said.status_code == 413
        sent = eve.post("/api/conversations", content=(b"x" * 1_000_000 for _ in range(4)), headers=JSON)
        assert sent.status_code == 413
        assert eve.post("/api/conversations", content=b"x", headers={**JSON, "content-length": "-1"}).status_code == 413


def test_an_error_of_a_form_does_not_repeat_a_password(house: Any) -> None:
    with house.client("ann", "owner") as ann:
        body = {"user": ["no text"], "password": "correct horse"}
        reply = ann.put(f"/api/sources/{house.office.source}/credentials", json=body)
    assert reply.status_code == 422
    assert "correct horse" not in reply.text


def test_an_error_of_the_program_says_nothing_of_itself(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("the password is correct horse")

    monkeypatch.setattr(house.desk, "sources", broken)
    with house.client() as eve:
        eve_quiet = TestClient(house.app, base_url=house.base, headers=eve.headers, raise_server_exceptions=False)
        reply = eve_quiet.get("/api/sources")
    assert reply.status_code == 500
    assert "horse" not in reply.text
    assert "Traceback" not in reply.text


def test_a_server_whose_threads_all_wait_says_that_it_lives(house: Any) -> None:
    async def asked() -> int:
        transport = httpx.ASGITransport(app=house.app)
        async with httpx.AsyncClient(transport=transport, base_url=house.base) as client:
            threads = anyio.to_thread.current_default_thread_limiter()
            every = [object() for _ in range(int(threads.total_tokens))]
            for each in every:
                threads.acquire_on_behalf_of_nowait(each)
            try:
                return (await asyncio.wait_for(client.get("/healthz"), 5)).status_code
            finally:
                for each in every:
                    threads.release_on_behalf_of(each)

    assert asyncio.run(asked()) == 200


def test_methods_that_nobody_knows_are_counted_as_one(house: Any) -> None:
    with house.stranger() as stranger:
        for number in range(3):
            stranger.request(f"MADEUP{number}", "/api/sources")
    counted = house.desk.metrics.text().decode()
    assert "MADEUP" not in counted
    assert 'finexpert_http_requests_total{method="other",route="other",status="401"} 3.0' in counted
