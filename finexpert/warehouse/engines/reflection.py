"""What a database says of itself: tables, columns, types, comments, keys and the values that a column may have.

    CHECK (cpi_index IN ('CPI', 'Core CPI')), or an enum type   ->   cpi_index VARCHAR; one of 'CPI', 'Core CPI'

Types are named as in DuckDB, so the same tables give the same schema card whatever database holds them. A type that DuckDB has no
plain name for is read as text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
import sqlglot
from sqlalchemy.engine.reflection import Inspector, ObjectKind
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.errors import DataError
from finexpert.warehouse.dates import DateColumn, choose, kind_of_type
from finexpert.warehouse.engines import mysql_reflection
from finexpert.warehouse.engines.dialects import Place
from finexpert.warehouse.schema import Column, TableSchema
from finexpert.warehouse.schema_card import MAX_CATEGORIES

TYPES: tuple[tuple[type, str], ...] = (
    (sa.Enum, "VARCHAR"),
    (sa.Boolean, "BOOLEAN"),
    (sa.BigInteger, "BIGINT"),
    (sa.SmallInteger, "SMALLINT"),
    (sa.Integer, "INTEGER"),
    (sa.Double, "DOUBLE"),
    (sa.REAL, "FLOAT"),
    (sa.Float, "DOUBLE"),
    (sa.Date, "DATE"),
    (sa.Time, "TIME"),
    (sa.String, "VARCHAR"),
)
MAX_DIGITS = 38
Key = tuple[str | None, str]


@dataclass(frozen=True)
class Declared:
    """What a caller says of the tables beside what the database says: see SQLWarehouse."""

    comments: Mapping[str, str]
    date_columns: Mapping[str, str | None]
    categories: Mapping[str, Sequence[str]]


def reflect(
    connection: sa.Connection, schema: str | None, tables: Collection[str] | None, declared: Declared, dialect: str
) -> tuple[tuple[TableSchema, ...], dict[str, Place]]:
    """The tables and views of a schema, in the order of their names, and where each stands."""
    inspector = sa.inspect(connection)
    place = schema or inspector.default_schema_name or "main"
    if schema is not None and schema not in inspector.get_schema_names():
        raise DataError(f'there is no schema "{schema}": there are {", ".join(inspector.get_schema_names())}')
    wanted = None if tables is None else set(tables)
    about: dict[str, Any] = {
        "schema": schema,
        "kind": ObjectKind.ANY,
        "filter_names": sorted(wanted) if wanted else None,
    }
    columns = {key[1]: found for key, found in inspector.get_multi_columns(**about).items()}
    casts: dict[str, dict[str, str]] = {}
    if dialect == "sqlite":
        _widen(columns)
    elif dialect == "mysql":
        casts = mysql_reflection.widen(columns)
    if missing := sorted((wanted or set()) - set(columns)):
        raise DataError(
            f'there is no table "{missing[0]}" in the schema {place}: there are {", ".join(sorted(columns)[:20])}'
        )
    _check_declared(columns, declared)
    comments = _comments(inspector, about)
    values = _checked_values(inspector, about, dialect)
    for table, clause in mysql_reflection.checks(connection, place) if dialect == "mysql" else ():
        values.setdefault(table, {}).update(checked_values(clause, dialect))
    keys = _keys(inspector, about)
    found, places = [], {}
    for name in sorted(columns):
        own = {str(column["name"]): column for column in columns[name]}
        _check_names(name, own)
        made = tuple(
            _column(name, column, declared, values.get(name, {}), keys.get(name, {})) for column in own.values()
        )
        named = declared.date_columns.get(name)
        date = DateColumn(named, declared=True) if named else choose(_dated(made))
        comment = declared.comments.get(name) or comments.get(name) or ""
        found.append(TableSchema(name, comment, made, None if name in declared.date_columns and not named else date))
        as_text = frozenset(one for one, column in own.items() if _is_read_as_text(column["type"], dialect))
        places[name] = Place(place, name, {one: one for one in own}, as_text, casts.get(name, {}))
    return tuple(found), places


def _widen(columns: Mapping[str, Sequence[Any]]) -> None:
    """SQLite has one kind of float, of 8 bytes, whatever it is called."""
    for many in columns.values():
        for column in many:
            if isinstance(column["type"], sa.REAL):
                column["type"] = sa.Double()


def _comments(inspector: Inspector, about: Mapping[str, Any]) -> dict[str, str]:
    try:
        return {key[1]: str(one["text"] or "") for key, one in inspector.get_multi_table_comment(**about).items()}
    except NotImplementedError:
        return {}


def _checked_values(
    inspector: Inspector, about: Mapping[str, Any], dialect: str
) -> dict[str, dict[str, tuple[str, ...]]]:
    try:
        constraints = inspector.get_multi_check_constraints(**about)
    except NotImplementedError:
        return {}
    return {
        key[1]: dict(pair for one in many for pair in checked_values(one["sqltext"], dialect))
        for key, many in constraints.items()
    }


def checked_values(check: str, dialect: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The column of a CHECK and the texts that it allows, where it is such a one.

    >>> list(checked_values("kind = ANY (ARRAY['CPI'::text, 'Core CPI'::text])", "postgres"))
    [('kind', ('CPI', 'Core CPI'))]
    >>> list(checked_values("value > 0", "sqlite"))
    []
    """
    try:
        tree = sqlglot.parse_one(check, read=dialect)
    except SqlglotError:
        return
    while isinstance(tree, exp.Paren):
        tree = tree.this
    if not isinstance(tree, exp.In | exp.EQ):
        return
    column = tree.this.find(exp.Column)
    inside = tree.expressions if isinstance(tree, exp.In) else list(tree.expression.find_all(exp.Literal))
    texts = [one.find(exp.Literal) for one in inside]
    is_list = isinstance(tree, exp.In) or tree.expression.find(exp.Any) is not None
    if column is not None and is_list and texts and all(text is not None and text.is_string for text in texts):
        yield column.name, tuple(text.name for text in texts if text is not None)


