"""What every engine is held to: the answers of a DuckDB file over the same tables, each thread its own day, bounded memory."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import sqlalchemy as sa

from finexpert.warehouse.warehouse import Warehouse


def compare(found: pd.DataFrame, expected: pd.DataFrame, select: str, *, kinds: bool = True) -> None:
    """Fail where the rows are others; `kinds` compares the types of the columns too."""
    assert found.shape == expected.shape, select
    # A column without a value has no type of its own.
    known = [name for name in expected.columns if expected[name].notna().any()]
    assert not found.drop(columns=known).notna().any(axis=None), select
    pd.testing.assert_frame_equal(found[known], expected[known], rtol=1e-9, check_dtype=kinds, obj=select)


def see_each_their_own_day(source: Warehouse, months: Iterable[int]) -> None:
    """Fail where one of eight threads does not see as many months of `jobs` as there are until its day."""

    def rows(month: int) -> tuple[int, int]:
        as_of = dt.date(2020 + month // 12, month % 12 + 1, 1)
        return month + 1, source.query("SELECT count(*) AS n FROM jobs", as_of=as_of).data["n"].item()

    with ThreadPoolExecutor(8) as pool:
        for expected, found in pool.map(rows, months):
            assert found == expected


def run(url: str, *statements: str) -> None:
    """Run statements as they are, in one transaction."""
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
    engine.dispose()


def most_held() -> int:
    """The most memory that this process held since it was last asked, in MB."""
    held = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    Path("/proc/self/clear_refs").write_text("5")
    return int(held) >> 10
