"""MySQL by URL, tried on a MariaDB: its own SQL, what it would give NULL or cut short for is refused, and nothing but reading."""

from __future__ import annotations

import datetime as dt
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa
from as_duckdb import compare, most_held, run, see_each_their_own_day

from finexpert.attacks.cases import cases
from finexpert.errors import ConfigurationError, DataError, QueryError
from finexpert.warehouse.engines.connections import reading
from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse
from finexpert.warehouse.warehouse import Warehouse

Load = Callable[[str, str, DuckDBWarehouse], None]
Attack = Callable[[Warehouse, Sequence[str]], list[str]]
Address = Callable[[str], str]
HERE = Path(__file__).parent
TABLES = ("cpi", "rates", "jobs", "firms")
DECLARED: dict[str, Any] = {"categories": ["cpi.cpi_index"], "date_columns": {"firms": None}}
HOSTILE = [
    line
    for line in (HERE / "hostile_mysql.txt").read_text().splitlines()
    if line and (not line.startswith("#") or line.startswith("#\\"))
]
DAYS = [None, dt.date(2023, 3, 31), dt.date(2019, 1, 1)]


@pytest.fixture(scope="module")
def server(mariadb: Address, load_tables: Load, warehouse: DuckDBWarehouse) -> str:
    """The small tables in the database fin, a table beside them that is not allowed, and a vault."""
    load_tables(mariadb(""), "fin", warehouse)
    run(
        mariadb("fin"),
        "CREATE TABLE hidden (code int)",
        "CREATE SEQUENCE counter",
        "CREATE OR REPLACE DATABASE vault",
        "CREATE TABLE vault.secrets (code int)",
        "INSERT INTO vault.secrets VALUES (918273645)",
        "CREATE FUNCTION clean() RETURNS int BEGIN DELETE FROM fin.cpi; RETURN 1; END",
        "CREATE FUNCTION initcap(a text) RETURNS int BEGIN DELETE FROM fin.cpi; RETURN 1; END",
        "CREATE USER desk@localhost IDENTIFIED BY 'secret'",
        "CREATE TABLE vault.texts (id int, name varchar(9) COLLATE utf8mb4_general_ci) DEFAULT CHARSET utf8mb4",
        "INSERT INTO vault.texts VALUES (1, 'a'), (2, 'A'), (3, 'a '), (4, 'Ä'), (5, 'a\\\\'), (6, NULL)",
    )
    return mariadb("fin")


@pytest.fixture(scope="module")
def database(server: str) -> Iterator[SQLWarehouse]:
    with SQLWarehouse(server, tables=TABLES, **DECLARED) as opened:
        yield opened


@pytest.fixture(scope="module")
def opened(server: str) -> Iterator[SQLWarehouse]:
    with SQLWarehouse(server, tables=TABLES, seconds=2) as opened:
        yield opened


def test_the_card_is_that_of_a_duckdb_file(database: SQLWarehouse, warehouse: DuckDBWarehouse) -> None:
    protocol: Warehouse = database
    assert protocol.schema_card("samples") == warehouse.schema_card("samples")
    assert protocol.columns() == warehouse.columns()


@pytest.mark.parametrize("as_of", DAYS)
def test_a_select_gives_what_it_gives_over_a_duckdb_file(
    database: SQLWarehouse, warehouse: DuckDBWarehouse, as_of: dt.date | None, natively: list[dict[str, str]]
) -> None:
    for one in natively:
        expected = warehouse.query(one["duckdb"], as_of=as_of).data
        found = database.query(one.get("mysql", one["duckdb"]), as_of=as_of).data
        compare(found, expected, one["duckdb"], kinds=False)


