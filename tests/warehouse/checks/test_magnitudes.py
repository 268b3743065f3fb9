"""Amounts in cents or thousands: sent back where the answer says another unit, noted where it says none, left alone where it says theirs."""

from __future__ import annotations

import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE sales (sale_id INTEGER PRIMARY KEY, day DATE, price_cents BIGINT, fee_minor_units INTEGER, tip DOUBLE, net DOUBLE, units INTEGER);
INSERT INTO sales SELECT i, DATE '2024-01-01' + i::INTEGER, 100 * i, 10, i, i, 2 FROM range(1, 21) t(i);
COMMENT ON COLUMN sales.tip IS 'tip in euro cents';
COMMENT ON COLUMN sales.net IS 'net amount, in thousands of USD';
"""


@pytest.mark.parametrize(
    ("select", "unit", "said"),
    [
        ("SELECT sum(price_cents) FROM sales", "EUR", "SUM(price_cents) is in cents, as sales.price_cents is, and the answer in EUR: divide by 100.0"),
        ("SELECT avg(fee_minor_units) FROM sales", "€", "is in cents"),
        ("SELECT max(tip) FROM sales", "euros", "MAX(tip) is in cents, as sales.tip is"),
        ("SELECT sum(net) FROM sales", "USD", "is in thousands, as sales.net is, and the answer in USD: multiply by 1000"),
        ("SELECT sum(price_cents * units) FROM sales", "EUR", "is in cents"),
        ("SELECT coalesce(sum(CASE WHEN units > 1 THEN price_cents ELSE 0 END), 0) FROM sales", "EUR", "is in cents"),
        ("SELECT day, total FROM (SELECT day, sum(price_cents) AS total FROM sales GROUP BY day) t ORDER BY day", "EUR", "total is in cents"),
        ("SELECT round(sum(price_cents) / count(*), 2) FROM sales", "dollars", "is in cents"),
        ("SELECT (SELECT sum(price_cents) FROM sales)", "GBP", "is in cents"),
    ],
)  # fmt: skip
def test_another_unit_is_sent_back(source: DuckDBWarehouse, select: str, unit: str, said: str) -> None:
    with pytest.raises(QueryError) as raised:
        Checks(source).run(select, answers=True, unit=unit)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("select", "unit", "notes"),
    [
        ("SELECT sum(price_cents) AS total FROM sales", None, ["SUM(price_cents) is in cents, as sales.price_cents is"]),
        ("SELECT sum(net) FROM sales", "", ["SUM(net) is in thousands, as sales.net is"]),
        ("SELECT sum(price_cents) FROM sales", "euro cents", []),
        # Each currency has its own number of digits.
        ("SELECT sum(price_cents / power(10, units)) FROM sales", "EUR", []),
        ("SELECT sum(net) FROM sales", "thousand USD", []),
        ("SELECT sum(price_cents) AS total_cents FROM sales", None, []),
        ("SELECT day, price_cents FROM sales ORDER BY day", "EUR", []),
        ("SELECT sum(price_cents) / 100.0 FROM sales", "EUR", []),
        ("SELECT sum(price_cents)::DOUBLE / 1e2 FROM sales", "EUR", []),
        ("SELECT 1000 * sum(net) FROM sales", "USD", []),
        ("SELECT 100.0 * sum(tip) / sum(price_cents) FROM sales", "percent", []),
        ("SELECT max(price_cents) / min(price_cents)::DOUBLE FROM sales", "", []),
        ("SELECT count(price_cents) FROM sales", "", []),
        ("SELECT day FROM sales ORDER BY price_cents DESC, sale_id LIMIT 1", "", []),
        ("SELECT sum(price_cents / 100.0 + tip / 100) FROM sales", "EUR", []),
    ],
)  # fmt: skip
def test_the_same_unit_none_and_what_is_converted(
    source: DuckDBWarehouse, select: str, unit: str | None, notes: list[str]
) -> None:
    assert [note for note in Checks(source).run(select, answers=True, unit=unit).notes if " is in " in note] == notes


def test_rows_for_a_script_are_left_alone(source: DuckDBWarehouse) -> None:
    assert Checks(source).run("SELECT sum(price_cents) FROM sales", unit="EUR").notes == ()


@pytest.mark.parametrize(
    ("question", "condition", "said"),
    [
        ("How many sales were above 5 euro?", "price_cents > 5", "compare with 500"),
        ("How many sales were between 5 and 7 euro?", "price_cents BETWEEN 5 AND 7", "compare with 500"),
        ("How many sales of 1.5k euro or more?", "1500 <= price_cents", "compare with 150000"),
    ],
)
def test_a_number_of_the_question_is_not_compared_with_cents(
    source: DuckDBWarehouse, question: str, condition: str, said: str
) -> None:
    with pytest.raises(QueryError, match=said):
        Checks(source, question=question).run(f"SELECT count(*) FROM sales WHERE {condition}")


@pytest.mark.parametrize(
    ("question", "condition", "notes"),
    [
        ("How many sales were above 5 euro?", "price_cents > 500", 0),
        ("How many sales were above 5 euro?", "price_cents / 100.0 > 5", 0),
        ("How many sales were above 500 cents?", "price_cents > 500", 0),
        ("How many sales have a price above 0?", "price_cents > 0", 0),
        ("How many sales were above 5 USD net?", "net > 5", 1),
        ("How many sales were above 5 thousand USD net?", "net > 5", 0),
    ],
)
def test_other_numbers_pass(source: DuckDBWarehouse, question: str, condition: str, notes: int) -> None:
    found = Checks(source, question=question).run(f"SELECT count(*) FROM sales WHERE {condition}").notes
    assert sum("and the question says" in note for note in found) == notes
