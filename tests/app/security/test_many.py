"""Many connections and bodies at once, of people who want nothing else: others are served, and memory stays bounded."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from finexpert.app.people import access

SECONDS = 20.0
OPTIONS = {"url": "http://finexpert.example", "questions_at_once": 4, "waiting": 4}
DESK: Any = None
HOST = b"Host: finexpert.example\r\n"
LOGIN = b"POST /login HTTP/1.1\r\n" + HOST + b"Origin: http://finexpert.example\r\n"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"
# What each of them sends; then it waits.
MANY = {
    "nothing": b"",
    "a piece of a head": b"GET /healthz HTTP/1.1\r\nHos",
    "a request, answered, and nothing more": b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    "a request, and half of the next": b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\nGET",
    "half of a body": LOGIN + FORM + b"Content-Length: 1000\r\n\r\ntoken=x",
    "a body in pieces": LOGIN + FORM + b"Transfer-Encoding: chunked\r\n\r\n5\r\ntoken\r\n",
    "a refused body": LOGIN.replace(b"/login", b"/api/terms") + b"Content-Length: 1000\r\n\r\n{",
    "many requests, whose answers are not read": (b"GET /static/vendor/uPlot.iife.min.js HTTP/1.1\r\n" + HOST + b"\r\n")
    * 40,
}


@pytest.fixture
def honest(port: int) -> Iterator[httpx.Client]:
    """Somebody with a token, who opens a connection for each request."""
    _, secret = access.make_token(DESK.state, "eve", role="reader", team="local", days=1, made_by="test")
    headers = {"authorization": f"Bearer {secret}", "host": "finexpert.example", "connection": "close"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=10) as client:
        yield client


def _is_turned_away(honest: httpx.Client) -> bool:
    try:
        return honest.get("/api/me").status_code == 503
    except httpx.TransportError:
        return True  # a connection that is closed with the answer 503 may lose it


@pytest.mark.parametrize("what", MANY)
def test_who_opens_many_connections_keeps_nobody_out(port: int, honest: httpx.Client, what: str) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(60):
            client = stack.enter_context(contextlib.closing(socket.socket()))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
            client.connect(("127.0.0.1", port))
            with contextlib.suppress(OSError):
                client.settimeout(0.2)
                client.sendall(MANY[what])
        until = time.monotonic() + 3
        while _is_turned_away(honest) and time.monotonic() < until:
            time.sleep(0.1)  # what was asked for is being answered
        assert [honest.get("/api/me").status_code for _ in range(3)] == [200, 200, 200]


@pytest.mark.parametrize("size", [20_001, 2_000_000])
def test_who_is_not_known_sends_no_large_body(port: int, size: int) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    headers = {"host": "finexpert.example", "origin": "http://finexpert.example"} | form
    for content in ({"content": b"x" * size}, {"content": (b"x" * 1_000 for _ in range(size // 1_000 + 1))}):
        assert httpx.post(f"http://127.0.0.1:{port}/login", headers=headers, **content).status_code == 413
    assert httpx.post(f"http://127.0.0.1:{port}/login", headers=headers, data={"token": "x" * 500}).status_code == 401


def test_one_person_sends_few_large_bodies_at_once(port: int, honest: httpx.Client) -> None:
    token = honest.headers["authorization"].encode()
    head = (
        b"POST /api/conversations HTTP/1.1\r\n"
        + HOST
        + b"Content-Type: application/json\r\nContent-Length: 1900000\r\n"
    )
    told: list[bytes] = []

    def send(client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            client.sendall(head + b"Authorization: " + token + b"\r\n\r\n" + b"x" * 1_000)
            client.settimeout(2)
            told.append(client.recv(12))

    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(14)]
        threads = [threading.Thread(target=send, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert told.count(b"HTTP/1.1 429") == 6
