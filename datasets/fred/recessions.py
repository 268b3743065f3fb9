"""Recessions as the FRED questions define them, computed from real GDP.

    >>> quarters = pd.date_range("2020-01-01", periods=5, freq="QS")
    >>> recessions(pd.Series([100.0, 99.0, 98.0, 97.0, 99.0], index=quarters))[0].months
    6

This is the house's working definition, not the dates that the NBER's committee decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

RECESSION_DEFINITION = (
    "A recession is a run of two or more consecutive quarters in each of which real GDP is lower than in the quarter "
    "before. It starts in the second falling quarter of the run and ends in the last falling quarter, the one before "
    "growth resumes; both of these quarters, and those between them, belong to it."
)

_QUARTER = pd.DateOffset(months=3)


@dataclass(frozen=True)
class Recession:
    """One recession: its first and last quarter, and the quarter before real GDP began to fall, by their first days."""

    start: pd.Timestamp
    end: pd.Timestamp
    peak: pd.Timestamp

    @property
    def after(self) -> pd.Timestamp:
        """The first day that no longer belongs to it."""
        return self.end + _QUARTER

    @property
    def quarters(self) -> int:
        """How many quarters belong to it."""
        return self.months // 3

    @property
    def months(self) -> int:
        """How many months belong to it."""
        return (self.after.year - self.start.year) * 12 + self.after.month - self.start.month


def recessions(real_gdp: pd.Series) -> list[Recession]:
    """All recessions of quarterly values by first day of the quarter, oldest first.

    One that has not ended by the last quarter ends there.
    """
    falls = (real_gdp.diff() < 0).to_list()
    quarters = real_gdp.index
    found, run = [], 0
    for place, falling in enumerate([*falls, False]):
        if falling:
            run += 1
            continue
        if run >= 2:
            first = place - run
            found.append(Recession(quarters[first + 1], quarters[place - 1], quarters[first - 1]))
        run = 0
    return found


def in_recession(dates: pd.DatetimeIndex, found: list[Recession], *, padding: int = 0) -> NDArray[np.bool_]:
    """Which dates fall into a recession, or into the `padding` quarters before it starts or after it ends."""
    inside = np.zeros(len(dates), dtype=bool)
    for recession in found:
        first, after = recession.start - padding * _QUARTER, recession.after + padding * _QUARTER
        inside |= np.asarray((dates >= first) & (dates < after))
    return inside
