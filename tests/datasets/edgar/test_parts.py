"""Concepts that may be a mere part of a line: they stand for it where nothing else of it was filed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from finexpert.datasets.edgar.measures import lines, parts
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

DAY = "2021-12-31"
CHAINS = [(name, concept) for name, line in lines().items() for concept in line.concepts]


@pytest.mark.parametrize(
    ("line", "concept", "other"),
    [
        (line, concept.removeprefix("us-gaap:"), other.removeprefix("us-gaap:"))
        for concept, other in parts()
        for line, of in CHAINS
        if of == concept
    ],
)
def test_a_part_is_the_line_where_nothing_is_beside_it(
    new_filer: Callable[[int, str], Any], at: Callable[[Any], DuckDBWarehouse], line: str, concept: str, other: str
) -> None:
    """The other concept is filed a day later: 0 in the year before, and something in this year."""
    filer = new_filer(7, "Cedar Inc.")
    years = [("NetIncomeLoss", f"{year}-01-01", f"{year}-12-31", 1e6) for year in (2020, 2021)]
    filer.file("10-K", "2022-02-01", 2021, "FY", *years, (concept, None, "2020-12-31", 4e6), (concept, None, DAY, 5e6))
    filer.file("10-K/A", "2022-02-02", 2021, "FY", (other, None, "2020-12-31", 0), (other, None, DAY, 50e6))
    with at(filer) as warehouse:

        def known(day: dt.date | None) -> list[Any]:
            select = f"SELECT {line} AS value FROM annual ORDER BY fiscal_year"
            return [None if pd.isna(value) else value for value in warehouse.query(select, as_of=day).data["value"]]

        assert known(dt.date(2022, 2, 1)) == [4e6, 5e6]
        assert known(None) == [4e6, None]


def test_every_part_is_of_a_line() -> None:
    assert {concept for concept, _ in parts()} <= {concept for _, concept in CHAINS}
    assert not {other for _, other in parts()} & {concept for _, concept in CHAINS}


def test_software_is_research_too(new_filer: Callable[[int, str], Any], at: Callable[[Any], DuckDBWarehouse]) -> None:
    filer = new_filer(7, "Cedar Inc.")
    concept = "ResearchAndDevelopmentExpenseSoftwareExcludingAcquiredInProcessCost"
    year = ("2021-01-01", DAY)
    filer.file("10-K", "2022-02-01", 2021, "FY", ("NetIncomeLoss", *year, 1e6), (concept, *year, 3e6))
    with at(filer) as warehouse:
        assert warehouse.query("SELECT research_and_development AS value FROM annual").data["value"].tolist() == [3e6]
