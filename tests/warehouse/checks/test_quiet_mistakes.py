"""SELECTs of an ordinary strong model that run, look right and are not: sent back, or said to the person; beside them those that are right."""

from __future__ import annotations

import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

TABLES = """
CREATE TABLE sensors AS SELECT i AS id, i % 4 AS kind, CASE WHEN i % 10 = 0 THEN 'NaN'::DOUBLE ELSE i END AS v, i::DOUBLE AS w FROM range(1, 101) t(i);
CREATE TABLE budget AS SELECT m AS month_no, m * 1000 AS amount_keur, m AS sales_musd, m AS revenue_eur_bn, m AS weight_k, m AS amount FROM range(1, 13) t(m);
CREATE TABLE orders AS SELECT i AS order_id, i % 200 AS customer_id, 'c' || (i % 200) AS customer, CASE WHEN i % 11 > 0 THEN i % 5 END AS rating, i % 7 AS stars,
  TIMESTAMP '2023-01-01' + INTERVAL (i * 53) MINUTE AS ordered_at, TIMESTAMP '2023-03-01' + INTERVAL (i) MINUTE AS seen_at FROM range(1, 10001) t(i);
CREATE TABLE returns_daily AS SELECT DATE '2023-01-01' + i::INTEGER AS day, 'F1' AS fund, 0.01::DOUBLE AS ret, 0.01::DOUBLE AS log_return, 5.0::DOUBLE AS return_amount,
  0.1::DOUBLE AS weight_pct, 3 AS returns FROM range(300) t(i);
CREATE TABLE costs AS SELECT i AS id, CASE WHEN i % 5 = 0 THEN 'about 12' ELSE i::VARCHAR END AS cost, i::VARCHAR AS plain, TIMESTAMP '2023-01-01 23:59' AS opened_at,
  TIMESTAMP '2023-01-02 00:01' AS closed_at, DATE '2023-01-01' AS begun, DATE '2023-01-02' AS ended FROM range(20) t(i);
CREATE TABLE invoices AS SELECT i AS invoice_id, DATE '2023-01-01' + i::INTEGER AS day, 10.0::DOUBLE AS gross FROM range(10) t(i);
CREATE TABLE rates AS SELECT DATE '2023-01-01' + i::INTEGER AS day, 0.9::DOUBLE AS per_dollar FROM range(7) t(i);
CREATE TABLE all_rates AS SELECT DATE '2023-01-01' + i::INTEGER AS day, 0.9::DOUBLE AS per_dollar FROM range(20) t(i);
"""


def notes(source: DuckDBWarehouse, select: str, question: str = "", unit: str | None = None) -> list[str]:
    return list(Checks(source, question=question).run(select, answers=True, unit=unit).notes)


@pytest.mark.parametrize(
    "select",
    [
        "SELECT count(*) FROM sensors WHERE v > 50",
        "SELECT count(*) FROM sensors WHERE NOT v < 50",
        "SELECT count(*) FILTER (WHERE v >= 50) FROM sensors",
        "SELECT avg(CASE WHEN v > 50 THEN 1.0 ELSE 0 END) FROM sensors",
        "SELECT id FROM sensors ORDER BY v DESC, id LIMIT 1",
        "SELECT id FROM (SELECT id, rank() OVER (ORDER BY v DESC) AS r FROM sensors) WHERE r = 1",
        "SELECT arg_max(id, v) FROM sensors",
        "WITH a AS (SELECT id, v FROM sensors) SELECT count(*) FROM a WHERE v > 50",
    ],
)
def test_nan_is_not_taken_for_the_greatest_number(source: DuckDBWarehouse, select: str) -> None:
    with pytest.raises(QueryError, match="v is NaN in some rows"):
        notes(source, select)


@pytest.mark.parametrize(
    "select",
    [
        "SELECT count(*) FROM sensors WHERE v < 50",
        "SELECT count(*) FROM sensors WHERE v > 50 AND NOT isnan(v)",
        "SELECT count(*) FROM sensors WHERE v > 50 AND v <> 'NaN'",
        "SELECT count(*) FROM sensors WHERE w > 50",
        "SELECT id FROM sensors ORDER BY v LIMIT 1",
        "SELECT count(*) FROM (SELECT * FROM sensors WHERE isfinite(v)) WHERE v > 50",
    ],
)
def test_where_nan_is_left_out_nothing_is_said(source: DuckDBWarehouse, select: str) -> None:
    assert notes(source, select) == []


