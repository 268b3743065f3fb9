"""Amounts that are converted by a rate which is not there for some rows.

sum(CASE currency WHEN 'USD' THEN 1 WHEN 'EUR' THEN 1.1 END * amount)            amounts in JPY are left out
sum(CASE WHEN currency = 'USD' THEN amount ELSE amount * f.rate END)             so are those of a day without a rate
sum(amount * CASE WHEN currency = 'EUR' THEN 1.1 ELSE 1 END)                     USD and JPY count alike
sum(CASE WHEN f.rate IS NULL THEN amount ELSE amount * f.rate END)               a missing rate counts as 1
sum(p.amount * f.rate) FROM payments p JOIN fx f ON ...                          payments without a rate are left out
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.warehouse.checks.reading.probing import Probe, is_small
from finexpert.warehouse.checks.reading.select import Read, own_where, rows_of, text_of
from finexpert.warehouse.dates import words

_RATES = frozenset(("rate", "fx", "fxrate", "exchange", "xrate", "conversion"))
_CURRENCIES = frozenset(("currency", "ccy", "curr", "cur"))
_SHOWN = 3


def rates(one: Read, probe: Probe) -> list[str]:
    """Notes for the person; nothing is refused."""
    return list(dict.fromkeys(_found(one, probe))) if all(map(is_small, one.used)) else []


def _found(one: Read, probe: Probe) -> Iterator[str]:
    for scope in one.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or not select.args.get("from_") or scope.external_columns:
            continue
        for node in scope.find_all(exp.Sum):
            if node.find_ancestor(exp.Select, exp.Filter, exp.Window) is not select:
                continue
            if _converts(node.this) and _any(one, scope, probe, _without_value(node.this)):
                yield f"{text_of(one, node)} leaves out rows for which it gives nothing: none of its branches or rates is theirs"
            yield from _taken_as_they_are(one, node, scope, probe)
            yield from _taken_alike(one, node, scope, probe)
            yield from _joined_out(one, node, scope, probe)


def _any(one: Read, scope: Scope, probe: Probe, condition: exp.Expr) -> bool:
    return probe.any_row(rows_of(one, scope, own_where(scope, condition))) is True


def _converts(node: exp.Expr) -> bool:
    """Whether a value is made by a factor that each row has: of several branches, or looked up. One branch alone is a condition."""
    if node.find(exp.Coalesce) is not None:
        return False
    products = list(node.find_all(exp.Mul))
    looked_up = any(product.find(exp.Query) for product in products)
    cases = [case for case in node.find_all(exp.Case) if case.find_ancestor(exp.Mul) or case.find(exp.Mul)]
    return looked_up or any(len(case.args["ifs"]) > 1 or case.args.get("default") for case in cases)


def _without_value(node: exp.Expr) -> exp.Expr:
    """The condition for a row that gives nothing, though its own amount is there."""
    conditions = {id(each) for branch in node.find_all(exp.If) for each in branch.this.walk()}
    amounts = [
        factor
        for product in node.find_all(exp.Mul)
        for side in (product.this, product.expression)
        if isinstance(factor := side.unnest(), exp.Column) and id(factor) not in conditions and not _is_rate(factor)
    ]
    there = [amount.copy().is_(exp.null()).not_() for amount in amounts[:1]]
    return exp.and_(exp.paren(node.copy()).is_(exp.null()), *there)


def _is_rate(column: exp.Column) -> bool:
    return bool(set(words(column.name)) & _RATES)


def _taken_as_they_are(one: Read, node: exp.Sum, scope: Scope, probe: Probe) -> Iterator[str]:
    """A branch for a missing rate that gives the amount itself."""
    for branch in node.find_all(exp.If):
        tested = branch.this.this if isinstance(branch.this, exp.Is) else None
        if not isinstance(tested, exp.Column) or not isinstance(branch.this.expression, exp.Null):
            continue
        amount = branch.args["true"].unnest()
        products = [product for product in node.find_all(exp.Mul) if tested in product.find_all(exp.Column)]
        if any(amount in product.find_all(exp.Column) for product in products) and _any(one, scope, probe, branch.this):
            yield f"{text_of(one, node)} multiplies by 1 where {text_of(one, tested)} is missing"


def _taken_alike(one: Read, node: exp.Sum, scope: Scope, probe: Probe) -> Iterator[str]:
    """An ELSE that several currencies meet."""
    for case in node.find_all(exp.Case):
        column = _decides(case)
        other = case.args.get("default")
        # ELSE 0 leaves the others out: a condition.
        if (
            column is None
            or other is None
            or isinstance(other, exp.Null)
            or other.name in ("0", "0.0")
            or not set(words(column.name)) & _CURRENCIES
        ):
            continue
        # What an ELSE looks up is a rate of its own for each.
        if other.find(exp.Query) is not None or any(each.table != column.table for each in other.find_all(exp.Column)):
            continue
        named = [
            literal for branch in case.args["ifs"] for literal in branch.this.find_all(exp.Literal) if literal.is_string
        ]
        rest = exp.and_(
            exp.not_(exp.In(this=column.copy(), expressions=[each.copy() for each in named])),
            column.copy().is_(exp.null()).not_(),
        )
        rows = rows_of(one, scope, own_where(scope, rest))
        rows.set("expressions", [column.copy().as_("c")])
        found = sorted(map(str, probe.first(rows.distinct(), _SHOWN + 1)))
        if named and len(found) > 1:
            shown = ", ".join(found[:_SHOWN]) + (", ..." if len(found) > _SHOWN else "")
            yield f"{text_of(one, node)} takes several values of {text_of(one, column)} alike by its ELSE: {shown}"


def _decides(case: exp.Case) -> exp.Column | None:
    """The one column that the branches of a CASE look at by equality."""
    tested = case.this
    if isinstance(tested, exp.Column):
        return tested if all(isinstance(branch.this, exp.Literal) for branch in case.args["ifs"]) else None
    columns = [
        branch.this.this
        if isinstance(branch.this, exp.EQ | exp.In) and isinstance(branch.this.this, exp.Column)
        else None
        for branch in case.args["ifs"]
    ]
    return columns[0] if columns and all(column == columns[0] for column in columns) else None


def _joined_out(one: Read, node: exp.Sum, scope: Scope, probe: Probe) -> Iterator[str]:
    """Amounts that find no rate in a plain join."""
    select = scope.expression
    joins = select.args.get("joins") or []
    for place, join in enumerate(joins):
        name = join.this.alias_or_name
        factors = [
            (side, other)
            for product in node.find_all(exp.Mul, exp.Div)
            for side, other in (
                (product.this.unnest(), product.expression.unnest()),
                (product.expression.unnest(), product.this.unnest()),
            )
            if isinstance(side, exp.Column)
            and side.table == name
            and _is_rate(side)
            and isinstance(other, exp.Column)
            and other.table != name
        ]
        on = join.args.get("on")
        if not factors or on is None or join.side or join.kind not in ("", "INNER") or place != len(joins) - 1:
            continue
        table = one.base_of(scope, name)
        where = own_where(scope)
        if table is None or (where is not None and any(column.table == name for column in where.find_all(exp.Column))):
            continue
        match = exp.select("1").from_(join.this.copy()).where(on.copy())
        lost = exp.and_(
            exp.not_(exp.Exists(this=match)),
            factors[0][1].copy().is_(exp.null()).not_(),
            *([where.copy()] if where is not None else []),
        )
        if probe.any_row(rows_of(one, scope, lost, place)) is True:
            yield f"{text_of(one, node)} leaves out rows for which {table.name} has no {factors[0][0].name}"
