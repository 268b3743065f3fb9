"""A share compared with a number of another scale.

discount_pct > 0.2      where the column holds 5, 10, 25: percent, of which every one is more than a fraction
"""

from __future__ import annotations

from sqlglot import exp

from finexpert.errors import QueryError
from finexpert.warehouse.checks.probing import Probe, table_name
from finexpert.warehouse.checks.reading import Origin, Read, columns_of, text_of
from finexpert.warehouse.dates import words

_SHARES = frozenset(
    (
        "pct",
        "percent",
        "percentage",
        "rate",
        "ratio",
        "share",
        "margin",
        "discount",
        "yield",
        "weight",
        "fraction",
        "utilization",
    )
)
_RANGES = (exp.GT, exp.GTE, exp.LT, exp.LTE)
_FIRST = 200_000


def check_scales(one: Read, probe: Probe) -> None:
    """Raises QueryError for a fraction compared with percent, and for percent compared with fractions."""
    for column, scope in columns_of(one):
        node = column.parent
        if not isinstance(node, _RANGES) or node.this is not column or (number := _number(node.expression)) is None:
            continue
        origin = one.origin(column, scope)
        if origin is None or origin.column.is_text or not set(words(origin.column.name)) & _SHARES:
            continue
        if 0 < abs(number) < 1 and _all_are(origin, probe, percent=True):
            raise QueryError(
                f"{text_of(one, node)} compares with a fraction, and {origin} holds percent: compare with {number * 100:g}"
            )
        if abs(number) > 1 and _all_are(origin, probe, percent=False):
            raise QueryError(
                f"{text_of(one, node)} compares with percent, and {origin} holds fractions: compare with {number / 100:g}"
            )


def _number(node: exp.Expr) -> float | None:
    sign = -1.0 if isinstance(node, exp.Neg) else 1.0
    literal = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(literal, exp.Literal) or literal.is_string:
        return None
    try:
        return sign * float(literal.name)
    except ValueError:
        return None


def _all_are(origin: Origin, probe: Probe, *, percent: bool) -> bool:
    """Whether the values of a first part of a column, but for zeros, are all percent of 1 and more, or all fractions of less than 1."""
    value = exp.column(origin.column.name, quoted=True)
    known = exp.select(value).from_(table_name(origin.table.name)).where(value.copy().neq(exp.Literal.number(0)))
    first = exp.select("1").from_(known.limit(_FIRST).subquery("first_rows"))
    size = exp.Abs(this=value.copy())
    one = exp.Literal.number(1)
    against = exp.LT(this=size, expression=one) if percent else exp.GTE(this=size, expression=one)
    return probe.any_row(first) is True and probe.any_row(first.where(against)) is False
