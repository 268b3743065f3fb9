"""What a person should know of averages and quotients.

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

from finexpert.warehouse.checks.reading.select import Read, columns_of, text_of
from finexpert.warehouse.dates import words

_split = str.split
_RATIOS = frozenset(_split("ratio rate pct percent percentage margin yield share utilization average avg mean median"))
_NUMBERS = frozenset(_split("count cnt num number qty quantity volume weight"))
_PERCENT = re.compile(r"\bper ?cent(?:age)?\b|%|\bpct\b", re.IGNORECASE)


def ratios(one: Read) -> list[str]:
    """Notes for the person; nothing is refused."""
    return list(dict.fromkeys([*_averages_of_averages(one), *_averages_of_ratios(one)]))


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


def _averages_of_ratios(one: Read) -> Iterator[str]:
    """An average of ratios in a table that says beside each of how many things it is."""
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
        if made.find(exp.Div) is not None and _are_shares(data.iloc[:, place])
    ]
    return [f"{name} is a share of 1, and no percent: 1 stands for 100 %" for name in found]


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _are_shares(column: pd.Series[Any]) -> bool:
    known = pd.to_numeric(column, errors="coerce").dropna().abs()
    return bool(len(known) and known.max() <= 1 and (known > 0).any())
