"""Which views of a DuckDB file may be read: those that are made of the file's own tables, as a SELECT must be.

    CREATE VIEW accounts AS SELECT * FROM read_csv('accounts.csv')   ->   left out: read_csv() is not allowed in FROM

A file can come from anybody. DuckDB stores a view as text and a macro as an expression, and binds both when they are read: a view can name
files, settings and today's date, and a macro can hide them. So the text of each view is checked by the rules of a SELECT, the macros that
it calls with it, and then it is planned once, on a connection that reaches no other file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import duckdb

from finexpert.errors import QueryError
from finexpert.warehouse.isolated.select_rules import check_select, functions_of
from finexpert.warehouse.isolated.warehouse_file import table_name
from finexpert.warehouse.quoting import quote

# Deeper than any schema that people keep, and far from where DuckDB runs out of stack.
MOST_DEPTH = 16
_NAME = r'(?:"(?:[^"]|"")*"|[^\s".(]+)'
_VIEW = re.compile(
    rf"CREATE (?:OR REPLACE )?VIEW (?:IF NOT EXISTS )?{_NAME}(?:\.{_NAME}){{0,2}}\s*(?:\(\s*{_NAME}(?:\s*,\s*{_NAME})*\s*\)\s*)?AS\s(?P<select>.*)",
    re.DOTALL,
)
_VIEWS = (
    "SELECT schema_name, view_name, sql FROM duckdb_views() WHERE database_name = ? AND NOT internal ORDER BY view_oid"
)
_TABLES = "SELECT schema_name, table_name, sql FROM duckdb_tables() WHERE database_name = ? AND NOT internal"
_STORED = (
    "SELECT column_name FROM duckdb_columns() WHERE database_name = ? AND schema_name = ? AND table_name = ?"
    " ORDER BY column_index"
)
_MACROS = (
    "SELECT function_name, function_type, macro_definition FROM duckdb_functions()"
    " WHERE database_name = ? AND function_type IN ('macro', 'table_macro')"
)
_DEFAULTS = (
    "SELECT schema_name, table_name, column_default FROM duckdb_columns()"
    " WHERE database_name = ? AND NOT internal AND column_default IS NOT NULL"
)


class Refused(Exception):
    """A view or a table that is left out; the message says why."""


@dataclass
class FileContents:
    """What a file holds, as text: its tables, its views, its macros (None for one that gives a table); and what was found of each view."""

    tables: set[str]
    views: dict[str, tuple[str, str]]
    macros: dict[str, list[str | None]]
    verdicts: dict[str, str | None] = field(default_factory=dict)


def selects_of(connection: duckdb.DuckDBPyConnection, catalog: str, without: Collection[str]) -> dict[str, str]:
    """What the views of the main schema select, with the names of their columns.

    >>> connection = duckdb.connect()
    >>> _ = connection.execute("CREATE TABLE t AS SELECT 1 AS n; CREATE VIEW v (m) AS SELECT n + 1 FROM t")
    >>> selects_of(connection, "memory", [])
    {'v': 'SELECT * FROM (SELECT (n + 1) FROM t) AS own("m")'}
    """
    found = {}
    for schema, name, sql in connection.execute(_VIEWS, [catalog]).fetchall():
        match = _VIEW.fullmatch(sql.strip())
        if schema == "main" and name not in without and match is not None:
            rows = connection.execute(_STORED, [catalog, schema, name]).fetchall()
            columns = ", ".join(quote(column) for (column,) in rows)
            found[name] = f"SELECT * FROM ({match['select'].strip().rstrip(';')}) AS own({columns})"
    return found


def left_out(connection: duckdb.DuckDBPyConnection, catalog: str, hidden: str) -> dict[str, str]:
    """The views and tables of an attached file that may not be read, each with the reason.

    >>> connection = duckdb.connect()
    >>> _ = connection.execute("CREATE TABLE t AS SELECT 1 AS n; CREATE VIEW good AS SELECT n + 1 AS m FROM t")
    >>> _ = connection.execute("CREATE VIEW bad AS SELECT * FROM duckdb_settings()")
    >>> left_out(connection, "memory", "_finexpert")
    {'bad': 'duckdb_settings() is not allowed in FROM: only generate_series, range, unnest are, and tables by name'}
    """
    contents = _contents(connection, catalog)
    contents.tables.discard(hidden)
    found = _with_dots(connection, catalog)
    contents.tables -= found.keys()
    for name in found.keys() & contents.views.keys():
        contents.verdicts[name] = found[name]
    for name in contents.views.keys() - found.keys():
        if (reason := _verdict(name, contents, connection, 0)) is None:
            reason = _unplanned(connection, catalog, name, contents)
        contents.verdicts[name] = reason
        if reason is not None:
            found[name] = reason
    return found | _computed(connection, catalog, contents)


def _with_dots(connection: duckdb.DuckDBPyConnection, catalog: str) -> dict[str, str]:
    """What has a dot in its name, which stands between a schema and a table here."""
    rows = [row for listing in (_TABLES, _VIEWS) for row in connection.execute(listing, [catalog]).fetchall()]
    reason = "there is a dot in its name: give it another one, as a view has"
    return {table_name(schema, name): reason for schema, name, _ in rows if "." in schema or "." in name}


def _contents(connection: duckdb.DuckDBPyConnection, catalog: str) -> FileContents:
    views = {
        table_name(schema, name): (schema, sql)
        for schema, name, sql in connection.execute(_VIEWS, [catalog]).fetchall()
    }
    tables = {table_name(schema, name) for schema, name, _ in connection.execute(_TABLES, [catalog]).fetchall()}
    macros: dict[str, list[str | None]] = {}
    for name, kind, body in connection.execute(_MACROS, [catalog]).fetchall():
        macros.setdefault(name.lower(), []).append(body if kind == "macro" else None)
    return FileContents(tables, views, macros)


def _verdict(name: str, contents: FileContents, connection: duckdb.DuckDBPyConnection, depth: int) -> str | None:
    if name not in contents.verdicts:
        # A view that reads itself is met again while it is judged.
        contents.verdicts[name] = "it reads itself"
        try:
            _check_view(name, contents, connection, depth)
        except (Refused, QueryError) as refused:
            contents.verdicts[name] = str(refused).partition("; ")[0]
        else:
            contents.verdicts[name] = None
    return contents.verdicts[name]


def _check_view(name: str, contents: FileContents, connection: duckdb.DuckDBPyConnection, depth: int) -> None:
    if depth > MOST_DEPTH:
        raise Refused(f"it stands on more than {MOST_DEPTH} views, one on the other")
    schema, sql = contents.views[name]
    match = _VIEW.fullmatch(sql.strip())
    if match is None:
        raise Refused("what it selects cannot be told")
    for used in _check(match["select"].strip().rstrip(";"), schema, contents, connection):
        if used in contents.views and _verdict(used, contents, connection, depth + 1) is not None:
            raise Refused(f"it reads the view {used}, which is left out")


def _check(
    select: str,
    schema: str,
    contents: FileContents,
    connection: duckdb.DuckDBPyConnection,
    seen: frozenset[str] = frozenset(),
) -> list[str]:
    """The tables and views that a SELECT of the file reads, also through macros; raises QueryError or Refused."""
    known = {name: name for name in (*contents.tables, *contents.views)}
    # Without a schema a view means its own one first.
    known |= {name.removeprefix(f"{schema}."): name for name in known if name.startswith(f"{schema}.")}
    used = [known[name] for name in check_select(select, connection, dict.fromkeys(known, ()), growth_rules=False)]
    for called in functions_of(select, connection) & contents.macros.keys() - seen:
        for body in contents.macros[called]:
            if body is None:
                raise Refused(f"it reads {called}(), a table macro of the file")
            used += _check(f"SELECT {body}", schema, contents, connection, seen | {called})
    return used


def _unplanned(connection: duckdb.DuckDBPyConnection, catalog: str, name: str, contents: FileContents) -> str | None:
    """Why a view cannot be read; no word of DuckDB's message, which may quote what the view read."""
    schema, _ = contents.views[name]
    last = name.removeprefix(f"{schema}.") if schema != "main" else name
    try:
        relation = connection.sql(f"SELECT * FROM {catalog}.{quote(schema)}.{quote(last)}")
        columns = relation.columns
    except duckdb.Error as error:
        return f"it cannot be planned ({type(error).__name__})"
    stored = connection.execute(_STORED, [catalog, schema, last]).fetchall()
    return None if columns == [one for (one,) in stored] else "its columns are others than when it was made"


def _computed(connection: duckdb.DuckDBPyConnection, catalog: str, contents: FileContents) -> dict[str, str]:
    """Tables with a column that is computed whenever it is read, by what no SELECT may call."""
    computed = {
        table_name(schema, name)
        for schema, name, sql in connection.execute(_TABLES, [catalog]).fetchall()
        if "GENERATED ALWAYS" in sql.upper()
    }
    found = {}
    for schema, table, default in connection.execute(_DEFAULTS, [catalog]).fetchall():
        name = table_name(schema, table)
        if name in computed:
            try:
                _check(f"SELECT {default}", schema, contents, connection)
            except (Refused, QueryError) as refused:
                found[name] = f"a column of it is computed: {refused}"
    return found


def reasons(found: dict[str, str]) -> Sequence[str]:
    """What is left out, in words for people; names are shown as they may stand on a screen.

    >>> reasons({"bad\\nview": "it reads itself"})
    ["'bad\\\\nview' is left out: it reads itself"]
    """
    return [f"{name if name.isprintable() else ascii(name)} is left out: {reason}" for name, reason in found.items()]
