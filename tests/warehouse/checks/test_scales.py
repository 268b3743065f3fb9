"""Percent that is multiplied as if it were a fraction."""

from __future__ import annotations

import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE lines (line_id INTEGER, amount DOUBLE, units INTEGER, discount_pct DOUBLE, tax_rate DOUBLE, fee_bp DOUBLE, growth_pct DOUBLE, rate_pct VARCHAR, fx_rate DOUBLE);
INSERT INTO lines VALUES (1, 100, 2, 0, 0.19, 25, 0.1, '4.5', 1.1), (2, 200, 3, 5, 0.07, 10, 1.4, '10.25', 150), (3, 50, 1, 25, 0, 12.5, 0.05, '3', 0.9);
"""


@pytest.mark.parametrize(("select", "said"), [
    ("SELECT sum(amount * discount_pct) FROM lines", "lines.discount_pct, which holds percent: divide it by 100"),
    ("SELECT sum(amount * (1 - discount_pct)) FROM lines", "lines.discount_pct holds percent, divide it by 100"),
    ("SELECT sum(units * amount * (1 + coalesce(discount_pct, 0))) FROM lines", "lines.discount_pct, which holds percent"),
    ("SELECT sum(amount * fee_bp) FROM lines", "lines.fee_bp, which holds basis points: divide it by 10000"),
    ("SELECT sum(amount * CAST(rate_pct AS DOUBLE)) FROM lines", "lines.rate_pct, which holds percent"),
    ("WITH l AS (SELECT amount AS a, discount_pct AS d FROM lines) SELECT sum(d * a) FROM l", "lines.discount_pct, which holds percent"),
    ("SELECT sum(amount * discount_pct) / 12 FROM lines", "which holds percent"),
])  # fmt: skip
def test_percent_that_is_no_fraction_goes_back(source: DuckDBWarehouse, select: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        Checks(source).run(select)


@pytest.mark.parametrize("select", [
    "SELECT sum(amount * discount_pct / 100) FROM lines",
    "SELECT sum(amount * discount_pct) / 100 FROM lines",
    "SELECT sum(amount * (1 - discount_pct * 0.01)) FROM lines",
    "SELECT sum(amount * fee_bp / 1e4) FROM lines",
    "SELECT sum(amount * discount_pct) / sum(amount) FROM lines",
    "SELECT sum(amount * tax_rate) FROM lines",
    "SELECT sum(amount * fx_rate) FROM lines",
    "SELECT sum(discount_pct * discount_pct) FROM lines",
    "SELECT max(discount_pct * 2) FROM lines",
    "WITH d AS (SELECT amount, discount_pct / 100 AS share FROM lines) SELECT sum(amount * share) FROM d",
    "SELECT line_id FROM lines ORDER BY amount * discount_pct DESC LIMIT 1",
])  # fmt: skip
def test_percent_that_is_divided_passes(source: DuckDBWarehouse, select: str) -> None:
    assert Checks(source).run(select).notes == ()


def test_a_share_that_may_be_either_is_told(source: DuckDBWarehouse) -> None:
    assert Checks(source).run("SELECT sum(amount * growth_pct) FROM lines").notes == (
        "amount * growth_pct takes lines.growth_pct for a fraction, and some of its values are more than 1",
    )
