"""A share compared with a number of another scale, taken from 1 where it is percent, or multiplied as if it were a fraction.

discount_pct > 0.2              where the column holds 5, 10, 25: percent, of which every one is more than a fraction
amount * (1 - discount_pct)     -4 times the amount
amount * discount_pct           nothing is divided by 100
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, columns_of, text_of
from finexpert.warehouse.dates import words
from finexpert.warehouse.profile import from_named

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
_PERCENT = {"pct": 100, "percent": 100, "percentage": 100, "perc": 100, "bp": 10_000, "bps": 10_000}
# A rate of these is a share; an exchange rate and an hourly rate are none.
_RATES_OF = frozenset(("tax", "vat", "interest", "coupon", "commission", "fee", "discount", "growth"))
_RANGES = (exp.GT, exp.GTE, exp.LT, exp.LTE)
_FIRST = 200_000


def check_scales(one: Read, probe: Probe) -> list[str]:
    """Notes on percent that may be a fraction; raises QueryError for a fraction compared with percent, percent compared with
    fractions, taken from 1 or multiplied as such."""
    for column, scope in columns_of(one):
        node = column.parent
        if isinstance(node, exp.Add | exp.Sub) and column is node.expression and _number(node.this) == 1:
            origin = one.origin(column, scope)
            if origin is not None and _is_share(origin) and _all_are(origin, probe, percent=True):
                raise QueryError(
                    f"{text_of(one, node)} takes percent for a fraction: {origin} holds percent, divide it by 100"
                )
        if not isinstance(node, _RANGES) or node.this is not column or (number := _number(node.expression)) is None:
            continue
        origin = one.origin(column, scope)
        if origin is None or not _is_share(origin):
            continue
        if 0 < abs(number) < 1 and _all_are(origin, probe, percent=True):
            raise QueryError(
                f"{text_of(one, node)} compares with a fraction, and {origin} holds percent: compare with {number * 100:g}"
            )
        if abs(number) > 1 and _all_are(origin, probe, percent=False):
            raise QueryError(
                f"{text_of(one, node)} compares with percent, and {origin} holds fractions: compare with {number / 100:g}"
            )
    return [] if _is_scaled(one) else list(dict.fromkeys(_multiplied(one, probe)))


def _is_scaled(one: Read) -> bool:
    """Whether the SELECT divides by 100 somewhere, or by what may take the percent out again, as the sum of the weights does."""
    tree = one.select or exp.Select()
    divisors = (_number(node.expression.unnest()) for node in tree.find_all(exp.Div, exp.IntDiv))
    factors = (
        _number(side.unnest()) for node in tree.find_all(exp.Mul) for side in (node.this, node.expression) if side
    )
    return any(number is None or abs(number) >= 100 for number in divisors) or any(
        number is not None and 0 < abs(number) <= 0.01 for number in factors
    )


def _multiplied(one: Read, probe: Probe) -> Iterator[str]:
    for scope in one.scopes:
        for node in scope.walk():
            # What is sorted by is in the same order on every scale.
            if not isinstance(node, exp.Mul) or node.find_ancestor(exp.Ordered, exp.Select) is not scope.expression:
                continue
            for side, other in ((node.this, node.expression), (node.expression, node.this)):
                column = _factor(side)
                origin = one.origin(column, scope) if column is not None else None
                by = _percent_of(origin.column.name) if origin is not None else 0
                if origin is None or not by or not _has_amount(other):
                    continue
                if _is_above_one(origin, probe, exp.Avg):
                    raise QueryError(
                        f"{text_of(one, node)} multiplies by {origin}, which holds {'percent' if by == 100 else 'basis points'}: "
                        f"divide it by {by}"
                    )
                if _is_above_one(origin, probe, exp.Max):
                    yield f"{text_of(one, node)} takes {origin} for a fraction, and some of its values are more than 1"


def _factor(side: exp.Expr) -> exp.Column | None:
    """The column in a factor: itself, or one that 1 is taken from or added to."""
    node = side.unnest()
    if isinstance(node, exp.Add | exp.Sub):
        parts = [part.unnest() for part in (node.this, node.expression)]
        node = (
            next((part for part in parts if _number(part) != 1), node) if any(_number(p) == 1 for p in parts) else node
        )
    while isinstance(node, exp.Cast | exp.Coalesce | exp.Paren):
        node = node.this
    return node if isinstance(node, exp.Column) else None


def _percent_of(name: str) -> int:
    """What a column's values have to be divided by, as far as its name says that they are shares.

    >>> _percent_of("discount_pct"), _percent_of("commission_bp"), _percent_of("tax_rate"), _percent_of("fx_rate")
    (100, 10000, 100, 0)
    """
    said = set(words(name))
    by = max((number for word, number in _PERCENT.items() if word in said), default=0)
    return by or (100 if "rate" in said and said & _RATES_OF else 0)


def _has_amount(factor: exp.Expr) -> bool:
    return any(not _percent_of(column.name) for column in factor.find_all(exp.Column))


def _is_above_one(origin: Origin, probe: Probe, of: type[exp.Expr]) -> bool:
    """Whether the average or the greatest of the values of a first part of a column, but for zeros, is more than 1."""
    name = exp.column(origin.column.name, quoted=True)
    value = exp.cast(name, "double") if origin.column.is_text else name
    known = exp.select(value.as_("share")).from_(from_named(origin.table.name)).limit(_FIRST).subquery("first_rows")
    size = exp.Abs(this=exp.column("share"))
    made = exp.select(of(this=size).as_("size")).from_(known).where("share <> 0").subquery("sizes")
    return probe.any_row(exp.select("1").from_(made).where("size > 1")) is True


def _is_share(origin: Origin) -> bool:
    return not origin.column.is_text and bool(set(words(origin.column.name)) & _SHARES)


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
    known = exp.select(value).from_(from_named(origin.table.name)).where(value.copy().neq(exp.Literal.number(0)))
    first = exp.select("1").from_(known.limit(_FIRST).subquery("first_rows"))
    size = exp.Abs(this=value.copy())
    one = exp.Literal.number(1)
    against = exp.LT(this=size, expression=one) if percent else exp.GTE(this=size, expression=one)
    return probe.any_row(first) is True and probe.any_row(first.where(against)) is False
