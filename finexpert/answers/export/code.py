"""What the code of an exported answer may say: names and attributes from a list, and nothing that is not on it.

    check("answer = gdp['value'].pct_change().max()", ["gdp"], ["value"])
    check("getattr(pd.io.common, 'o' + 's').system('x')", [], [])   ->   RecordError: line 1: `getattr` is not allowed

In the sandbox the operating system says what a script can do, so its code may be anything. An exported script is run by whoever reads it, with
nothing around it: here the code itself must be harmless, whoever wrote the record. What is refused can still be computed with `replay`.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Collection, Mapping, Sequence

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.answers.export import allowed
from finexpert.answers.export.rules import refusals
from finexpert.core import syntax
from finexpert.errors import QueryError, RecordError
from finexpert.warehouse.isolated import select_rules
from finexpert.warehouse.isolated.locked_connection import ARROWS


def check(code: str, frames: Collection[str], columns: Collection[str]) -> None:
    """Raises RecordError for code that may not stand in an exported script; it names the line and the word.

    >>> check("answer = float(gdp.value.mean() + np.log(2))", ["gdp"], ["value"])
    >>> check("answer = np.lib.format.os", [], [])
    Traceback (most recent call last):
    finexpert.errors.RecordError: line 1: `np.lib` is not allowed in an exported script: compute the answer again with `finexpert replay`
    """
    try:
        tree = syntax.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise RecordError("the record's code is no Python: it cannot be exported") from None
    for name in frames:
        check_name(name)
    for line, word in refusals(tree, frames, columns):
        raise RecordError(
            f"line {line}: `{word}` is not allowed in an exported script: compute the answer again with `finexpert replay`"
        )


def check_select(select: str, dialect: str, columns: Mapping[str, Sequence[str]]) -> None:
    """Raises RecordError for anything but one SELECT that reads these tables.

    >>> check_select("SELECT max(value) FROM cpi", "duckdb", {"cpi": ["value"]})
    >>> check_select("COPY cpi TO 'cpi.csv'", "duckdb", {"cpi": ["value"]})
    Traceback (most recent call last):
    finexpert.errors.RecordError: the record holds no SELECT over these tables: a COPY statement is not allowed: write exactly one SELECT
    """
    try:
        if dialect == "duckdb":
            with duckdb.connect(config={"python_enable_replacements": "false"}) as connection:
                connection.execute(ARROWS)
                select_rules.check_select(select, connection, columns, growth_rules=False)
        else:
            statements = sqlglot.parse(select, read=dialect)
            if len(statements) != 1 or not isinstance(statements[0], exp.Query):
                raise QueryError("it is no single SELECT")
    except (QueryError, SqlglotError, RecursionError) as error:
        raise RecordError(f"the record holds no SELECT over these tables: {error}") from error


def check_name(name: str) -> None:
    """Raises RecordError for a name that a frame of a script cannot have."""
    if (
        not (name.isidentifier() and name.isascii())
        or keyword.iskeyword(name)
        or name in allowed.RESERVED
        or hasattr(builtins, name)
        or name.startswith("_")
    ):
        raise RecordError(f"a frame of the record is called {name[:40]!r}, which is no name of a frame: it was changed")
