"""What a database says of itself: tables, columns, types, comments and keys.

    trades (account_id int REFERENCES accounts (account_id))   ->   account_id INTEGER -> accounts.account_id

Types that every database has are named as in DuckDB, and others as the database names them. Values that an enum type or a CHECK allows
stay at home, as any value does that nobody published.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine.reflection import Inspector, ObjectKind
from sqlglot import exp

from finexpert.errors import DataError
from finexpert.warehouse.dates import DateColumn
from finexpert.warehouse.engines import mysql_reflection
from finexpert.warehouse.engines.kinds import kind_named
from finexpert.warehouse.engines.rules.views import views_of
from finexpert.warehouse.engines.statements import Place
from finexpert.warehouse.engines.statistics import estimates, readable
from finexpert.warehouse.engines.type_names import duckdb_type
from finexpert.warehouse.schema import MAX_CATEGORIES, Column, ForeignKey, TableSchema

TYPES: tuple[tuple[type, str], ...] = (
    (sa.Enum, "ENUM"),
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
# Engines whose types SQLAlchemy itself knows; those of others are read by their names.
_OF_SQLALCHEMY = ("postgresql", "mysql", "mariadb", "sqlite")


@dataclass(frozen=True)
class Declared:
    """What a caller says of the tables beside what the database says: see SQLWarehouse."""

    comments: Mapping[str, str]
    date_columns: Mapping[str, str | None]
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Reflected:
    """The tables, where each stands, and the reason of each that is left out."""

    tables: tuple[TableSchema, ...]
    places: dict[str, Place]
    left_out: dict[str, str]


def reflect(
    connection: sa.Connection,
    schema: str | None,
    tables: Collection[str] | None,
    declared: Declared,
    listed: Collection[str],
    dialect: str,
    beside: Collection[str] = (),
) -> Reflected:
    """The tables and views of a schema, in the order of their names, and where each stands; of columns that are `listed` ("table.column") the values.

    Keys that refer to tables of the schemas `beside` it name them with their schema.
    """
    inspector = sa.inspect(connection)
    if schema is not None:
        schema = _normal(connection.dialect, schema)
    place = _spelled(connection.dialect, schema or inspector.default_schema_name or "main")
    found_values = {name: _distinct(connection, place, name, dialect) for name in listed}
    declared = replace(declared, categories={**declared.categories, **found_values})
    if schema is not None and schema not in inspector.get_schema_names():
        raise DataError(f'there is no schema "{schema}": there are {", ".join(inspector.get_schema_names())}')
    wanted = None if tables is None else set(tables)
    left_out = _unreadable(connection, inspector, place) if dialect in _DESCRIBED and tables is None else {}
    if left_out:
        wanted = {*inspector.get_table_names(schema), *inspector.get_view_names(schema)} - set(left_out)
    may = readable(connection, place) if dialect == "postgres" else None
    if may is not None and wanted is None:
        wanted, left_out = may.open(place)
    about: dict[str, Any] = {
        "schema": schema,
        "kind": ObjectKind.ANY,
        "filter_names": sorted(wanted) if wanted else None,
    }
    columns = {key[1]: found for key, found in inspector.get_multi_columns(**about).items() if found}
    if may is not None:
        columns = {name: [one for one in many if one["name"] in may.columns[name]] for name, many in columns.items()}
    casts = mysql_reflection.widen(columns) if dialect == "mysql" else {}
    if dialect == "sqlite":
        _widen(columns)
    if missing := sorted((wanted or set()) - set(columns)):
        raise DataError(
            f'there is no table "{missing[0]}" in the schema {place}: there are {", ".join(sorted(columns)[:20])}'
        )
    _check_declared(columns, declared)
    comments, keys = _comments(inspector, about), _keys(inspector, about, set(columns), beside)
    rows = estimates(connection, place, sorted(columns), dialect)
    found = []
    for name in sorted(columns):
        _check_names(name, columns[name])
        made_columns = tuple(_column(name, column, declared, connection.dialect) for column in columns[name])
        comment = declared.comments.get(name) or comments.get(name) or ""
        estimate = rows.get(_spelled(connection.dialect, name))
        table = TableSchema(name, comment, made_columns, rows=estimate, **keys.get(name, {}))
        found.append(_dated(table, declared))
    made = tuple(_as_stored(table, connection.dialect) for table in found)
    views = views_of(inspector, schema, place, list(columns), dialect)
    named = zip(sorted(columns), made, strict=True)
    places = {
        table.name: Place(place, table.name, casts.get(table.name, {}), *views.get(name, ())) for name, table in named
    }
    return Reflected(made, places, left_out)


_DESCRIBED = {"sqlite": "PRAGMA {}.table_xinfo({})", "mysql": "SHOW FULL COLUMNS FROM {}.{}"}


def _unreadable(connection: sa.Connection, inspector: Inspector, schema: str) -> dict[str, str]:
    """The views that cannot be read, which would be found when all are described together: one would shut all tables away."""
    dialect = connection.dialect
    quoted = dialect.identifier_preparer.quote_identifier
    describe = _DESCRIBED["sqlite" if dialect.name == "sqlite" else "mysql"]
    found = {}
    for name in inspector.get_view_names(schema):
        try:
            # No values are filled in: a name may hold a percent sign.
            statement = describe.format(quoted(schema), quoted(name))
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
        except sa.exc.DBAPIError:
            found[name] = "it reads what is not there, or itself, or would write"
    return found


def _distinct(connection: sa.Connection, schema: str, name: str, dialect: str) -> list[str]:
    table, _, column = name.partition(".")
    value = exp.column(column, quoted=True)
    values = exp.select(exp.cast(value, "text").as_("v")).distinct().from_(exp.table_(table, schema, quoted=True))
    first = values.where(value.is_(exp.null()).not_()).order_by("v").limit(MAX_CATEGORIES + 1)
    try:
        rows = connection.exec_driver_sql(first.sql(dialect), execution_options={"no_parameters": True})
    except sa.exc.DBAPIError:
        raise DataError(f'"{name}" is no column of this database: write table.column') from None
    return sorted(str(row[0]) for row in rows)


def _normal(dialect: sa.Dialect, name: str) -> str:
    """A name as SQLAlchemy writes it: of Snowflake in small letters, where all of it is in capitals."""
    return str(dialect.normalize_name(name)) if dialect.requires_name_normalize else name


def _spelled(dialect: sa.Dialect, name: str) -> str:
    """A name as the database itself writes it."""
    return str(dialect.denormalize_name(name)) if dialect.requires_name_normalize else str(name)


def _as_stored(table: TableSchema, dialect: sa.Dialect) -> TableSchema:
    """A table with names as the database itself writes them, since they are sent in quotes."""
    if not dialect.requires_name_normalize:
        return table

    def spelled(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(_spelled(dialect, name) for name in names)

    return replace(
        table,
        name=_spelled(dialect, table.name),
        columns=tuple(replace(column, name=_spelled(dialect, column.name)) for column in table.columns),
        primary_key=spelled(table.primary_key),
        unique=tuple(spelled(key) for key in table.unique),
        foreign_keys=tuple(
            ForeignKey(spelled(key.columns), _spelled(dialect, key.table), spelled(key.referred))
            for key in table.foreign_keys
        ),
        date=table.date and replace(table.date, name=_spelled(dialect, table.date.name)),
    )


def _dated(table: TableSchema, declared: Declared) -> TableSchema:
    if table.name not in declared.date_columns:
        return table
    named = declared.date_columns[table.name]
    return replace(table, date=DateColumn(named, declared=True) if named else None, timeless=not named)


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


def _keys(
    inspector: Inspector, about: Mapping[str, Any], tables: Collection[str], beside: Collection[str]
) -> dict[str, dict[str, Any]]:
    """By table, what its constraints and unique indexes say, as fields of a TableSchema."""
    found: dict[str, dict[str, Any]] = {name: {} for name in tables}
    for (_, name), one in inspector.get_multi_pk_constraint(**about).items():
        if one and one["constrained_columns"]:
            found[name]["primary_key"] = tuple(one["constrained_columns"])
    for (_, name), many in inspector.get_multi_unique_constraints(**about).items():
        _add_unique(found[name], [one["column_names"] for one in many])
    for (_, name), indexes in inspector.get_multi_indexes(**about).items():
        _add_unique(found[name], [list(one["column_names"]) for one in indexes if one["unique"] and _is_whole(one)])  # type: ignore[arg-type]
    for (_, name), references in inspector.get_multi_foreign_keys(**about).items():
        found[name]["foreign_keys"] = tuple(
            ForeignKey(tuple(one["constrained_columns"]), referred, tuple(one["referred_columns"]))
            for one in references
            if (referred := _referred(one, about["schema"], beside)) and (referred in tables or "." in referred)
        )
    return found


def _referred(key: Any, schema: str | None, beside: Collection[str]) -> str:
    """The table that a key refers to; empty where that stands in a schema that is not read."""
    table, other = str(key["referred_table"]), key["referred_schema"]
    if other in (None, schema):
        return table
    return f"{other}.{table}" if other in beside else ""


def _is_whole(index: Any) -> bool:
    """Whether an index is over columns of all rows, and not over expressions or a part of the rows."""
    options = index.get("dialect_options") or {}
    return None not in index["column_names"] and not any(name.endswith("_where") and options[name] for name in options)


def _add_unique(known: dict[str, Any], keys: Sequence[Sequence[str]]) -> None:
    for key in map(tuple, keys):
        if key and key != known.get("primary_key") and key not in known.get("unique", ()):
            known["unique"] = (*known.get("unique", ()), key)


def _column(table: str, column: Any, declared: Declared, dialect: sa.Dialect) -> Column:
    name = str(column["name"])
    comment = declared.comments.get(f"{table}.{name}") or column.get("comment") or ""
    known = declared.categories.get(f"{table}.{name}")
    shown = None if known is None else tuple(known[:MAX_CATEGORIES])
    more = known is not None and len(known) > MAX_CATEGORIES
    return Column(name, _type(column["type"], dialect), comment, shown, more)


def _type(kind: Any, dialect: sa.Dialect) -> str:
    """The name of a type: DuckDB's where every database has it, and else the database's own."""
    if dialect.name not in _OF_SQLALCHEMY and not isinstance(kind, sa.types.NullType):
        return duckdb_type(str(kind.compile(dialect=dialect)), kind_named(dialect.name).dialect)
    if (inner := getattr(kind, "data_type", None)) is not None and type(kind).__name__ == "DOMAIN":
        return _type(inner, dialect)
    if isinstance(kind, sa.DateTime):
        return "TIMESTAMP WITH TIME ZONE" if kind.timezone else "TIMESTAMP"
    if isinstance(kind, sa.Numeric) and not isinstance(kind, sa.Float):
        if kind.precision is None or kind.precision > MAX_DIGITS:
            return "NUMERIC"
        return f"DECIMAL({kind.precision},{kind.scale or 0})"
    plain = next((name for base, name in TYPES if isinstance(kind, base)), None)
    if plain is not None or isinstance(kind, sa.types.NullType):
        return plain or ("ANY" if dialect.name == "sqlite" else "UNKNOWN")
    return str(kind.compile(dialect=dialect)).upper()


def _check_names(table: str, columns: Sequence[Any]) -> None:
    if len({str(column["name"]).lower() for column in columns}) < len(columns):
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
