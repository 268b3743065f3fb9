"""The schemas of a database that are read together: their tables are called by both names, as `core.policies`.

    ?schema=core        one: its tables are called by their own names
    ?schema=core,fin    these two
    ?schema=*           all that hold tables

Where nothing is named, PostgreSQL's `public` is meant, or all that hold tables if it holds none; other engines have a schema of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine.reflection import Inspector

from finexpert.errors import DataError
from finexpert.warehouse.engines.reflection import Declared, Reflected, reflect
from finexpert.warehouse.engines.statements import Place
from finexpert.warehouse.engines.statistics import open_schemas
from finexpert.warehouse.schema import TableSchema

ALL = "*"
_OF_THE_ENGINE = frozenset({"information_schema", "mysql", "performance_schema", "sys", "system"})
_NAMED = 5  # schemas that are named as not read
_Value = TypeVar("_Value")


def reflect_schemas(
    connection: sa.Connection,
    named: str | None,
    tables: Collection[str] | None,
    declared: Declared,
    listed: Collection[str],
    dialect: str,
) -> Reflected:
    """The tables and views of the schemas that are meant. Of several, `tables`, `declared` and `listed` name theirs as `schema.table`."""
    schemas, beside = _meant(connection, named, dialect)
    if len(schemas) == 1:
        one = reflect(connection, schemas[0], tables, declared, listed, dialect)
        said = f"?schema={schemas[0]},{beside[0]} reads both, and ?schema=* all" if beside else ""
        return replace(one, left_out=one.left_out | {f"schema {name}": said for name in beside[:_NAMED]})
    _check_named([*(tables or ()), *declared.comments, *declared.date_columns, *listed], schemas)
    parts = []
    for schema in schemas:
        own = None if tables is None else _own(dict.fromkeys(tables), schema)
        if own is None or own:
            comments, dates = _own(declared.comments, schema), _own(declared.date_columns, schema)
            its = Declared(comments, dates, _own(declared.categories, schema))
            parts.append(
                reflect(connection, schema, own, its, list(_own(dict.fromkeys(listed), schema)), dialect, schemas)
            )
    return _together(parts)


def _meant(connection: sa.Connection, named: str | None, dialect: str) -> tuple[list[Any], list[str]]:
    """The schemas that are read, and those that hold tables and are not."""
    if named is not None and named != ALL:
        return [name.strip() for name in named.split(",") if name.strip()] or [None], []
    if named is None and dialect != "postgres":
        return [None], []
    held = open_schemas(connection) if dialect == "postgres" else _with_tables(sa.inspect(connection))
    if named is None and ("public" in held or not held):
        return ["public"], [name for name in held if name != "public"]
    return held or [None], []


def _with_tables(inspector: Inspector) -> list[str]:
    names = [name for name in inspector.get_schema_names() if name.lower() not in _OF_THE_ENGINE]
    return [name for name in names if inspector.get_table_names(name) or inspector.get_view_names(name)]


def _check_named(names: Sequence[str], schemas: Sequence[str]) -> None:
    for name in names:
        if name.partition(".")[0] not in schemas:
            raise DataError(
                f'"{name}" names no schema of {", ".join(schemas)}: write schema.table or schema.table.column'
            )


def _own(many: Mapping[str, _Value], schema: str) -> dict[str, _Value]:
    """What is said of a schema, by the names that hold within it.

    >>> _own({"core.trades": "a", "core.trades.fee": "b", "fin.fx": "c"}, "core")
    {'trades': 'a', 'trades.fee': 'b'}
    """
    return {name.removeprefix(f"{schema}."): value for name, value in many.items() if name.startswith(f"{schema}.")}


def _together(parts: Sequence[Reflected]) -> Reflected:
    tables: list[TableSchema] = []
    places: dict[str, Place] = {}
    left_out: dict[str, str] = {}
    for part in parts:
        for table in part.tables:
            schema = part.places[table.name].schema
            made = _named(table, schema)
            tables.append(made)
            places[made.name] = _placed(part.places[table.name], schema)
        left_out |= part.left_out
    known = {table.name for table in tables}
    tables = [replace(each, foreign_keys=tuple(k for k in each.foreign_keys if k.table in known)) for each in tables]
    return Reflected(tuple(tables), places, left_out)


def _named(table: TableSchema, schema: str) -> TableSchema:
    keys = tuple(replace(key, table=_whole(key.table, schema)) for key in table.foreign_keys)
    return replace(table, name=f"{schema}.{table.name}", foreign_keys=keys)


def _placed(place: Place, schema: str) -> Place:
    return place if place.reads is None else replace(place, reads=tuple(_whole(name, schema) for name in place.reads))


def _whole(name: str, schema: str) -> str:
    return name if "." in name else f"{schema}.{name}"
