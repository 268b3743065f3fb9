"""What a SELECT gave, looked at before anything is computed from it.

no row, nothing but NULL, or one zero   ->  which condition did that?
a column of zeros beside others         ->  the same, of the part that gave it
more rows than a frame may hold         ->  never an answer
infinity                                ->  a division by zero
a number of more digits than are kept   ->  said
groups that are written alike           ->  said, with two of them: in-app and In-App may be one
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sqlglot import exp

from finexpert.errors import CutFrame, QueryError
from finexpert.warehouse.checks.emptiness import check_counted, explain_nothing
from finexpert.warehouse.checks.reading.alike import is_nearly
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read
from finexpert.warehouse.frames import Frame

_SHORTEST_SLIP = 8
_MOST_COMPARED = 200
# Above it a number of double precision skips whole numbers.
_ALL_DIGITS = 2**53


def check_result(frame: Frame, one: Read, probe: Probe) -> list[str]:
    """Notes for the person; raises QueryError where the rows are no ground for an answer."""
    data = frame.data
    if frame.truncated:
        raise CutFrame(
            f"it gives more than {len(data):,} rows, and a frame holds no more: filter, join and aggregate in the SELECT, "
            "so that it gives the answer or the few rows that it is computed from"
        )
    for name in data.columns:
        if data[name].dtype.kind == "f" and bool(np.isinf(data[name].to_numpy()).any()):
            raise QueryError(f'column "{name}" holds infinity, which a division by zero gives: write NULLIF(..., 0)')
    if is_nothing(data):
        return explain_nothing(one, probe)
    zeros = any(_is_of_zeros(data[name]) for name in data.columns)
    return [*check_counted(one, probe, zeros=zeros), *missing_values(data), *_told_apart(one, data), *_rounded(data)]


def _rounded(data: pd.DataFrame) -> list[str]:
    """A note on numbers of so many digits that not all of them are kept.

    >>> _rounded(pd.DataFrame({"n": [1.5, 12345678901234567890.0]}))
    ['numbers of n are larger than 9,007,199,254,740,992: their last digits are rounded']
    """
    large = [
        name for name in data.columns if data[name].dtype.kind == "f" and bool((data[name].abs() > _ALL_DIGITS).any())
    ]
    return [f"numbers of {name} are larger than {_ALL_DIGITS:,}: their last digits are rounded" for name in large]


def _told_apart(one: Read, data: pd.DataFrame) -> list[str]:
    """A note where groups differ in case or blanks alone: the person knows whether these are one."""
    select = one.select
    if not isinstance(select, exp.Select) or len(select.selects) != len(data.columns):
        return []
    if select.args.get("group") is None and select.args.get("distinct") is None:
        return []
    made = ((data.iloc[:, place], projected) for place, projected in enumerate(select.selects))
    # The least of the texts of a group is its name.
    keys = [given for given, projected in made if not projected.find(exp.AggFunc, exp.Window) or _is_of_texts(given)]
    return alike(pd.concat(keys, axis=1)) if keys else []


def _is_of_texts(given: pd.Series[Any]) -> bool:
    return any(isinstance(value, str) for value in given)


def alike(keys: pd.DataFrame) -> list[str]:
    """Two rows of keys that are written alike, for a person; what tells them apart otherwise, as a number does, stands among the keys.

    >>> alike(pd.DataFrame({"channel": ["in-app", "POS", " In-App"]}))
    ["groups of channel differ in case or blanks alone, as 'in-app' and ' In-App': they may be one"]
    >>> alike(pd.DataFrame({"no": [1, 2], "name": ["Maple", "MAPLE"]}))
    []
    """
    written = keys.map(lambda value: " ".join(value.casefold().split()) if isinstance(value, str) else value)
    again = written.duplicated(keep=False) & ~keys.duplicated(keep=False)
    for _, same in keys[again].groupby([written[name][again] for name in written.columns], dropna=False, sort=False):
        name = next(name for name in same.columns if same[name].nunique() > 1)
        first, second = same[name].drop_duplicates().iloc[:2]
        return [f"groups of {name} differ in case or blanks alone, as {first!r} and {second!r}: they may be one"]
    return _nearly_alike(keys) if keys.shape[1] == 1 else []


def _nearly_alike(keys: pd.DataFrame) -> list[str]:
    """Two groups of one column whose names differ by a slip; short ones are as likely meant.

    >>> _nearly_alike(pd.DataFrame({"segment": ["hospitality", "hospitalty", "retail", None]}))
    ["groups of segment differ by a letter or so, as 'hospitality' and 'hospitalty': they may be one"]
    """
    long = [value for value in keys.iloc[:, 0] if isinstance(value, str) and len(value) >= _SHORTEST_SLIP]
    pairs = combinations(long, 2) if len(long) <= _MOST_COMPARED else ()
    found = next(((one, other) for one, other in pairs if one != other and is_nearly(one, other)), None)
    if found is None:
        return []
    return [f"groups of {keys.columns[0]} differ by a letter or so, as {found[0]!r} and {found[1]!r}: they may be one"]


def is_nothing(data: pd.DataFrame) -> bool:
    """Whether a result is empty, holds nothing but missing values, or is one row of zeros.

    >>> is_nothing(pd.DataFrame({"n": [0]})), is_nothing(pd.DataFrame({"n": [0, 0]})), is_nothing(pd.DataFrame({"n": [None]}))
    (True, False, True)
    """
    if data.empty or bool(data.isna().all(axis=None)):
        return True
    return len(data) == 1 and all(_is_zero(value) for value in data.iloc[0])


def _is_zero(value: Any) -> bool:
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    return (
        isinstance(value, int | float | np.number)
        and not isinstance(value, bool)
        and (value == 0 or bool(np.isnan(value)))
    )


def _is_of_zeros(column: pd.Series[Any]) -> bool:
    """
    >>> _is_of_zeros(pd.Series([0, None])), _is_of_zeros(pd.Series([False])), _is_of_zeros(pd.Series(["0"]))
    (True, True, False)
    """
    known = column.dropna()
    return known.empty or (known.dtype.kind in "iufb" and not bool(known.astype(bool).any()))


def missing_values(data: pd.DataFrame) -> list[str]:
    """How many values of each column are missing, where some are.

    >>> missing_values(pd.DataFrame({"n": [1.0, None], "m": [1, 2]}))
    ['1 of 2 values of n are missing']
    """
    counts = {str(name): int(data[name].isna().sum()) for name in data.columns}
    return [f"{count:,} of {len(data):,} values of {name} are missing" for name, count in counts.items() if count]
