"""A connection to one DuckDB file that can reach nothing else.

    memory.main.cpi             a view, all that a SELECT can name
    finexpert_attached_file     the file itself, attached read-only

The view of a table with a date column ends at a variable, one for each kind of dates, which every query sets for its own cursor or leaves
unset. An unset variable is folded away: such a view costs no more than its table.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb
from sqlglot import exp

from finexpert.errors import ConfigurationError, DataError
from finexpert.warehouse.horizon import bound, comparable, last_day, of_form
from finexpert.warehouse.quoting import literal, quote
from finexpert.warehouse.schema import TableSchema

CATALOG = "finexpert_attached_file"
AS_OF = "finexpert_as_of"
# `x -> x + 1` beside `lambda x: x + 1`, as it was written for years.
ARROWS = "SET GLOBAL lambda_syntax = 'ENABLE_SINGLE_ARROW'"


class View(NamedTuple):
    """The view of a table: by which column it ends, if any, the kind of its dates, and whether an owner declared it.

    Of a view of the file `select` is what it selects: it is made again here, so that what it is made of ends as well.
    """

    table: str
    column: str | None = None
    kind: str = "date"
    declared: bool = False
    select: str = ""

    @property
    def variable(self) -> str:
        """The variable at which the view ends."""
        return f"{AS_OF}_{self.kind.replace(' ', '_')}{'' if self.declared else '_detected'}".lower()


def views_of(tables: Sequence[TableSchema], selects: Mapping[str, str] | None = None) -> list[View]:
    """The views for these tables; `selects` are those of the file's own views, which come after what they are made of."""
    made = [
        View(table.name, table.date.name, table.date.kind, table.date.declared, (selects or {}).get(table.name, ""))
        if table.date
        else View(table.name, select=(selects or {}).get(table.name, ""))
        for table in tables
    ]
    return sorted(made, key=lambda view: bool(view.select))


def check_there(path: Path) -> None:
    """Refuses what is no file."""
    if not path.is_file():
        raise DataError(f"there is no warehouse at {path}: build it with `finexpert data fred`")


def open_file(path: Path, memory: str, threads: int) -> duckdb.DuckDBPyConnection:
    """A connection that has the file attached, read-only, and reaches no other file and no network; its settings are not locked yet."""
    check_there(path)
    # No temporary folder: a query that outgrows its memory fails, and writes nothing anywhere.
    settings = {"memory_limit": memory, "threads": str(threads), "temp_directory": ""}
    settings |= {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    # No threads that nobody counts: a process that locks itself in has one.
    settings |= {"async_threads": "0"}
    try:
        connection = duckdb.connect(":memory:", config={**settings, "python_enable_replacements": "false"})
    except duckdb.Error as error:
        raise ConfigurationError(f"memory={memory!r}, threads={threads!r} is not accepted: {error}") from error
    try:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(ARROWS)
        # Before the file is: what stands in it is somebody else's, and is bound as soon as it is looked at.
        connection.execute(f"SET allowed_paths = [{literal(str(path))}, {literal(f'{path}.wal')}]")
        connection.execute("SET enable_external_access = false")
        connection.execute(f"ATTACH {literal(str(path))} AS {CATALOG} (READ_ONLY, TYPE duckdb)")
    except duckdb.Error as error:
        connection.close()
        if "lock" in str(error).lower():
            raise DataError(f"{path} is being written by another program: try again when it is done") from error
        raise DataError(
            f"{path} cannot be read as a DuckDB file: it is of another kind, damaged, or of a newer DuckDB; give a file that `duckdb {path}` opens"
        ) from error
    return connection


def lock(connection: duckdb.DuckDBPyConnection, views: Sequence[View]) -> list[View]:
    """Make the views and lock the connection in: from then on it reaches nothing but them; the views in the order in which they were made."""
    for schema in {view.table.rpartition(".")[0] for view in views} - {""}:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS memory.{quote(schema)}")
    made: list[View] = []
    waiting = list(views)
    while waiting:
        done = [view for view in waiting if _made(connection, view, view.select or _whole(view))]
        if not done:
            # What cannot be made again, as it calls a macro of the file, is read as it stands there.
            done = [view._replace(select="") for view in waiting]
            for view in done:
                _made(connection, view, _whole(view))
        made += done
        names = {view.table for view in done}
        waiting = [view for view in waiting if view.table not in names]
    connection.execute("SET lock_configuration = true")
    return made


def _whole(view: View) -> str:
    return f"SELECT * FROM {place(CATALOG, view.table)}"


def _made(connection: duckdb.DuckDBPyConnection, view: View, select: str) -> bool:
    """Whether the view could be made: one of the file waits for those that it is made of."""
    limit = f" WHERE {_limit(view)}" if view.column is not None else ""
    try:
        connection.execute(f"CREATE VIEW {view_name(view.table)} AS SELECT * FROM ({select}) AS made{limit}")
    except duckdb.Error:
        if not view.select:
            raise
        return False
    return True


def _limit(view: View) -> str:
    """The condition of a view: nothing is hidden where the variable is not set."""
    variable = exp.func("getvariable", exp.Literal.string(view.variable))
    comparison, value = bound(view.kind, dt.date(2000, 1, 1))
    typed: exp.Expr = exp.cast(variable.copy(), value.to.copy()) if isinstance(value, exp.Cast) else variable.copy()
    column = exp.column(view.column or "", quoted=True)
    ends = comparison(this=comparable(view.kind, column), expression=typed)
    before = exp.func("getvariable", exp.Literal.string(f"{view.variable}_day"))
    ends = exp.and_(of_form(column.copy(), view.kind, "duckdb", before), ends)
    return exp.or_(variable.is_(exp.null()), ends).sql("duckdb")


def set_horizon(cursor: duckdb.DuckDBPyConnection, views: Sequence[View], day: dt.date, declared_only: bool) -> None:
    """Let the views end at a day, for this cursor."""
    for variable, kind in {
        view.variable: view.kind for view in views if view.column and (view.declared or not declared_only)
    }.items():
        value = bound(kind, day)[1]
        cursor.execute(f"SET VARIABLE {variable} = {value.sql('duckdb')}")
        if (before := last_day(kind, day)) is not None:
            cursor.execute(f"SET VARIABLE {variable}_day = {before.sql('duckdb')}")


def view_name(table: str) -> str:
    """The name of a table's view, as SQL.

    >>> view_name("cpi"), view_name("staging.cpi")
    ('memory."main"."cpi"', 'memory."staging"."cpi"')
    """
    return place("memory", table)


def place(catalog: str, table: str) -> str:
    """The name of a table in a catalogue, as SQL."""
    schema, _, name = table.rpartition(".")
    return f"{catalog}.{quote(schema or 'main')}.{quote(name)}"
