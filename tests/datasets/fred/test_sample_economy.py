"""The sample economy: the same every time, shaped like FRED, and eventful enough to be asked about."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from finexpert.datasets.fred.recessions import recessions
from finexpert.datasets.fred.sample_economy import make_series
from finexpert.datasets.fred.series import SERIES

STARTS = {
    "CPIAUCSL": "1947-01-01", "CPILFESL": "1947-01-01", "GDPPOT": "1949-01-01", "UNRATE": "1948-01-01",
    "DSPI": "1959-01-01", "RRSFS": "1992-01-01", "IR14270": "2000-01-01", "WM1NS": "1975-01-06", "WM2NS": "1980-11-03",
    "DFF": "1954-07-01", "DTB3": "1954-01-04", "DGS10": "1962-01-02", "DGS30": "1977-02-15", "T5YIE": "2003-01-02",
    "NASDAQCOM": "1971-02-05", "DJIA": "2012-04-26", "SP500": "2014-09-29",
}  # fmt: skip

Economy = dict[str, pd.Series]


def test_it_is_the_same_every_time_and_quick(economy: Economy, soon: Any) -> None:
    soon(4, make_series)
    again = make_series()
    assert list(again) == list(economy)
    for name, series in economy.items():
        pd.testing.assert_series_equal(series, again[name], check_exact=True)


def test_every_series_is_there_sorted_and_without_holes_in_its_values(economy: Economy) -> None:
    assert set(economy) == set(SERIES)
    for name, series in economy.items():
        assert series.index.is_monotonic_increasing, name
        assert series.index.is_unique, name
        assert np.isfinite(series).all(), name
        assert (series > 0).all(), name


def test_series_start_where_those_of_fred_do(economy: Economy) -> None:
    assert {name: f"{economy[name].index[0]:%Y-%m-%d}" for name in STARTS} == STARTS


def test_frequencies(economy: Economy) -> None:
    days = {"daily": 1.0, "weekly": 7.0, "monthly": 31.0, "quarterly": 92.0}
    for name, info in SERIES.items():
        since = economy[name].loc["2000":]
        assert since.index.to_series().diff().dt.days.median() <= days[info.frequency], name
    assert set(pd.DatetimeIndex(economy["DGS10"].index).day_of_week) == set(range(5))
    assert set(pd.DatetimeIndex(economy["DFF"].index).day_of_week) == set(range(7))


def test_a_month_is_missing_in_the_surveys(economy: Economy) -> None:
    gap = pd.Timestamp("2025-10-01")
    assert [name for name, series in economy.items() if SERIES[name].frequency == "monthly" and gap not in series.index] == [
        "CPIAUCSL", "CPILFESL", "UNRATE", "CIVPART", "EMRATIO", "UNEMPLOY",
    ]  # fmt: skip


def test_recessions(economy: Economy) -> None:
    found = recessions(economy["GDPC1"].loc[:"2024-09-30"])
    assert len(found) >= 8
    assert sum(r.start >= pd.Timestamp("1994-10-01") for r in found) >= 3
    longest = sorted(r.quarters for r in found)
    assert longest[-1] > longest[-2], "one recession is the longest"


def test_events_to_ask_about(economy: Economy) -> None:
    inflation = 100 * economy["CPIAUCSL"].pct_change(12)
    assert inflation.loc["1973":"1982"].max() > 9
    assert inflation.loc["2021":"2022"].max() > 6
    assert economy["UNRATE"].rolling(6).mean().max() > 8 > economy["UNRATE"].iloc[-1]
    assert economy["CPIAUCSL"].iloc[0] < 200 < economy["CPIAUCSL"].iloc[-1]
    assert economy["GDP"].loc["2010":"2015"].max() < 20_000 < economy["GDP"].loc["2024":].min()
    inverted = (economy["DGS10"] - economy["DTB3"]).dropna() < 0
    assert 0.02 < inverted.mean() < 0.5
    gap = (economy["GDPC1"] - economy["GDPPOT"]).dropna()
    assert 0.1 < (gap > 0).mean() < 0.9


def test_series_hang_together(economy: Economy) -> None:
    force = economy["UNEMPLOY"] / (economy["UNRATE"] / 100)
    assert force.iloc[-1] > 2 * force.iloc[0]
    ratio = economy["CIVPART"] * (1 - economy["UNRATE"] / 100)
    assert (ratio - economy["EMRATIO"]).abs().max() <= 0.06
    deflated = economy["GDPC1"] * economy["GDPDEF"] / 100
    assert (deflated / economy["GDP"] - 1).abs().max() < 1e-4
    assert economy["IR14270"].loc["2024-12-01"] == 100
