"""`finexpert eval house`, `lookup` and `keywords`: what they print and write, and wrong usage."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finexpert.cli.evaluating.questions import flips
from finexpert.datasets.desk.house import house_questions
from finexpert.embeddings.embedding import embedder
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.process import Process, ProcessStep
from finexpert.knowledge.taught import Taught
from finexpert.settings import Settings

SELECT = "SELECT date, value FROM cpi WHERE cpi_index = 'CPI' ORDER BY date"


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store that knows one term and the process of the long lesson."""
    place = tmp_path / "taught.sqlite"
    with Taught.open(place, embedder("words")) as taught:
        taught.glossary.define(Keyword(term="stress month", meaning="a month without rain"), "anna")
        step = ProcessStep(text="Count the falling quarters.")
        taught.memory.add(Process(heading="Recession Calculation", steps=[step], status="active"), "anna")
    return str(place)


@pytest.fixture
def evaluate(
    finexpert: Any, tracked: Path, scripted: Any, desk: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Runs an evaluation with a model that always answers the same, and gives what it wrote too."""
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    desk.says("planning", desk.plan("answer = 7", "integer", SELECT, ("date", "value"), "cpi"))
    desk.says("script_generation", desk.fields(code="answer = 7"))
    desk.says("keyword_rephrasing", desk.terms())
    desk.says("generalise", desk.fields(variants=[], parts=[]))
    desk.says("judge", desk.judged())
    desk.says("memorization", "no")
    scripted(desk.reply)
    desk.lend_sandbox(monkeypatch, "finexpert.sandbox", "finexpert.datasets.desk.teaching")

    def run(*arguments: str) -> Any:
        ran = finexpert("eval", *arguments, "--json", "out.json")
        return ran, json.loads(Path("out.json").read_text()) if Path("out.json").exists() else None

    return run


def test_house_over_a_store(evaluate: Any, store: str, desk: Any) -> None:
    ran, written = evaluate("house", "--half", "keywords", "--every", "16", "--store", store, "--threads", "1")
    assert ran.code == 0
    asked = house_questions(half="keywords")[::16]
    needing = [question for question in asked if question.needs]
    assert {rung: summary["overall"][1] for rung, summary in written["rungs"].items()} == {
        "untaught": len(asked),
        "taught": len(asked),
        "missing": len(needing),
    }
    assert [r["used"] for r in written["results"] if r["rung"] == "untaught"] == [[]] * len(asked)
    assert "near misses untouched: " in ran.out
    assert written["config"]["taught"]
    assert list((Settings().home / "eval").iterdir()) == []


def test_house_plays_the_lessons_first_and_names_what_was_not_learned(evaluate: Any, desk: Any) -> None:
    options = ("--half", "keywords", "--every", "40", "--modes", "taught", "--threads", "4")
    ran, written = evaluate("house", *options)
    assert ran.code == 0
    assert "lessons learned: " in ran.out
    assert " of 24\n" in ran.out
    assert "k01_stress_month, line 1: not as expected: 7\n" in ran.out
    assert set(written["rungs"]) == {"taught"}
    assert not (Settings().home / "stores" / "knowledge.sqlite").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("house", "--modes", "taught,guessed"), 2, "'guessed' is none of untaught, taught, missing"),
        (("house", "--half", "terms"), 2, "'terms' is none of keywords, processes"),
        (("lookup", "--split", "test"), 2, "'test' is none of train, val, holdout"),
        (("keywords", "--split", "test"), 2, "'test' is none of train, val, holdout"),
        (("house", "--store", "empty.sqlite"), 1, "leave out --store to have the lessons played first"),
        (("keywords", "--examples", "none.jsonl"), 1, "none.jsonl"),
    ],
)
def test_wrong_usage(evaluate: Any, desk: Any, arguments: tuple[str, ...], code: int, words: str) -> None:
    ran, written = evaluate(*arguments)
    assert (ran.code, written, desk.calls) == (code, None, [])
    assert words in " ".join(ran.err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("layer", "examples", "measure"),
    [("lookup", "memory_lookup.jsonl", "recall_at_1"), ("keywords", "keyword_rephrasing.jsonl", "right")],
)
def test_a_layer_on_its_set(evaluate: Any, desk: Any, layer: str, examples: str, measure: str) -> None:
    packaged = Path(evaluation_folder()) / examples
    lines = [line for line in packaged.read_text("utf-8").splitlines() if json.loads(line)["split"] == "val"][:6]
    Path("few.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ran, written = evaluate(layer, "--split", "val", "--examples", "few.jsonl", "--threads", "2")
    assert ran.code == 0
    assert written["summary"]["n"] == len(written["results"]) == 6
    assert "n = 6" in ran.out
    assert measure.replace("_", " ") in ran.out
    assert "model calls and" in ran.out
    assert sum(result["calls"] for result in written["results"]) == len(desk.calls)


def evaluation_folder() -> Path:
    import finexpert.datasets.layers.keyword_examples as module

    return Path(module.__file__).parents[1] / "examples"


def test_flips() -> None:
    from finexpert.datasets.evaluations.evaluation import Result

    def result(rung: str, id: str, correct: bool) -> Result:
        return Result(
            rung=rung, repeat=1, id=id, question="?", category="simple", needs=[], status="answered",
            correct=correct, gold=1, answer=1,
        )  # fmt: skip

    results = [
        result("before", "lost", True), result("after", "lost", False),
        result("before", "won", False), result("after", "won", True),
        result("before", "same", True), result("after", "same", True),
        result("before", "alone", True), result("other", "lost", True),
    ]  # fmt: skip
    assert flips(results, "before", "after") == (["lost"], ["won"])
