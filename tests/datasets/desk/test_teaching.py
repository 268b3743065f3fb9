"""An expert who is a file: what becomes of each line, what ends a lesson, and many lessons side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.desk.teaching import Played, play, teach_all
from finexpert.datasets.desk.transcripts import Line
from finexpert.knowledge.process import Process, ProcessStep

INTEGER = {"kind": "integer"}


@pytest.fixture
def session(desk: Any) -> Any:
    desk.says("planning", desk.plan())
    desk.says("memorization", desk.process())
    return desk.session()


def played(session: Any, *lines: dict[str, Any]) -> list[Played]:
    told: list[Played] = []
    results = play(session, [Line.model_validate(line) for line in lines], told.append)
    assert told == results
    return results


def statuses(results: list[Played]) -> list[str]:
    return [result.status for result in results]


def test_a_lesson_from_message_to_process(session: Any) -> None:
    results = played(
        session,
        {"message": "How many months?"},
        {"message": "Again?", "expect": 6, "answer_format": INTEGER},
        {"remember": "Counting"},
    )
    assert statuses(results) == ["answered", "as expected", "active"]
    assert [(r.number, r.said, r.text) for r in results[1:]] == [
        (2, "Again?", "6"),
        (3, "remember Counting", "Counting"),
    ]
    assert session.stores.memory.get("counting").status == "active"


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ({"message": "Again?", "expect": 7, "answer_format": INTEGER}, "not as expected"),
        ({"message": "Again?", "answer_format": {"kind": "date"}}, "failed"),
        ({"remember": "?!"}, "failed"),
        ({"define": {"term": "?!", "meaning": "x"}}, "failed"),
        ({"clash": "replace"}, "failed"),
    ],
)
def test_what_does_not_hold_ends_the_lesson(desk: Any, session: Any, line: dict[str, Any], status: str) -> None:
    desk.says("script_generation", desk.fields(code="answer = 1.5"))
    results = played(session, {"message": "How many?"}, line, {"remember": "Counting"})
    assert statuses(results) == ["answered", status]
    assert session.stores.memory.processes() == []


def test_a_reply_to_nothing_fails(session: Any) -> None:
    (result,) = played(session, {"reply": "months in the north"})
    assert (result.status, result.text) == ("failed", "a reply with nothing before it")


def test_nothing_to_remember_fails(session: Any) -> None:
    (result,) = played(session, {"remember": None})
    assert (result.status, "nothing to remember" in result.text) == ("failed", True)


def test_a_definition_is_kept_whole_and_only_once(session: Any) -> None:
    line = {"define": {"term": "stress month", "meaning": "a month below 5", "aliases": ["tense month"]}}
    assert statuses(played(session, line, line)) == ["defined", "defined"]
    kept = session.stores.glossary.get("tense month")
    assert (kept.term, kept.meaning, kept.version) == ("stress month", "a month below 5", 1)


def test_a_definition_over_an_alias_fails(session: Any) -> None:
    session.define("stress month", "a month below 5", ["tense month"])
    (result,) = played(session, {"define": {"term": "tense month", "meaning": "x"}})
    assert (result.status, "alias of the term" in result.text) == ("failed", True)


@pytest.mark.parametrize(("expect", "status"), [(6, "as expected"), (7, "not as expected")])
@pytest.mark.parametrize("asks", [True, False])
def test_a_reply_is_given_where_the_program_asks_back(
    desk: Any, session: Any, expect: int, status: str, asks: bool
) -> None:
    desk.says("planning", desk.plan(unclear="grubby" if asks else ""), desk.plan(follows=(1,)))
    results = played(
        session,
        {"message": "How many grubby months?"},
        {"reply": "any month", "expect": expect, "answer_format": INTEGER},
        {"define": {"term": "a", "meaning": "b"}},
    )
    assert statuses(results) == [status, "defined"][: 2 if status == "as expected" else 1]
    assert results[0].said == "How many grubby months?"
    kept = session.stores.glossary.get("grubby")
    assert (kept.meaning if kept else None) == ("any month" if asks else None)


@pytest.mark.parametrize(
    ("clash", "status", "headings"),
    [
        ("replace", "active", ["Month count 2"]),
        ("ignore", "ignored", ["Month count 1"]),
        ("keep both as Quick tally", "active", ["Month count 1", "Quick tally 1"]),
        ("keep both as Months count", "clash", ["Month count 1"]),
        (None, "clash", ["Month count 1"]),
    ],
)
def test_clashes(session: Any, clash: str | None, status: str, headings: list[str]) -> None:
    old = Process(heading="Month count", steps=[ProcessStep(text="Count otherwise.")], status="active")
    session.stores.memory.add(old, "ben")
    results = played(session, {"message": "How many?"}, {"remember": None}, *([{"clash": clash}] if clash else []))
    assert statuses(results) == ["answered", status]
    assert [f"{p.heading} {p.version}" for p in session.stores.memory.processes()] == headings


def test_a_message_may_have_its_own_today(session: Any) -> None:
    line = {"message": "How many?", "expect": 3, "answer_format": INTEGER, "as_of": "2020-03-15"}
    assert statuses(played(session, line, line | {"expect": 6, "as_of": None})) == ["as expected", "as expected"]


@pytest.mark.parametrize("threads", [1, 4])
def test_lessons_side_by_side_share_a_store_and_no_turns(
    desk: Any, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.lend_sandbox(monkeypatch, "finexpert.datasets.desk.teaching")
    desk.says("planning", desk.plan())
    desk.says("memorization", lambda prompt: desk.process(aliases=[], heading="Of its own"))
    settings = desk.session().settings
    lessons = {
        Path(f"{name}.jsonl"): [Line(message=f"How many {name}?"), Line(remember=f"Counting {name}")]
        for name in ("months", "regions", "amounts", "sales")
    }
    lessons[Path("terms.jsonl")] = [Line.model_validate({"define": {"term": "stress", "meaning": "below 5"}})]
    told: list[tuple[str, str]] = []
    results = teach_all(
        lessons,
        desk.warehouse,
        settings,
        threads,
        lambda path, line: told.append((path.stem, line.status)),
        desk.models,
    )
    assert list(results) == list(lessons)
    assert {path.stem: statuses(lines) for path, lines in results.items()} == {
        **{name: ["answered", "active"] for name in ("months", "regions", "amounts", "sales")},
        "terms": ["defined"],
    }
    assert sorted(told) == sorted((path.stem, line.status) for path, lines in results.items() for line in lines)
    taught = desk.taught()
    assert len(taught.memory.processes()) == 4
    assert taught.glossary.get("stress").meaning == "below 5"
    assert not [prompt for prompt in desk.of("planning") if "turn 1" in prompt]