@pytest.mark.parametrize(("select", "said"), [
    ("SELECT unemploy / (unrate - 4) AS s FROM jobs", "divides by zero"),
    ("SELECT unemploy % (unemploy - unemploy) AS s FROM jobs", "divides by zero"),
    ("SELECT sum(unemploy / (unrate - 4)) AS s FROM jobs", "divides by zero"),
    ("SELECT ln(value - value) AS s FROM cpi", "divides by zero|out of the range|does not have the form"),
    ("SELECT exp(value * 10) AS s FROM cpi", "out of the range"),
    ("SELECT cast(cpi_index AS DATE) AS s FROM cpi", "does not have the form"),
    ("SELECT cast(cpi_index AS DECIMAL(10, 2)) AS s FROM cpi", "does not have the form"),
    ("SELECT count(*) AS n FROM jobs WHERE cast('' AS DOUBLE) > 1", "does not have the form"),
    ("SELECT cpi_index + 1 AS s FROM cpi", "does not have the form"),
    ("SELECT sum(cpi_index) AS s FROM cpi", "does not have the form"),
    ("SELECT count(*) AS n FROM cpi WHERE cpi_index > 5", "does not have the form"),
    ("SELECT cpi_index, max(value) AS m FROM cpi", "GROUP|cannot plan it"),
    ('SELECT "value" AS v FROM cpi', "write names between backticks"),
    ('SELECT count(*) AS n FROM cpi WHERE "cpi_index" = \'CPI\'', "write names between backticks"),
    ("SELECT nosuch(date) AS d FROM jobs", r"nosuch\(\) is not allowed on MySQL"),
    ("SELECT valeu FROM cpi", 'no column "valeu" in cpi; nearest: value'),
    ("SELECT date, dff FROM weeks", 'no table "weeks"; rates has date, dff'),
    ("SELECT CURRENT_DATE", "differs from run to run"),
])  # fmt: skip
def test_what_would_come_out_otherwise_is_refused(database: SQLWarehouse, select: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        database.query(select)


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("JSON_VALUE({}, '$.edi')", "1"),
        ("JSON_UNQUOTE(JSON_EXTRACT({}, '$.name'))", "a b"),
        ("JSON_CONTAINS({}, '1', '$.edi')", 1),
        ("JSON_LENGTH({})", 2),
    ],
)
def test_json_is_taken_apart(database: SQLWarehouse, call: str, found: object) -> None:
    text = """'{"edi": 1, "name": "a b"}'"""
    assert database.query(f"SELECT {call.format(text)} AS found FROM cpi LIMIT 1").data.found[0] == found


def test_texts_are_compared_as_their_columns_say(server: str, mariadb: Address) -> None:
    with SQLWarehouse(mariadb("vault"), tables=["texts"]) as opened:
        for condition, ids in (
            ("name = 'a'", [1, 2, 3, 4]),
            ("name = 'a' COLLATE utf8mb4_bin", [1, 3]),
            ("name LIKE 'A%'", [1, 2, 3, 4, 5]),
            ("char_length(name) = 2", [3, 5]),
        ):
            found = opened.query(f"SELECT id FROM texts WHERE {condition} ORDER BY id").data["id"].tolist()
            assert found == ids, condition


@pytest.mark.parametrize("select", [
    "SELECT CAST(symbol AS INT) FROM firms",
    "SELECT CAST(symbol AS DATE) AS gap FROM firms",
    "SELECT CAST(symbol AS DOUBLE) + 1 FROM firms",
    "SELECT employees * 100000000000000000 FROM firms",
    "SELECT 1 / (employees - 918273645) FROM firms",
    "SELECT (SELECT symbol FROM firms)",
    "SELECT symbol + 1 FROM firms",
    "SELECT STR_TO_DATE(symbol, '%Y%m%d') FROM firms",
    "SELECT count(*) AS n FROM firms WHERE symbol > 5",
])  # fmt: skip
def test_no_cell_value_in_an_error(database: SQLWarehouse, select: str) -> None:
    with pytest.raises(QueryError) as caught:
        database.query(select)
    chain = f"{caught.value} {caught.value.__cause__} "
    assert "CANARY" not in chain.upper()
    assert "918273645" not in chain


def test_row_cap_cuts_and_says_so(server: str) -> None:
    with SQLWarehouse(server, tables=TABLES, row_cap=60) as opened:
        for select, rows, is_cut in (
            ("SELECT * FROM cpi ORDER BY value", 60, True),
            ("SELECT * FROM cpi ORDER BY value LIMIT 100", 60, True),
            ("SELECT * FROM jobs", 60, False),
            ("SELECT date FROM cpi UNION ALL SELECT date FROM jobs", 60, True),
            ("SELECT count(*) AS n FROM (SELECT date FROM cpi) AS x", 1, False),
        ):
            found = opened.query(select)
            assert (len(found.data), found.truncated) == (rows, is_cut), select


RUNAWAYS = [
    "SELECT count(*) FROM cpi a, cpi b, cpi c, cpi d, cpi e, cpi f WHERE a.value + f.value > b.value",
    "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r",
    "SELECT a.value FROM cpi a, cpi b, cpi c, cpi d, cpi e ORDER BY a.value * b.value * c.value * d.value * e.value",
]


