"""What is found of tables is kept, also where there is no time for all of it at once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from finexpert.warehouse import profile
from finexpert.warehouse.profile import profiled
from finexpert.warehouse.schema import Column, TableSchema

REFERRED = (Column("other_id", "INTEGER"), Column("day_dt", "VARCHAR"))
TABLES = [
    *(TableSchema(f"{one}s", "", (Column(f"{one}_id", "INTEGER"), *REFERRED), rows=3) for one in ("order", "client", "product")),
    TableSchema("others", "", REFERRED, rows=3),
]  # fmt: skip


class Steady:
    """A machine that is never busy, however long a look takes."""

    slowness, elsewhere = 1.0, staticmethod(nullcontext)


def asked(connection: duckdb.DuckDBPyConnection, told: list[str], slow: float) -> profile.Ask:
    def ask(select: str, seconds: float) -> pd.DataFrame | None:
        told.append(select)
        time.sleep(slow)
        return connection.execute(select).df()

    return ask


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    made = duckdb.connect()
    for table in TABLES:
        columns = [
            f"'2024010' || i AS {one.name}" if one.is_text else f"i::INTEGER AS {one.name}" for one in table.columns
        ]
        made.execute(f"CREATE TABLE {table.name} AS SELECT {', '.join(columns)} FROM range(1, 4) AS numbers(i)")
    return made


def test_the_next_opening_goes_on(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once: list[str] = []
    right = profiled(TABLES, asked(connection, at_once, 0), "duckdb", cache=tmp_path / "once", state="a")
    assert [len(table.foreign_keys) for table in right] == [1, 1, 1, 0]
    assert all(table.date_column == "day_dt" and table.primary_key for table in right)
    monkeypatch.setattr(profile, "SECONDS", 0.1)
    monkeypatch.setattr(profile, "Pace", Steady)
    in_parts: list[str] = []
    openings, kept = 0, tmp_path / "parts"
    while not [file for file in kept.glob("*.json") if not file.name.endswith(".looks.json")]:
        begun = len(in_parts)
        found = profiled(TABLES, asked(connection, in_parts, 0.02), "duckdb", cache=kept, state="a")
        openings += 1
        assert len(in_parts) - begun <= 6
    assert found == right
    assert openings >= 2
    # A look of two questions that is cut between them is asked again.
    assert len(in_parts) <= len(at_once) + openings
    assert not list(kept.glob("*.looks.json"))
    again: list[str] = []
    assert profiled(TABLES, asked(connection, again, 0), "duckdb", cache=kept, state="a") == right
    assert not again


@pytest.mark.parametrize(
    "text", ["", "[]", '{"a": 3}', '{"[\\"kind\\", \\"orders\\", \\"day_dt\\"]": "of another kind"}']
)
def test_what_was_kept_may_be_anything(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(profile, "SECONDS", 0.0)
        profiled(TABLES[:1], asked(connection, [], 0), "duckdb", cache=tmp_path, state="a")
    (file,) = tmp_path.glob("*.looks.json")
    file.write_text(text)
    (table,) = profiled(TABLES[:1], asked(connection, [], 0), "duckdb", cache=tmp_path, state="a")
    assert table.date_column == "day_dt"


def test_vectors_of_tables_are_found_by_another_process(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from finexpert.embeddings.embedding import WordHashing\n"
        "from finexpert.warehouse.schema import *; from finexpert.warehouse.table_selection import TableIndex\n"
        "names = [f'{one}_{two}' for one in ('loans', 'trades', 'claims') for two in ('daily', 'monthly', 'yearly')]\n"
        "TableIndex([TableSchema(name, '', (Column('amount', 'DOUBLE'),)) for name in names], WordHashing(), Path(sys.argv[1]))"
    )
    for seed in ("1", "2"):
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], env={**os.environ, "PYTHONHASHSEED": seed}, check=True
        )
    assert len(list(tmp_path.glob("*.npy"))) == 2
