"""Frames of polars for real, which come as Arrow."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from finexpert.warehouse.opening import open_data


def test_a_frame_of_polars_is_asked() -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed; `uv sync --group engines` installs it")
    trades = polars.DataFrame({
        "day": [dt.date(2024, 1, 2), dt.date(2024, 7, 1), None],
        "fee": [Decimal("1.25"), Decimal("2.50"), None],
        "status": polars.Series(["FILLED", "OPEN", "FILLED"], dtype=polars.Categorical),
        "quantity": polars.Series([1, 2, 3], dtype=polars.UInt32),
    })  # fmt: skip
    with open_data({"trades": trades, "lazy": trades.lazy().filter(polars.col("quantity") > 1).collect()}) as opened:
        select = "SELECT status, sum(fee) AS fee, sum(quantity) AS n FROM trades GROUP BY status ORDER BY status"
        found = opened.query(select).data.to_dict("list")
        assert found == {"status": ["FILLED", "OPEN"], "fee": [1.25, 2.5], "n": [4, 2]}
        seen = opened.query("SELECT count(*) AS n FROM trades", as_of=dt.date(2024, 6, 30)).data["n"].item()
        assert seen == 1
        assert opened.query("SELECT count(*) AS n FROM lazy").data["n"].item() == 2
