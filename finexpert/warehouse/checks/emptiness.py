"""Why a SELECT gave nothing: which of its conditions no row meets.

    SELECT count(*) FROM trades WHERE status = 'DONE' AND executed_at >= DATE '2031-01-01'
        -> executed_at >= DATE '2031-01-01' matches no row of trades

Each condition is tried alone, then all together, within the budget of the probe. Nothing at all is an answer only where every
condition matches rows on its own.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import NoRows
from finexpert.warehouse.checks.reading.comparisons import says_not
from finexpert.warehouse.checks.reading.period import Ends, ends_of
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, rows_of, text_of
from finexpert.warehouse.dates import kind_of_type
from finexpert.warehouse.horizon import known_by
from finexpert.warehouse.profile import from_named

_BOUNDS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)


def explain_nothing(one: Read, probe: Probe) -> list[str]:
    """Notes for the person where nothing is a true answer; raises NoRows for a condition that no row meets."""
    notes: list[str] = []
    for scope in one.scopes:
        if _can_be_tried(scope):
            notes += _of_select(one, scope, probe) or _of_aggregates(one, scope, probe)
    if one.select is None:
        notes.append("the SELECT gave no row, and its conditions could not be tried one by one")
    return list(dict.fromkeys(notes))


def _can_be_tried(scope: Scope) -> bool:
    """Whether its rows can be looked at apart from the rest of the statement."""
    select = scope.expression
    return isinstance(select, exp.Select) and bool(select.args.get("from_")) and not scope.external_columns


def _of_select(one: Read, scope: Scope, probe: Probe) -> list[str]:
    select = scope.expression
    if probe.any_row(rows_of(one, scope, None)) is False:
        if problem := _empty_join(one, scope, probe):
            raise NoRows(problem)
        # What it reads from was made empty by conditions that were tried where they stand.
        return []
    where = select.args.get("where")
    if where is None:
        return []
    conditions = list(_conditions(where.this))
    unsure = False
    for condition in conditions:
        found = probe.any_row(rows_of(one, scope, condition))
        if found is False and _leaves_out(condition, scope):
            return [f"no row is without a match: {text_of(one, condition)} leaves none"]
        if found is False and _compares_data(condition):
            return [_nothing_found(one, condition)]
        if found is False:
            raise _no_rows(one, scope, condition, probe)
        unsure = unsure or found is None
    together = probe.any_row(rows_of(one, scope, where.this))
    if together is None or unsure:
        return ["there was no time to try each condition of the SELECT alone"]
    if not together:
        shown = "; ".join(text_of(one, condition) for condition in conditions)
        return [f"no row meets all of these conditions, though each matches rows: {shown}"]
    return []


def check_counted(one: Read, probe: Probe, *, zeros: bool) -> list[str]:
    """Notes on parts of a SELECT that found nothing beside others that found something; raises NoRows for a condition that no row meets.

    Without `zeros` in the result, those are looked at whose zero or NULL the rest of the SELECT may hide.
    """
    notes: list[str] = []
    for scope in filter(_can_be_tried, one.scopes):
        if not zeros and not _is_hidden(one, scope):
            continue
        where = scope.expression.args.get("where")
        if where is not None and probe.any_row(rows_of(one, scope, where.this)) is False:
            notes += _of_select(one, scope, probe)
        _check_joined(one, scope, probe)
        _of_aggregates(one, scope, probe)
    return list(dict.fromkeys(notes))


def _is_hidden(one: Read, scope: Scope) -> bool:
    """Whether a SELECT gives one row whatever it finds, of which something else is made: 1 - count(*) / n, CASE WHEN count(*) > 0 ..."""
    select = scope.expression
    if not isinstance(select, exp.Select):
        return False
    made = [projected.unalias() for projected in select.selects]
    aggregates = any(part.find(exp.AggFunc) is not None and part.find(exp.Window) is None for part in made)
    plain = all(isinstance(part, exp.AggFunc | exp.Column | exp.Literal) for part in made)
    return aggregates and select.args.get("group") is None and (select is not one.select or not plain)


def _check_joined(one: Read, scope: Scope, probe: Probe) -> None:
    """Raises NoRows for a condition in the ON of a LEFT JOIN that no row of what is joined meets: what is counted of it is zero."""
    for join in scope.expression.args.get("joins") or []:
        on, name = join.args.get("on"), join.this.alias_or_name
        for condition in _conditions(on) if on is not None and join.side == "LEFT" else ():
            own = {column.table for column in condition.find_all(exp.Column)} == {name} and not condition.find(
                exp.Query
            )
            if own and probe.any_row(rows_of(one, scope, condition, 0, join.this)) is False:
                raise _no_rows(one, scope, condition, probe, name)


def _of_aggregates(one: Read, scope: Scope, probe: Probe) -> list[str]:
    """The same for the conditions of FILTER and CASE in aggregates."""
    where = scope.expression.args.get("where")
    for node in scope.walk():
        for condition in _counted(node, scope):
            rows = rows_of(one, scope, condition)
            if probe.any_row(rows) is False:
                if _compares_data(condition):
                    return [_nothing_found(one, condition)]
                raise _no_rows(one, scope, condition, probe)
            if where is not None and probe.any_row(rows.where(where.this.copy())) is False:
                return [f"{text_of(one, condition)} matches rows, and none of those that the other conditions leave"]
    return []


def _counted(node: exp.Expr, scope: Scope) -> Iterator[exp.Expr]:
    """The conditions of a row to be counted, each alone."""
    if node.find_ancestor(exp.Select) is not scope.expression:
        return
    if isinstance(node, exp.Filter):
        yield from _conditions(node.expression.this)
    if isinstance(node, exp.Sum | exp.Count | exp.Avg) and isinstance(node.this, exp.Case) and node.this.this is None:
        for branch in node.this.args["ifs"]:
            yield from _conditions(branch.this)
    if isinstance(node, exp.CountIf):
        yield from _conditions(node.this)


def _conditions(where: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that all have to hold; those on one column and nothing else are one, as the two ends of a period."""
    grouped: dict[str, list[exp.Expr]] = {}
    for condition in where.flatten() if isinstance(where, exp.And) else [where]:
        columns = {column.sql() for column in condition.find_all(exp.Column)}
        alone = len(columns) == 1 and not condition.find(exp.Query)
        grouped.setdefault(columns.pop() if alone else f"{len(grouped)}", []).append(condition.unnest())
    for group in grouped.values():
        yield exp.and_(*group, copy=True) if len(group) > 1 else group[0]


