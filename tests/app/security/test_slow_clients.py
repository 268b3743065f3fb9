"""Clients that hold connections open: with a body that drips and never ends, or by reading nothing of what they asked for."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from served import running

from finexpert.app.guarding import bodies
from finexpert.app.guarding.slow import patient

HEAD = b"POST /login HTTP/1.1\r\nHost: finexpert.example\r\nOrigin: https://finexpert.example\r\n"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\ntoken="
# By what they send at first; then a byte from time to time.
SLOW = {
    "a request, then half of one": (b"GET /healthz HTTP/1.1\r\nHost: finexpert.example\r\n\r\n", b"G"),
    "a body without end": (HEAD + FORM, b"x"),
    "a refused body without end": (HEAD.replace(b"/login", b"/api/terms") + FORM, b"x"),
    "a body in pieces without end": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
}


@pytest.fixture
def address(house: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """A server that has little patience."""
    monkeypatch.setattr(bodies, "_SECONDS", 0.5)
    monkeypatch.setattr(bodies, "_SLOWEST", 1e9)
    config = uvicorn.Config(
        house.app, port=0, log_level="critical", http=patient(0.4), timeout_keep_alive=60, lifespan="off"
    )
    with running(config) as bound:
        yield bound


def test_clients_that_are_slow_are_let_go(address: tuple[str, int]) -> None:
    clients = {slow: socket.create_connection(address) for slow in SLOW}
    for slow, client in clients.items():
        client.settimeout(0.05)
        client.sendall(SLOW[slow][0])
    until = time.monotonic() + 8
    while clients and time.monotonic() < until:
        clients = {slow: client for slow, client in clients.items() if _is_open(client, SLOW[slow][1])}
    assert list(clients) == []


def _is_open(client: socket.socket, then: bytes) -> bool:
    try:
        client.sendall(then)
        if client.recv(65_536):
            return True
    except TimeoutError:
        return True
    except ConnectionError:
        pass
    client.close()
    return False


def test_a_client_that_reads_nothing_is_let_go(address: tuple[str, int]) -> None:
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        client.connect(address)
        ask = b"GET /static/vendor/uPlot.iife.min.js HTTP/1.1\r\nHost: finexpert.example\r\n\r\n"
        with contextlib.suppress(ConnectionError):
            until = time.monotonic() + 8
            client.settimeout(0.2)
            while time.monotonic() < until:
                with contextlib.suppress(TimeoutError):
                    client.sendall(ask)
                time.sleep(0.1)
            raise AssertionError("the connection is still open")


def test_a_client_that_waits_for_its_answer_is_not(house: Any, address: tuple[str, int]) -> None:
    async def slowly() -> str:
        await asyncio.sleep(1.5)
        return "done"

    house.app.get("/api/slowly")(slowly)
    with socket.create_connection(address) as client:
        token = house.token("eve")
        said = f"GET /api/slowly HTTP/1.1\r\nHost: finexpert.example\r\nAuthorization: Bearer {token}\r\n\r\n"
        client.sendall(said.encode())
        client.settimeout(5)
        assert client.recv(65_536).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("length", ["²", "9" * 5_000, "1_000", "+1", "-1", "1e3"])
def test_a_length_that_is_none(house: Any, length: str) -> None:
    with house.client() as eve:
        headers = {"content-length": length.encode("latin-1")}
        assert eve.post("/api/conversations", headers=headers, content=b"").status_code in (400, 413)
