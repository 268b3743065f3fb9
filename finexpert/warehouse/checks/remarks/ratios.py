"""What a person should know of averages and quotients, and of sums of what cannot be added up.

avg(coalesce(rating, 0))                                        missing ratings count as zeros
sum(n) FROM (SELECT count(DISTINCT customer_id) AS n ... GROUP BY month)    a customer of two months counts twice
sum(daily_return)                                               returns are compounded
SELECT avg(m) FROM (SELECT avg(x) AS m ... GROUP BY month)      each month counts alike, whatever its number of rows
avg(loss_ratio) beside claims_count                             each row counts alike
100 is nowhere, and the question asks for percent               0.05 is 5 %
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.warehouse.checks.reading.grouping import group_columns, group_keys, through
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, columns_of, own_where, rows_of, text_of
from finexpert.warehouse.dates import words
from finexpert.warehouse.profile import from_named
from finexpert.warehouse.schema import find_table

_split = str.split
_RATIOS = frozenset(_split("ratio rate pct percent percentage margin yield share utilization average avg mean median"))
_NUMBERS = frozenset(_split("count cnt num number qty quantity volume weight"))
_ADDED_UP = frozenset(_split("ret return growth yield rate ratio"))
# Logarithms of returns may be added up; a return on something may be an amount of money, or goods that came back.
_OF_MONEY = frozenset(_split("log ln amount amt value usd eur gbp chf qty quantity count cost fee number"))
_FRACTIONS = ("DOUBLE", "FLOAT", "REAL", "DEC", "NUMERIC")
_MEASURED = (exp.Avg, exp.Median, exp.Min, exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance, exp.Quantile)
_MOST = 1_000_000
_PERCENT = re.compile(r"\bper ?cent(?:age)?\b|%|\bpct\b", re.IGNORECASE)


def ratios(one: Read, probe: Probe) -> list[str]:
    """Notes for the person; nothing is refused."""
    found = [*_averages_of_averages(one), *_averages_of_ratios(one), *_averages_of_some(one, probe)]
    found += [*_zeros_for_missing(one, probe), *_sums_of_distinct(one, probe), *_sums_of_rates(one)]
    return list(dict.fromkeys(found))


def _averages_of_averages(one: Read) -> Iterator[str]:
    for scope in one.scopes:
        for node in scope.find_all(exp.Avg):
            column = node.this
            inner = _made_by(column, scope) if isinstance(column, exp.Column) else None
            if inner is not None and _is_mean(inner):
                yield f"{text_of(one, node)} is an average of {text_of(one, inner)}: each group counts alike, whatever its number of rows"


def _made_by(column: exp.Column, scope: Scope) -> exp.Expr | None:
    """What a SELECT that groups its rows gives for a column."""
    source = scope.sources.get(column.table)
    select = source.expression if isinstance(source, Scope) else None
    if not isinstance(select, exp.Select) or select.args.get("group") is None:
        return None
    return next((made.unalias() for made in select.selects if made.alias_or_name == column.name), None)


def _is_mean(made: exp.Expr) -> bool:
    """Whether a value of a group is an average, or a quotient of what was added up."""
    node = made.this if isinstance(made, exp.Round) else made
    if isinstance(node, exp.Window):
        return False
    return isinstance(node, exp.Avg) or any(
        isinstance(div.this.find(exp.AggFunc), exp.AggFunc)
        and isinstance(div.expression.find(exp.AggFunc), exp.AggFunc)
        for div in node.find_all(exp.Div)
    )


def _averages_of_some(one: Read, probe: Probe) -> Iterator[str]:
    """An average of a number a thing, where things without a row are none of the groups."""
    for scope in one.scopes:
        for node in scope.find_all(exp.Avg):
            column = node.this
            inner = scope.sources.get(column.table) if isinstance(column, exp.Column) else None
            if not isinstance(inner, Scope) or not isinstance(_made_by(column, scope), exp.Count):
                continue
            keys = group_columns(inner.expression)
            origin = one.origin(keys[0], inner) if len(keys) == 1 and not inner.expression.args.get("joins") else None
            if origin is not None and (other := _without_a_row(one, inner, origin, keys[0], probe)):
                yield f"{text_of(one, node)} is over each {origin.column.name} of {origin.table.name}: what {other} holds beside these is left out"


def _without_a_row(one: Read, scope: Scope, origin: Origin, key: exp.Column, probe: Probe) -> str:
    """The table that a key refers to, where it holds a row that none of some rows refers to; else nothing."""
    referred = next((each for each in origin.table.foreign_keys if each.columns == (origin.column.name,)), None)
    table = find_table(one.tables, referred.table) if referred is not None else None
    if (
        referred is None
        or table is None
        or any(each.rows is None or each.rows > _MOST for each in (table, origin.table))
    ):
        return ""
    rows = rows_of(one, scope, own_where(scope))
    rows.set("expressions", [key.copy().as_("k")])
    if rows.args.get("with_") is not None or scope.external_columns:
        return ""
    every = exp.select(exp.column(referred.referred[0], quoted=True).as_("k")).from_(from_named(table.name))
    left_out = exp.select("1").from_(exp.except_(every, rows).subquery("left_out"))
    return table.name if probe.any_row(left_out) is True else ""


def _averages_of_ratios(one: Read) -> Iterator[str]:
    """An average of quotients, or of ratios in a table that says beside each of how many things it is."""
    for average in (one.select or exp.Select()).find_all(exp.Avg):
        quotient = average.this.unnest()
        if isinstance(quotient, exp.Div) and quotient.this.find(exp.Column) and quotient.expression.find(exp.Column):
            yield f"{text_of(one, average)} counts each quotient alike: it is not the sum of the first divided by the sum of the second"
    for column, scope in columns_of(one):
        node = column.parent
        origin = one.origin(column, scope) if isinstance(node, exp.Avg) else None
        if node is None or origin is None or not set(words(origin.column.name)) & _RATIOS:
            continue
        weights = [
            other.name for other in origin.table.columns if set(words(other.name)) & _NUMBERS and not other.is_text
        ]
        if weights:
            yield f"{text_of(one, node)} counts each row of {origin.table.name} alike, whatever its {weights[0]}"


def _zeros_for_missing(one: Read, probe: Probe) -> Iterator[str]:
    """An average, or the like, over a column in which missing values were made zeros."""
    for scope in one.scopes:
        for node in scope.find_all(*_MEASURED):
            made, within = through(node.this, scope)
            column = _zero_where_missing(made)
            origin = one.origin(column, within) if column is not None else None
            if origin is None or origin.table.rows is None or origin.table.rows > _MOST:
                continue
            name = exp.column(origin.column.name, quoted=True)
            rows = exp.select("1").from_(from_named(origin.table.name)).where(name.is_(exp.null()))
            if probe.any_row(rows) is True:
                yield f"{text_of(one, node)} takes the rows in which {origin} is missing for zeros"


def _zero_where_missing(node: exp.Expr) -> exp.Column | None:
    """The column that an expression gives, or zero: coalesce(x, 0), CASE WHEN x IS NULL THEN 0 ELSE x END."""
    while isinstance(node, exp.Cast | exp.Paren | exp.Round):
        node = node.this
    if isinstance(node, exp.Coalesce):
        zero = len(node.expressions) == 1 and _is_zero(node.expressions[0])
        return node.this if zero and isinstance(node.this, exp.Column) else None
    branches = node.args.get("ifs", []) if isinstance(node, exp.Case) else [node] if isinstance(node, exp.If) else []
    for branch in branches:
        if (
            isinstance(branch.this, exp.Is)
            and isinstance(branch.this.expression, exp.Null)
            and _is_zero(branch.args.get("true"))
        ):
            return branch.this.this if isinstance(branch.this.this, exp.Column) else None
    return None


def _is_zero(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Literal) and _is_number(node.name) and float(node.name) == 0


def _sums_of_distinct(one: Read, probe: Probe) -> Iterator[str]:
    """A sum of numbers of different things, where a thing stands in several of the groups that are added up."""
    for scope in one.scopes:
        for node in scope.find_all(exp.Sum):
            column = node.this
            inner = scope.sources.get(column.table) if isinstance(column, exp.Column) else None
            made = _made_by(column, scope) if isinstance(inner, Scope) else None
            if (
                not isinstance(inner, Scope)
                or not isinstance(made, exp.Count)
                or not isinstance(made.this, exp.Distinct)
            ):
                continue
            what, select = made.this.expressions[0], inner.expression
            if inner.external_columns or any(table.rows is None or table.rows > _MOST for table in one.used):
                continue
            kept = {each.name for each in group_columns(scope.expression)}
            lost = [key for key in group_keys(select) if _name_in(select, key) not in kept]
            rows = rows_of(one, inner, own_where(inner))
            rows.set("expressions", [part.copy().as_(f"c{number}") for number, part in enumerate([what, *lost])])
            rows = rows.distinct()
            several = (
                exp.select("c0").from_(rows.subquery("r")).where("NOT c0 IS NULL").group_by("c0").having("COUNT(*) > 1")
            )
            if lost and probe.any_row(several) is True:
                yield f"{text_of(one, node)} adds up {text_of(one, made)}: what stands in several groups counts several times"


def _name_in(select: exp.Expr, key: exp.Expr) -> str:
    return (
        next((made.alias_or_name for made in select.selects if made.unalias() == key), "")
        if isinstance(select, exp.Select)
        else ""
    )


def _sums_of_rates(one: Read) -> Iterator[str]:
    """A sum over rows of what is a rate by its name; of a share or a weight the sum has a meaning."""
    for column, scope in columns_of(one):
        node = column.parent
        origin = one.origin(column, scope) if isinstance(node, exp.Sum) else None
        if node is None or origin is None or not any(kind in origin.column.type.upper() for kind in _FRACTIONS):
            continue
        said = set(words(origin.column.name))
        if said & _ADDED_UP and not said & _OF_MONEY:
            yield f"{text_of(one, node)} adds up {origin}, which is a rate by its name: returns and rates of growth of several periods are compounded"


def shares(one: Read, data: pd.DataFrame, question: str) -> list[str]:
    """A note on quotients of which nothing made percent, where the question asks for percent."""
    select = one.select
    if not isinstance(select, exp.Select) or not _PERCENT.search(question) or len(select.selects) != len(data.columns):
        return []
    numbers = {node.name for node in select.find_all(exp.Literal) if not node.is_string}
    if any(float(number) in (100, 0.01, 10_000) for number in numbers if _is_number(number)):
        return []
    found = [
        made.alias if isinstance(made, exp.Alias) and len(data.columns) > 1 else "the answer"
        for place, made in enumerate(select.selects)
        if (made.find(exp.Div) is not None or _is_part_of_all(one, select, made)) and _are_shares(data.iloc[:, place])
    ]
    return [f"{name} is a share of 1, and no percent: 1 stands for 100 %" for name in found]


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _is_part_of_all(one: Read, select: exp.Select, made: exp.Expr) -> bool:
    """Whether an average is over what is 1 or 0: a condition, or a CASE."""
    scope = next((scope for scope in one.scopes if scope.expression is select), None)
    if scope is None:
        return False
    for average in made.find_all(exp.Avg):
        over, _ = through(average.this, scope)
        if isinstance(over, exp.Case | exp.If) or over.find(exp.Predicate) is not None:
            return True
    return False


def _are_shares(column: pd.Series[Any]) -> bool:
    known = pd.to_numeric(column, errors="coerce").dropna().abs()
    return bool(len(known) and known.max() <= 1 and (known > 0).any())