def _compares_data(condition: exp.Expr) -> bool:
    """Whether it only says which of two things of the data is larger: no value is written that could be a wrong one.

    An outlier lies beyond bounds that the column itself gives; that there is none, is an answer.
    """
    if isinstance(condition, exp.Paren | exp.Not):
        return _compares_data(condition.this)
    if isinstance(condition, exp.And | exp.Or):
        return _compares_data(condition.left) and _compares_data(condition.right)
    if not isinstance(condition, exp.LT | exp.LTE | exp.GT | exp.GTE):
        return False
    return all(side.find(exp.Column) for side in (condition.left, condition.right))


def _nothing_found(one: Read, condition: exp.Expr) -> str:
    return f"no row meets {text_of(one, condition)}"


def _leaves_out(condition: exp.Expr, scope: Scope) -> bool:
    """Whether a condition keeps what has no match elsewhere: NOT EXISTS, NOT IN, or a LEFT JOIN whose other side is NULL."""
    if isinstance(condition, exp.Not):
        inner = condition.this.unnest()
        return isinstance(inner, exp.Exists) or (isinstance(inner, exp.In) and inner.args.get("query") is not None)
    if (
        isinstance(condition, exp.Is)
        and not says_not(condition)
        and isinstance(condition.expression, exp.Null)
        and isinstance(condition.this, exp.Column)
    ):
        outer = {
            join.this.alias_or_name
            for join in scope.expression.args.get("joins") or []
            if join.side in ("LEFT", "FULL")
        }
        return condition.this.table in outer
    return False


def _empty_join(one: Read, scope: Scope, probe: Probe) -> str | None:
    """What is wrong where tables have no row, or none together; None where a source is empty that is no table."""
    joins = scope.expression.args.get("joins") or []
    for count in range(len(joins) + 1):
        if probe.any_row(rows_of(one, scope, None, count)) is not False:
            continue
        added = joins[count - 1].this if count else scope.expression.args["from_"].this
        table = one.base_of(scope, added.alias_or_name)
        if table is None and probe.any_row(rows_of(one, scope, None, 0, added)) is False:
            return None
        if count == 0 or (table is not None and probe.any_row(rows_of(one, scope, None, 0, added)) is False):
            return f"{table.name if table else added.alias_or_name} has no rows"
        condition = joins[count - 1].args.get("on")
        shown = f" on {text_of(one, condition, keep_tables=True)}" if condition is not None else ""
        return f"the join with {added.alias_or_name}{shown} matches no row"
    return None


