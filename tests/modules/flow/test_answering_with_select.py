"""Planning that was compiled to answer with one SELECT: the SELECT computes, and planning itself repairs it."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import dspy
import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.session import Session
from finexpert.settings import Settings

DEMO = dspy.Example(question="How many wages are there?", select="SELECT count(*) FROM wages")
RISE = "SELECT max(amount) - min(amount) FROM sales"


def said(select: str, kind: str = "", unit: str = "") -> str:
    return (
        f"[[ ## select ## ]]\n{select}\n[[ ## answer_kind ## ]]\n{kind}\n"
        f"[[ ## unit ## ]]\n{unit}\n[[ ## completed ## ]]"
    )


@pytest.fixture
def session(warehouse: Any, sandbox: Any, scripted: Any) -> Any:
    def make(answers: list[str], **settings: Any) -> tuple[Session, list[str]]:
        models, prompts = scripted(answers)
        expert = FinancialExpert()
        expert.planning.warehouse_by_select.demos = [DEMO]
        given = Settings(as_of=dt.date(2020, 12, 31), cache=False, **settings)
        return Session(warehouse, expert=expert, settings=given, models=models, sandbox=sandbox), prompts

    return make


def test_one_call_and_the_select_is_the_source(session: Any) -> None:
    asked, prompts = session([said(f"```sql\n{RISE};\n```", "number", "thousand USD")])
    answer = asked.ask("By how much did sales rise?")
    assert (answer.value, answer.text, answer.usage.calls) == (5.0, "5.00 thousand USD", 1)
    assert [citation.place for citation in answer.citations] == [RISE]
    assert "SELECT count(*) FROM wages" in prompts[0]


@pytest.mark.parametrize(
    ("wanted", "select", "value"),
    [
        (AnswerFormat(kind="integer"), "SELECT count(*) FROM sales", 6),
        (AnswerFormat(kind="date"), "SELECT max(date) FROM sales", dt.date(2020, 6, 1)),
        (AnswerFormat(kind="boolean"), "SELECT max(amount) > min(amount) FROM sales", True),
        (
            AnswerFormat(kind="list", items="integer"),
            "SELECT month(date) FROM sales WHERE date < DATE '2020-03-01' ORDER BY date",
            [1, 2],
        ),
        (AnswerFormat(kind="list", items="number"), "SELECT min(amount), 2.5 FROM sales", [918273645.5, 2.5]),
        (AnswerFormat(kind="list", items="integer"), "SELECT count(*) FROM sales", [6]),
    ],
)
def test_every_kind_of_answer(session: Any, wanted: AnswerFormat, select: str, value: object) -> None:
    asked, _ = session([said(select)], retries=0)
    assert asked.ask("Which?", answer_format=wanted).value == value


def test_a_table_is_the_whole_result(session: Any) -> None:
    asked, _ = session([said("SELECT date, amount FROM sales ORDER BY date LIMIT 2", "table")])
    table = asked.ask("Show the first two months.").value
    assert list(table.columns) == ["date", "amount"]
    assert len(table) == 2


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("SELECT amount FROM sales", "the SELECT gives 6 rows where one value is asked for"),
        ("SELECT amount FROM sales WHERE amount < 0", "amount < 0 matches no row of sales"),
        ("SELECT max(amount) FROM sales WHERE amount < 0", "amount < 0 matches no row of sales"),
        ("SELECT max(amnt) FROM sales", 'no column "amnt"'),
    ],
)
def test_what_is_no_answer_goes_back_to_planning(session: Any, wrong: str, why: str) -> None:
    asked, prompts = session([said(wrong, "number"), said(RISE, "number")])
    answer = asked.ask("By how much did sales rise?")
    assert (answer.value, answer.usage.by_layer) == (5.0, {"planning": 2})
    assert wrong not in prompts[1]
    assert re.search(why, prompts[1])
    assert [place.place for place in answer.citations] == [RISE]
    failed, _ = session([said(wrong, "number")], retries=0)
    failure = failed.ask("By how much did sales rise?").failure
    assert failure.layer == "sql_extraction"
    assert re.search(why, failure.message)


def test_a_later_question_sees_the_select_of_the_one_before(session: Any) -> None:
    asked, prompts = session([said(RISE, "number"), said("SELECT max(amount) FROM sales", "number")])
    asked.ask("By how much did sales rise?")
    assert asked.ask("And what was their maximum?").value == 918273650.5
    assert RISE in prompts[1]


@pytest.mark.parametrize(
    ("question", "charted"),
    [("Plot the sales.", True), ("Give a chart of sales", True), ("How deep is the drawdown?", False)],
)
def test_a_chart_takes_a_script(session: Any, question: str, charted: bool) -> None:
    asked, prompts = session(["nothing"] * 3, retries=0)
    assert asked.ask(question).status == "failed"
    assert ("[[ ## code ## ]]" in prompts[0]) is charted


def test_without_drafts_the_layers_write_for_themselves(session: Any) -> None:
    asked, prompts = session(["nothing"] * 3, drafts=False, retries=0)
    assert asked.ask("By how much did sales rise?").status == "failed"
    assert "[[ ## frames ## ]]" in prompts[0]


@pytest.mark.parametrize(("knowledge", "status"), [("Our fiscal year ends in June.", "failed"), ("", "answered")])
def test_what_is_told_with_a_question_holds_for_its_checks(session: Any, knowledge: str, status: str) -> None:
    asked, _ = session([said("SELECT sum(amount) FROM sales WHERE year(date) = 2020", "number")] * 2)
    answer = asked.ask("What were sales in fiscal year 2020?", knowledge=knowledge)
    assert answer.status == status
    assert "the fiscal year ends with June here" in answer.text or not knowledge
