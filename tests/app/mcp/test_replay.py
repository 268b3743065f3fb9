"""An answer computed again over stdio: over the source that it is of, and no other."""

from __future__ import annotations

import asyncio
import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.app.mcp.backend import Ask, Reply
from finexpert.app.mcp.local import LocalBackend
from finexpert.errors import NotFound
from finexpert.settings import Settings
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse


def asked(backend: LocalBackend, question: str, source: str) -> Reply:
    async def act() -> Any:
        async for each in backend.ask(Ask(question, source=source)):
            last = each
        return last

    reply = asyncio.run(act())
    assert isinstance(reply, Reply)
    return reply


def test_of_two_databases_the_one_that_was_asked_is_asked_again(
    desk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.lend_sandbox(monkeypatch, "finexpert.app.mcp.talks")
    desk.says("planning", desk.plan())
    days = pd.date_range("2020-01-01", periods=2, freq="MS")
    data = pd.DataFrame({"date": days, "region": ["north", "south"], "amount": [1.0, 2.0]})
    with DuckDBWarehouse(build_warehouse(tmp_path / "other.duckdb", [Table("sales", data, "others")])) as other:
        settings = Settings(as_of=dt.date(2020, 12, 31), cache=False, embedder="words", memory=False)
        backend = LocalBackend({"other": other, "data": desk.warehouse}, settings=settings, models=desk.models)
        reply = asked(backend, "How many sales?", "data")
        assert reply.facts.value == 6
        again = backend.replay(reply.facts.id)
        assert (again.same, again.differences) == (True, [])
        backend._talks.close()
        alone = LocalBackend({"first": other, "second": other}, settings=settings, models=desk.models)
        with pytest.raises(NotFound, match=r"the source 'sales', which is not connected"):
            alone.replay(reply.facts.id)
