"""The Larkspur Balanced Fund, a fund that does not exist: what it holds, trades and is measured against.

    positions    2019-01-31  EQ03   18,400 pieces
    prices       2019-01-31  EQ03   52.18 (in the currency of the security)
    fx           2019-01-31  eur_usd 1.14   gbp_usd 1.31

Long tables by security stand beside wide ones by index; a price is missing on days without trade, a fee until it is
billed.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from finexpert.datasets.warehouses.numbers import Floats, around, dealt, generator, growth, with_gaps
from finexpert.warehouse.local.building import Table

_DAYS = pd.bdate_range("2019-01-02", "2024-06-28")
_CLOSES = pd.DatetimeIndex(pd.Series(_DAYS, index=_DAYS).groupby(_DAYS.to_period("M")).max())
_SECTORS = ("Technology", "Health", "Energy", "Utilities", "Consumer", "Technology", "Health", "Consumer")
_CURRENCIES = ("USD", "USD", "EUR", "GBP", "EUR", "USD", "GBP", "USD")
_EQUITIES = ("Alderway Systems", "Brightwater Pharma", "Corrant Oil", "Dunmore Power",
             "Esterel Brands", "Fenwick Chips", "Galloway Care", "Hollis Retail")  # fmt: skip
_BONDS = (
    ("GB01", "US Treasury 2% 2029", "Government bond", "USD"),
    ("GB02", "Bund 1% 2031", "Government bond", "EUR"),
    ("GB03", "Gilt 3% 2034", "Government bond", "GBP"),
    ("CB01", "Marlow Rail 4% 2028", "Corporate bond", "USD"),
    ("CB02", "Nordhaven Bank 5% 2030", "Corporate bond", "EUR"),
)


def tables(variant: int = 0) -> list[Table]:
    """The seven tables of the fund; another `variant` has other numbers under the same schema."""
    securities = _securities(variant)
    closes = _prices(securities, variant)
    trades, quantities = _trades(closes, variant)
    return [_securities_table(securities), _positions(quantities, variant), _prices_table(closes, variant),
            _fx(variant), _trades_table(trades), _benchmarks(variant), _values(variant)]  # fmt: skip


def _securities(variant: int) -> pd.DataFrame:
    equities = [
        (f"EQ{number:02d}", name, "Equity", sector, currency)
        for number, (name, sector, currency) in enumerate(
            zip(_EQUITIES, dealt("sectors", variant, _SECTORS), dealt("currencies", variant, _CURRENCIES), strict=True),
            start=1,
        )
    ]
    bonds = [(id, name, kind, None, currency) for id, name, kind, currency in _BONDS]
    return pd.DataFrame([*equities, *bonds], columns=["security_id", "name", "asset_class", "sector", "currency"])


def _prices(securities: pd.DataFrame, variant: int) -> pd.DataFrame:
    columns = {}
    for place, row in enumerate(securities.itertuples(index=False)):
        size, stream = len(_DAYS), f"price {row.security_id}"
        if row.asset_class == "Equity":
            start = 20.0 + 110.0 * float(generator(f"{stream} start", variant).random())
            columns[row.security_id] = growth(stream, variant, size, start, 0.0003, 0.011 + 0.0012 * (place % 5))
        else:
            columns[row.security_id] = around(stream, variant, size, 99.0 + place % 4, 0.995, 0.25)
    return pd.DataFrame(columns, index=_DAYS).round(2)


def _trades(closes: pd.DataFrame, variant: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The trades, and what is held at each month's last business day after them."""
    random = generator("trades", variant)
    levels = {id: dict(zip(_DAYS, closes[id].tolist(), strict=True)) for id in closes.columns}
    held = {id: float(random.integers(40, 300) * 100) for id in closes.columns}
    trades, quantities = [], []
    for month in pd.period_range("2019-01", "2024-06", freq="M"):
        days = _DAYS[_DAYS.to_period("M") == month]
        for id in closes.columns:
            if random.random() > 0.35:
                continue
            day = days[int(random.integers(len(days)))]
            side = "buy" if random.random() < 0.55 else "sell"
            pieces = float(max(1, int(held[id] * random.uniform(0.03, 0.2) / 10))) * 10
            if side == "sell":
                pieces = min(pieces, held[id])
            held[id] += pieces if side == "buy" else -pieces
            price = round(levels[id][day] * float(random.uniform(0.995, 1.005)), 2)
            fee = None if random.random() < 0.06 else round(12 + pieces * 0.004, 2)
            trades.append((day, id, side, pieces, price, fee))
        quantities += [(days[-1], id, pieces) for id, pieces in held.items()]
    columns = ["trade_date", "security_id", "side", "quantity", "price", "fee_usd"]
    ordered = pd.DataFrame(trades, columns=columns).sort_values(["trade_date", "security_id"], ignore_index=True)
    return ordered, pd.DataFrame(quantities, columns=["date", "security_id", "quantity"])


