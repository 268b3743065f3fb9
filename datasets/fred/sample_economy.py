"""The sample economy: made-up numbers under the names, frequencies and starts of the 31 FRED series.

    >>> economy = make_series()
    >>> economy["UNRATE"].index[0].date()
    datetime.date(1948, 1, 1)

A chain of causes from anchors that stand in `sample_economy_paths`: recessions drive real GDP; its distance from potential drives
unemployment; inflation and that gap drive the policy rate, and so on. The same numbers come out each time. Nothing
in it is an estimate of a real economy, and none of its values is FRED's.
"""

from __future__ import annotations

import zlib
from itertools import accumulate

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from finexpert.datasets.fred.sample_economy_paths import (
    CORE_INFLATION,
    DECLINES,
    DJIA,
    DURABLES,
    FOOD_AND_ENERGY,
    GOLD,
    M1_SHARE,
    M2_SHARE,
    NASDAQ,
    PARTICIPATION,
    SAVING,
    SP500,
    Path,
)

LABEL = "sample economy: made-up numbers"

Floats = NDArray[np.float64]

_LAST = "2025-12-31"
_QUARTERS = pd.date_range("1947-01-01", "2025-10-01", freq="QS")
_MONTHS = pd.date_range("1947-01-01", _LAST, freq="MS")
_DAYS = pd.date_range("1954-01-01", _LAST, freq="D")
_GAP_MONTH = "2025-10-01"
_HOLIDAYS = ("01-01", "07-04", "12-25")


def make_series() -> dict[str, pd.Series]:
    """All 31 series: values by date, by series id."""
    real, potential = _real_gdp()
    gap = np.interp(_years(_MONTHS), _years(_QUARTERS), 100 * np.log(real / potential.loc[_QUARTERS].to_numpy()))
    prices = _prices()
    deflator = _index(_QUARTERS, 0.92 * _path(CORE_INFLATION, _QUARTERS) / 400, "2017")
    # Scaled so that the boom before the recession of 2018 lies just above 20,000 billion.
    scale = 20150 / (real * deflator / 100)[_QUARTERS.get_loc("2018-01-01")]
    nominal = real * scale * deflator / 100
    inflation = 100 * (prices["CPIAUCSL"] / np.roll(prices["CPIAUCSL"], 12) - 1)
    inflation[:12] = inflation[12]
    labour = _labour(gap)
    series = {
        "GDP": _series(_QUARTERS, nominal, 3),
        "GDPC1": _series(_QUARTERS, real * scale, 3),
        "GDPPOT": (potential * scale).round(6).loc["1949":],
        "GDPDEF": _series(_QUARTERS, deflator, 3),
        **{name: _monthly(values, 3) for name, values in prices.items()},
        **labour,
        "UMCSENT": _sentiment(inflation, gap, labour["UNRATE"].reindex(_MONTHS).bfill().ffill().to_numpy()),
        **_income(nominal, deflator, prices["CPIAUCSL"]),
        **_money(nominal),
        **_rates(inflation, gap),
        **_stocks(),
    }
    for name in ("CPIAUCSL", "CPILFESL", "CIVPART", "EMRATIO", "UNEMPLOY", "UNRATE"):
        series[name] = series[name].drop(pd.Timestamp(_GAP_MONTH))
    return {name: values.rename(name).rename_axis("date") for name, values in series.items()}


def _real_gdp() -> tuple[Floats, pd.Series]:
    growth = np.interp(_years(_QUARTERS), (1947, 2026), (1.05, 0.55)) + _noise("GDPC1", len(_QUARTERS), 0.35)
    growth = np.maximum(growth, 0.05)
    for start, declines in DECLINES:
        first = int(_QUARTERS.searchsorted(pd.Timestamp(start)))
        growth[first : first + len(declines)] = [-percent for percent in declines]
        growth[first + len(declines) : first + len(declines) + 5] += 0.3 * sum(declines) / 5 + 0.25
    log = np.cumsum(growth / 100)
    later = pd.date_range("2026-01-01", "2036-10-01", freq="QS")
    edge = 40
    before = log[0] - 0.0105 * np.arange(edge, 0, -1)
    after = log[-1] + 0.0055 * np.arange(1, len(later) + edge + 1)
    weights = np.exp(-0.5 * (np.arange(-edge, edge + 1) / 14) ** 2)
    smooth = np.convolve(np.concatenate([before, log, after]), weights / weights.sum(), mode="valid")
    return np.exp(log), pd.Series(np.exp(smooth + 0.006), index=_QUARTERS.append(later))


