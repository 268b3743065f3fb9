"""What is there is counted on one day, and what runs since the beginning of a year is added up at its end alone."""

from __future__ import annotations

import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE results AS SELECT r AS region, 'Q' || q AS quarter, y AS year, q * 10.0 AS ytd_revenue, 10.0 AS revenue
  FROM (VALUES ('EMEA'), ('AMER')) a(r), range(1, 5) b(q), range(2022, 2025) c(y);
CREATE TABLE months AS SELECT r AS region, m AS month_no, y AS year, m * 10.0 AS cost_ytd FROM (VALUES ('EMEA'), ('AMER')) a(r), range(1, 13) b(m), range(2022, 2025) c(y);
CREATE TABLE inventory_daily AS SELECT DATE '2024-01-01' + d::INTEGER AS snapshot_date, 's' || s AS sku, w AS site, 5 + s AS on_hand, 2 AS qty, 1 AS qty_received,
  2.5::DOUBLE AS value FROM range(60) a(d), range(20) b(s), (VALUES ('A'), ('B')) c(w);
CREATE TABLE stock_prices AS SELECT DATE '2024-01-01' + d::INTEGER AS price_date, 'T' || s AS ticker, 5.0 AS close, 100 AS quantity, 500.0 AS value FROM range(60) a(d), range(9) b(s);
CREATE TABLE positions AS SELECT i AS position_id, DATE '2024-01-01' + (i % 90)::INTEGER AS opened_on FROM range(100) t(i);
"""


@pytest.mark.parametrize(
    ("question", "select", "said"),
    [
        ("", "SELECT sum(ytd_revenue) FROM results WHERE year = 2024", "several values of quarter"),
        ("", "SELECT region, sum(ytd_revenue) AS s FROM results WHERE year = 2024 GROUP BY 1 ORDER BY 1", "several values of quarter"),
        ("", "SELECT sum(cost_ytd) FROM months WHERE year = 2024 AND month_no IN (1, 2, 3)", "several values of month_no"),
        ("", "SELECT year, avg(ytd_revenue) AS a FROM results GROUP BY 1 ORDER BY 1", "averages rows of several values of quarter"),
        ("How many SKUs are in stock?", "SELECT count(sku) FROM inventory_daily", "counts rows of several days"),
        ("How many items do we hold by site?", "SELECT site, count(*) AS n FROM inventory_daily GROUP BY 1 ORDER BY 1", "counts rows of several days"),
        ("", "SELECT sum(on_hand) FROM inventory_daily", "adds up rows of several days"),
        ("", "SELECT sum(value) FROM inventory_daily WHERE sku = 's3'", "adds up rows of several days"),
    ],
)  # fmt: skip
def test_a_thing_counts_once(source: DuckDBWarehouse, question: str, select: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        Checks(source, question=question).run(select)


@pytest.mark.parametrize(
    ("question", "select"),
    [
        ("", "SELECT sum(ytd_revenue) FROM results WHERE year = 2024 AND quarter = 'Q4'"),
        ("", "SELECT sum(ytd_revenue) FROM results WHERE quarter = 'Q4'"),
        ("", "SELECT quarter, sum(ytd_revenue) AS s FROM results WHERE year = 2024 GROUP BY 1 ORDER BY 1"),
        ("", "SELECT sum(revenue) FROM results WHERE year = 2024"),
        ("", "SELECT avg(ytd_revenue) FROM results WHERE quarter = 'Q4'"),
        ("", "SELECT avg(on_hand) FROM inventory_daily"),
        ("How many SKUs are in stock?", "SELECT count(DISTINCT sku) FROM inventory_daily"),
        ("How many SKUs are in stock?", "SELECT count(*) FROM inventory_daily WHERE snapshot_date = (SELECT max(snapshot_date) FROM inventory_daily)"),
        ("On how many days were there fewer than 6 of s0 at A?", "SELECT count(*) FROM inventory_daily WHERE sku = 's0' AND site = 'A' AND on_hand < 6"),
        ("How many rows has it?", "SELECT count(*) FROM inventory_daily"),
        ("How many were received?", "SELECT sum(qty_received) FROM inventory_daily"),
        ("How much was traded?", "SELECT sum(value) FROM stock_prices"),
        ("How many positions were opened?", "SELECT count(*) FROM positions"),
    ],
)  # fmt: skip
def test_right_counts_and_sums_pass(source: DuckDBWarehouse, question: str, select: str) -> None:
    assert not Checks(source, question=question).run(select).notes
