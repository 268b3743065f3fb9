"""Plain Python that reads a DuckDB file again, for an exported answer.

query("SELECT max(value) AS top FROM cpi")   ->   a frame of pandas, of the rows up to the day of the answer
"""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Sequence
from pathlib import Path

from sqlglot import exp

from finexpert.warehouse import column_kinds, frames
from finexpert.warehouse.horizon import known_by, last_day, of_form
from finexpert.warehouse.isolated.locked_connection import View, place, view_name
from finexpert.warehouse.quoting import literal, quote


def python_source(path: Path, views: Sequence[View], as_of: dt.date | None, declared_only: bool = False) -> str:
    """Plain Python that defines `query(select)`: the tables of the file as they stood on a day, as pandas frames."""
    schemas = sorted({view.table.rpartition(".")[0] for view in views} - {""})
    lines = [f"connection.execute({'CREATE SCHEMA ' + quote(schema)!r})" for schema in schemas]
    for view in views:
        limit = ""
        if view.column is not None and as_of is not None and (view.declared or not declared_only):
            column = exp.column(view.column, quoted=True)
            form = of_form(column.copy(), view.kind, "duckdb", last_day(view.kind, as_of))
            known = exp.and_(form, known_by(column, view.kind, as_of))
            limit = f" WHERE {known.sql('duckdb')}"
        source = view.select or f"SELECT * FROM {place('warehouse', view.table)}"
        statement = f"CREATE VIEW {view_name(view.table)} AS SELECT * FROM ({source}) AS made{limit}"
        lines.append(f"connection.execute({statement!r})")
    return _PYTHON_SOURCE.format(
        files=f"SET allowed_paths = [{literal(str(path))}, {literal(f'{path}.wal')}]",
        attach=f"ATTACH {literal(str(path))} AS warehouse (READ_ONLY, TYPE duckdb)",
        views="\n".join(lines),
        kinds="\n".join(f"{name} = {sorted(kinds)!r}" for name, kinds in _KINDS.items()),
        conversion="\n\n\n".join(
            inspect.getsource(one).rstrip()
            for one in (frames.frame_columns, frames.series, frames.plain, frames.check_finite)
        ),
    )


_KINDS = {"INTEGERS": column_kinds.INTEGERS, "FLOATS": column_kinds.FLOATS, "TEXTS": column_kinds.TEXTS}
_PYTHON_SOURCE = """from collections.abc import Sequence

import duckdb

# The data, read-only; no other file can be reached.
connection = duckdb.connect(config={{"python_enable_replacements": "false", "threads": "1"}})
connection.execute("SET TimeZone = 'UTC'")
connection.execute("SET GLOBAL lambda_syntax = 'ENABLE_SINGLE_ARROW'")
connection.execute({files!r})
connection.execute("SET enable_external_access = false")
connection.execute({attach!r})
{views}
connection.execute("SET lock_configuration = true")

# How the types of the database become those of pandas.
{kinds}
INFINITY = (1 << 63) - 1


{conversion}


def query(select: str) -> pd.DataFrame:
    relation = connection.sql(select)
    kinds = [str(kind.id) for kind in relation.types]
    table = relation.to_arrow_table()
    columns = zip(frame_columns(relation.columns), kinds, table.columns, strict=True)
    return pd.DataFrame({{name: series(column, kind) for name, kind, column in columns}}, index=pd.RangeIndex(table.num_rows))
"""
