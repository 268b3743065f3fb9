"""A SELECT on its way to a database server, in the server's own SQL: led to the rows that it may see, and checked.

    FROM cpi   ->   FROM (SELECT "date", "value" FROM "public"."cpi" WHERE "date" <= CAST('2024-09-30' AS DATE)) AS "cpi"

A table that has no row to hide is named with its schema and nothing else, so that the server still knows its keys. What a server would
compute otherwise than it is said is refused in SQLite (`rules/sqlite.py`); `rules/statements.py` reads the result once more before
it is sent.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

from finexpert.errors import AsOfError, QueryError
from finexpert.warehouse.checks.reading.select import read
from finexpert.warehouse.dates import TYPED, DateColumn
from finexpert.warehouse.engines.rules import clickhouse as clickhouse_rules
from finexpert.warehouse.engines.rules import sqlite as sqlite_rules
from finexpert.warehouse.engines.rules.statements import (
    CTE_PREFIX,
    INNER_TABLE,
    check_growth,
    check_statement,
    check_written,
    parse_one,
)
from finexpert.warehouse.horizon import NUMBERS, known_by, last_day, of_form
from finexpert.warehouse.schema import TableSchema, find_table
from finexpert.warehouse.suggestions import unknown_table

# Engines that fold names without quotes, to small or to capital letters, and not those in quotes.
_FOLDING = ("postgres", "snowflake")
# Of a quotient in MySQL: its own four would make 1 / 30000 a 0.0000, and cut every average of whole numbers.
QUOTIENT_DIGITS = 20


@dataclass(frozen=True)
class Place:
    """Where a table of the card stands in the database; `casts` are types that some of its columns are read as.

    Of a view `reads` are the tables and views that it reads, each as often as it is named, None where that cannot be told. One that
    gives the rows of its tables as they are has in `columns` which column each of its own is; `*` is all of them.
    """

    schema: str
    table: str
    casts: Mapping[str, str] = field(default_factory=dict)
    reads: tuple[str, ...] | None = ()
    columns: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Statements:
    """Makes what is sent from SELECTs over these tables, in one dialect of sqlglot."""

    dialect: str
    tables: tuple[TableSchema, ...]
    places: Mapping[str, Place]

    def prepare(self, select: str, as_of: dt.date | None = None, *, declared_only: bool = False) -> str:
        """The statement to send; QueryError where it may not be sent."""
        tree = parse_one(select, self.dialect)
        check_written(tree, {column.name for table in self.tables for column in table.columns}, self.dialect)
        one = read(select, self.dialect, self.tables)
        check_growth(one)
        if self.dialect in _FOLDING:
            tree = normalize_identifiers(tree, dialect=self.dialect)
        if self.dialect == "sqlite":
            tree = sqlite_rules.strict(tree, one)
        if self.dialect == "mysql":
            _check_quotes(select, self.tables)
        self._lead_to_rows(tree, as_of, declared_only)
        if self.dialect == "clickhouse":
            tree = clickhouse_rules.strict(tree)
        try:
            sql = tree.sql(self.dialect, unsupported_level=ErrorLevel.RAISE, comments=False, normalize_functions=False)
        except (SqlglotError, ValueError, RecursionError):
            raise QueryError("the SELECT cannot be read: write it in plainer SQL") from None
        check_statement(sql, self.dialect, {(place.schema, place.table) for place in self.places.values()})
        return sql

    def _lead_to_rows(self, tree: exp.Query, as_of: dt.date | None, declared_only: bool) -> None:
        for column in tree.find_all(exp.Column):
            # public.cpi.value: what stands in a FROM is called by the table's name from here on.
            column.set("db", None)
            column.set("catalog", None)
        for table in list(tree.find_all(exp.Table)):
            if isinstance(table.this, exp.Func):
                continue
            if not table.db and (cte := _cte_in_sight(table)) is not None:
                _name_after(table, table.this)
                table.this.set("this", CTE_PREFIX + cte)
                continue
            found = self._found(table, tree)
            if as_of is not None and (below := self._seen_through(found, declared_only)):
                raise AsOfError(
                    f"{found.name} cannot be seen as of {as_of}: it is a view through which later rows of {below} are seen. Read that "
                    "table, say in the semantic model which column of the view tells when a row became known, or ask without --as-of"
                )
            led = self._rows(found, as_of, declared_only)
            alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(table.name, quoted=True))
            source = led.subquery() if isinstance(led, exp.Select) else led
            source.set("alias", alias)
            for key in ("joins", "laterals"):
                source.set(key, table.args.get(key))
            table.replace(source)
        for one in tree.find_all(exp.CTE):
            one.args["alias"].this.set("this", CTE_PREFIX + one.alias)

    def _seen_through(self, table: TableSchema, declared_only: bool, above: tuple[str, ...] = ()) -> str:
        """What a view reads whose later rows its own date does not hide; empty where there is nothing."""
        place = self.places[table.name]
        if (
            place.reads == ()
            or table.timeless
            or (table.date is not None and table.date.declared)
            or table.name in above
        ):
            return ""
        if place.reads is None:
            return "" if declared_only else "tables that cannot be told"
        later = [name for name in place.reads if self._has_later(name, declared_only, (*above, table.name))]
        if not later:
            return ""
        below = find_table(self.tables, later[0])
        hides = below is not None and below.date is not None and table.date is not None and len(later) == 1
        if (
            hides
            and place.columns is not None
            and below is not None
            and below.date is not None
            and table.date is not None
        ):
            same = place.columns.get(table.date.name) or (table.date.name if "*" in place.columns else "")
            if same.lower() == below.date.name.lower():
                return self._seen_through(below, declared_only, (*above, table.name))
        return later[0]

    def _has_later(self, name: str, declared_only: bool, above: tuple[str, ...]) -> bool:
        """Whether a table has rows to hide, or a view reads one that has; one that is not known may have."""
        table = find_table(self.tables, name)
        if table is None:
            return not declared_only
        if table.date is not None and (table.date.declared or not declared_only):
            return True
        return bool(self._seen_through(table, declared_only, above))

    def _found(self, table: exp.Table, tree: exp.Query) -> TableSchema:
        name = f"{table.db}.{table.name}" if table.db else table.name
        found = next((one for one in self.tables if one.name in (name, table.name)), None) or find_table(
            self.tables, name
        )
        if found is not None and table.db and table.db.lower() != self.places[found.name].schema.lower():
            found = None
        if found is None or table.catalog or not isinstance(table.this, exp.Identifier):
            full = ".".join(part for part in (table.catalog, table.db, table.name) if part)
            there = {one.name: [column.name for column in one.columns] for one in self.tables}
            raise QueryError(unknown_table(full, there, {column.name for column in tree.find_all(exp.Column)}))
        if extra := [key for key, value in table.args.items() if value and key not in INNER_TABLE]:
            raise QueryError(f"{', '.join(extra)} beside a table is not allowed: write the table's name alone")
        return found

    def rows_of(self, table: TableSchema, as_of: dt.date | None, declared_only: bool) -> tuple[str, str | None]:
        """A table's name in SQL, and the SELECT for its rows up to a day; None where it has none to hide."""
        led = self._rows(table, as_of, declared_only)
        name = exp.to_identifier(self.places[table.name].table, quoted=True).sql(self.dialect)
        return name, led.sql(self.dialect) if isinstance(led, exp.Select) else None

    def _rows(self, table: TableSchema, as_of: dt.date | None, declared_only: bool) -> exp.Table | exp.Select:
        """The table as it stands, or a SELECT for its rows up to the day."""
        place = self.places[table.name]
        plain = exp.table_(place.table, db=place.schema, quoted=True)
        known = None
        if as_of is not None and table.date is not None and (table.date.declared or not declared_only):
            known = self._known_by(table, table.date, as_of)
        if known is None and not place.casts:
            return plain
        columns = []
        for column in table.columns:
            value: exp.Expr = exp.column(column.name, quoted=True)
            if kind := place.casts.get(column.name):
                value = exp.cast(value, kind)
            columns.append(exp.alias_(value, column.name, quoted=True) if kind else value)
        rows = exp.select(*columns).from_(plain)
        return rows.where(known) if known is not None else rows

    def _known_by(self, table: TableSchema, date: DateColumn, day: dt.date) -> exp.Expr:
        """The condition that a row was known on a day; what has no date of the form of the column is hidden."""
        column, kind = exp.column(date.name, quoted=True), date.kind
        condition = known_by(column, kind, day)
        if self.dialect == "postgres" and kind not in (*TYPED, *NUMBERS):
            # The language of a database may sort texts otherwise than by their characters.
            condition.set("this", exp.Collate(this=condition.this, expression=exp.to_identifier("C", quoted=True)))
        if self.dialect == "bigquery" and "TIME ZONE" in getattr(table.column(date.name), "type", ""):
            # It compares a moment with nothing but a moment.
            condition.expression.set("to", exp.DataType.build("timestamptz"))
        condition = exp.and_(of_form(column.copy(), kind, self.dialect, last_day(kind, day)), condition)
        if self.dialect != "sqlite":
            return condition
        if kind in TYPED:
            raise AsOfError(
                f"{table.name} cannot be seen as of {day}: the dates in {date.name} have no form that all of them share. Give it "
                "one, say in the semantic model which column tells when a row became known, or ask without --as-of"
            )
        types = ("integer", "real") if kind in NUMBERS else ("text", "integer")
        of_kind: exp.Expr = exp.Anonymous(this="TYPEOF", expressions=[column.copy()])
        of_kind = of_kind.isin(*(exp.Literal.string(one) for one in types))
        return exp.and_(of_kind, condition)


