"""A server of S3 and one of files, on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from served import Served, send


@dataclass
class Bucket:
    """A bucket of a server that speaks as Amazon's does."""

    client: Any
    name: str = "desk"

    def put(self, key: str, content: bytes) -> None:
        self.client.put_object(Bucket=self.name, Key=key, Body=content)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    pytest.importorskip("moto.server")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """An empty bucket, and an environment as for Amazon's own tools."""
    import boto3

    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "hunter2")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2hunter2")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server)
    made = Bucket(boto3.client("s3"))
    made.client.create_bucket(Bucket=made.name)
    yield made
    for each in made.client.list_objects_v2(Bucket=made.name).get("Contents", []):
        made.client.delete_object(Bucket=made.name, Key=each["Key"])
    made.client.delete_bucket(Bucket=made.name)


class Pages(Served):
    """What a web server answers by path: a status, headers and a body; and what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, Mapping[str, str], bytes]] = {}
        self.asked: list[str] = []
        super().__init__()

    def __call__(self, path: str, body: bytes = b"", *, status: int = 200, **headers: str) -> str:
        self.answers[path] = (status, {name.replace("_", "-"): value for name, value in headers.items()}, body)
        return f"{self.address}{path}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked.append(handler.path)
        status, headers, body = self.answers.get(handler.path.partition("?")[0], (404, {}, b""))
        send(handler, body, status, headers=headers)


@pytest.fixture
def pages() -> Iterator[Pages]:
    with Pages() as made:
        yield made


Open = Callable[..., Any]
