"""Words of a question: when no model is asked, what is made of its text, and what it costs where nothing is unknown."""

from __future__ import annotations

import time
from typing import Any

import pytest

from finexpert.errors import OutputError
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.process import Process, ProcessStep
from finexpert.knowledge.taught import Taught
from finexpert.modules.calling import using
from finexpert.modules.keyword_rephrasing import KeywordRephrasing
from finexpert.modules.memory_lookup import MemoryLookup

CARD = "table sales: date, region, amount"
STRESS = Keyword(term="stress month", meaning="a month in which sales fell below 500", aliases=["tense month"])
GLUM = Keyword(term="glum run", meaning="3 stress months in a row")
WATCH = Process(heading="Amber Watch", steps=[ProcessStep(text="Count.")], status="active")


@pytest.fixture
def taught(desk: Any) -> Taught:
    store: Taught = desk.taught()
    for keyword in (STRESS, GLUM):
        store.glossary.define(keyword, "anna")
    store.memory.add(WATCH, "anna")
    return store


def rephrase(desk: Any, taught: Taught | None, question: str, **given: Any) -> Any:
    stores = {"glossary": taught.glossary, "memory": taught.memory} if taught else {}
    with using(desk.models):
        return KeywordRephrasing()(question=question, schema_card=CARD, **stores, **given)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What were the sales in 2020?", []),
        ("How many stress months were there in 2020?", ["stress month"]),
        ("How many Tense-Months were there?", ["stress month"]),
        ("Did the glum run have stress months?", ["stress month", "glum run"]),
        ("How many months are in the amber watch?", []),  # a process is named, and needs no explanation
    ],
)
def test_what_is_known_or_plain_needs_no_call(desk: Any, taught: Taught, question: str, meant: list[str]) -> None:
    found = rephrase(desk, taught, question, judge=False)
    assert (found.question, found.unknown, found.processes) == (question, [], [])
    assert [keyword.term for keyword in found.meanings] == meant
    assert desk.calls == []


@pytest.mark.parametrize(("terms", "meant"), [([("stress months", 1)], ["stress month"]), ([], [])])
def test_whether_a_known_term_is_meant_is_judged(desk: Any, taught: Taught, terms: list[Any], meant: list[str]) -> None:
    question = "How many stress months were there in 2020?"
    desk.says("keyword_rephrasing", desk.terms(*terms, rephrased="In how many months of 2020 were sales below 500?"))
    found = rephrase(desk, taught, question)
    assert [keyword.term for keyword in found.meanings] == meant
    # The question has the term itself, so it stays in the expert's words.
    assert (found.question, found.unknown) == (question, [])
    assert desk.layers == ["keyword_rephrasing"]


def test_without_a_judge_a_known_term_counts_beside_an_unknown_one(desk: Any, taught: Taught) -> None:
    desk.says("keyword_rephrasing", desk.terms(("grubby", None)))
    found = rephrase(desk, taught, "How many stress months were grubby?", judge=False)
    assert [keyword.term for keyword in found.meanings] == ["stress month"]
    assert [unclear.term for unclear in found.unknown] == ["grubby"]


@pytest.mark.parametrize("given", [{"conversation": "turn 1: a flimsy is a month below 5"}, {}])
def test_a_word_that_the_conversation_explains_needs_no_call(desk: Any, taught: Taught, given: dict[str, str]) -> None:
    desk.says("keyword_rephrasing", desk.terms(("flimsy", None)))
    found = rephrase(desk, taught, "How many months were flimsy?", **given)
    assert [unclear.term for unclear in found.unknown] == ([] if given else ["flimsy"])
    assert len(desk.calls) == (0 if given else 1)


def test_where_nothing_was_taught_no_model_is_asked(desk: Any) -> None:
    found = rephrase(desk, None, "How many months were flimsy?")
    assert (found.question, found.unknown, desk.calls) == ("How many months were flimsy?", [], [])


def test_an_unknown_term_is_asked_about(desk: Any, taught: Taught) -> None:
    desk.says("keyword_rephrasing", desk.terms(("grubby months", None)))
    found = rephrase(desk, taught, "How many grubby months were there?")
    (unclear,) = found.unknown
    assert (unclear.kind, unclear.term) == ("term", "grubby months")
    assert "'grubby months'" in unclear.question
    assert {"stress month", "glum run"} <= set(unclear.candidates)
    assert found.meanings == []


def test_a_term_in_other_words_is_matched_to_a_known_one(desk: Any, taught: Taught) -> None:
    def answer(prompt: str) -> str:
        number = next(n for n in range(1, 5) if f"{n}. glum run" in prompt)
        return str(desk.terms(("gloomy stretch", number), rephrased="How many 3 stress months in a row since 2005?"))

    desk.says("keyword_rephrasing", answer)
    found = rephrase(desk, taught, "How many gloomy stretches since 2005?")
    assert [keyword.term for keyword in found.meanings] == ["glum run"]
    assert found.question == "How many 3 stress months in a row since 2005?"
    assert found.unknown == []


