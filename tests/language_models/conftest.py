"""A server that speaks OpenAI's protocol and does as it is told, and a world without keys and caches."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.clients.cache import Cache

from finexpert.language_models.model import LanguageModel
from finexpert.language_models.quiet import quiet
from finexpert.language_models.roles import ModelSpec, build_lm

quiet()

KEY = "planted-key-7f3a9c"


def completion(text: str = "the answer", usage: dict[str, int] | None = None) -> dict[str, Any]:
    """The body of a chat completion."""
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "served",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": usage or {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
    }


class FakeServer:
    """Answers POSTs with `reply(body) -> (status, JSON or text)`; `seen` holds the bodies that were sent."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.models: list[str] = ["served"]
        self.headers: dict[str, str] = {}
        self.delay = 0.0
        self.reply: Callable[[dict[str, Any]], tuple[int, Any]] = lambda body: (200, completion())
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send(200, {"data": [{"id": name} for name in server.models]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.seen.append(body)
                server.keys.append(self.headers.get("Authorization"))
                time.sleep(server.delay)
                self.send(*server.reply(body))

            def send(self, status: int, content: Any) -> None:
                data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    for name, value in server.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(data)
                except BrokenPipeError:
                    pass  # the client gave up, as it is meant to where a delay is tested

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


@pytest.fixture
def server() -> Iterator[FakeServer]:
    fake = FakeServer()
    yield fake
    fake.close()


@pytest.fixture
def served(server: FakeServer) -> Callable[..., LanguageModel]:
    """Builds a model that asks the server."""

    def build(*, cache: bool = False, **fields: Any) -> LanguageModel:
        given = {"model": "openai/served", "api_base": server.url, "api_key": KEY, "retries": 0, **fields}
        return build_lm(ModelSpec.model_validate(given), cache=cache)

    return build


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key, no address, and no cache of the machine's user."""
    for name in list(os.environ):
        if name.startswith("FINEXPERT_") or name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL")):
            monkeypatch.delenv(name)
    cache = Cache(enable_disk_cache=False, enable_memory_cache=True, disk_cache_dir=str(tmp_path / "cache"))
    monkeypatch.setitem(vars(dspy), "cache", cache)


@pytest.fixture(autouse=True)
def _loop() -> Iterator[None]:
    """LiteLLM opens an event loop in a thread that has none, and leaves it open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()
