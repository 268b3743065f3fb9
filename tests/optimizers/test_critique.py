"""Critique as a layer that is compiled: what its examples hold, and that objections are judged by what they change."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from finexpert.core.plans import Cell
from finexpert.datasets.layers.critique_records import AuditExample, DeriveExample, RecomputeExample
from finexpert.datasets.layers.critique_references import problems_of_audit, readings_of, right_objections
from finexpert.datasets.layers.examples import CAPABILITIES, LAYERS, load
from finexpert.datasets.layers.references import problems_of
from finexpert.errors import OutputError, QuestionFileError
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.scripted import Messages, ScriptedModel
from finexpert.modules.calling import using
from finexpert.modules.critique import Critique
from finexpert.optimizers.compiling.tasks import CompileBench, task_of
from finexpert.signatures.critique import Objection

WRONG: dict[str, Any] = {
    "id": "w", "split": "train", "planning": "ferries_fuel_2016", "reason": "another year",
    "instead": {"kind": "cell", "id": 1, "row": "fuel cost", "column": "2015"},
}  # fmt: skip
RIGHT: dict[str, Any] = {"id": "r", "split": "train", "planning": "ferries_fuel_2016", "audit": True}
MISSING: dict[str, Any] = {
    "id": "m", "split": "train", "planning": "ferries_fuel_of_revenue", "missing": 2, "reason": "freight is needed",
}  # fmt: skip


def only(folder: Path, record: dict[str, Any]) -> Any:
    path = folder / "mine.jsonl"
    path.write_text(json.dumps(record))
    return load("critique", path=path)[0]


def objecting(step: int, row: str, column: str) -> Objection:
    return Objection(step=step, reason="?", instead=Cell(id=1, row=row, column=column))


def test_the_set_has_every_kind_in_every_split() -> None:
    examples = load("critique")
    kinds = Counter(
        (each.split, type(each).__name__, isinstance(each, AuditExample) and each.wrong is not None)
        for each in examples
    )
    assert len(examples) >= 40
    for split in ("train", "val", "holdout"):
        assert kinds[split, "AuditExample", True] >= 8
        assert kinds[split, "AuditExample", False] >= 5
        assert kinds[split, "DeriveExample", False] >= 2
        assert kinds[split, "RecomputeExample", False] >= 2


def test_it_is_no_capability_and_compiled_only_by_name() -> None:
    assert set(LAYERS) - set(CAPABILITIES) == {"critique"}
    assert len(CAPABILITIES) == 5


def test_every_reference_of_the_set_is_right(sandbox: Any) -> None:
    audits = [each for each in load("critique") if isinstance(each, AuditExample)]
    assert [problem for each in audits for problem in problems_of(each, sandbox)] == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"planning": "nobody"}, "planning: there is no example 'nobody' of planning"),
        ({"split": "val"}, "split: ferries_fuel_2016 is in train, and not in val"),
        ({"instead": WRONG["instead"] | {"id": 9}}, "reads nothing in its step 9"),
        ({"instead": {"kind": "compute", "id": 1}}, "instead"),
    ],
)
def test_a_line_that_does_not_fit_is_named(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError, match=message):
        only(tmp_path, WRONG | changes)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (WRONG | {"reason": ""}, "a reason|reason: one is needed"),
        (RIGHT | {"reason": "why"}, "every reading is right"),
        (
            WRONG | {"planning": "current_portion_greater", "split": "val", "instead": {"kind": "cell", "id": 3, "row": "revolving credit", "column": "2009"}},
            "right objection|does not change|$^",
        ),
    ],
)  # fmt: skip
def test_an_example_that_shows_nothing_is_found(record: dict[str, Any], message: str, tmp_path: Path) -> None:
    problems = list(problems_of_audit(only(tmp_path, record)))
    if "$^" in message:
        # Greater than one of 9.9 or of 140: yes and no, so this one is sound.
        assert problems == []
    else:
        assert len(problems) == 1


def test_a_wrong_reading_that_changes_nothing_is_found(tmp_path: Path) -> None:
    other = {"kind": "cell", "id": 1, "row": "losses incurred", "column": "2011"}
    record = WRONG | {"planning": "losses_without_storms_grew", "instead": other}
    assert "does not change the value" in next(problems_of_audit(only(tmp_path, record)))


def test_a_critic_is_shown_what_was_read_and_not_what_is_right(tmp_path: Path) -> None:
    assert readings_of(only(tmp_path, WRONG)) == "step 1: row 'fuel cost', column '2015': -23906.0"
    assert readings_of(only(tmp_path, MISSING)) == "step 1: row 'passenger revenue', column '2016': 84310.0"


@pytest.mark.parametrize(
    ("record", "objections", "score", "said"),
    [
        (RIGHT, [], 1, "all is right"),
        (RIGHT, [objecting(1, "fuel cost", "2015")], 0, "step 1 is objected to, and every reading"),
        (RIGHT, [objecting(0, "crew cost", "2016")], 0, "what was not read is objected to"),
        (RIGHT, [objecting(1, "wages", "2016")], 1, "all is right"),
        (WRONG, [objecting(1, "fuel cost", "2016")], 1, "all is right"),
        (WRONG, [objecting(0, "fuel cost", "2016")], 1, "all is right"),
        (WRONG, [], 0, "a reading is wrong, and no objection stands"),
        (WRONG, [objecting(1, "fuel cost", "1999")], 0, "no objection stands"),
        (WRONG, [objecting(1, "fuel cost", "2014")], 0, "the plan gives another value with what is named instead"),
        (MISSING, [objecting(0, "freight revenue", "2016")], 1, "all is right"),
        (MISSING, [], 0, "a reading is missing"),
        (MISSING, [objecting(1, "fuel cost", "2016")], 0, "the plan does not run with what is named instead"),
    ],
)
def test_objections_are_judged_by_what_they_change(
    record: dict[str, Any], objections: list[Objection], score: float, said: str, bench: CompileBench, tmp_path: Path
) -> None:
    task, example = task_of("critique", bench), only(tmp_path, record)
    verdict = task.judge(example, task.run(example, objections))
    assert verdict.score == score
    assert said in verdict.feedback
    # What is right is never told.
    assert "2016" not in verdict.feedback


def test_the_critics_are_asked_as_the_program_asks_them(bench: CompileBench) -> None:
    """One predictor a kind of example, by the models of the critics; a plan of one's own is judged by its answer."""
    asked: list[str] = []

    def reply(messages: Messages) -> str:
        last = messages[-1]["content"]
        asked.append(next(name for name in ("objections", "asked", "reading") if f"[[ ## {name} ## ]]" in last))
        if asked[-1] == "objections":
            return "[[ ## objections ## ]]\n[]\n\n[[ ## completed ## ]]"
        return "[[ ## completed ## ]]"

    task, records = task_of("critique", bench), load("critique", "train")
    with using(LanguageModels(ScriptedModel(reply))):
        for kind in (AuditExample, DeriveExample, RecomputeExample):
            record = next(each for each in records if type(each) is kind)
            if kind is AuditExample:
                assert task.judge(record, task.call(Critique(), record)).score in (0, 1)
            else:
                with pytest.raises(OutputError):
                    task.call(Critique(), record)
    assert asked == ["objections", "asked", "reading"]


def test_the_right_objection_is_a_demonstration(bench: CompileBench) -> None:
    task = task_of("critique", bench)
    record = next(each for each in task.load("train") if isinstance(each, AuditExample) and each.wrong)
    (demo,) = task.demonstrations(Critique(), record).values()
    assert demo["objections"] == right_objections(record)
    assert len(demo["page"]) < len(record.filing.page_text())
