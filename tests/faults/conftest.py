"""A model's endpoint that fails as it is told, and conversations that ask it over a small warehouse."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from finexpert.language_models.quiet import quiet
from finexpert.language_models.roles import LanguageModels, ModelSpec, build_lm
from finexpert.session import Session

quiet()

KEY = "planted-key-7f3a9c"


class Endpoint:
    """A server of OpenAI's protocol down to the bytes: `fault` has the connection and breaks it, None answers `text`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.fault: Callable[[Endpoint, socket.socket], None] | None = None
        self.asked = 0
        self.let_go = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=32)
        self.port = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def body(self) -> bytes:
        choice = {"index": 0, "message": {"role": "assistant", "content": self.text}, "finish_reason": "stop"}
        return json.dumps({"id": "1", "object": "chat.completion", "created": 1, "choices": [choice]}).encode()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while _read_request(connection):
                    self.asked += 1
                    if self.fault is not None:
                        self.fault(self, connection)
                        return
                    send(connection, self.body())
            except OSError:
                return  # the client gave up, as it is meant to

    def close(self) -> None:
        self.let_go.set()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()


def _read_request(connection: socket.socket) -> bool:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return False
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    named = (line.lower().partition(b":") for line in head.splitlines())
    length = next((int(value) for name, _, value in named if name == b"content-length"), 0)
    while len(rest) < length:
        rest += connection.recv(65536)
    return True


def send(
    connection: socket.socket, body: bytes, status: str = "200 OK", length: int | None = None, **more: str
) -> None:
    """An answer; `length` is what it says of its length, `more` further headers."""
    headers = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in more.items()}
    headers["Content-Length"] = str(len(body) if length is None else length)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    connection.sendall(f"HTTP/1.1 {status}\r\nConnection: close\r\n{lines}\r\n".encode() + body)


class Faults:
    """What an endpoint may do to a request, by name."""

    @staticmethod
    def answers(status: str, body: bytes | str, **headers: Any) -> Callable[[Endpoint, socket.socket], None]:
        data = body.encode() if isinstance(body, str) else body
        return lambda endpoint, connection: send(connection, data, status, **headers)

    @staticmethod
    def hangs(endpoint: Endpoint, connection: socket.socket) -> None:
        endpoint.let_go.wait(30)

    @staticmethod
    def drips(endpoint: Endpoint, connection: socket.socket) -> None:
        """A byte now and then: each is in time, the whole never comes."""
        send(connection, b"", length=1_000_000)
        for _ in range(300):
            connection.sendall(b" ")
            if endpoint.let_go.wait(0.1):
                return

    @staticmethod
    def drops(endpoint: Endpoint, connection: socket.socket) -> None:
        send(connection, endpoint.body()[:40], length=len(endpoint.body()))

    @staticmethod
    def drops_in_a_chunk(endpoint: Endpoint, connection: socket.socket) -> None:
        head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head + b"400\r\n" + endpoint.body()[:20])

    @staticmethod
    def resets(endpoint: Endpoint, connection: socket.socket) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    @staticmethod
    def says_nothing(endpoint: Endpoint, connection: socket.socket) -> None:
        """Closes without a word."""

    @staticmethod
    def speaks_another_protocol(endpoint: Endpoint, connection: socket.socket) -> None:
        connection.sendall(b"220 mail.test ESMTP ready\r\n")


@pytest.fixture(scope="session")
def faults() -> type[Faults]:
    return Faults


@pytest.fixture
def endpoint(desk: Any) -> Iterator[Endpoint]:
    made = Endpoint(desk.plan())
    yield made
    made.close()


@pytest.fixture
def asking(desk: Any, endpoint: Endpoint) -> Iterator[Callable[..., Session]]:
    """Makes a conversation with the model behind the endpoint; one try a call, unless told."""
    opened: list[Session] = []

    def make(timeout: float = 5.0, retries: int = 0, **given: Any) -> Session:
        fields = {"model": "openai/served", "api_base": endpoint.url, "api_key": KEY}
        spec = ModelSpec.model_validate(fields | {"timeout": timeout, "retries": retries})
        session: Session = desk.session(**given)
        model = build_lm(spec, cache=False)
        model.engine.prepare()  # imports LiteLLM, which takes seconds that no test is about
        session.models = LanguageModels(model)
        opened.append(session)
        return session

    yield make
    for session in opened:
        session.close()


@pytest.fixture
def within() -> Callable[[float], Any]:
    """Fails a test whose block takes longer."""

    class Within:
        def __init__(self, seconds: float) -> None:
            self.seconds = seconds

        def __enter__(self) -> None:
            self.started = time.monotonic()

        def __exit__(self, *_: object) -> None:
            assert time.monotonic() - self.started < self.seconds

    return Within


class Disk:
    """A small disk of its own, which can be filled and made read-only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self, leave: int = 0) -> None:
        """Until there is room for so many bytes more, in whole blocks."""
        with (self.folder / "ballast").open("ab", buffering=0) as file, suppress(OSError):
            while file.write(b"\0" * 4096):
                pass
        if leave:
            os.truncate(self.folder / "ballast", (self.folder / "ballast").stat().st_size - leave)

    def make_room(self) -> None:
        (self.folder / "ballast").unlink()

    def remount(self, how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", str(self.folder)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A tmpfs of 1 MB; only root may mount one, and not in every container."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"a disk to fill: {error}")
    if mounted.returncode:
        pytest.skip(f"a disk to fill cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
