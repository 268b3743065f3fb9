"""A conversation that teaches: follow-ups, undo, words explained, what is forgotten, and what never reaches a prompt."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.core.answers import Clarification
from finexpert.errors import BudgetExceeded, NameTaken, StoreError
from finexpert.knowledge.process import Process, ProcessStep


@pytest.fixture
def session(desk: Any) -> Any:
    desk.says("planning", desk.plan())
    return desk.session()


def process(heading: str, **given: Any) -> Process:
    steps = [ProcessStep(text="Count.")]
    return Process.model_validate({"heading": heading, "steps": steps, "status": "active", **given})


def term(text: str, *candidates: str) -> Clarification:
    return Clarification(kind="term", term=text, question="?", candidates=list(candidates))


# Turns and frames.


def test_a_follow_up_queries_nothing_anew(desk: Any, session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    query = desk.warehouse.query

    def counted(select: str, **given: Any) -> Any:
        asked.append(select)
        return query(select, **given)

    monkeypatch.setattr(desk.warehouse, "query", counted)
    desk.says("planning", desk.plan(), desk.plan("answer = len(sales) * 2", select=None))
    assert session.ask("How many?").value == 6
    before = [*asked]
    assert session.ask("Twice that?").value == 12
    # The first is read, and looked at by checks.
    assert desk.good in before
    assert asked == before


def test_undo_takes_turn_and_frames_back(desk: Any, session: Any) -> None:
    north = "SELECT date, region, amount FROM sales WHERE region = 'north' ORDER BY date"
    desk.says("planning", desk.plan(), desk.plan(select=north), desk.plan("answer = len(sales)", select=None))
    assert session.ask("How many?").value == 6
    assert session.ask("In the north?").value == 3
    assert session.undo()
    assert [turn.question for turn in session.workspace.turns] == ["How many?"]
    assert session.ask("Again?").value == 6  # the frame is the first one again
    assert "In the north?" not in desk.prompts[-1]
    assert [session.undo() for _ in range(3)] == [True, True, False]
    assert (session.workspace.frames, session.workspace.turns) == ({}, [])


def test_a_question_back_is_no_turn_to_undo(desk: Any, session: Any) -> None:
    desk.says("planning", desk.plan(), desk.plan(unclear="grubby"))
    session.ask("How many months?")
    assert session.ask("How many grubby months?", clarify=True).status == "needs_clarification"
    assert session.undo()
    assert session.workspace.frames == {}
    assert not session.undo()


def test_undo_after_a_resume(desk: Any, session: Any) -> None:
    session.ask("How many?")
    session.save("t")
    again = desk.session()
    again.resume("t")
    again.ask("And now?")
    assert [again.undo() for _ in range(3)] == [True, True, False]


# Words.


def test_what_was_explained_is_never_asked_again(desk: Any, session: Any) -> None:
    desk.says("planning", desk.plan(unclear="grubby months"))
    unclear = session.ask("How many grubby months?", clarify=True).clarification
    kept = session.explain(unclear, " months with sales in the north ")
    assert (kept.term, kept.meaning, kept.source) == (
        "grubby months",
        "months with sales in the north",
        "clarification",
    )
    for talk in (session, desk.session()):
        # A model that still does not know it is told that it is known.
        desk.says("planning", desk.plan(unclear="grubby months"), desk.plan(follows=(1,)))
        answer = talk.ask("How many grubby months?", clarify=True)
        assert (answer.status, answer.flags) == ("answered", [])
        assert answer.meanings == {"grubby months": "months with sales in the north"}
    assert "1. grubby months: months with sales in the north" in desk.of("planning")[-1]


def test_a_candidate_makes_the_term_another_name_of_a_keyword(session: Any) -> None:
    session.define("stress month", "a month below 5")
    kept = session.explain(term("glum month", "stress month"), "stress month")
    assert (kept.term, kept.aliases, kept.version) == ("stress month", ["glum month"], 2)
    assert session.stores.glossary.get("Glum Months") == kept


def test_a_candidate_makes_the_term_another_name_of_a_process(desk: Any, session: Any) -> None:
    session.stores.memory.add(process("Amber Watch"), "ben")
    kept = session.explain(term("amberish months", "Amber Watch"), "Amber Watch")
    assert (kept.heading, kept.aliases, kept.status) == ("Amber Watch", ["amberish months"], "active")
    assert session.stores.glossary.empty
    desk.says("planning", desk.plan(follows=(1,)))
    assert session.ask("How many amberish months?", clarify=True).processes == ["Amber Watch"]


def test_a_meaning_that_is_no_candidate_is_a_meaning(session: Any) -> None:
    session.define("stress month", "a month below 5")
    kept = session.explain(term("glum month", "calm month"), "stress month")
    assert (kept.term, kept.meaning) == ("glum month", "stress month")


def test_a_new_meaning_is_a_new_version(session: Any) -> None:
    first = session.define("stress month", "a month below 5", ["tense month"])
    assert session.define("Stress Months", "a month below 4").version == 2
    assert session.stores.glossary.get("tense month").meaning == "a month below 4"
    assert session.stores.glossary.revert("stress month", 1, "anna").meaning == first.meaning


@pytest.mark.parametrize(
    ("name", "meaning"), [("?!", "x"), ("", "x"), ("stress", ""), ("stress", "x" * 3000), ("str\u202eess", "x")]
)
def test_what_cannot_be_kept_is_an_error_of_the_store(session: Any, name: str, meaning: str) -> None:
    with pytest.raises(StoreError, match="cannot be kept"):
        session.define(name, meaning)
    assert session.stores.glossary.empty


def test_an_alias_is_not_defined_over(session: Any) -> None:
    session.define("stress month", "a month below 5", ["tense month"])
    with pytest.raises(NameTaken, match="'stress month'"):
        session.define("tense month", "something else")


def test_forgetting(desk: Any, session: Any) -> None:
    session.stores.memory.add(process("Amber Watch"), "ben")
    session.define("stress month", "a month below 5")
    assert session.forget("amber watches").status == "retired"
    assert session.forget("the stress-month").status == "retired"
    assert session.forget("stress month") is None
    assert session.ask("What were the sales in 2020?").processes == []
    assert desk.layers == ["planning"]
    assert len(session.stores.memory.history("Amber Watch")) == 2


def test_who_teaches_is_the_login_name_if_not_set(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ute")
    assert desk.session(by=None).define("stress month", "a month below 5").taught_by == "ute"


def test_conversations_share_what_is_taught(desk: Any, session: Any) -> None:
    other = desk.session()
    session.define("stress month", "a month below 5")
    desk.says("planning", desk.plan(follows=(1,)))
    assert other.ask("How many stress months?").meanings == {"stress month": "a month below 5"}


def test_a_budget_holds_for_remembering(desk: Any, session: Any) -> None:
    desk.says("memorization", desk.process())
    session.ask("How many months with sales were there?")
    session.settings.budget_calls = 1
    remembered = session.remember()
    assert (remembered.process.status, "budget" in remembered.problems[0]) == ("draft", True)
    session.settings.budget_calls = 0
    with pytest.raises(BudgetExceeded):
        session.remember("Another")
    assert [kept.heading for kept in session.stores.memory.processes()] == ["Month count"]


# Contract one: no cell value reaches a prompt, whatever is taught.


def test_no_cell_reaches_a_prompt_while_teaching(desk: Any) -> None:
    everything = "SELECT date, region, note, amount FROM sales ORDER BY date"
    columns = ("date", "region", "note", "amount")
    talk = desk.session()
    desk.says(
        "planning",
        desk.plan(unclear="grubby"),
        desk.plan("answer = sales.sort_values('amount')", "table", everything, columns, follows=(1,)),
        desk.plan("answer = sales.note.tolist()", "list", None),
        desk.plan("raise ValueError(sales.note.iloc[0])", "text", None),
    )
    desk.says("script_generation", desk.fields(code="answer = str(sales.note.iloc[0]) + str(sales.amount.max())"))
    unclear = talk.ask("Show the grubby sales.", clarify=True).clarification
    talk.explain(unclear, "every month")
    assert talk.ask("Show the grubby sales.", clarify=True).status == "answered"
    assert desk.canaries[0] in str(talk.ask("Only the notes.").value)
    assert desk.canaries[0] in str(talk.ask("The first note and the highest amount, as a text.").value)

    step = {"text": "Take the first note.", "sql": everything, "code": "answer = str(sales.note.iloc[0])"}
    desk.says("memorization", desk.process(heading="First note", steps=[step]))
    desk.says("planning", desk.plan("answer = str(sales.note.iloc[1])", "text", everything, columns))
    wrong = talk.remember()
    assert wrong.process.status == "draft"
    assert desk.canaries[0] in wrong.problems[0]  # the expert sees the difference, the model does not
    desk.says("planning", desk.plan("answer = str(sales.note.iloc[0]) + str(sales.amount.max())", "text", everything, columns))  # fmt: skip
    assert talk.check(wrong.process).process.status == "active"

    talk.define("murky", "without a note")
    plan = ["answer = str(sales.note.iloc[0])", "text", everything, columns]
    desk.says(
        "planning",
        lambda prompt: desk.plan(
            *plan, follows=tuple(desk.known_here(prompt)[name] for name in ("murky", "First note"))
        ),
    )
    answer = talk.ask("What is the first note of the murky ones?")
    assert (answer.processes, list(answer.meanings)) == (["First note"], ["murky"])
    talk.save("t")
    again = desk.session()
    again.resume("t")
    desk.says("planning", desk.plan(*plan))
    again.ask("What is the first note now?")
    desk.says("memorization", desk.process(heading="Another note", steps=[step]))
    again.remember()

    assert {"planning", "script_generation", "memorization"} <= set(desk.layers)
    assert len(desk.calls) >= 12
    leaks = [layer for layer, prompt in desk.calls if any(canary in prompt for canary in desk.canaries)]
    assert leaks == []
