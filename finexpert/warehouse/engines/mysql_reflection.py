"""What MySQL and MariaDB say of their tables in another way than the databases that SQLAlchemy describes alike.

int(10) unsigned   ->   BIGINT;   tinyint(1)   ->   INTEGER: it may hold more than 0 and 1
float, bit(8)      ->   read as DOUBLE and BIGINT, with a cast: as they are they come with six digits, or as bytes
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

# Beside the types that every database has: the type that is shown, and whether a cast gives it.
_KINDS: tuple[tuple[type, sa.types.TypeEngine[Any], str], ...] = (
    (mysql.FLOAT, sa.Double(), "double"),
    (mysql.BIT, sa.BigInteger(), "bigint"),
    (mysql.YEAR, sa.Integer(), "bigint"),
)
WHOLE_DIGITS = 20


def widen(columns: Mapping[str, Sequence[Any]]) -> dict[str, dict[str, str]]:
    """Gives the columns types that hold every value of theirs; by table and column, the casts that these need."""
    casts: dict[str, dict[str, str]] = {}
    for table, many in columns.items():
        for column in many:
            given = column["type"]
            for kind, shown, cast in _KINDS:
                if isinstance(given, kind):
                    column["type"] = shown
                    casts.setdefault(table, {})[str(column["name"])] = cast
            if isinstance(given, sa.Integer) and getattr(given, "unsigned", False):
                column["type"] = sa.Numeric(WHOLE_DIGITS, 0) if isinstance(given, sa.BigInteger) else sa.BigInteger()
            if isinstance(given, sa.Time):
                # A time of MySQL is a span of up to 838 hours.
                column["type"] = sa.types.NullType()
    return casts


def checks(connection: sa.Connection, schema: str) -> Iterator[tuple[str, str]]:
    """Table and condition of every CHECK; MariaDB has those of a column in a place that SQLAlchemy does not read."""
    if not getattr(connection.dialect, "is_mariadb", False):
        return
    found = sa.text(
        "SELECT table_name, check_clause FROM information_schema.check_constraints WHERE constraint_schema = :schema"
    )
    for table, clause in connection.execute(found, {"schema": schema}):
        yield str(table), str(clause)
