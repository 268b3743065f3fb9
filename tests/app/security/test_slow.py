"""Clients that send slowly: a connection is given up in time, and nobody else waits for it."""

from __future__ import annotations

import socket
import time

import pytest

SECONDS = 0.4


HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POSTED = b"POST /api/conversations HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"


def ended_after(port: int, begun: bytes, drips: bytes = b"") -> float:
    """The seconds until the server ends a connection on which this is sent, and then drips until it does."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(begun)
        client.settimeout(0.05)
        start = time.monotonic()
        while time.monotonic() - start < 20 * SECONDS:
            try:
                if client.recv(100) == b"":
                    break
            except TimeoutError:
                if drips:
                    client.sendall(drips)
            except ConnectionError:
                break
        return time.monotonic() - start


@pytest.mark.parametrize(
    ("begun", "drips"),
    [(b"", b""), (HEAD, b""), (HEAD, b"a: b\r\n"), (POSTED, b"")],
    ids=["nothing", "head", "drip", "body"],
)
def test_who_sends_slowly_is_given_up(port: int, begun: bytes, drips: bytes) -> None:
    assert SECONDS / 2 < ended_after(port, begun, drips) < 10 * SECONDS


def test_a_body_that_comes_is_waited_for(port: int) -> None:
    """Though the whole takes longer than one piece may."""
    body = b'{"source": "x"}'
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(POSTED[:-1].replace(b"9", str(len(body)).encode()))
        for at in range(0, len(body), 3):
            time.sleep(SECONDS / 2)
            client.sendall(body[at : at + 3])
        assert client.recv(100).startswith(b"HTTP/1.1 404")


def test_the_next_request_of_a_connection_has_its_own_time(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as client:
        for _ in range(2):
            client.sendall(HEAD + b"\r\n")
            told = b""
            while not told.endswith(b"ok\n"):
                told += client.recv(1000)
            time.sleep(2 * SECONDS)
        client.sendall(HEAD)
        client.settimeout(10 * SECONDS)
        assert client.recv(100) == b""
