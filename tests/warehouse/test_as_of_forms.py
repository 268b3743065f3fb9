"""As of a day nothing later is seen, whatever form the dates have and whatever stands between; or the question is refused."""

from __future__ import annotations

import contextlib
import datetime as dt
import math
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import sqlalchemy as sa

from finexpert.errors import AsOfError
from finexpert.warehouse.dates import KINDS, DateColumn
from finexpert.warehouse.engines.rules.views import _read
from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse
from finexpert.warehouse.engines.statements import Place, Statements
from finexpert.warehouse.horizon import bound
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
from finexpert.warehouse.schema import Column, TableSchema

DAY = dt.date(2020, 6, 30)

# The column, its type, a value that was known by then and one that was not.
FORMS = [
    ("trade_date", "DATE", "'2020-05-01'", "'2020-07-01'"),
    ("period_end", "DATE", "'2020-03-31'", "'2020-09-30'"),
    ("executed_at", "TIMESTAMP", "'2020-06-30 23:59'", "'2020-07-01 00:00'"),
    ("trade_date", "VARCHAR", "'2020-05-01'", "'2020-07-01'"),
    ("trade_dt", "VARCHAR", "'20200501'", "'20200701'"),
    ("date", "VARCHAR", "' 2020-05-01'", "' 2020-07-01'"),
    ("date", "VARCHAR", "'31/05/2020'", "'31/07/2020'"),
    ("date", "VARCHAR", "'05/31/2020'", "'07/31/2020'"),
    ("date", "VARCHAR", "'31-May-2020'", "'31-Jul-2020'"),
    ("month", "VARCHAR", "'2020-05'", "'2020-07'"),
    ("quarter", "VARCHAR", "'2020Q1'", "'2020Q3'"),
    ("fiscal_year", "INTEGER", "2019", "2020"),
    ("year", "VARCHAR", "'2019'", "'2021'"),
    ("date_key", "INTEGER", "20200501", "20200701"),
    ("created_epoch", "BIGINT", "1588291200", "1593561600"),
    ("event_time_ms", "BIGINT", "1588291200000", "1593561600000"),
    ("julian_day", "DOUBLE", "2458970.5", "2459031.5"),
]


@pytest.mark.parametrize(
    ("column", "kind", "early", "late"), FORMS, ids=[f"{name} {kind} {value}" for name, kind, value, _ in FORMS]
)
def test_later_rows_are_hidden_in_a_duckdb_file(tmp_path: Path, column: str, kind: str, early: str, late: str) -> None:
    path = tmp_path / "forms.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f'CREATE TABLE t ("{column}" {kind}, n INTEGER)')
        connection.execute(f"INSERT INTO t VALUES ({early}, 1), ({late}, 100)")
    with DuckDBWarehouse(path) as opened:
        assert opened.query("SELECT sum(n) AS n FROM t", as_of=DAY).data["n"].item() == 1
        assert opened.query("SELECT sum(n) AS n FROM t").data["n"].item() == 101


@pytest.mark.parametrize(
    ("column", "kind", "early", "late"), FORMS, ids=[f"{name} {kind} {value}" for name, kind, value, _ in FORMS]
)
def test_later_rows_are_hidden_in_sqlite_or_the_table_is_not_dated(
    tmp_path: Path, column: str, kind: str, early: str, late: str
) -> None:
    path = tmp_path / "forms.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(f'CREATE TABLE t ("{column}" {kind.replace("VARCHAR", "TEXT")}, n INTEGER)')
        connection.execute(f"INSERT INTO t VALUES ({early}, 1), ({late}, 100)")
    connection.close()
    with SQLWarehouse(f"sqlite:///{path}") as opened:
        (table,) = opened.tables
        if table.date is not None:
            assert opened.query("SELECT sum(n) AS n FROM t", as_of=DAY).data["n"].item() == 1


