"""What SQLite computes without a word where other databases raise an error: refused, or raised here too.

    CAST('' AS REAL)                          0       ->  raises
    a / b, where b is 0                       NULL    ->  raises
    '2024-03-01' - '2024-01-01'               0       ->  refused: write julianday(a) - julianday(b)
    SELECT region, sum(amount) FROM trades    the region of any row  ->  refused
    status = "Filled"                         a text, where no column is called so  ->  refused

What raises while it runs are functions of ours around an operand: see `engines/sqlite_connection.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.select import Read, read, text_of, unwrapped
from finexpert.warehouse.dates import kind_of_type
from finexpert.warehouse.schema import Column, TableSchema, find_table
from finexpert.warehouse.suggestions import unknown_column

_MATHS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.Sum, exp.Avg)
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In)
_NUMBER_DATES = ("yyyymmdd", "yyyymm", "year", "unix", "unix ms", "julian")
_AGGREGATES = ("total",)


def strict(tree: exp.Query, one: Read) -> exp.Query:
    """The tree with functions around operands that SQLite would misread; raises QueryError for what it never reads right.

    >>> trades = TableSchema("trades", "", (Column("a", "REAL"), Column("b", "REAL"), Column("note", "TEXT")))
    >>> import sqlglot
    >>> select = "SELECT a / b, CAST(note AS REAL) FROM trades"
    >>> strict(sqlglot.parse_one(select, read="sqlite"), read(select, "sqlite", [trades])).sql("sqlite")
    'SELECT a / FINEXPERT_DIVISOR(b) AS "a / b", CAST(FINEXPERT_NUMBER(note) AS REAL) AS "CAST(note AS REAL)" FROM trades'
    """
    _check_quoted(tree, one.tables)
    for node in tree.walk():
        _check_alone(node)
    for with_ in tree.find_all(exp.With):
        _say_recursive(with_, one.tables)
    for scope in one.scopes:
        _check_bare(one, scope)
        for node in scope.walk():
            if isinstance(node, _MATHS):
                _check_maths(one, node, scope)
            elif isinstance(node, _COMPARED):
                _check_compared(one, node, scope)
    _name_columns(tree)
    for node in list(tree.walk()):
        _wrap(node)
    return tree


def _name_columns(tree: exp.Query) -> None:
    """Lets a column of the result that has no name be called as it is written, without functions of ours."""
    if isinstance(tree, exp.Select):
        for part in tree.expressions:
            if not isinstance(part, exp.Alias | exp.Column | exp.Star):
                name = part.sql("sqlite", normalize_functions=False)
                part.replace(exp.alias_(part.copy(), name, quoted=True))


def _check_alone(node: exp.Expr) -> None:
    if isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.TEMPORAL_TYPES):
        kind = "date" if node.to.is_type("date") else "datetime"
        raise QueryError(f"SQLite has no type for dates, and CAST would make a number of one: write {kind}(...)")
    decimals = node.args.get("decimals") if isinstance(node, exp.Round) else None
    if isinstance(decimals, exp.Neg):
        raise QueryError("round() of SQLite takes no negative digits: write round(x / 100.0) * 100")


def _say_recursive(with_: exp.With, tables: Sequence[TableSchema]) -> None:
    """SQLite lets a WITH be recursive without the word."""
    for cte in with_.expressions:
        named = {table.name.lower() for table in cte.this.find_all(exp.Table) if not table.db}
        if cte.alias.lower() in named and find_table(tables, cte.alias) is None:
            with_.set("recursive", True)


def plain_texts(select: str, tables: Sequence[TableSchema]) -> frozenset[int]:
    """The places of the columns that a SELECT takes from columns of texts as they stand.

    >>> trades = TableSchema("trades", "", (Column("note", "VARCHAR"), Column("day", "DATE")))
    >>> plain_texts("SELECT note, day, date(note) FROM trades", [trades])
    frozenset({0})
    """
    one = read(select, "sqlite", tables)
    first = one.select
    while isinstance(first, exp.SetOperation | exp.Subquery | exp.Paren):
        first = first.this
    found = set()
    for scope in one.scopes:
        for place, part in enumerate(scope.expression.expressions if scope.expression is first else ()):
            column = _column(one, part, scope)
            if column is not None and column.is_text:
                found.add(place)
    return frozenset(found)


def _check_quoted(tree: exp.Query, tables: Sequence[TableSchema]) -> None:
    """SQLite takes a name between double quotes for a text where nothing is called so."""
    named = {column.name.lower() for table in tables for column in table.columns}
    named |= {node.alias.lower() for node in tree.find_all(exp.Alias, exp.TableAlias, exp.Table)}
    named |= {name.name.lower() for node in tree.find_all(exp.TableAlias) for name in node.args.get("columns") or []}
    for column in tree.find_all(exp.Column):
        if column.this.args.get("quoted") and column.name.lower() not in named:
            there = {table.name: [one.name for one in table.columns] for table in tables}
            said = unknown_column(column.name, (), there)
            raise QueryError(f"{said}; if it is a text, write it in single quotes")


def _check_bare(one: Read, scope: Scope) -> None:
    """A column beside an aggregate, of which SQLite takes the value of any row."""
    select = scope.expression
    if not isinstance(select, exp.Select):
        return
    group = select.args.get("group")
    # An aggregate in a subquery is of that subquery's rows.
    parts = [node for part in select.selects for node in part.walk(prune=lambda node: isinstance(node, exp.Query))]
    aggregates = [node for node in parts if _is_aggregate(node)]
    if group is None and not aggregates:
        return
    if len(aggregates) == 1 and isinstance(aggregates[0], exp.Max | exp.Min):
        # SQLite says of these that the other columns come from the row of the maximum.
        return
    keys = {part.sql() for part in (group.expressions if group is not None else [])}
    keys |= {part.alias_or_name for part in select.selects if part.unalias().sql() in keys}
    for part in select.selects:
        for column in _bare(part.unalias(), keys):
            if column.table in scope.sources and not _is_told(one, scope, column, keys):
                raise QueryError(
                    f"{text_of(one, column)} is neither in GROUP BY nor in an aggregate: SQLite would take it from any row"
                )


def _bare(node: exp.Expr, keys: set[str]) -> Iterator[exp.Column]:
    if node.sql() in keys or isinstance(node, exp.Query) or _is_aggregate(node):
        return
    if isinstance(node, exp.Column):
        if node.name not in keys:
            yield node
        return
    for child in node.iter_expressions():
        yield from _bare(child, keys)


def _is_aggregate(node: exp.Expr) -> bool:
    if isinstance(node, exp.Max | exp.Min) and node.expressions:
        return False
    if isinstance(node, exp.Filter | exp.WithinGroup):
        return _is_aggregate(node.this) and not isinstance(node.parent, exp.Window)
    named = isinstance(node, exp.Anonymous) and node.name.lower() in _AGGREGATES
    return (named or isinstance(node, exp.AggFunc)) and not isinstance(node.parent, exp.Window)


def _is_told(one: Read, scope: Scope, column: exp.Column, keys: set[str]) -> bool:
    """Whether a key of the table is among what is grouped by."""
    table = one.base_of(scope, column.table)
    grouped = {key.replace('"', "").rpartition(".")[2].lower() for key in keys}
    return table is not None and any({part.lower() for part in key} <= grouped for key in table.keys)


def _check_maths(one: Read, node: exp.Expr, scope: Scope) -> None:
    for side in (node.this, node.args.get("expression")):
        column = _column(one, side, scope)
        if column is None:
            continue
        if _is_dated(column) and column.dates not in _NUMBER_DATES:
            raise QueryError(
                f"{text_of(one, node)} would compute with the first digits of dates: write julianday(a) - julianday(b), or "
                "date(a, '+1 month')"
            )
        if column.is_text:
            raise QueryError(f"{text_of(one, node)} computes with texts: cast {column.name} to a number")


def _check_compared(one: Read, node: exp.Expr, scope: Scope) -> None:
    sides = [node.this, *(node.args.get(name) for name in ("expression", "low", "high")), *node.expressions]
    numbers = any(isinstance(side, exp.Literal) and not side.is_string for side in sides)
    for side in sides if numbers else ():
        column = _column(one, side, scope)
        if column is not None and (column.is_text or _is_dated(column)) and column.dates not in _NUMBER_DATES:
            raise QueryError(
                f"{text_of(one, node)} compares texts with a number, which sorts before every text: write the text in quotes, or cast "
                f"{column.name} to a number"
            )


def _column(one: Read, side: exp.Expr | None, scope: Scope) -> Column | None:
    inner = unwrapped(side) if side is not None else None
    origin = one.origin(inner, scope) if isinstance(inner, exp.Column) else None
    return origin.column if origin else None


def _is_dated(column: Column) -> bool:
    return bool(kind_of_type(column.type) or column.dates)


def _wrap(node: exp.Expr) -> None:
    if isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.NUMERIC_TYPES):
        _put(node, "this", "NUMBER")
    elif isinstance(node, exp.Div | exp.Mod):
        _put(node, "expression", "DIVISOR")
    elif isinstance(node, exp.Ln):
        _put(node, "this", "ABOVE_ZERO")
    elif isinstance(node, exp.Log):
        _put(node, "expression" if node.expression else "this", "ABOVE_ZERO")
    elif isinstance(node, exp.Sqrt):
        _put(node, "this", "NOT_NEGATIVE")


def _put(node: exp.Expr, name: str, function: str) -> None:
    operand = node.args[name]
    inner = operand.unnest() if isinstance(operand, exp.Paren) else operand
    if isinstance(inner, exp.Nullif) and function == "DIVISOR":
        return
    if isinstance(inner, exp.Literal) and not inner.is_string and float(inner.name) > 0:
        return
    node.set(name, exp.Anonymous(this=f"FINEXPERT_{function}", expressions=[operand]))
