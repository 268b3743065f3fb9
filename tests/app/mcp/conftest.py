"""Clients of the SDK against the tools: in the same process, with a model that answers layer by layer."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult
from sample_library import sample_info, sample_pages

from finexpert.app.mcp.building import server
from finexpert.app.mcp.local import LocalBackend
from finexpert.embeddings.embedding import embedder
from finexpert.filings.library.library import Library
from finexpert.settings import Settings


@pytest.fixture
def library(tmp_path: Path, own_home: Path) -> Iterator[Library]:
    """The made-up filings of `tests/helpers/sample_library.py`."""
    with Library.open(tmp_path / "filings", embedder=embedder("words"), make=True) as made:
        for page in islice(sample_pages(), 3):  # those of Harborlight Ferries
            made.add([page], sample_info(page))
        yield made


@pytest.fixture
def backend(desk: Any, library: Library, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalBackend]:
    """Sales of six months and the made-up filings; what they hold stands in no prompt."""
    desk.lend_sandbox(monkeypatch, "finexpert.app.mcp.talks")
    settings = Settings(as_of=dt.date(2020, 12, 31), cache=False, by="anna", embedder="words", ask_below=0)
    made = LocalBackend(
        {"data": desk.warehouse, "library": library}, settings=settings, models=desk.models, taught=desk.taught()
    )
    yield made
    made._talks.close()


Act = Callable[[Client], Awaitable[Any]]


@pytest.fixture
def talk(backend: LocalBackend) -> Callable[..., Any]:
    """Runs a coroutine with a client of the backend."""

    def run(act: Act, **options: Any) -> Any:
        async def main() -> Any:
            async with Client(server(lambda context: backend), **options) as client:
                return await act(client)

        return asyncio.run(main())

    return run


@pytest.fixture
def call(talk: Callable[..., Any]) -> Callable[..., CallToolResult]:
    """Calls one tool."""

    def run(tool: str, arguments: dict[str, Any], **options: Any) -> CallToolResult:
        async def act(client: Client) -> CallToolResult:
            return await client.call_tool(tool, arguments)

        result: CallToolResult = talk(act, **options)
        return result

    return run
