"""Amounts in several currencies, conversions by the rates of a month, and codes that differ in case alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE brokers (broker_id INTEGER PRIMARY KEY, title VARCHAR);
INSERT INTO brokers VALUES (1, 'Alder'), (2, 'Birch');
CREATE TABLE policies (policy_no INTEGER PRIMARY KEY, broker_id INTEGER REFERENCES brokers, ccy VARCHAR, annual_prem DOUBLE, recovered DOUBLE,
  gross_weight DOUBLE, inception DATE, payment_date DATE);
INSERT INTO policies VALUES (1, 1, 'EUR', 100, 1, 5, '2022-01-10', '2022-01-20'), (2, 1, 'GBP', 200, 2, 6, '2022-01-20', '2022-02-20'),
  (3, 2, 'EUR', 300, 3, 7, '2022-02-05', '2022-02-10'), (4, 2, 'GBP', 400, 4, 8, '2022-02-15', '2022-02-25');
CREATE TABLE rates (month_end TIMESTAMP, ccy VARCHAR, to_eur DOUBLE);
INSERT INTO rates VALUES ('2022-01-31', 'EUR', 1), ('2022-02-28', 'EUR', 1), ('2022-01-31', 'GBP', 2), ('2022-02-28', 'GBP', 3);
CREATE TABLE claims (claim_id INTEGER PRIMARY KEY, policy_no INTEGER REFERENCES policies, loss_dt INTEGER, reported DATE, paid DOUBLE);
INSERT INTO claims VALUES (1, 1, 20220301, '2022-03-05', 10), (2, 2, 20220401, '2022-04-07', 20), (3, 4, 20220501, '2022-05-02', 30);
CREATE TABLE moves (move_id INTEGER PRIMARY KEY, amt DOUBLE, cur VARCHAR);
INSERT INTO moves VALUES (1, 10, 'usd'), (2, 20, 'USD'), (3, 30, 'Usd '), (4, 40, 'EUR'), (5, 50, 'GBP'), (6, 60, 'GBp');
"""
JOINED = "FROM policies p JOIN rates f ON f.ccy = p.ccy AND "


@pytest.mark.parametrize(
    "tie",
    [
        "date_trunc('month', f.month_end) = date_trunc('month', p.inception)",
        "f.month_end::DATE = last_day(p.inception)",
        "strftime(f.month_end, '%Y-%m') = strftime(p.inception, '%Y-%m')",
        "year(f.month_end) = year(p.inception) AND month(f.month_end) = month(p.inception)",
    ],
)
def test_amounts_are_converted_by_the_rate_of_their_month(source: DuckDBWarehouse, tie: str) -> None:
    checked = Checks(source).run(f"SELECT sum(p.annual_prem * f.to_eur) AS eur {JOINED}{tie}")
    assert checked.frame.data.iat[0, 0] == 100 + 400 + 300 + 1200
    grouped = f"SELECT b.title, sum(p.annual_prem * f.to_eur) AS eur {JOINED}{tie} JOIN brokers b USING (broker_id) GROUP BY b.title"
    assert sorted(Checks(source).run(grouped).frame.data["eur"]) == [500, 1500]


@pytest.mark.parametrize("tie", ["year(f.month_end) = year(p.inception)", "month(f.month_end) < 3", "TRUE"])
def test_several_rates_of_one_amount_go_back(source: DuckDBWarehouse, tie: str) -> None:
    with pytest.raises(QueryError, match="adds up each row of f, p"):
        Checks(source).run(f"SELECT sum(p.annual_prem * f.to_eur) AS eur {JOINED}{tie}")


@pytest.mark.parametrize("code", ["upper(cur) = 'USD'", "trim(upper(cur)) IN ('USD')", "lower(cur) LIKE 'usd%'"])
def test_one_currency_in_several_spellings_is_one(source: DuckDBWarehouse, code: str) -> None:
    Checks(source).run(f"SELECT sum(amt) AS n FROM moves WHERE {code}")


