"""Fiscal years: what a comment or a column says of them is held against the years that a SELECT takes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE orders AS SELECT i AS order_id, DATE '2023-01-01' + (i % 730)::INTEGER AS ordered_on, i * 1.5 AS amount FROM range(1, 2001) t(i);
"""
COMMENT = "COMMENT ON TABLE orders IS 'Orders of all shops. The fiscal year starts on 1 July.'"
OF_THE_CALENDAR = "COMMENT ON TABLE orders IS 'Orders. The fiscal year ends in December.'"
DAYS = """
CREATE TABLE days AS SELECT d::DATE AS day, year(d + INTERVAL 6 MONTH)::INTEGER AS fiscal_year FROM range(DATE '2023-01-01', DATE '2024-12-31', INTERVAL 1 DAY) t(d);
"""
BUDGETS = "CREATE TABLE budgets AS SELECT i AS fiscal_year, i * 1.5 AS budget FROM range(2020, 2026) t(i)"


def opened(folder: Path, *more: str) -> DuckDBWarehouse:
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        for statements in (TABLES, *more):
            connection.execute(statements)
    return DuckDBWarehouse(folder / "shop.duckdb", isolated=False)


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBWarehouse]:
    with opened(tmp_path_factory.mktemp("declared"), COMMENT) as source:
        yield source


@pytest.mark.parametrize(
    ("question", "select"),
    [
        ("What was revenue in fiscal year 2024?", "SELECT sum(amount) FROM orders WHERE year(ordered_on) = 2024"),
        ("Revenue in FY24?", "SELECT sum(amount) FROM orders WHERE ordered_on BETWEEN DATE '2024-01-01' AND DATE '2024-12-31'"),
        ("Revenue in FY 2024?", "SELECT sum(amount) FROM orders WHERE ordered_on >= DATE '2024-01-01' AND ordered_on < DATE '2025-01-01'"),
        ("Revenue by financial year?", "SELECT year(ordered_on) AS y, sum(amount) AS s FROM orders GROUP BY 1 ORDER BY 1"),
        ("Revenue by fiscal year?", "SELECT strftime(ordered_on, '%Y') AS y, sum(amount) AS s FROM orders GROUP BY 1 ORDER BY 1"),
        ("Revenue in Q1 of fiscal 2024?", "SELECT sum(amount) FROM orders WHERE ordered_on BETWEEN DATE '2024-01-01' AND DATE '2024-03-31'"),
    ],
)  # fmt: skip
def test_calendar_years_are_sent_back(declared: DuckDBWarehouse, question: str, select: str) -> None:
    with pytest.raises(QueryError, match=r"the fiscal year ends with June here, .* runs from 2023-07-01 to 2024-06-30"):
        Checks(declared, question=question).run(select)


@pytest.mark.parametrize(
    ("question", "select"),
    [
        ("What was revenue in 2024?", "SELECT sum(amount) FROM orders WHERE year(ordered_on) = 2024"),
        ("And in calendar 2024, not FY24?", "SELECT sum(amount) FROM orders WHERE year(ordered_on) = 2024"),
        ("Revenue in FY24?", "SELECT sum(amount) FROM orders WHERE ordered_on BETWEEN DATE '2023-07-01' AND DATE '2024-06-30'"),
        ("Revenue by fiscal year?", "SELECT year(ordered_on) + CASE WHEN month(ordered_on) > 6 THEN 1 ELSE 0 END AS y, sum(amount) AS s FROM orders GROUP BY 1 ORDER BY 1"),
        ("Revenue by fiscal year?", "SELECT year(ordered_on + INTERVAL 6 MONTH) AS y, sum(amount) AS s FROM orders GROUP BY 1 ORDER BY 1"),
        ("Revenue in Q3 of fiscal 2024?", "SELECT sum(amount) FROM orders WHERE ordered_on BETWEEN DATE '2024-01-01' AND DATE '2024-03-31'"),
    ],
)  # fmt: skip
def test_right_years_pass(declared: DuckDBWarehouse, question: str, select: str) -> None:
    assert not Checks(declared, question=question).run(select).notes


def test_a_fiscal_year_that_is_the_calendars_passes(tmp_path: Path) -> None:
    with opened(tmp_path, OF_THE_CALENDAR) as source:
        checks = Checks(source, question="Revenue in FY2024?")
        assert not checks.run("SELECT sum(amount) FROM orders WHERE year(ordered_on) = 2024").notes


def test_a_column_tells_it(tmp_path: Path) -> None:
    with opened(tmp_path, DAYS) as source:
        checks = Checks(source, question="Revenue in FY2024?")
        with pytest.raises(QueryError, match=r"days.fiscal_year says which it is"):
            checks.run("SELECT sum(amount) FROM orders WHERE year(ordered_on) = 2024")
        by_it = "SELECT sum(o.amount) FROM orders o JOIN days d ON d.day = o.ordered_on WHERE d.fiscal_year = 2024"
        assert not checks.run(by_it).notes


def test_where_nothing_tells_it_is_said(tmp_path: Path) -> None:
    with opened(tmp_path) as source:
        checks = Checks(source, question="Revenue in FY2024?")
        (note,) = checks.run("SELECT sum(amount) FROM orders WHERE year(ordered_on) = 2024").notes
    assert note.startswith("fiscal years are taken for those of the calendar: nothing in these data says")


def test_a_fiscal_year_hides_rows_as_one_of_the_calendar(tmp_path: Path) -> None:
    with opened(tmp_path, BUDGETS) as source:
        select = "SELECT max(budget) FROM budgets"
        said = Checks(source, as_of=dt.date(2024, 9, 30)).run(select).notes
        assert any(note.startswith("budgets.fiscal_year is taken for a year of the calendar") for note in said)
        assert not any("fiscal_year is taken" in note for note in Checks(source).run(select).notes)


def test_what_was_taught_tells_it(tmp_path: Path) -> None:
    with opened(tmp_path) as source:
        checks = Checks(source, question="Revenue in FY2024?", house="fiscal year: ours ends on 31 March of the year")
        with pytest.raises(QueryError, match="the fiscal year ends with March here"):
            checks.run("SELECT sum(amount) FROM orders WHERE year(ordered_on) = 2024")


def test_a_left_join_that_keeps_undated_rows_is_said(tmp_path: Path) -> None:
    tables = """
    CREATE TABLE accounts AS SELECT i AS account_id, DATE '2020-01-01' + (i * 10)::INTEGER AS opened_on FROM range(1, 200) t(i);
    ALTER TABLE accounts ADD PRIMARY KEY (account_id);
    CREATE TABLE limits AS SELECT i AS account_id, i * 10.0 AS limit_eur FROM range(1, 200) t(i);
    """
    select = "SELECT sum(l.limit_eur) FROM limits l {} accounts a ON a.account_id = l.account_id"
    with opened(tmp_path, tables) as source:
        checks = Checks(source, as_of=dt.date(2022, 6, 30))
        for join, said in (("LEFT JOIN", True), ("JOIN", False)):
            notes = checks.run(select.format(join)).notes
            assert any("a LEFT JOIN keeps its rows that have no row of accounts" in note for note in notes) is said
