"""Types of MySQL and MariaDB whose values would come otherwise than they are.

int(10) unsigned   ->   BIGINT
float, bit(8)      ->   read as DOUBLE and BIGINT, with a cast: as they are they come with six digits, or as bytes
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

# The type that is shown, and the cast that gives it.
_KINDS: tuple[tuple[type, sa.types.TypeEngine[Any], str], ...] = (
    (mysql.FLOAT, sa.Double(), "double"),
    (mysql.BIT, sa.BigInteger(), "bigint"),
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
    return casts