def _prices() -> dict[str, Floats]:
    core = _path(CORE_INFLATION, _MONTHS) / 1200 + _noise("CPILFESL", len(_MONTHS), 0.0006)
    energy = _path(FOOD_AND_ENERGY, _MONTHS) / 1200 + _wander("energy", len(_MONTHS), 0.6, 0.0013)
    return {
        "CPIAUCSL": _index(_MONTHS, core + energy, "1982", "1984"),
        "CPILFESL": _index(_MONTHS, core, "1982", "1984"),
    }


def _labour(gap: Floats) -> dict[str, pd.Series]:
    # Unemployment closes a tenth of its distance from what the gap asks for each month.
    wanted = 5.3 - 1.05 * gap
    unrate = np.array(list(accumulate(wanted, lambda rate, goal: rate + 0.13 * (goal - rate), initial=4.0))[1:])
    unrate = np.maximum(unrate + _wander("UNRATE", len(_MONTHS), 0.7, 0.07), 2.6).round(1)
    part = (_path(PARTICIPATION, _MONTHS) + _wander("CIVPART", len(_MONTHS), 0.7, 0.08)).round(1)
    population = 101_800 * np.exp(0.0127 * (_years(_MONTHS) - 1947) - 0.00002 * (_years(_MONTHS) - 1947) ** 2)
    columns = {
        "UNRATE": unrate,
        "CIVPART": part,
        "EMRATIO": (part * (1 - unrate / 100)).round(1),
        "UNEMPLOY": (population * part / 100 * unrate / 100).round(0),
    }
    return {name: _monthly(values, 1).loc["1948":] for name, values in columns.items()}


def _sentiment(inflation: Floats, gap: Floats, unrate: Floats) -> pd.Series:
    mood = (
        99
        - 1.9 * np.abs(inflation - 2)
        - 2.1 * (unrate - 5)
        + 14 * np.gradient(gap)
        + _wander("UMCSENT", len(_MONTHS), 0.75, 2.4)
    )
    values = _monthly(np.clip(mood, 45, 112), 1).loc["1952-11":]
    # Until 1977 the survey is held in every third month only.
    dates = pd.DatetimeIndex(values.index)
    return values[(dates.year >= 1978) | dates.month.isin((2, 5, 8, 11))]


def _income(nominal: Floats, deflator: Floats, cpi: Floats) -> dict[str, pd.Series]:
    years = _years(_MONTHS)
    bonus = 0.05 * np.exp(-(((years - 2018.9) / 0.25) ** 2)) + 0.07 * np.exp(-(((years - 2021.2) / 0.12) ** 2))
    income = 0.73 * np.interp(years, _years(_QUARTERS), nominal) * (1 + bonus + _noise("DSPI", len(years), 0.003))
    saving = np.maximum(_path(SAVING, _MONTHS) + 60 * bonus + _wander("PSAVERT", len(years), 0.7, 0.4), 1.4).round(1)
    spending = income * (1 - saving / 100) * 0.965
    durables = spending * _path(DURABLES, _MONTHS) / 100 * (1 + _noise("PCEDG", len(years), 0.012))
    retail = spending / 12 * 0.44 / cpi * 1e5 * (1 + _noise("RRSFS", len(years), 0.006))
    values = {
        "DSPI": _monthly(income, 1),
        "DSPIC96": _monthly(income / np.interp(years, _years(_QUARTERS), deflator) * 100, 1),
        "PCE": _monthly(spending, 1),
        "PCEDG": _monthly(durables, 1),
        "PSAVERT": _monthly(saving, 1),
    }
    return {name: series.loc["1959":] for name, series in values.items()} | {"RRSFS": _monthly(retail, 0).loc["1992":]}


def _money(nominal: Floats) -> dict[str, pd.Series]:
    weeks = pd.date_range("1975-01-06", _LAST, freq="W-MON")
    years = _years(weeks)
    season = 1 + 0.006 * np.cos(2 * np.pi * (years - 0.02))
    m2 = np.interp(years, _years(_QUARTERS), nominal) * _path(M2_SHARE, weeks) / 100 * season
    m1 = m2 * _path(M1_SHARE, weeks) / 100 * (1 + _wander("WM1NS", len(weeks), 0.5, 0.008))
    m2 = m2 * (1 + _wander("WM2NS", len(weeks), 0.6, 0.002))
    gold = _path(GOLD, _MONTHS) * np.exp(_wander("IR14270", len(_MONTHS), 0.85, 0.03))
    gold *= 100 / gold[_MONTHS.get_loc("2024-12-01")]
    return {
        "WM1NS": _series(weeks, m1, 1),
        "WM2NS": _series(weeks, m2, 1).loc["1980-11-03":],
        "IR14270": _monthly(gold, 1).loc["2000":],
    }


