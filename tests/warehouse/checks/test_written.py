"""Numbers and days kept as texts of several forms: a cast that loses one or reads it as another number goes back, one that reads all passes."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE claims (nr INTEGER, paid VARCHAR, plain VARCHAR, day VARCHAR, key VARCHAR, value VARCHAR, eur DOUBLE);
INSERT INTO claims VALUES (1, '12.50', '12.50', '2024-01-31', 'rate', '0.25', 10), (2, '(8.45)', '-8.45', '17/03/2024', 'rate', '0.5', 20),
    (3, '£ 1,204.00', '1204', '2024-05-01', 'room', '2.B', 40), (4, '7,25', '7.25', 'n/a', 'paid', '12,5', 5), (5, 'n/a', '', NULL, 'label', '1,234', 2);
"""
BARE = "regexp_replace(paid, '[^0-9,.()-]', '', 'g')"
DOTS = f"CASE WHEN regexp_matches({BARE}, ',[0-9]{{1,2}}$') THEN replace({BARE}, ',', '.') ELSE replace({BARE}, ',', '') END"
ALL = f"CASE WHEN ({DOTS}) LIKE '(%' THEN -TRY_CAST(replace(replace({DOTS}, '(', ''), ')', '') AS DOUBLE) ELSE TRY_CAST({DOTS} AS DOUBLE) END"

DAYS = "coalesce(TRY_CAST(day AS DATE), TRY_CAST(try_strptime(day, '%d/%m/%Y') AS DATE))"


@pytest.mark.parametrize(
    ("select", "said"),
    [
        ("SELECT sum(TRY_CAST(paid AS DOUBLE)) AS eur FROM claims", r"claims\.paid also holds numbers written as .* makes missing"),
        (f"SELECT sum(TRY_CAST(replace({BARE}, ',', '') AS DOUBLE)) AS eur FROM claims WHERE nr IN (1, 4)", "as 9,9, which it reads as other"),
        (f"WITH c AS (SELECT nr, {DOTS} AS p FROM claims) SELECT sum(TRY_CAST(p AS DOUBLE)) AS eur FROM c", r"as \(9\.9\), which it makes"),
        (f"SELECT sum(TRY_CAST(regexp_replace({BARE}, '[()]', '', 'g') AS DOUBLE)) AS eur FROM claims WHERE nr = 2", "as other"),
        ("SELECT sum(coalesce(TRY_CAST(paid AS DOUBLE), 0)) AS eur FROM claims WHERE nr IN (1, 2)", r"as \(9\.9\), which it reads as other"),
        ("SELECT sum(eur) AS eur FROM claims WHERE TRY_CAST(day AS DATE) >= DATE '2024-01-01'", "days written as 9/9/9, which it makes missing"),
        ("SELECT count(*) AS n FROM claims WHERE TRY_CAST(paid AS DOUBLE) > 5", "numbers written as"),
    ],
)  # fmt: skip
def test_a_form_that_is_not_read_goes_back(source: DuckDBWarehouse, select: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        Checks(source).run(select, "f")


@pytest.mark.parametrize(
    ("select", "value"),
    [
        (f"WITH c AS (SELECT {ALL} AS p FROM claims) SELECT sum(p) AS eur FROM c", 12.5 - 8.45 + 1204 + 7.25),
        ("SELECT sum(TRY_CAST(plain AS DOUBLE)) AS eur FROM claims", 12.5 - 8.45 + 1204 + 7.25),
        ("SELECT sum(TRY_CAST(paid AS DOUBLE)) AS eur FROM claims WHERE nr IN (1, 5)", 12.5),
        (
            f"SELECT sum(CASE WHEN paid LIKE '(%' THEN -1 ELSE 1 END * TRY_CAST(regexp_replace({BARE}, '[()]', '', 'g') AS DOUBLE)) AS eur FROM claims WHERE nr < 3",
            12.5 - 8.45,
        ),
        # What is read stands in these rows; the others hold something else.
        ("SELECT sum(TRY_CAST(value AS DOUBLE)) AS rate FROM claims WHERE key = 'rate'", 0.75),
        # A part of a text is meant.
        ("SELECT sum(TRY_CAST(split_part(paid, ',', 1) AS DOUBLE)) AS n FROM claims WHERE nr = 4", 7.0),
        (f"SELECT sum(eur) AS eur FROM claims WHERE {DAYS} >= DATE '2024-01-01'", 70.0),
        ("SELECT count(*) AS n FROM claims WHERE CASE WHEN plain LIKE '-%' THEN 0 ELSE eur END > 5", 2),
    ],
)
def test_what_reads_all_forms_passes(source: DuckDBWarehouse, select: str, value: float) -> None:
    checked = Checks(source).run(select, "f")
    assert checked.frame.data.iloc[0, 0] == pytest.approx(value)


def test_no_word_behind_a_day_leaves(tmp_path: Path) -> None:
    path = tmp_path / "days.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE days AS SELECT unnest(['2024-01-31', '31/01/2024 Miller']) AS day")
    with DuckDBWarehouse(path) as days, pytest.raises(QueryError, match="days written as 9/9/9 a, which") as caught:
        Checks(days).run("SELECT count(*) AS n FROM days WHERE TRY_CAST(day AS DATE) > DATE '2024-01-01'", "f")
    assert "Miller" not in str(caught.value)


def test_no_cell_leaves(source: DuckDBWarehouse) -> None:
    with pytest.raises(QueryError) as caught:
        Checks(source).run("SELECT sum(TRY_CAST(paid AS DOUBLE)) AS eur FROM claims WHERE nr IN (1, 2)", "f")
    assert not any(cell in str(caught.value) for cell in ("8.45", "12.5"))
