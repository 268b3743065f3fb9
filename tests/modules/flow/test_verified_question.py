"""Questions that a verified query answers: no model is asked, and where anything is unsure, planning is."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.errors import RecordError, StoreError

NORTH = "SELECT sum(amount) AS total FROM sales WHERE region = 'north' AND date >= DATE '2020-01-01' AND date < DATE '2021-01-01'"
QUESTION = "What was the total amount in the north region in 2020?"
END = dt.date(2021, 6, 30)


def plan(desk: Any, select: str = NORTH, kind: str = "number", follows: tuple[int, ...] = ()) -> str:
    return str(desk.plan("", kind, select, ("total",), "totals", follows=follows))


@pytest.fixture
def verified(desk: Any) -> Any:
    """Asks a question in a conversation of its own, and verifies the answer."""

    def make(
        question: str = QUESTION, select: str = NORTH, kind: str = "number", follows: tuple[int, ...] = (), **given: Any
    ) -> Any:
        desk.says("planning", plan(desk, select, kind, follows))
        session = desk.session(as_of=END, verified=False)
        return session.verify(session.ask(question), **given)

    return make


def asked(desk: Any, question: str, *, used: bool, **given: Any) -> Any:
    """The answer in a new conversation; `used` says whether a verified query gave it."""
    desk.says("planning", plan(desk, "SELECT 1 AS total", "number"))
    before = len(desk.calls)
    answer = desk.session(**{"as_of": END, **given}).ask(question)
    assert (len(desk.calls) == before) is used, answer.flags
    assert any(flag.startswith("rests on a verified query") for flag in answer.flags) is used
    return answer


def test_the_same_words_cost_no_call(desk: Any, verified: Any) -> None:
    kept = verified(by="ben")
    answer = asked(desk, f"  {QUESTION.rstrip('?')} ", used=True)
    assert (answer.status, answer.value, answer.usage.calls) == ("answered", 3 * 918273645.5 + 6, 0)
    assert answer.period == "2020-01-01 to 2020-12-31"
    assert f"verified by ben on {kept.taught_at:%Y-%m-%d} (finexpert verified show {kept.id[:8]})" in answer.flags[0]
    variables = {"region": "north", "year": "2020"}
    assert answer.record.verified == {"id": kept.id, "version": 1, "by": "ben", "variables": variables}
    assert answer.record.frames[0].select == NORTH


@pytest.mark.parametrize(
    "question",
    [
        "What was the total amount in the north region in Q1 2020?",
        "What was the total amount in the north region before 2020?",
        "What was the total amount not in the north region in 2020?",
        "What was the mean amount in the north region in 2020?",
        "What was the total amount in thousands in the north region in 2020?",
        "What was the total amount in the North region in 2020?",
        "What was the total amount in the north regions in 2020?",
        "What was the total amount in the north region in 2020 and 2021?",
    ],
)
def test_near_misses_are_other_questions(desk: Any, verified: Any, question: str) -> None:
    verified()
    assert asked(desk, question, used=False).value == 1.0


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("what was total amount in the 'north' region in 2020", 3 * 918273645.5 + 6),
        ("What was the Total amount in south region in 2020, please?", 3 * 918273645.5 + 9),
    ],
)
def test_what_says_the_same_is_the_same_question(desk: Any, verified: Any, question: str, value: float) -> None:
    kept = verified()
    assert {(each.name, each.kind) for each in kept.variables} == {("region", "text"), ("year", "year")}
    assert asked(desk, question, used=True).value == value


def test_another_year_is_not_asked_so_far(desk: Any, verified: Any) -> None:
    verified(f"{QUESTION[:-1]} so far?")
    asked(desk, f"{QUESTION[:-1]} so far?", used=True)
    asked(desk, f"{QUESTION.replace('2020', '2021')[:-1]} so far?", used=False)


def test_as_it_stands_it_answers_no_other_year(desk: Any, verified: Any) -> None:
    verified(variables={})
    asked(desk, QUESTION.replace("2020", "2021"), used=False)
    asked(desk, QUESTION.lower(), used=True)


def test_a_variable_that_was_found_leaves_the_question_of_another_to_it(desk: Any, verified: Any) -> None:
    verified()
    other = verified(QUESTION.replace("north", "south"), NORTH.replace("north", "south"))
    assert other.variables == []


def test_it_can_be_switched_off_and_retired(desk: Any, verified: Any) -> None:
    kept = verified()
    asked(desk, QUESTION, used=False, verified=False)
    asked(desk, QUESTION, used=True)
    store = desk.taught()
    store.verified.retire(kept.id, "anna")
    asked(desk, QUESTION, used=False)
    again = verified()
    assert again.id != kept.id
    assert [entry.action for entry, _ in store.verified.history(kept.id)] == ["retire", "verify"]


def test_another_select_for_the_question_is_a_new_version(desk: Any, verified: Any) -> None:
    first, same = verified(), verified(by="ben")
    other = verified(select=NORTH.replace("sum", "max"))
    assert (same.version, other.id, other.version) == (1, first.id, 2)
    assert asked(desk, QUESTION, used=True).value == 918273645.5 + 4


# What else the question is asked with.


def test_after_another_question_planning_is_asked(desk: Any, verified: Any) -> None:
    verified()
    desk.says("planning", plan(desk, "SELECT 1 AS total"))
    session = desk.session(as_of=END)
    session.ask("Only look at the first quarter from now on: how much was it?")
    answer = session.ask(QUESTION)
    assert answer.value == 1.0
    assert "may rest on earlier ones" in answer.flags[-1]
    assert len(session.workspace.turns) == 2


def test_it_becomes_a_turn_that_can_be_asked_on(desk: Any, verified: Any) -> None:
    verified()
    session = desk.session(as_of=END)
    first = session.ask(QUESTION)
    assert session.ask(QUESTION).value == first.value
    assert [turn.question for turn in session.workspace.turns] == [QUESTION, QUESTION]
    assert list(session.workspace.frames) == ["totals"]
    assert [session.undo(), session.undo(), session.workspace.frames] == [True, True, {}]


def test_what_is_said_beside_it_is_no_part_of_it(desk: Any, verified: Any) -> None:
    verified()
    desk.says("planning", plan(desk, "SELECT 1 AS total"))
    assert desk.session(as_of=END).ask(QUESTION, knowledge="amounts are net").value == 1.0
    assert desk.session(as_of=END).ask(QUESTION, answer_format=AnswerFormat(kind="integer")).value == 1


def test_a_follow_up_cannot_be_verified(desk: Any) -> None:
    desk.says("planning", plan(desk))
    session = desk.session(as_of=END)
    session.ask("And in the south?")
    with pytest.raises(RecordError, match="in a conversation"):
        session.verify(session.ask(QUESTION))


def test_an_answer_by_script_cannot_be_verified(desk: Any) -> None:
    desk.says("planning", desk.plan())
    session = desk.session(as_of=END)
    with pytest.raises(RecordError, match="by one SELECT"):
        session.verify(session.ask("How many months?"))
    desk.says("planning", plan(desk))
    session = desk.session(as_of=END)
    told = session.ask(QUESTION, knowledge="amounts are net")
    with pytest.raises(RecordError, match="what was said with the question"):
        session.verify(told)


# Words that mean something else since, and days.


def test_a_word_that_was_explained_since_ends_it(desk: Any, verified: Any) -> None:
    verified()
    desk.session().define("north region", "the two northern regions")
    desk.says("keyword_rephrasing", desk.terms(("north region", 1)))
    answer = asked(desk, QUESTION, used=False)
    assert any("'north region' was explained since" in flag for flag in answer.flags)


def test_a_meaning_that_was_changed_ends_it(desk: Any, verified: Any) -> None:
    session = desk.session()
    session.define("north region", "region north")
    kept = verified(follows=(1,))
    assert list(kept.meanings) == ["term north region"]
    asked(desk, QUESTION, used=True)
    session.define("north region", "region north and region northeast")
    answer = asked(desk, QUESTION, used=False)
    assert any("'north region' was changed since" in flag for flag in answer.flags)


@pytest.mark.parametrize(
    ("question", "select", "used"),
    [
        (QUESTION, NORTH, True),
        ("What was the total amount last year?", NORTH, False),
        ("What was the total amount so far?", NORTH, False),
        ("What is the total amount in the north region?", "SELECT sum(amount) FROM sales WHERE region = 'north'", True),
        ("What is the total amount?", "SELECT sum(amount) FROM sales WHERE date <= DATE '2021-06-30'", False),
        ("Wie hoch war der Betrag letztes Jahr?", NORTH, False),
        (
            "What was the total amount since 2020?",
            "SELECT sum(amount) FROM sales WHERE date >= DATE '2020-01-01'",
            True,
        ),
    ],
)
def test_on_another_day_only_what_the_question_itself_dates(
    desk: Any, verified: Any, question: str, select: str, used: bool
) -> None:
    verified(question, select)
    asked(desk, question, used=True)
    asked(desk, question, used=used, as_of=dt.date(2022, 3, 31))


# Variables.


def test_variables_are_replaced_in_question_and_select(desk: Any, verified: Any) -> None:
    kept = verified(variables={"region": "north", "year": "2020"})
    assert [(each.name, each.kind) for each in kept.variables] == [("region", "text"), ("year", "year")]
    answer = asked(desk, QUESTION.replace("north", "south"), used=True)
    assert answer.value == 3 * 918273645.5 + 9
    assert "region = 'south'" in answer.record.frames[0].select
    assert "with region = south" in answer.flags[0]
    assert answer.record.verified["variables"] == {"region": "south", "year": "2020"}
    assert answer.explanation != "as asked"


@pytest.mark.parametrize("region", ["east", "North", "north or south", "no north", "north' OR region <> '", "%"])
def test_a_text_that_the_column_does_not_hold_is_planned(desk: Any, verified: Any, region: str) -> None:
    verified(variables={"region": "north"})
    answer = asked(desk, QUESTION.replace("north", region), used=False)
    assert any("does not hold" in flag for flag in answer.flags)


def test_a_year_without_rows_is_planned(desk: Any, verified: Any) -> None:
    verified(variables={"year": "2020"})
    asked(desk, QUESTION.replace("2020", "2018"), used=False)


@pytest.mark.parametrize(
    ("variables", "select", "words"),
    [
        ({"year": "2019"}, NORTH, "stands 0 times"),
        ({"year": "2020"}, NORTH.replace("AS total", "AS total_2020"), "names 'total_2020'"),
        ({"year": "2020"}, NORTH + " AND date <> DATE '2020-02-29'", "not the same day in every year"),
        ({"year": "2020"}, NORTH + " AND date > DATE '2018-06-30'", "may depend on the year"),
        ({"year": "2020"}, NORTH + " AND amount > 2020", "is not compared with a year"),
        ({"region": "north"}, NORTH.replace("region = 'north'", "lower(region) = 'north'"), "as it stands"),
        ({"region": "north"}, NORTH.replace("region = 'north'", "region LIKE 'north%'"), "as it stands"),
        ({"what": "amount"}, NORTH, "names 'amount'"),
        ({"word": "total"}, NORTH.replace(" AS total", ""), "no literal 'total'"),
        ({"a": "2020", "b": "2020"}, NORTH, "the same value"),
        ({"a b": "2020"}, NORTH, "is no variable"),
    ],
)
def test_what_is_no_variable_is_refused(
    desk: Any, verified: Any, variables: dict[str, str], select: str, words: str
) -> None:
    with pytest.raises(StoreError, match=words):
        verified(select=select, variables=variables)
    assert desk.taught().verified.items() == []


def test_two_verified_queries_for_one_question_are_refused(desk: Any, verified: Any) -> None:
    verified(variables={"region": "north"})
    with pytest.raises(StoreError, match="answered by the verified query"):
        verified(QUESTION.replace("north", "south"), NORTH.replace("north", "south"), variables={"year": "2020"})
    # The very words win over a variable.
    plain = verified(QUESTION.replace("north", "south"), NORTH.replace("north", "south").replace("sum", "min"))
    assert asked(desk, QUESTION.replace("north", "south"), used=True).record.verified["id"] == plain.id


# Near, and not the same: an example for planning.


def test_a_near_question_is_planned_with_the_verified_one_as_an_example(desk: Any, verified: Any) -> None:
    untaught = desk.of("planning")
    verified()
    near = "What was the mean amount in the north region in 2020?"
    asked(desk, near, used=False)
    prompt = desk.of("planning")[-1]
    assert (
        "A question that was verified over these tables: What was the total amount in the north region in 2020"
        in prompt
    )
    assert "region = 'north'" in prompt
    asked(desk, near, used=False, verified=False)
    assert "was verified" not in desk.of("planning")[-1]
    asked(desk, "How tall is a giraffe?", used=False)
    assert "was verified" not in desk.of("planning")[-1]
    assert untaught == []


def test_an_answer_that_had_an_example_can_be_verified_itself(desk: Any, verified: Any) -> None:
    verified()
    desk.says("planning", plan(desk, NORTH.replace("sum", "avg")))
    session = desk.session(as_of=END)
    answer = session.ask("What was the mean amount in the north region in 2020?")
    assert "was verified over these tables" in answer.record.knowledge
    assert session.verify(answer).sql == NORTH.replace("sum", "avg")


def test_after_a_change_of_meaning_it_is_no_example(desk: Any, verified: Any) -> None:
    verified()
    desk.session().define("north region", "the two northern regions")
    desk.says("keyword_rephrasing", desk.terms(("north region", 1)))
    asked(desk, "What was the mean amount in the north region in 2020?", used=False)
    assert "was verified" not in desk.of("planning")[-1]
