"""SELECTs that are read by name, as whoever reads them sees them: their columns, and an error that names these and no table behind them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from finexpert.errors import QueryError, StepError
from finexpert.warehouse.checks.reading.select import MAIN
from finexpert.warehouse.named_selects import NamedSelect, written_out
from finexpert.warehouse.schema import TableSchema
from finexpert.warehouse.select_pattern import Kind

_NO_COLUMN = re.compile(r'there is no column ("[^"]*")')


def columns_given(
    one: NamedSelect, named: Mapping[str, NamedSelect], tables: Sequence[TableSchema], dialect: str
) -> list[tuple[str, Kind]]:
    """The columns of what a named SELECT gives over these tables, with their kinds; empty where that cannot be told without running it."""
    try:
        whole = written_out(f"SELECT * FROM {one.call}", {**named, one.name: one}, tables, dialect)
        shapes: dict[str, Any] = {}
        for table in tables:
            schema, _, name = table.name.rpartition(".")
            shapes.setdefault(schema or MAIN, {})[name] = {column.name: column.type for column in table.columns}
        types = MappingSchema(shapes, dialect=dialect)
        tree = qualify(
            sqlglot.parse_one(whole, read=dialect),
            schema=types,
            db=MAIN,
            dialect=dialect,
            validate_qualify_columns=False,
            quote_identifiers=False,
            identify=False,
        )
        made = annotate_types(tree, schema=types, dialect=dialect)
    except (QueryError, SqlglotError, RecursionError, ValueError, KeyError, AttributeError, TypeError):
        return []
    selects = made.selects if isinstance(made, exp.Query) else []
    found = [(select.alias_or_name, _kind(select.type)) for select in selects]
    return [] if any(name == "*" for name, _ in found) else found


def kind_of_type(text: str, dialect: str) -> Kind:
    """The kind of a column by its type.

    >>> [kind_of_type(text, "duckdb") for text in ("DATE", "DECIMAL(9, 2)", "BOOLEAN", "VARCHAR", "STRUCT(a INTEGER)")]
    ['day', 'number', 'truth', 'text', 'unknown']
    """
    try:
        return _kind(exp.DataType.build(text, dialect=dialect))
    except SqlglotError:
        return "unknown"


def _kind(type_: exp.DataType | None) -> Kind:
    kinds: tuple[tuple[Kind, Any], ...] = (
        ("day", exp.DataType.TEMPORAL_TYPES),
        ("number", exp.DataType.NUMERIC_TYPES),
        ("truth", {exp.DataType.Type.BOOLEAN}),
        ("text", exp.DataType.TEXT_TYPES),
    )
    return next((kind for kind, types in kinds if type_ is not None and type_.is_type(*types)), "unknown")


def of_named(
    error: StepError,
    reads: Sequence[NamedSelect],
    named: Mapping[str, NamedSelect],
    tables: Sequence[TableSchema],
    dialect: str,
) -> StepError:
    """The error with the columns of what the SELECT reads by name, where one is missing: those of the tables behind them help nobody."""
    missing = _NO_COLUMN.search(str(error))
    if missing is None or type(error) is not QueryError:
        return error
    there = {each.name: columns_given(each, named, tables, dialect) for each in reads}
    said = "; ".join(f"{name} has {', '.join(each for each, _ in found)}" for name, found in there.items() if found)
    return QueryError(f"there is no column {missing[1]} at this point; {said}") if said else error
