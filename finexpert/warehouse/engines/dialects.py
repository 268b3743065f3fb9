"""A SELECT on its way to a database server: translated, and led to the rows that it may see.

A model writes DuckDB SQL whatever the database is; sqlglot translates it. Every table becomes a subquery of its own:

    FROM cpi   ->   FROM (SELECT "date" AS "date", "value" AS "value" FROM "public"."cpi" WHERE "date" < '2024-10-01') AS "cpi"

so a SELECT sees a table's known columns and no row after `as_of`, however it is written. What has no translation is refused;
`statement_rules.py` reads the result once more before it is sent.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from finexpert.errors import QueryError
from finexpert.warehouse.engines.mysql_rewriting import rewrite_mysql
from finexpert.warehouse.engines.rewriting import rewrite, sorts_text
from finexpert.warehouse.engines.statement_rules import CTE_PREFIX, INNER_TABLE, check_statement, parse_one
from finexpert.warehouse.schema import TableSchema
from finexpert.warehouse.suggestions import unknown_table

AS_TEXT = frozenset(("UUID", "ENUM", "JSON", "OTHER"))


@dataclass(frozen=True)
class Place:
    """Where a table of the card stands in the database: `names` are its columns there, by their names in the card.

    Columns of `as_text` are cast to text, and those of `casts` to the type that stands there.
    """

    schema: str
    table: str
    names: Mapping[str, str]
    as_text: frozenset[str] = frozenset()
    casts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Translator:
    """Translates SELECTs over these tables into a dialect of sqlglot; `written` is the dialect that they come in."""

    dialect: str
    tables: tuple[TableSchema, ...]
    places: Mapping[str, Place]
    written: str = "duckdb"

    def translate(self, select: str, as_of: dt.date | None = None) -> str:
        """The statement to send; QueryError where it may not be sent or has no translation."""
        tree = self._qualified(parse_one(select, self.written))
        collates = self.written == "duckdb" and self.dialect == "postgres" and sorts_text(tree)
        if self.written == "duckdb":
            tree = rewrite_mysql(tree) if self.dialect == "mysql" else rewrite(tree, self.dialect)
        self._lead_to_rows(tree, as_of, collates)
        try:
            sql = tree.sql(self.dialect, unsupported_level=ErrorLevel.RAISE, comments=False)
        except (SqlglotError, ValueError, RecursionError) as error:
            reason = str(error).partition("\n")[0]
            raise QueryError(f"this has no translation to {self.dialect} ({reason}): write it in plainer SQL") from None
        check_statement(sql, self.dialect, {(place.schema, place.table) for place in self.places.values()})
        return sql

    def _qualified(self, tree: exp.Query) -> exp.Query:
        """Every column with its table, every name quoted, every star and alias written out."""
        _check_written(tree)
        schema: dict[str, object] = {}
        for table in self.tables:
            columns = {self._name(column.name): _sqlglot_type(column.type) for column in table.columns}
            group, _, name = table.name.rpartition(".")
            schema.setdefault(self._name(group or "main"), {})[self._name(name)] = columns  # type: ignore[index]
        try:
            done = qualify(tree, schema=schema, db="main", dialect=self.written, quote_identifiers=True)
            return annotate_types(done, schema=schema, dialect=self.written)
        except (SqlglotError, AssertionError, ValueError, RecursionError, KeyError) as error:
            reason = str(error).partition("\n")[0].partition(" Line:")[0]
            raise QueryError(f"this has no translation to {self.dialect} ({reason}): write it in plainer SQL") from None

    def _name(self, name: str) -> str:
        return name.lower() if self.written == "duckdb" else name

    def _lead_to_rows(self, tree: exp.Query, as_of: dt.date | None, collates: bool) -> None:
        known = {table.name.lower(): table for table in self.tables}
        for table in list(tree.find_all(exp.Table)):
            if isinstance(table.this, exp.Func):
                continue
            if not table.db and table.name in _ctes_in_sight(table):
                table.this.set("this", CTE_PREFIX + table.name)
                continue
            full = ".".join(part for part in (table.catalog, table.db, table.name) if part)
            found = known.get(full.lower().removeprefix("main."))
            if found is None or [key for key, value in table.args.items() if value and key not in INNER_TABLE]:
                there = {one.name: [column.name for column in one.columns] for one in self.tables}
                raise QueryError(unknown_table(full, there, {column.name for column in tree.find_all(exp.Column)}))
            inner = self._rows(found, as_of, collates).subquery(alias=table.args.get("alias"))
            for key in ("joins", "laterals"):
                inner.set(key, table.args.get(key))
            table.replace(inner)
        for cte in tree.find_all(exp.CTE):
            cte.args["alias"].this.set("this", CTE_PREFIX + cte.alias)

    def _rows(self, table: TableSchema, as_of: dt.date | None, collates: bool) -> exp.Select:
        place = self.places[table.name]
        columns = []
        for column in table.columns:
            value: exp.Expression = exp.column(exp.to_identifier(place.names[column.name], quoted=True))
            if kind := place.casts.get(column.name):
                value = exp.cast(value, kind)
            elif column.name in place.as_text:
                value = exp.cast(value, "text")
            elif self.dialect == "sqlite" and column.type in ("DATE", "TIMESTAMP"):
                value = exp.Anonymous(this="DATE" if column.type == "DATE" else "DATETIME", expressions=[value])
            if collates and column.type == "VARCHAR":
                # As DuckDB sorts; only where it matters, since no index of another collation can be used then.
                value = exp.Collate(this=value, expression=exp.to_identifier("C", quoted=True))
            columns.append(exp.alias_(value, self._name(column.name), quoted=True))
        inner = exp.select(*columns).from_(exp.table_(place.table, db=place.schema, quoted=True))
        if as_of is None or table.date_column is None:
            return inner
        date = exp.column(exp.to_identifier(place.names[table.date_column], quoted=True))
        after = dt.date(as_of.year, as_of.month, as_of.day) + dt.timedelta(days=1)
        end: exp.Expression = exp.Literal.string(after.isoformat())
        return inner.where(exp.LT(this=date, expression=end if self.dialect == "sqlite" else exp.cast(end, "date")))


def _check_written(tree: exp.Query) -> None:
    """What sqlglot would drop or misread on the way, before it does."""
    for node in tree.walk():
        if isinstance(node, exp.Join) and node.args.get("method"):
            raise QueryError(
                f"{node.args['method']} JOIN has no translation: join on equal keys, or match in the script"
            )
        if isinstance(node, exp.SetOperation) and node.args.get("by_name"):
            raise QueryError("UNION BY NAME has no translation: write the columns in the same order")
        if isinstance(
            node, exp.Into | exp.Lock | exp.DML | exp.DDL | exp.Command | exp.Parameter | exp.Placeholder
        ) and not (isinstance(node, exp.Query)):
            raise QueryError(f"{type(node).__name__.upper()} is not allowed: write exactly one SELECT that only reads")


def _ctes_in_sight(node: exp.Expression) -> set[str]:
    """The names of the CTEs that a table may mean: those around it, of its own WITH the earlier ones, and itself if recursive."""
    names: set[str] = set()
    inside: exp.CTE | None = None
    parent = node.parent
    while parent is not None:
        if isinstance(parent, exp.CTE):
            inside = parent
        elif isinstance(parent, exp.With):
            names.update(_visible(parent, inside))
        elif isinstance(parent, exp.Query) and (own := parent.args.get("with_")) is not None and not _within(node, own):
            names.update(cte.alias for cte in own.expressions)
        parent = parent.parent
    return names


def _visible(around: exp.With, inside: exp.CTE | None) -> set[str]:
    names = {cte.alias for cte in takewhile(lambda cte: cte is not inside, around.expressions)}
    return names | {inside.alias} if inside is not None and around.args.get("recursive") else names


def _within(node: exp.Expression, ancestor: exp.Expression) -> bool:
    step: exp.Expr | None = node
    while step is not None:
        if step is ancestor:
            return True
        step = step.parent
    return False


def _sqlglot_type(kind: str) -> str:
    return "VARCHAR" if kind in AS_TEXT else kind