@pytest.mark.parametrize("select", RUNAWAYS, ids=["cross join", "recursion", "sort"])
def test_a_runaway_stops_within_a_second_of_its_limit(server: str, select: str, soon: Any) -> None:
    with SQLWarehouse(server, tables=TABLES, seconds=0.5) as opened:

        def run() -> None:
            with pytest.raises(QueryError, match=r"took longer than 0\.5 s"):
                opened.query(select)

        def gone() -> None:
            others = (
                "SELECT count(*) FROM information_schema.processlist WHERE command = 'Query' AND id <> connection_id()"
            )
            with reading(opened._engine, (), None) as connection:
                while connection.exec_driver_sql(others).scalar():
                    time.sleep(0.05)

        soon(1.5, run)
        soon(1.0, gone)
        assert opened.query("SELECT 1 AS one").data["one"].item() == 1


def test_the_server_itself_stops_what_nobody_waits_for(database: SQLWarehouse, soon: Any) -> None:
    def sleep() -> None:
        with (
            reading(database._engine, (), 0.2) as connection,
            pytest.raises(sa.exc.OperationalError, match="max_statement_time exceeded"),
        ):
            connection.exec_driver_sql("SELECT SLEEP(20)")

    soon(1.2, sleep)


def test_eight_threads_see_each_their_own_point_in_time(database: SQLWarehouse) -> None:
    see_each_their_own_day(database, range(0, 60, 3))


def _state(url: str) -> list[object]:
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
    with engine.connect() as connection:
        return [
            tuple(map(tuple, connection.exec_driver_sql(select).all()))
            for select in (
                "CHECKSUM TABLE fin.cpi, fin.jobs, vault.secrets",
                "SELECT next_not_cached_value FROM fin.counter",
                "SELECT table_schema, table_name FROM information_schema.tables ORDER BY 1, 2",
                "SELECT count(*) FROM information_schema.routines",
                "SELECT count(*) FROM information_schema.triggers",
                "SELECT count(*) FROM information_schema.events",
                "SELECT User, Host, Priv FROM mysql.global_priv ORDER BY 1, 2",
                "SELECT * FROM mysql.func",
                "SELECT @@global.general_log, @@global.read_only, @@global.local_infile",
                "SELECT IS_USED_LOCK('finexpert')",
            )
        ]


def test_hostile_statements_neither_change_nor_read_anything_else(
    server: str, opened: SQLWarehouse, attack: Attack
) -> None:
    """As a user to whom the server itself would refuse nothing."""
    before = _state(server)
    let_through = attack(opened, HOSTILE)
    assert _state(server) == before
    # An escaped quote is a text without harm where a backslash escapes.
    assert [one for one in let_through if "DROP TABLE cpi; --" not in one] == []
    assert len(HOSTILE) >= 150


def test_the_statements_that_ship_with_the_package_are_held(
    mariadb: Address, load_tables: Load, tmp_path: Path
) -> None:
    """Those of a DuckDB file, as they stand: each is refused, or gives rows of the allowed tables up to the day."""
    notes = [f"NOTE{number}ZQX" for number in range(6)]
    sales = pd.DataFrame(
        {
            "date": pd.date_range("2020-01-01", periods=6, freq="MS"),
            "region": ["north", "south"] * 3,
            "note": notes,
            "amount": [100.0 + n for n in range(6)],
        }
    )
    path = build_warehouse(tmp_path / "sales.duckdb", [Table("sales", sales, date_column="date")])
    (tmp_path / "secret.csv").write_text(f"word\n{notes[5]}\n", encoding="utf-8")
    with DuckDBWarehouse(path) as source:
        load_tables(mariadb(""), "shop", source)
    before = _state(mariadb("shop"))
    with SQLWarehouse(mariadb("shop"), seconds=1, row_cap=1000) as opened:
        for case in cases("statements"):
            started = time.perf_counter()
            try:
                said = opened.query(
                    case.filled({"folder": tmp_path, "nul": "\0"}), as_of=dt.date(2020, 3, 31)
                ).data.to_csv()
            except QueryError as error:
                said = str(error)
                assert not [note for note in notes if note in said], case.name
            assert not [note for note in notes[3:] if note in said], case.name
            # An empty DuckDB plans the largest of them in a second, on a machine that has nothing else to do.
            assert time.perf_counter() - started < 30, case.name
        ordinary = opened.query("SELECT count(*) AS n, sum(amount) AS s FROM sales", as_of=dt.date(2020, 3, 31)).data
        assert ordinary.to_dict("records") == [{"n": 3, "s": 303.0}]
    assert _state(mariadb("shop")) == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["sales.duckdb", "secret.csv"]


