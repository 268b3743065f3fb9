"""The warehouse as its callers see it: rows, point in time, limits, errors without values."""

from __future__ import annotations

import datetime as dt
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from as_duckdb import see_each_their_own_day
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from finexpert.core.progress import Watch, watching
from finexpert.errors import Cancelled, ConfigurationError, DataError, QueryError
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse
from finexpert.warehouse.local.holding import LocalFile
from finexpert.warehouse.warehouse import Warehouse

RUNAWAY = "SELECT count(*) FROM cpi a, cpi b, cpi c, cpi d, cpi e, cpi f WHERE a.value + f.value > b.value"
POINT_IN_TIME = [
    "SELECT * FROM cpi ORDER BY ALL",
    "SELECT count(*) AS n, max(c.date) AS last FROM CPI AS c",
    'SELECT max("Date") AS last FROM "cpi"',
    "SELECT max(date) AS last FROM main.cpi",
    "SELECT max(main.cpi.date) AS last FROM main.cpi",
    "WITH cpi AS (SELECT * FROM jobs) SELECT max(date) AS last, count(*) AS n FROM cpi",
    "WITH jobs AS (SELECT * FROM cpi), cpi AS (SELECT 1 AS date) SELECT max(date) AS last FROM jobs",
    "SELECT count(*) AS n FROM cpi AS a JOIN cpi AS b USING (date)",
    "SELECT date FROM jobs WHERE date IN (SELECT max(date) FROM cpi) OR unrate > (SELECT min(value) FROM cpi) ORDER BY 1",
    "SELECT date FROM cpi UNION SELECT date FROM jobs UNION ALL SELECT date FROM rates ORDER BY 1",
    "SELECT j.date, (SELECT max(c.date) FROM cpi AS c WHERE c.date >= j.date) AS later FROM jobs AS j ORDER BY 1",
    "SELECT a.date, b.dff FROM jobs AS a ASOF JOIN rates AS b ON a.date >= b.date ORDER BY 1",
    "SELECT date, lead(unrate) OVER (ORDER BY date) AS next FROM jobs ORDER BY 1",
    "SELECT * FROM (PIVOT cpi ON cpi_index IN ('CPI') USING max(value)) ORDER BY 1",
    "SELECT j.date, x.last FROM jobs AS j, LATERAL (SELECT max(date) AS last FROM cpi WHERE cpi.date > j.date) AS x ORDER BY 1",
    "FROM cpi",
    "SELECT * FROM firms ORDER BY symbol",
]


@given(as_of=st.dates(dt.date(2019, 12, 1), dt.date(2025, 2, 1)))
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_as_of_equals_a_warehouse_that_never_had_later_rows(warehouse: DuckDBWarehouse, as_of: dt.date) -> None:
    tables = []
    for name in warehouse.columns():
        data = warehouse.query(f"SELECT * FROM {name}").data
        dated = "date" in data
        tables.append(
            Table(
                name,
                data[data["date"] <= pd.Timestamp(as_of)] if dated else data,
                date_column="date" if dated else None,
            )
        )
    path = build_warehouse(warehouse.path.with_name(f"until-{as_of}.duckdb"), tables)
    with DuckDBWarehouse(path) as earlier:
        for select in POINT_IN_TIME:
            expected, found = earlier.query(select).data, warehouse.query(select, as_of=as_of).data
            pd.testing.assert_frame_equal(found, expected, check_dtype=False, obj=select)
    path.unlink()


def test_without_as_of_all_rows_show_after_a_call_with_one(warehouse: DuckDBWarehouse) -> None:
    count = "SELECT count(*) AS n FROM jobs"
    assert warehouse.query(count, as_of=dt.date(2020, 2, 29)).data["n"].item() == 2
    assert warehouse.query(count).data["n"].item() == 60


def test_an_undeclared_date_column_does_not_hide_rows(warehouse: DuckDBWarehouse) -> None:
    assert len(warehouse.query("SELECT * FROM firms", as_of=dt.date(2000, 1, 1)).data) == 2


def test_a_timestamp_counts_until_the_end_of_its_day(tmp_path: Path) -> None:
    trades = pd.DataFrame(
        {"date": pd.to_datetime(["2024-01-01 09:00", "2024-01-01 23:59", "2024-01-02 00:00"]), "n": [1, 2, 3]}
    )
    path = build_warehouse(tmp_path / "trades.duckdb", [Table("trades", trades, date_column="date")])
    with DuckDBWarehouse(path) as opened:
        assert opened.query("SELECT n FROM trades", as_of=dt.date(2024, 1, 1)).data["n"].tolist() == [1, 2]


