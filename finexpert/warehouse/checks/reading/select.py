"""A SELECT as the checks read it: every column with the table that it comes from.

    read("SELECT count(*) FROM trades WHERE status = 'DONE'", "duckdb", tables).comparisons
        [Comparison(origin=trades.status, literals=("DONE",), ...)]

What runs is the text itself; the tree here is a copy with names put in, for looking alone. Where sqlglot cannot follow a SELECT, its
reading says less and never something wrong: a column without an origin is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope
from sqlglot.schema import MappingSchema

from finexpert.warehouse.schema import Column, TableSchema, find_table

# Tables are put into schemas of two levels; those of the main schema get this one.
MAIN = "main"
_WRAPS = (exp.Lower, exp.Upper, exp.Trim, exp.Paren, exp.Collate)


@dataclass(frozen=True)
class Origin:
    """A column of a table of the warehouse, and what SELECTs in between did to its texts: lower, upper or trim, the last first."""

    table: TableSchema
    column: Column
    wraps: tuple[type[exp.Expr], ...] = ()

    def __str__(self) -> str:
        return f"{self.table.name}.{self.column.name}"


@dataclass(frozen=True)
class Read:
    """A SELECT, read. `select` has every name put in and is None where sqlglot could not do that."""

    sql: str
    dialect: str
    tables: Sequence[TableSchema] = field(repr=False)
    select: exp.Expr | None = field(repr=False)

    @cached_property
    def scopes(self) -> list[Scope]:
        """The SELECTs in it, the innermost first."""
        return [] if self.select is None else list(traverse_scope(self.select))

    @cached_property
    def written(self) -> exp.Expr | None:
        """The SELECT without the names and brackets that a reading puts in; None where sqlglot cannot follow it."""
        try:
            return sqlglot.parse_one(self.sql, read=self.dialect)
        except (SqlglotError, RecursionError):
            return None

    @cached_property
    def used(self) -> list[TableSchema]:
        """The tables that it reads, each once."""
        found: dict[str, TableSchema] = {}
        for scope in self.scopes:
            for source in scope.sources.values():
                if isinstance(source, exp.Table) and (table := self.table_of(source)):
                    found[table.name] = table
        return list(found.values())

    def table_of(self, source: exp.Table) -> TableSchema | None:
        """The schema of a table that is named in a FROM."""
        return find_table(self.tables, source.name if source.db in ("", MAIN) else f"{source.db}.{source.name}")

    def origin(self, column: exp.Column, scope: Scope) -> Origin | None:
        """Where a column's values come from, through the SELECTs between; None where they are computed on the way."""
        return self._origin(column, scope, depth=0)

    def _origin(self, column: exp.Expr, scope: Scope | None, depth: int) -> Origin | None:
        if not isinstance(column, exp.Column) or scope is None or depth > _DEEPEST:
            return None
        source = scope.sources.get(column.table)
        if source is None:
            return self._origin(column, scope.parent, depth + 1)
        if isinstance(source, exp.Table):
            table = self.table_of(source)
            found = table.column(column.name) if table else None
            return Origin(table, found) if table and found else None
        inner = source.expression
        if not isinstance(inner, exp.Select):
            return None
        for projection in inner.selects:
            if projection.alias_or_name.lower() == column.name.lower():
                found_inside = self._origin(unwrapped(projection), source, depth + 1)
                own = tuple(wraps_of(projection))
                return found_inside and replace(found_inside, wraps=own + found_inside.wraps)
        return None

    def base_of(self, scope: Scope, name: str) -> TableSchema | None:
        """The table behind a name of a FROM, where that is a table itself."""
        source = scope.sources.get(name)
        return self.table_of(source) if isinstance(source, exp.Table) else None


_DEEPEST = 40
# Nodes of one column of a result; what people and models write has some hundreds at most.
_LARGEST = 20_000


def read(sql: str, dialect: str, tables: Sequence[TableSchema]) -> Read:
    """The SELECT with its columns led back to tables; never raises for SQL that it does not understand.

    >>> trades = TableSchema("trades", "", (Column("status", "VARCHAR"),))
    >>> one = read("WITH t AS (SELECT status AS s FROM trades) SELECT count(*) FROM t WHERE s = 'DONE'", "duckdb", [trades])
    >>> column, scope = next(columns_of(one))
    >>> str(one.origin(column, scope))
    'trades.status'
    """
    try:
        tree = sqlglot.parse_one(sql, read=dialect)
        if not isinstance(tree, exp.Query):
            return Read(sql, dialect, tables, None)
        if _grows(tree):
            return Read(sql, dialect, tables, None)
        _strip_main(tree, tables)
        # What sqlglot thinks of a type changes no name.
        shapes: dict[str, Any] = {}
        for table in tables:
            schema, _, name = table.name.rpartition(".")
            shapes.setdefault(schema or MAIN, {})[name] = {column.name: "VARCHAR" for column in table.columns}
        schema_ = MappingSchema(shapes, dialect=dialect)
        made = qualify(
            tree,
            schema=schema_,
            db=MAIN,
            dialect=dialect,
            validate_qualify_columns=False,
            quote_identifiers=False,
            identify=False,
        )
    except (SqlglotError, RecursionError, ValueError, KeyError, AttributeError, TypeError):
        return Read(sql, dialect, tables, None)
    return Read(sql, dialect, tables, made)


def _grows(tree: exp.Expr) -> bool:
    """Whether names of results that stand for one another would make a SELECT too large to be read.

    >>> def chain(n): return sqlglot.parse_one("SELECT 1 AS a0, " + ", ".join(f"a{i} + a{i} AS a{i + 1}" for i in range(n)))
    >>> _grows(chain(5)), _grows(chain(30))
    (False, True)
    """
    for select in tree.find_all(exp.Select):
        sizes: dict[str, int] = {}
        for projection in select.selects:
            nodes = list(projection.walk())
            size = len(nodes)
            size += sum(sizes.get(node.name, 0) for node in nodes if isinstance(node, exp.Column) and not node.table)
            if size > _LARGEST:
                return True
            if isinstance(projection, exp.Alias):
                sizes[projection.alias] = size
    return False


