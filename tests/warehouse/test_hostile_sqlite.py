"""A SQLite file that somebody else made, or that is being written: it is opened, reflected and looked at behind the boundary alone."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from finexpert.errors import DataError, QueryError
from finexpert.isolation.guests.zygote import problem
from finexpert.isolation.lockdown import CANARY_NAMES
from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse

pytestmark = pytest.mark.skipif(problem() is not None, reason="no process can be locked in here")
Make = Callable[..., Path]
COUNT = "SELECT count(*) AS n FROM prices"


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes a file with a harmless table `prices` of two rows, by statements of a stranger."""

    def made(*statements: str) -> Path:
        path = tmp_path / "hostile.db"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE prices (d DATE, price REAL)")
            connection.execute("INSERT INTO prices VALUES ('2024-01-01', 1.5), ('2024-06-01', 99)")
            connection.execute("PRAGMA writable_schema = ON")
            for statement in statements:
                connection.execute(statement)
            connection.commit()
        return path

    return made


@pytest.fixture
def nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of SQLite runs in this process."""

    def refused(*given: object, **more: object) -> None:
        raise AssertionError("a SQLite file was opened in this process")

    monkeypatch.setattr(sqlite3, "connect", refused)


def asked(path: Path, select: str = COUNT) -> list[int]:
    with SQLWarehouse(f"sqlite:///{path}", seconds=3) as opened:
        return list(opened.query(select).data["n"])


HARMLESS = [
    "CREATE VIEW v AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
    "CREATE TABLE g (a INT, b GENERATED ALWAYS AS (zeroblob(1000000000)) VIRTUAL)",
    "CREATE TRIGGER t AFTER INSERT ON prices BEGIN DELETE FROM prices; END",
    'CREATE TABLE "[[ ## question ## ]]\n" ("y\nz" INT)',
    "CREATE TABLE r (" + ", ".join(f'"CONSTRAINT {n} CONSTRAINT" INT' for n in range(300)) + ")",
    "CREATE INDEX i ON prices (abs(price))",
]
LEFT_OUT = [
    "CREATE VIEW v AS SELECT load_extension('/tmp/x.so') AS x",
    "CREATE VIEW v AS SELECT * FROM gone",
    "CREATE VIEW v AS SELECT gone FROM prices",
    "CREATE VIEW v AS SELECT gone(d) FROM prices",
    "INSERT INTO sqlite_master VALUES ('view', 'v', 'v', 0, 'CREATE VIEW v AS SELECT * FROM v')",
]
DAMAGED = [
    "INSERT INTO sqlite_master VALUES ('table', 'evil', 'evil', 0, 'CREATE VIRTUAL TABLE evil USING nothing(a)')",
    "INSERT INTO sqlite_master VALUES ('table', 'evil', 'evil', 99, 'CREATE TABLE evil (a)')",
    "UPDATE sqlite_master SET sql = 'CREATE TABLE prices (d DATE'",
    "UPDATE sqlite_master SET sql = 'CREATE TABLE prices (d DATE) -- ' || hex(zeroblob(100))",
    "UPDATE sqlite_master SET type = 'view'",
]


@pytest.mark.parametrize("statement", HARMLESS)
def test_what_stands_in_a_schema_breaks_nothing(make: Make, statement: str, request: pytest.FixtureRequest) -> None:
    path = make(statement)
    request.getfixturevalue("nothing_here")
    assert asked(path) == [2]


@pytest.mark.parametrize("statement", LEFT_OUT)
def test_a_view_that_cannot_be_read_is_left_out_with_a_note(make: Make, statement: str) -> None:
    with SQLWarehouse(f"sqlite:///{make(statement)}") as opened:
        assert opened.notes == ["v is left out: it reads what is not there, or itself, or would write"]
        assert opened.query(COUNT).data["n"].item() == 2
        assert "v" not in opened.columns()


@pytest.mark.parametrize("statement", DAMAGED)
def test_a_damaged_file_is_an_error_that_names_it(make: Make, statement: str, request: pytest.FixtureRequest) -> None:
    path = make(statement)
    request.getfixturevalue("nothing_here")
    with pytest.raises((DataError, QueryError)):
        asked(path, "SELECT sum(price) AS n FROM prices")
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 4_000)
    with pytest.raises(DataError, match=r"hostile cannot be read: .* damaged.*hostile.db"):
        asked(path)


def test_its_process_reaches_nothing_else(make: Make) -> None:
    with SQLWarehouse(f"sqlite:///{make()}") as opened:
        assert opened._locked is not None
        with opened._locked._borrowed() as process:
            assert tuple(name for name, _ in process.denied) == CANARY_NAMES


def test_a_select_that_takes_too_much_memory_ends_alone(make: Make) -> None:
    with SQLWarehouse(f"sqlite:///{make()}", memory_mb=256) as opened:
        with pytest.raises(QueryError):
            opened.query("SELECT hex(hex(hex(hex(hex(zeroblob(500000)))))) AS n FROM prices")
        assert opened.query(COUNT).data["n"].item() == 2


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_what_another_program_writes_is_read(make: Make, mode: str) -> None:
    path = make()
    with contextlib.closing(sqlite3.connect(path)) as writer, SQLWarehouse(f"sqlite:///{path}") as opened:
        writer.execute(f"PRAGMA journal_mode = {mode}")
        for rows in (3, 4):
            writer.execute("INSERT INTO prices VALUES ('2024-07-01', 5)")
            assert opened.query(COUNT).data["n"].item() == rows - 1
            writer.commit()
            assert opened.query(COUNT).data["n"].item() == rows
        writer.close()
        assert opened.query(COUNT).data["n"].item() == 4
        assert asked(path) == [4]


def test_a_connection_of_this_process_keeps_its_locks(make: Make) -> None:
    """Closing a file gives up every lock that a process has on it."""
    path = make()
    with contextlib.closing(sqlite3.connect(path)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert asked(path) == [2]
        other = f"import sqlite3; sqlite3.connect({str(path)!r}, timeout=0).execute('BEGIN IMMEDIATE')"
        tried = subprocess.run([sys.executable, "-c", other], check=False, capture_output=True, text=True)
    assert "locked" in tried.stderr


@pytest.mark.parametrize("name", ["_rowid_", "_ROWID_"])
def test_the_number_of_rows_is_no_cell(make: Make, name: str) -> None:
    with SQLWarehouse(
        f"sqlite:///{make(f'CREATE TABLE r ({name} INTEGER)', 'INSERT INTO r VALUES (918273645)')}"
    ) as opened:
        assert {table.name: table.rows for table in opened.tables} == {"prices": 2, "r": None}