def _securities_table(securities: pd.DataFrame) -> Table:
    comments = {
        "sector": "of equities; NULL for bonds",
        "currency": "in which it is quoted",
    }
    return Table("securities", securities, "What the fund may hold, one row each", comments,
                 ("asset_class", "sector", "currency"))  # fmt: skip


def _positions(quantities: pd.DataFrame, variant: int) -> Table:
    gaps = with_gaps("positions", variant, quantities["quantity"].to_numpy(dtype=float), 0.01)
    comments = {
        "date": "last business day of the month",
        "quantity": "shares, or bonds of 100 face value; NULL while the custodian reconciles",
    }
    held = quantities.assign(quantity=gaps)
    return Table("positions", held, "Month-end holdings (long: one row per date and security)",
                 comments, (), "date")  # fmt: skip


def _prices_table(closes: pd.DataFrame, variant: int) -> Table:
    # A month's last day always has a price, so that a position can be valued.
    long = closes.rename_axis("date").reset_index().melt("date", var_name="security_id", value_name="close")
    traded = with_gaps("prices", variant, long["close"].to_numpy(dtype=float), 0.012)
    long["close"] = np.where(long["date"].isin(_CLOSES), long["close"], traded)
    long = long.sort_values(["date", "security_id"], ignore_index=True)
    comments = {
        "date": "business day",
        "close": "closing price in the security's currency; bonds in percent of face value; NULL without trade",
    }
    return Table("prices", long, "Daily prices (long: one row per date and security)", comments, (), "date")


def _fx(variant: int) -> Table:
    size = len(_DAYS)
    data = pd.DataFrame({
        "date": _DAYS,
        "eur_usd": around("eur_usd", variant, size, 1.12, 0.997, 0.004).round(4),
        "gbp_usd": around("gbp_usd", variant, size, 1.29, 0.997, 0.005).round(4),
    })  # fmt: skip
    comments = {"date": "business day", "eur_usd": "US dollars for one euro", "gbp_usd": "US dollars for one pound"}
    return Table("fx", data, "Exchange rates", comments, (), "date")


def _trades_table(trades: pd.DataFrame) -> Table:
    comments = {
        "quantity": "pieces, always positive",
        "price": "in the security's currency",
        "fee_usd": "US dollars; NULL until billed",
    }
    return Table("trades", trades, "Every trade of the fund", comments, ("side",), "trade_date")


def _benchmarks(variant: int) -> Table:
    size = len(_CLOSES)
    data = pd.DataFrame({
        "date": _CLOSES,
        "equity_index": _index("equity_index", variant).round(2),
        "bond_index": _index("bond_index", variant).round(2),
        "risk_free": np.clip(around("risk_free", variant, size, 2.1, 0.95, 0.25), 0.05, None).round(2),
    })  # fmt: skip
    comments = {
        "date": "last business day of the month",
        "equity_index": "world equities, total return in US dollars, index, January 2019 = 100",
        "bond_index": "world bonds, total return in US dollars, index, January 2019 = 100",
        "risk_free": "one-month bill rate, percent a year",
    }
    return Table("benchmarks", data, "What the fund is measured against (wide)", comments, (), "date")


def _index(name: str, variant: int) -> Floats:
    drift, noise = (0.007, 0.042) if name == "equity_index" else (0.001, 0.014)
    return growth(name, variant, len(_CLOSES), 100, drift, noise)


def _values(variant: int) -> Table:
    size = len(_CLOSES)
    market = (_index("equity_index", variant) / 100) ** 0.65 * (_index("bond_index", variant) / 100) ** 0.35
    random = generator("flows", variant)
    flows = [np.where(random.random(size) < 0.15, np.nan, random.gamma(2.0, 1.6, size)).round(2) for _ in range(2)]
    data = pd.DataFrame({
        "date": _CLOSES,
        "nav_per_share": (market * growth("nav", variant, size, 25, 0.0, 0.009)).round(3),
        "net_assets": (market * growth("net_assets", variant, size, 180, 0.001, 0.012)).round(2),
        "subscriptions": flows[0],
        "redemptions": flows[1],
    })  # fmt: skip
    comments = {
        "date": "last business day of the month",
        "nav_per_share": "net asset value of a share, US dollars, after fees",
        "net_assets": "million US dollars",
        "subscriptions": "money that came in during the month, million US dollars; NULL if none",
        "redemptions": "money that left during the month, million US dollars, positive; NULL if none",
    }
    return Table("fund_values", data, "Value of the fund and its flows, monthly", comments, (), "date")
