"""The checks of a SELECT over databases that are no DuckDB: the same words and the same values, in the engine's own SQL."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from finexpert.errors import AsOfError, CutFrame, NoRows, QueryError, UnknownValue
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse

Run = Callable[..., Any]


def fill(url: str, script: str) -> None:
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
    with engine.begin() as connection:
        for statement in filter(str.strip, script.split(";")):
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
    engine.dispose()


@pytest.fixture(scope="module", params=["sqlite", "postgres", "mariadb"])
def brokerage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, brokerage_tables: str
) -> Iterator[SQLWarehouse]:
    script = brokerage_tables.replace("VARCHAR", "VARCHAR(50)").replace("DOUBLE", "DOUBLE PRECISION")
    schema = "desk" if request.param == "postgres" else None
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'desk.db'}"
    elif request.param == "postgres":
        url = request.getfixturevalue("postgres")
        script = f"DROP SCHEMA IF EXISTS desk CASCADE; CREATE SCHEMA desk; SET search_path = desk; {script}"
    else:
        server = request.getfixturevalue("mariadb")
        fill(server(""), "CREATE OR REPLACE DATABASE desk")
        url = server("desk")
    fill(url, script)
    with SQLWarehouse(url, schema=schema, row_cap=4) as opened:
        yield opened


@pytest.fixture
def run(brokerage: SQLWarehouse) -> Run:
    def run(select: str, **given: Any) -> Any:
        return Checks(brokerage, seconds=10, **given).run(select)

    return run


@pytest.mark.parametrize(("select", "value", "note"), [
    ("SELECT count(*) FROM trades WHERE status = 'Filled'", 3, "read 'Filled' as 'FILLED'"),
    ("SELECT count(*) FROM trades WHERE lower(status) = 'Filled'", 3, "read 'Filled' as 'filled'"),
    ("SELECT count(*) FROM trades WHERE status IN ('FILLED', 'DONE')", 3, "these values matched: 'FILLED'"),
    ("SELECT count(*) FROM accounts WHERE segment = 'Private_Bank'", 1, "'private bank'"),
    ("SELECT sum(t.lots) FROM trades t JOIN accounts a ON t.account_id = a.account_id", 10, ""),
    ("SELECT count(DISTINCT a.account_id) FROM accounts a JOIN trades t ON t.account_id = a.account_id", 3, ""),
    ("SELECT sum(a.balance) FROM accounts a WHERE EXISTS (SELECT 1 FROM trades t WHERE t.account_id = a.account_id)", 175, ""),
    ("SELECT count(*) FROM trades WHERE status = 'CANCELLED' AND side = 'SELL'", 0, "no row meets all of these conditions"),
    ("WITH t AS (SELECT status AS s FROM trades) SELECT count(*) FROM t WHERE s = 'filled'", 3, "'FILLED'"),
    ("SELECT sum(amount) FROM trades WHERE currency = 'USD'", 80, ""),
])  # fmt: skip
def test_what_is_right_or_put_right_is_answered(run: Run, select: str, value: float, note: str) -> None:
    checked = run(select)
    assert checked.frame.data.iat[0, 0] == pytest.approx(value)
    assert note in "; ".join(checked.notes)


@pytest.mark.parametrize(("select", "error", "said"), [
    ("SELECT count(*) FROM trades WHERE status = 'Executed'", UnknownValue, "no value 'Executed' in trades.status"),
    ("SELECT count(*) FROM trades WHERE status IN ('DONE', 'EXECUTED')", UnknownValue, "no value 'DONE'"),
    ("SELECT count(*) FROM trades WHERE status LIKE 'Exec%'", UnknownValue, "no value is like"),
    ("SELECT sum(a.balance) FROM accounts a JOIN trades t ON t.account_id = a.account_id", QueryError, "adds up each row of a"),
    ("SELECT avg(a.balance) FROM accounts a JOIN trades t ON t.account_id = a.account_id", QueryError, "weighs each row of a"),
    ("SELECT sum(t.lots) FROM trades t JOIN symbols s ON s.symbol = t.symbol", QueryError, "adds up each row of t"),
    ("SELECT count(*) FROM trades WHERE amount > 1000", NoRows, "amount > 1000 matches no row of trades"),
    ("SELECT count(*) FROM trades WHERE executed_at >= '2031-01-01'", NoRows, "matches no row of trades"),
    ("SELECT count(*) FROM symbols WHERE symbol NOT IN (SELECT symbol FROM trades)", QueryError, "NOT IN holds a NULL"),
    ("SELECT count(*) FROM notes", NoRows, "notes has no rows"),
    ("SELECT trade_id FROM trades", CutFrame, "more than 4 rows"),
    ("SELECT sum(amount) FROM trades", QueryError, "several currencies"),
    ("SELECT max(units) FROM trades", QueryError, "holds numbers as texts"),
    ("SELECT count(*) FROM trades WHERE booked_dt >= '2023-01-01'", QueryError, "dates as texts YYYYMMDD"),
    ("SELECT max(shown_date) FROM trades", QueryError, "DD/MM/YYYY do not sort by time"),
])  # fmt: skip
def test_what_is_no_ground_for_an_answer_goes_back(run: Run, select: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        run(select)


def test_as_of_hides_what_came_later_and_says_by_which_column(run: Run) -> None:
    checked = run("SELECT count(*) FROM trades WHERE status = 'FILLED'", as_of=dt.date(2023, 12, 31))
    assert checked.frame.data.iat[0, 0] == 2
    assert any("trades is seen up to 2023-12-31 by executed_at" in note for note in checked.notes)
    # A trade of the day itself is in.
    for day, count in ((9, 0), (10, 1)):
        frame = run("SELECT count(*) + 1 AS n FROM trades", as_of=dt.date(2023, 1, day)).frame
        assert frame.data["n"].item() == count + 1
    with pytest.raises(AsOfError, match="maturity_date tells when a row became known"):
        run("SELECT count(*) FROM bonds", as_of=dt.date(2023, 12, 31))


def test_keys_come_from_the_catalogue_or_are_inferred(brokerage: SQLWarehouse) -> None:
    trades = next(table for table in brokerage.tables if table.name == "trades")
    assert [(key.columns, key.table, key.inferred) for key in trades.foreign_keys] == [
        (("account_id",), "accounts", True)
    ]
    assert next(table for table in brokerage.tables if table.name == "accounts").primary_key == ("account_id",)
    kinds = {column.name: column.dates for column in trades.columns if column.type.startswith("VARCHAR")}
    assert (kinds["booked_dt"], kinds["shown_date"], kinds["status"]) == ("compact", "dmy", "")


def test_nothing_but_the_names_of_columns_is_told_of_a_failure(run: Run) -> None:
    for select in (
        "SELECT CAST(note AS DATE) FROM notes",
        "SELECT statuss FROM trades",
        "SELECT nosuch(status) FROM trades",
    ):
        with pytest.raises(QueryError) as caught:
            run(select)
        assert "FILLED" not in str(caught.value)


def test_the_file_is_a_snapshot_of_its_own(tmp_path: Path, brokerage_tables: str) -> None:
    url = f"sqlite:///{tmp_path / 'desk.db'}"
    fill(url, brokerage_tables)
    with SQLWarehouse(url, cache=tmp_path / "cache") as first:
        before, tables = first.snapshot(), first.tables
    with SQLWarehouse(url, cache=tmp_path / "cache") as again:
        assert (again.snapshot(), again.tables) == (before, tables)
    assert len([*(tmp_path / "cache").iterdir()]) == 1
    fill(url, "INSERT INTO notes VALUES ('later')")
    with SQLWarehouse(url) as later:
        assert later.snapshot() != before
