"""A server that speaks OpenAI's protocol and does as it is told, and a world without keys and caches."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.clients.cache import Cache
from served import Served, body_of, completion, send_json

from finexpert.language_models.model import LanguageModel
from finexpert.language_models.quiet import quiet
from finexpert.language_models.roles import ModelSpec, build_lm

quiet()

KEY = "planted-key-7f3a9c"


class FakeServer(Served):
    """Answers POSTs with `reply(body) -> (status, JSON or text)`; `seen` holds the bodies that were sent."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.models: list[str] = ["served"]
        self.headers: dict[str, str] = {}
        self.delay = 0.0
        self.reply: Callable[[dict[str, Any]], tuple[int, Any]] = lambda body: (200, completion())
        super().__init__()
        self.url = f"{self.address}/v1"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        if handler.command == "GET":
            send_json(handler, {"data": [{"id": name} for name in self.models]}, headers=self.headers)
            return
        body = json.loads(body_of(handler))
        self.seen.append(body)
        self.keys.append(handler.headers.get("Authorization"))
        time.sleep(self.delay)
        status, content = self.reply(body)
        with suppress(BrokenPipeError):  # the client gave up, as it is meant to where a delay is tested
            send_json(handler, content, status, self.headers)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as fake:
        yield fake


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
