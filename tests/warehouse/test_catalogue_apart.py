"""The catalogue of a DuckDB file is read behind the boundary: this process opens no file, and trusts no word of the one that does."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from finexpert.errors import DataError, QueryError
from finexpert.isolation.guests.zygote import problem
from finexpert.warehouse.isolated import process as processes
from finexpert.warehouse.isolated.pool import QueryPool
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

pytestmark = pytest.mark.skipif(problem() is not None, reason=f"no process of its own: {problem()}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE prices (trade_dt VARCHAR, price DOUBLE, parts INTEGER[])")
        connection.execute("INSERT INTO prices SELECT '2024010' || i, i, [i, 2] FROM range(1, 9) AS t(i)")
        connection.execute("CREATE VIEW dear AS SELECT * FROM prices WHERE price > 3")
        connection.execute("CREATE VIEW bad AS SELECT * FROM duckdb_settings()")
    return path


def kill(opened: DuckDBWarehouse) -> None:
    assert isinstance(opened._file, QueryPool)
    with opened._file._borrowed() as process:
        process.end()
        # Its end is seen when its channel is closed.
        while not process.lost:
            time.sleep(0.01)


def test_this_process_never_opens_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("a DuckDB file is opened in this process")

    monkeypatch.setattr(duckdb, "connect", refused)
    with DuckDBWarehouse(file) as opened:
        assert sorted(opened.columns()) == ["dear", "prices"]
        assert opened.tables[1].date_column == opened.tables[0].date_column == "trade_dt"
        assert opened.notes[0].startswith("bad is left out")
        assert opened.query("SELECT sum(price) AS s FROM dear").data["s"].item() == 30
        assert "[1, 2]" in opened.schema_card("samples")


def test_both_ways_of_holding_a_file_say_the_same(file: Path) -> None:
    with DuckDBWarehouse(file) as apart, DuckDBWarehouse(file, isolated=False) as here:
        assert apart.tables == here.tables
        assert apart._known.views == here._known.views
        assert apart.notes == here.notes
        for privacy in ("schema", "samples"):
            assert apart.schema_card(privacy) == here.schema_card(privacy)


def test_a_file_that_was_written_after_its_process_died_is_not_read_on(file: Path) -> None:
    with DuckDBWarehouse(file, processes=1) as opened:
        kill(opened)
        with duckdb.connect(str(file)) as writer:
            writer.execute("UPDATE prices SET price = price * 2")
        with pytest.raises(DataError, match=r"own\.duckdb was written since it was opened: open it again"):
            opened.query("SELECT sum(price) AS s FROM prices")


def test_a_log_that_was_begun_counts_as_written(file: Path) -> None:
    with DuckDBWarehouse(file, processes=1) as opened:
        kill(opened)
        file.with_name(f"{file.name}.wal").write_bytes(b"")
        with pytest.raises(DataError, match="was written since it was opened"):
            opened.query("SELECT 1 AS one")


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"tables": [], "label": None, "left_out": {}, "selects": {}},
        {"tables": [{"name": "t", "comment": "", "columns": 7}], "label": None, "left_out": {}, "selects": {}, "read_notes": {}},
        {"tables": [], "label": 7, "left_out": {}, "selects": {}, "read_notes": {}},
        {"tables": [], "label": None, "left_out": [], "selects": {}, "read_notes": {}},
        ["tables"],
        None,
    ],
    ids=lambda said: json.dumps(said)[:60],
)  # fmt: skip
def test_a_catalogue_of_another_form_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch, said: Any) -> None:
    def changed(self: processes.QueryProcess, message: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        return {"catalogue": True}, json.dumps(said).encode()

    monkeypatch.setattr(processes.QueryProcess, "_exchange", changed)
    with pytest.raises(DataError, match="the process that reads it broke"):
        DuckDBWarehouse(file)


def test_rows_of_the_file_itself_are_not_given_once_the_views_are_made(file: Path) -> None:
    with DuckDBWarehouse(file, processes=1) as opened:
        assert isinstance(opened._file, QueryPool)
        assert opened._file.look("SELECT price FROM prices", 5) is None
        assert opened.query("SELECT count(*) AS n FROM prices").data["n"].item() == 8


def test_a_process_that_dies_while_it_reads_the_catalogue_is_an_error_of_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = processes.QueryProcess.catalogue

    def killed(self: processes.QueryProcess, *given: Any) -> Any:
        self.end()
        return whole(self, *given)

    monkeypatch.setattr(processes.QueryProcess, "catalogue", killed)
    with pytest.raises(DataError, match=r"the process that reads it broke .* FINEXPERT_SQL_MEMORY_MB"):
        DuckDBWarehouse(file)


DOTTED = [
    'CREATE TABLE "a.b" AS SELECT 1 AS n',
    'CREATE TABLE "sales.csv" AS SELECT 1 AS n',
    'CREATE TABLE "main.prices" AS SELECT 1 AS n',
    'CREATE TABLE "x.y.z" AS SELECT 1 AS n',
    'CREATE VIEW "2023.Q1" AS SELECT * FROM prices',
    'CREATE SCHEMA "s.t"; CREATE TABLE "s.t".u AS SELECT 1 AS n',
    'CREATE TABLE "a.b" AS SELECT 1 AS n; CREATE VIEW on_it AS SELECT n FROM "a.b"',
    'CREATE SCHEMA a; CREATE TABLE a.b AS SELECT 1 AS n; CREATE TABLE "a.b" AS SELECT 2 AS n',
]


@pytest.mark.parametrize("statements", DOTTED)
def test_a_dot_in_a_name_leaves_that_table_out_and_no_other(file: Path, statements: str) -> None:
    with duckdb.connect(str(file)) as connection:
        connection.execute(statements)
        connection.execute('CREATE TABLE kept AS SELECT 1 AS "a.b"')
    with DuckDBWarehouse(file) as opened:
        assert sorted(opened.columns()) == ["dear", "kept", "prices"]
        assert any("is left out" in note and "a dot in its name" in note for note in opened.notes)
        assert opened.query('SELECT sum("a.b") AS s FROM kept').data["s"].item() == 1


BEYOND = [
    "SELECT 170141183460469231731687303715884105727::HUGEINT AS n",
    "SELECT (-170141183460469231731687303715884105727)::HUGEINT AS n",
    "SELECT TIME '24:00:00' AS n",
    "SELECT n FROM (VALUES (TIME '10:00:00'), (TIME '24:00:00')) AS t(n)",
    "SELECT DATE '0044-03-15 (BC)' AS n",
    "SELECT DATE '10000-01-01' AS n",
    "SELECT DATE 'infinity' AS n",
    "SELECT TIMESTAMP '290000-01-01' AS n",
    "SELECT TIMESTAMP '0044-03-15 (BC) 10:00:00' AS n",
    "SELECT TIMESTAMP_S '12000-01-01 10:00:00' AS n",
    "SELECT TIMESTAMP_MS '12000-01-01 10:00:00' AS n",
    "SELECT TIMESTAMPTZ '12000-01-01 10:00:00+00' AS n",
    "SELECT n FROM (VALUES (NULL::DATE), (DATE '2024-01-01'), (DATE '10000-01-01')) AS t(n)",
]


@pytest.mark.parametrize("select", BEYOND)
def test_a_value_that_no_frame_holds_is_refused_and_its_process_lives(file: Path, select: str) -> None:
    with DuckDBWarehouse(file, processes=1) as opened:
        with pytest.raises(QueryError, match=r'column "n" .*(what a frame can hold|38 digits, or the time 24:00)'):
            opened.query(select)
        assert isinstance(opened._file, QueryPool)
        with opened._file._borrowed() as process:
            assert process.alive


@pytest.mark.parametrize("select", ["SELECT DATE '0001-01-01' AS n", "SELECT DATE '9999-12-31' AS n",
                                    "SELECT TIMESTAMP '9999-12-31 23:59:59' AS n", "SELECT TIMESTAMPTZ '0001-01-01 00:00:00+00' AS n"])  # fmt: skip
def test_the_first_and_the_last_day_are_read(file: Path, select: str) -> None:
    with DuckDBWarehouse(file) as opened:
        assert opened.query(select).data["n"].item().year in (1, 9999)


def test_who_writes_next_meets_no_lock(file: Path) -> None:
    for value in range(20):
        DuckDBWarehouse(file).close()
        with duckdb.connect(str(file)) as connection:
            connection.execute(f"CREATE OR REPLACE TABLE written AS SELECT {value} AS v")
