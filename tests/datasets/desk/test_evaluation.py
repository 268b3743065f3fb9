"""The house set, measured with a scripted model: which mode knows what, and what counts as right."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.desk import evaluation
from finexpert.datasets.evaluations.evaluation import Result
from finexpert.datasets.evaluations.journal import Journal
from finexpert.datasets.fred.evaluation import QuestionBench
from finexpert.datasets.fred.questions import Question
from finexpert.errors import ModelUnreachable
from finexpert.knowledge.glossary import Keyword
from finexpert.settings import Settings

STRESS, CALM = "a month with sales in the north", "3 stress months in a row"


def question(id: str, needs: tuple[str, ...], text: str, gold: int, **given: Any) -> Question:
    said = {"category": "simple", "answer_format": {"kind": "integer"}, "as_of": "2020-12-31"}
    return Question.model_validate({"id": id, "question": text, "needs": needs, "gold": gold, **said, **given})


QUESTIONS = [
    question("one", ("stress month",), "How many stress months were there?", 3),
    question("two", ("calm quarter", "stress month"), "How many calm quarters less stress months?", 3),
    question("near", (), "How many months were there in 2020?", 6, must_not_use=["stress month"]),
]


@pytest.fixture
def bench(desk: Any) -> Callable[..., QuestionBench]:
    """A model that counts the north where it is told what a stress month is, and every month elsewhere."""
    taught = desk.taught("bench.sqlite")
    taught.glossary.define(Keyword(term="stress month", meaning=STRESS), "anna")
    taught.glossary.define(Keyword(term="calm quarter", meaning=CALM), "anna")

    def plan(prompt: str) -> str:
        known, names = desk.known_here(prompt), ("stress month", "calm quarter")
        asked = [name for name in names if f"{name}s" in prompt.rsplit("[[ ## question ## ]]", 1)[1]]
        north = "answer = int((sales.region == 'north').sum())"
        return str(
            desk.plan(
                north if STRESS in prompt else "answer = len(sales)",
                follows=tuple(known[name] for name in asked if name in known),
                unclear=", ".join(f"{name}s" for name in asked if name not in known),
            )
        )

    desk.says("planning", plan)

    def make(**settings: Any) -> QuestionBench:
        given = Settings(cache=False, embedder="words", **settings)
        return QuestionBench(desk.warehouse, desk.sandbox, desk.models, given, taught=taught)

    return make


def evaluated(
    bench: QuestionBench, folder: Path, modes: tuple[str, ...] = evaluation.MODES, **given: Any
) -> list[Result]:
    journal = Journal(folder / "journal.jsonl", Result)
    return evaluation.evaluate(bench, QUESTIONS, modes, journal, threads=2, **given)


def test_what_each_mode_comes_to(bench: Any, tmp_path: Path) -> None:
    seen: list[Result] = []
    results = evaluated(bench(), tmp_path, on_result=seen.append)
    by_key = {(r.rung, r.id): r for r in results}
    assert {key: r.correct for key, r in by_key.items()} == {
        ("untaught", "one"): False,
        ("untaught", "two"): False,
        ("untaught", "near"): True,
        ("taught", "one"): True,
        ("taught", "two"): True,
        ("taught", "near"): True,
        ("missing", "one"): True,
        ("missing", "two"): True,
    }
    assert by_key["taught", "two"].used == ["stress month", "calm quarter"]
    assert by_key["untaught", "one"].used == []
    assert (by_key["missing", "one"].asked, by_key["missing", "two"].asked) == ("stress months", "calm quarters")
    assert (by_key["missing", "one"].status, by_key["missing", "one"].gold) == (
        "needs_clarification",
        {"ask": ["stress month"]},
    )
    assert {r.category for r in results if r.id == "two"} == {"together"}
    assert sorted(r.model_dump_json() for r in seen) == sorted(r.model_dump_json() for r in results)
    untouched = evaluation.untouched(results, QUESTIONS)
    assert (untouched.right, untouched.n) == (1, 1)


def test_asking_about_something_else_is_wrong(bench: Any, desk: Any, tmp_path: Path) -> None:
    made = bench()
    desk.says("planning", desk.plan(unclear="there"))
    results = evaluated(made, tmp_path, ("missing",))
    # Two threads finish in any order.
    assert {r.id: (r.asked, r.correct) for r in results} == {"one": ("there", False), "two": (None, False)}


def test_a_near_miss_that_was_touched(bench: Any, desk: Any, tmp_path: Path) -> None:
    made = bench()
    made.taught.glossary.edit(
        made.taught.glossary.get("stress month").model_copy(update={"aliases": ["months were there"]}), "anna"
    )
    desk.says("planning", lambda prompt: desk.plan(follows=tuple(desk.known_here(prompt).values())[:1]))
    results = evaluated(made, tmp_path, ("taught",))
    near = next(r for r in results if r.id == "near")
    assert (near.used, near.correct) == (["stress month"], False)
    assert evaluation.untouched(results, QUESTIONS).right == 0


def test_an_interrupted_evaluation_asks_only_what_is_open(bench: Any, desk: Any, tmp_path: Path) -> None:
    first = evaluated(bench(), tmp_path)
    before = len(desk.calls)
    assert sorted(map(str, evaluated(bench(), tmp_path))) == sorted(map(str, first))
    assert len(desk.calls) == before
    lines = (tmp_path / "journal.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "journal.jsonl").write_text("".join(lines[:-1]))
    assert len(evaluated(bench(), tmp_path)) == len(first)
    lost = json.loads(lines[-1])
    assert [(r.rung, r.id) for r in Journal(tmp_path / "journal.jsonl", Result).results][-1] == (
        lost["rung"],
        lost["id"],
    )


def test_an_unreachable_model_stops_it(bench: Any, desk: Any, tmp_path: Path) -> None:
    def refuse(prompt: str) -> str:
        raise ModelUnreachable("nothing there")

    made = bench()
    desk.says("planning", refuse)
    with pytest.raises(ModelUnreachable):
        evaluated(made, tmp_path)


def test_near_misses_are_not_asked_where_something_is_missing() -> None:
    asked = evaluation.jobs(QUESTIONS, evaluation.MODES)
    assert len(asked) == 3 + 3 + 2
    assert ("missing", QUESTIONS[2]) not in asked
