"""Whether a join multiplies the rows that a sum or a count adds up.

    SELECT sum(a.balance) FROM accounts a JOIN trades t ON t.account_id = a.account_id
        -> each row of accounts is counted once for each row of trades: ...

Keys tell, and where there are none, the rows themselves do: a source multiplies the others if it holds several rows of one key.
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.flat import flat
from finexpert.warehouse.checks.reading.joined import Joined
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, text_of
from finexpert.warehouse.dates import words
from finexpert.warehouse.keys import singular
from finexpert.warehouse.profile import from_named

_ADDED = (exp.Sum, exp.Count, exp.CountIf)
_WEIGHED = (exp.Avg, exp.Median, exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance)
_FIRST = 200_000
_HOW_MANY = re.compile(r"\b(?:how many|(?:the )?number of|the most|the fewest)((?:\s+[a-z']+){1,4})")


def check_fan_out(one: Read, probe: Probe, question: str = "") -> list[str]:
    """Notes on averages that a join weighs; raises QueryError for a sum or a count over rows that a join multiplied.

    The `question` tells which rows a count(*) is meant to count.
    """
    notes: list[str] = []
    one = flat(one)
    for scope in one.scopes:
        if not isinstance(scope.expression, exp.Select):
            continue
        _check_distinct(one, scope, probe)
        if scope.expression.args.get("joins"):
            notes += _of_select(one, scope, probe, question)
        for name, inner in scope.sources.items():
            if isinstance(inner, Scope):
                _of_source(one, scope, name, inner, probe)
    return list(dict.fromkeys(notes))


def _check_distinct(one: Read, scope: Scope, probe: Probe) -> None:
    """Raises QueryError for a sum or an average that adds equal values of several rows once."""
    for node in scope.walk():
        if not isinstance(node, exp.Sum | exp.Avg) or not isinstance(node.this, exp.Distinct):
            continue
        for column in node.this.find_all(exp.Column):
            origin = one.origin(column, scope)
            if origin is None or (origin.column.name,) in origin.table.keys:
                continue
            name = exp.column(origin.column.name, quoted=True)
            rows = exp.select(name).from_(from_named(origin.table.name)).where(name.copy().is_(exp.null()).not_())
            found = exp.select("1").from_(rows.limit(_FIRST).subquery("first_rows")).group_by(name.copy())
            if probe.any_row(found.having("COUNT(*) > 1")) is True:
                raise QueryError(
                    f"{text_of(one, node)} counts equal values of several rows of {origin.table.name} once: use EXISTS, or a subquery with one row "
                    "a key, in place of the join"
                )


def things_counted(question: str) -> list[str]:
    """The words of a question that may name what it asks the number of, in their order.

    >>> things_counted("How many retail customers opened a ticket?"), things_counted("How many customers' orders are open?")
    (['retail', 'customer', 'opened', 'a'], ["customers'", 'order', 'are', 'open'])
    """
    return [singular(word) for match in _HOW_MANY.finditer(question.lower()) for word in match[1].split()]


def _of_source(one: Read, outer: Scope, name: str, inner: Scope, probe: Probe) -> None:
    """The same where the joined rows are added up by the SELECT around the one that joins them."""
    select = inner.expression
    if not isinstance(select, exp.Select):
        return
    plain = not any(select.args.get(part) for part in ("group", "distinct", "qualify", "limit"))
    if not plain or not select.args.get("joins") or any(one.find(exp.AggFunc, exp.Window) for one in select.selects):
        return
    made = {projected.alias_or_name: projected.unalias() for projected in select.selects}
    joined = Joined(one, inner, probe)
    for node in outer.walk():
        if (
            not isinstance(node, exp.Sum | exp.Count)
            or isinstance(node.this, exp.Distinct)
            or isinstance(node.parent, exp.Window)
        ):
            continue
        columns = [column for column in node.find_all(exp.Column) if column.table == name and column.name in made]
        counted = {table for column in columns for table in _sources_of(made[column.name], joined.names)}
        # A row that the outer SELECT filters may be the only one of its key.
        if (
            not counted
            or outer.expression.args.get("where") is not None
            or outer.expression.args.get("group") is not None
        ):
            continue
        if other := joined.multiplying(counted):
            raise QueryError(_reason(one, node, sorted(counted), other))


def _of_select(one: Read, scope: Scope, probe: Probe, question: str) -> list[str]:
    joined = Joined(one, scope, probe)
    notes = []
    things = things_counted(question)
    for node in scope.walk():
        if not isinstance(node, _ADDED + _WEIGHED) or node.find_ancestor(exp.Select) is not scope.expression:
            continue
        if isinstance(node.this, exp.Distinct):
            continue
        counted = _sources_of(node, joined.names)
        if isinstance(node.parent, exp.Window):
            _check_window(one, scope, probe, node, counted)
            continue
        if _counts_under_a_condition(node) and not _names(one, scope, counted, question):
            # It counts joined rows by what they are looked up to be, as deals by whether their stage is a won one.
            counted = set()
        if not counted and isinstance(node, exp.Count) and scope.expression is one.select:
            counted = joined.named(things)
        if isinstance(node, exp.Count) and isinstance(node.this, exp.Star) and (empty := joined.without_match()):
            raise QueryError(
                f"{text_of(one, node)} counts a row that has no match in {empty} as one: count a column of {empty}, which is NULL there"
            )
        other = joined.multiplying(counted)
        if other is None:
            continue
        if isinstance(node, _WEIGHED):
            if joined.only_selects(other, counted):
                raise QueryError(_reason_of_average(one, node, sorted(counted), other))
            notes.append(f"{text_of(one, node)} weighs each row of {', '.join(counted)} by its rows of {other}")
            continue
        raise QueryError(_reason(one, node, sorted(counted), other))
    return notes


def _counts_under_a_condition(node: exp.Expr) -> bool:
    """Whether a sum adds up numbers that a CASE writes itself, so that it counts rows.

    >>> from sqlglot import parse_one
    >>> [_counts_under_a_condition(parse_one(f"sum({summed})")) for summed in ("CASE WHEN a = 1 THEN 1 ELSE 0 END", "CASE WHEN a = 1 THEN b END")]
    [True, False]
    """
    case = node.this
    if isinstance(node, exp.CountIf) or not isinstance(case, exp.Case):
        return isinstance(node, exp.CountIf)
    given = [*(branch.args["true"] for branch in case.args["ifs"]), case.args.get("default")]
    return all(isinstance(each, exp.Literal | exp.Null | None) for each in given)


def _names(one: Read, scope: Scope, sources: set[str], question: str) -> bool:
    """Whether a question says a word of the tables of some sources."""
    said = {singular(word) for word in re.findall(r"[a-z]+", question.lower())}
    tables = [table for name in sources if (table := one.base_of(scope, name))]
    return not tables or any(said & {singular(word) for word in words(table.name)} for table in tables)


def _check_window(one: Read, scope: Scope, probe: Probe, node: exp.Expr, counted: set[str]) -> None:
    """Raises QueryError for a sum over a window of joined rows, which adds up what the join multiplied as any sum does."""
    window = node.parent
    if not isinstance(window, exp.Window) or not isinstance(node, exp.Sum) or not counted:
        return
    # Of a sum of sums, the inner one is looked at.
    if node.this.find(exp.AggFunc) is None and (other := Joined(one, scope, probe, window).multiplying(counted)):
        raise QueryError(_reason(one, node, sorted(counted), other))


def _reason(one: Read, node: exp.Expr, counted: list[str], other: str) -> str:
    said = text_of(one, node, keep_tables=True)
    if not counted:
        return (
            f"{said} counts combinations: {other} each hold several rows of what they are joined by; "
            "count in one of them, or aggregate each in a subquery of its own before joining"
        )
    return (
        f"{said} adds up each row of {', '.join(counted)} once for every row of {other} that is joined to it: aggregate {other} to one "
        f"row a key in a subquery before joining, use EXISTS or count(DISTINCT ...) where rows of {', '.join(counted)} are meant, "
        f"count a column of {other} where its rows are meant"
    )


def _reason_of_average(one: Read, node: exp.Expr, counted: list[str], other: str) -> str:
    names = ", ".join(counted)
    return (
        f"{text_of(one, node, keep_tables=True)} weighs each row of {names} by its rows of {other}: write EXISTS (SELECT 1 FROM {other} ...) in "
        f"place of the join to count it once; if it is to be weighed, select FROM {other} and join {names} to it"
    )


def _sources_of(node: exp.Expr, names: set[str]) -> set[str]:
    return {column.table for column in node.find_all(exp.Column)} & names
