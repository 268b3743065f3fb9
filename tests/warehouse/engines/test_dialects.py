"""Engines that cannot be run here: what is sent to each is its own SQL, and means in it what was checked.

Every statement that the program sends, probes of the checks among them, is written by `Statements` in the engine's dialect, read back by
sqlglot in that dialect and run by DuckDB. So a check that writes what the dialect reads otherwise gives another outcome here.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from functools import cache
from numbers import Real
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import sqlglot
from sqlglot import exp

from finexpert.errors import FinexpertError, QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.dates import DateColumn
from finexpert.warehouse.engines.statements import Place, Statements
from finexpert.warehouse.frames import Frame
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
from finexpert.warehouse.schema import Column, TableSchema

HERE = Path(__file__).parent
DIALECTS = ["clickhouse", "spark", "snowflake", "bigquery", "databricks", "tsql", "trino"]
TRAPS = HERE.parents[1] / "traps"
CASES = [
    case
    for name in ("traps.jsonl", "controls.jsonl")
    for case in map(json.loads, (TRAPS / name).read_text().splitlines())
    if case["database"] == "brokerage" and not case.get("as_of") and isinstance(case["first"], str)
]


# These divide by zero, which only DuckDB and ClickHouse answer with infinity; others raise an error, which is the engine's own.
RAISED = ("zero-average", "zero-condition")
GOLDEN = HERE / "golden.sql"
TABLES = (
    TableSchema("trades", "", (Column("executed_at", "TIMESTAMP"), Column("fee", "DOUBLE"), Column("status", "VARCHAR")),
                date=DateColumn("executed_at", "timestamp")),
    TableSchema("prices", "", (Column("day", "DATE"),), date=DateColumn("day", "date")),
    TableSchema("flows", "", (Column("booked", "VARCHAR"),), date=DateColumn("booked", "dmy")),
    TableSchema("orders", "", (Column("placed", "VARCHAR"),), date=DateColumn("placed", "day Mon year")),
    TableSchema("moments", "", (Column("at", "TIMESTAMP WITH TIME ZONE"),), date=DateColumn("at", "timestamp")),
    TableSchema("quarters", "", (Column("period", "VARCHAR"),), date=DateColumn("period", "quarter")),
)  # fmt: skip


class Transpiled:
    """A DuckDB file that is asked in another dialect."""

    label, metrics = None, ()

    def __init__(self, source: DuckDBWarehouse, file: Path, dialect: str) -> None:
        self.dialect, self.name, self.tables = dialect, source.name, source.tables
        places = {table.name: Place("main", table.name) for table in source.tables}
        self.statements = Statements(dialect, tuple(source.tables), places)
        self._file = duckdb.connect(str(file), read_only=True)
        self.sent: list[str] = []

    def ready(self) -> None:
        pass

    def query(
        self, select: str, *, as_of: dt.date | None = None, declared_only: bool = False, seconds: float | None = None
    ) -> Frame:
        self.sent.append(self.statements.prepare(select, as_of, declared_only=declared_only))
        (there,) = sqlglot.transpile(self.sent[-1], read=self.dialect, write="duckdb")
        # What ClickHouse alone needs.
        there = re.sub(
            r"TONULLABLE\(", "(", there.replace("AS DATE32)", "AS DATE)").replace("AS DATETIME64(6))", "AS TIMESTAMP)")
        )
        try:
            data = self._file.sql(there).df()
        except duckdb.Error as error:
            raise QueryError(f"{there}: {error}") from None
        return Frame(data, False, select, 0.0)

    def close(self) -> None:
        self._file.close()


@pytest.fixture(scope="module")
def brokerage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("traps") / "brokerage.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute((TRAPS / "brokerage.sql").read_text())
    return path


@pytest.fixture(scope="module")
def plain(brokerage: Path) -> Iterator[DuckDBWarehouse]:
    with DuckDBWarehouse(brokerage, isolated=False) as opened:
        yield opened


@pytest.fixture(scope="module", params=DIALECTS)
def engine(request: pytest.FixtureRequest, plain: DuckDBWarehouse, brokerage: Path) -> Iterator[Transpiled]:
    made = Transpiled(plain, brokerage, request.param)
    yield made
    made.close()


@cache
def outcome_of_duckdb(source: DuckDBWarehouse, select: str) -> tuple[str, Any]:
    return outcome(source, select)


def outcome(source: Any, select: str) -> tuple[str, Any]:
    """Whether a SELECT is refused, or its rows with numbers as single precision keeps them."""
    try:
        frame = Checks(source, seconds=30.0).run(select).frame.data
    except FinexpertError as error:
        return "refused", str(error)
    return "rows", [tuple(_plain(value) for value in row) for row in frame.itertuples(index=False)]


def _plain(value: Any) -> Any:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return float(f"{float(value):.6g}") if is_number else None if pd.isna(value) else str(value)


def test_a_select_is_checked_in_every_dialect_as_in_duckdb(engine: Transpiled, plain: DuckDBWarehouse) -> None:
    # A third of the cases for each dialect, another one for the next.
    cases, same = CASES[DIALECTS.index(engine.dialect) % 3 :: 3], 0
    for case in cases:
        (select,) = sqlglot.transpile(case["first"], read="duckdb", write=engine.dialect)
        expected, found = outcome_of_duckdb(plain, case["first"]), outcome(engine, select)
        same += expected[0] == found[0]
        if found[0] == "rows" and case["id"] not in RAISED:
            assert found == expected, (case["id"], select)
    # What sqlglot writes from DuckDB's SQL is not always the engine's own, and is refused then.
    assert same >= len(cases) - 5


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_statements_that_are_sent(dialect: str) -> None:
    written = GOLDEN.read_text() if GOLDEN.exists() else ""
    sent = "".join(f"-- {dialect}, {name}\n{made}\n" for name, made in statements(dialect))
    assert sent in written, sent


def statements(dialect: str) -> Iterator[tuple[str, str]]:
    made = Statements(dialect, TABLES, {table.name: Place("desk", table.name) for table in TABLES})
    day = dt.date(2024, 6, 30)
    for table in TABLES:
        select = f"SELECT count(*) AS n FROM {table.name} AS t"
        yield table.name, made.prepare(select, day)
    yield "limit", made.prepare(exp.select("fee").from_("trades").order_by("fee DESC").limit(3).sql(dialect))
    column = exp.column("status", quoted=True)
    look = exp.select(column).distinct().from_(exp.table_("trades", quoted=True)).where(column.is_(exp.null()).not_())
    yield "values of a column", made.prepare(look.limit(1001).sql(dialect), day)


def test_what_is_no_reading_or_reaches_elsewhere_is_refused(engine: Transpiled) -> None:
    refused = ["DELETE FROM trades", "DROP TABLE trades", "SELECT * INTO stolen FROM trades", "SELECT 1; SELECT 2", "SELECT * FROM desk.secrets",
               "SELECT nosuch(status) FROM trades", "SELECT current_date", "SELECT * FROM information_schema.tables", *HOSTILE[engine.dialect]]  # fmt: skip
    for statement in refused:
        with pytest.raises(QueryError):
            engine.statements.prepare(statement)


HOSTILE = {
    "clickhouse": [
        "SELECT * FROM file('/etc/passwd')", "SELECT * FROM url('http://a/', CSV)", "SELECT * FROM remote('a', 'b', 'c')", "SELECT now()",
        "SELECT 1 FROM trades SETTINGS readonly = 0", "SELECT * FROM trades FORMAT CSV", "SELECT * FROM trades INTO OUTFILE 'x'",
        "SELECT * FROM system.users", "SELECT dictGet('d', 'a', 1)", "SELECT sleep(3)", "SELECT getSetting('readonly')",
    ],
    "spark": [
        "SELECT * FROM parquet.`/etc/passwd`", "SELECT reflect('java.lang.System', 'exit', 1)", "SELECT java_method('a', 'b')", "SET a = 1",
        "ADD JAR 'x'", "SELECT TRANSFORM(status) USING 'cat' FROM trades", "SELECT now()", "SELECT current_user()",
    ],
    "snowflake": [
        "SELECT system$wait(5)", "SELECT * FROM @stage/file", "SELECT * FROM TABLE(result_scan(last_query_id()))", "CALL p()", "SELECT sysdate()",
        "SELECT get_ddl('table', 'trades')", "SELECT * FROM TABLE(information_schema.query_history())", "SELECT $1 FROM trades",
    ],
    "bigquery": [
        "SELECT session_user()", "SELECT * FROM EXTERNAL_QUERY('c', 'SELECT 1')", "SELECT * FROM ML.PREDICT(MODEL m, TABLE trades)",
        "EXPORT DATA OPTIONS(uri='gs://a') AS SELECT 1", "SELECT rand()", "SELECT @@project_id", "SELECT * FROM `other.desk.trades`",
    ],
    "databricks": [
        "SELECT * FROM read_files('/a')", "SELECT ai_query('m', status) FROM trades", "SELECT secret('a', 'b')", "SELECT * FROM csv.`/a`",
        "SELECT http_request('a')", "SELECT now()",
    ],
    "tsql": [
        "SELECT * FROM OPENROWSET(BULK '/etc/passwd', SINGLE_CLOB) AS a", "EXEC xp_cmdshell 'dir'", "SELECT * FROM OPENQUERY(a, 'SELECT 1')",
        "SELECT getdate()", "SELECT newid()", "SELECT suser_name()", "SELECT @@version", "SELECT * FROM trades WITH (TABLOCKX)",
        "SELECT * FROM other.dbo.trades",
    ],
    "trino": [
        "SELECT * FROM TABLE(system.query(query => 'SELECT 1'))", "SELECT * FROM other.desk.trades", "SELECT now()", "SELECT current_user",
        "SELECT random()", "CALL system.runtime.kill_query('a')", "SELECT * FROM trades TABLESAMPLE BERNOULLI (1)",
    ],
}  # fmt: skip