def test_row_cap_cuts_and_says_so(small_file: Path) -> None:
    with DuckDBWarehouse(small_file, row_cap=60) as opened:
        cut = opened.query("SELECT * FROM cpi ORDER BY value")
        assert (len(cut.data), cut.truncated) == (60, True)
        whole = opened.query("SELECT * FROM jobs")
        assert (len(whole.data), whole.truncated) == (60, False)


def test_a_result_too_large_for_memory_is_refused(small_file: Path) -> None:
    with (
        DuckDBWarehouse(small_file, seconds=60) as opened,
        pytest.raises(QueryError, match="larger than 256 MB"),
    ):
        opened.query(
            "SELECT lpad(a.cpi_index, 1000, 'x') AS x, lpad(b.cpi_index, 900, 'y') AS y FROM cpi a, cpi b, range(99) AS t(i)"
        )


@pytest.mark.parametrize("select", [RUNAWAY, "SELECT count(*) FROM range(100000000000) AS t(i) WHERE sin(i) > 2",
    "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r"], ids=["cross join", "range", "recursion"])  # fmt: skip
def test_a_runaway_stops_within_a_second_of_its_limit(small_file: Path, select: str, soon: Any) -> None:
    with DuckDBWarehouse(small_file, seconds=0.3) as opened:

        def run() -> None:
            with pytest.raises(QueryError, match=r"took longer than 0\.3 s: narrow it"):
                opened.query(select)

        soon(1.3, run)
        assert opened.query("SELECT 1 AS one").data["one"].item() == 1


@pytest.mark.parametrize("isolated", [False, True])
def test_a_select_of_a_cancelled_question_is_interrupted(small_file: Path, isolated: bool, soon: Any) -> None:
    with DuckDBWarehouse(small_file, seconds=60, isolated=isolated) as opened:
        opened.query("SELECT 1 AS one")

        def run() -> None:
            with watching(Watch()) as watch:
                threading.Timer(0.3, watch.cancel).start()
                with pytest.raises(Cancelled):
                    opened.query(RUNAWAY)

        soon(1.3, run)
        assert opened.query("SELECT 1 AS one").data["one"].item() == 1


@pytest.mark.parametrize("select", [
    "SELECT list(a.value) FROM cpi a, cpi b, cpi c, cpi d",
    "SELECT string_agg(a.cpi_index, ',') AS s FROM cpi a, cpi b, cpi c, cpi d",
    "SELECT DISTINCT a.value * b.value * c.value * i AS v FROM cpi a, cpi b, cpi c, range(1000) AS t(i)",
    "WITH RECURSIVE r AS (SELECT 'a' AS s UNION ALL SELECT s || s FROM r) SELECT max(length(s)) FROM r",
])  # fmt: skip
def test_a_memory_bomb_gives_an_error(small_file: Path, select: str) -> None:
    with (
        DuckDBWarehouse(small_file, memory="60MB", seconds=5) as opened,
        pytest.raises(QueryError, match=r"memory|took longer|type list"),
    ):
        opened.query(select)


