"""What comes first or before: ties, rows before that are not of the period before, orders of declaration and of versions, zones of moments."""

from __future__ import annotations

import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TYPE grades AS ENUM ('low', 'high', 'medium');
CREATE TYPE letters AS ENUM ('A', 'B', 'C');
CREATE TABLE ratings AS SELECT i AS id, (['low', 'high', 'medium'])[1 + i % 3]::grades AS grade, (['A', 'B', 'C'])[1 + i % 3]::letters AS letter,
  (['1.9', '1.10', '1.2', '2.0.1'])[1 + i % 4] AS version, (['a', 'b', 'c'])[1 + i % 3] AS kind, CASE WHEN i < 3 THEN 'a' ELSE 'b' END AS mostly,
  i % 10 AS score, 'n' || i AS name, (['x', 'y'])[1 + i % 2] AS city, (['1.5', '2.25'])[1 + i % 2] AS version_no FROM range(1, 301) t(i);
CREATE TABLE monthly AS SELECT (DATE '2022-01-01' + INTERVAL (i) MONTH)::DATE AS m, r AS region, i * 10.0 + 1 AS revenue FROM range(36) t(i), (VALUES ('E'), ('W')) a(r)
  WHERE NOT (i = 20 AND r = 'W');
CREATE TABLE whole AS SELECT * FROM monthly WHERE region = 'E';
CREATE TABLE yearly AS SELECT * FROM (VALUES (2018, 5.0), (2019, 6.0), (2021, 9.0), (2022, 11.0)) a(year, revenue);
CREATE TABLE events AS SELECT i AS id, TIMESTAMP '2024-01-01 00:30' + INTERVAL (i) HOUR AS seen_at, TIMESTAMPTZ '2024-01-01 00:30+00' + INTERVAL (i) HOUR AS zoned_at,
  12345678901234567890.12::DECIMAL(38, 2) AS big, 1234.5::DECIMAL(38, 2) AS small FROM range(100) t(i);
