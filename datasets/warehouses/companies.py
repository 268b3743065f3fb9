"""Ten listed companies that do not exist: quarterly statements, balance sheet items, weekly prices, dividends.

    income     2018-03-31  ORCH   revenue 412.6   net_income 38.1 (million US dollars)
    balance    2018-03-31  ORCH   Total debt      655.0

Income is wide, the balance sheet long by item. Companies without research expense have none, a suspended share no
price.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from finexpert.datasets.warehouses.numbers import Floats, dealt, generator, growth, with_gaps
from finexpert.warehouse.local.building import Table

_QUARTERS = pd.date_range("2017-12-31", "2024-06-30", freq="QE")
_FRIDAYS = pd.date_range("2017-12-29", "2024-06-28", freq="W-FRI")
_NAMES = {
    "ORCH": "Orchard Robotics", "PELI": "Pelican Software", "QUAR": "Quarry Cement", "RUSH": "Rushmoor Foods",
    "SABL": "Sable Semiconductors", "TERN": "Tern Logistics", "UPLD": "Upland Clinics", "VESP": "Vesper Apparel",
    "WREN": "Wren Biotech", "YARR": "Yarrow Paper",
}  # fmt: skip
_SECTORS = ("Technology", "Technology", "Industrials", "Consumer", "Technology",
            "Industrials", "Health", "Consumer", "Health", "Industrials")  # fmt: skip
_LISTED = (1994, 2011, 1988, 2001, 2014, 1999, 2007, 2012, 2017, 1991)
_PAYERS = ("QUAR", "RUSH", "TERN", "UPLD", "YARR")
_ITEMS = {
    "Cash": 0.5, "Receivables": 0.6, "Inventory": 0.4, "Current assets": 1.7, "Current liabilities": 1.1,
    "Total assets": 5.2, "Total debt": 1.6, "Total equity": 2.3,
}  # fmt: skip


def tables(variant: int = 0) -> list[Table]:
    """The six tables; another `variant` has other numbers under the same schema."""
    income = _income(variant)
    return [_companies(variant), _income_table(income), _balance(income, variant), _prices(variant),
            _dividends(variant), _indexes(variant)]  # fmt: skip


def _companies(variant: int) -> Table:
    data = pd.DataFrame({
        "ticker": list(_NAMES),
        "name": list(_NAMES.values()),
        "sector": dealt("company sectors", variant, _SECTORS),
        "country": dealt("countries", variant, ("US", "US", "Canada", "UK", "US", "UK", "US", "Canada", "US", "UK")),
        "listed_since": pd.to_datetime([f"{year}-05-01" for year in _LISTED]),
    })  # fmt: skip
    return Table("companies", data, "Master data, one row a company", {"listed_since": "first day of trading"},
                 ("sector", "country"))  # fmt: skip


def _income(variant: int) -> pd.DataFrame:
    parts, size = [], len(_QUARTERS)
    season = np.array([1.06, 0.94, 0.99, 1.01])[np.arange(size) % 4]
    for ticker in _NAMES:
        random = generator(f"income {ticker}", variant)
        revenue = growth(f"revenue {ticker}", variant, size, random.uniform(120, 900), 0.015, 0.045) * season
        gross = random.uniform(0.25, 0.6) + 0.02 * random.standard_normal(size)
        operating = gross - random.uniform(0.1, 0.2) + 0.025 * random.standard_normal(size)
        net = operating * 0.77 - 0.015 - np.where(random.random(size) < 0.08, 0.22, 0.0)
        shares = growth(f"shares {ticker}", variant, size, random.uniform(40, 260), -0.002, 0.006)
        research: Floats = revenue * random.uniform(0.04, 0.16)
        parts.append(pd.DataFrame({
            "period_end": _QUARTERS, "ticker": ticker, "revenue": revenue, "cost_of_revenue": revenue * (1 - gross),
            "operating_income": revenue * operating, "net_income": revenue * net,
            "research": np.nan if ticker in ("QUAR", "RUSH", "TERN") else research, "diluted_shares": shares,
        }))  # fmt: skip
    data = pd.concat(parts)
    numbers = data.columns[2:]
    data[numbers] = data[numbers].round(1)
    return data.sort_values(["period_end", "ticker"], ignore_index=True)


def _income_table(income: pd.DataFrame) -> Table:
    comments = {
        "period_end": "last day of the quarter; one row per quarter and company",
        "revenue": "of the quarter alone, million US dollars",
        "cost_of_revenue": "million US dollars",
        "operating_income": "million US dollars",
        "net_income": "million US dollars, negative for a loss",
        "research": "research and development, million US dollars; NULL where not reported",
        "diluted_shares": "average diluted shares of the quarter, million",
    }
    return Table("income", income, "Quarterly income statements (wide)", comments, (), "period_end")


def _balance(income: pd.DataFrame, variant: int) -> Table:
    parts = []
    for ticker, rows in income.groupby("ticker"):
        for item, multiple in _ITEMS.items():
            stream = f"balance {ticker} {item}"
            level = multiple * generator(stream, variant).uniform(0.75, 1.3)
            wander = growth(stream + " path", variant, len(rows), 1.0, 0.0, 0.05)
            values = rows["revenue"].rolling(4, min_periods=1).mean().to_numpy() * level * wander
            gaps = with_gaps(stream, variant, values, 0.03 if item == "Inventory" else 0.0)
            parts.append(
                pd.DataFrame(
                    {"date": rows["period_end"].to_numpy(), "ticker": ticker, "item": item, "value": gaps.round(1)}
                )
            )
    data = pd.concat(parts).sort_values(["date", "ticker", "item"], ignore_index=True)
    comments = {"date": "last day of the quarter", "value": "million US dollars; NULL where not reported"}
    return Table("balance", data, "Balance sheet items (long: one row per quarter, company and item)", comments,
                 ("item",), "date")  # fmt: skip


def _prices(variant: int) -> Table:
    parts = []
    for place, ticker in enumerate(_NAMES):
        random = generator(f"share {ticker}", variant)
        own = growth(f"close {ticker}", variant, len(_FRIDAYS), random.uniform(12, 140), 0.0005, 0.018 + 0.002 * place)
        close = own * (_levels(variant)["all_share"] / 1000) ** random.uniform(0.5, 1.5)
        volume = random.gamma(3.0, 400.0, len(_FRIDAYS)).round(0)
        known = with_gaps(f"close {ticker}", variant, close.round(2), 0.012)
        parts.append(pd.DataFrame({"date": _FRIDAYS, "ticker": ticker, "close": known, "volume": volume}))
    data = pd.concat(parts).sort_values(["date", "ticker"], ignore_index=True)
    comments = {
        "date": "Friday",
        "close": "last price of the week, US dollars; NULL while suspended",
        "volume": "shares traded in the week, thousand",
    }
    return Table("share_prices", data, "Weekly prices (long: one row per week and company)", comments, (), "date")


def _dividends(variant: int) -> Table:
    rows = []
    for ticker in _PAYERS:
        random = generator(f"dividend {ticker}", variant)
        amount = float(random.uniform(0.15, 0.6))
        for day in pd.date_range("2018-02-15", "2024-05-15", freq="3MS") + pd.Timedelta(days=14):
            amount *= 1.06 if random.random() < 0.25 else (0.7 if random.random() < 0.04 else 1.0)
            rows.append((day, ticker, round(amount, 3)))
    data = pd.DataFrame(rows, columns=["ex_date", "ticker", "per_share"]).sort_values(["ex_date", "ticker"])
    comments = {"ex_date": "first day without the dividend", "per_share": "US dollars a share"}
    return Table(
        "dividends",
        data.reset_index(drop=True),
        "Dividends; companies not listed here pay none",
        comments,
        (),
        "ex_date",
    )


def _levels(variant: int) -> dict[str, Floats]:
    """Index levels: the market's, and those of sectors that follow it more or less."""
    market = growth("index all_share", variant, len(_FRIDAYS), 1000, 0.0014, 0.021)
    sectors = {"technology": 1.2, "industrials": 1.0, "consumer": 0.7, "health": 0.8}
    own = {name: growth(f"index {name}", variant, len(_FRIDAYS), 1.0, 0.0003, 0.011) for name in sectors}
    return {"all_share": market} | {name: 1000 * (market / 1000) ** beta * own[name] for name, beta in sectors.items()}


def _indexes(variant: int) -> Table:
    levels = {name: level.round(1) for name, level in _levels(variant).items()}
    comments = {"date": "Friday"} | dict.fromkeys(levels, "index points, 29 December 2017 = 1000")
    return Table(
        "indexes", pd.DataFrame({"date": _FRIDAYS, **levels}), "Stock indexes by sector (wide)", comments, (), "date"
    )
