"""Formulas of finance over plain floats; `operations` gives them names, units and provenance.

    >>> percent_change(100.0, 125.0)
    0.25

A percentage is a fraction throughout. Each formula returns a float, or raises OperationError (or an arithmetic error) where it
has no value. No statistics beyond this, and no data.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence

import pyxirr

from finexpert.errors import OperationError

MOST_FLOWS = 10_000


def power(base: float, exponent: float) -> float:
    """
    >>> power(2.0, 10.0)
    1024.0
    """
    result = base**exponent
    if isinstance(result, complex):
        raise OperationError(f"{base:g} to the power {exponent:g} is no real number")
    return float(result)


def greater(first: float, second: float) -> str:
    """
    >>> greater(2.0, 1.0), greater(1.0, 1.0)
    ('yes', 'no')
    """
    return "yes" if first > second else "no"


def percent_change(old: float, new: float) -> float:
    """The change from old to new, as a fraction of old."""
    return (new - old) / old


def average(*values: float) -> float:
    """
    >>> average(1.0, 2.0, 6.0)
    3.0
    """
    return math.fsum(values) / len(values)


def total(*values: float) -> float:
    return math.fsum(values)


def product(*values: float) -> float:
    return math.prod(values)


def cagr(first: float, last: float, periods: float) -> float:
    """Compound growth a period.

    >>> round(cagr(100.0, 121.0, 2.0), 12)
    0.1
    """
    if periods <= 0:
        raise OperationError(f"cagr needs a positive number of periods, not {periods:g}")
    if first == 0 or last / first < 0:
        raise OperationError("cagr needs a first and a last value of the same sign, neither of them zero at the start")
    return power(last / first, 1 / periods) - 1


def moving_average(window: float, *values: float) -> list[float]:
    """The averages of each `window` values in a row, oldest first.

    >>> moving_average(2.0, 1.0, 3.0, 5.0)
    [2.0, 4.0]
    """
    if not window.is_integer() or not 1 <= window <= len(values):
        raise OperationError(f"a window of {window:g} does not fit {len(values)} values")
    size = int(window)
    return [average(*values[start : start + size]) for start in range(len(values) - size + 1)]


def percentile(percent: float, *values: float) -> float:
    """The value below which `percent` of 100 lie, between two neighbours in proportion.

    >>> percentile(50.0, 1.0, 2.0, 10.0, 20.0)
    6.0
    """
    if not 0 <= percent <= 100:
        raise OperationError(f"a percentile lies between 0 and 100, not at {percent:g}")
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def npv(rate: float, *flows: float) -> float:
    """Present value of flows one period apart; the first is not discounted.

    >>> round(npv(0.1, -100.0, 60.0, 60.0), 4)
    4.1322
    """
    if rate <= -1:
        raise OperationError(f"npv needs a rate above -1 (a fraction), not {rate:g}")
    _check_flows(flows)
    return _defined(pyxirr.npv(rate, flows), "npv")


def irr(*flows: float) -> float:
    """The rate a period at which the flows are worth nothing.

    >>> round(irr(-100.0, 60.0, 60.0), 6)
    0.130662
    """
    _check_flows(flows, both_signs=True)
    return _defined(pyxirr.irr(flows, silent=True), "irr")


def xirr(dates: Sequence[dt.date], flows: Sequence[float]) -> float:
    """The yearly rate at which dated flows are worth nothing.

    >>> round(xirr([dt.date(2021, 1, 1), dt.date(2022, 1, 1)], [-100.0, 110.0]), 6)
    0.1
    """
    _check_flows(flows, both_signs=True)
    if len(set(dates)) < 2:
        raise OperationError("xirr needs flows on at least two different dates")
    return _defined(pyxirr.xirr(list(dates), list(flows), silent=True), "xirr")


def eps(net_income: float, shares: float, preferred_dividends: float = 0.0) -> float:
    """
    >>> eps(110.0, 50.0, 10.0)
    2.0
    """
    return (net_income - preferred_dividends) / shares


def cash_flow_from_operations(net_income: float, non_cash_charges: float, increase_in_working_capital: float) -> float:
    """
    >>> cash_flow_from_operations(100.0, 30.0, 12.0)
    118.0
    """
    return net_income + non_cash_charges - increase_in_working_capital


def _check_flows(flows: Sequence[float], *, both_signs: bool = False) -> None:
    if len(flows) > MOST_FLOWS:
        raise OperationError(f"{len(flows):,} flows are more than the {MOST_FLOWS:,} that are computed")
    if both_signs and not min(flows) < 0 < max(flows):
        raise OperationError("a rate of return needs flows of both signs")


def _defined(value: float | None, name: str) -> float:
    if value is None:
        raise OperationError(f"{name} has no value for these flows")
    return float(value)