@pytest.mark.parametrize(
    "select",
    [
        "SELECT sum(amt) FROM moves",
        "SELECT sum(amt) FROM moves WHERE upper(cur) IN ('USD', 'EUR')",
        "SELECT sum(amt) FROM moves WHERE upper(cur) = 'GBP'",
        "SELECT sum(annual_prem) FROM policies",
        "SELECT sum(CASE WHEN broker_id = 1 THEN annual_prem END) FROM policies",
    ],
)
def test_amounts_of_several_currencies_go_back(source: DuckDBWarehouse, select: str) -> None:
    with pytest.raises(QueryError, match="amounts in several currencies"):
        Checks(source).run(select)


@pytest.mark.parametrize(
    ("select", "words"),
    [
        ("SELECT sum(recovered) AS n FROM policies", "SUM(recovered) adds up rows in several currencies, as policies.ccy says"),
        ("SELECT sum(paid) AS n FROM claims", "SUM(paid) may add up several currencies"),
        ("SELECT sum(recovered) AS n FROM policies WHERE ccy = 'EUR'", ""),
        ("SELECT sum(gross_weight) AS n FROM policies", ""),
        ("SELECT avg(date_diff('day', strptime(CAST(loss_dt AS VARCHAR), '%Y%m%d'), reported)) AS n FROM claims", ""),
        ("SELECT avg(date_diff('day', inception, payment_date)) AS n FROM policies", ""),
        ("SELECT sum(CASE WHEN annual_prem > 100 THEN 1 ELSE 0 END) AS n FROM policies", ""),
    ],
)  # fmt: skip
def test_what_may_be_an_amount_is_said_and_days_and_counts_are_none(
    source: DuckDBWarehouse, select: str, words: str
) -> None:
    told = [note for note in Checks(source).run(select).notes if "currencies" in note]
    assert [note.startswith(words) for note in told] == [True] * bool(words)


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBWarehouse]:
    """Two series in one column, which its owner describes one by one."""
    path: Path = tmp_path_factory.mktemp("series") / "series.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE prices (day DATE, name VARCHAR, value DOUBLE); COMMENT ON COLUMN prices.value IS 'Oil: USD a barrel | Gold: USD an ounce';"
            "INSERT INTO prices VALUES ('2024-01-01', 'Oil', 80), ('2024-01-01', 'Gold', 2000), ('2024-01-02', 'Oil', 90), ('2024-01-02', 'Gold', 2100)"
        )
    with DuckDBWarehouse(path, isolated=False, categories=["prices.name"]) as opened:
        yield opened


@pytest.mark.parametrize(
    "select",
    [
        "SELECT avg(value) FROM prices",
        "SELECT day, sum(value) FROM prices WHERE name LIKE '%o%' OR value > 85 GROUP BY day",
    ],
)
def test_values_of_several_series_are_not_added_up(series: DuckDBWarehouse, select: str) -> None:
    with pytest.raises(QueryError, match="of several series, as prices"):
        Checks(series).run(select)


@pytest.mark.parametrize(
    ("select", "value"),
    [
        ("SELECT avg(value) FROM prices WHERE name = 'Oil'", 85),
        ("SELECT avg(value) FILTER (WHERE name = 'Gold') FROM prices", 2050),
        ("SELECT avg(CASE WHEN name = 'Gold' THEN value END) FROM prices", 2050),
        ("SELECT max(mean) FROM (SELECT name, avg(value) AS mean FROM prices GROUP BY name)", 2050),
        (
            "SELECT avg(b.value / a.value) FROM prices a JOIN prices b USING (day) WHERE a.name = 'Oil' AND b.name = 'Oil'",
            1,
        ),
        ("SELECT avg(value) FROM (SELECT * FROM prices WHERE name = 'Oil')", 85),
        ("SELECT count(*) FROM prices", 4),
    ],
)
def test_those_of_one_series_are(series: DuckDBWarehouse, select: str, value: float) -> None:
    assert Checks(series).run(select).frame.data.iat[0, 0] == value
