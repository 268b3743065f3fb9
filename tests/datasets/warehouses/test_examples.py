"""The example warehouses: made up the same each time, other numbers under the same schema, and gaps to mind."""

from __future__ import annotations

import pandas as pd
import pytest

from finexpert.datasets.warehouses.examples import SCENARIOS, open_scenario
from finexpert.errors import DataError

MADE_UP = sorted(set(SCENARIOS) - {"economy"})


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_a_variant_has_other_numbers_under_the_same_schema(name: str) -> None:
    first, second = open_scenario(name), open_scenario(name, variant=1)
    assert first.schema_card() == second.schema_card()
    assert first.columns() == second.columns()
    rows = [
        [source.query(f"SELECT * FROM {table}").fingerprint for table in source.columns()] for source in (first, second)
    ]
    assert rows[0] != rows[1]
    assert "made-up" in (first.label or "")


@pytest.mark.parametrize("name", MADE_UP)
@pytest.mark.parametrize("variant", [0, 1])
def test_the_same_numbers_come_out_each_time(name: str, variant: int) -> None:
    for one, other in zip(SCENARIOS[name](variant), SCENARIOS[name](variant), strict=True):
        pd.testing.assert_frame_equal(one.data, other.data)


@pytest.mark.parametrize("name", MADE_UP)
def test_every_table_of_a_variant_has_other_numbers(name: str) -> None:
    for one, other in zip(SCENARIOS[name](0), SCENARIOS[name](1), strict=True):
        assert not one.data.equals(other.data), one.name


@pytest.mark.parametrize("name", MADE_UP)
@pytest.mark.parametrize("variant", [0, 1])
def test_comments_categories_gaps_long_and_wide(name: str, variant: int) -> None:
    tables = SCENARIOS[name](variant)
    assert all(table.comment for table in tables)
    for table in tables:
        numbers = table.data.select_dtypes("number").columns
        assert set(numbers) <= set(table.column_comments), table.name
    assert sum(len(table.categories) for table in tables) >= 3
    assert sum(bool(table.data.select_dtypes("number").isna().any().any()) for table in tables) >= 2
    assert any("long" in table.comment for table in tables)
    assert any("wide" in table.comment for table in tables)


def test_a_warehouse_is_opened_once() -> None:
    assert open_scenario("bank", 1) is open_scenario("bank", 1)


def test_an_unknown_scenario_is_named() -> None:
    with pytest.raises(DataError, match="no scenario 'funds'; there are bank, companies, economy, fund"):
        open_scenario("funds")


@pytest.mark.parametrize("variant", [0, 1])
@pytest.mark.parametrize(
    ("scenario", "select"),
    [
        ("bank", "SELECT * FROM loans WHERE (rate IS NULL) = (margin IS NULL)"),
        ("bank", "SELECT * FROM balances JOIN loans USING (loan_id) WHERE balance > principal OR date < originated"),
        ("bank", "SELECT * FROM payments WHERE amount <= 0"),
        ("fund", "SELECT * FROM securities WHERE (sector IS NULL) = (asset_class = 'Equity')"),
        ("fund", "SELECT * FROM positions WHERE quantity < 0"),
        ("fund", "SELECT * FROM positions LEFT JOIN prices USING (date, security_id) WHERE close IS NULL"),
        ("companies", "SELECT * FROM income WHERE revenue <= 0 OR operating_income > revenue"),
        ("companies", "SELECT * FROM share_prices WHERE close <= 0"),
    ],
)
def test_no_row_breaks_what_the_comments_say(scenario: str, select: str, variant: int) -> None:
    assert open_scenario(scenario, variant).query(select).data.empty
