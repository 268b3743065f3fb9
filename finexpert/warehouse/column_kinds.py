"""The kinds of a result's columns that a frame can hold, by DuckDB's names of them.

Lists, structs, intervals and bytes have no plain column type: such a column is refused by name. No pandas is needed here.
"""

from __future__ import annotations

from collections.abc import Sequence

from finexpert.errors import QueryError

INTEGERS = {
    "tinyint",
    "smallint",
    "integer",
    "bigint",
    "utinyint",
    "usmallint",
    "uinteger",
    "ubigint",
    "hugeint",
    "uhugeint",
}
FLOATS = {"float", "double", "decimal", "null"}
TEXTS = {"varchar", "enum", "uuid", "time", "time_ns"}
REMEDIES = {
    "interval": "write date_diff('day', a, b), or extract(epoch FROM ...) / 86400, for the time between two dates",
    "list": "write unnest(...) or one value a row",
    "array": "write unnest(...) or one value a row",
    "struct": "name the fields that are needed",
    "money": "write CAST(... AS NUMERIC)",
    "bignum": "write CAST(... AS DOUBLE)",
    # Arrow has no time with a zone: it would come without.
    "time with time zone": "write CAST(... AS VARCHAR)",
}


def check_types(names: Sequence[str], kinds: Sequence[str]) -> None:
    """Refuses a result with a column that has no plain type, before any row is read.

    >>> check_types(["date", "all"], ["date", "list"])
    Traceback (most recent call last):
    finexpert.errors.QueryError: column "all" has the type list: write unnest(...) or one value a row
    """
    for name, kind in zip(names, kinds, strict=True):
        if kind in INTEGERS | FLOATS | TEXTS or kind in ("boolean", "date") or kind.startswith("timestamp"):
            continue
        remedy = REMEDIES.get(kind, "select numbers, text, booleans or dates only")
        raise QueryError(f'column "{name}" has the type {kind}: {remedy}')
