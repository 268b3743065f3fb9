"""Rows that were never paid, rates that are missing in a CASE, and values that are rounded row by row."""

from __future__ import annotations

import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE invoices AS SELECT i AS invoice_id, DATE '2024-02-01' + (i % 100)::INTEGER AS due_date, CASE WHEN i % 4 > 0 THEN DATE '2024-02-01' + (i % 150)::INTEGER END AS paid_on,
  DATE '2024-01-01' + (i % 100)::INTEGER AS issued_on, i * 1.237::DOUBLE AS amount, (i * 125 / 100.0)::DECIMAL(12, 2) AS fee, i AS units, 2 * i AS pairs, i % 3 = 0 AS late FROM range(1, 401) t(i);
CREATE TABLE pays AS SELECT i AS id, DATE '2024-01-01' + (i % 20)::INTEGER AS day, (['USD', 'EUR', 'GBP', 'JPY'])[1 + i % 4] AS currency, i::DOUBLE AS amount,
  i % 3 AS side FROM range(1, 101) t(i);
CREATE TABLE two AS SELECT * FROM pays WHERE currency IN ('USD', 'EUR');
CREATE TABLE fx AS SELECT DATE '2024-01-01' + d::INTEGER AS day, c AS currency, r::DOUBLE AS rate FROM range(15) a(d), (VALUES ('EUR', 1.1), ('GBP', 1.27)) b(c, r);
CREATE TABLE all_fx AS SELECT DATE '2024-01-01' + d::INTEGER AS day, c AS currency, r::DOUBLE AS rate
  FROM range(20) a(d), (VALUES ('EUR', 1.1), ('GBP', 1.27), ('JPY', 0.007), ('USD', 1.0)) b(c, r);