TRADES = (
    "CREATE TABLE trades AS SELECT * FROM (VALUES ('a', DATE '2020-05-01', 1), ('a', DATE '2020-07-01', 100), ('b', DATE '2020-08-01', 1000))"
    " AS v(account, trade_date, n)"
)
VIEWS = {
    "renaming": ("SELECT trade_date AS d, n FROM trades", "SELECT sum(n) AS n FROM v", 1),
    "renaming to a plan": ("SELECT trade_date AS maturity_date, n FROM trades", "SELECT sum(n) AS n FROM v", 1),
    "without a date": ("SELECT account, n FROM trades", "SELECT sum(n) AS n FROM v", 1),
    "a sum": ("SELECT account, sum(n) AS n FROM trades GROUP BY account", "SELECT sum(n) AS n FROM v", 1),
    "a sum with its last day": (
        "SELECT account, max(trade_date) AS last_date, sum(n) AS n FROM trades GROUP BY account",
        "SELECT sum(n) AS n FROM v",
        1,
    ),
    "the latest": ("SELECT n FROM trades ORDER BY trade_date DESC LIMIT 1", "SELECT n FROM v", 1),
    "a join with itself": (
        "SELECT x.trade_date, y.n FROM trades AS x JOIN trades AS y ON x.account = y.account",
        "SELECT sum(n) AS n FROM v",
        1,
    ),
    "another's schema": ("SELECT * FROM main.trades", "SELECT sum(n) AS n FROM v", 1),
    "a subquery": ("SELECT account, (SELECT max(n) FROM trades) AS n FROM trades", "SELECT max(n) AS n FROM v", 1),
    "with": ("WITH x AS (SELECT * FROM trades) SELECT count(*) AS n FROM x", "SELECT n FROM v", 1),
}


@pytest.mark.parametrize(("view", "select", "seen"), VIEWS.values(), ids=VIEWS)
def test_a_view_is_made_of_what_was_known(tmp_path: Path, view: str, select: str, seen: int) -> None:
    path = tmp_path / "views.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TRADES)
        connection.execute(f"CREATE VIEW v AS {view}")
        connection.execute("CREATE VIEW a_view_of_it AS SELECT * FROM v")
    with DuckDBWarehouse(path) as opened:
        assert opened.notes == []
        for asked in (select, select.replace("FROM v", "FROM a_view_of_it")):
            assert opened.query(asked, as_of=DAY).data["n"].item() == seen
            assert opened.query(asked).data["n"].item() > seen


BY_MACRO = {
    "a sum": "SELECT min(trade_date) AS trade_date, plus(sum(n), 0) AS n FROM trades",
    "a macro that reads": "SELECT DATE '2019-01-01' AS trade_date, total() AS n",
    "a window": "SELECT trade_date, plus(sum(n) OVER (), 0) AS n FROM trades",
    "a join with itself": "SELECT x.trade_date, plus(y.n, 0) AS n FROM trades AS x JOIN trades AS y USING (account)",
    "a date of its own": "SELECT DATE '2019-01-01' AS trade_date, plus(n, 0) AS n FROM trades",
}


@pytest.mark.parametrize("view", BY_MACRO.values(), ids=BY_MACRO)
def test_through_a_view_that_calls_a_macro_nothing_later_is_seen(tmp_path: Path, view: str) -> None:
    path = tmp_path / "macros.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TRADES)
        connection.execute("CREATE MACRO plus(a, b) AS a + b")
        connection.execute("CREATE MACRO total() AS (SELECT sum(n) FROM trades)")
        connection.execute(f"CREATE VIEW v AS {view}")
        connection.execute("CREATE VIEW a_view_of_it AS SELECT * FROM v")
    with DuckDBWarehouse(path) as opened:
        for asked in (
            "SELECT max(n) AS n FROM v",
            "SELECT max(n) AS n FROM a_view_of_it",
            "WITH x AS (FROM v) SELECT max(n) AS n FROM x",
        ):
            assert opened.query(asked).data["n"].item() > 100
            with pytest.raises(AsOfError, match="calls a macro"):
                opened.query(asked, as_of=DAY)
        assert opened.query("SELECT sum(n) AS n FROM trades", as_of=DAY).data["n"].item() == 1


