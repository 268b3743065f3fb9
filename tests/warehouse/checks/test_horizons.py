"""Tables without dates beside dated ones, as of a day: read where an equality has to hold, and what is kept all the same is said."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import duckdb
import pytest

from finexpert.errors import AsOfError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

DAY = dt.date(2020, 6, 30)
TABLES = """
CREATE TABLE s AS SELECT DATE '2020-01-01' + i::INTEGER AS date, 'k' || i AS k, i AS amount FROM range(0, 400) t(i);
CREATE TABLE d AS SELECT 'k' || i AS k, 'j' || i AS j, 'label ' || i AS label FROM range(0, 400) t(i);
"""


def opened(folder: Path) -> DuckDBWarehouse:
    with duckdb.connect(str(folder / "labels.duckdb")) as connection:
        connection.execute(TABLES)
    return DuckDBWarehouse(folder / "labels.duckdb", isolated=False)


@pytest.mark.parametrize(
    "select",
    [
        "SELECT max(label) FROM d",
        "SELECT max(d.label) FROM d CROSS JOIN s WHERE d.k = s.k OR true",
        "SELECT max(d.label) FROM d, s WHERE d.k = s.k OR s.amount >= 0",
        "SELECT max(d.label) FROM d JOIN s ON NOT (d.k = s.k)",
        "SELECT max(d.label), sum(CASE WHEN d.k = s.k THEN 1 END) FROM d CROSS JOIN s",
        "SELECT max(d.label), count(*) FILTER (WHERE d.k = s.k) FROM d CROSS JOIN s",
    ],
)
def test_an_equality_that_need_not_hold_ties_no_undated_table(tmp_path: Path, select: str) -> None:
    with (
        opened(tmp_path) as source,
        pytest.raises(AsOfError, match="d cannot be seen as of 2020-06-30"),
    ):
        Checks(source, as_of=DAY).run(select)


KEPT = "JOIN keeps its rows that have no row of s as of then"


@pytest.mark.parametrize(
    ("select", "kept"),
    [
        ("SELECT max(d.label) FROM d JOIN s USING (k)", False),
        ("SELECT max(d.label) FROM d, s WHERE (s.amount > 0 AND (d.k = s.k))", False),
        ("SELECT max(d.label) FROM d JOIN s ON d.k = s.k OR (d.j = s.k AND s.amount > 1)", False),
        ("SELECT max(d.label) FROM d WHERE EXISTS (SELECT 1 FROM s WHERE upper(s.k) = upper(d.k))", False),
        ("SELECT (SELECT max(d.label) FROM d WHERE d.k = s.k) AS l, s.k FROM s ORDER BY s.k LIMIT 3", False),
        ("SELECT max(d.label) FROM (SELECT k AS key FROM s) AS t JOIN d ON d.k = t.key", False),
        ("SELECT max(d.label) FROM s LEFT JOIN d USING (k)", False),
        ("SELECT max(d.label) FROM d RIGHT JOIN s ON d.k = s.k", False),
        ("SELECT max(d.label) FROM d LEFT JOIN s ON d.k = s.k WHERE s.amount > 0", False),
        ("SELECT max(d.label) FROM d LEFT JOIN s USING (k)", True),
        ("SELECT max(d.label) FROM d LEFT JOIN s ON d.k = s.k AND s.amount > 0 WHERE d.j <> 'j1'", True),
        ("SELECT max(d.label) FROM s RIGHT JOIN d ON d.k = s.k", True),
        ("SELECT max(d.label) FROM s FULL JOIN d ON d.k = s.k", True),
    ],
)
def test_an_undated_table_beside_a_dated_one_is_read_and_what_an_outer_join_keeps_is_said(
    tmp_path: Path, select: str, kept: bool
) -> None:
    with opened(tmp_path) as source:
        notes = Checks(source, as_of=DAY).run(select).notes
    assert any(note.startswith("d has no date column") for note in notes)
    assert any(KEPT in note for note in notes) is kept