"""


def notes(source: DuckDBWarehouse, select: str, question: str = "") -> list[str]:
    return list(Checks(source, question=question).run(select, answers=True).notes)


@pytest.mark.parametrize(
    "select",
    [
        "SELECT sum(round(amount)) FROM invoices",
        "SELECT avg(round(amount, 1)) FROM invoices",
        "SELECT sum(amount::INTEGER) FROM invoices",
        "SELECT sum(units // 2) FROM invoices",
        "SELECT sum(round(amount * 1.1, 1) * 2) FROM invoices",
        "SELECT sum(r) FROM (SELECT round(amount) AS r FROM invoices)",
    ],
)
def test_what_is_rounded_row_by_row_is_said(source: DuckDBWarehouse, select: str) -> None:
    (note,) = notes(source, select)
    assert "rounds in each row" in note


@pytest.mark.parametrize(
    "select",
    [
        "SELECT round(sum(amount)) FROM invoices",
        "SELECT sum(round(fee, 2)) FROM invoices",
        "SELECT sum(pairs // 2) FROM invoices",
        "SELECT sum(units::BIGINT) FROM invoices",
        "SELECT sum((units > 3)::INTEGER) FROM invoices",
        "SELECT sum(late::INTEGER) FROM invoices",
        "SELECT units // 100 AS bucket, count(*) AS n FROM invoices GROUP BY 1 ORDER BY 1",
        "SELECT max(round(amount)) FROM invoices",
    ],
)
def test_what_loses_nothing_by_it_passes(source: DuckDBWarehouse, select: str) -> None:
    assert notes(source, select) == []


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("How many invoices were not paid by 31 March 2024?", "paid_on > DATE '2024-03-31'"),
        ("How many invoices were not yet paid by 31 March 2024?", "NOT (paid_on <= DATE '2024-03-31')"),
        ("How many invoices were unpaid at the end of March 2024?", "DATE '2024-04-01' <= paid_on"),
        ("What was outstanding on 31 March 2024?", "issued_on <= DATE '2024-03-31' AND paid_on > DATE '2024-03-31'"),
        ("How many had not been paid by March 2024?", "CAST(paid_on AS DATE) > DATE '2024-03-31'"),
    ],
)
def test_what_was_never_done_was_not_done_by_a_day(source: DuckDBWarehouse, question: str, condition: str) -> None:
    with pytest.raises(QueryError, match="add OR paid_on IS NULL"):
        notes(source, f"SELECT count(*) FROM invoices WHERE {condition}", question)


def test_late_may_be_meant_of_what_was_done(source: DuckDBWarehouse) -> None:
    select = "SELECT count(*) FROM invoices WHERE paid_on > due_date"
    assert any("may not have been done" in note for note in notes(source, select, "How many invoices are overdue?"))


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("How many invoices were not paid by 31 March 2024?", "paid_on IS NULL OR paid_on > DATE '2024-03-31'"),
        ("How many were not paid by 31 March 2024?", "coalesce(paid_on, DATE '2999-12-31') > DATE '2024-03-31'"),
        ("How many were paid after 31 March 2024?", "paid_on > DATE '2024-03-31'"),
        ("How many were paid late?", "paid_on > due_date"),
        ("How many overdue invoices were paid after March 2024?", "paid_on > DATE '2024-03-31'"),
        ("How many unpaid invoices were due after March 2024?", "paid_on IS NULL AND due_date > DATE '2024-03-31'"),
        ("How many are not due by 31 March 2024?", "due_date > DATE '2024-03-31'"),
    ],
)
def test_right_conditions_on_days_pass(source: DuckDBWarehouse, question: str, condition: str) -> None:
    assert not [
        note for note in notes(source, f"SELECT count(*) FROM invoices WHERE {condition}", question) if "done" in note
    ]


JOINED = "ON f.currency = p.currency AND f.day = p.day"


@pytest.mark.parametrize(
    ("select", "said"),
    [
        (f"SELECT sum(CASE WHEN p.currency = 'USD' THEN p.amount ELSE p.amount * f.rate END) FROM pays p LEFT JOIN fx f {JOINED}", "none of its branches or rates"),
        ("SELECT sum(CASE WHEN currency = 'USD' THEN amount WHEN currency = 'EUR' THEN amount * 1.1 END) FROM pays", "none of its branches or rates"),
        ("SELECT sum(CASE currency WHEN 'USD' THEN 1 WHEN 'EUR' THEN 1.1 END * amount) FROM pays", "none of its branches or rates"),
        ("SELECT sum(p.amount * (SELECT f.rate FROM fx f WHERE f.currency = p.currency AND f.day = p.day)) FROM pays p", "none of its branches or rates"),
        ("SELECT sum(amount * CASE WHEN currency = 'EUR' THEN 1.1 WHEN currency = 'GBP' THEN 1.27 ELSE 1 END) FROM pays", "alike by its ELSE: JPY, USD"),
        (f"SELECT sum(CASE WHEN f.rate IS NULL THEN p.amount ELSE p.amount * f.rate END) FROM pays p LEFT JOIN fx f {JOINED}", "multiplies by 1 where rate is missing"),
        (f"SELECT sum(p.amount * f.rate) FROM pays p JOIN fx f {JOINED}", "leaves out rows for which fx has no rate"),
        (f"SELECT sum(p.amount / f.rate) FROM pays p JOIN fx f {JOINED} WHERE p.day > DATE '2024-01-02'", "leaves out rows for which fx has no rate"),
    ],
)  # fmt: skip
def test_a_rate_that_is_missing_is_said(source: DuckDBWarehouse, select: str, said: str) -> None:
    assert any(said in note for note in notes(source, select))


@pytest.mark.parametrize(
    "select",
    [
        f"SELECT sum(p.amount * f.rate) FROM pays p JOIN all_fx f {JOINED}",
        f"SELECT sum(CASE WHEN p.currency = 'USD' THEN p.amount ELSE p.amount * f.rate END) FROM pays p LEFT JOIN all_fx f {JOINED}",
        "SELECT sum(CASE WHEN currency = 'USD' THEN amount WHEN currency = 'EUR' THEN amount * 1.1 END) FROM two",
        "SELECT sum(amount * CASE WHEN currency = 'EUR' THEN 1.1 ELSE 1 END) FROM two",
        "SELECT sum(CASE WHEN currency = 'EUR' THEN amount * 1.1 END) FROM pays WHERE currency = 'EUR'",
        "SELECT sum(CASE WHEN side = 1 THEN id * 2 END) FROM pays",
        "SELECT sum(CASE WHEN currency = 'USD' THEN amount ELSE 0 END) FROM pays",
        f"SELECT sum(p.id * f.rate) FROM pays p JOIN fx f {JOINED} WHERE f.currency = 'EUR'",
    ],
)
def test_where_each_row_has_its_rate_nothing_is_said(source: DuckDBWarehouse, select: str) -> None:
    assert not [note for note in notes(source, select) if "matched" not in note]
