"""Conditions and sums that run and mean something else; and tables as of a day."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from finexpert.errors import AsOfError, NoRows, QueryError


@pytest.mark.parametrize(
    ("select", "said"),
    [
        ("SELECT sum(amount) FROM trades", "several currencies, as trades.currency says"),
        ("SELECT account_id, sum(amount) FROM trades GROUP BY account_id", "several currencies"),
        ("SELECT count(*) FROM trades WHERE booked_dt >= '2023-02-01'", "holds dates as texts YYYYMMDD"),
        ("SELECT count(*) FROM trades WHERE shown_date >= '2023-02-01'", "dates as texts DD/MM/YYYY"),
        ("SELECT max(shown_date) FROM trades", "do not sort by time"),
        ("SELECT trade_id FROM trades ORDER BY shown_date LIMIT 1", "do not sort by time"),
        ("SELECT count(*) FROM trades WHERE units > '9'", "'9' is more than '10'"),
        ("SELECT avg(amount) FROM trades", "several currencies"),
        ("SELECT sum(amount) FROM trades WHERE currency IN ('EUR', 'USD')", "several currencies"),
        ("SELECT max(strptime(shown_date, '%m/%d/%Y')) FROM trades", "reads another form"),
        ("SELECT max(try_strptime(shown_date, '%m-%d-%Y')) FROM trades", "reads another form"),
        ("SELECT count(*) FROM trades WHERE symbol NOT IN (SELECT t.symbol FROM trades t)", "NOT IN holds a NULL"),
        ("SELECT count(*) FROM trades WHERE side NOT IN ('BUY', NULL)", "NOT IN holds a NULL"),
        ("SELECT count(*) FROM trades WHERE executed_at <= '2023-02-10'", "write executed_at < DATE '2023-02-11'"),
        (
            "SELECT count(*) FROM trades WHERE executed_at BETWEEN DATE '2023-01-01' AND DATE '2023-02-10'",
            "as its midnight",
        ),
        ("SELECT count(*) FROM trades WHERE executed_at > DATE '2023-02-10'", "as its midnight"),
        ("SELECT trade_id FROM trades LIMIT 1", "LIMIT 1 keeps any row"),
        ("SELECT account_id, count(*) FROM trades GROUP BY 1 LIMIT 2", "LIMIT 2 keeps any 2 rows"),
        ("SELECT count(*) FROM accounts WHERE balance / (account_id - 1) > 1", "zero in some of the rows"),
        ("SELECT count(*) FROM accounts WHERE account_id IN (SELECT account_id FROM symbols)", "reads it from outside"),
        (
            "SELECT count(*) FROM accounts a WHERE EXISTS (SELECT 1 FROM symbols s WHERE account_id = a.account_id)",
            "reads it from outside",
        ),
        ("SELECT count(*) FROM terms WHERE discount_pct > 0.2", "holds percent: compare with 20"),
        ("SELECT count(*) FROM terms WHERE tax_rate < 10", "holds fractions: compare with 0.1"),
        (
            "SELECT count(*) FROM accounts WHERE region = 'EMEA' OR region = 'APAC' AND segment = 'retail'",
            "AND binds before OR",
        ),
        (
            "SELECT count(*) FROM accounts WHERE segment = 'retail' AND region = 'EMEA' OR region = 'APAC'",
            "AND binds before OR",
        ),
        ("SELECT lots - lag(lots) OVER (ORDER BY account_id) FROM trades", "several rows have the same place"),
        (
            "SELECT avg(lots) OVER (ORDER BY account_id ROWS 2 PRECEDING) FROM trades",
            "several rows have the same place",
        ),
        ("SELECT account_id, any_value(lots) FROM trades GROUP BY account_id", "takes any of several values"),
        ("SELECT first(segment) FROM accounts", "takes any of several values"),
        ("SELECT max(units) FROM trades", "holds numbers as texts"),
        ("SELECT trade_id FROM trades ORDER BY units DESC LIMIT 1", "holds numbers as texts"),
    ],
)
def test_what_means_something_else_goes_back(run: Any, select: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        run(select)


@pytest.mark.parametrize(
    ("select", "value"),
    [
        ("SELECT sum(amount) FROM trades WHERE currency = 'USD'", 80),
        ("SELECT sum(amount) FROM trades GROUP BY currency ORDER BY 1 LIMIT 1", 70),
        ("SELECT sum(lots) FROM trades WHERE currency IN ('USD')", 8),
        ("SELECT sum(amount_usd) FROM fees", 17),
        ("SELECT count(*) FROM trades WHERE booked_dt >= '20230201'", 4),
        ("SELECT max(booked_dt) FROM trades", "20240210"),
        ("SELECT max(units::INTEGER) FROM trades", 100),
        ("SELECT max(strptime(shown_date, '%d/%m/%Y'))::DATE::VARCHAR FROM trades", "2024-02-10"),
        ("SELECT max(symbol) FROM trades", "CCC"),
        ("SELECT avg(amount) FROM trades WHERE currency = 'EUR'", 35),
        ("SELECT count(*) FROM accounts WHERE (region = 'EMEA' OR region = 'APAC') AND segment = 'retail'", 1),
        ("SELECT count(*) FROM accounts WHERE region = 'EMEA' OR (region = 'APAC' AND segment = 'retail')", 2),
        ("SELECT count(*) FROM accounts WHERE region = 'EMEA' OR segment = 'retail' AND balance > 30", 2),
        (
            "SELECT count(*) FROM accounts WHERE region = 'EMEA' AND segment = 'retail' OR segment = 'private bank' AND region = 'APAC'",
            2,
        ),
        (
            "SELECT max(d) FROM (SELECT lots - lag(lots) OVER (PARTITION BY account_id ORDER BY executed_at) AS d FROM trades)",
            1,
        ),
        ("SELECT sum(lots) OVER (ORDER BY account_id) FROM trades WHERE account_id = 2", 3),
        ("SELECT any_value(segment) FROM accounts WHERE region = 'APAC'", "private bank"),
        ("SELECT first(lots ORDER BY executed_at DESC) FROM trades WHERE account_id = 1", 2),
        ("SELECT sum(amount) FROM trades GROUP BY trade_id ORDER BY 1 LIMIT 1", 10),
        ("SELECT count(*) FROM terms WHERE discount_pct > 5", 1),
        ("SELECT count(*) FROM terms WHERE tax_rate > 0.1", 1),
        ("SELECT count(*) FROM terms WHERE discount_pct > 0", 2),
        ("SELECT count(*) FROM accounts a WHERE EXISTS (SELECT 1 FROM symbols WHERE symbol <> region)", 4),
        ("SELECT count(*) FROM trades WHERE executed_at <= '2023-02-11'", 2),
        ("SELECT count(*) FROM trades WHERE executed_at::DATE <= '2023-02-10'", 2),
        ("SELECT count(*) FROM trades WHERE settle_date <= DATE '2023-02-12'", 2),
        ("SELECT trade_id FROM trades ORDER BY 1 DESC LIMIT 1", 5),
        ("SELECT DISTINCT account_id FROM trades WHERE account_id = 1 LIMIT 1", 1),
        (
            "SELECT count(*) FROM trades t WHERE EXISTS (SELECT 1 FROM fees f WHERE f.account_id = t.account_id LIMIT 1)",
            3,
        ),
        ("SELECT count(*) FROM accounts WHERE account_id > 1 AND balance / (account_id - 1) > 1", 2),
        (
            "SELECT count(*) FROM accounts WHERE CASE WHEN account_id > 1 THEN balance / (account_id - 1) ELSE 0 END > 1",
            2,
        ),
        ("SELECT count(*) FROM accounts a WHERE EXISTS (SELECT 1 FROM symbols WHERE a.account_id = 1)", 1),
    ],
)
def test_what_means_what_it_says_passes(run: Any, select: str, value: object) -> None:
    assert run(select).frame.data.iat[0, 0] == value


DAY = dt.date(2023, 6, 30)


def test_as_of_goes_by_the_date_of_the_event_and_says_so(run: Any) -> None:
    checked = run("SELECT count(*) FROM trades", as_of=DAY)
    assert checked.frame.data.iat[0, 0] == 3
    assert any(
        "trades is seen up to 2023-06-30 by executed_at (it also has settle_date, booked_dt, shown_date)" in note
        for note in checked.notes
    )


def test_where_nobody_asked_for_a_day_no_guess_hides_a_row(run: Any) -> None:
    checked = run("SELECT count(*) FROM trades", as_of=DAY, declared_only=True)
    assert (checked.frame.data.iat[0, 0], checked.notes) == (5, ())


@pytest.mark.parametrize("table", ["bonds", "symbols"])
def test_a_table_without_a_date_of_events_cannot_be_seen_as_of_a_day(run: Any, table: str) -> None:
    with pytest.raises(AsOfError, match=f"{table} cannot be seen as of 2023-06-30"):
        run(f"SELECT count(*) FROM {table}", as_of=DAY)


@pytest.mark.parametrize(
    "where",
    [
        "symbol IN (SELECT symbol FROM symbols WHERE asset_class = 'equity')",
        "upper(trim(symbol)) IN (SELECT upper(trim(symbol)) FROM symbols WHERE asset_class = 'equity')",
        "EXISTS (SELECT 1 FROM symbols s WHERE lower(s.symbol) = lower(trades.symbol) AND s.asset_class = 'equity')",
    ],
)
def test_a_table_of_codes_that_a_dated_one_is_looked_up_in_is_read_as_it_stands_and_that_is_said(
    run: Any, where: str
) -> None:
    checked = run(f"SELECT count(*) FROM trades WHERE {where}", as_of=DAY)
    assert checked.frame.data.iat[0, 0] == 2
    assert "symbols has no date column: it is read as it stands today, not as of 2023-06-30" in checked.notes


@pytest.mark.parametrize(
    "select",
    [
        "SELECT (SELECT count(*) FROM trades), (SELECT count(*) FROM symbols)",
        "SELECT count(*) FROM symbols WHERE symbol IN (SELECT symbol FROM trades)",
    ],
)
def test_rows_of_a_table_without_dates_are_not_counted_as_of_a_day(run: Any, select: str) -> None:
    with pytest.raises(AsOfError, match="symbols cannot be seen"):
        run(select, as_of=DAY)


def test_a_period_after_the_day_is_told_apart_from_no_data(run: Any) -> None:
    with pytest.raises(NoRows, match="matches no row of trades as of 2023-06-30"):
        run("SELECT count(*) FROM trades WHERE executed_at >= '2024-01-01'", as_of=DAY)


@pytest.mark.parametrize(
    "condition",
    ["DATE '2024-01-10' >= executed_at", "executed_at IN (DATE '2023-01-10', DATE '2023-02-10')", "DATE '2024-01-10' = executed_at"],
)  # fmt: skip
def test_a_day_is_its_midnight_on_either_side_and_in_a_list(run: Any, condition: str) -> None:
    with pytest.raises(QueryError, match="as its midnight"):
        run(f"SELECT count(*) FROM trades WHERE {condition}")
    assert run("SELECT count(*) FROM trades WHERE DATE '2024-01-10' > executed_at").frame.data.iat[0, 0] == 3


def test_percent_taken_from_one_goes_back(run: Any) -> None:
    for select in ("SELECT sum(1 - discount_pct) FROM terms", "SELECT max(100 * (1 + discount_pct)) FROM terms"):
        with pytest.raises(QueryError, match="takes percent for a fraction"):
            run(select)
    assert run("SELECT sum(1 - discount_pct / 100) FROM terms").frame.data.iat[0, 0] == pytest.approx(2.7)
    assert run("SELECT max(1 + tax_rate) FROM terms").frame.data.iat[0, 0] == pytest.approx(1.19)