def test_past_the_rules_the_transaction_itself_cannot_write(opened: SQLWarehouse) -> None:
    for statement in (
        "DELETE FROM fin.cpi",
        "CREATE TABLE fin.stolen AS SELECT 1 AS a",
        "DROP TABLE fin.cpi",
        "SELECT NEXT VALUE FOR fin.counter",
        "SELECT fin.clean()",
        "SELECT 1; COMMIT; DELETE FROM fin.cpi",
        "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE fin.hidden",
    ):
        with reading(opened._engine, TABLES, 2) as connection, pytest.raises(sa.exc.DBAPIError):
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
    with reading(opened._engine, TABLES, 2) as connection:
        connection.exec_driver_sql("COMMIT")
        with pytest.raises(sa.exc.DBAPIError, match="READ ONLY"):
            connection.exec_driver_sql("DELETE FROM fin.cpi")


def test_native_sql_sees_the_rows_up_to_the_day(opened: SQLWarehouse) -> None:
    select = "SELECT MAX(date) AS last, COUNT(*) AS n FROM jobs WHERE date > '2020-01-01' - INTERVAL 1 YEAR"
    frame = opened.query(select, as_of=dt.date(2020, 2, 29))
    assert frame.data.to_dict("records") == [{"last": pd.Timestamp("2020-02-01"), "n": 2}]
    assert opened.query("WITH cpi AS (SELECT * FROM jobs) SELECT date FROM cpi", as_of=dt.date(2019, 1, 1)).data.empty


def test_types_keys_enums_and_names(mariadb: Address) -> None:
    run(
        mariadb(""),
        "CREATE OR REPLACE DATABASE odd",
        "CREATE TABLE odd.`Deals` (`Id` int PRIMARY KEY, side enum('buy', 'sell'), price decimal(12, 4), at timestamp NULL, tags json,"
        " raw float, flags bit(8), made year, units int unsigned, total bigint unsigned, ok bool, took time, `a b` varchar(9)) COMMENT 'it''s'",
        "CREATE TABLE odd.legs (deal int COMMENT 'of the deal', `order` varchar(9), date datetime(6), FOREIGN KEY (deal) REFERENCES odd.`Deals` (`Id`))",
        "SET time_zone = '+02:00'",
        "INSERT INTO odd.`Deals` VALUES (1, 'sell', 12.5, '2024-05-01 23:30', '{}', 0.1, 5, 2024, 4294967295, 18446744073709551615, true,"
        " '100:00:00', 'x')",
        "INSERT INTO odd.legs VALUES (1, 'a', '2024-05-01 23:59:59.5'), (1, NULL, '2024-05-02 00:00')",
        "CREATE VIEW odd.seen AS SELECT `Id` AS id, side FROM odd.`Deals`",
    )
    with SQLWarehouse(mariadb("odd"), label="made up") as opened:
        assert opened.schema_card().splitlines() == [
            "table Deals: it's; key Id",
            "  Id INTEGER",
            "  side ENUM",
            "  price DECIMAL(12,4)",
            "  at TIMESTAMP (date column)",
            "  tags VARCHAR",
            "  raw DOUBLE",
            "  flags BIGINT",
            "  made YEAR(4)",
            "  units BIGINT",
            "  total DECIMAL(20,0)",
            "  ok INTEGER",
            "  took TIME",
            "  `a b` VARCHAR",
            "",
            "table legs",
            "  deal INTEGER -> Deals.Id: of the deal",
            "  `order` VARCHAR",
            "  date TIMESTAMP (date column)",
            "",
            "table seen",
            "  id INTEGER",
            "  side ENUM",
        ]
        select = (
            "SELECT d.Side, d.price, d.at, d.raw, d.flags + 1 AS f, d.made, d.units - 5 AS u, d.`a b`, l.`order`, l.date"
            " FROM Deals d JOIN legs l ON l.deal = d.id"
        )
        found = opened.query(select, as_of=dt.date(2024, 5, 1))
        assert found.data.round({"raw": 7}).to_dict("records") == [
            {
                "side": "sell",
                "price": 12.5,
                "at": pd.Timestamp("2024-05-01 21:30"),
                "raw": 0.1,
                "f": 6,
                "made": 2024,
                "u": 4294967290,
                "a b": "x",
                "order": "a",
                "date": pd.Timestamp("2024-05-01 23:59:59.5"),
            }
        ]
        assert opened.query("SELECT max(total) AS t FROM Deals WHERE side = 'sell'").data["t"].item() == 2.0**64
        with pytest.raises(QueryError, match="type interval"):
            opened.query("SELECT took FROM Deals")


