"""What was taught, shown to a planner that says itself what it follows."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.errors import OutputError
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.process import Process, ProcessStep
from finexpert.modules.known_here import IN_PART, NOTHING, WHOLE, KnownHere, find

STRESS = Keyword(
    term="stress month", aliases=["month of stress"], meaning="a month with sales below 918273650", id="t1"
)
STEP = ProcessStep(text="Count the months with sales.", sql="SELECT date, amount FROM sales")
COUNT = Process(heading="Month Count", steps=[STEP], status="active", id="p1")
LONG = Process(
    heading="Amber Sales",
    steps=[ProcessStep(text="Take the sales of each month. " + "Add them up with care. " * (WHOLE // 40))] * 2,
    status="active",
    id="p2",
)
KNOWN = KnownHere((STRESS, COUNT, LONG))
QUESTION = "What is the month count of the stress months?"


@pytest.fixture
def session(desk: Any) -> Any:
    made = desk.session()
    made.define("stress month", STRESS.meaning)
    made.stores.memory.add(COUNT, "anna")
    return made


def test_it_is_told_with_numbers_and_what_is_long_in_part() -> None:
    assert KNOWN.told().splitlines() == [
        "1. stress month (also month of stress): a month with sales below 918273650",
        "2. Process: Month Count",
        "   Steps:",
        "   1. Count the months with sales.",
        "      SQL:",
        "      SELECT date, amount FROM sales",
        f"3. Process: Amber Sales: Take the sales of each month. {'Add them up with care. ' * 5}{IN_PART}",
    ]
    assert NOTHING.told() == ""
    assert NOTHING.followed([]) == []


def test_what_is_named_or_opened_is_told_whole() -> None:
    opened = KNOWN.opened([3])
    assert opened.told() == KnownHere(KNOWN.entries, named=frozenset({"p2"})).told()
    assert IN_PART not in opened.told()
    assert KNOWN.opened([1, 2, 99]) is KNOWN
    assert opened.opened([3]) is opened
    assert opened.followed([3, 1, 3]) == [LONG, STRESS]


@pytest.mark.parametrize(
    ("follows", "unclear", "error"),
    [
        ([4], [], "follows has 4, and what is known here has the numbers 1 to 3"),
        ([0], [], "follows has 0"),
        ([1, 3], [], "'Amber Sales', which was shown in part only"),
        ([2], ["Stress Months"], "unclear has 'Stress Months', which is known here: list 1 in follows"),
    ],
)
def test_what_cannot_be_followed_is_sent_back(follows: list[int], unclear: list[str], error: str) -> None:
    with pytest.raises(OutputError, match=error):
        KNOWN.followed(follows, unclear)
    assert KNOWN.followed([1], ["stress months", "grubby months"]) == [STRESS]


def test_what_the_planner_follows_is_shown_recorded_and_told_to_repairs(desk: Any, session: Any) -> None:
    desk.says("planning", desk.plan("answer = sales.nothing", select="SELECT nothing FROM sales", follows=(1, 2)))
    frame = {"df_name": "sales", "df_columns": ["date", "region", "amount"], "select_query": desk.good}
    desk.says("sql_extraction", desk.fields(selects=[frame]))
    desk.says("script_generation", desk.fields(code="answer = len(sales)"))
    answer = session.ask(QUESTION)
    assert (answer.value, answer.flags, answer.usage.by_layer["planning"]) == (6, [], 1)
    assert desk.layers == ["planning", "sql_extraction", "script_generation"]
    assert f"1. stress month: {STRESS.meaning}\n2. Process: Month Count\n" in desk.prompts[0]
    assert "[[ ## knowledge ## ]]\n(none)" in desk.prompts[0]
    assert (answer.meanings, answer.processes) == ({"stress month": STRESS.meaning}, ["Month Count"])
    for text in (*desk.prompts[1:], answer.record.knowledge):
        assert f"By 'stress month' this house means: {STRESS.meaning}" in text
        assert "1. Count the months with sales.\n   SQL:\n   SELECT date, amount FROM sales" in text


def test_what_it_does_not_follow_counts_as_not_used(desk: Any, session: Any) -> None:
    desk.says("planning", desk.plan())
    answer = session.ask(QUESTION)
    assert (answer.value, answer.meanings, answer.processes, answer.record.knowledge) == (6, {}, [], "(none)")
    # "Stress month" and "month count" are words of the house alone: that they were read in another sense is said.
    assert answer.flags == [
        "'stress month' was taught, and the question was understood without it",
        "'Month Count' was taught, and the question was understood without it",
    ]


def test_a_process_shown_in_part_is_shown_whole_before_it_is_followed(desk: Any) -> None:
    session = desk.session()
    session.stores.memory.add(LONG, "anna")
    desk.says("planning", desk.plan(follows=(1,)))
    answer = session.ask("How high were amber months' sales, added up with care?")
    assert desk.layers == ["planning", "planning"]
    assert [IN_PART in prompt for prompt in desk.prompts] == [True, False]
    assert (answer.value, answer.processes) == (6, ["Amber Sales"])


def test_a_term_that_is_known_is_not_asked_back(desk: Any, session: Any) -> None:
    desk.says("planning", desk.plan(unclear="stress months"), desk.plan(follows=(1,)))
    answer = session.ask("How many stress months were there?", clarify=True)
    assert (answer.status, answer.meanings) == ("answered", {"stress month": STRESS.meaning})
    assert "unclear has 'stress months', which is known here: list 1 in follows" in desk.prompts[1]


@pytest.mark.parametrize("retries", [0, 2])
def test_who_insists_that_known_terms_are_unclear_is_told_what_they_mean(desk: Any, retries: int) -> None:
    session = desk.session(retries=retries)
    session.define("stress month", STRESS.meaning)
    session.stores.memory.add(COUNT, "anna")
    desk.says("planning", desk.plan(unclear="stress months, month count"))
    answer = session.ask(QUESTION, clarify=True)
    assert (answer.status, answer.value) == ("answered", 6)
    assert (answer.meanings, answer.processes) == ({"stress month": STRESS.meaning}, ["Month Count"])
    assert answer.usage.by_layer["planning"] == retries + 1 + 2
    last = desk.of("planning")[-1].rsplit("[[ ## knowledge ## ]]", 1)[1]
    assert f"By 'stress month' this house means: {STRESS.meaning}" in last
    assert "1. Count the months with sales." in last


def test_a_term_that_nobody_explained_is_asked_back_with_what_is_near(desk: Any, session: Any) -> None:
    desk.says("planning", desk.plan(unclear="grubby months"))
    unclear = session.ask("How many grubby months were there?", clarify=True).clarification
    assert (unclear.term, "stress month" in unclear.candidates) == ("grubby months", True)
    assert desk.layers == ["planning"]


def test_where_nothing_is_near_the_prompt_is_as_if_nothing_were_taught(desk: Any, session: Any) -> None:
    desk.says("planning", desk.plan())
    session.ask("How high was the amount in 2020?")
    desk.session(memory=False).ask("How high was the amount in 2020?")
    assert desk.prompts[0] == desk.prompts[1]


def test_the_question_before_says_what_a_follow_up_is_about(desk: Any) -> None:
    taught = desk.taught()
    taught.memory.add(COUNT, "anna")
    taught.glossary.define(STRESS, "anna")
    assert find("And in 2019?", taught, "") == NOTHING
    known = find("And in 2019?", taught, "", "turn 1: the month count of stress months\nanswer: 3")
    assert [each.title for each in known.entries] == ["stress month", "Month Count"]
    assert len(known.named) == 2


def test_only_what_shares_a_word_is_offered_for_a_term() -> None:
    assert KNOWN.alike("grubby months") == ["stress month", "Month Count"]
    assert KNOWN.alike("harbours") == []