@pytest.fixture(params=["sqlite", "postgres"])
def of_views(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], str]:
    """Makes a database with trades, accounts and the view `v`, and one over it; its address."""

    def made(view: str) -> str:
        path = tmp_path / "views.sqlite"
        address = f"sqlite:///{path}"
        if request.param == "postgres":
            address = request.getfixturevalue("postgres")
        schema = "main" if request.param == "sqlite" else "views_as_of"
        engine = sa.create_engine(address, poolclass=sa.pool.NullPool)
        with engine.begin() as connection:
            if request.param == "postgres":
                for statement in (
                    f"DROP SCHEMA IF EXISTS {schema} CASCADE",
                    f"CREATE SCHEMA {schema}",
                    f"SET search_path = {schema}",
                ):
                    connection.exec_driver_sql(statement)
            for statement in (
                "CREATE TABLE trades (account TEXT, trade_date DATE, n INTEGER)",
                "INSERT INTO trades VALUES ('a', '2020-05-01', 1), ('a', '2020-07-01', 100), ('b', '2020-08-01', 1000)",
                "CREATE TABLE accounts (account TEXT, opened_on DATE, name TEXT)",
                "INSERT INTO accounts VALUES ('a', '2019-01-01', 'x'), ('b', '2019-02-01', 'y')",
                "CREATE TABLE names (account TEXT, nick TEXT)",
                "INSERT INTO names VALUES ('a', 'x'), ('b', 'y')",
                f"CREATE VIEW v AS {view.replace('main.', f'{schema}.')}",
                "CREATE VIEW a_view_of_it AS SELECT * FROM v",
            ):
                connection.exec_driver_sql(statement)
        return address if request.param == "sqlite" else f"{address}&schema={schema}"

    return made


MORE = {
    "a date of another table": ("SELECT a.opened_on AS event_date, t.n FROM trades t JOIN accounts a USING (account)", "SELECT sum(n) AS n FROM v", 1),
    "a window": ("SELECT trade_date, sum(n) OVER () AS n FROM trades", "SELECT max(n) AS n FROM v", 1),
    "two at once": ("SELECT trade_date, n FROM trades UNION ALL SELECT '2020-01-01', n FROM trades", "SELECT sum(n) AS n FROM v", 1),
    "called as its table": ("WITH trades AS (SELECT n FROM main.trades) SELECT sum(n) AS n FROM trades", "SELECT n FROM v", 1),
    "a date of its own": ("SELECT '2020-01-01' AS trade_date, n FROM trades", "SELECT sum(n) AS n FROM v", 1),
}  # fmt: skip


@pytest.mark.parametrize(("view", "select", "seen"), [*VIEWS.values(), *MORE.values()], ids=[*VIEWS, *MORE])
def test_through_a_view_of_a_server_nothing_later_is_seen(
    of_views: Callable[[str], str], view: str, select: str, seen: int
) -> None:
    with SQLWarehouse(of_views(view)) as opened:
        for asked in (select, select.replace("FROM v", "FROM a_view_of_it"), f"SELECT ({select}) AS n"):
            assert opened.query(asked).data["n"].item() > seen
            with contextlib.suppress(AsOfError):
                assert opened.query(asked, as_of=DAY).data["n"].item() <= seen


SAFE = {
    "as it stands": "SELECT * FROM trades",
    "computed": "SELECT trade_date, abs(n) AS n, round(n / 2.0, 1) AS half, coalesce(upper(account), 'x') AS account, CAST(n AS DECIMAL(10, 2)) AS d FROM trades",
    "by cases": "SELECT trade_date, CASE WHEN (n > 0) THEN (n) ELSE (0) END AS n FROM trades WHERE (account) IN ('a', 'b') AND (n BETWEEN (0) AND (5000))",
    "renamed": "SELECT t.trade_date AS booked_date, t.n FROM trades AS t WHERE n > 0",
    "with names": "SELECT t.trade_date, t.n, m.nick FROM trades t JOIN names m ON m.account = t.account",
}


