"""How large a result of PostgreSQL may become, counted where it lies: what is too much never leaves the server.

    SELECT id, note FROM deals   ->   note is NULL, and a last column true, from the row on that passes the limit

A driver takes a row as a whole, so one text of a gigabyte would fill this process before its length is known. SQLite runs in
this process and has a limit of its own for a value (`sqlite_connection.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from finexpert.warehouse.engines.rows import Fetching
from finexpert.warehouse.isolated.answer import MAX_RESULT_BYTES, too_large
from finexpert.warehouse.quoting import quote

# bool, char, int2, int4, int8, float4, float8, date, time, timestamp, timestamptz, interval, timetz, uuid: 16 bytes at most
_SHORT = frozenset((16, 18, 20, 21, 23, 700, 701, 1082, 1083, 1114, 1184, 1186, 1266, 2950))


def counted(connection: sa.Connection, sql: str, most: int = MAX_RESULT_BYTES) -> tuple[str, bool]:
    """The statement with its bytes counted on the server, and whether that adds a last column; no row is read here."""
    plan = connection.exec_driver_sql(f"SELECT * FROM ({sql}\n) AS plain LIMIT 0")
    with plan:
        # The names stay as they are, though two columns may have the same.
        described = [(column[0], column[1]) for column in plan.cursor.description]
    long = [f"c{number}" for number, (_, kind) in enumerate(described) if kind not in _SHORT]
    if not long:
        return sql, False
    names = ", ".join(f"c{number}" for number in range(len(described)))
    shown = ", ".join(
        (f"CASE WHEN size <= {most} THEN c{number} END" if f"c{number}" in long else f"c{number}")
        + f" AS {quote(name)}"
        for number, (name, _) in enumerate(described)
    )
    # Rows keep their order through a window that has none.
    each = " + ".join(f"coalesce(octet_length({name}::pg_catalog.text), 0)::bigint" for name in long)
    rows = f"SELECT {names}, sum({each}) OVER (ROWS UNBOUNDED PRECEDING) AS size FROM ({sql}\n) AS plain ({names})"
    return f"SELECT {shown}, size > {most} FROM ({rows}) AS sized", True


class Counted:
    """A result whose last column says that the limit is passed; without that column for who reads it."""

    def __init__(self, result: Fetching) -> None:
        self._result = result

    def keys(self) -> Iterable[str]:
        return list(self._result.keys())[:-1]

    def fetchmany(self, size: int) -> Sequence[Sequence[Any]]:
        """The next rows; raises QueryError at the first that passes the limit."""
        rows = self._result.fetchmany(size)
        # Counted upwards: where one passes the limit, all after it do.
        if rows and rows[-1][-1]:
            raise too_large()
        return [row[:-1] for row in rows]
