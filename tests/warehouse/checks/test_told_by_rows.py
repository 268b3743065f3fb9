"""A term that a model calls unclear is not asked about where its SELECT reads the meaning out of the house's own rows, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse

TABLES = """
CREATE TABLE settings (skey VARCHAR, sval VARCHAR);
INSERT INTO settings VALUES ('fiscal.start_month', '2'), ('week.start', 'Monday'), ('fiscal.label', 'by its end'), ('slow.days', 'x');
CREATE TABLE codes (skey VARCHAR, sval VARCHAR);
INSERT INTO codes VALUES ('fiscal.start_month', '2');
CREATE TABLE sales (day DATE, amount DOUBLE);
INSERT INTO sales VALUES ('2023-01-10', 1), ('2023-03-10', 2), ('2024-01-10', 4), ('2024-02-10', 8), ('2024-08-10', 16);
"""
SINCE = "SELECT sum(amount) AS total FROM sales WHERE day >= make_date(2023, {}, 1) AND day < make_date(2024, {}, 1)"
READ = "(SELECT TRY_CAST(sval AS INTEGER) FROM settings WHERE {})"


def since(test: str, fallback: str = "") -> str:
    month = READ.format(test)
    month = f"coalesce({month}, {fallback})" if fallback else month
    return SINCE.format(month, month)


@pytest.mark.parametrize(
    "select",
    [
        since("skey = 'fiscal.start_month'"),
        since("skey ILIKE '%fisc%' AND skey ILIKE '%start%'", "7"),
        since("lower(skey) IN ('fiscal.start_month', 'fiscal_start_month', 'fy_start')"),
        (
            "WITH s AS (SELECT max(CASE WHEN skey LIKE 'fiscal.start%' THEN sval END)::INTEGER AS m FROM settings), "
            "f AS (SELECT make_date(2023, coalesce(m, 1), 1) AS first FROM s) "
            "SELECT sum(amount) AS total FROM sales CROSS JOIN f WHERE day >= first AND day < first + INTERVAL 1 YEAR"
        ),
    ],
)
@pytest.mark.parametrize("term", ["fiscal year 2023", "FY2024", "Fiscal quarter"])
def test_what_a_row_tells(source: Any, select: str, term: str) -> None:
    assert Checks(source).house_rows.told([select], [term, "good customers"]) == {term: "settings"}


@pytest.mark.parametrize(
    "select",
    [
        # No row has the key; one has it and holds no month, so that the result is the one of the fallback.
        since("skey = 'fy_begin_month'", "7"),
        since("skey = 'fiscal.label'", "7"),
        # It is the key of something else, or of a table that holds no rules.
        since("skey = 'week.start'", "7"),
        since("skey = 'fiscal.start_month'").replace("settings", "codes"),
        # It is read, and decides nothing.
        f"SELECT sum(amount) AS total FROM sales WHERE {READ.format('skey = ' + repr('fiscal.start_month'))} IS NOT NULL OR day IS NOT NULL",
        SINCE.format(2, 2),
        "SELECT nothing FROM",
    ],
)
def test_what_no_row_tells(source: Any, select: str) -> None:
    assert Checks(source).house_rows.told([select], ["fiscal year 2023", "FY2024"]) == {}


def test_other_terms_are_asked_about(source: Any) -> None:
    select = since("skey = 'fiscal.start_month'")
    assert Checks(source).house_rows.told([select], ["year", "slow quarter", "our fees"]) == {}
    assert Checks(source).house_rows.told([], ["fiscal year"]) == {}


@pytest.mark.parametrize(
    ("question", "select", "told"),
    [
        ("What was the management fee of Q4?", "SELECT sum(fee) AS fee FROM fees", True),
        ("What was the utilisation?", "SELECT sum(fee) AS fee FROM fees", True),
        ("What was the fee of Q4?", "SELECT sum(fee) AS fee FROM fees", False),
        ("What is the management fee?", "SELECT definition FROM glossary WHERE term = 'Management fee'", False),
    ],
)
def test_a_word_that_the_house_explains_and_nobody_read_is_said(
    tmp_path: Path, question: str, select: str, told: bool
) -> None:
    words = pd.DataFrame({"term": ["Management fee", "Utilisation / use"], "definition": ["CANARY one", "CANARY two"]})
    fees = pd.DataFrame({"fee": [1.0, 2.0]})
    path = build_warehouse(tmp_path / "own.duckdb", [Table("glossary", words), Table("fees", fees)])
    with DuckDBWarehouse(path) as source:
        said = Checks(source).house_rows.unread([select], question)
    assert bool(said) is told
    assert "CANARY" not in "".join(said)
    if told:
        assert (
            "means here, and no model read it: look there, or let models read it (`finexpert model publish glossary`)"
            in said[0]
        )
