"""What the process of a SQLite file does: open it, lock itself in, say what tables it has, answer one SELECT after the other.

    {"reflect": {"tables": null, ...}}          ->   {"reflected": true}, what it holds as JSON
    {"sql": "SELECT 1 AS one", "tables": []}    ->   {"names": ["one"], "kinds": ["bigint"], ...}, rows
    {"sql": "SELECT gone"}                      ->   {"raised": ["OperationalError", "OperationalError", "no such column: gone", 1]}

A file can come from anybody, and SQLite parses its pages, its schema and its views wherever it is opened. Here it can reach the file and its logs,
read them alone, and take no more memory than it was given. Its parent kills it at the deadline.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import sqlalchemy.exc

# sqlglot loads a dialect when it is first asked for, and this process cannot load anything then.
import sqlglot.dialects.sqlite  # noqa: F401

from finexpert.errors import DataError, QueryError
from finexpert.isolation import landlock, lockdown, wire
from finexpert.isolation.guests.inside import CHANNEL, Memory, write
from finexpert.storage import foreign_files
from finexpert.warehouse.engines.connections import reading, sqlite_engine
from finexpert.warehouse.engines.reflection import Declared, reflect
from finexpert.warehouse.engines.rows import gathered
from finexpert.warehouse.engines.sqlite_connection import LOGS, State, open_sqlite, state_of
from finexpert.warehouse.isolated.child import send

_MOST_SAID = 2_000
# Bytes 18 and 19 of a file that has a log.
_WITH_LOG = b"\x02\x02"


def use_once() -> None:
    """Import and use what a file needs: a forked process finds it all in memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "once.db"
        with contextlib.closing(sqlite3.connect(path)) as made:
            made.execute("CREATE TABLE once (day DATE, n DECIMAL(10, 2) UNIQUE, note TEXT REFERENCES once (n))")
            made.execute("INSERT INTO once VALUES ('2024-01-01', 1.5, NULL), ('2024-01-02', 2, NULL)")
            made.execute(
                "CREATE VIEW seen AS WITH one AS (SELECT max(n) AS n FROM once) SELECT o.day FROM once o JOIN one USING (n)"
            )
            made.commit()
        engine = sqlite_engine(lambda: open_sqlite(path))
        with reading(engine, (), None) as connection:
            reflect(connection, None, None, Declared({}, {}, {}), (), "sqlite")
        with reading(engine, ["once"], None) as connection:
            gathered(connection.exec_driver_sql("SELECT day, n, note, 'a' AS text FROM once"), 1, texts=())


def serve(parent: int) -> None:
    """Answer until the warehouse closes the channel; raises EOFError then."""
    setup, _ = wire.read(CHANNEL)
    memory, path = Memory(), setup["path"]
    try:
        lockdown.die_with_parent(parent)
        landlock.restrict([f"{path}{end}" for end in ("", *LOGS)])
        # Opened while it may still be root: what its owner alone may read is read as before.
        still = state_of(Path(path)) if _has_no_log(Path(path)) else None
        connection = open_sqlite(Path(path), immutable=still is not None)
        lockdown.drop_capabilities()
        memory.limit(parent, setup["bytes"], locks=True)
        write(wire.pack({"denied": lockdown.prove()}))
    except (lockdown.NotLocked, OSError, sqlite3.Error) as error:
        write(wire.pack({"failed": f"{path} cannot be read: {error}", "kind": "DataError"}))
        return
    guest = Guest(connection, memory, Path(path), still)
    while True:
        guest.reply(wire.read(CHANNEL)[0])


def _has_no_log(path: Path) -> bool:
    """Whether a file whose changes stand in a log first has none now: SQLite would make one."""
    log = Path(f"{path}-wal")
    with open(path, "rb", opener=foreign_files.regular) as file:
        return file.read(20)[18:] == _WITH_LOG and not (log.exists() and log.stat().st_size)


class Guest:
    """The locked process's own side: an open file, and how it was found where nobody may write it (`still`)."""

    def __init__(self, connection: sqlite3.Connection, memory: Memory, path: Path, still: State | None) -> None:
        # What SQLite would write to a file of its own: there is none.
        connection.execute("PRAGMA temp_store = MEMORY")
        self._memory, self._path, self._still = memory, path, still
        self._engine = sqlite_engine(lambda: connection, sa.pool.StaticPool)

    def reply(self, message: dict[str, Any]) -> None:
        """Answer one message of the parent."""
        try:
            if "reflect" in message:
                self._reflect(**message["reflect"])
            else:
                self._answer(**message)
        except sa.exc.SQLAlchemyError as error:
            orig = getattr(error, "orig", None)
            said = [type(error).__name__, type(orig).__name__, str(orig)[:_MOST_SAID], _code(orig)]
            write(wire.pack({"raised": said, "worn": self._memory.worn}))
        except QueryError as error:
            write(wire.pack({"error": str(error), "worn": self._memory.worn}))
        except DataError as error:
            write(wire.pack({"failed": str(error), "kind": "DataError"}))

    def _reflect(
        self, schema: str | None, tables: Collection[str] | None, declared: dict[str, Any], listed: Collection[str]
    ) -> None:
        with reading(self._engine, (), None) as connection:
            found = reflect(connection, schema, tables, Declared(**declared), listed, "sqlite")
        body = json.dumps(asdict(found)).encode()
        write(wire.pack({"reflected": True}, [body]))

    def _answer(self, sql: str, tables: Collection[str], row_cap: int, texts: Collection[int] | None) -> None:
        with reading(self._engine, tables, None) as connection:
            plain = connection.execution_options(no_parameters=True, stream_results=True)
            with plain.exec_driver_sql(sql) as result:
                rows = gathered(result, row_cap, texts=texts)
        if self._still is not None and state_of(self._path) != self._still:
            raise QueryError("the file was written while it was read: ask again")
        send(rows, self._memory)


def _code(orig: BaseException | None) -> int:
    return int(getattr(orig, "sqlite_errorcode", 0) or 0)
