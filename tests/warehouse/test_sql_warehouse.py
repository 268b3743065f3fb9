"""A database by URL, PostgreSQL and SQLite: the same answers as a DuckDB file, and nothing but reading."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa
from as_duckdb import compare, most_held, run, see_each_their_own_day

from finexpert.errors import ConfigurationError, DataError, QueryError
from finexpert.warehouse.engines.connections import reading
from finexpert.warehouse.engines.sizes import Counted, counted
from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
from finexpert.warehouse.warehouse import Warehouse

Load = Callable[[str, str, DuckDBWarehouse], None]
Attack = Callable[[Warehouse, Sequence[str]], list[str]]
HERE = Path(__file__).parent
HOSTILE = [
    line for line in (HERE / "hostile_postgres.txt").read_text().splitlines() if line and not line.startswith("#")
]
DECLARED: dict[str, Any] = {"categories": ["cpi.cpi_index"], "date_columns": {"firms": None}}
COMMENTS = {
    "cpi": "Consumer prices",
    "cpi.value": "index 1982-1984=100, monthly",
    "rates.dff": "percent, daily",
    "jobs": "Labour market",
    "jobs.unemploy": "thousands of persons",
}
TABLES = ("cpi", "rates", "jobs", "firms")


@pytest.fixture(scope="module")
def server(postgres: str, load_tables: Load, warehouse: DuckDBWarehouse) -> str:
    """A server with the small tables in the schema fin, a table beside them that is not allowed, and a vault."""
    load_tables(postgres, "fin", warehouse)
    run(
        postgres,
        "CREATE TABLE fin.hidden (code int)",
        "CREATE SEQUENCE fin.counter",
        "DROP SCHEMA IF EXISTS vault CASCADE",
        "CREATE SCHEMA vault",
        "CREATE TABLE vault.secrets (code int)",
        "INSERT INTO vault.secrets VALUES (918273645)",
        "CREATE FUNCTION fin.clean() RETURNS int LANGUAGE sql AS 'DELETE FROM fin.cpi RETURNING 1'",
    )
    return postgres


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, load_tables: Load, warehouse: DuckDBWarehouse) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'small.db'}"
    load_tables(url, "main", warehouse)
    return url


@pytest.fixture(scope="module", params=["postgres", "sqlite"])
def database(request: pytest.FixtureRequest) -> Iterator[SQLWarehouse]:
    if request.param == "postgres":
        opened = SQLWarehouse(request.getfixturevalue("server"), schema="fin", tables=TABLES, **DECLARED)
    else:
        opened = SQLWarehouse(request.getfixturevalue("file"), comments=COMMENTS, **DECLARED)
    with opened:
        yield opened


@pytest.fixture(scope="module")
def opened(server: str) -> Iterator[SQLWarehouse]:
    with SQLWarehouse(server, schema="fin", tables=TABLES, seconds=2) as opened:
        yield opened


def test_the_card_is_that_of_a_duckdb_file(database: SQLWarehouse, warehouse: DuckDBWarehouse) -> None:
    protocol: Warehouse = database
    said = protocol.schema_card("samples").replace(": dates as texts YYYY-MM-DD", "")
    assert said == warehouse.schema_card("samples")
    assert protocol.columns() == warehouse.columns()
    assert [table.date and table.date.name for table in database.tables] == ["date", None, "date", "date"]


@pytest.mark.parametrize("as_of", [None, dt.date(2023, 3, 31), dt.date(2019, 1, 1)])
def test_a_select_gives_what_it_gives_over_a_duckdb_file(
    database: SQLWarehouse, warehouse: DuckDBWarehouse, as_of: dt.date | None, natively: list[dict[str, str]]
) -> None:
    assert len(natively) > 20
    for one in natively:
        expected = warehouse.query(one["duckdb"], as_of=as_of).data
        compare(database.query(one.get(database.dialect, one["duckdb"]), as_of=as_of).data, expected, one["duckdb"])


def test_what_differs_from_run_to_run_is_refused(database: SQLWarehouse) -> None:
    for select in ("SELECT CURRENT_DATE", "SELECT date FROM jobs WHERE date < CURRENT_TIMESTAMP", "SELECT random()"):
        with pytest.raises(QueryError, match="differs from run to run"):
            database.query(select)


def test_what_the_database_misses_is_told_with_the_nearest_name(database: SQLWarehouse) -> None:
    for select, said in (
        ("SELECT valeu FROM cpi", 'no column "valeu" in cpi; nearest: value'),
        ("SELECT c.dff FROM cpi AS c", 'no column "dff" in cpi; rates has a column of this name'),
        ('SELECT value FROM cpi WHERE cpi_index = "Core CPI"', "single quotes"),
        ("SELECT date, dff FROM weeks", 'no table "weeks"; rates has date, dff'),
        ("SELECT date, FROM WHERE jobs", "cannot be parsed"),
        ("SELECT nosuch(date) FROM jobs", r"nosuch\(\) is not allowed on"),
        ("SELECT date FROM jobs, rates", "ambiguous"),
        ("SELECT date FROM jobs JOIN cpi USING (dff)", "dff"),
    ):
        with pytest.raises(QueryError, match=said):
            database.query(select)


@pytest.mark.parametrize("select", [
    "SELECT CAST(symbol AS INT) FROM firms",
    "SELECT CAST(symbol AS DATE) - DATE '2020-01-01' AS gap FROM firms",
    "SELECT symbol::DOUBLE + 1 FROM firms",
    "SELECT employees * 100000000000000000 FROM firms",
    "SELECT 1 / (employees - 918273645) FROM firms",
    "SELECT (SELECT symbol FROM firms)",
    "SELECT symbol + 1 FROM firms",
    "SELECT make_date(employees::INT, 1, 1) FROM firms",
])  # fmt: skip
def test_no_cell_value_in_an_error(database: SQLWarehouse, select: str) -> None:
    try:
        database.query(select)
    except QueryError as caught:
        chain = f"{caught} {caught.__cause__} "
        assert "CANARY" not in chain.upper()
        assert "918273645" not in chain
    else:
        assert database.dialect == "sqlite"


def test_row_cap_cuts_and_says_so(file: str, server: str) -> None:
    for opened in (SQLWarehouse(file, row_cap=60), SQLWarehouse(server, schema="fin", row_cap=60)):
        with opened:
            cut, whole = opened.query("SELECT * FROM cpi ORDER BY value"), opened.query("SELECT * FROM jobs")
            assert (len(cut.data), cut.truncated, len(whole.data), whole.truncated) == (60, True, 60, False)


RUNAWAYS = [
    "SELECT count(*) FROM cpi a, cpi b, cpi c, cpi d, cpi e, cpi f WHERE a.value + f.value > b.value",
    "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r",
    "SELECT a.value FROM cpi a, cpi b, cpi c, cpi d, cpi e ORDER BY a.value * b.value * c.value * d.value * e.value",
]


@pytest.mark.parametrize("select", RUNAWAYS, ids=["cross join", "recursion", "sort"])
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_runaway_stops_within_a_second_of_its_limit(
    file: str, server: str, select: str, engine: str, soon: Any
) -> None:
    address, schema = (file, None) if engine == "sqlite" else (server, "fin")
    with SQLWarehouse(address, schema=schema, seconds=0.3) as opened:

        def run() -> None:
            with pytest.raises(QueryError, match=r"took longer than 0\.3 s"):
                opened.query(select)

        soon(1.3, run)
        assert opened.query("SELECT 1 AS one").data["one"].item() == 1


def test_the_server_itself_stops_what_nobody_waits_for(server: str, soon: Any) -> None:
    with SQLWarehouse(server, schema="fin") as opened:

        def sleep() -> None:
            with (
                reading(opened._engine, (), 0.2) as connection,
                pytest.raises(sa.exc.OperationalError, match="statement timeout"),
            ):
                connection.exec_driver_sql("SELECT pg_sleep(20)")

        soon(1.2, sleep)


def test_a_result_too_large_for_memory_is_refused(server: str) -> None:
    with (
        SQLWarehouse(server, schema="fin", seconds=20) as opened,
        pytest.raises(QueryError, match="larger than 256 MB"),
    ):
        opened.query(
            "SELECT x.s || a.symbol AS s FROM (SELECT string_agg(c.cpi_index || d.cpi_index, ',') AS s FROM cpi c, cpi d) AS x,"
            " firms a, jobs b, jobs c"
        )


def test_eight_threads_see_each_their_own_point_in_time(database: SQLWarehouse) -> None:
    see_each_their_own_day(database, range(0, 60, 3))


def _state(url: str) -> list[object]:
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
    with engine.connect() as connection:
        found: list[object] = []
        for select in (
            "SELECT md5(string_agg(c::text, ',' ORDER BY c::text)) FROM fin.cpi c",
            "SELECT md5(string_agg(c::text, ',' ORDER BY c::text)) FROM fin.jobs c",
            "SELECT count(*), max(code) FROM vault.secrets",
            "SELECT last_value, is_called FROM fin.counter",
            "SELECT count(*) FROM pg_class WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp')",
            "SELECT count(*) FROM pg_proc",
            "SELECT count(*) FROM pg_largeobject_metadata",
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'",
            "SELECT string_agg(setconfig::text, ',') FROM pg_db_role_setting",
        ):
            found.append(tuple(connection.exec_driver_sql(select).one()))
    return found


def test_hostile_statements_neither_change_nor_read_anything_else(
    server: str, opened: SQLWarehouse, attack: Attack
) -> None:
    """As a superuser, whom the server itself would refuse nothing."""
    before = _state(server)
    let_through = attack(opened, HOSTILE)
    assert _state(server) == before
    # An escaped quote is a text without harm where a backslash is no escape, and the other way round.
    assert [one for one in let_through if "DROP TABLE cpi; --'" not in one] == []
    assert len(HOSTILE) >= 80


def test_hostile_statements_neither_change_nor_read_anything_else_of_a_file(file: str, attack: Attack) -> None:
    path = Path(file.removeprefix("sqlite:///"))
    hostile = [line for line in (HERE / "hostile_sqlite.txt").read_text().splitlines() if line and line[0] != "#"]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS hidden AS SELECT 918273645 AS code")
        connection.commit()
    before = path.read_bytes()
    with SQLWarehouse(file, tables=TABLES, seconds=2) as opened:
        assert attack(opened, hostile) == []
    assert path.read_bytes() == before
    assert len(hostile) >= 70


def test_past_the_rules_the_transaction_itself_cannot_write(server: str, opened: SQLWarehouse) -> None:
    for statement in (
        "DELETE FROM fin.cpi",
        "CREATE TABLE fin.stolen AS SELECT 1",
        "SELECT nextval('fin.counter')",
        "SELECT fin.clean()",
        "SELECT * FROM fin.cpi FOR UPDATE",
        "SELECT 1; COMMIT; DELETE FROM fin.cpi",
    ):
        with reading(opened._engine, TABLES, 2) as connection, pytest.raises(sa.exc.DBAPIError):
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})


def test_past_the_rules_sqlite_itself_refuses(file: str, tmp_path: Path) -> None:
    with SQLWarehouse(file) as opened:
        for statement in (
            "DELETE FROM cpi",
            "CREATE TABLE stolen (a)",
            f"ATTACH '{tmp_path / 'other.db'}' AS other",
            "SELECT * FROM sqlite_master",
            "SELECT * FROM hidden",
            "PRAGMA query_only = OFF",
            "SELECT load_extension('x')",
            "SELECT hex(zeroblob(100000000))",
            "VACUUM",
        ):
            with reading(opened._engine, ["cpi"], 2) as connection, pytest.raises(sa.exc.DBAPIError):
                connection.exec_driver_sql(statement).fetchall()
        assert not [*tmp_path.iterdir()]


def test_native_sql_sees_the_rows_up_to_the_day(opened: SQLWarehouse) -> None:
    select = "SELECT max(date) AS last, count(*)::int AS n FROM jobs WHERE date > DATE '2020-01-01' - INTERVAL '1 year'"
    frame = opened.query(select, as_of=dt.date(2020, 2, 29))
    assert frame.data.to_dict("records") == [{"last": pd.Timestamp("2020-02-01"), "n": 2}]
    assert opened.query("WITH cpi AS (SELECT * FROM jobs) SELECT date FROM cpi", as_of=dt.date(2019, 1, 1)).data.empty


def test_types_keys_enums_and_capitals_of_a_server(postgres: str) -> None:
    run(
        postgres,
        "DROP SCHEMA IF EXISTS odd CASCADE",
        "CREATE SCHEMA odd",
        "CREATE TYPE odd.side AS ENUM ('buy', 'sell')",
        'CREATE TABLE odd."Deals" ("Id" int PRIMARY KEY, side odd.side, price numeric(12, 4), at timestamptz, tags jsonb, raw numeric, ref uuid)',
        'CREATE TABLE odd.legs (deal int REFERENCES odd."Deals" ("Id"), "order" varchar(9), ok bool, date timestamp, UNIQUE (deal, "order"))',
        "CREATE UNIQUE INDEX ON odd.legs (deal) WHERE ok",
        "INSERT INTO odd.\"Deals\" VALUES (1, 'sell', 12.5, '2024-05-01 23:30+02', '{\"desk\": \"rates\"}', 1e3, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')",
        "INSERT INTO odd.legs VALUES (1, 'a', true, '2024-05-01 23:59'), (1, NULL, NULL, '2024-05-02 00:00')",
    )
    with SQLWarehouse(postgres, schema="odd", label="made up") as opened:
        assert opened.schema_card().splitlines() == [
            'table "Deals": key "Id"',
            '  "Id" INTEGER',
            "  side ENUM",
            "  price DECIMAL(12,4)",
            "  at TIMESTAMP WITH TIME ZONE (date column)",
            "  tags JSONB",
            "  raw NUMERIC",
            "  ref UUID",
            "",
            "table legs",
            '  deal INTEGER -> "Deals"."Id"',
            '  "order" VARCHAR',
            "  ok BOOLEAN",
            "  date TIMESTAMP (date column)",
        ]
        assert opened.tables[1].unique == (("deal", "order"),)
        select = (
            "SELECT d.side, d.price, d.at, d.raw, d.ref, d.tags ->> 'desk' AS desk, l.\"order\", l.ok"
            ' FROM "Deals" d JOIN legs l ON l.deal = d."Id" WHERE d.side = \'sell\''
        )
        found = opened.query(select, as_of=dt.date(2024, 5, 1))
        assert found.data.to_dict("records") == [
            {
                "side": "sell",
                "price": 12.5,
                "at": pd.Timestamp("2024-05-01 21:30"),
                "raw": 1000,
                "ref": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
                "desk": "rates",
                "order": "a",
                "ok": True,
            }
        ]
        # Of a table that hides nothing the server still knows the keys.
        grouped = 'SELECT d.price, count(*) AS n FROM "Deals" d JOIN legs l ON l.deal = d."Id" GROUP BY d."Id"'
        assert opened.query(grouped).data.to_dict("records") == [{"price": 12.5, "n": 2}]
        for column, said in (("tags", "type struct"), ("at - date", "type interval")):
            with pytest.raises(QueryError, match=said):
                opened.query(f'SELECT {column} FROM "Deals" d JOIN legs l ON l.deal = d."Id"')


def test_an_exported_source_runs(
    database: SQLWarehouse, file: str, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = file if database.dialect == "sqlite" else server
    code = database.python_source(dt.date(2020, 2, 29))
    assert url not in code
    monkeypatch.setenv("DATABASE_URL", url)
    names: dict[str, object] = {"pd": pd}
    exec(code, names)  # noqa: S102 - it is what a reader of the export runs
    found = names["query"]("SELECT max(date) AS last, count(*) AS n FROM jobs")  # type: ignore[operator]
    assert found.to_dict("records") == [{"last": pd.Timestamp("2020-02-01"), "n": 2}]
    names["database"].dispose()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("url", "error", "said"), [
    ("not a url", ConfigurationError, "is no URL"),
    ("oracle://user:hunter2@host/db", ConfigurationError, "kind oracle are not read:"),
    ("sqlite:///nowhere/gone.db", DataError, "no SQLite file"),
    ("postgresql+psycopg://user:hunter2@127.0.0.1:1/db", DataError, "cannot be asked"),
])  # fmt: skip
def test_a_wrong_address_is_told_without_its_password(url: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said) as caught:
        SQLWarehouse(url)
    assert "hunter2" not in f"{caught.value}{caught.value.__cause__}"


def test_wrong_names_are_told(server: str, file: str) -> None:
    with pytest.raises(DataError, match='no schema "nope"'):
        SQLWarehouse(server, schema="nope")
    with pytest.raises(DataError, match='no table "nope"'):
        SQLWarehouse(file, tables=["nope"])
    with pytest.raises(DataError, match=r'"cpi\.nope" is no column'):
        SQLWarehouse(file, categories=["cpi.nope"])


def test_categories_are_read_where_asked_and_a_date_column_can_be_taken_away(file: str) -> None:
    with SQLWarehouse(
        file, tables=["jobs", "firms"], categories=["firms.symbol"], date_columns={"jobs": None}
    ) as opened:
        assert "  symbol VARCHAR: one of 'BBB', 'ZQXCANARY1'" in opened.schema_card().splitlines()
        assert len(opened.query("SELECT * FROM jobs", as_of=dt.date(2000, 1, 1)).data) == 60


def test_a_closed_warehouse_says_so(file: str) -> None:
    opened = SQLWarehouse(file)
    opened.close()
    with pytest.raises(DataError, match="is closed"):
        opened.query("SELECT 1")


@pytest.fixture(scope="module")
def endless(server: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """On either database one value that is longer than it may be."""
    path = tmp_path_factory.mktemp("endless") / "endless.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE endless (id INTEGER, note TEXT)")
        connection.execute("INSERT INTO endless VALUES (1, CAST(zeroblob(100000000) AS TEXT))")
        connection.commit()
    run(server, "CREATE TABLE fin.endless AS SELECT 1::bigint AS id, repeat(repeat('x', 1000), 300000) AS note")
    return {"postgres": server, "sqlite": f"sqlite:///{path}"}


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory: the system does not say what was held")
@pytest.mark.parametrize("dialect", ["postgres", "sqlite"])
def test_one_endless_value_never_reaches_this_process(endless: dict[str, str], dialect: str) -> None:
    schema = "fin" if dialect == "postgres" else None
    with SQLWarehouse(endless[dialect], schema=schema, tables=["endless"], seconds=60) as opened:
        assert opened.query("SELECT id FROM endless").data["id"].tolist() == [1]
        most_held()
        before = most_held()
        with pytest.raises(QueryError, match=r"larger than (256 MB: select fewer|it may be: filter)"):
            opened.query("SELECT note FROM endless")
        assert most_held() - before < 64
        assert opened.query("SELECT id FROM endless").data["id"].tolist() == [1]


def test_bytes_are_counted_where_the_rows_lie(server: str) -> None:
    engine = sa.create_engine(server, poolclass=sa.pool.NullPool)
    rows = "SELECT n AS id, repeat('é', n) AS note, n AS note FROM generate_series(1, 20) AS s(n) ORDER BY n DESC"
    with engine.connect() as connection:
        connection = connection.execution_options(no_parameters=True)
        assert counted(connection, "SELECT 1 AS id, now() AS at") == ("SELECT 1 AS id, now() AS at", False)
        for most, complete in ((10_000, 20), (2 * (20 + 19 + 18), 3), (39, 0)):
            sql, last = counted(connection, rows, most)
            assert last
            with connection.exec_driver_sql(sql) as result:
                assert list(Counted(result).keys()) == ["id", "note", "note"]
                found = result.fetchall()
            assert [row[0] for row in found] == list(range(20, 0, -1))
            assert [row[1] for row in found] == ["é" * n if 20 - n < complete else None for n in range(20, 0, -1)]
            assert [row[-1] for row in found] == [20 - n >= complete for n in range(20, 0, -1)]
    engine.dispose()


def test_without_a_schema_postgres_shows_the_tables_there_are(postgres: str) -> None:
    with sa.create_engine(postgres, poolclass=sa.pool.NullPool).connect() as server:
        server.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("CREATE DATABASE unnamed")
    url = postgres.replace("/postgres?", "/unnamed?")
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool)

    def run(*statements: str) -> None:
        with engine.begin() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    run("CREATE SCHEMA desk", "CREATE TABLE desk.trades (trade_id integer)", "INSERT INTO desk.trades VALUES (7)")
    with SQLWarehouse(url) as opened:
        assert opened.query("SELECT max(trade_id) FROM trades").data.iat[0, 0] == 7
    run("CREATE SCHEMA risk", "CREATE VIEW risk.limits AS SELECT 1 AS n")
    with SQLWarehouse(url) as opened:
        assert [table.name for table in opened.tables] == ["desk.trades", "risk.limits"]
    run("CREATE TABLE public.accounts (account_id integer)")
    with SQLWarehouse(url) as opened:
        assert [table.name for table in opened.tables] == ["accounts"]
