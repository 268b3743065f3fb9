"""The warehouse of company facts: values reckoned by hand, what was known on a day, and what is not derived."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from finexpert.datasets.edgar.database import Built, build
from finexpert.datasets.edgar.symbols import in_folder
from finexpert.errors import DataError
from finexpert.filings.edgar.symbols import Listed
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

New = Callable[[int, str], Any]
At = Callable[[Any], DuckDBWarehouse]
ANNUAL = "SELECT {line} AS value FROM annual WHERE ticker = '{ticker}' AND fiscal_year = {year}"
QUARTERLY = ANNUAL.replace("annual", "quarterly") + " AND fiscal_quarter = {quarter}"
YEAR = ("2021-01-01", "2021-12-31")


def value_of(warehouse: DuckDBWarehouse, select: str, as_of: str | None = None) -> float | None:
    """The only value of a SELECT; None for no row and for NULL."""
    data = warehouse.query(select, as_of=dt.date.fromisoformat(as_of) if as_of else None).data
    assert len(data) <= 1, data
    known = data["value"].dropna()
    return None if known.empty else float(known.iloc[0])


@pytest.mark.parametrize(
    ("ticker", "year", "line", "value"),
    [
        ("ALDR", 2020, "revenue", 900e6),
        ("ALDR", 2021, "revenue", 1000e6),
        ("ALDR", 2021, "revenue_before", 900e6),
        ("ALDR", 2021, "net_income", 96e6),  # as the 10-K/A has it
        ("ALDR", 2021, "cash_from_operations", 150e6),
        ("ALDR", 2021, "diluted_eps", 2.0),
        ("ALDR", 2021, "diluted_shares", 50e6),
        ("ALDR", 2021, "shares_outstanding", 49e6),  # of the balance sheet, not of the cover
        ("ALDR", 2021, "total_assets", 2400e6),
        ("ALDR", 2021, "total_assets_before", 2000e6),
        ("ALDR", 2021, "total_liabilities", None),
        ("BRC-B", 2019, "revenue", 5000e6),
        ("BRC-B", 2020, "revenue", 5500e6),
        ("BRC-B", 2020, "inventories_before", 500e6),
        ("BRC-B", 2021, "revenue", None),  # the year is under way
    ],
)
def test_years(facts: DuckDBWarehouse, ticker: str, year: int, line: str, value: float | None) -> None:
    assert value_of(facts, ANNUAL.format(line=line, ticker=ticker, year=year)) == value


@pytest.mark.parametrize(
    ("ticker", "line", "values"),
    [
        ("ALDR", "revenue", [200e6, 230e6, 260e6, 310e6]),  # 1000 less 690
        ("ALDR", "cash_from_operations", [25e6, 35e6, 35e6, 55e6]),
        ("ALDR", "net_income", [20e6, 25e6, 21e6, None]),  # the year was restated, its nine months were not
        ("ALDR", "diluted_eps", [0.40, 0.50, 0.42, None]),  # 2.00 less 1.32 is no quarter's
        ("ALDR", "total_assets", [2100e6, 2200e6, 2300e6, 2400e6]),
    ],
)
def test_quarters(facts: DuckDBWarehouse, ticker: str, line: str, values: list[float | None]) -> None:
    found = [
        value_of(facts, QUARTERLY.format(line=line, ticker=ticker, year=2021, quarter=quarter))
        for quarter in range(1, 5)
    ]
    assert found == values


def test_quarters_of_a_year_that_ends_in_january(facts: DuckDBWarehouse) -> None:
    select = (
        "SELECT fiscal_year, fiscal_quarter, period_end, revenue, derived FROM quarterly"
        " WHERE ticker = 'BRC-B' AND revenue IS NOT NULL ORDER BY ALL"
    )
    rows = facts.query(select).data.to_numpy().tolist()
    assert [
        (year, quarter, f"{end:%Y-%m-%d}", sales / 1e6, derived) for year, quarter, end, sales, derived in rows
    ] == [
        (2020, 1, "2020-05-02", 1200, False),
        (2020, 2, "2020-08-01", 1300, True),
        (2020, 3, "2020-10-31", 1400, True),
        (2020, 4, "2021-01-30", 1600, True),
        (2021, 1, "2021-05-01", 1500, False),
    ]


@pytest.mark.parametrize(
    ("as_of", "annual", "fourth"),
    [
        ("2022-02-17", None, None),
        ("2022-02-18", 100e6, 34e6),  # 100 less 66, both as filed first
        ("2022-05-31", 100e6, 34e6),
        ("2022-06-01", 96e6, None),
        (None, 96e6, None),
    ],
)
def test_a_restatement_does_not_leak_back(
    facts: DuckDBWarehouse, as_of: str | None, annual: float | None, fourth: float | None
) -> None:
    where = {"line": "net_income", "ticker": "ALDR", "year": 2021}
    assert value_of(facts, ANNUAL.format(**where), as_of) == annual
    assert value_of(facts, QUARTERLY.format(**where, quarter=4), as_of) == fourth


@pytest.mark.parametrize(
    ("metric", "ticker", "year", "value"),
    [
        ("net_margin", "ALDR", 2021, 96 / 1000),
        ("gross_margin", "ALDR", 2021, 0.4),
        ("revenue_growth", "ALDR", 2021, 100 / 900),
        ("return_on_assets", "ALDR", 2021, 96 / 2200),
        ("return_on_equity", "ALDR", 2021, 96 / 900),
        ("book_value_per_share", "ALDR", 2021, 1000 / 49),
        ("inventory_turnover", "BRC-B", 2020, 8.0),
        ("days_inventory_outstanding", "BRC-B", 2020, 45.625),
        ("current_ratio", "ALDR", 2021, None),
        ("return_on_assets", "ALDR", 2020, None),  # the year before is not known
    ],
)
def test_metrics(facts: DuckDBWarehouse, metric: str, ticker: str, year: int, value: float | None) -> None:
    select = f"SELECT MEASURE({metric}) AS value FROM annual WHERE ticker = '{ticker}' AND fiscal_year = {year}"
    assert value_of(facts, select) == (None if value is None else pytest.approx(value))


def test_a_metric_over_companies_leaves_out_who_lacks_a_part(facts: DuckDBWarehouse) -> None:
    """Birch files no gross profit: its revenue must not stand below the line."""
    assert value_of(
        facts, "SELECT MEASURE(gross_margin) AS value FROM annual WHERE fiscal_year = 2021"
    ) == pytest.approx(0.4)


def test_a_figure_names_its_filing(facts: DuckDBWarehouse) -> None:
    select = (
        "SELECT concept, figure.form, figure.filed, page FROM figure JOIN filing USING (accession)"
        " WHERE figure.ticker = 'ALDR' AND line = 'net_income' AND fiscal_year = 2021 AND fiscal_period = 'FY'"
    )
    (row,) = facts.query(select).data.to_numpy().tolist()
    assert row[:2] == ["us-gaap:NetIncomeLoss", "10-K/A"]
    assert row[3] == "https://www.sec.gov/Archives/edgar/data/1001/000000100122000006/0000001001-22-000006-index.htm"


def test_units_are_kept_apart(facts: DuckDBWarehouse) -> None:
    data = facts.query("SELECT DISTINCT concept, unit FROM fact_known WHERE unit <> 'USD' ORDER BY ALL").data
    assert data.to_numpy().tolist() == [
        ["dei:EntityCommonStockSharesOutstanding", "shares"],
        ["us-gaap:CommonStockSharesOutstanding", "shares"],
        ["us-gaap:EarningsPerShareDiluted", "USD/shares"],
        ["us-gaap:EffectiveIncomeTaxRateContinuingOperations", "pure"],
        ["us-gaap:WeightedAverageNumberOfDilutedSharesOutstanding", "shares"],
    ]


def sold_a_division(new: New) -> Any:
    """The year leaves out a division that was sold, its nine months hold it; the 10-K shows it by the year before."""
    filer, sales = new(7, "Cedar Inc."), "Revenues"
    filer.file("10-K", "2021-02-01", 2020, "FY", (sales, "2020-01-01", "2020-12-31", 100e6),
               ("NetIncomeLoss", "2020-01-01", "2020-12-31", 10e6))  # fmt: skip
    filer.file("10-Q", "2021-11-01", 2021, "Q3", (sales, "2021-01-01", "2021-09-30", 90e6))
    filer.file("10-K", "2022-02-01", 2021, "FY", (sales, *YEAR, 95e6), (sales, "2020-01-01", "2020-12-31", 76e6),
               ("NetIncomeLoss", *YEAR, 10e6))  # fmt: skip
    return filer


def test_no_quarter_is_derived_of_figures_on_two_bases(new_filer: New, at: At) -> None:
    with at(sold_a_division(new_filer)) as warehouse:
        assert value_of(warehouse, ANNUAL.format(line="revenue", ticker="CIK0000000007", year=2021)) == 95e6
        fourth = QUARTERLY.format(line="revenue", ticker="CIK0000000007", year=2021, quarter=4)
        assert value_of(warehouse, fourth) is None


def test_a_quarter_is_derived_once_both_figures_were_restated(new_filer: New, at: At) -> None:
    filer = sold_a_division(new_filer)
    filer.file("10-Q", "2022-11-01", 2022, "Q3", ("Revenues", "2021-01-01", "2021-09-30", 70e6))
    filer.file("10-K", "2023-02-01", 2022, "FY", ("Revenues", *YEAR, 95e6))
    with at(filer) as warehouse:
        fourth = QUARTERLY.format(line="revenue", ticker="CIK0000000007", year=2021, quarter=4)
        assert value_of(warehouse, fourth) == 25e6
        assert value_of(warehouse, fourth, "2022-12-31") is None


def test_no_quarter_is_derived_of_averages_shares_and_rates(new_filer: New, at: At) -> None:
    filer, nine = new_filer(7, "Cedar Inc."), ("2021-01-01", "2021-09-30")
    for form, filed, fp, period in (("10-Q", "2021-11-01", "Q3", nine), ("10-K", "2022-02-01", "FY", YEAR)):
        filer.file(form, filed, 2021, fp, ("NetIncomeLoss", *period, 5e6 if fp == "Q3" else 8e6),
                   ("WeightedAverageNumberOfSharesOutstandingBasic", *period, 9e6, "shares"),
                   ("EarningsPerShareBasic", *period, 0.5, "USD/shares"), ("TaxRate", *period, 0.2, "pure"),
                   ("LineOfCreditAverageOutstandingAmount", *period, 4e6))  # fmt: skip
    with at(filer) as warehouse:
        data = warehouse.query("SELECT concept, value FROM fact_quarter").data
        assert data.to_numpy().tolist() == [["us-gaap:NetIncomeLoss", 3e6]]


def test_nine_months_that_start_on_another_day_are_not_subtracted(new_filer: New, at: At) -> None:
    filer = new_filer(7, "Cedar Inc.")
    filer.file("10-Q", "2021-11-01", 2021, "Q3", ("NetIncomeLoss", "2021-01-04", "2021-09-30", 5e6))
    filer.file("10-K", "2022-02-01", 2021, "FY", ("NetIncomeLoss", *YEAR, 8e6))
    with at(filer) as warehouse:
        assert warehouse.query("SELECT * FROM fact_quarter").data.empty


def test_three_months_and_nine_months_that_end_on_one_day(new_filer: New, at: At) -> None:
    filer = new_filer(7, "Cedar Inc.")
    filer.file("10-Q", "2021-11-01", 2021, "Q3", ("NetIncomeLoss", "2021-07-01", "2021-09-30", 2e6),
               ("NetIncomeLoss", "2021-01-01", "2021-09-30", 5e6))  # fmt: skip
    filer.file("10-K", "2022-02-01", 2021, "FY", ("NetIncomeLoss", *YEAR, 8e6))
    with at(filer) as warehouse:
        data = warehouse.query("SELECT fiscal_period, value FROM figure WHERE line = 'net_income' ORDER BY ALL").data
        assert data.to_numpy().tolist() == [["FY", 8e6], ["Q3", 2e6], ["Q4", 3e6]]


def test_a_line_takes_the_first_concept_of_its_chain(new_filer: New, at: At) -> None:
    contract = "RevenueFromContractWithCustomerExcludingAssessedTax"
    filer = new_filer(7, "Cedar Inc.")
    filer.file("10-K", "2021-02-01", 2020, "FY", (contract, "2020-01-01", "2020-12-31", 80e6),
               ("NetIncomeLoss", "2020-01-01", "2020-12-31", 1e6))  # fmt: skip
    filer.file("10-K", "2022-02-01", 2021, "FY", (contract, *YEAR, 90e6), ("Revenues", *YEAR, 99e6),
               ("NetIncomeLoss", *YEAR, 1e6))  # fmt: skip
    with at(filer) as warehouse:
        data = warehouse.query("SELECT fiscal_year, value, concept FROM figure WHERE line = 'revenue' ORDER BY 1").data
        assert data.to_numpy().tolist() == [[2020, 80e6, f"us-gaap:{contract}"], [2021, 99e6, "us-gaap:Revenues"]]


def test_another_currency_is_left_out_of_lines(new_filer: New, at: At) -> None:
    filer = new_filer(7, "Cedar SE")
    filer.file("20-F", "2022-03-01", 2021, "FY", ("ifrs-full:Revenue", *YEAR, 70e6, "EUR"),
               ("ifrs-full:ProfitLoss", *YEAR, 7e6, "EUR"), ("ifrs-full:Revenue", *YEAR, 79e6, "USD"))  # fmt: skip
    with at(filer) as warehouse:
        data = warehouse.query("SELECT currency, revenue, net_income_with_minorities FROM annual").data
        assert data.to_numpy().tolist() == [["EUR", 70e6, 7e6]]


def test_since_a_year(facts_folder: Path, tmp_path: Path, unprofiled: None) -> None:
    made = build(facts_folder, in_folder(facts_folder, ["ALDR"]), tmp_path / "edgar.duckdb", since=2021)
    with DuckDBWarehouse(made.path) as warehouse:
        assert (
            str(warehouse.query("SELECT min(period_end) AS first FROM fact").data["first"].item())[:10] == "2021-03-31"
        )
    with pytest.raises(DataError, match=r"no facts of ALDR .* in 2050 or later"):
        build(facts_folder, in_folder(facts_folder, ["ALDR"]), tmp_path / "edgar.duckdb", since=2050)


def test_a_file_of_another_company_is_refused(facts_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "CIK0000000009.json").write_bytes((facts_folder / "CIK0000001001.json").read_bytes())
    with pytest.raises(DataError, match=r"CIK0000000009.json holds the facts of CIK 1001"):
        build(tmp_path, [Listed(9, "NINE")], tmp_path / "edgar.duckdb")


def test_the_model_stands_beside_the_file(built: Built, facts: DuckDBWarehouse) -> None:
    assert built.model == built.path.with_name("edgar.model.yaml")
    dates = {table.name: table.date_column for table in facts.tables}
    assert {name for name, column in dates.items() if column is None} == {"company", "concept", "line_concept"}
    assert {column for column in dates.values() if column} == {"filed"}
    assert facts.notes == []


_PERIODS = (("2020-01-01", "2020-12-31"), YEAR, ("2021-01-01", "2021-09-30"), ("2021-01-01", "2021-06-30"),
            ("2021-01-01", "2021-03-31"))  # fmt: skip
_FILED = st.tuples(
    st.sampled_from(("10-K", "10-Q", "10-K/A", "8-K")),
    st.dates(dt.date(2022, 1, 1), dt.date(2022, 1, 12)),
    st.lists(
        st.tuples(st.sampled_from(_PERIODS), st.integers(1, 4)), min_size=1, max_size=4, unique_by=lambda one: one[0]
    ),
)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_FILED, min_size=1, max_size=6), st.dates(dt.date(2022, 1, 1), dt.date(2022, 1, 12)))
def test_what_is_known_on_a_day_is_what_had_been_filed(
    new_filer: New, tmp_path: Path, unprofiled: None, filings: list[Any], today: dt.date
) -> None:
    """A warehouse as of a day holds the values of one that was built on that day."""

    def known(until: dt.date, as_of: dt.date | None) -> list[list[Any]]:
        filer = new_filer(7, "Cedar Inc.")
        for form, filed, facts in sorted(filings, key=lambda one: one[1]):
            if filed <= until:
                rows = [("NetIncomeLoss", *period, value * 1e6) for period, value in facts]
                filer.file(form, filed.isoformat(), 2021, "FY" if form.startswith("10-K") else "Q3", *rows)
        if not filer.content["facts"]:
            return []
        filer.write(tmp_path)
        made = build(tmp_path, in_folder(tmp_path, []), tmp_path / "one.duckdb")
        with DuckDBWarehouse(made.path, isolated=False) as warehouse:
            for view in ("fact", "fact_known", "fact_quarter", "figure", "annual", "quarterly", "filing"):
                last = warehouse.query(f"SELECT max(filed) AS last FROM {view}", as_of=as_of).data["last"].item()
                assert pd.isna(last) or as_of is None or last <= pd.Timestamp(as_of)
            columns = "period_start, period_end, value, restated, known_since, filed, form, accession, first_basis, last_basis"
            return (
                warehouse.query(f"SELECT {columns} FROM fact_known ORDER BY ALL", as_of=as_of).data.to_numpy().tolist()
            )

    assert known(dt.date.max, today) == known(today, None)
