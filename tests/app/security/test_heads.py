"""Heads that a proxy could read in another way: they are refused, and what follows them is no request."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from starlette.testclient import TestClient

from finexpert.app.guarding.heads import HeadRefused, check_head
from finexpert.app.people import access
from finexpert.app.server import create_app

HOST = b"Host: 127.0.0.1\r\n"
NEXT = b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
TWO_WAYS = [
    HOST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
    HOST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
    HOST + b"Transfer-Encoding: chunked\r\ncontent-length: 0\r\n",
    HOST + HOST + b"Transfer-Encoding: chunked\r\n",
    HOST + b"Transfer-Encoding: chunked\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n",
    HOST + b"Transfer-Encoding: chunked\r\nOrigin: http://127.0.0.1\r\nOrigin: http://evil.example\r\n",
    HOST + b"Transfer-Encoding: chunked\r\nX: " + b"a" * 70_000 + b"\r\n",
]


@pytest.mark.parametrize("head", TWO_WAYS, ids=lambda head: head[:80].decode())
def test_nothing_after_such_a_head_is_answered(port: int, head: bytes) -> None:
    said = b""
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.settimeout(10)
        client.sendall(b"POST /healthz HTTP/1.1\r\n" + head + b"\r\n" + NEXT)
        try:
            while part := client.recv(65_536):
                said += part
        except ConnectionError:
            pass
    assert said.count(b"HTTP/1.1 ") == 1
    assert said.startswith((b"HTTP/1.1 400", b"HTTP/1.1 431"))


@pytest.mark.parametrize(
    "headers",
    [
        [(b"host", b"a"), (b"Host", b"b")],
        [(b"Authorization", b"Bearer a"), (b"authorization", b"Bearer a")],
        [(b"content-length", b"1"), (b"Transfer-Encoding", b"chunked")],
        [(b"x", b"a" * 9_000), (b"y", b"a" * 9_000)],
        [(b"origin", b"a"), (b"x", b"1"), (b"origin", b"b")],
    ],
)
def test_a_head_that_says_two_things_or_too_much(headers: list[tuple[bytes, bytes]]) -> None:
    with pytest.raises(HeadRefused):
        check_head(headers)
    check_head([*dict(headers[:1]).items(), (b"cookie", b"a=1"), (b"cookie", b"b=2")])


def test_a_page_of_another_scheme_changes_nothing(client: TestClient, office: Any) -> None:
    reply = client.post(
        "/api/conversations", json={"source": office.source}, headers={"origin": "https://127.0.0.1:8400"}
    )
    assert reply.status_code == 403


@pytest.mark.parametrize(
    ("served", "origin", "status"),
    [("https", "https", 303), ("https", "http", 403), ("http", "http", 303), ("http", "https", 303)],
)
def test_a_page_over_http_logs_nobody_in_over_https(make_office: Any, served: str, origin: str, status: int) -> None:
    """Without FINEXPERT_SERVE_URL: whether it is HTTPS says the server itself, or a proxy that is believed."""
    office = make_office(host="0.0.0.0")
    _, token = access.make_token(office.desk.state, "eve", role="reader", team="local", days=1.0, made_by="test")
    app = create_app(office.desk, close=False)
    with TestClient(app, base_url=f"{served}://desk.example", follow_redirects=False) as client:
        reply = client.post("/login", data={"token": token}, headers={"origin": f"{origin}://desk.example"})
    assert reply.status_code == status
    if status == 303:
        assert ("secure" in reply.headers["set-cookie"].lower()) == (served == "https")


@pytest.mark.parametrize("number", [0, -1, 1 << 31, 1 << 63, 10**20])
def test_a_chart_of_any_number_is_found_or_is_not(client: TestClient, office: Any, number: int) -> None:
    conversation = client.post("/api/conversations", json={"source": office.source}).json()["id"]
    asked = client.post(f"/api/conversations/{conversation}/ask", json={"question": "How many trades?"}).json()["id"]
    assert client.get(f"/api/answers/{asked}/figures/{number}.png").status_code == 404
