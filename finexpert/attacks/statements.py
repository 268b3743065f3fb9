"""Runs the hostile statements on a warehouse of their own and says which were held.

    for result in run_statements():
        print(result.case.name, result.held, result.said)

The warehouse holds sales of six months; the question is asked as of the third, so that later rows are secrets, as are the files
beside it. A statement is held if its outcome says what it must, no secret stands in it, no file changed, its time limit
held within a second, the memory of this process stayed below a bound, and an ordinary question is answered as before.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import threading
import time
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

import duckdb
import pandas as pd

from finexpert.attacks.aims import SECRET_VARIABLE, canary
from finexpert.attacks.cases import Case, cases
from finexpert.attacks.scripts import Result
from finexpert.errors import QueryError
from finexpert.isolation.watchdog import pages_of
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse

AS_OF = dt.date(2020, 3, 31)
SECONDS = 1.0
LATE_SECONDS = 1.0
MEMORY = "256MB"
MOST_BYTES = 1 << 30  # above what the process held before
_CELLS = ("first note", "second note", "third note")
_ORDINARY = "SELECT count(*) AS n, sum(amount) AS s FROM sales"


class Peak:
    """The most that this process holds in memory while it is watched."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._before = self._held()
        self._most = self._before
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _held(self) -> int:
        return (pages_of(os.getpid()) or (0, 0))[1]

    def _watch(self) -> None:
        while not self._stop.wait(0.01):
            self._most = max(self._most, self._held())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def bytes(self) -> int:
        return self._most - self._before


def run_statements(chosen: Iterable[Case] | None = None) -> Iterator[Result]:
    """The result of every statement, one after the other: the memory of the process is watched."""
    with TemporaryDirectory(prefix="finexpert-attack-") as name:
        folder = Path(name)
        secrets = _make_files(folder)
        os.environ[SECRET_VARIABLE] = secrets[0]
        try:
            with DuckDBWarehouse(
                folder / "sales.duckdb", seconds=SECONDS, memory=MEMORY, row_cap=1000, categories=["sales.region"]
            ) as warehouse:
                expected = warehouse.query(_ORDINARY, as_of=AS_OF).data
                before = _hashes(folder)
                for case in cases("statements") if chosen is None else chosen:
                    result = _statement(warehouse, case, folder, secrets, before)
                    after = warehouse.query(_ORDINARY, as_of=AS_OF).data
                    yield (
                        result if after.equals(expected) else _wrong(result, "the next question is answered otherwise")
                    )
        finally:
            os.environ.pop(SECRET_VARIABLE, None)


def _make_files(folder: Path) -> list[str]:
    """The warehouse, a text and a database beside it; the words that must not come out."""
    outside, later = canary(), [canary() for _ in range(3)]
    sales = pd.DataFrame(
        {
            "date": pd.date_range("2020-01-01", periods=6, freq="MS"),
            "region": ["north", "south"] * 3,
            "note": [*_CELLS, *later],
            "amount": [100.0 + n for n in range(6)],
        }
    )
    build_warehouse(folder / "sales.duckdb", [Table("sales", sales, date_column="date")])
    (folder / "secret.csv").write_text(f"word\n{outside}\n", encoding="utf-8")
    with duckdb.connect(str(folder / "other.duckdb")) as other:
        other.execute("CREATE TABLE vault AS SELECT ? AS word", [outside])
    return [outside, *later]


def _hashes(folder: Path) -> dict[str, str]:
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


def _statement(
    warehouse: DuckDBWarehouse, case: Case, folder: Path, secrets: list[str], before: dict[str, str]
) -> Result:
    began = time.monotonic()
    with Peak() as peak:
        said, shown = _outcome(warehouse, case.filled({"folder": folder, "nul": "\0"}))
    took = time.monotonic() - began
    wrong = [] if re.search(case.expected, said) else ["the outcome does not say what it must"]
    if any(secret in shown for secret in secrets):
        wrong.append("a secret stands in the outcome")
    if any(cell in said for cell in _CELLS):
        wrong.append("a cell stands in the error")
    if _hashes(folder) != before:
        wrong.append("a file changed")
    if took > SECONDS + LATE_SECONDS:
        wrong.append(f"it took {took:.1f} s")
    if peak.bytes > MOST_BYTES:
        wrong.append(f"it took {peak.bytes >> 20} MB")
    return Result(case, not wrong, said, "; ".join(wrong), took)


def _outcome(warehouse: DuckDBWarehouse, select: str) -> tuple[str, str]:
    try:
        frame = warehouse.query(select, as_of=AS_OF)
    except QueryError as error:
        said = f"QueryError: {error}"
        return said, said
    return f"rows: {len(frame.data)}", frame.data.to_csv()


def _wrong(result: Result, why: str) -> Result:
    return Result(result.case, False, result.said, "; ".join(filter(None, [result.wrong, why])), result.seconds)