def _keys(inspector: Inspector, about: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """By table and column, what a foreign key of one column refers to."""
    found: dict[str, dict[str, str]] = {}
    for key, many in inspector.get_multi_foreign_keys(**about).items():
        for one in many:
            if len(one["constrained_columns"]) == 1 and one["referred_columns"]:
                target = f"{one['referred_table']}.{one['referred_columns'][0]}"
                found.setdefault(key[1], {})[one["constrained_columns"][0]] = target
    return found


def _column(
    table: str, column: Any, declared: Declared, values: Mapping[str, tuple[str, ...]], keys: Mapping[str, str]
) -> Column:
    name, kind = str(column["name"]), column["type"]
    comment = declared.comments.get(f"{table}.{name}") or column.get("comment") or ""
    if name in keys:
        comment = f"{comment + '; ' if comment else ''}refers to {keys[name]}"
    known = (
        declared.categories.get(f"{table}.{name}")
        or values.get(name)
        or (tuple(kind.enums) if _is_enum(kind) else None)
    )
    shown = None if known is None else tuple(known[:MAX_CATEGORIES])
    return Column(name, _type(kind) or "VARCHAR", comment, shown, known is not None and len(known) > MAX_CATEGORIES)


def _is_read_as_text(kind: Any, dialect: str) -> bool:
    """In MySQL a cast also gives every text the collation of the connection, which compares as DuckDB does."""
    return _type(kind) is None or _is_enum(kind) or (dialect == "mysql" and isinstance(kind, sa.String))


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, sa.Enum)


def _type(kind: Any) -> str | None:
    """DuckDB's name of a type; None where there is no plain one."""
    if (inner := getattr(kind, "data_type", None)) is not None and type(kind).__name__ == "DOMAIN":
        return _type(inner)
    if isinstance(kind, sa.DateTime):
        return "TIMESTAMP WITH TIME ZONE" if kind.timezone else "TIMESTAMP"
    if isinstance(kind, sa.Numeric) and not isinstance(kind, sa.Float):
        if kind.precision is None or kind.precision > MAX_DIGITS:
            return "DOUBLE"
        return f"DECIMAL({kind.precision},{kind.scale or 0})"
    return next((name for base, name in TYPES if isinstance(kind, base)), None)


def _dated(columns: Sequence[Column]) -> list[tuple[str, str]]:
    return [(column.name, kind) for column in columns if (kind := kind_of_type(column.type))]


def _check_names(table: str, columns: Mapping[str, Any]) -> None:
    if len({name.lower() for name in columns}) < len(columns):
        raise DataError(
            f"the columns of {table} differ in capital letters only: give a view of it other names, and name it in tables"
        )


def _check_declared(columns: Mapping[str, Sequence[Any]], declared: Declared) -> None:
    known = {f"{table}.{one['name']}" for table, many in columns.items() for one in many}
    named = [f"{table}.{column}" for table, column in declared.date_columns.items() if column is not None]
    for name in [*named, *declared.categories, *(name for name in declared.comments if "." in name)]:
        if name not in known:
            raise DataError(
                f'"{name}" is no column of this database: write table.column, as in {min(known, default="-")}'
            )
