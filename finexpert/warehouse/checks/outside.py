"""A column of a subquery that is read from outside of it by mistake, or from inside where outside is meant.

    SELECT count(*) FROM customers WHERE customer_id IN (SELECT customer_id FROM returns)     returns has no customer_id
    ... FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.status = 'OPEN')         an order of anybody
    ... FROM customers WHERE EXISTS (SELECT 1 FROM orders WHERE customer_id = customer_id)     the same

SQL takes the customer's own number then, which is always in the list. Who means it writes the table before the column.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.select import Read, text_of
from finexpert.warehouse.schema import TableSchema


def check_outside(one: Read) -> None:
    """Raises QueryError for a column without a table's name that none of the tables of its subquery has."""
    tree = one.written
    if one.select is None or tree is None:
        return
    ctes = {cte.alias_or_name.lower() for cte in tree.find_all(exp.CTE)}
    for select in tree.find_all(exp.Select):
        tables = _tables(one, select, ctes)
        if tables and _stands_in_condition(select):
            _check_select(select, tables)
    _check_ties(one)


def _check_ties(one: Read) -> None:
    """Raises QueryError for a column that is compared with itself, and for an EXISTS that is the same for every row outside."""
    for scope in one.scopes:
        for node in scope.walk():
            if isinstance(node, exp.EQ) and isinstance(node.this, exp.Column) and node.this == node.expression:
                raise QueryError(
                    f"{text_of(one, node, keep_tables=True)} compares a column with itself, which holds in every row: write the names of both tables "
                    "before the columns"
                )
        exists = scope.expression.parent
        if not isinstance(exists, exp.Exists) or scope.external_columns or not scope.sources:
            continue
        if isinstance(exists.find_ancestor(exp.Where, exp.Select), exp.Where):
            raise QueryError(
                f"{text_of(one, exists)} does not look at the row outside, so that it holds for all rows or for none: compare a column of the subquery "
                "with one of the table outside"
            )


def _stands_in_condition(select: exp.Select) -> bool:
    """Whether it is a part of an expression of another SELECT, from which it could read."""
    parent = select.parent
    while isinstance(parent, exp.Subquery | exp.Paren):
        parent = parent.parent
    return parent is not None and not isinstance(parent, exp.From | exp.Join | exp.CTE | exp.SetOperation)


def _tables(one: Read, select: exp.Select, ctes: set[str]) -> Sequence[TableSchema]:
    """The tables that it reads, where they are all tables of the warehouse; else none."""
    from_ = select.args.get("from_")
    sources = [from_.this, *(join.this for join in select.args.get("joins") or [])] if from_ is not None else []
    found = [
        one.table_of(source) for source in sources if isinstance(source, exp.Table) and source.name.lower() not in ctes
    ]
    known = [table for table in found if table is not None]
    return known if len(known) == len(sources) and not select.args.get("laterals") else []


def _check_select(select: exp.Select, tables: Sequence[TableSchema]) -> None:
    own = {projected.alias.lower() for projected in select.selects if projected.alias}
    for column in select.find_all(exp.Column):
        if column.table or column.find_ancestor(exp.Select) is not select or column.name.lower() in own:
            continue
        if isinstance(column.this, exp.Star) or _is_inside(column, tables) or _ties(column, tables):
            continue
        names = ", ".join(table.name for table in tables)
        if column.find_ancestor(exp.Lambda, exp.Struct) is None:
            raise QueryError(
                f'there is no column "{column.name}" in {names}, so that the subquery reads it from outside: use a column of {names}, or '
                "write the name of the outer table before it if that is meant"
            )


def _is_inside(column: exp.Column, tables: Sequence[TableSchema]) -> bool:
    return any(table.column(column.name) for table in tables)


def _ties(column: exp.Column, tables: Sequence[TableSchema]) -> bool:
    """Whether it is compared with another column of the subquery's own, as what ties the subquery to its row is."""
    compared = column.parent if isinstance(column.parent, exp.Predicate) else None
    others = [other for other in compared.find_all(exp.Column) if other is not column] if compared is not None else []
    return any(not other.table and _is_inside(other, tables) for other in others) or any(
        other.table and other.name.lower() != column.name.lower() for other in others
    )
