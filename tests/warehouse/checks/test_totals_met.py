"""A sum over totals and what they are totals of goes back; totals alone, parts alone and names with the word in them pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from finexpert.errors import QueryError, UnknownValue
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE stock (material VARCHAR, rate VARCHAR, state VARCHAR, eur DOUBLE);
INSERT INTO stock VALUES ('Sugar', '3,45 %', 'CANCELLED', 10), ('Salt', '2.9', 'DONE', 5);
CREATE TABLE plan (account VARCHAR, version VARCHAR, gbp DOUBLE);
INSERT INTO plan VALUES ('Revenue, shops', '6+6', 10), ('Revenue, software', '6+6', 5), ('Total revenue', '6+6', 15), ('Rent', '6+6', 3),
    ('Umsatz Inland', '6+6', 4), ('Summe Umsatz', '6+6', 4), ('Total Energies SE', '6+6', 7), ('TotalEnergies Gas', '6+6', 2);
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBWarehouse]:
    path: Path = tmp_path_factory.mktemp("totals") / "plan.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
    with DuckDBWarehouse(path) as opened:
        yield opened


@pytest.mark.parametrize(
    "where",
    [
        "account ILIKE '%revenue%'",
        "lower(account) LIKE '%revenue%'",
        "regexp_matches(account, '(?i)revenue')",
        "account ILIKE '%umsatz%'",
    ],
)
def test_totals_beside_their_parts_go_back(plan: DuckDBWarehouse, where: str) -> None:
    with pytest.raises(QueryError, match="the sum counts both"):
        Checks(plan).run(f"SELECT sum(gbp) AS total FROM plan WHERE {where}", "f")


@pytest.mark.parametrize(
    ("select", "value"),
    [
        ("SELECT sum(gbp) AS total FROM plan WHERE account ILIKE '%revenue%' AND account NOT ILIKE 'total%'", 15.0),
        ("SELECT sum(gbp) AS total FROM plan WHERE account ILIKE 'total revenue'", 15.0),
        ("SELECT sum(gbp) AS total FROM plan WHERE account ILIKE 'revenue%'", 15.0),
        ("SELECT sum(gbp) AS total FROM plan WHERE account IN ('Revenue, shops', 'Revenue, software')", 15.0),
        ("SELECT count(*) AS n FROM plan WHERE account ILIKE '%revenue%'", 3),
        ("SELECT sum(gbp) AS total FROM plan WHERE account ILIKE 'rent%'", 3.0),
    ],
)
def test_one_or_the_other_passes(plan: DuckDBWarehouse, select: str, value: float) -> None:
    assert Checks(plan).run(select, "f").frame.data.iloc[0, 0] == value


@pytest.mark.parametrize(
    ("where", "passes"),
    [
        ("lower(material) NOT LIKE '%total%'", True),
        ("upper(rate) NOT LIKE '%EURIBOR%'", True),
        ("state <> 'CANCELED'", False),
        ("material NOT LIKE 'Sugars%'", False),
        ("rate NOT LIKE '%7%'", False),
    ],
)
def test_a_guard_that_leaves_out_nothing_is_said(plan: DuckDBWarehouse, where: str, passes: bool) -> None:
    checks = Checks(plan)
    if passes:
        assert any(
            "leaves out nothing" in note
            for note in checks.run(f"SELECT sum(eur) AS eur FROM stock WHERE {where}", "f").notes
        )
    else:
        with pytest.raises(UnknownValue):
            checks.run(f"SELECT sum(eur) AS eur FROM stock WHERE {where}", "f")