def test_a_term_may_stand_for_a_process(desk: Any, taught: Taught) -> None:
    desk.says(
        "keyword_rephrasing",
        lambda prompt: desk.terms(("amberish", next(n for n in range(1, 5) if f"{n}. Amber" in prompt))),
    )
    found = rephrase(desk, taught, "Which months were amberish?")
    assert [process.heading for process in found.processes] == ["Amber Watch"]
    assert (found.meanings, found.unknown, found.question) == ([], [], "Which months were amberish?")


@pytest.mark.parametrize(
    ("terms", "meant", "unknown"),
    [
        ([("spooky months", None)], [], []),  # not a term of the question
        ([("", None)], [], []),
        ([("grubby", 99)], [], ["grubby"]),  # a number that was not given
        ([("grubby", 0)], [], ["grubby"]),
        ([("grubby", -1)], [], ["grubby"]),
        ([("stress months", None), ("Stress Month", None)], ["stress month"], []),  # known, whatever the model says
        ([("grubby", None), ("Grubby", None)], [], ["grubby"]),
        ([], [], []),  # all meant in their ordinary sense
    ],
)
def test_what_a_model_makes_up_is_dropped(
    desk: Any, taught: Taught, terms: list[Any], meant: list[str], unknown: list[str]
) -> None:
    question = "How many stress months were grubby?"
    desk.says("keyword_rephrasing", desk.terms(*terms, rephrased=question))
    found = rephrase(desk, taught, question)
    assert [keyword.term for keyword in found.meanings] == meant
    assert [unclear.term for unclear in found.unknown] == unknown
    assert len(desk.calls) == 1


@pytest.mark.parametrize("rephrased", ["How many months fell below 500 in grubby years?", "  ", "Months since 20.05?"])
def test_a_rephrasing_that_loses_a_number_is_not_used(desk: Any, taught: Taught, rephrased: str) -> None:
    question = "How many strained months since 2005 were grubby, above 2.5%?"

    def answer(prompt: str) -> str:
        number = next(n for n in range(1, 5) if f"{n}. stress month" in prompt)
        return str(desk.terms(("strained months", number), rephrased=rephrased))

    desk.says("keyword_rephrasing", answer)
    found = rephrase(desk, taught, question)
    assert found.question == question
    assert [keyword.term for keyword in found.meanings] == ["stress month"]


def test_a_rephrasing_without_a_known_term_is_not_used(desk: Any, taught: Taught) -> None:
    desk.says("keyword_rephrasing", desk.terms(("grubby", None), rephrased="How many months were dirty?"))
    assert rephrase(desk, taught, "How many months were grubby?").question == "How many months were grubby?"


@pytest.mark.parametrize("text", ["I cannot.", "[[ ## terms ## ]]\n{not json\n\n[[ ## rephrased ## ]]\nx"])
def test_unusable_text_is_an_output_error(desk: Any, taught: Taught, text: str) -> None:
    desk.says("keyword_rephrasing", text)
    with pytest.raises(OutputError):
        rephrase(desk, taught, "How many months were grubby?")


def test_retired_terms_and_drafts_are_unknown_again(desk: Any, taught: Taught) -> None:
    taught.glossary.retire("stress month", "anna")
    taught.memory.edit(taught.memory.processes()[0].model_copy(update={"status": "draft"}), "anna")
    desk.says("keyword_rephrasing", desk.terms(("stress months", None)))
    found = rephrase(desk, taught, "How many stress months are in the Amber Watch?")
    assert [unclear.term for unclear in found.unknown] == ["stress months"]
    assert "sales fell below 500" not in desk.prompts[0]
    assert "Amber Watch: a process" not in desk.prompts[0]


@pytest.mark.parametrize("filled", [False, True])
def test_cost_without_a_call(desk: Any, filled: bool) -> None:
    taught = desk.taught()
    if filled:
        for number in range(60):
            meaning = f"a month of kind {number}"
            taught.glossary.define(Keyword(term=f"kind {number} month", meaning=meaning), "anna")
        for heading in ("Harbour dues", "Ferry fares", "Tunnel tolls"):
            taught.memory.add(Process(heading=heading, steps=[ProcessStep(text=heading)], status="active"), "anna")
    rephrasing, lookup = KeywordRephrasing(), MemoryLookup()
    best = 1.0
    for _ in range(7):
        begun = time.perf_counter()
        question = "What were the sales in 2020?"
        found = rephrasing(question=question, schema_card=CARD, glossary=taught.glossary, memory=taught.memory)
        recalled = lookup(question=found.question, memory=taught.memory)
        best = min(best, time.perf_counter() - begun)
        assert (found.meanings, found.unknown, recalled.processes) == ([], [], [])
    assert desk.calls == []
    assert best < 0.015
