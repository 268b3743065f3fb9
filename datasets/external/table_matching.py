"""Whether the table of an answer is the table of a gold SELECT: by the rule of sql-eval, and by a stricter one of ours.

    gold                      answer                          sql-eval        ours
    name, n                   n, customer name, country       right           wrong: a column too many
    ('a', 1), ('a', 1)        ('a', 1)                        right           wrong: a row is missing
    2024-01-01 00:00          2024-01-01                      wrong: types    right

sql-eval (Defog) takes an answer as right if its table is the gold's, or if columns of it are: names do not count, rows that stand
twice count once, and the order of rows counts in no case but where the question speaks of order. Ours wants all rows and no other
columns, in any order, and takes a midnight for its day.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from decimal import Decimal
from itertools import combinations
from typing import Any

import pandas as pd
from pandas.testing import assert_frame_equal, assert_series_equal

_ORDERED = re.compile(r"\b(order|sort|arrange)\b", re.IGNORECASE)
# More ways than these to lay columns upon columns are not tried.
_WAYS = 720
_DIGITS = 9


def alternatives(gold: str) -> list[str]:
    """The SELECTs that a gold stands for: several by `;`, and one for each choice of columns in `{a, b}`.

    >>> alternatives("SELECT {id, name}, n FROM t GROUP BY {}, n;SELECT 1")
    ['SELECT id, n FROM t GROUP BY id, n', 'SELECT name, n FROM t GROUP BY name, n', 'SELECT id, name, n FROM t GROUP BY id, name, n', 'SELECT 1']
    """
    found: list[str] = []
    for select in filter(None, (part.strip() for part in gold.split(";"))):
        before, brace, rest = select.partition("{")
        inside, _, after = rest.partition("}")
        if not brace:
            found.append(select)
            continue
        columns = [column.strip() for column in inside.split(",")]
        for size in range(1, len(columns) + 1):
            for chosen in combinations(columns, size):
                words = ", ".join(chosen)
                found.append(f"{before}{words}{after.replace('GROUP BY {}', f'GROUP BY {words}')}")
    return found


def right_by_sql_eval(gold: pd.DataFrame, answer: pd.DataFrame, question: str) -> bool:
    """The rule of sql-eval: the same table, or a gold that columns of the answer are.

    >>> gold = pd.DataFrame({"name": ["b", "a"], "n": [1, 2]})
    >>> right_by_sql_eval(gold, pd.DataFrame({"who": ["a", "b"], "country": ["x", "y"], "count": [2, 1]}), "How many?")
    True
    >>> right_by_sql_eval(gold, pd.DataFrame({"who": ["a", "b"], "count": [1, 2]}), "How many?")
    False
    """
    try:
        return _same(gold, answer, question) or _columns_of(gold, answer, question)
    except TypeError:  # values of several types in one column cannot be sorted
        return False


def _same(gold: pd.DataFrame, answer: pd.DataFrame, question: str) -> bool:
    if gold.shape == answer.shape and _equal(gold, answer):
        return True
    gold, answer = _in_order(gold, question), _in_order(answer, question)
    return gold.shape == answer.shape and _equal(gold, answer)


def _equal(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    return bool((one.to_numpy() == other.to_numpy()).all())


def _in_order(data: pd.DataFrame, question: str) -> pd.DataFrame:
    """Columns by name, rows once and sorted; where the question speaks of order, by what is sorted already first."""
    data = data.drop_duplicates()
    data = data[sorted(data.columns)]
    if not _ORDERED.search(question):
        return data.sort_values(by=list(data.columns)).reset_index(drop=True)
    sorted_already = [name for name in data.columns if data[name].equals(data[name].sort_values())]
    rest = [name for name in data.columns if name not in sorted_already]
    if sorted_already:
        data = data.sort_values(by=[*sorted_already, *rest])
    return data.reset_index(drop=True)


def _columns_of(gold: pd.DataFrame, answer: pd.DataFrame, question: str) -> bool:
    """Whether each column of the gold is one of the answer, and these together have the gold's rows."""
    if gold.empty:
        return False
    matched: list[str] = []
    for name in gold.columns:
        wanted = gold[name].sort_values().reset_index(drop=True)
        for candidate in answer.columns:
            if candidate not in matched and _same_values(wanted, answer[candidate]):
                matched.append(candidate)
                break
        else:
            return False
    taken = answer[matched].set_axis(list(gold.columns), axis=1)
    try:
        assert_frame_equal(_in_order(gold, question), _in_order(taken, question), check_dtype=False)
    except AssertionError:
        return False
    return True


def _same_values(wanted: pd.Series[Any], column: pd.Series[Any]) -> bool:
    try:
        assert_series_equal(wanted, column.sort_values().reset_index(drop=True), check_dtype=False, check_names=False)
    except AssertionError:
        return False
    return True


def same_table(gold: pd.DataFrame, answer: pd.DataFrame) -> bool:
    """Our rule: the same rows, as often, and no other columns; columns and rows in any order, whatever their names.

    >>> gold = pd.DataFrame({"day": [pd.Timestamp("2024-01-01")], "n": [Decimal("2.50")]})
    >>> same_table(gold, pd.DataFrame({"count": [2.5], "on": [dt.date(2024, 1, 1)]}))
    True
    >>> same_table(gold, pd.DataFrame({"count": [2.5, 2.5], "on": [dt.date(2024, 1, 1)] * 2}))
    False
    """
    if gold.shape != answer.shape:
        return False
    mine = [[_cell(value) for value in answer.iloc[:, place]] for place in range(answer.shape[1])]
    theirs = [[_cell(value) for value in gold.iloc[:, place]] for place in range(gold.shape[1])]
    rows = Counter(zip(*theirs, strict=True))
    return any(Counter(zip(*(mine[place] for place in way), strict=True)) == rows for way in _ways(theirs, mine))


def _ways(theirs: Sequence[list[Hashable]], mine: Sequence[list[Hashable]]) -> Iterator[tuple[int, ...]]:
    """Ways to lay columns upon columns that hold the same values."""
    held = [Counter(column) for column in mine]
    fitting = [[place for place, values in enumerate(held) if values == Counter(column)] for column in theirs]

    def laid(taken: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(taken) == len(fitting):
            yield taken
            return
        for place in fitting[len(taken)]:
            if place not in taken:
                yield from laid((*taken, place))

    for _, way in zip(range(_WAYS), laid(()), strict=False):
        yield way


def _cell(value: Any) -> Hashable:
    """A value as it is compared: numbers in nine digits, a midnight as its day, whatever is missing as None."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float | Decimal):
        return float(f"{float(value):.{_DIGITS}g}")
    if isinstance(value, dt.datetime):
        return value.date() if value.time() == dt.time() else value.replace(tzinfo=None)
    return value if isinstance(value, Hashable) else str(value)
