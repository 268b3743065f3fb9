"""Whether an answer over several parts is the same whatever stands in the cells that a part lacks.

Of three companies the fastest growing one is asked for, and how many people it employs: that a filing does not say how many the two
others employ changes nothing. The SELECT is run with several values in the empty cells; where it gives one result, it rests on none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from finexpert.answers.sources import parts
from finexpert.errors import FinexpertError

# Values that no comparison, rank or sum leaves as it was: missing, far above and far below all others, and two that are near to none.
_STANDING_IN = (None, 9.7e14, -9.7e14, 0.0)
_MOST_CELLS = 200


def is_independent(select: str, frames: Mapping[str, pd.DataFrame]) -> bool:
    """Whether a SELECT over these frames gives a result without holes, and the same one whatever their empty cells hold."""
    holes = int(sum(frame.isna().to_numpy().sum() for frame in frames.values()))
    if not 0 < holes <= _MOST_CELLS or not _hold_the_same(frames):
        return False
    found: pd.DataFrame | None = None
    try:
        for filled in _filled(frames):
            with parts.opened(filled) as there:
                result = there.query(select).data
            if result.empty or bool(result.isna().to_numpy().any()) or (found is not None and not result.equals(found)):
                return False
            found = result
    except FinexpertError:
        return False
    return True


def _filled(frames: Mapping[str, pd.DataFrame]) -> Iterator[dict[str, pd.DataFrame]]:
    for value in _STANDING_IN:
        yield {name: frame if value is None else frame.apply(_with, value=value) for name, frame in frames.items()}


def _with(column: pd.Series, value: float) -> pd.Series:
    if not bool(column.isna().any()):
        return column
    if pd.api.types.is_datetime64_any_dtype(column):
        return column.fillna(pd.Timestamp(1800 if value < 0 else 2200, 1, 1))
    return column.fillna(value) if pd.api.types.is_numeric_dtype(column) else column.fillna(f"finexpert {value:g}")


def _hold_the_same(frames: Mapping[str, pd.DataFrame]) -> bool:
    """Whether the frames share a column of labels and each holds the labels of all others: a row that is not there can be tried with no value."""
    for name, frame in frames.items():
        others = [other for each, other in frames.items() if each != name]
        for column in frame.columns:
            if pd.api.types.is_float_dtype(frame[column]):
                continue
            if all(column in other.columns and set(other[column]) == set(frame[column]) for other in others):
                return len(frames) > 1
    return False