@pytest.mark.parametrize("view", SAFE.values(), ids=SAFE)
def test_a_view_of_rows_with_their_date_is_seen(of_views: Callable[[str], str], view: str) -> None:
    with SQLWarehouse(of_views(view)) as opened:
        for name in ("v", "a_view_of_it"):
            assert opened.query(f"SELECT sum(n) AS n FROM {name}", as_of=DAY).data["n"].item() == 1


def test_an_owner_says_that_a_view_has_no_later_rows(of_views: Callable[[str], str]) -> None:
    with SQLWarehouse(of_views("SELECT count(*) AS n FROM trades"), date_columns={"v": None}) as opened:
        assert opened.query("SELECT n FROM v", as_of=DAY).data["n"].item() == 3


# The column, its type, values of the form that a sample finds, and later ones of other forms, which are less as texts or numbers.
MIXED = [
    ("trade_date", "VARCHAR", [f"'2020-05-{1 + day % 28:02}'" for day in range(220)], "'15/07/2020' '15-Jul-2020' '1/7/2021' '12/2020' '1593993600' '20/07/2020'"),
    ("trade_date", "VARCHAR", [f"'202005{1 + day % 28:02}'" for day in range(220)], "'2020-07-15' '2020/07/15' '15.07.2020' '1593993600' '2020-7-5'"),
    ("trade_date", "VARCHAR", [f"'2020/05/{1 + day % 28:02}'" for day in range(220)], "'2020-07-15' '15/07/2020' '12/2020'"),
    ("trade_date", "VARCHAR", [f"'{1 + day % 28:02}/05/2020'" for day in range(220)], "'20200715' '2021Q1' '7/15/2020' '2021'"),
    ("trade_date", "VARCHAR", ["'05-May-2020'", "'16-Apr-2020'"] * 110, "'05-Okt-2020' '15-July-2020' '15-Jul-20'"),
    ("month", "VARCHAR", ["'2020-04'", "'2020-05'"] * 110, "'01/2021' '1 2021'"),
    ("quarter", "VARCHAR", ["'2019Q4'", "'2020Q1'"] * 110, "'1Q2021' '1/2021'"),
    ("date_key", "BIGINT", [str(20200501 + day % 28) for day in range(220)], "202107 2021 2459031 44100"),
    ("period", "BIGINT", ["202004", "202005"] * 110, "2021 44100"),
    ("fiscal_year", "BIGINT", ["2018", "2019"] * 110, "21"),
    ("created_epoch", "BIGINT", [str(1588291200 + hour * 3600) for hour in range(220)], "20200715 2021"),
    ("event_time_ms", "BIGINT", [str((1588291200 + hour * 3600) * 1000) for hour in range(220)], "1593993600 20200715"),
]  # fmt: skip


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
@pytest.mark.parametrize(("column", "kind", "known", "later"), MIXED, ids=[f"{row[0]} {row[2][0]}" for row in MIXED])
def test_a_row_whose_date_is_of_another_form_than_the_sample_is_hidden(
    tmp_path: Path, engine: str, column: str, kind: str, known: list[str], later: str
) -> None:
    path = tmp_path / "mixed.db"
    others = later.replace("' '", "'|'").split("|") if kind == "VARCHAR" else later.split()
    rows = [*((value, 1) for value in known), *((value, 1000) for value in others)]
    statements = [f'CREATE TABLE t ("{column}" {kind.replace("VARCHAR", "TEXT")}, n INTEGER)']
    statements += [f"INSERT INTO t VALUES {', '.join(f'({value}, {n})' for value, n in rows)}"]
    with _made(path, engine, statements) as opened:
        assert opened.query("SELECT sum(n) AS n FROM t", as_of=DAY).data["n"].item() == len(known)
        if engine == "duckdb":
            lines = opened.python_source(DAY)
            assert f"{len(known)}.0" == _exported(lines, "SELECT CAST(sum(n) AS DOUBLE) AS n FROM t")