def _strip_main(tree: exp.Expr, tables: Sequence[TableSchema]) -> None:
    """Lets `public.trades` stand for the table that the warehouse calls `trades`, and `trades` for its only `desk.trades`."""
    own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for node in tree.find_all(exp.Table):
        if not node.db and node.name.lower() not in own and (found := find_table(tables, node.name)) is not None:
            node.set("db", exp.to_identifier(found.name.rpartition(".")[0] or None, quoted=True))
        if node.db and find_table(tables, f"{node.db}.{node.name}") is not None:
            node.set("catalog", None)
            if not any(table.name.lower() == f"{node.db}.{node.name}".lower() for table in tables):
                node.set("db", None)


def columns_of(one: Read) -> Iterator[tuple[exp.Column, Scope]]:
    """Every column with the innermost SELECT that it stands in."""
    for scope in one.scopes:
        for node in scope.walk():
            if isinstance(node, exp.Column):
                yield node, scope


def unwrapped(node: exp.Expr) -> exp.Expr:
    """An expression without its alias, brackets and functions that change how a text is written and not what it says.

    >>> unwrapped(sqlglot.parse_one("lower(trim(segment))")).sql()
    'segment'
    """
    while isinstance(node, (exp.Alias, *_WRAPS)) or (
        isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.TEXT_TYPES)
    ):
        node = node.this
    return node


def wraps_of(node: exp.Expr) -> Iterator[type[exp.Expr]]:
    """The functions around a column that change how its texts are written, the outermost first.

    >>> [wrap.__name__ for wrap in wraps_of(sqlglot.parse_one("lower(trim(segment)) AS s"))]
    ['Lower', 'Trim']
    """
    while node is not unwrapped(node):
        if isinstance(node, exp.Lower | exp.Upper | exp.Trim):
            yield type(node)
        node = node.this


def text_of(one: Read, node: exp.Expr, *, keep_tables: bool = False) -> str:
    """A part of the SELECT in its own dialect, as a person or a model wrote it, without the names that were put in.

    >>> text_of(read("SELECT 1", "duckdb", []), sqlglot.parse_one("main.trades.status = 'x'"))
    "status = 'x'"
    """
    plain = node.copy()
    columns = list(plain.find_all(exp.Column))
    # Two tables in one condition would otherwise read as a column compared with itself.
    keep_tables = keep_tables or len({column.table for column in columns}) > 1
    for column in columns:
        for part in ("db", "catalog") if keep_tables else ("table", "db", "catalog"):
            column.set(part, None)
    for table in plain.find_all(exp.Table):
        if table.db == MAIN:
            table.set("db", None)
    return plain.sql(one.dialect)


def rows_of(
    one: Read, scope: Scope, condition: exp.Expr | None, joins: int | None = None, source: exp.Expr | None = None
) -> exp.Select:
    """The SELECT for the rows of another one under one condition, with the first `joins` of its joins, or from another source."""
    select = scope.expression
    from_ = exp.From(this=source.copy()) if source is not None else select.args["from_"].copy()
    made = exp.Select(expressions=[exp.Literal.number(1)], from_=from_)
    made.set("joins", [join.copy() for join in (select.args.get("joins") or [])[:joins]])
    made.set("laterals", [lateral.copy() for lateral in select.args.get("laterals") or []])
    if condition is not None:
        made.set("where", exp.Where(this=condition.copy()))
    for with_ in withs(one, scope):
        made.set("with_", with_.copy())
    return runnable(made)


def own_where(scope: Scope, more: exp.Expr | None = None) -> exp.Expr | None:
    """The WHERE of a SELECT, and a further condition where one is given; None where there is neither.

    >>> (scope,) = traverse_scope(sqlglot.parse_one("SELECT * FROM t WHERE a = 1 OR b = 2"))
    >>> own_where(scope, exp.column("c").is_(exp.null())).sql()
    '(a = 1 OR b = 2) AND c IS NULL'
    """
    where = scope.expression.args.get("where")
    parts = [part for part in (where.this if where is not None else None, more) if part is not None]
    return exp.and_(*parts) if parts else None


def withs(one: Read, scope: Scope) -> Iterator[exp.With]:
    """The WITH that a SELECT may refer to: that of the whole statement, or its own."""
    outer = one.select.args.get("with_") if one.select is not None else None
    own = scope.expression.args.get("with_")
    if outer is not None and not _inside(scope.expression, outer):
        yield outer
    elif outer is not None:
        yield _before(outer, scope.expression)
    if own is not None and own is not outer:
        yield own


def _inside(node: exp.Expr, with_: exp.Expr) -> bool:
    while node.parent is not None:
        node = node.parent
        if node is with_:
            return True
    return False


def _before(with_: exp.With, node: exp.Expr) -> exp.With:
    """The parts of a WITH that stand before the one that a node is in."""
    parts = []
    for part in with_.expressions:
        if _inside(node, part):
            break
        parts.append(part.copy())
    return exp.With(expressions=parts, recursive=with_.args.get("recursive")) if parts else exp.With()


def runnable(select: exp.Select) -> exp.Select:
    """A SELECT made from parts of a reading, in names that the database knows."""
    for node in select.find_all(exp.Table):
        if node.db == MAIN:
            node.set("db", None)
    with_ = select.args.get("with_")
    if with_ is not None and not with_.expressions:
        select.set("with_", None)
    return select
