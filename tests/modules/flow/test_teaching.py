"""Remembering: what is tried in a clean conversation, what stays a draft and why, and how a clash is settled."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.errors import ConfigurationError, NameTaken, OutputError, PlanError, StaleEntry, StoreError
from finexpert.knowledge.process import Process, ProcessStep

OTHER = ProcessStep(text="Count otherwise.")


@pytest.fixture
def session(desk: Any) -> Any:
    """A conversation in which the number of months was asked for."""
    talk = desk.session()
    desk.says("planning", desk.plan())
    desk.says("memorization", desk.process())
    assert talk.ask("How many months with sales were there?").value == 6
    return talk


def kept(session: Any) -> list[Process]:
    return session.stores.memory.processes(("draft", "active", "retired"))  # type: ignore[no-any-return]


def test_a_process_that_gives_the_accepted_result_becomes_active(desk: Any, session: Any) -> None:
    remembered = session.remember()
    process = remembered.process
    assert (process.status, process.note, remembered.problems) == ("active", "", [])
    assert remembered.stored
    assert (process.taught_by, process.version, process.case.expected) == ("anna", 1, 6)
    assert process.case.as_of == dt.date(2020, 12, 31)
    assert kept(session) == [process]
    assert desk.taught().memory.get("month counts") == process


def test_it_is_tried_in_a_clean_conversation_that_knows_only_the_process(desk: Any, session: Any) -> None:
    session.define("stress month", "a month below 5")
    session.knowledge = "Use thousands."
    session.remember("Counting")
    tried = desk.of("planning")[-1]
    assert "Process: Counting\nSteps:\n1. Count the months with sales.\n   SQL:\n" in tried
    assert "How many months with sales were there?" in tried
    for unknown in ("turn 1", "stress month", "Use thousands.", "frames at hand"):
        assert unknown not in tried
    assert len(session.workspace.turns) == 1


def test_the_writer_sees_what_was_said_and_run_and_no_value(desk: Any, session: Any) -> None:
    desk.says("planning", desk.plan("answer = len(sales) + 1", select=None, about="one more"), desk.plan())
    session.ask("Add one.")
    session.remember("Counting")
    (prompt,) = desk.of("memorization")
    for said in (
        "turn 1, expert: How many months with sales were there?",
        f"frame sales: {desk.good}",
        "turn 2, expert: Add one.",
        "understood as: one more",
        "script:\nanswer = len(sales) + 1",
        "[[ ## given_heading ## ]]\nCounting",
    ):
        assert said in prompt
    assert "918273" not in prompt


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("answer = len(sales) - 1", "it gave 5 where 6 was accepted"),
        ("answer = sales.nothing", "it gave"),
    ],
)
def test_another_result_makes_a_draft_that_shows_the_difference(desk: Any, session: Any, code: str, said: str) -> None:
    desk.says("planning", desk.plan(code))
    desk.says("script_generation", desk.fields(code=code))
    remembered = session.remember()
    assert (remembered.process.status, remembered.stored) == ("draft", True)
    (problem,) = remembered.problems
    assert "tried on 'How many months with sales were there?', " in problem
    assert said in problem
    assert remembered.process.note == problem


RESULTS: list[tuple[str, str, str]] = [
    ("table", "answer = sales[['date', 'region']].head(2)", "answer = sales[['region', 'date']].tail(2)"),
    ("table", "answer = sales[['date', 'amount']].head(2)", "answer = sales[['date']].head(2)"),
    ("list", "answer = sales.region.tolist()", "answer = sales.region.tolist()[::-1]"),
    (
        "list",
        "answer = [str(day.date()) for day in sales.date]",
        "answer = [str(day.date()) for day in sales.date][1:]",
    ),
    ("text", "answer = f'{len(sales)} months'", "answer = f'{len(sales) + 1} months'"),
    ("text", "answer = 'north'", "answer = 'south'"),
    ("number", "answer = sales.amount.mean()", "answer = sales.amount.mean() * 1.001"),
    ("boolean", "answer = True", "answer = False"),
    ("date", "answer = sales.date.max()", "answer = sales.date.min()"),
    ("year", "answer = 2020", "answer = 2021"),
]


@pytest.mark.parametrize(("kind", "code", "wrong"), RESULTS)
@pytest.mark.parametrize("holds", [True, False])
def test_results_of_every_kind_are_compared(desk: Any, kind: str, code: str, wrong: str, holds: bool) -> None:
    talk = desk.session(retries=0)
    desk.says("memorization", desk.process(steps=[{"text": "Do it."}]))
    desk.says("planning", desk.plan(code, kind), desk.plan(code if holds else wrong, kind))
    assert talk.ask("What is it?").status == "answered"
    remembered = talk.remember()
    assert (remembered.process.status, len(remembered.problems)) == (("active", 0) if holds else ("draft", 1))


def test_a_table_is_asked_for_with_its_columns(desk: Any) -> None:
    talk = desk.session()
    desk.says("memorization", desk.process())
    desk.says("planning", desk.plan("answer = sales[['date', 'region']]", "table"))
    talk.ask("Which?")
    assert talk.remember().process.case.answer_format.description == "columns in order: date, region"
    assert "columns in order: date, region" in desk.of("planning")[1]


def test_columns_that_are_values_of_the_data_reach_no_prompt(desk: Any) -> None:
    talk = desk.session()
    select = "SELECT date, note, amount FROM sales ORDER BY date"
    code = "answer = sales.pivot_table(index='date', columns='note', values='amount').reset_index()"
    plan = desk.plan(code, "table", select, ("date", "note", "amount"))
    desk.says("planning", plan)
    desk.says("memorization", desk.process(steps=[{"text": "Pivot."}]))
    assert desk.canaries[0] in str(talk.ask("Which?").value.columns)
    remembered = talk.remember()
    assert remembered.process.status == "active"
    assert remembered.process.case.answer_format.description is None
    assert not [prompt for prompt in desk.prompts if any(canary in prompt for canary in desk.canaries)]


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ({"text": "Count.", "sql": "SELECT wages FROM sales"}, "step 1: its SELECT does not run"),
        ({"text": "Count.", "sql": "SELECT date FROM wages"}, "step 1: its SELECT does not run"),
        ({"text": "Count.", "sql": "DROP TABLE sales"}, "step 1: its SELECT does not run"),
        ({"text": "Count.", "code": "answer = ("}, "step 1: its code is not Python"),
        ({"text": "Count.", "code": "import os; os.system('ls')"}, "step 1: "),
        ({"text": "Count since <start>."}, "step 1: <start> is no variable of the process"),
        ({"text": "Count.", "sql": "SELECT date FROM sales WHERE date > '<since>'"}, "<since> is no variable"),
    ],
)
def test_what_cannot_run_is_a_draft_without_a_trial(
    desk: Any, session: Any, step: dict[str, str], problem: str
) -> None:
    desk.says("memorization", desk.process(steps=[step]))
    before = len(desk.calls)
    remembered = session.remember()
    assert remembered.process.status == "draft"
    assert problem in remembered.problems[0]
    assert desk.layers[before:] == ["memorization"]


def test_nothing_to_remember(desk: Any) -> None:
    talk = desk.session(retries=0)
    with pytest.raises(PlanError, match="nothing to remember"):
        talk.remember()
    desk.says("planning", "no")
    assert talk.ask("How many?").status == "failed"
    with pytest.raises(PlanError, match="nothing to remember"):
        talk.remember("Counting")
    assert not talk.stores.memory.processes()


def test_after_a_failed_turn_the_last_answer_is_remembered(desk: Any, session: Any) -> None:
    session.settings.retries = 0
    desk.says("planning", "no", desk.plan())
    assert session.ask("And now?").status == "failed"
    assert session.remember().process.case.expected == 6
    assert "And now?" not in desk.of("memorization")[0]


def test_unusable_text_is_asked_for_again_and_then_an_error(desk: Any, session: Any) -> None:
    desk.says("memorization", "no", desk.process(steps=[]), desk.process())
    assert session.remember().process.status == "active"
    desk.says("memorization", "no")
    with pytest.raises(OutputError):
        session.remember("Another")
    assert len(desk.of("memorization")) == 6
    assert [process.heading for process in kept(session)] == ["Month count"]


@pytest.mark.parametrize(
    ("code", "words"),
    [("answer = pd.concat([sales] * 2000)", "expected: has "), ("answer = [str(n) for n in range(30_000)]", "has ")],
)
def test_a_result_too_large_to_keep_makes_a_draft(desk: Any, code: str, words: str) -> None:
    talk = desk.session()
    desk.says("planning", desk.plan(code, "table" if "concat" in code else "list"))
    desk.says("memorization", desk.process())
    assert talk.ask("All of it?").status == "answered"
    remembered = talk.remember()
    assert (remembered.process.status, remembered.process.case, remembered.stored) == ("draft", None, True)
    assert "cannot be kept to compare with" in remembered.problems[0]
    assert words in remembered.problems[0]


# Clashes.


@pytest.fixture
def clash(desk: Any, session: Any) -> Any:
    """What remembering came to, with another process of this name in the store."""
    old = Process(heading="Count of months", steps=[OTHER], status="active")
    session.stores.memory.add(old, "ben")
    return session.remember()


def test_a_clash_stores_nothing(session: Any, clash: Any) -> None:
    assert (clash.clash.heading, clash.stored, clash.process.status) == ("Count of months", False, "active")
    assert [process.heading for process in kept(session)] == ["Count of months"]


def test_a_clash_may_replace_the_old_one(session: Any, clash: Any) -> None:
    decided = session.decide(clash, "replace")
    assert (decided.stored, decided.clash, decided.process.version) == (True, None, 2)
    assert [(p.heading, p.status, p.taught_by) for p in kept(session)] == [("Month count", "active", "anna")]
    history = session.stores.memory.history("Month count")
    assert [(entry.by, process.heading) for entry, process in history] == [
        ("anna", "Month count"),
        ("ben", "Count of months"),
    ]


def test_a_clash_may_be_ignored(session: Any, clash: Any) -> None:
    decided = session.decide(clash, "ignore")
    assert (decided.stored, decided.clash) == (False, None)
    assert [process.heading for process in kept(session)] == ["Count of months"]


def test_both_may_be_kept(session: Any, clash: Any) -> None:
    decided = session.decide(clash, "keep both", "Quick tally")
    assert (decided.process.heading, decided.process.aliases, decided.stored) == ("Quick tally", [], True)
    assert [(p.heading, p.status) for p in kept(session)] == [("Count of months", "active"), ("Quick tally", "active")]


def test_keeping_both_under_a_name_that_is_taken_clashes_again(session: Any, clash: Any) -> None:
    decided = session.decide(clash, "keep both", "the counts of months")
    assert (decided.clash.heading, decided.stored) == ("Count of months", False)
    with pytest.raises(StoreError, match="cannot be kept"):
        session.decide(clash, "keep both", "?!")
    assert len(kept(session)) == 1


def test_replacing_one_leaves_the_names_of_a_third(desk: Any, session: Any) -> None:
    desk.says("memorization", desk.process(aliases=["tally", "sum of months"]))
    session.stores.memory.add(Process(heading="Month count", steps=[OTHER]), "ben")
    session.stores.memory.add(Process(heading="Tally", steps=[OTHER]), "ben")
    decided = session.decide(session.remember(), "replace")
    assert (decided.stored, decided.process.aliases) == (True, ["sum of months"])
    assert session.stores.memory.get("tally").taught_by == "ben"


def test_who_was_faster_is_shown_as_a_clash(desk: Any, session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    other = desk.taught().memory
    memory = session.stores.memory
    add = memory.add

    def late(process: Process, by: str) -> Process:
        other.add(Process(heading="Month count", steps=[OTHER]), "ben")
        return add(process, by)  # type: ignore[no-any-return]

    monkeypatch.setattr(memory, "add", late)
    remembered = session.remember()
    assert (remembered.clash.taught_by, remembered.stored) == ("ben", False)
    monkeypatch.undo()
    assert session.decide(remembered, "replace").process.version == 2


def test_a_process_changed_meanwhile_is_not_overwritten(desk: Any, session: Any) -> None:
    process = session.remember().process
    other = desk.taught().memory
    changed = other.edit(process.model_copy(update={"steps": [OTHER]}), "ben")
    with pytest.raises(StaleEntry):
        session.check(process)
    assert other.get("Month count") == changed


def test_checking_again_settles_the_status(desk: Any, session: Any) -> None:
    draft = session.stores.memory.edit(
        session.remember().process.model_copy(update={"status": "draft", "note": "imported; not checked"}), "ben"
    )
    checked = session.check(draft).process
    assert (checked.status, checked.note, checked.version) == ("active", "", 3)
    desk.says("planning", desk.plan("answer = 5"))
    again = session.check(checked)
    assert (again.process.status, again.process.version) == ("draft", 4)
    assert "it gave 5 where 6 was accepted" in again.process.note


def test_what_cannot_be_compared_is_a_draft(desk: Any, session: Any) -> None:
    process = session.remember().process
    elsewhere = process.case.model_copy(update={"source": "other data", "expected": 7})
    for case, words in ((None, "no case"), (elsewhere, "taught on other data")):
        found = session.check(session.stores.memory.get("Month count").model_copy(update={"case": case}))
        assert found.process.status == "draft"
        assert words in found.problems[0]


def test_drafts_are_not_used_for_a_question(desk: Any, session: Any) -> None:
    desk.says("planning", desk.plan("answer = 5"))
    assert session.remember().process.status == "draft"
    before = len(desk.calls)
    answer = desk.session().ask("What is the month count?")
    assert (answer.processes, desk.layers[before:]) == ([], ["planning"])
    assert "Count the months with sales." not in desk.prompts[-1]


def test_a_name_that_is_taken_is_told_by_the_store(session: Any) -> None:
    session.remember()
    with pytest.raises(NameTaken, match="Month count"):
        session.stores.memory.add(Process(heading="The month counts", steps=[OTHER]), "ben")


def test_a_crash_between_writing_and_storing_leaves_nothing(
    desk: Any, session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(session.stores.memory, "add", killed)
        with pytest.raises(Killed):
            session.remember()
    assert desk.of("memorization")
    assert kept(session) == desk.taught().memory.processes(("draft", "active", "retired")) == []
    assert session.remember().process.status == "active"


def test_a_page_teaches_no_process(desk: Any) -> None:
    from finexpert.filings.page.filing import Filing

    page = desk.session(Filing("p", ["x"], [["", "2017"], ["sales", "1"]], []))
    with pytest.raises(ConfigurationError, match="over a warehouse"):
        page.remember()


def test_memory_switched_off_says_so(desk: Any) -> None:
    talk = desk.session(memory=False)
    with pytest.raises(ConfigurationError, match="FINEXPERT_MEMORY"):
        talk.define("a", "b")
    with pytest.raises(ConfigurationError, match="FINEXPERT_MEMORY"):
        talk.forget("a")


def test_a_format_that_was_asked_for_stays(desk: Any) -> None:
    talk = desk.session()
    desk.says("planning", desk.plan("answer = sales[['date']]", "table"))
    desk.says("memorization", desk.process())
    asked = AnswerFormat(kind="table", description="one column")
    talk.ask("Which?", answer_format=asked)
    assert talk.remember().process.case.answer_format == asked