# A day with a time: known on that day in UTC, or on the day after.
ZONES = [
    ("iso", "{}-{}-{}", "T23:30:00Z|T23:59:59.999|T23:30:00+02:00| 23:30:00 UTC| 11:30 PM| 9:05|", "T23:30:00-05:00|T233000-0500| 23:30 EST| 23:30 PT|T23:30 AMT| 24:00"),
    ("slashed", "{}/{}/{}", " 23:30| 11:30 PM|", " 23:30-05:00| 24:00"),
    ("compact", "{}{}{}", "T233000Z| 23:30|", "T233000-0500| 240000"),
    ("dmy", "{2}.{1}.{0}", " 23:30|", " 23:30 -05:00| 23:30 America/New_York"),
]  # fmt: skip


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
@pytest.mark.parametrize(("kind", "form", "known", "later"), ZONES, ids=[row[0] for row in ZONES])
def test_a_time_of_a_zone_in_the_west_may_be_of_the_day_after(
    tmp_path: Path, engine: str, kind: str, form: str, known: str, later: str
) -> None:
    earlier, day, after = (form.format("2020", *each) for each in (("06", "29"), ("06", "30"), ("07", "01")))
    rows = [(day + time, 1) for time in known.split("|")] + [(earlier + time, 1) for time in later.split("|")]
    seen = len(rows)
    rows += [(day + time, 1000) for time in later.split("|")] + [(after + time, 1000) for time in known.split("|")]
    statements = [
        "CREATE TABLE t (trade_date TEXT, n INTEGER)",
        f"INSERT INTO t VALUES {', '.join(map(str, rows))}",
    ]
    with _made(tmp_path / "zones.db", engine, statements) as opened:
        assert opened.tables[0].date == DateColumn("trade_date", kind)
        assert opened.query("SELECT sum(n) AS n FROM t", as_of=DAY).data["n"].item() == seen
        assert opened.query("SELECT count(*) AS n FROM t").data["n"].item() == len(rows)
        if engine == "duckdb":
            lines = opened.python_source(DAY)
            assert f"{seen}.0" == _exported(lines, "SELECT CAST(sum(n) AS DOUBLE) AS n FROM t")


@pytest.mark.parametrize("server", ["postgres", "mariadb"])
@pytest.mark.parametrize(("kind", "form", "known", "later"), ZONES, ids=[row[0] for row in ZONES])
def test_so_do_servers_see_times_of_zones(
    request: pytest.FixtureRequest, server: str, kind: str, form: str, known: str, later: str
) -> None:
    made = request.getfixturevalue(server)
    if not isinstance(made, str):
        plain = sa.create_engine(made(""), poolclass=sa.pool.NullPool)
        with plain.begin() as connection:
            connection.exec_driver_sql("CREATE DATABASE IF NOT EXISTS zones")
    address = made if isinstance(made, str) else str(made("zones"))
    day = form.format("2020", "06", "30")
    rows = [(day + time, 1) for time in known.split("|")] + [(day + time, 1000) for time in later.split("|")]
    engine = sa.create_engine(address, poolclass=sa.pool.NullPool)
    with engine.begin() as connection:
        for statement in (
            "DROP TABLE IF EXISTS times_of_zones",
            "CREATE TABLE times_of_zones (trade_date VARCHAR(60), n INTEGER)",
            f"INSERT INTO times_of_zones VALUES {', '.join(map(str, rows))}",
        ):
            connection.exec_driver_sql(statement)
    try:
        with SQLWarehouse(address) as opened:
            select = "SELECT sum(n) AS n FROM times_of_zones"
            assert opened.query(select, as_of=DAY).data["n"].item() == len(known.split("|"))
            assert opened.query(select, as_of=DAY + dt.timedelta(days=1)).data["n"].item() > 1000
    finally:
        with engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE times_of_zones")


