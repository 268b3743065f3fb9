"""Texts that a SELECT compares with: put right, told to be missing, or shown as they matched."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.errors import UnknownValue
from finexpert.warehouse.checks.checked import Checks


@pytest.mark.parametrize(
    ("select", "value", "read"),
    [
        ("SELECT count(*) FROM trades WHERE status = 'Filled'", 3, "'FILLED'"),
        ("SELECT count(*) FROM trades WHERE status = ' filled'", 3, "'FILLED'"),
        ("SELECT count(*) FROM trades WHERE 'filled' = status", 3, "'FILLED'"),
        ("SELECT count(*) FROM trades WHERE lower(status) = 'FILLED'", 3, "'filled'"),
        ("SELECT count(*) FROM trades WHERE upper(trim(status)) = 'pending'", 1, "'PENDING'"),
        ("SELECT count(*) FROM accounts WHERE segment = 'Private_Bank'", 1, "'private bank'"),
        ("SELECT count(*) FROM trades WHERE status <> 'Cancelled'", 4, "'CANCELLED'"),
        ("SELECT count(*) FROM trades WHERE status NOT IN ('Cancelled')", 4, "'CANCELLED'"),
        ("SELECT count(*) FROM trades WHERE status IN ('Filled', 'DONE')", 3, "'FILLED'"),
        ("SELECT count(*) FROM trades WHERE status IN ('FILLED', 'Cancelled')", 4, "'CANCELLED'"),
        ("SELECT sum(CASE WHEN side = 'Buy' THEN 1 ELSE 0 END) FROM trades", 3, "'BUY'"),
        ("SELECT sum(CASE side WHEN 'Buy' THEN 1 ELSE 0 END) FROM trades", 3, "'BUY'"),
        ("SELECT count(*) FILTER (WHERE side = 'Buy') FROM trades", 3, "'BUY'"),
        ("WITH t AS (SELECT status AS s FROM trades) SELECT count(*) FROM t WHERE s = 'filled'", 3, "'FILLED'"),
        ("SELECT count(*) FROM (SELECT upper(status) AS s FROM trades) AS t WHERE t.s = 'filled'", 3, "'FILLED'"),
        ("SELECT count(*) FROM (SELECT lower(status) AS s FROM trades) AS t WHERE t.s = 'Filled'", 3, "'filled'"),
        ("SELECT count(*) FROM trades WHERE account_id IN (SELECT account_id FROM accounts WHERE segment = 'Retail')", 3, "'retail'"),
        ("SELECT count(*) FROM trades t JOIN accounts a ON a.account_id = t.account_id AND a.region = 'emea'", 3, "'EMEA'"),
        ("SELECT count(*) FROM accounts a WHERE EXISTS (SELECT 1 FROM trades t WHERE t.account_id = a.account_id AND t.side = 'sell')", 2, "'SELL'"),
        ("SELECT count(*) FROM trades WHERE status = 'filled' AND side = 'buy'", 2, "'BUY'"),
    ],
)  # fmt: skip
def test_case_and_spacing_are_put_right_and_said(run: Any, select: str, value: int, read: str) -> None:
    checked = run(select)
    assert checked.frame.data.iat[0, 0] == value
    assert any(read in note for note in checked.notes)
    assert read in checked.frame.select


@pytest.mark.parametrize(
    ("select", "place", "text"),
    [
        ("SELECT count(*) FROM trades WHERE status = 'Executed'", "trades.status", "Executed"),
        ("SELECT count(*) FROM trades WHERE status <> 'Void'", "trades.status", "Void"),
        ("SELECT count(*) FROM trades WHERE status IN ('DONE', 'EXECUTED')", "trades.status", "DONE"),
        ("SELECT count(*) FROM trades WHERE status LIKE 'Exec%'", "trades.status", "Exec%"),
        ("SELECT count(*) FROM trades WHERE status LIKE 'Fill%'", "trades.status", "Fill%"),
        ("SELECT count(*) FROM trades WHERE regexp_matches(status, '^DONE')", "trades.status", "^DONE"),
        ("SELECT count(*) FROM trades WHERE status IN ('FILLED', 'CANCELED')", "trades.status", "CANCELED"),
        ("SELECT count(*) FROM trades WHERE status NOT IN ('FILLED', 'Canceled')", "trades.status", "Canceled"),
        ("SELECT sum(CASE WHEN side = 'Short' THEN 1 ELSE 0 END) FROM trades", "trades.side", "Short"),
        ("SELECT count(*) FROM accounts WHERE segment = 'hedge fund' OR region = 'EMEA'", "accounts.segment", "hedge fund"),
        ("SELECT count(*) FROM accounts WHERE segment = 'hedge fund' OR region = 'hedge fund'", "accounts.segment", "hedge fund"),
    ],
)  # fmt: skip
def test_a_text_that_is_not_there_is_told_and_values_are_kept_for_the_person(
    run: Any, select: str, place: str, text: str
) -> None:
    with pytest.raises(UnknownValue) as raised:
        run(select)
    error = raised.value
    assert (error.place, error.text) == (place, text)
    held = {"trades.status": "CANCELLED", "trades.side": "BUY", "accounts.segment": "private bank"}[place]
    assert held in error.values
    assert held not in str(error)


def test_the_nearest_value_stands_first(run: Any) -> None:
    with pytest.raises(UnknownValue) as raised:
        run("SELECT count(*) FROM accounts WHERE segment = 'instituional'")
    assert raised.value.values[0] == "institutional"


@pytest.mark.parametrize(
    ("select", "note"),
    [
        (
            "SELECT count(*) FROM trades WHERE status IN ('FILLED', 'DONE')",
            "of trades.status, these values matched: 'FILLED'",
        ),
        ("SELECT count(*) FROM trades WHERE status ILIKE '%l%'", "these values matched: 'CANCELLED', 'FILLED'"),
        ("SELECT count(*) FROM trades WHERE status = 'FILLED'", None),
        ("SELECT count(*) FROM symbols WHERE rating = 'A'", None),
    ],
)
def test_what_matched_is_shown_to_the_person(run: Any, select: str, note: str | None) -> None:
    notes = run(select).notes
    assert notes == () if note is None else any(note in said for said in notes)


@pytest.mark.parametrize(
    "where", ["segment = 'EMEA' OR region = 'EMEA'", "segment ILIKE '%emea%' OR region ILIKE 'emea%'"]
)
def test_a_text_that_is_looked_for_in_two_columns_has_to_be_in_one(run: Any, where: str) -> None:
    right = run("SELECT count(*) FROM accounts WHERE region = 'EMEA'").frame.data.iat[0, 0]
    assert run(f"SELECT count(*) FROM accounts WHERE {where}").frame.data.iat[0, 0] == right > 0


@pytest.mark.parametrize(
    "where",
    [
        "lower(segment) IN ('private bank', 'pb') OR account_id IN (SELECT account_id FROM trades WHERE lower(status) = 'private bank')",
        "segment = 'private bank' OR (account_id IN (SELECT account_id FROM trades WHERE side = 'SELL' AND status = 'private bank'))",
    ],
)
def test_a_code_or_what_a_table_of_codes_calls_it_has_to_be_there(run: Any, where: str) -> None:
    assert run(f"SELECT count(*) FROM accounts WHERE {where}").frame.data.iat[0, 0] == 1
    with pytest.raises(UnknownValue, match="hedge"):
        run(f"SELECT count(*) FROM accounts WHERE {where.replace('private bank', 'hedge')}")


def test_guesses_at_a_code_need_not_be_there_where_a_table_of_codes_says_it(run: Any) -> None:
    looked_up = "symbol IN (SELECT symbol FROM symbols WHERE asset_class = 'equity')"
    checked = run(f"SELECT count(*) FROM trades t WHERE {looked_up} OR upper(trim(symbol)) IN ('EQ', 'EQTY')")
    assert checked.frame.data.iat[0, 0] == 2
    assert any("the other part of the OR does" in note for note in checked.notes)
    for nowhere in (looked_up.replace("equity", "credit"), looked_up.replace("symbol IN", "status IN")):
        with pytest.raises(UnknownValue):
            run(f"SELECT count(*) FROM trades t WHERE {nowhere} OR upper(trim(symbol)) IN ('EQ', 'EQTY')")


def test_another_text_in_the_other_part_of_an_or_has_to_be_there_too(run: Any) -> None:
    other = "account_id IN (SELECT account_id FROM trades WHERE status = 'Executed')"
    with pytest.raises(UnknownValue, match="Executed"):
        run(f"SELECT count(*) FROM accounts WHERE segment IN ('private bank', 'retail') OR {other}")


def test_what_a_person_chose_takes_the_place_of_the_text(run: Any) -> None:
    checked = run("SELECT count(*) FROM trades WHERE status = 'Executed'", chosen={"trades.status=Executed": "FILLED"})
    assert (checked.frame.data.iat[0, 0], checked.notes) == (3, ("read 'Executed' as 'FILLED'",))


@pytest.mark.parametrize("where", ["status = 'EXECUTED'", "status ILIKE '%executed%'", "status IN ('executed')"])
def test_what_a_person_chose_holds_for_the_text_in_other_writing(run: Any, where: str) -> None:
    for asked in ("Executed", "%executed%"):
        checked = run(f"SELECT count(*) FROM trades WHERE {where}", chosen={f"trades.status={asked}": "FILLED"})
        assert checked.frame.data.iat[0, 0] == 3


def test_a_condition_that_is_left_out_is_asked_for_again(brokerage: Any) -> None:
    checks = Checks(brokerage)
    with pytest.raises(UnknownValue):
        checks.run("SELECT count(*) FROM trades WHERE status = 'Executed'")
    with pytest.raises(UnknownValue, match=r"the condition on trades\.status was left out"):
        checks.run("SELECT count(*) FROM trades")
    with pytest.raises(UnknownValue, match=r"was left out"):
        checks.run("SELECT count(*) FROM trades WHERE status LIKE '%'")
    # A condition that stood there before is no other place for it.
    checks = Checks(brokerage)
    for select in (
        "SELECT count(*) FROM trades WHERE status = 'Executed' AND side = 'SELL'",
        "SELECT count(*) FROM trades WHERE side = 'SELL'",
    ):
        with pytest.raises(UnknownValue, match=r"trades\.status"):
            checks.run(select)
    assert checks.run("SELECT count(*) FROM trades WHERE concat(status, '') = 'FILLED'").frame.data.iat[0, 0] == 3
    # Another column may hold what was meant.
    checks = Checks(brokerage)
    with pytest.raises(UnknownValue):
        checks.run("SELECT count(*) FROM trades WHERE status = 'Executed'")
    assert checks.run("SELECT count(*) FROM trades WHERE side = 'BUY'").frame.data.iat[0, 0] == 3


def test_only_attempts_at_the_same_frame_may_leave_no_condition_out(brokerage: Any) -> None:
    checks = Checks(brokerage)
    with pytest.raises(UnknownValue):
        checks.run("SELECT trade_id FROM trades WHERE status = 'Executed' LIMIT 4", "executed")
    assert len(checks.run("SELECT account_id FROM accounts", "accounts").frame.data) == 4
    with pytest.raises(UnknownValue, match=r"the condition on trades\.status was left out"):
        checks.run("SELECT count(*) FROM trades", "executed")
    # Another plan may call it otherwise.
    checks.another_plan()
    with pytest.raises(UnknownValue, match=r"the condition on trades\.status was left out"):
        checks.run("SELECT count(*) FROM trades", "done")


def test_quotes_in_texts_stay_texts(run: Any) -> None:
    with pytest.raises(UnknownValue) as raised:
        run("SELECT count(*) FROM trades WHERE status = 'it''s; DROP TABLE trades'")
    assert raised.value.text == "it's; DROP TABLE trades"


@pytest.mark.parametrize(
    "condition", ["status <> ''", "status <> '' AND trim(status) <> ''", "status NOT IN ('', ' ')"]
)
def test_who_leaves_out_empty_texts_where_there_are_none_leaves_out_nothing(run: Any, condition: str) -> None:
    checked = run(f"SELECT count(*) FROM trades WHERE status IS NOT NULL AND {condition}")
    assert checked.frame.data.iat[0, 0] > 0


def test_a_text_beside_an_empty_one_that_is_left_out_has_to_be_there(run: Any) -> None:
    with pytest.raises(UnknownValue):
        run("SELECT count(*) FROM trades WHERE status NOT IN ('', 'VOIDED')")
