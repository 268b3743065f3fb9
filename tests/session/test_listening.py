"""What people explain in passing: recognised, offered to the letter, kept where they agree, in use when it proved itself."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from finexpert.core.answers import Clarification

SLOW = 'By slow months we mean "months\n  below 5 (five)". How many slow months were there?'
MEANING = '"months\n  below 5 (five)"'
LESSON = {"kind": "definition", "term": "slow months", "quotes": ['"months below 5 (five)"']}


@pytest.fixture
def session(desk: Any) -> Any:
    desk.says("planning", desk.plan())
    return desk.session()


def test_an_ordinary_question_costs_no_call_more(desk: Any, session: Any) -> None:
    assert session.ask("How many months were there?").value == 6
    assert desk.layers == ["planning"]


def test_a_definition_in_passing_is_offered_and_in_use_at_once(desk: Any, session: Any) -> None:
    desk.says("listening", desk.lessons(LESSON))
    answer = session.ask(SLOW, clarify=True)
    assert (answer.value, desk.layers) == (6, ["listening", "planning"])
    (offer,) = answer.offers
    assert (offer.term, offer.meaning, offer.scope) == ("slow months", MEANING, "sales")
    assert f"By 'slow months' this house means: {MEANING}" in desk.prompts[-1]
    assert answer.usage.by_layer == {"listening": 1, "planning": 1}
    assert session.stores.glossary.keywords() == []  # nobody agreed yet


def test_what_was_just_said_is_meant_whatever_is_followed_beside_it(desk: Any, session: Any) -> None:
    session.define("grubby", "sold at a loss")
    desk.says("listening", desk.lessons(LESSON))
    answer = session.ask(f"{SLOW} And the grubby ones?")
    assert list(desk.known_here(desk.prompts[-1])) == ["grubby"]
    assert answer.meanings == {"slow months": MEANING}


def test_what_is_agreed_to_is_a_draft_and_comes_into_use_by_going_on(desk: Any, session: Any) -> None:
    desk.says("listening", desk.lessons(LESSON))
    kept = session.keep(session.ask(SLOW).offers[0])
    assert (kept.meaning, kept.status, kept.scope, kept.source) == (MEANING, "draft", "sales", "conversation")
    session.ask("And how many in all?")
    assert session.stores.glossary.get("slow month").status == "active"


def test_undo_leaves_it_a_draft_that_only_its_author_uses(desk: Any, session: Any) -> None:
    desk.says("listening", desk.lessons(LESSON))
    session.keep(session.ask(SLOW).offers[0])
    session.undo()
    session.ask("How many months?")
    assert session.stores.glossary.get("slow months").status == "draft"
    desk.says("planning", lambda prompt: desk.plan(follows=tuple(desk.known_here(prompt).values())))
    assert "slow months" in desk.session().ask("How many slow months?").meanings
    assert desk.session(by="ben").ask("How many slow months?").meanings == {}


def test_two_people_try_their_own_meanings_of_a_name(desk: Any, session: Any) -> None:
    desk.says("listening", desk.lessons(LESSON))
    ben = desk.session(by="ben")
    session.keep(session.ask(SLOW).offers[0])
    (offer,) = ben.ask(SLOW).offers
    assert offer.before == ""  # what anna drafts is nobody else's
    ben.keep(offer.model_copy(update={"meaning": "months below 4"}))
    assert [each.stores.glossary.get("slow months").meaning for each in (session, ben)] == [MEANING, "months below 4"]
    session.accept()
    assert desk.session(by="eva").stores.glossary.get("slow months").meaning == MEANING
    ben.accept()
    assert ben.stores.glossary.get("slow months").status == "draft"
    assert [each.meaning for each in ben.stores.glossary.named_in("How many slow months?")] == ["months below 4"]
    assert [each.status for each in session.taught.glossary.items()] == ["active", "draft"]


def test_only_explained_and_not_asked_plans_nothing(desk: Any, session: Any) -> None:
    desk.says("listening", desk.lessons(LESSON, wants_answer=False))
    answer = session.ask('By slow months we mean "months below 5 (five)".')
    assert (answer.status, desk.layers) == ("noted", ["listening"])
    assert [turn.explained for turn in session.workspace.turns] == [True]
    assert "slow months = " in answer.text
    session.keep(answer.offers[0])
    session.ask("How many months?")
    assert session.stores.glossary.get("slow months").status == "draft"  # nothing was computed with it


def test_a_correction_shows_what_it_replaces(desk: Any, session: Any) -> None:
    session.define("slow months", "months below 5")
    desk.says(
        "listening", desk.lessons({"kind": "correction", "term": "slow months", "quotes": ["at most 6"], "known_as": 1})
    )
    (offer,) = session.ask("No, slow months are at most 6.").offers
    assert (offer.before, offer.meaning) == ("months below 5", "at most 6")
    assert session.stores.glossary.get("slow months").meaning == "months below 5"
    kept = session.keep(offer)
    assert (kept.meaning, kept.status, kept.version) == ("at most 6", "active", 2)


def test_a_convention_is_told_where_it_concerns_the_question(desk: Any, session: Any) -> None:
    said = "We always take the first day of a month."
    lesson = {"kind": "convention", "term": "first day", "quotes": [said], "about": ["amount"]}
    desk.says("listening", desk.lessons(lesson, wants_answer=False))
    session.keep(session.ask(said).offers[0])
    session.ask("How much was it?")  # the column stands in the schema
    assert f"A convention of this house: {said}" in desk.prompts[-1]
    elsewhere = desk.session(pd.DataFrame({"price": [1.0]}), as_of=None)
    elsewhere.stores.glossary.edit(session.stores.glossary.conventions()[0].model_copy(update={"scope": ""}), "anna")
    desk.says("planning", desk.plan("answer = 1", select="SELECT price FROM data", columns=("price",)))
    elsewhere.ask("What was the price?")
    assert "A convention of this house" not in desk.prompts[-1]


def test_what_is_taught_of_another_source_is_in_no_prompt_and_costs_no_call(desk: Any, session: Any) -> None:
    session.define("slow months", "months below 5")
    other = desk.session(pd.DataFrame({"price": [1.0, 2.0]}), as_of=None)
    desk.says("planning", desk.plan("answer = 2", select="SELECT price FROM data", columns=("price",)))
    answer = other.ask("How many slow months were there?")
    assert answer.value == 2
    assert (desk.layers, "below 5" in "".join(desk.prompts)) == (["planning"], False)
    other.define("slow months", "prices of 1")
    assert session.stores.glossary.get("slow months").meaning == "months below 5"


def test_what_holds_everywhere_is_known_to_every_source(desk: Any, session: Any) -> None:
    session.define("slow months", "months below 5", scope="")
    assert desk.session(pd.DataFrame({"price": [1.0]})).stores.glossary.get("slow months").meaning == "months below 5"


@pytest.mark.parametrize(
    ("message", "lesson"),
    [
        ("By slow months we mean few.", {"term": "slow months", "quotes": ["very few"]}),  # not said
        ("By slow months we mean few.", {"term": "hot months", "quotes": ["few"]}),  # a term of nobody
        ("We like it. Suppose slow months are few.", {"term": "slow months", "quotes": ["few"]}),
        ("We call it so. For this one slow months are few.", {"term": "slow months", "quotes": ["few"]}),
        ("By slow months we mean few.", {"term": "slow months", "quotes": ["few"], "taken_back": ["few"]}),
    ],
)
def test_what_the_person_did_not_say_for_themselves_is_dropped(
    desk: Any, session: Any, message: str, lesson: Any
) -> None:
    desk.says("listening", desk.lessons({"kind": "definition", **lesson}))
    assert session.listen(message).offers == []


def test_what_was_taken_back_is_cut_out(desk: Any, session: Any) -> None:
    quote = "at most 6, no wait, at most 5"
    desk.says("listening", desk.lessons(LESSON | {"quotes": [quote], "taken_back": ["at most 6, no wait"]}))
    assert [offer.meaning for offer in session.listen(f"Slow months are {quote}.").offers] == ["at most 5"]


def test_a_text_that_cannot_be_used_is_said_and_the_question_answered(desk: Any, session: Any) -> None:
    desk.says("listening", "nothing of the form")
    answer = session.ask(SLOW)
    assert answer.value == 6
    assert any("was not looked at" in flag for flag in answer.flags)


def test_a_reply_that_says_nothing_is_not_kept(desk: Any, session: Any) -> None:

    asked = Clarification(kind="term", term="grubby", question="?")
    assert session.explain(asked, "no clue, ask Petra") is None
    desk.says("listening", desk.lessons({"kind": "definition", "term": "grubby", "quotes": ["below 4"]}))
    assert session.explain(asked, "hmm, below 4 I think").meaning == "below 4"


LETTERS = "a \"month\" \u2014 with \u201clow\u201d sales,\n  i.e. below '5' % (not 6)"


def defined(session: Any) -> Any:
    return session.define("dull month", LETTERS)


def replied(session: Any) -> Any:
    return session.explain(Clarification(kind="term", term="dull month", question="?"), LETTERS)


def heard(session: Any) -> Any:
    return session.keep(session.listen(f"For us a dull month is {LETTERS}. How many?").offers[0])


@pytest.mark.parametrize("way", [defined, replied, heard])
def test_every_way_in_keeps_a_meaning_to_the_letter(desk: Any, session: Any, way: Any) -> None:
    desk.says(
        "listening", desk.lessons({"kind": "definition", "term": "dull month", "quotes": [" ".join(LETTERS.split())]})
    )
    assert way(session).meaning == LETTERS


def test_what_was_explained_stands_in_the_conversation(desk: Any) -> None:
    talk = desk.session()
    desk.says("planning", desk.plan())
    desk.says("listening", desk.lessons(LESSON, wants_answer=False))
    talk.ask("How many months?")
    message = 'By slow months we mean "months below 5 (five)".'
    assert talk.ask(message).status == "noted"
    talk.ask("How many of it?")
    assert f"turn 2: {message}\n" in desk.of("planning")[-1]
    saved = talk.save("explained")
    again = desk.session()
    assert again.resume("explained") == [], saved
    assert [turn.explained for turn in again.workspace.turns] == [False, True, False]
    # It is taken back as any other turn is.
    assert talk.undo()
    assert talk.undo()
    assert len(talk.workspace.turns) == 1
