"""What a SELECT over SQLite may do, and functions that raise where SQLite itself gives NULL or 0.

    finexpert_number('12 EUR')   ->  raises, where CAST('12 EUR' AS REAL) is 12.0
    finexpert_divisor(0)         ->  raises, where 1 / 0 is NULL

Dates are text in ISO form, as SQLite keeps them. The authorizer is SQLite's own: it is asked before a statement runs.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection
from pathlib import Path

from finexpert.warehouse.engines.rules.statements import CTE_PREFIX

MAX_VALUE_BYTES = 16 << 20
WAIT_SECONDS = 30
# What stands beside a file that is being written.
LOGS = ("-wal", "-journal", "-shm")
Value = str | int | float | bytes | None
_NUMBER = re.compile(r"\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?\s*")
# SQLite tells that one of these raised, and not which.
RAISED = (
    "it divides by zero, casts a text to a number that is none, or takes the logarithm or the root of a number that has none: "
    "write a / NULLIF(b, 0), or filter such rows out"
)


def open_sqlite(path: Path, *, immutable: bool = False) -> sqlite3.Connection:
    """A connection that cannot write, to a file that nobody writes where it is `immutable`."""
    how = "mode=ro&immutable=1" if immutable else "mode=ro"
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?{how}", uri=True, check_same_thread=False, timeout=WAIT_SECONDS
    )
    # What a file says of its own views and defaults calls no function that reaches further, and damaged pages are found.
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


State = tuple[tuple[int, ...] | None, ...]


def state_of(path: Path) -> State:
    """When a file and its logs were written, without opening them: closing one would give up the locks that this process has on it.

    >>> state_of(Path("/gone.db"))
    (None, None, None)
    """
    return tuple(_written(Path(f"{path}{end}")) for end in ("", *LOGS[:-1]))


def _written(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def confine(connection: sqlite3.Connection, tables: Collection[str]) -> None:
    """From here on the connection can read these tables, and nothing else."""
    # Of an earlier SELECT on the same connection, which would refuse what follows.
    connection.set_authorizer(None)
    connection.execute("PRAGMA query_only = ON")
    for function in (number, divisor, above_zero, not_negative):
        connection.create_function(f"finexpert_{function.__name__}", 1, function, deterministic=True)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    allowed = {table.lower() for table in tables}

    def decide(action: int, first: str | None, second: str | None, database: str | None, view: str | None) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_DENY if (second or "").lower() == "load_extension" else sqlite3.SQLITE_OK
        if action != sqlite3.SQLITE_READ:
            return sqlite3.SQLITE_DENY
        # A view reads its own tables; an empty name is that of a subquery, and a CTE is read as a whole.
        inside = view is not None and view.lower() in allowed
        is_cte = not second and (first or "").startswith(CTE_PREFIX)
        if inside or is_cte or not first or first.lower() in allowed:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    connection.set_authorizer(decide)


def number(value: Value) -> Value:
    """The value, if it is a number or a text that is one; raises for any other.

    >>> number("12.5"), number(None)
    ('12.5', None)
    >>> number("12 EUR")
    Traceback (most recent call last):
    ValueError: no number
    """
    if isinstance(value, bytes) or (isinstance(value, str) and not _NUMBER.fullmatch(value)):
        raise ValueError("no number")
    return value


def divisor(value: Value) -> Value:
    """The value, if it is a number other than zero."""
    if value is not None and float(number(value) or 0) == 0:
        raise ZeroDivisionError
    return value


def above_zero(value: Value) -> Value:
    """The value, if it is a number above zero."""
    if value is not None and float(number(value) or 0) <= 0:
        raise ValueError("not above zero")
    return value


def not_negative(value: Value) -> Value:
    """The value, if it is no negative number."""
    if value is not None and float(number(value) or 0) < 0:
        raise ValueError("negative")
    return value
