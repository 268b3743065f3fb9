"""Days as texts of several forms: a comparison that reads one form goes back, one that reads all of them or meets one form alone passes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE bills (nr INTEGER, mixed VARCHAR, iso VARCHAR, compact VARCHAR, eur DOUBLE);
INSERT INTO bills VALUES (1, '20231005', '2023-10-05', '20231005', 10), (2, '2023-11-06', '2023-11-06', '20231106', 20),
    (3, '07.12.2023', '2023-12-07', '20231207', 40), (4, '', '', '00000000', 1), (5, '00000000', '2023-12-08T10:00:00', '99991231', 2);
"""
ALL_FORMS = "CASE WHEN mixed LIKE '__.__.____' THEN substr(mixed, 7, 4) || substr(mixed, 4, 2) || substr(mixed, 1, 2) ELSE replace(mixed, '-', '') END"


@pytest.fixture(scope="module")
def bills(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBWarehouse]:
    path: Path = tmp_path_factory.mktemp("forms") / "bills.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
    with DuckDBWarehouse(path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("where", "form"),
    [
        ("substr(replace(trim(mixed), '-', ''), 1, 8) BETWEEN '20231001' AND '20240930'", "99.99.9999"),
        ("replace(mixed, '-', '') >= '20231001' AND replace(mixed, '-', '') < '20241001'", "99.99.9999"),
        ("trim(mixed) BETWEEN '2023-10-01' AND '2024-09-30'", "9"),
    ],
)
def test_a_form_that_is_not_read_goes_back(bills: DuckDBWarehouse, where: str, form: str) -> None:
    with pytest.raises(QueryError, match=f"bills.mixed also holds dates of the form {form}"):
        Checks(bills).run(f"SELECT sum(eur) AS eur FROM bills WHERE {where}", "f")


@pytest.mark.parametrize(
    ("where", "eur"),
    [
        (f"{ALL_FORMS} BETWEEN '20231001' AND '20240930'", 70.0),
        ("substr(compact, 1, 8) BETWEEN '20231001' AND '20240930'", 70.0),
        ("substr(iso, 1, 10) BETWEEN '2023-10-01' AND '2024-09-30'", 72.0),
    ],
)
def test_what_reads_every_form_passes(bills: DuckDBWarehouse, where: str, eur: float) -> None:
    assert Checks(bills).run(f"SELECT sum(eur) AS eur FROM bills WHERE {where}", "f").frame.data["eur"].item() == eur


@pytest.mark.parametrize(
    "left_out", ["'', '00000000'", "'0000-00-00', '00.00.0000', '0'", "'9999-12-31', '99991231', 'none'"]
)
def test_days_that_stand_for_none_may_be_left_out_where_there_are_none(bills: DuckDBWarehouse, left_out: str) -> None:
    select = f"SELECT count(*) AS n FROM bills WHERE trim(iso) NOT IN ({left_out}) AND nr < 4"
    assert Checks(bills).run(select, "f").frame.data["n"].item() == 3


@pytest.mark.parametrize("side", ["substr(iso, 1, 10)::DATE", "TRY_CAST(nullif(substr(iso, 1, 10), '') AS DATE)"])
def test_what_is_made_a_date_is_compared_as_one(bills: DuckDBWarehouse, side: str) -> None:
    select = f"SELECT count(*) AS n FROM bills WHERE nr <> 4 AND {side} >= '2023-11-01'"
    assert Checks(bills).run(select, "f").frame.data["n"].item() == 3
