"""Company facts in the form of EDGAR, of companies that do not exist.

Alder      fiscal years end with December; sells a division in 2022 and restates 2021 for it
Birch      a shop: years of 52 or 53 weeks that end around the first of February, named after the year in which they start
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.edgar.database import Built, build
from finexpert.datasets.edgar.symbols import in_folder
from finexpert.settings import Settings
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
from finexpert.warehouse.opening import open_duckdb

ALDER, BIRCH = 1001, 2002


class Filer:
    """Writes the facts of one company, filing by filing."""

    def __init__(self, cik: int, name: str) -> None:
        self.content: dict[str, Any] = {"cik": cik, "entityName": name, "facts": {}}
        self._filings = 0

    def file(self, form: str, filed: str, fy: int | None, fp: str | None, *facts: tuple[Any, ...]) -> str:
        """A filing of facts (concept, start or None, end, value[, unit]); its accession number is given back."""
        self._filings += 1
        accession = f"{self.content['cik']:010d}-{filed[2:4]}-{self._filings:06d}"
        for concept, start, end, value, *unit in facts:
            taxonomy, _, name = concept.rpartition(":")
            named = self.content["facts"].setdefault(taxonomy or "us-gaap", {})
            entry = named.setdefault(name, {"label": f"{name} label", "description": f"What {name} is.", "units": {}})
            row = {"end": end, "val": value, "accn": accession, "fy": fy, "fp": fp, "form": form, "filed": filed}
            entry["units"].setdefault(unit[0] if unit else "USD", []).append(({"start": start} if start else {}) | row)
        return accession

    def write(self, folder: Path) -> Path:
        """The file as EDGAR serves it."""
        path = folder / f"CIK{self.content['cik']:010d}.json"
        path.write_text(json.dumps(self.content))
        return path


def flows(concept: str, year: int, *so_far: float) -> list[tuple[Any, ...]]:
    """A concept since the start of a calendar year, after one, two, three and four quarters."""
    ends = ("03-31", "06-30", "09-30", "12-31")
    return [(concept, f"{year}-01-01", f"{year}-{end}", value) for end, value in zip(ends, so_far, strict=False)]


def alder() -> Filer:
    """The facts of Alder, in the order in which they were filed. Amounts in millions, to be read at a glance."""
    filer = Filer(ALDER, "Alder Works Inc.")
    m = 1_000_000
    sales, income, cash = "Revenues", "NetIncomeLoss", "NetCashProvidedByUsedInOperatingActivities"
    filer.file("10-K", "2021-02-20", 2020, "FY",
               *flows(sales, 2020, 0, 0, 0, 900 * m)[3:], *flows(income, 2020, 0, 0, 0, 90 * m)[3:],
               *flows(cash, 2020, 0, 0, 0, 120 * m)[3:],
               ("Assets", None, "2020-12-31", 2000 * m), ("StockholdersEquity", None, "2020-12-31", 800 * m))  # fmt: skip
    told = {sales: (200, 430, 690, 1000), income: (20, 45, 66, 100), cash: (25, 60, 95, 150)}
    eps = (0.40, 0.50, 0.42)
    for quarter, (end, filed) in enumerate((("03-31", "04-30"), ("06-30", "07-30"), ("09-30", "10-29"))):
        facts = [flows(name, 2021, *(v * m for v in values))[quarter] for name, values in told.items()]
        start = ("01-01", "04-01", "07-01")[quarter]
        if quarter:
            facts += [(sales, f"2021-{start}", f"2021-{end}", (told[sales][quarter] - told[sales][quarter - 1]) * m)]
        facts += [("EarningsPerShareDiluted", f"2021-{start}", f"2021-{end}", eps[quarter], "USD/shares"),
                  ("Assets", None, f"2021-{end}", (2100 + 100 * quarter) * m),
                  ("Assets", None, "2020-12-31", 2000 * m)]  # fmt: skip
        filer.file("10-Q", f"2021-{filed}", 2021, f"Q{quarter + 1}", *facts)
    filer.file("10-K", "2022-02-18", 2021, "FY",
               *(flows(name, 2021, *(v * m for v in values))[3] for name, values in told.items()),
               *flows(sales, 2020, 0, 0, 0, 900 * m)[3:], *flows(income, 2020, 0, 0, 0, 90 * m)[3:],
               # A text tells the year's sales in billions, beside the statement.
               *flows(sales, 2021, 0, 0, 0, 1000 * m)[3:],
               ("EarningsPerShareDiluted", "2021-01-01", "2021-12-31", 2.0, "USD/shares"),
               ("WeightedAverageNumberOfDilutedSharesOutstanding", "2021-01-01", "2021-12-31", 50_000_000, "shares"),
               ("CommonStockSharesOutstanding", None, "2021-12-31", 49_000_000, "shares"),
               ("dei:EntityCommonStockSharesOutstanding", None, "2022-02-10", 48_500_000, "shares"),
               ("EffectiveIncomeTaxRateContinuingOperations", "2021-01-01", "2021-12-31", 0.21, "pure"),
               ("GrossProfit", "2021-01-01", "2021-12-31", 400 * m),
               ("Assets", None, "2021-12-31", 2400 * m), ("Assets", None, "2020-12-31", 2000 * m),
               ("StockholdersEquity", None, "2021-12-31", 1000 * m))  # fmt: skip
    # An amendment corrects the net income of the year; its nine months were never corrected.
    filer.file("10-K/A", "2022-06-01", 2021, "FY", *flows(income, 2021, 0, 0, 0, 96 * m)[3:])
    # A proxy statement tells net income in millions, and tags it as dollars.
    filer.file("DEF 14A", "2022-07-01", 2021, "FY", *flows(income, 2021, 0, 0, 0, 96)[3:])
    return filer


def birch() -> Filer:
    """The facts of Birch: a year of 52 weeks and one of 53, with quarters of 13 weeks."""
    filer = Filer(BIRCH, "Birch Stores Corp.")
    m, sales, income = 1_000_000, "RevenueFromContractWithCustomerExcludingAssessedTax", "NetIncomeLoss"
    filer.file("10-K", "2020-03-20", 2019, "FY", (sales, "2019-02-03", "2020-02-01", 5000 * m),
               (income, "2019-02-03", "2020-02-01", 200 * m), ("Assets", None, "2020-02-01", 3000 * m),
               ("InventoryNet", None, "2020-02-01", 500 * m))  # fmt: skip
    for quarter, (end, filed, so_far) in enumerate(
        (("2020-05-02", "2020-05-28", 1200), ("2020-08-01", "2020-08-27", 2500), ("2020-10-31", "2020-11-25", 3900))
    ):
        filer.file("10-Q", filed, 2020, f"Q{quarter + 1}", (sales, "2020-02-02", end, so_far * m),
                   (income, "2020-02-02", end, so_far * m / 20))  # fmt: skip
    filer.file("10-K", "2021-03-19", 2020, "FY", (sales, "2020-02-02", "2021-01-30", 5500 * m),
               (sales, "2019-02-03", "2020-02-01", 5000 * m), (income, "2020-02-02", "2021-01-30", 250 * m),
               ("Assets", None, "2021-01-30", 3200 * m), ("InventoryNet", None, "2021-01-30", 550 * m),
               ("CostOfRevenue", "2020-02-02", "2021-01-30", 4200 * m))  # fmt: skip
    filer.file("10-Q", "2021-05-27", 2021, "Q1", (sales, "2021-01-31", "2021-05-01", 1500 * m),
               (income, "2021-01-31", "2021-05-01", 75 * m))  # fmt: skip
    return filer


TICKERS = {"0": {"cik_str": ALDER, "ticker": "ALDR", "title": "Alder Works Inc."},
           "1": {"cik_str": BIRCH, "ticker": "BRC-B", "title": "Birch Stores Corp."}}  # fmt: skip


@pytest.fixture(scope="session")
def facts_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as EDGAR would be fetched into."""
    folder = tmp_path_factory.mktemp("edgar")
    (folder / "company_tickers.json").write_text(json.dumps(TICKERS))
    alder().write(folder)
    birch().write(folder)
    return folder


@pytest.fixture(scope="session")
def built(facts_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The warehouse of both companies."""
    return build(facts_folder, in_folder(facts_folder, []), tmp_path_factory.mktemp("built") / "edgar.duckdb")


@pytest.fixture(scope="session")
def facts(built: Built) -> Iterator[DuckDBWarehouse]:
    """The warehouse, opened as a question opens it: with its semantic model."""
    with open_duckdb(built.path, Settings()) as warehouse:
        yield warehouse


@pytest.fixture
def new_filer() -> Callable[[int, str], Filer]:
    """Starts another company."""
    return Filer


@pytest.fixture
def unprofiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening looks for no keys and dates in the rows, which takes seconds; the model of these data names them."""
    monkeypatch.setattr("finexpert.warehouse.profile.SECONDS", 0.0)


@pytest.fixture
def at(tmp_path: Path, unprofiled: None) -> Callable[[Filer], DuckDBWarehouse]:
    """The warehouse of one company that a test makes up."""

    def opened(filer: Filer) -> DuckDBWarehouse:
        filer.write(tmp_path)
        made = build(tmp_path, in_folder(tmp_path, []), tmp_path / "one.duckdb")
        return open_duckdb(made.path, Settings())

    return opened
