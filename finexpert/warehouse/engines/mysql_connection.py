"""Connections to MySQL and MariaDB which only read, and rows that are what they say or refused.

    SELECT 1 / 0   ->   NULL and a warning in MySQL; here: it divides by zero: write a / NULLIF(b, 0)

A statement that gives a warning is refused, whatever the warning: it stands for NULL, or for a value cut short, where other
databases raise an error. A row is at most 16 MB long; more never comes into memory.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pymysql
import sqlalchemy as sa
from pymysql.connections import MAX_PACKET_LEN, Connection

from finexpert.errors import QueryError
from finexpert.warehouse.engines.failures import sentence_of, warned_of
from finexpert.warehouse.engines.statements import QUOTIENT_DIGITS

# As sqlglot reads and writes: a backslash escapes, a double quote begins a text, || is no sum of texts.
SQL_MODE = "STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_UNSIGNED_SUBTRACTION"
ENDLESS = 4_294_967_295
WARNED = "the server warned of a value that it could not keep: filter such rows out"


class Reader(Connection):  # type: ignore[misc]
    """A connection that ends itself before it reads a row longer than a packet."""

    def _read_bytes(self, num_bytes: int) -> bytes:
        if num_bytes >= MAX_PACKET_LEN:
            self._force_close()
            raise pymysql.err.DataError(0, "a row is too long")
        return super()._read_bytes(num_bytes)  # type: ignore[no-any-return]

    def _force_close(self) -> None:
        # The driver would read the rest of the rows when the result is thrown away.
        if (result := getattr(self, "_result", None)) is not None:
            result.unbuffered_active = False
        super()._force_close()

    def cancel(self) -> None:
        """Ends a statement that runs in another thread: the server itself stops by its own time limit."""
        with suppress(OSError, AttributeError):
            self._sock.shutdown(socket.SHUT_RDWR)


def connect(dialect: object, record: object, positional: Sequence[Any], arguments: dict[str, Any]) -> Reader:
    """A connection for an engine, which reads the server's words as `begin` sets them from the first on."""
    fixed: dict[str, Any] = {"charset": "utf8mb4", "local_infile": False, "client_flag": 0, "sql_mode": SQL_MODE}
    return Reader(**{**arguments, **fixed})


def begin(connection: sa.Connection, seconds: float | None) -> None:
    """Starts a transaction that cannot write; `seconds` is the server's own limit for a statement."""
    limit = seconds or 0
    settings: dict[str, object] = {
        "sql_mode": f"'{SQL_MODE}'",
        "time_zone": "'+00:00'",
        "lc_time_names": "'en_US'",
        "sql_notes": 0,
        "max_error_count": 64,
        "group_concat_max_len": MAX_PACKET_LEN,
        "div_precision_increment": QUOTIENT_DIGITS,
        "sql_auto_is_null": 0,
        "sql_select_limit": "DEFAULT",
        "lock_wait_timeout": max(1, math.ceil(limit)) if seconds else "DEFAULT",
    }
    # Texts are compared by their characters, and 'a' is not 'a '.
    if getattr(connection.dialect, "is_mariadb", False):
        settings |= {"collation_connection": "utf8mb4_nopad_bin"}
        settings |= {"max_statement_time": limit, "max_recursive_iterations": ENDLESS, "tx_read_only": 1}
    else:
        most = {"max_execution_time": int(limit * 1000), "cte_max_recursion_depth": ENDLESS}
        settings |= {**most, "transaction_read_only": 1, "collation_connection": "utf8mb4_0900_bin"}
    connection.exec_driver_sql("SET SESSION " + ", ".join(f"{name} = {value}" for name, value in settings.items()))
    connection.exec_driver_sql("START TRANSACTION READ ONLY")


class Whole:
    """A result that is taken to its end, where the server says whether it gave warnings."""

    def __init__(self, result: sa.CursorResult[Any]) -> None:
        self._result, self._cursor = result, result.cursor
        self.ended = False

    def keys(self) -> Iterable[str]:
        return list(self._result.keys())

    def fetchmany(self, size: int) -> Sequence[Sequence[Any]]:
        """The next rows; the last of them are fewer than asked for."""
        rows = [] if self.ended else self._result.fetchmany(size)
        self.ended = self.ended or len(rows) < size
        return rows

    @property
    def description(self) -> Iterable[Sequence[Any]]:
        """The columns as the driver describes them."""
        return list(self._cursor.description or ())

    @property
    def warned(self) -> bool:
        """Whether there were warnings; known at the end."""
        return bool(self._cursor.warning_count)


@contextmanager
def rows_of(connection: sa.Connection, sql: str, row_cap: int) -> Iterator[Whole]:
    """The rows of a statement, at most one above the cap; QueryError at the end where it gave a warning."""
    connection.exec_driver_sql(f"SET SESSION sql_select_limit = {row_cap + 1}")
    driver, whole = connection.connection.driver_connection, None
    try:
        with connection.execution_options(stream_results=True).exec_driver_sql(sql) as result:
            whole = Whole(result)
            try:
                yield whole
                whole.fetchmany(1)
            finally:
                if not whole.ended:
                    # Closing the result would read the rest of it.
                    connection.invalidate()
    finally:
        if not getattr(driver, "open", False):
            connection.invalidate()
    if whole.ended and whole.warned:
        found = connection.exec_driver_sql("SHOW WARNINGS").fetchall()
        raise QueryError(sentence_of(warned_of([int(code) for _, code, _ in found])) or WARNED)
