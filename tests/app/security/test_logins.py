"""Logging in: the form, its cookie, its limits, where it leads; and who the company's login lets in."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from finexpert.app.guard import COOKIE
from finexpert.app.logins import local_path, person_of_claims
from finexpert.app.options import ServeOptions
from finexpert.app.people import access
from finexpert.app.server import create_app
from finexpert.app.state import tables
from finexpert.errors import Forbidden, NotFound, NotLoggedIn


def test_the_cookie_of_a_login(house: Any) -> None:
    with house.stranger() as browser:
        reply = browser.post(
            "/login", data={"token": house.token("eve"), "next": "//evil.example"}, headers={"origin": house.base}
        )
    assert reply.headers["location"] == "/"
    cookie = reply.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=lax", "secure", "path=/"))


def test_another_site_logs_nobody_in(house: Any) -> None:
    with house.stranger() as browser:
        reply = browser.post("/login", data={"token": house.token("eve")}, headers={"origin": "https://evil.example"})
    assert reply.status_code == 403


def test_a_wrong_token_at_the_form_is_not_repeated(house: Any) -> None:
    with house.stranger() as browser:
        reply = browser.post(
            "/login", data={"token": "<script>x</script>", "next": '"><script>'}, headers={"origin": house.base}
        )
    assert reply.status_code == 401
    assert "<script" not in reply.text


def test_logins_are_limited(make_office: Any) -> None:
    office = make_office(url="https://finexpert.example", logins_per_minute=3)
    with TestClient(create_app(office.desk, close=False), base_url="https://finexpert.example") as browser:
        statuses = [
            browser.post("/login", data={"token": "x"}, headers={"origin": "https://finexpert.example"}).status_code
            for _ in range(4)
        ]
    assert statuses == [401, 401, 401, 429]


def test_tokens_that_are_tried_out_are_limited(make_office: Any) -> None:
    office = make_office(url="https://finexpert.example", requests_per_minute=3)
    with TestClient(create_app(office.desk, close=False), base_url="https://finexpert.example") as client:
        guessed = {"authorization": "Bearer fx_guessed"}
        statuses = [client.get("/api/me", headers=guessed).status_code for _ in range(4)]
    assert statuses == [401, 401, 401, 429]


def test_requests_are_limited(make_office: Any) -> None:
    office = make_office(requests_per_minute=3)
    with TestClient(create_app(office.desk, close=False), base_url="http://127.0.0.1:8400") as client:
        replies = [client.get("/api/me") for _ in range(4)]
    assert [reply.status_code for reply in replies] == [200, 200, 200, 429]
    assert int(replies[-1].headers["retry-after"]) >= 1


def test_logging_out_ends_the_login(house: Any) -> None:
    with house.stranger() as browser:
        cookie = access.login(house.desk.state, house.office.ann, 1)
        browser.cookies.set(COOKIE, cookie)
        assert browser.post("/logout", headers={"origin": house.base}).status_code == 303
    assert access.person_of_login(house.desk.state, cookie) is None


def test_a_login_ends_by_itself(house: Any) -> None:
    cookie = access.login(house.desk.state, house.office.ann, 1)
    with house.desk.state.writing() as connection:
        connection.execute(tables.logins.update().values(expires=dt.datetime.now(dt.UTC)))
    assert access.person_of_login(house.desk.state, cookie) is None
    house.desk._beat()
    assert house.desk.state.row(sa.select(tables.logins)) is None


@pytest.mark.parametrize(
    "next",
    ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "\t//evil", "/\r\nx: y"],
)
def test_a_login_leads_nowhere_else(next: str) -> None:
    assert local_path(next) == "/"


OIDC = ServeOptions(
    oidc_issuer="https://id.example", oidc_teachers=["desk"], oidc_owners=["heads"], oidc_allowed=["staff"]
)


@pytest.mark.parametrize(
    ("claims", "role"),
    [({"groups": ["staff"]}, "reader"), ({"groups": "desk"}, "teacher"), ({"groups": ["heads", "desk"]}, "owner")],
)
def test_groups_of_the_company_become_roles(claims: Any, role: str) -> None:
    assert person_of_claims({"sub": "7", **claims}, OIDC).role == role


@pytest.mark.parametrize(
    ("claims", "error"),
    [
        ({}, NotLoggedIn),
        ({"sub": ""}, NotLoggedIn),
        ({"sub": 7}, NotLoggedIn),
        ({"sub": "7"}, Forbidden),
        ({"sub": "7", "groups": ["x"]}, Forbidden),
    ],
)
def test_who_the_company_does_not_name(claims: Any, error: Any) -> None:
    with pytest.raises(error):
        person_of_claims(claims, OIDC)


def test_a_subject_of_another_issuer_is_another_person() -> None:
    other = OIDC.model_copy(update={"oidc_issuer": "https://other.example"})
    told = {"sub": "7", "groups": ["staff"]}
    assert person_of_claims(told, OIDC).id != person_of_claims(told, other).id


def test_the_id_of_another_team_s_token_as_a_name_protects_and_ends_nothing(office: Any) -> None:
    desk = office.desk
    ours, _ = desk.make_token(office.ann, "nightly", "owner", 1)
    theirs, secret = desk.make_token(office.tom, ours.id, "owner", 1)
    assert desk.revoke_token(office.ann, ours.id).id == ours.id
    with pytest.raises(NotFound):
        desk.revoke_token(office.ann, ours.id)
    assert access.person_of_token(desk.state, secret) is not None
    assert desk.revoke_token(office.tom, theirs.id).id == theirs.id