def _name_after(table: exp.Table, name: exp.Identifier) -> None:
    """Lets a table keep its name as an alias."""
    alias = table.args.get("alias")
    if alias is None:
        table.set("alias", exp.TableAlias(this=name.copy()))
    elif alias.args.get("this") is None:
        alias.set("this", name.copy())


def _check_quotes(select: str, tables: tuple[TableSchema, ...]) -> None:
    """In MySQL a name between double quotes is a text, the same in every row."""
    for table in tables:
        for name in (table.name, *(column.name for column in table.columns)):
            if f'"{name}"' in select:
                raise QueryError(f'"{name}" is a text in MySQL: write names between backticks, as `{name}`')


def _cte_in_sight(node: exp.Table) -> str | None:
    """The CTE that a table may mean: of those around it, of its own WITH the earlier ones, and itself if recursive."""
    inside: exp.CTE | None = None
    parent = node.parent
    while parent is not None:
        names: list[str] = []
        if isinstance(parent, exp.CTE):
            inside = parent
        elif isinstance(parent, exp.With):
            names = _visible(parent, inside)
        elif isinstance(parent, exp.Query) and (own := parent.args.get("with_")) is not None and not _within(node, own):
            names = [cte.alias for cte in own.expressions]
        found = [name for name in names if name == node.name] or [
            one for one in names if one.lower() == node.name.lower()
        ]
        if found:
            return found[0]
        parent = parent.parent
    return None


def _visible(around: exp.With, inside: exp.CTE | None) -> list[str]:
    names = [cte.alias for cte in takewhile(lambda cte: cte is not inside, around.expressions)]
    return [*names, inside.alias] if inside is not None and around.args.get("recursive") else names


def _within(node: exp.Expr, ancestor: exp.Expr) -> bool:
    step: exp.Expr | None = node
    while step is not None:
        if step is ancestor:
            return True
        step = step.parent
    return False


def result_names(select: str, dialect: str, given: Sequence[str]) -> list[str]:
    """The names of a result's columns as its SELECT writes them, where the engine gives them back in capitals.

    >>> result_names('SELECT avg(fee) AS mean, "Day" FROM x', "snowflake", ["MEAN", "Day"])
    ['mean', 'Day']
    """
    written = parse_one(select, dialect).named_selects
    if len(written) != len(given):
        return list(given)
    return [one if one.upper() == name else name for one, name in zip(written, given, strict=True)]
