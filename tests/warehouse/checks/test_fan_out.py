"""Joins that multiply what is added up, and joins that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from finexpert.errors import QueryError
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse


@pytest.mark.parametrize(
    "select",
    [
        "SELECT sum(a.balance) FROM accounts a JOIN trades t ON t.account_id = a.account_id",
        "SELECT sum(a.balance) FROM accounts a, trades t WHERE t.account_id = a.account_id",
        "SELECT a.region, sum(a.balance) FROM accounts a JOIN trades t USING (account_id) GROUP BY a.region",
        "SELECT count(a.account_id) FROM accounts a LEFT JOIN trades t ON t.account_id = a.account_id",
        "SELECT sum(a.balance) FROM trades t JOIN accounts a ON t.account_id = a.account_id WHERE t.status = 'FILLED'",
        # The second fact table multiplies the first, and the other way round.
        "SELECT sum(t.lots) FROM accounts a JOIN trades t USING (account_id) JOIN fees f ON f.account_id = a.account_id",
        "SELECT count(*) FROM accounts a JOIN trades t USING (account_id) JOIN fees f ON f.account_id = a.account_id",
        # A dimension with two rows of one key.
        "SELECT sum(t.lots * 1) FROM trades t JOIN symbols s ON s.symbol = t.symbol WHERE t.currency = 'USD' OR t.currency = 'EUR'",
        "SELECT sum(t.lots) FROM trades t CROSS JOIN accounts a",
    ],
)
def test_a_multiplied_sum_goes_back(run: Any, select: str) -> None:
    with pytest.raises(QueryError, match=r"adds up each row|counts combinations"):
        run(select)


@pytest.mark.parametrize(
    ("select", "value"),
    [
        ("SELECT sum(t.lots) FROM trades t JOIN accounts a ON t.account_id = a.account_id", 10),
        ("SELECT count(*) FROM trades t JOIN accounts a USING (account_id)", 5),
        ("SELECT count(DISTINCT a.account_id) FROM accounts a JOIN trades t USING (account_id)", 3),
        ("SELECT count(t.trade_id) FROM accounts a LEFT JOIN trades t USING (account_id)", 5),
        ("SELECT sum(a.balance) FROM accounts a WHERE EXISTS (SELECT 1 FROM trades t WHERE t.account_id = a.account_id)", 175),
        ("SELECT sum(a.balance) FROM accounts a JOIN (SELECT DISTINCT account_id FROM trades) t USING (account_id)", 175),
        ("SELECT sum(a.balance) FROM accounts a JOIN (SELECT account_id, count(*) AS n FROM trades GROUP BY account_id) t USING (account_id)", 175),
        ("WITH t AS (SELECT account_id, count(*) AS n FROM trades GROUP BY 1) SELECT sum(a.balance) FROM accounts a JOIN t ON t.account_id = a.account_id", 175),
        ("SELECT sum(t.lots * a.balance) FROM trades t JOIN accounts a USING (account_id)", 550),
        # One row a key among those that the conditions let through.
        ("SELECT sum(t.lots) FROM trades t JOIN symbols s ON s.symbol = t.symbol AND s.rating = 'A'", 4),
        ("SELECT sum(a.balance) FROM accounts a JOIN trades t USING (account_id) WHERE t.trade_id = 1", 100),
        ("SELECT max(a.balance) FROM accounts a JOIN trades t USING (account_id)", 100),
        # Joined rows, counted by what they are looked up to be.
        ("SELECT sum(CASE WHEN a.region = 'EMEA' THEN 1 ELSE 0 END) FROM trades t JOIN accounts a USING (account_id)", 3),
        ("SELECT count(*) FROM trades a JOIN trades b ON a.account_id = b.account_id AND a.trade_id < b.trade_id", 2),
        ("SELECT sum(t.lots) FROM trades t CROSS JOIN (SELECT max(balance) AS top FROM accounts) m", 10),
    ],
)  # fmt: skip
def test_what_is_not_multiplied_passes(run: Any, select: str, value: float) -> None:
    assert run(select).frame.data.iat[0, 0] == value


def test_an_average_that_a_join_weighs_is_said(run: Any) -> None:
    checked = run("SELECT avg(a.balance) FROM trades t JOIN accounts a USING (account_id)")
    assert any("weighs each row of a by its rows of t" in note for note in checked.notes)


@pytest.mark.parametrize(
    "select",
    [
        # What is joined only chooses rows.
        "SELECT avg(a.balance) FROM accounts a JOIN trades t USING (account_id)",
        # The rows are joined by one SELECT and added up by another.
        "WITH j AS (SELECT a.balance FROM accounts a JOIN trades t USING (account_id)) SELECT sum(balance) FROM j",
        # Several rows of the one times several of the other.
        "SELECT sum(t.lots * f.amount_usd) FROM trades t JOIN fees f ON f.account_id = t.account_id",
    ],
)
def test_what_is_multiplied_by_a_longer_way_goes_back(run: Any, select: str) -> None:
    with pytest.raises(QueryError, match=r"weighs each row|adds up each row"):
        run(select)


def test_a_sum_of_distinct_values_leaves_out_equal_ones(run: Any) -> None:
    joined = "FROM fees f JOIN trades t ON t.account_id = f.account_id"
    with pytest.raises(QueryError, match="counts equal values of several rows of fees once"):
        run(f"SELECT sum(DISTINCT f.amount_usd) {joined}")
    balances = "FROM accounts a JOIN trades t ON t.account_id = a.account_id"
    assert run(f"SELECT sum(DISTINCT a.balance) {balances}").frame.data.iat[0, 0] == 175


def test_a_row_without_a_match_is_no_match(run: Any) -> None:
    joined = "FROM accounts a LEFT JOIN trades t ON t.account_id = a.account_id"
    with pytest.raises(QueryError, match="has no match in t as one"):
        run(f"SELECT a.account_id, count(*) {joined} GROUP BY 1")
    assert run(f"SELECT count(*) {joined} WHERE t.account_id IS NULL").frame.data.iat[0, 0] == 1
    assert run(f"SELECT a.account_id, count(t.trade_id) {joined} GROUP BY 1 ORDER BY 1").frame.data.iloc[
        :, 1
    ].tolist() == [2, 1, 2, 0]
    # A look-up on the right: the rows on the left are counted.
    lookup = "FROM trades t LEFT JOIN terms m ON m.account_id = t.trade_id"
    assert run(f"SELECT count(*) {lookup}").frame.data.iat[0, 0] == 5


def test_a_count_of_what_the_question_names_goes_back(brokerage_file: Path) -> None:
    select = (
        "SELECT sum(CASE WHEN a.region = 'EMEA' THEN 1 ELSE 0 END) FROM trades t JOIN accounts a USING (account_id)"
    )
    with DuckDBWarehouse(brokerage_file) as source:
        assert Checks(source, question="how many trades in EMEA").run(select, "f").frame.data.iat[0, 0] == 3
        with pytest.raises(QueryError, match="adds up each row of a"):
            Checks(source, question="share of accounts in EMEA that traded").run(select, "f")


ACTIVE = "SELECT count(*) FROM accounts a JOIN trades t ON t.account_id = a.account_id"


def test_the_question_tells_what_is_counted(run: Any) -> None:
    with pytest.raises(QueryError, match="adds up each row of a"):
        run(ACTIVE, question="How many retail accounts traded?")
    for question in ("How many trades did accounts make?", "How often did they trade?"):
        assert run(ACTIVE, question=question).frame.data.iat[0, 0] == 5


RATES = """WITH r AS (SELECT 'USD' AS ccy, DATE '2000-01-01' AS since, DATE '2024-01-01' AS until
UNION ALL SELECT 'USD', DATE '2024-01-01', DATE '2100-01-01') """


@pytest.mark.parametrize(
    ("select", "value"),
    [
        # The rate that held on the day: several rows a currency, one of them for each trade.
        (RATES + "SELECT sum(t.lots) FROM trades t JOIN r ON r.ccy = t.currency AND t.executed_at >= r.since AND t.executed_at < r.until", 8),
        ("SELECT sum(t.lots) FROM trades t ASOF JOIN fees f ON t.account_id = f.account_id AND t.executed_at >= f.fee_date", 5),
        ("SELECT sum(t.lots) FROM trades t JOIN accounts a ON upper(trim(a.account_id::VARCHAR)) = upper(t.account_id::VARCHAR)", 10),
    ],
)  # fmt: skip
def test_ranges_and_written_forms_are_followed(run: Any, select: str, value: float) -> None:
    assert run(select).frame.data.iat[0, 0] == value


def test_a_range_that_overlaps_multiplies(run: Any) -> None:
    with pytest.raises(QueryError, match="adds up each row of t"):
        run(
            "SELECT sum(t.lots) FROM trades t JOIN fees f ON f.account_id = t.account_id "
            "AND t.executed_at > f.fee_date - INTERVAL 900 DAY"
        )


# An account has many trades, a trade has one ticket: the ticket gives the trade's key, and the account still comes back for each.
TICKETS = """WITH k AS (SELECT 1 AS ticket_id, 1 AS trade_id, 'first' AS kind UNION ALL SELECT 2, 2, 'again' UNION ALL SELECT 3, 3, 'first'
UNION ALL SELECT 4, 4, 'first') """
THROUGH = "FROM accounts a JOIN trades t ON t.account_id = a.account_id JOIN k ON k.trade_id = t.trade_id"


@pytest.mark.parametrize(
    "select",
    [
        f"SELECT sum(a.balance) {THROUGH}",
        f"SELECT a.region, sum(a.balance) {THROUGH} GROUP BY a.region",
        f"SELECT count(a.account_id) {THROUGH}",
        f"SELECT avg(a.balance) {THROUGH}",
        "SELECT sum(a.balance) FROM k JOIN trades t ON k.trade_id = t.trade_id JOIN accounts a ON a.account_id = t.account_id",
        # Trades and fees of one account, through its key in a third table.
        f"SELECT count(*) {THROUGH} JOIN fees f ON f.account_id = a.account_id",
    ],
)
def test_a_join_multiplies_through_a_third_source(run: Any, select: str) -> None:
    with pytest.raises(
        QueryError, match=r"once for every row of|by its rows of|counts combinations: t|counts combinations: k"
    ):
        run(TICKETS + select)


@pytest.mark.parametrize(
    ("select", "value"),
    [
        (f"SELECT sum(t.lots) {THROUGH}", 10),
        (f"SELECT sum(k.ticket_id) {THROUGH}", 10),
        (f"SELECT count(*) {THROUGH}", 4),
        (f"SELECT sum(a.balance * t.lots) {THROUGH}", 550),
        # The third source keeps one row of the second.
        (f"SELECT sum(a.balance) {THROUGH} AND k.kind = 'first'", 175),
        (f"SELECT max(n) FROM (SELECT t.trade_id, sum(a.balance) AS n {THROUGH} GROUP BY t.trade_id) s", 100),
    ],
)
def test_a_third_source_that_multiplies_nothing_passes(run: Any, select: str, value: float) -> None:
    assert run(TICKETS + select).frame.data.iat[0, 0] == value


JOINED = "WITH j AS (SELECT a.account_id, a.region, a.balance, t.trade_id, t.lots FROM accounts a JOIN trades t ON t.account_id = a.account_id) "


@pytest.mark.parametrize(
    "select",
    [
        JOINED + "SELECT region, sum(balance) FROM j GROUP BY region",
        JOINED + "SELECT sum(balance) FROM j WHERE region = 'EMEA'",
        # Read twice.
        JOINED + "SELECT (SELECT sum(balance) FROM j WHERE region = 'EMEA') / (SELECT sum(balance) FROM j)",
        "SELECT sum(balance) FROM (SELECT * FROM (SELECT a.balance, t.lots FROM accounts a JOIN trades t USING (account_id)) x) y",
        "SELECT a.account_id, sum(a.balance) OVER () FROM accounts a JOIN trades t ON t.account_id = a.account_id WHERE t.status = 'FILLED'",
        "SELECT DISTINCT a.region, sum(a.balance) OVER (PARTITION BY a.region) FROM accounts a JOIN trades t USING (account_id)",
    ],
)
def test_joined_rows_are_followed_into_the_select_that_adds_them_up(run: Any, select: str) -> None:
    with pytest.raises(QueryError, match="adds up each row of a"):
        run(select)


@pytest.mark.parametrize(
    ("select", "value"),
    [
        (JOINED + "SELECT sum(lots) FROM j WHERE region = 'EMEA'", 6),
        (JOINED + "SELECT trade_id, sum(balance) FROM j WHERE region = 'AMER' GROUP BY trade_id ORDER BY 1", 4),
        (JOINED + ", d AS (SELECT DISTINCT account_id, balance FROM j) SELECT sum(balance) FROM d", 175),
        (JOINED + "SELECT sum(balance) FROM (SELECT balance, row_number() OVER (PARTITION BY account_id ORDER BY trade_id) AS n FROM j) WHERE n = 1", 175),
        ("SELECT max(s) FROM (SELECT sum(a.balance) OVER (PARTITION BY t.trade_id) AS s FROM accounts a JOIN trades t USING (account_id))", 100),
        ("SELECT max(s) FROM (SELECT sum(t.lots) OVER (PARTITION BY a.region) AS s FROM accounts a JOIN trades t USING (account_id))", 6),
    ],
)  # fmt: skip
def test_joined_rows_that_are_added_up_once_pass(run: Any, select: str, value: float) -> None:
    assert run(select).frame.data.iat[0, 0] == value


def test_an_asof_join_finds_at_most_one_row(run: Any) -> None:
    joined = "FROM trades t ASOF LEFT JOIN fees f ON t.account_id = f.account_id AND t.executed_at >= f.fee_date"
    assert run(f"SELECT count(*) {joined}").frame.data.iat[0, 0] == 5