def test_no_temporary_file_is_written(small_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with DuckDBWarehouse(small_file, memory="60MB") as opened, pytest.raises(QueryError, match="memory"):
        opened.query("SELECT * FROM range(30000000) AS t(i) ORDER BY hash(i) OFFSET 29999999")
    assert not list(tmp_path.iterdir())
    assert [path.name for path in small_file.parent.iterdir()] == [small_file.name]


def test_eight_threads_see_each_their_own_point_in_time(warehouse: DuckDBWarehouse) -> None:
    see_each_their_own_day(warehouse, [*range(60)] * 3)


def test_a_slow_query_does_not_stop_its_neighbours(small_file: Path) -> None:
    with DuckDBWarehouse(small_file, seconds=0.5) as opened, ThreadPoolExecutor(2) as pool:
        slow = pool.submit(opened.query, RUNAWAY)
        for _ in range(20):
            assert opened.query("SELECT count(*) AS n FROM jobs").data["n"].item() == 60
        with pytest.raises(QueryError):
            slow.result()


LEAKS = [
    "SELECT CAST(symbol AS INT) FROM firms",
    "SELECT CAST(symbol AS DATE) FROM firms",
    "SELECT symbol::DOUBLE + 1 FROM firms",
    "SELECT employees::TINYINT FROM firms",
    "SELECT strptime(symbol, '%Y-%m-%d') FROM firms",
    "SELECT employees * 100000000000000000 FROM firms",
    "SELECT regexp_matches('a', symbol || '(') FROM firms",
    "SELECT make_date(employees::INT, 1, 1) FROM firms",
    "SELECT symbol::BOOLEAN FROM firms",
    "SELECT (SELECT symbol FROM firms)",
    "SELECT json_extract(symbol, '$.a') FROM firms",
    'SELECT from_json(symbol, \'{"a": "INT"}\') FROM firms',
    "SELECT symbol::STRUCT(a INT) FROM firms",
    "SELECT founded + employees::INT * 1000 FROM firms",
    "SELECT date_trunc(symbol, founded) FROM firms",
    "SELECT decode(symbol::BLOB || '\\xff'::BLOB) FROM firms",
    "SELECT unhex(symbol) FROM firms",
    "SELECT chr(employees::INT) FROM firms",
    "SELECT symbol::UUID FROM firms",
    "SELECT symbol + 1 FROM firms",
    "SELECT nosuch FROM firms WHERE symbol = 'x'",
]


@pytest.mark.parametrize("select", LEAKS)
def test_no_cell_value_in_an_error(warehouse: DuckDBWarehouse, select: str) -> None:
    with pytest.raises(QueryError) as caught:
        warehouse.query(select)
    chain = f"{caught.value} {caught.value.__cause__}"
    assert "CANARY" not in chain.upper()
    assert "918273645" not in chain


def test_a_literal_of_the_select_may_be_named(warehouse: DuckDBWarehouse) -> None:
    with pytest.raises(QueryError, match="the text '2024-13-01' could not be converted"):
        warehouse.query("SELECT * FROM cpi WHERE date = '2024-13-01'")


SUGGESTIONS = [
    ("SELECT valeu FROM cpi", 'no column "valeu" in cpi; nearest: value'),
    ("SELECT dff FROM cpi", 'no column "dff" in cpi; rates has a column of this name'),
    ("SELECT c.dff FROM cpi AS c", "rates has a column of this name"),
    ("SELECT * FROM job", "nearest: jobs"),
    ("SELECT * FROM unrate", "it is a column of jobs"),
    ("SELECT date, q.dff FROM weeks AS q", 'there is no table "weeks"; rates has date, dff'),
    ("SELECT nothing FROM weeks", 'there is no table "weeks"; tables: '),
    ("SELECT * FROM fred.cpi", "write cpi"),
    ("SELECT x.value FROM cpi AS c", '"x" is no table or alias'),
    ('SELECT value FROM cpi WHERE cpi_index = "Core CPI"', "single quotes"),
    ("SELECT medain(value) FROM cpi", 'Did you mean "median"'),
    ("SELECT sum(value), cpi_index FROM cpi", "GROUP BY"),
    ("SELECT value + cpi_index FROM cpi", "no function takes +(DOUBLE, VARCHAR)"),
    ("SELECT cpi FROM cpi", 'column "cpi" has the type struct'),
    ("SELECT [1, 2] AS many", 'column "many" has the type list'),
    ("SELECT TIMETZ '12:00:00+05' AS at", 'column "at" has the type time with time zone: write CAST'),
    ("SELECT TIMESTAMP '2020-01-02' - TIMESTAMP '2020-01-01' AS gap", "date_diff"),
]


@pytest.mark.parametrize(("select", "said"), SUGGESTIONS)
def test_an_error_says_what_to_write(warehouse: DuckDBWarehouse, select: str, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        warehouse.query(select)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 400


def test_frame_fingerprint_does_not_depend_on_order_but_on_values(warehouse: DuckDBWarehouse) -> None:
    up = warehouse.query("SELECT date, dgs10, 'a' AS t FROM rates ORDER BY date").fingerprint
    down = warehouse.query("SELECT date, dgs10, 'a' AS t FROM rates ORDER BY date DESC").fingerprint
    other = warehouse.query("SELECT date, dgs10, 'b' AS t FROM rates").fingerprint
    assert up == down != other
    assert up == "623a77d55a9f473046a931d86587b57b4bba327f093a673b856504c81ed5625e"


def test_the_snapshot_is_that_of_the_file_that_was_opened(tmp_path: Path) -> None:
    path = build_warehouse(tmp_path / "a.duckdb", [Table("t", pd.DataFrame({"n": [1, 2]}))])
    with DuckDBWarehouse(path) as first, DuckDBWarehouse(path) as again:
        before = first.snapshot()
        assert again.snapshot() == before
        build_warehouse(path, [Table("t", pd.DataFrame({"n": [1, 3]}))])
        assert first.snapshot() == before
        with DuckDBWarehouse(path) as later:
            assert later.snapshot() != before


def test_every_run_gives_rows_in_the_same_order(tmp_path: Path) -> None:
    many = pd.DataFrame({"k": [i % 997 for i in range(150_000)], "v": [i * 0.1 for i in range(150_000)]})
    path = build_warehouse(tmp_path / "many.duckdb", [Table("many", many)])
    with DuckDBWarehouse(path) as opened:
        first, *others = (opened.query("SELECT k, sum(v) AS s FROM many GROUP BY k").data for _ in range(4))
    for other in others:
        pd.testing.assert_frame_equal(first, other, check_exact=True)


def test_a_missing_file_names_the_next_command(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no warehouse at .*gone\.duckdb: build it with `finexpert data fred`"):
        DuckDBWarehouse(tmp_path / "gone.duckdb")


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "notes.duckdb"
    other.write_text("date,value\n2020-01-01,1\n" * 1000)
    with pytest.raises(DataError, match="cannot be read as a DuckDB file"):
        DuckDBWarehouse(other)


def test_a_file_that_is_being_written_is_refused(tmp_path: Path) -> None:
    path = build_warehouse(tmp_path / "own.duckdb", [Table("t", pd.DataFrame({"n": [1]}))])
    code = f"import duckdb, time; c = duckdb.connect({str(path)!r}); print('open', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as writer:
        try:
            assert writer.stdout is not None
            writer.stdout.readline()
            with pytest.raises(DataError, match="being written by another program"):
                DuckDBWarehouse(path)
        finally:
            writer.kill()


def test_a_wrong_setting_is_named(small_file: Path) -> None:
    with pytest.raises(ConfigurationError, match="memory='lots'"):
        DuckDBWarehouse(small_file, memory="lots")


def test_a_closed_warehouse_says_so(small_file: Path) -> None:
    opened = DuckDBWarehouse(small_file)
    opened.close()
    with pytest.raises(DataError, match="small is closed"):
        opened.query("SELECT 1")


def test_the_connection_itself_is_locked(small_file: Path) -> None:
    """The rules are only the first fence: these go past them, straight to the connection."""
    with DuckDBWarehouse(small_file, isolated=False) as opened:
        assert isinstance(opened._file, LocalFile)
        for attempt in (
            "SELECT * FROM read_text('/etc/hostname')",
            "COPY (SELECT 1) TO '/tmp/finexpert-stolen.csv'",
            "SET enable_external_access = true",
            "SET memory_limit = '8GB'",
            "INSERT INTO finexpert_attached_file.main.jobs SELECT * FROM finexpert_attached_file.main.jobs",
            "DROP TABLE finexpert_attached_file.main.jobs",
            f"ATTACH '{small_file.with_name('new.duckdb')}' AS other",
            "INSTALL httpfs",
        ):
            with pytest.raises(duckdb.Error):
                opened._file.connection.cursor().execute(attempt)
        local = pd.DataFrame({"a": [1]})
        with pytest.raises(duckdb.Error):
            opened._file.connection.cursor().execute("SELECT * FROM local")
        assert len(local) == 1


def test_ctrl_c_stops_a_query_at_once(small_file: Path, soon: Any) -> None:
    with DuckDBWarehouse(small_file, seconds=20) as opened:

        def interrupt() -> None:
            timer = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                opened.query(RUNAWAY)

        soon(1.5, interrupt)
        assert opened.query("SELECT 1 AS one").data["one"].item() == 1


def test_label_and_protocol(warehouse: DuckDBWarehouse) -> None:
    protocol: Warehouse = warehouse
    assert (protocol.label, protocol.name, protocol.dialect) == ("made-up numbers", "small", "duckdb")
    assert protocol.columns()["cpi"] == ("date", "cpi_index", "value")