@pytest.mark.parametrize(
    ("column", "unit", "said"),
    [
        ("amount_keur", "EUR", "in thousands"),
        ("sales_musd", "USD", "in millions"),
        ("revenue_eur_bn", "EUR", "in billions"),
    ],
)
def test_a_size_in_a_short_name_is_read(source: DuckDBWarehouse, column: str, unit: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        notes(source, f"SELECT sum({column}) FROM budget", unit=unit)


@pytest.mark.parametrize(
    ("select", "unit"),
    [
        ("SELECT sum(amount_keur) * 1000 FROM budget", "EUR"),
        ("SELECT sum(amount_keur) FROM budget", "kEUR"),
        ("SELECT sum(sales_musd) FROM budget", "USD mn"),
        ("SELECT sum(amount) FROM budget", "EUR"),
        ("SELECT sum(weight_k) FROM budget", "EUR"),
    ],
)
def test_a_size_that_is_shown_or_computed_is_right(source: DuckDBWarehouse, select: str, unit: str) -> None:
    assert notes(source, select, unit=unit) == []


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("How many orders on Mondays?", "dayofweek(ordered_at) = 0"),
        ("How many orders at the weekend?", "dayofweek(ordered_at) IN (5, 6)"),
        ("How many orders on Fridays?", "extract(dow FROM ordered_at) = 4"),
        ("How many orders on Fridays?", "strftime(ordered_at, '%w') = '4'"),
        ("How many orders on Sundays?", "date_part('isodow', ordered_at) = 1"),
        ("How many orders on working days?", "weekday(ordered_at) < 5"),
    ],
)
def test_days_of_the_week_are_counted_as_the_function_does(
    source: DuckDBWarehouse, question: str, condition: str
) -> None:
    with pytest.raises(QueryError, match="and the question says"):
        notes(source, f"SELECT count(*) FROM orders WHERE {condition}", question)


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("How many orders on Mondays?", "dayofweek(ordered_at) = 1"),
        ("How many orders at the weekend?", "isodow(ordered_at) >= 6"),
        ("How many orders were not at the weekend?", "dayofweek(ordered_at) NOT IN (0, 6)"),
        ("How many orders were not at the weekend?", "dayofweek(ordered_at) BETWEEN 1 AND 5"),
        ("How many orders on Fridays?", "dayname(ordered_at) = 'Friday'"),
        ("How many orders?", "dayofweek(ordered_at) = 0"),
        ("How many orders on Mondays?", "strftime(ordered_at, '%w') = '' OR strftime(ordered_at, '%w') = '1'"),
    ],
)
def test_right_days_of_the_week_pass(source: DuckDBWarehouse, question: str, condition: str) -> None:
    assert notes(source, f"SELECT count(*) FROM orders WHERE {condition}", question) == []


ZEROS = "takes the rows in which orders.rating is missing for zeros"
TWICE = "what stands in several groups counts several times"
TURN = "days at the turn of a year may be of a week of the other year"
RATE = "which is a rate by its name: returns and rates of growth of several periods are compounded"


@pytest.mark.parametrize(
    ("select", "said"),
    [
        ("SELECT avg(coalesce(rating, 0)) FROM orders", ZEROS),
        ("SELECT avg(CASE WHEN rating IS NULL THEN 0 ELSE rating END) FROM orders", ZEROS),
        ("SELECT avg(r) FROM (SELECT coalesce(rating, 0) AS r FROM orders)", ZEROS),
        ("SELECT median(ifnull(rating, 0)) FROM orders", ZEROS),
        ("SELECT sum(n) FROM (SELECT date_trunc('month', ordered_at) AS m, count(DISTINCT customer_id) AS n FROM orders GROUP BY 1)", TWICE),
        ("WITH a AS (SELECT stars, month(ordered_at) AS m, count(DISTINCT customer_id) AS n FROM orders GROUP BY 1, 2) SELECT stars, sum(n) AS s FROM a GROUP BY stars ORDER BY 1", TWICE),
        ("SELECT count(*) FROM orders WHERE week(ordered_at) = 52 AND year(ordered_at) = 2023", TURN),
        ("SELECT extract(week FROM ordered_at) AS w, count(*) AS n FROM orders WHERE extract(year FROM ordered_at) = 2023 GROUP BY 1 ORDER BY 1", TURN),
        ("SELECT sum(ret) FROM returns_daily", RATE),
        ("SELECT sum(TRY_CAST(cost AS DOUBLE)) FROM costs", "leaves out rows whose text it cannot read, as 'about 12'"),
        ("SELECT count(*) FROM costs WHERE TRY_CAST(cost AS DOUBLE) > 3", "leaves out rows whose text it cannot read"),
        ("SELECT avg(coalesce(TRY_CAST(replace(cost, 'b', 'x') AS DOUBLE), 1)) FROM costs", "leaves out rows whose text it cannot read"),
        ("SELECT sum(TRY_CAST(cost AS DOUBLE)) FROM costs WHERE TRY_CAST(cost AS DOUBLE) > 3 AND id < 6", "leaves out rows whose text it cannot read"),
        ("SELECT sum(i.gross * r.per_dollar) FROM invoices i LEFT JOIN rates r ON r.day = i.day", "leaves out the rows in which rates.per_dollar is missing"),
        ("SELECT sum(i.gross * coalesce(r.per_dollar, 1)) FROM invoices i LEFT JOIN rates r ON r.day = i.day", "multiplies by 1 where rates.per_dollar is missing"),
        ("SELECT approx_count_distinct(customer_id) FROM orders", "is an approximation"),
        ("SELECT approx_quantile(stars, 0.5) FROM orders", "is an approximation"),
        ("SELECT avg(date_diff('day', opened_at, closed_at)) FROM costs", "counts how often a day begins between the two"),
        ("SELECT avg(date_diff('hour', opened_at, closed_at)) FROM costs", "counts how often an hour begins between the two"),
        ("SELECT customer, n FROM (SELECT customer, count(*) AS n, row_number() OVER (ORDER BY count(*) DESC) AS r FROM orders GROUP BY 1) WHERE r <= 3", "rank() would keep them"),
        ("SELECT customer, count(*) AS n FROM orders GROUP BY 1 QUALIFY row_number() OVER (ORDER BY count(*) DESC) <= 3", "rank() would keep them"),
        ("SELECT arg_max(customer, n) FROM (SELECT customer, count(*) AS n FROM orders GROUP BY 1)", "is one of several with the same n"),
    ],
)  # fmt: skip
def test_a_person_is_told(source: DuckDBWarehouse, select: str, said: str) -> None:
    assert any(said in note for note in notes(source, select))


