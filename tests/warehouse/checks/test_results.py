"""What is no answer: cut frames, nothing for a reason, infinity; and what is one."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest
from sqlglot import exp

from finexpert.errors import CutFrame, NoRows, QueryError
from finexpert.warehouse.checks.emptiness import explain_nothing
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import read
from finexpert.warehouse.schema import Column, TableSchema


@pytest.mark.parametrize(
    ("select", "said"),
    [
        ("SELECT count(*) FROM trades WHERE executed_at >= DATE '2031-01-01'", r"executed_at >= .* matches no row of trades"),
        ("SELECT sum(lots) FROM trades WHERE executed_at >= '2015-01-01' AND executed_at < '2016-01-01'", "executed_at .* AND executed_at .* matches no row"),
        ("SELECT max(lots) FROM trades WHERE amount > 1e9", "amount > .* matches no row"),
        ("SELECT coalesce(sum(lots), 0) FROM trades WHERE amount > 1000", "amount > 1000 matches no row"),
        ("SELECT symbol FROM trades WHERE amount > 1000", "amount > 1000 matches no row"),
        ("SELECT count(*) FROM trades t JOIN notes n ON n.note = t.status", "n has no rows|notes|the join with n"),
        ("SELECT count(*) FROM trades t JOIN accounts s ON s.account_id = t.trade_id + 100", "the join with s on .* matches no row"),
        ("SELECT count(*) FROM notes", "notes has no rows"),
        ("WITH t AS (SELECT * FROM trades WHERE amount > 1000) SELECT sum(lots) FROM t", "amount > 1000 matches no row"),
        ("SELECT a.region FROM accounts a JOIN (SELECT account_id FROM trades WHERE amount < 0) t USING (account_id)", "amount < 0 matches no row"),
    ],
)  # fmt: skip
def test_one_condition_that_leaves_nothing_is_named(run: Any, select: str, said: str) -> None:
    with pytest.raises(NoRows, match=said):
        run(select)


@pytest.mark.parametrize(
    "select",
    [
        (
            "WITH q AS (SELECT quantile_cont(lots, 0.25) AS a, quantile_cont(lots, 0.75) AS b FROM trades) SELECT count(*) AS n"
            " FROM trades t, q WHERE t.lots < q.a - 1.5 * (q.b - q.a) OR t.lots > q.b + 1.5 * (q.b - q.a)"
        ),
        "SELECT sum(CASE WHEN executed_at > settle_date THEN 1 ELSE 0 END) AS n FROM trades",
        "SELECT trade_id FROM trades WHERE NOT (executed_at <= settle_date)",
    ],
)
def test_that_nothing_is_beyond_bounds_of_the_data_is_an_answer_and_said(run: Any, select: str) -> None:
    assert any(note.startswith("no row meets") for note in run(select).notes)


@pytest.mark.parametrize(
    ("select", "span"),
    [
        ("SELECT count(*) FROM trades WHERE executed_at >= DATE '2031-01-01'", r"executed_at runs from 20\d\d-.* to 20\d\d-.*"),
        ("SELECT count(*) FROM trades WHERE amount > 1e9", r"amount runs from [\d.]+ to [\d.]+"),
        ("WITH t AS (SELECT amount AS a FROM trades) SELECT count(*) FROM t WHERE a BETWEEN 1000 AND 2000", r"a runs from [\d.]+ to [\d.]+"),
        ("SELECT count(*) FROM trades t JOIN accounts a USING (account_id) WHERE t.amount > 1000", r"amount runs from [\d.]+ to [\d.]+"),
        ("SELECT count(*) FROM trades WHERE symbol = currency", ""),
        ("SELECT count(*) FROM trades WHERE symbol > 'zzzz'", ""),
    ],
)  # fmt: skip
def test_a_bound_beyond_a_column_says_to_a_person_how_far_it_runs(run: Any, select: str, span: str) -> None:
    with pytest.raises(NoRows) as raised:
        run(select)
    assert re.fullmatch(span, raised.value.span)
    assert "runs from" not in str(raised.value)


@pytest.mark.parametrize(
    ("condition", "beyond"),
    [
        ("executed_at >= DATE '2031-01-01'", True),
        ("year(executed_at) = 2031", True),
        ("executed_at BETWEEN DATE '2019-01-01' AND DATE '2019-12-31'", True),
        # The same table has a settlement on that day: the wrong date may have been compared.
        ("executed_at BETWEEN DATE '2023-01-12' AND DATE '2023-01-12'", False),
        ("executed_at >= DATE '2023-12-31' AND executed_at < DATE '2023-12-01'", False),
        ("amount > 1e9", False),
    ],
)
def test_no_other_select_finds_a_time_of_which_the_table_holds_nothing(run: Any, condition: str, beyond: bool) -> None:
    with pytest.raises(NoRows) as raised:
        run(f"SELECT count(*) FROM trades WHERE {condition}")
    assert raised.value.beyond is beyond


def test_equality_of_columns_that_never_holds_is_no_answer(run: Any) -> None:
    with pytest.raises(NoRows, match="matches no row"):
        run("SELECT count(*) FROM trades WHERE symbol = currency")


@pytest.mark.parametrize(
    "select",
    [
        "SELECT count(*) FROM trades WHERE status = 'CANCELLED' AND side = 'SELL'",
        "SELECT coalesce(sum(lots), 0) FROM trades WHERE status = 'CANCELLED' AND executed_at >= DATE '2024-01-01'",
        "SELECT symbol FROM trades WHERE status = 'CANCELLED' AND amount > 35",
    ],
)
def test_nothing_is_an_answer_where_each_condition_matches_alone(run: Any, select: str) -> None:
    checked = run(select)
    assert any("no row meets all of these conditions, though each matches rows" in note for note in checked.notes)


def test_a_zero_that_rows_give_needs_no_word(run: Any) -> None:
    assert run("SELECT sum(amount) - 30 FROM trades WHERE status = 'CANCELLED' AND currency = 'USD'").notes == ()


def test_more_rows_than_a_frame_holds_are_never_an_answer(run: Any) -> None:
    with pytest.raises(CutFrame, match="more than 4 rows"):
        run("SELECT * FROM trades")
    assert len(run("SELECT * FROM accounts").frame.data) == 4


def test_infinity_goes_back_and_gaps_are_said(run: Any) -> None:
    with pytest.raises(QueryError, match="NULLIF"):
        run("SELECT sum(lots) / 0.0 AS x FROM trades")
    assert "1 of 4 values of balance are missing" in run("SELECT account_id, balance FROM accounts").notes


@pytest.mark.parametrize(
    "counted",
    [
        "count(*) FILTER (WHERE year(executed_at) = 2030)",
        "sum(CASE WHEN lots > 100 THEN 1 ELSE 0 END)",
        "count_if(lots > 100)",
    ],
)
def test_a_zero_beside_other_numbers_goes_back_where_nothing_is_counted(run: Any, counted: str) -> None:
    for select in (f"SELECT {counted} FROM trades", f"SELECT {counted}, count(*) FROM trades"):
        with pytest.raises(NoRows, match="matches no row of trades"):
            run(select)
    assert (
        run(
            "SELECT count(*) FILTER (WHERE status = 'CANCELLED'), count(*) FROM trades WHERE side = 'SELL'"
        ).frame.data.iat[0, 0]
        == 0
    )


@pytest.mark.parametrize(
    ("select", "period"),
    [
        ("SELECT count(*) FROM trades WHERE executed_at >= '2023-01-01' AND executed_at < '2024-01-01'", "2023-01-01 to 2023-12-31"),
        ("SELECT count(*) FROM trades WHERE executed_at BETWEEN DATE '2023-01-01' AND DATE '2023-06-30'", "2023-01-01 to 2023-06-30"),
        ("SELECT count(*) FROM trades WHERE year(executed_at) = 2023", "2023-01-01 to 2023-12-31"),
        ("SELECT count(*) FROM trades WHERE extract(year FROM executed_at) = 2023", "2023-01-01 to 2023-12-31"),
        ("SELECT count(*) FROM trades WHERE executed_at >= '2023-01-01'", None),
        ("SELECT count(*) FROM trades", None),
    ],
)  # fmt: skip
def test_the_period_is_read_from_the_conditions(run: Any, select: str, period: str | None) -> None:
    assert run(select).period == period


@pytest.mark.parametrize(
    "select",
    [
        "SELECT account_id FROM trades t WHERE NOT EXISTS (SELECT 1 FROM accounts a WHERE a.account_id = t.account_id)",
        "SELECT t.trade_id FROM trades t LEFT JOIN accounts a ON a.account_id = t.account_id WHERE a.account_id IS NULL",
        "SELECT account_id FROM trades WHERE account_id NOT IN (SELECT account_id FROM accounts)",
        "SELECT account_id FROM trades EXCEPT SELECT account_id FROM accounts",
        "WITH r AS (SELECT account_id FROM trades EXCEPT SELECT account_id FROM accounts) SELECT account_id FROM r",
    ],
)
def test_that_nothing_is_without_a_match_is_an_answer(run: Any, select: str) -> None:
    assert run(select).frame.data.empty


LARGE = "FROM trades WHERE lots > 1000"


@pytest.mark.parametrize(
    "select",
    [
        f"SELECT 'large' AS name, count(*) AS n {LARGE}",
        f"SELECT 2031 AS year, coalesce(sum(lots), 0) AS n {LARGE}",
        f"SELECT 'all' AS name, count(*) AS n FROM trades UNION ALL SELECT 'large', count(*) {LARGE} UNION ALL SELECT 'larger', 0 {LARGE}",
        f"SELECT (SELECT count(*) {LARGE}) AS large, (SELECT count(*) FROM trades) AS every",
        # The zero is not to be seen in what is made of it.
        f"SELECT 1 - (SELECT count(*) {LARGE}) / (SELECT count(*) FROM trades) AS share",
        f"SELECT CASE WHEN count(*) > 0 THEN 'yes' ELSE 'no' END AS some {LARGE}",
        f"SELECT count(*) > 0 AS some {LARGE}",
        f"SELECT EXISTS (SELECT 1 {LARGE}) AS some",
        "SELECT a.region, count(t.trade_id) FROM accounts a LEFT JOIN trades t ON t.account_id = a.account_id AND t.lots > 1000 GROUP BY 1",
        f"WITH t AS (SELECT account_id, sum(lots) AS s {LARGE} GROUP BY 1) "
        + "SELECT region, coalesce(sum(s), 0) AS n FROM accounts LEFT JOIN t USING (account_id) GROUP BY 1",
    ],
)
def test_a_zero_beside_something_else_is_looked_at_like_a_zero_alone(run: Any, select: str) -> None:
    with pytest.raises(NoRows, match="lots > 1000 matches no row of trades"):
        run(select)


def test_a_zero_beside_a_label_is_an_answer_where_each_condition_matches_alone(run: Any) -> None:
    checked = run("SELECT 'cancelled' AS name, count(*) AS n FROM trades WHERE status = 'CANCELLED' AND side = 'SELL'")
    assert checked.frame.data["n"].item() == 0
    assert any("no row meets all of these conditions" in note for note in checked.notes)
    assert run("SELECT region, 0 AS n FROM accounts WHERE region = 'EMEA' GROUP BY 1").notes == ()


def test_a_value_that_no_table_gave_is_said(run: Any) -> None:
    assert "the SELECT reads no table: what it gives is written in it" in run("SELECT 'x' AS name, 0 AS n").notes


class _OnlyWithoutCondition:
    """A probe of a warehouse in which no row meets any condition."""

    def any_row(self, select: exp.Select) -> bool:
        return select.args.get("where") is None


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "sqlite"])
def test_a_match_that_is_asked_for_and_not_there_is_no_answer(dialect: str) -> None:
    tables = [TableSchema(name, "", (Column("id", "INTEGER"),)) for name in ("a", "b")]
    select = "SELECT a.id FROM a LEFT JOIN b ON b.id = a.id WHERE b.id IS {} NULL"
    with pytest.raises(NoRows, match="matches no row"):
        explain_nothing(read(select.format("NOT"), dialect, tables), cast(Probe, _OnlyWithoutCondition()))
    notes = explain_nothing(read(select.format(""), dialect, tables), cast(Probe, _OnlyWithoutCondition()))
    assert [note.startswith("no row is without a match") for note in notes] == [True]


@pytest.mark.parametrize(
    ("select", "said"),
    [
        ("SELECT lower(status) AS s, count(*) FROM trades GROUP BY s", False),
        ("SELECT word, count(*) FROM (VALUES ('app'), ('App '), ('pos')) v(word) GROUP BY word", True),
        ("SELECT DISTINCT word FROM (VALUES ('app'), ('App'), ('app')) v(word)", True),
        ("SELECT n, word FROM (VALUES (1, 'app'), (2, 'App')) v(n, word) GROUP BY ALL", False),
        ("SELECT word FROM (VALUES ('app'), ('App')) v(word)", False),
    ],
)
def test_groups_that_are_written_alike_are_said(run: Any, select: str, said: bool) -> None:
    assert any("differ in case or blanks alone" in note for note in run(select).notes) == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("hospitality", "hospitalty"), True),
        (("Equity Fund 1", "Equity Fund 2"), False),
        (("buy", "buys"), False),
        (("Commercial Banking", "Consumer Banking"), False),
        (("investment grade", "sub-investment grade"), False),
    ],
)
def test_groups_that_are_spelt_nearly_alike_are_said(run: Any, words: tuple[str, str], said: bool) -> None:
    values = ", ".join(f"('{word}')" for word in words)
    notes = run(f"SELECT word, count(*) FROM (VALUES {values}) v(word) GROUP BY word").notes
    assert any("differ by a letter or so" in note for note in notes) == said


def test_a_group_that_is_named_by_the_least_of_its_texts_is_compared_by_it(run: Any) -> None:
    words = "(VALUES ('hospitality', 1), ('hospitalty', 2)) v(word, n)"
    named = run(f"SELECT min(word) AS word, sum(n) FROM {words} GROUP BY replace(word, '-', '')").notes
    told_apart = run(f"SELECT n, min(word) AS word FROM {words} GROUP BY n").notes
    assert [any("differ by a letter" in note for note in notes) for notes in (named, told_apart)] == [True, False]