def _no_rows(one: Read, scope: Scope, condition: exp.Expr, probe: Probe, name: str | None = None) -> NoRows:
    """What to say of a condition that no row meets: of the tables of a SELECT, or of one of them."""
    tables = ", ".join(source.name for source in _tables(scope) if name in (None, source.alias_or_name))
    problem = f"{text_of(one, condition)} matches no row{f' of {tables}' if tables else ''}"
    columns = {column.sql(): column for column in condition.find_all(exp.Column)}
    asked = _time_asked(one, scope, condition)
    if len(columns) != 1 or condition.find(exp.Query) or not (asked or condition.find(*_BOUNDS)):
        return NoRows(problem)
    (column,) = columns.values()
    rows = rows_of(one, scope, None)
    found = [probe.first(rows.select(end(this=column.copy()), append=False), 1) for end in (exp.Min, exp.Max)]
    first, last = ((_shown(values[0]) if values else "") for values in found)
    if not first or not last:
        return NoRows(problem)
    beyond = asked is not None and _is_outside(asked, first, last) and not _elsewhere(one, scope, column, asked, probe)
    return NoRows(problem, span=f"{column.name} runs from {first} to {last}", beyond=beyond)


def _time_asked(one: Read, scope: Scope, condition: exp.Expr) -> Ends | None:
    """The first and the last day that conditions on one column let through, where they do nothing else."""
    parts = condition.flatten() if isinstance(condition, exp.And) else [condition]
    ends = [list(ends_of(one, part.unnest(), scope)) for part in parts]
    if not all(len(pairs) == 1 and any(pairs[0]) for pairs in ends):
        return None
    firsts, lasts = ([pairs[0][place] for pairs in ends] for place in (0, 1))
    return max(filter(None, firsts), default=None), min(filter(None, lasts), default=None)


def _is_outside(asked: Ends, first: str, last: str) -> bool:
    """Whether a time has no day between two values of a column.

    >>> _is_outside((dt.date(2031, 1, 1), None), "2019-01-01", "2024-06-22 10:00:00"), _is_outside((None, None), "1", "9")
    (True, False)
    """
    try:
        begins, ends = (dt.date.fromisoformat(value[:10]) for value in (first, last))
    except ValueError:
        return False
    return bool((asked[0] and asked[0] > ends) or (asked[1] and asked[1] < begins))


def _elsewhere(one: Read, scope: Scope, column: exp.Column, asked: Ends, probe: Probe) -> bool:
    """Whether another date of the same table may lie in a time: then the wrong one may have been compared."""
    origin = one.origin(column, scope)
    if origin is None:
        return True
    for other in origin.table.columns:
        kind = other.dates or kind_of_type(other.type)
        if not kind or other.name == origin.column.name:
            continue
        name = exp.column(other.name, quoted=True)
        there = exp.select("1").from_(from_named(origin.table.name)).where(name.is_(exp.null()).not_())
        there = there.where(known_by(name.copy(), kind, asked[1])) if asked[1] else there
        if asked[0] and asked[0] > dt.date.min:
            there = there.where(exp.not_(known_by(name.copy(), kind, asked[0] - dt.timedelta(days=1))))
        if probe.any_row(there) is not False:
            return True
    return False


def _shown(value: object) -> str:
    """A number or a day as a person writes it; nothing for what is neither.

    >>> import pandas as pd
    >>> _shown(pd.Timestamp("2024-06-07")), _shown(12.5), _shown("done"), _shown(pd.NaT)
    ('2024-06-07', '12.5', '', '')
    """
    written = str(value).removesuffix(" 00:00:00")
    is_one = isinstance(value, dt.date | int | float | Decimal) and not isinstance(value, bool)
    return written if is_one and written not in ("nan", "NaT", "NaN") else ""


def _tables(scope: Scope) -> list[exp.Table]:
    return [source for source in scope.sources.values() if isinstance(source, exp.Table)]
