"""What a person should know of the rows that a SELECT counts and of those that it leaves out, though it runs as it was written.

    region <> 'EMEA'                              accounts.region is missing in some rows, which this leaves out
    count(*) FROM orders, beside deleted_at       orders.deleted_at marks rows as deleted, and the SELECT does not look at it
    sum(amount) FROM entries, beside direction    adds up both directions

No model is asked again: the question alone tells which is meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from finexpert.warehouse.checks.joined import SMALL
from finexpert.warehouse.checks.probing import Probe, table_name
from finexpert.warehouse.checks.reading import Read, columns_of, text_of
from finexpert.warehouse.dates import words
from finexpert.warehouse.schema import TableSchema

_GONE = frozenset(("deleted", "voided", "archived", "reversed", "reversal"))
_DIRECTIONS = frozenset(("direction", "drcr", "crdr", "debit_credit", "dr_cr", "cr_dr", "debitcredit", "credit_debit"))
_AMOUNTS = frozenset(("amount", "amt", "value", "total", "sum"))


def remarks(one: Read, probe: Probe) -> list[str]:
    """Notes for the person; nothing is refused."""
    said = [*_missing(one, probe), *_gone(one, probe), *_both_directions(one)]
    return list(dict.fromkeys(said))


def _missing(one: Read, probe: Probe) -> Iterator[str]:
    """Conditions that a missing value does not meet, though it differs from what is left out."""
    tested = {node.this.name.lower() for node in (one.select or exp.Select()).find_all(exp.Is) if node.this is not None}
    for column, scope in columns_of(one):
        condition = _leaving_out(column)
        origin = one.origin(column, scope) if condition is not None else None
        if condition is None or origin is None or origin.column.name.lower() in tested:
            continue
        if not _is_small(origin.table):
            continue
        name = exp.column(origin.column.name, quoted=True)
        if probe.any_row(exp.select("1").from_(table_name(origin.table.name)).where(name.is_(exp.null()))) is True:
            yield f"{origin} is missing in some rows, which {text_of(one, condition)} leaves out"


def _leaving_out(column: exp.Column) -> exp.Expr | None:
    """The condition that leaves out some values of a column: <> or NOT IN."""
    node = column.parent
    if isinstance(node, exp.NEQ):
        return node if isinstance(node.expression, exp.Literal) else None
    if isinstance(node, exp.In) and node.this is column and node.expressions and isinstance(node.parent, exp.Not):
        return node.parent
    return None


def _gone(one: Read, probe: Probe) -> Iterator[str]:
    mentioned = _mentioned(one)
    for table in filter(_is_small, one.used):
        for column in table.columns:
            if not set(words(column.name)) & _GONE or column.name.lower() in mentioned:
                continue
            name = exp.column(column.name, quoted=True)
            marked = name if column.type.upper() == "BOOLEAN" else name.is_(exp.null()).not_()
            if probe.any_row(exp.select("1").from_(table_name(table.name)).where(marked)) is True:
                yield f"{table.name}.{column.name} marks some rows, and the SELECT does not look at it: they count like the others"


def _both_directions(one: Read) -> Iterator[str]:
    mentioned = _mentioned(one)
    for column, scope in columns_of(one):
        origin = one.origin(column, scope) if column.find_ancestor(exp.Sum) is not None else None
        if origin is None or not set(words(origin.column.name)) & _AMOUNTS:
            continue
        for other in origin.table.columns:
            if other.is_text and other.name.lower() in _DIRECTIONS - mentioned:
                yield f"{origin} is added up for every {origin.table.name}.{other.name}"


def _is_small(table: TableSchema) -> bool:
    """Whether a table may be looked through for a row that is likely not to be there."""
    return table.rows is not None and table.rows <= SMALL


def _mentioned(one: Read) -> set[str]:
    return {column.name.lower() for column in (one.select or exp.Select()).find_all(exp.Column)}