def _made(path: Path, engine: str, statements: list[str]) -> DuckDBWarehouse | SQLWarehouse:
    if engine == "sqlite":
        with contextlib.closing(sqlite3.connect(path)) as lite, lite:
            for statement in statements:
                lite.execute(statement)
        return SQLWarehouse(f"sqlite:///{path}")
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return DuckDBWarehouse(path)


def _exported(source: str, select: str) -> str:
    names: dict[str, Any] = {"pd": pd, "dt": dt, "pa": pa, "pc": pc, "math": math}
    exec(source, names)  # noqa: S102
    return str(names["query"](select)["n"].item())


# The columns of a table, a row that was known by then and one that was not: which of its dates says so.
SEVERAL = [
    ("account_opened DATE, trade_dt TEXT", "'2019-01-01', '20200501'", "'2019-01-01', '20200701'"),
    ("created_at TIMESTAMP, trade_date TEXT", "'2020-03-31', '2020-05-01'", "'2020-03-31', '2020-08-01'"),
    ("period_end DATE, filed DATE", "'2020-03-31', '2020-05-01'", "'2020-03-31', '2020-08-01'"),
    ("date DATE, published_at TIMESTAMP", "'2020-03-31', '2020-05-01'", "'2020-03-31', '2020-08-01'"),
    ("trade_date DATE, valuation_date DATE", "'2020-03-31', '2020-05-01'", "'2020-03-31', '2020-08-01'"),
    ("order_date DATE, snapshot_date DATE", "'2020-03-31', '2020-05-01'", "'2020-03-31', '2020-08-01'"),
    ("observation_date DATE, vintage_date DATE", "'2020-03-31', '2020-05-01'", "'2020-03-31', '2020-08-01'"),
    ("date DATE, realtime_start DATE, realtime_end DATE", "'2020-03-31', '2020-05-01', '2020-06-01'", "'2020-03-31', '2020-08-01', '2020-08-02'"),
    ("hire_date DATE, pay_date DATE", "'2020-03-31', '2020-05-01'", "'2020-03-31', '2020-08-01'"),
    ("listing_date DATE, trading_day DATE", "'2020-03-31', '2020-05-01'", "'2020-03-31', '2020-08-01'"),
    ("contract_start DATE, reading_ts TIMESTAMP", "'2020-03-31', '2020-05-01'", "'2020-03-31', '2020-08-01'"),
    ("signup_date DATE, month TEXT", "'2020-03-31', '2020-05'", "'2020-03-31', '2020-07'"),
    ("trade_date DATE, month TEXT", "'2020-06-20', '2020-06'", "'2020-07-20', '2020-07'"),
    ("created_at TIMESTAMP, fiscal_year INTEGER", "'2020-03-31', 2020", "'2020-07-31', 2020"),
]  # fmt: skip


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
@pytest.mark.parametrize(("columns", "known", "later"), SEVERAL, ids=[row[0] for row in SEVERAL])
def test_of_several_dates_the_one_that_says_when_a_row_became_known(
    tmp_path: Path, engine: str, columns: str, known: str, later: str
) -> None:
    statements = [f"CREATE TABLE t ({columns}, n INTEGER)", f"INSERT INTO t VALUES ({known}, 1), ({later}, 100)"]
    with _made(tmp_path / "several.db", engine, statements) as opened:
        assert opened.query("SELECT sum(n) AS n FROM t", as_of=DAY).data["n"].item() == 1


@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind]])
def test_each_form_of_dates_may_be_sent_to_a_server(dialect: str, kind: str) -> None:
    table = TableSchema("flows", "", (Column("booked", "TEXT"),), date=DateColumn("booked", kind))
    made = Statements(dialect, (table,), {"flows": Place("desk", "flows")})
    sent = made.prepare("SELECT count(*) AS n FROM flows", DAY)
    assert " >= " in sent or " ~ " in sent or "REGEXP_INSTR" in sent


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_first_and_the_last_day_that_there_is_are_days_to_ask_as_of(kind: str) -> None:
    for day in (dt.date.min, dt.date(1, 1, 31), dt.date(1, 2, 1), dt.date.max):
        assert bound(kind, day)[1].sql("duckdb")


