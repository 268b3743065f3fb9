"""Values that are rounded before they are added up or averaged.

sum(round(amount)), sum(amount::INTEGER)     each row loses or gains up to a half, and the total with it
sum(units // 2)                              what is left over in each row is lost
sum(r) FROM (SELECT round(fee, 1) AS r ...)  the same

Told only where a row is changed by it: amounts that are kept in cents may be rounded to cents. Who rounds each line of a bill means it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.warehouse.checks.reading.grouping import through
from finexpert.warehouse.checks.reading.probing import Probe, is_small
from finexpert.warehouse.checks.reading.select import Read, own_where, rows_of, text_of

_NOISE = "0.000001"
_WHOLE = exp.DataType.INTEGER_TYPES


def rounding(one: Read, probe: Probe) -> list[str]:
    """Notes for the person; nothing is refused."""
    return list(dict.fromkeys(_rounded_before(one, probe))) if all(map(is_small, one.used)) else []


def _rounded_before(one: Read, probe: Probe) -> Iterator[str]:
    for scope in one.scopes:
        for node in scope.find_all(exp.Sum, exp.Avg):
            made, within = through(node.this, scope)
            select = within.expression
            if not isinstance(select, exp.Select) or within.external_columns or not select.args.get("from_"):
                continue
            for rounded in made.find_all(exp.Round, exp.IntDiv, exp.Cast):
                lost = _lost(one, rounded, within)
                if lost is not None and probe.any_row(rows_of(one, within, own_where(within, lost))) is True:
                    yield f"{text_of(one, node)} takes what {text_of(one, rounded)} rounds in each row: rounded in the end alone it may be another number"
                    break


def _lost(one: Read, node: exp.Expr, scope: Scope) -> exp.Expr | None:
    """The condition for a row that loses something by being rounded; None where that cannot be told of rows."""
    columns = list(node.find_all(exp.Column))
    if not columns or node.find(exp.AggFunc, exp.Window, exp.Query, exp.Predicate) is not None:
        return None
    if any((origin := one.origin(column, scope)) is None or origin.column.is_text for column in columns):
        return None
    if isinstance(node, exp.IntDiv):
        return exp.Mod(this=exp.paren(node.this.copy()), expression=exp.paren(node.expression.copy())).neq(0)
    if isinstance(node, exp.Cast) and not node.to.is_type(*_WHOLE):
        return None
    less = exp.Sub(this=exp.cast(node.copy(), "double"), expression=exp.cast(exp.paren(node.this.copy()), "double"))
    return exp.Abs(this=less) > exp.Literal.number(_NOISE)
