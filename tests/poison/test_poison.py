"""Processes that are wrong or meant to harm, as a model might write or a file might bring them: none comes into use.

Each line of `processes.jsonl` is one: `route` says how it comes in, `expect` what becomes of it (refused, kept as a
draft, or shown as a clash), `says` what the expert is told. Afterwards a question is asked that would have used it, to
a model that would follow whatever it is shown; `payload` must not stand in any of its prompts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from finexpert.errors import OutputError
from finexpert.knowledge.entries.entries import ACTIVE
from finexpert.knowledge.exchange import import_processes
from finexpert.knowledge.process import Process, ProcessStep
from finexpert.knowledge.processes.files import to_markdown

CASES = [json.loads(line) for line in Path(__file__).with_name("processes.jsonl").read_text("utf-8").splitlines()]
RECESSION = Process(
    heading="Recession Calculation",
    aliases=["Downturn dates"],
    steps=[ProcessStep(text="Find two falling quarters in a row.")],
    status="active",
)


@pytest.fixture
def session(desk: Any) -> Any:
    """A conversation that has answered 6, over a store in which a process and a term are known."""
    talk = desk.session(retries=0)
    talk.stores.memory.add(RECESSION, "ben")
    talk.define("stress month", "a month below 5")
    desk.says("planning", desk.plan())
    assert talk.ask("How many months with sales were there?").value == 6
    return talk


def brought(session: Any, case: dict[str, Any], folder: Path) -> tuple[str, str]:
    """What became of a file, and what is said of it."""
    path = folder / "process.md"
    path.write_text("\n".join(case["file"]) + "\n", encoding="utf-8")
    (imported,) = import_processes(session.stores.memory, [path], "carl")
    if imported.outcome == "added":
        return str(session.stores.memory.get(imported.title).status), imported.message
    return ("clash" if "is taken by" in imported.message else "refused"), imported.message


def written(desk: Any, session: Any, case: dict[str, Any]) -> tuple[str, str]:
    """What became of what a model wrote, and what the expert is told."""
    desk.says("memorization", desk.process(case_question="How many months with sales were there?", **case["process"]))
    desk.says("planning", desk.plan(case.get("replay", "answer = len(sales)")))
    try:
        remembered = session.remember()
    except OutputError as error:
        return "refused", str(error)
    if remembered.clash is not None:
        assert not remembered.stored
        return "clash", remembered.clash.heading
    return remembered.process.status, "; ".join(remembered.problems)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_poison(desk: Any, session: Any, tmp_path: Path, case: dict[str, Any]) -> None:
    outcome, said = written(desk, session, case) if case["route"] == "model" else brought(session, case, tmp_path)
    assert (outcome, said) == (case["expect"], said)
    assert case["says"] in said
    assert [process.heading for process in session.stores.memory.processes(ACTIVE)] == [RECESSION.heading]

    desk.calls.clear()
    # A planner that follows all that it is shown.
    desk.says("planning", lambda prompt: desk.plan(follows=tuple(desk.known_here(prompt).values())))
    answer = desk.session().ask(case["question"])
    assert answer.status == "answered"
    assert set(answer.processes) <= {RECESSION.heading}
    assert "planning" in desk.layers
    assert not [layer for layer, prompt in desk.calls if case["payload"] in prompt]


def test_a_sound_process_comes_into_use(desk: Any, session: Any) -> None:
    """The same road, so that what is refused above is refused for what is wrong with it."""
    sound = {
        "process": {"heading": "Selling months", "steps": [{"text": "Count the selling months.", "sql": desk.good}]}
    }
    assert written(desk, session, sound) == ("active", "")
    desk.says("planning", lambda prompt: desk.plan(follows=(desk.known_here(prompt)["Selling months"],)))
    assert session.ask("What do the selling months come to?").processes == ["Selling months"]
    assert "1. Count the selling months." in desk.of("planning")[-1]


def test_a_sound_file_is_a_draft_until_it_is_checked(desk: Any, session: Any, tmp_path: Path) -> None:
    step = ProcessStep(text="Count the selling months.", sql=desk.good)
    case = {"file": to_markdown(RECESSION.model_copy(update={"heading": "Slump rule", "aliases": [], "steps": [step]}))}
    assert brought(session, {"file": case["file"].splitlines()}, tmp_path) == ("draft", "draft")


def test_the_cases_are_many_and_each_is_its_own() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES) >= 40
    assert {(case["route"], case["expect"]) for case in CASES} == {
        ("model", "draft"),
        ("model", "clash"),
        ("file", "draft"),
        ("file", "clash"),
        ("file", "refused"),
    }
    assert not [case["id"] for case in CASES if case["payload"] in case["question"]]