def test_a_month_is_known_from_its_last_day_on() -> None:
    days = [dt.date(2022, 1, 30), dt.date(2022, 1, 31), dt.date(2022, 12, 31), dt.date(1, 1, 1)]
    assert [bound("month", day)[1].sql() for day in days] == ["'2021-12'", "'2022-01'", "'2022-12'", "'0000-12'"]
    assert [bound("yyyymm", day)[1].sql() for day in days] == ["202112", "202201", "202212", "12"]


CALLING = {
    "alone": "SELECT main.newest() AS n",
    "beside a date": "SELECT trade_date, main.newest() AS n FROM trades",
    "called as one of the server's own": "SELECT trade_date, main.abs(n) AS n FROM trades",
    "within one of the server's own": "SELECT trade_date, greatest(n, main.newest()) AS n FROM trades",
    "in a condition": "SELECT trade_date, n, account FROM trades WHERE main.newest() > 100",
    "as an operator": "SELECT trade_date, n OPERATOR(main.@@@) n AS n FROM trades",
    "of a table": "SELECT r.n FROM main.all_rows() AS r",
    "beside a table": "SELECT t.trade_date, r.n FROM trades t CROSS JOIN LATERAL main.all_rows() AS r",
}
STORED = (
    "CREATE FUNCTION main.newest() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN (SELECT max(n) FROM main.trades); END $$",
    "CREATE FUNCTION main.abs(a int) RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN main.newest(); END $$",
    "CREATE FUNCTION main.add(a int, b int) RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN main.newest(); END $$",
    "CREATE OPERATOR main.@@@ (LEFTARG = int, RIGHTARG = int, FUNCTION = main.add)",
    "CREATE FUNCTION main.all_rows() RETURNS TABLE (n int) LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT t.n FROM main.trades t; END $$",
)


@pytest.mark.parametrize("of_views", ["postgres"], indirect=True)
@pytest.mark.parametrize("view", CALLING.values(), ids=CALLING)
def test_through_a_stored_function_nothing_later_is_seen(of_views: Callable[[str], str], view: str) -> None:
    address = of_views("SELECT 1 AS n")
    engine = sa.create_engine(address.partition("&schema=")[0], poolclass=sa.pool.NullPool)
    with engine.begin() as connection:
        for statement in (*STORED, "CREATE VIEW main.calling AS " + view):
            connection.exec_driver_sql(
                statement.replace("main.", "views_as_of.").replace("FROM trades", "FROM views_as_of.trades")
            )
    with SQLWarehouse(address) as opened:
        assert opened.query("SELECT max(n) AS n FROM calling").data["n"].item() > 1
        with pytest.raises(AsOfError):
            opened.query("SELECT max(n) AS n FROM calling", as_of=DAY)


MARIADB = {
    "select `t`.`day` AS `day`,`shop`.`latest`() AS `n` from `shop`.`t`": None,
    "select `t`.`day` AS `day`,latest() AS `n` from `shop`.`t`": None,
    "select `t`.`day` AS `day`,`latest`() AS `n` from `shop`.`t`": None,
    "select `latest`() AS `n`,`t`.`day` AS `day` from `shop`.`t` where `t`.`n` > `f`(1)": None,
    "select `t`.`day` AS `day`,load_file('/etc/passwd') AS `n` from `shop`.`t`": None,
    "select `t`.`day` AS `day`,round(ifnull(`t`.`n`,0),2) AS `n`,ucase(`t`.`a`) AS `a`,cast(`t`.`n` as decimal(10,2)) AS `d`,date_format(`t`.`day`,'%Y') AS `y` from `shop`.`t` where (`t`.`n` in (1,2))": (
        "t",
    ),
}


@pytest.mark.parametrize(("view", "reads"), MARIADB.items())
def test_what_a_view_of_mariadb_reads(view: str, reads: tuple[str, ...] | None) -> None:
    assert _read(view, "shop", "mysql")[0] == reads