def test_an_exported_source_runs(database: SQLWarehouse, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = database.python_source(dt.date(2020, 2, 29))
    assert server not in code
    monkeypatch.setenv("DATABASE_URL", server)
    names: dict[str, object] = {"pd": pd}
    exec(code, names)  # noqa: S102 - it is what a reader of the export runs
    found = names["query"]("SELECT max(date) AS last, count(*) AS n FROM jobs")  # type: ignore[operator]
    assert found.to_dict("records") == [{"last": pd.Timestamp("2020-02-01"), "n": 2}]
    names["database"].dispose()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("address", "error", "said"), [
    ("mysql+pymysql://desk:hunter2@127.0.0.1:1/db", DataError, r"db at 127\.0\.0\.1:1 cannot be asked .*the address is right"),
    ("mysql+pymysql://desk:hunter2@nowhere.invalid/db", DataError, r"db at nowhere\.invalid cannot be asked"),
    ("mysql+pymysql://desk:hunter2@127.0.0.1", ConfigurationError, "must name the driver and a database"),
    ("mysql+mysqldb://desk:hunter2@127.0.0.1/db", ConfigurationError, r"write mysql\+pymysql://user@host/database"),
    ("oracle://desk:hunter2@127.0.0.1/db", ConfigurationError, "kind oracle are not read:"),
])  # fmt: skip
def test_a_wrong_address_is_told_without_its_password(
    server: str, address: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said) as caught:
        SQLWarehouse(address)
    assert "hunter2" not in f"{caught.value}{caught.value.__cause__}"


def test_a_wrong_password_and_a_database_that_is_not_there_are_told(server: str, mariadb: Address) -> None:
    wrong = mariadb("fin").replace("root@", "desk:hunter2@")
    with pytest.raises(DataError, match=r"fin cannot be asked .*refuses the user or the password") as caught:
        SQLWarehouse(wrong)
    assert "hunter2" not in f"{caught.value}{caught.value.__cause__}"
    with pytest.raises(DataError, match=r"nope cannot be asked .*no such database"):
        SQLWarehouse(mariadb("nope"))
    with pytest.raises(DataError, match='no table "nope"'):
        SQLWarehouse(server, tables=["nope"])


def test_a_driver_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymysql", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'finexpert\[mysql\]'"):
        SQLWarehouse("mariadb+pymysql://desk@127.0.0.1/db")


def test_categories_are_read_where_asked(server: str) -> None:
    with SQLWarehouse(server, tables=["firms"], categories=["firms.symbol"]) as opened:
        assert "  symbol VARCHAR: one of 'BBB', 'ZQXCANARY1'" in opened.schema_card().splitlines()


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory: the system does not say what was held")
def test_one_endless_value_never_reaches_this_process(server: str) -> None:
    run(server, "CREATE OR REPLACE VIEW fin.endless AS SELECT 1 AS id, REPEAT('x', 20000000) AS note")
    with SQLWarehouse(server, seconds=60, tables=["endless"]) as opened:
        assert opened.query("SELECT id FROM endless").data["id"].tolist() == [1]
        most_held()
        before = most_held()
        with pytest.raises(QueryError, match="larger than it may be"):
            opened.query("SELECT note FROM endless")
        assert most_held() - before < 16
        assert opened.query("SELECT id FROM endless").data["id"].tolist() == [1]
    run(server, "DROP VIEW fin.endless")


def test_a_result_too_large_for_memory_is_refused(server: str) -> None:
    run(server, "CREATE OR REPLACE VIEW fin.wide AS SELECT date, REPEAT('x', 10000000) AS note FROM fin.jobs")
    with SQLWarehouse(server, seconds=60, tables=["wide"]) as opened:
        with pytest.raises(QueryError, match="larger than 256 MB"):
            opened.query("SELECT note FROM wide")
        assert len(opened.query("SELECT date FROM wide").data) == 60
    run(server, "DROP VIEW fin.wide")
