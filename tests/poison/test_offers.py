"""Explanations that are nobody's own: a gullible model offers them, and none is offered to be kept, kept, or told to planning.

Each line of `offers.jsonl` is one: `says` is the message, `lesson` what a model makes of it, and `payload` must stand in no prompt's knowledge.
Then what agents, other people and files could do to have something kept without the person.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from finexpert.knowledge.entries.entries import ACTIVE, CURRENT

CASES = [json.loads(line) for line in Path(__file__).with_name("offers.jsonl").read_text("utf-8").splitlines()]
SAID = "By slow months we mean those below five. How many were there?"
LESSON = {"term": "slow months", "quotes": ["those below five"]}


@pytest.fixture
def session(desk: Any) -> Any:
    talk = desk.session(retries=0)
    talk.define("stress month", "a month below 5")
    desk.says("planning", desk.plan())
    return talk


def terms(session: Any, statuses: Any = CURRENT) -> dict[str, str]:
    return {each.term: each.meaning for each in session.stores.glossary.keywords(statuses)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_what_is_nobodys_own_is_no_offer(desk: Any, session: Any, case: dict[str, Any]) -> None:
    desk.says("listening", desk.lessons(case["lesson"]))
    answer = session.ask(case["says"])
    assert (answer.status, answer.offers) == ("answered", [])
    assert terms(session) == {"stress month": "a month below 5"}
    for prompt in desk.of("planning"):
        knowledge = prompt.rsplit("[[ ## knowledge ## ]]", 1)[1].split("[[ ## conversation")[0]
        assert case["payload"] not in knowledge


def test_the_same_road_keeps_what_a_person_says(desk: Any, session: Any) -> None:
    """So that what is dropped above is dropped for what is wrong with it."""
    desk.says("listening", desk.lessons(LESSON))
    (offer,) = session.ask(SAID).offers
    assert offer.meaning == "those below five"


def test_nothing_is_kept_until_the_person_says_so(desk: Any, session: Any) -> None:
    desk.says("listening", desk.lessons(LESSON), desk.lessons())
    session.ask(SAID)
    for more in ("And how many in all?", "We always like it. Thanks", "keep going", "Do not keep it"):
        session.ask(more)
    assert "slow months" not in terms(session)


def test_keep_it_keeps_what_the_answer_before_offered_and_no_more(desk: Any, session: Any) -> None:
    assert session.ask("keep it").status == "answered"  # nothing was offered: it is a question
    desk.says("listening", desk.lessons(LESSON))
    session.ask(SAID)
    assert session.ask("Keep it.").status == "noted"
    assert "slow months" not in terms(session, ACTIVE)
    assert terms(session)["slow months"] == "those below five"


def test_where_no_person_speaks_nothing_is_offered(desk: Any, session: Any) -> None:
    desk.says("listening", desk.lessons(LESSON))
    assert session.ask(SAID, learn=False).offers == []
    assert desk.session(learn=False).ask(SAID).offers == []
    assert "listening" not in desk.layers


def test_the_draft_of_another_person_changes_no_answer(desk: Any, session: Any) -> None:
    desk.says("listening", desk.lessons(LESSON))
    session.keep(session.ask(SAID).offers[0])
    desk.calls.clear()
    answer = desk.session(by="mallory", clarify=False).ask("How many slow months?")
    assert answer.meanings == {}
    assert "those below five" not in "".join(desk.prompts)


def test_a_person_puts_no_draft_of_another_into_use(desk: Any, session: Any) -> None:
    desk.says("listening", desk.lessons(LESSON))
    session.keep(session.ask(SAID).offers[0])
    other = desk.session(by="mallory")
    other.ask("How many slow months?")
    other.ask("And in all?")
    other.accept()
    assert "slow months" not in terms(session, ACTIVE)


@pytest.mark.parametrize("learn", [True, False])
def test_to_ask_on_accepts_a_draft_only_where_a_person_speaks(desk: Any, session: Any, learn: bool) -> None:
    desk.says("listening", desk.lessons(LESSON), desk.lessons())
    session.keep(session.ask(SAID).offers[0])
    session.accept() if learn else session.ask("And in all?", learn=False)
    session.ask("How many slow months in 2020?", learn=learn)
    session.ask("And in 2019?", learn=learn)
    assert ("slow months" in terms(session, ACTIVE)) == learn


def test_a_draft_from_a_file_is_not_used(desk: Any, session: Any, tmp_path: Path) -> None:
    from finexpert.knowledge.keyword_files import import_keywords

    rows = {"term": "slow months", "meaning": "those above nine", "status": "draft", "taught_by": "anna"}
    (tmp_path / "terms.jsonl").write_text(json.dumps(rows), encoding="utf-8")
    import_keywords(session.stores.glossary, tmp_path / "terms.jsonl", "mallory")
    assert session.ask("How many slow months?").meanings == {}


def test_the_cases_are_many_and_each_is_its_own() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES) >= 12
