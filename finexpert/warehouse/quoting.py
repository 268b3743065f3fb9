"""Names and texts as DuckDB's SQL writes them."""

from __future__ import annotations


def quote(name: str) -> str:
    """A name as an SQL identifier.

    >>> print(quote('first "b" col'))
    "first ""b"" col"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as an SQL literal.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"