"""


def notes(source: DuckDBWarehouse, select: str, question: str = "") -> list[str]:
    return list(Checks(source, question=question).run(select, answers=True).notes)


@pytest.mark.parametrize(
    ("select", "said"),
    [
        ("SELECT mode(kind) FROM ratings", "is one of several that stand as often"),
        ("SELECT mode() WITHIN GROUP (ORDER BY kind) FROM ratings", "is one of several that stand as often"),
        ("SELECT city, mode(kind) AS k FROM ratings GROUP BY 1 ORDER BY 1", "is one of several that stand as often"),
        ("SELECT first(id ORDER BY score DESC) FROM ratings", "is one of several with the same score"),
        ("SELECT (array_agg(id ORDER BY score DESC))[1] FROM ratings", "is one of several with the same score"),
        ("SELECT DISTINCT first_value(id) OVER (ORDER BY score DESC) AS f FROM ratings", "is one of several with the same score"),
        ("SELECT city, arg_max(name, score) AS n FROM ratings GROUP BY 1 ORDER BY 1", "is one of several with the same score"),
        ("SELECT count(*) FROM ratings WHERE grade > 'low'", "in which its values are declared: low, high, medium"),
        ("SELECT max(grade) FROM ratings", "in which its values are declared: low, high, medium"),
        ("SELECT max(big) FROM events", "their last digits are rounded"),
    ],
)  # fmt: skip
def test_a_person_is_told(source: DuckDBWarehouse, select: str, said: str) -> None:
    assert any(said in note for note in notes(source, select))


@pytest.mark.parametrize(
    "select",
    [
        "SELECT mode(mostly) FROM ratings",
        "SELECT city, mode(mostly) AS k FROM ratings GROUP BY 1 ORDER BY 1",
        "SELECT first(id ORDER BY id DESC) FROM ratings",
        "SELECT first(score ORDER BY score DESC) FROM ratings",
        "SELECT city, arg_max(name, id) AS n FROM ratings GROUP BY 1 ORDER BY 1",
        "SELECT count(*) FROM ratings WHERE grade = 'low'",
        "SELECT count(*) FROM ratings WHERE letter > 'A'",
        "SELECT grade, count(*) AS n FROM ratings GROUP BY 1 ORDER BY 1",
        "SELECT version, count(*) AS n FROM ratings GROUP BY version ORDER BY version",
        "SELECT max(string_split(version, '.')::INTEGER[])[1] FROM ratings",
        "SELECT max(small) FROM events",
    ],
)
def test_nothing_is_said_of_what_is_clear(source: DuckDBWarehouse, select: str) -> None:
    assert notes(source, select) == []


@pytest.mark.parametrize(
    "select",
    [
        "SELECT count(*) FROM ratings WHERE version < '1.9'",
        "SELECT max(version) FROM ratings",
        "SELECT version FROM ratings ORDER BY version DESC LIMIT 1",
        "SELECT max(TRY_CAST(version AS DOUBLE)) FROM ratings",
    ],
)
def test_versions_are_no_numbers(source: DuckDBWarehouse, select: str) -> None:
    with pytest.raises(QueryError, match=r"ratings.version holds versions, compare their parts"):
        notes(source, select)


@pytest.mark.parametrize(
    ("question", "select"),
    [
        ("Growth to the year before?", "SELECT m, revenue / lag(revenue, 1) OVER (ORDER BY m) - 1 AS g FROM whole ORDER BY 1"),
        ("Year-over-year change?", "SELECT m, s - lag(s) OVER (ORDER BY m) AS c FROM (SELECT date_trunc('month', m) AS m, sum(revenue) AS s FROM monthly GROUP BY 1) ORDER BY 1"),
        ("YoY growth by quarter?", "WITH q AS (SELECT date_trunc('quarter', m) AS q, sum(revenue) AS s FROM whole GROUP BY 1) SELECT q, s / lag(s) OVER (ORDER BY q) AS g FROM q ORDER BY 1"),
    ],
)  # fmt: skip
def test_one_row_back_is_no_year(source: DuckDBWarehouse, question: str, select: str) -> None:
    with pytest.raises(QueryError, match="not one year away, and the question asks for the year before"):
        notes(source, select, question)


@pytest.mark.parametrize(
    ("question", "select"),
    [
        ("Change to the previous year?", "SELECT m, region, revenue - lag(revenue, 12) OVER (PARTITION BY region ORDER BY m) AS g FROM monthly ORDER BY 1, 2"),
        ("Year over year growth?", "SELECT year, revenue / lag(revenue) OVER (ORDER BY year) - 1 AS g FROM yearly ORDER BY 1"),
        ("Change to the month before?", "SELECT m, region, revenue - lag(revenue) OVER (PARTITION BY region ORDER BY m) AS g FROM monthly ORDER BY 1, 2"),
    ],
)  # fmt: skip
def test_a_gap_is_said(source: DuckDBWarehouse, question: str, select: str) -> None:
    assert any("away in some rows, where a period between has none" in note for note in notes(source, select, question))


@pytest.mark.parametrize(
    ("question", "select"),
    [
        ("Growth to the year before?", "SELECT m, revenue / lag(revenue, 12) OVER (ORDER BY m) - 1 AS g FROM whole ORDER BY 1"),
        ("Year over year growth?", "SELECT y, s / lag(s) OVER (ORDER BY y) AS g FROM (SELECT year(m) AS y, sum(revenue) AS s FROM whole GROUP BY 1) ORDER BY 1"),
        ("Year over year growth?", "SELECT y, s / lag(s) OVER (ORDER BY y) AS g FROM (SELECT date_trunc('year', m) AS y, sum(revenue) AS s FROM whole GROUP BY 1) ORDER BY 1"),
        ("Month-over-month change?", "SELECT m, revenue - lag(revenue) OVER (ORDER BY m) AS g FROM whole ORDER BY 1"),
        ("Change to the previous quarter?", "SELECT q, s - lag(s) OVER (ORDER BY q) AS g FROM (SELECT date_trunc('quarter', m) AS q, sum(revenue) AS s FROM whole GROUP BY 1) ORDER BY 1"),
        ("Which month of the previous year had the largest rise?", "SELECT m, revenue - lag(revenue) OVER (ORDER BY m) AS g FROM whole ORDER BY 1"),
        ("A month begins on the last day of the year before. Rises?", "SELECT m, revenue - lag(revenue) OVER (ORDER BY m) AS g FROM whole ORDER BY 1"),
        ("Largest rise within a day, compared with the year before?", "SELECT seen_at, id - lag(id) OVER (ORDER BY seen_at) AS g FROM events ORDER BY 1"),
        ("Revenue and that of the row before?", "SELECT m, lag(revenue) OVER (ORDER BY m) AS g FROM whole ORDER BY 1"),
    ],
)  # fmt: skip
def test_the_period_before_passes(source: DuckDBWarehouse, question: str, select: str) -> None:
    assert not [note for note in notes(source, select, question) if "missing" not in note]


@pytest.mark.parametrize(
    "moment",
    [
        "CAST(seen_at AT TIME ZONE 'America/New_York' AS DATE)",
        "date_trunc('day', timezone('America/New_York', seen_at))",
        "CAST(zoned_at AT TIME ZONE 'UTC' AT TIME ZONE 'America/New_York' AS DATE)",
    ],
)
def test_a_zone_is_not_put_on_for_a_day(source: DuckDBWarehouse, moment: str) -> None:
    with pytest.raises(QueryError, match=r"AT TIME ZONE 'America/New_York'"):
        notes(source, f"SELECT count(*) FROM events WHERE {moment} = DATE '2024-01-02'", "Events on 2 January?")


@pytest.mark.parametrize(
    ("question", "moment"),
    [
        ("", "CAST(seen_at AT TIME ZONE 'UTC' AT TIME ZONE 'America/New_York' AS DATE)"),
        ("", "CAST(zoned_at AT TIME ZONE 'America/New_York' AS DATE)"),
        ("", "date_trunc('day', timezone('America/New_York', zoned_at))"),
        ("Events in New York, on 2 January in UTC?", "CAST(seen_at AT TIME ZONE 'America/New_York' AS DATE)"),
        ("", "CAST(seen_at AS DATE)"),
    ],
)
def test_days_of_a_zone_pass(source: DuckDBWarehouse, question: str, moment: str) -> None:
    assert notes(source, f"SELECT count(*) FROM events WHERE {moment} = DATE '2024-01-02'", question) == []