def _rates(inflation: Floats, gap: Floats) -> dict[str, pd.Series]:
    wanted = np.maximum(1.2 + 1.02 * np.clip(inflation, 0, 12) + 0.55 * gap, 0.1)
    policy = np.array(list(accumulate(wanted, lambda rate, goal: rate + 0.11 * (goal - rate))))
    slow = np.array(list(accumulate(policy, lambda rate, goal: rate + 0.018 * (goal - rate))))
    base, days = np.interp(_years(_DAYS), _years(_MONTHS), slow), len(_DAYS)
    lead = np.interp(_years(_DAYS), _years(_MONTHS), policy) - base
    # The funds rate moves in steps of a quarter point, at the turn of a month.
    steps = pd.Series((policy * 4).round() / 4, index=_MONTHS).reindex(_DAYS, method="ffill").to_numpy()
    level = _wander("yields", days, 0.995, 0.035)
    heat = np.interp(_years(_DAYS), _years(_MONTHS), inflation) - 2
    t5, t10 = (
        (mean + weight * heat + _wander(name, days, 0.985, 0.03)).round(2)
        for name, mean, weight in (("T5YIE", 1.9, 0.2), ("T10YIE", 2.05, 0.09))
    )
    return {
        "DFF": _series(_DAYS, np.maximum(steps + 0.08 + _noise("DFF", days, 0.025), 0.04), 2).loc["1954-07-01":],
        "DTB3": _traded(base + lead - 0.15 + _wander("DTB3", days, 0.98, 0.015), "1954-01-04"),
        "DGS5": _traded(base + 0.75 + 0.45 * lead + level + _wander("DGS5", days, 0.98, 0.02), "1962-01-02"),
        "DGS10": _traded(base + 1.0 + 0.25 * lead + level, "1962-01-02"),
        "DGS30": _traded(base + 1.3 + 0.12 * lead + level + _wander("DGS30", days, 0.98, 0.02), "1977-02-15"),
        "T5YIE": _traded(t5, "2003-01-02"),
        "T10YIE": _traded(t10, "2003-01-02"),
        "T5YIFR": _traded(2 * t10 - t5, "2003-01-02"),
    }


def _stocks() -> dict[str, pd.Series]:
    market = _wander("market", len(_DAYS), 0.98, 0.0075)
    indexes = (
        ("DJIA", DJIA, 0.9, "2012-04-26"),
        ("NASDAQCOM", NASDAQ, 1.2, "1971-02-05"),
        ("SP500", SP500, 1.0, "2014-09-29"),
    )
    return {
        name: _traded(
            np.exp(_path(path, _DAYS, log=True) + beta * market + _wander(name, len(_DAYS), 0.97, 0.003)), start
        )
        for name, path, beta, start in indexes
    }


def _generator(name: str) -> np.random.Generator:
    # One stream a name: a change to one series leaves the noise of the others alone.
    return np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))


def _noise(name: str, size: int, scale: float) -> Floats:
    return scale * _generator(name).standard_normal(size)


def _wander(name: str, size: int, memory: float, scale: float) -> Floats:
    """Noise that remembers `memory` of its last value."""
    return np.array(list(accumulate(_noise(name, size, scale), lambda last, shock: memory * last + shock)))


def _years(index: pd.DatetimeIndex) -> Floats:
    return np.asarray(index.year + (index.day_of_year - 1) / 365.25, dtype=float)


def _path(points: Path, index: pd.DatetimeIndex, *, log: bool = False) -> Floats:
    years, values = np.array(points, dtype=float).T
    return np.asarray(np.interp(_years(index), years, np.log(values) if log else values), dtype=float)


def _index(index: pd.DatetimeIndex, changes: Floats, first: str, last: str | None = None) -> Floats:
    """An index level that moves by log `changes` and averages 100 over the base years."""
    level = pd.Series(np.exp(np.cumsum(changes)), index=index)
    return np.asarray(100 * level / level.loc[first : last or first].mean(), dtype=float)


def _series(index: pd.DatetimeIndex, values: Floats, decimals: int) -> pd.Series:
    return pd.Series(np.round(values, decimals), index=index)


def _monthly(values: Floats, decimals: int) -> pd.Series:
    return _series(_MONTHS, values, decimals)


def _traded(values: Floats, start: str) -> pd.Series:
    """Values of business days from `start` on; rates that have fallen to nothing stay just above it."""
    open_ = (_DAYS.day_of_week < 5) & ~_DAYS.strftime("%m-%d").isin(_HOLIDAYS) & (pd.Timestamp(start) <= _DAYS)
    return _series(_DAYS[open_], np.maximum(values[open_], 0.02), 2)