@pytest.mark.parametrize(
    "select",
    [
        "SELECT sum(TRY_CAST(cost AS DOUBLE)) FROM costs WHERE TRY_CAST(cost AS DOUBLE) > 3 AND id BETWEEN 6 AND 9",
        "SELECT sum(TRY_CAST(cost AS DOUBLE)) FROM costs WHERE TRY_CAST(cost AS DOUBLE) IS NOT NULL AND length(cost) < 4",
        "SELECT avg(rating) FROM orders",
        "SELECT sum(TRY_CAST(plain AS DOUBLE)) FROM costs",
        "SELECT sum(TRY_CAST(cost AS DOUBLE)) FROM costs WHERE id % 5 > 0",
        "SELECT avg(date_diff('day', begun, ended)) FROM costs",
        "SELECT count(DISTINCT customer_id) FROM orders",
        "SELECT sum(i.gross * r.per_dollar) FROM invoices i LEFT JOIN all_rates r ON r.day = i.day",
        "SELECT sum(i.gross * coalesce(r.per_dollar, 1)) FROM invoices i LEFT JOIN all_rates r ON r.day = i.day",
        "SELECT sum(r.per_dollar) FROM invoices i LEFT JOIN rates r ON r.day = i.day",
        "SELECT avg(coalesce(stars, 0)) FROM orders",
        "SELECT avg(coalesce(rating, 3)) FROM orders",
        "SELECT sum(n) FROM (SELECT customer, count(DISTINCT customer_id) AS n FROM orders GROUP BY 1)",
        "SELECT count(*) FROM orders WHERE week(seen_at) = 9 AND year(seen_at) = 2023",
        "SELECT count(*) FROM orders WHERE week(ordered_at) = 52 AND isoyear(ordered_at) = 2023",
        "SELECT sum(log_return) FROM returns_daily",
        "SELECT sum(return_amount) FROM returns_daily",
        "SELECT sum(returns) FROM returns_daily",
        "SELECT sum(weight_pct) FROM returns_daily",
        "SELECT order_id FROM (SELECT order_id, row_number() OVER (ORDER BY order_id DESC) AS r FROM orders) WHERE r <= 3 ORDER BY 1",
        "SELECT arg_max(order_id, order_id) FROM orders",
    ],
)
def test_nothing_is_said_of_what_is_right(source: DuckDBWarehouse, select: str) -> None:
    assert notes(source, select) == []


@pytest.mark.parametrize(
    ("select", "said"),
    [
        ("SELECT avg((stars = 3)::INTEGER) FROM orders", True),
        (
            "WITH x AS (SELECT CASE WHEN stars = 3 THEN 1 ELSE 0 END AS y FROM orders) SELECT round(avg(y), 4) FROM x",
            True,
        ),
        ("SELECT avg(CASE WHEN stars = 3 THEN 1.0 ELSE 0 END) FROM orders", True),
        ("SELECT 100 * avg((stars = 3)::INTEGER) FROM orders", False),
        ("SELECT avg(weight_pct) FROM returns_daily", False),
    ],
)
def test_a_part_of_all_is_no_percent(source: DuckDBWarehouse, select: str, said: bool) -> None:
    found = notes(source, select, "What percentage is it?", "percent")
    assert any("is a share of 1, and no percent" in note for note in found) is said
