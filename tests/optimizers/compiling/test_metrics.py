"""Scores come from running what was written: the references score 1, and each way of being wrong scores less."""

from __future__ import annotations

import re
from typing import Any

import dspy
import pandas as pd
import pytest

from finexpert.datasets.layers.examples import LAYERS
from finexpert.datasets.layers.keyword_evaluation import Rephrased
from finexpert.errors import OutputError
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.compiling.metrics import Judged, dspy_metric, frame_verdict, plain_metric
from finexpert.optimizers.compiling.tasks import CompileBench, Task, task_of
from finexpert.optimizers.memory_lookup import Recalled

RIGHT = pd.DataFrame({"date": pd.to_datetime(["2020-01-01", "2020-02-01"]), "value": [1.0, float("nan")]})


@pytest.mark.parametrize(
    ("mine", "score"),
    [
        (RIGHT, 1.0),
        (RIGHT[::-1], 1.0),
        (RIGHT[["value", "date"]], 1.0),
        (RIGHT.assign(date=["2020-01-01", "2020-02-01"]), 1.0),
        (RIGHT.assign(value=[1.0 + 1e-12, float("nan")]), 1.0),
        (RIGHT.rename(columns={"value": "VALUE"}), 1.0),
        (RIGHT.assign(value=[1.0, 0.0]), 0.4),
        (RIGHT.assign(value=[1.001, float("nan")]), 0.4),
        (RIGHT[:1], 0.4),
        (pd.concat([RIGHT, RIGHT[:1]]), 0.4),
        (RIGHT.rename(columns={"value": "amount"}), 0.2),
        (RIGHT[["date"]], 0.2),
    ],
)
def test_frames(mine: pd.DataFrame, score: float) -> None:
    assert frame_verdict(mine, RIGHT).score == score


def right_of(task: Task, record: Any) -> Any:
    """What the layer gives when its predictors give what is right."""
    from finexpert.optimizers.compiling.tasks import _Right
    from finexpert.optimizers.program.artifact import layers_of

    layer = layers_of(FinancialExpert())[task.layer]
    for name, predictor in list(layer.named_sub_modules(dspy.Predict)):
        place = name.removeprefix("self.")
        stub = _Right(predictor.signature, task, record, place, {})
        dspy.primitives.module.set_attribute_by_name(layer, place, stub)
    return task.call(layer, record)


@pytest.mark.parametrize("layer", ["sql_extraction", "script_generation", "planning", "memory_lookup", "critique"])
def test_the_references_are_right(layer: str, bench: CompileBench) -> None:
    task = task_of(layer, bench)
    records = task.load("val", 3) + task.load("holdout", 3)
    verdicts = {record.id: task.judge(record, right_of(task, record)) for record in records}
    assert {id: verdict for id, verdict in verdicts.items() if verdict.score < 1} == {}


def test_a_plan_without_drafts_is_carried_out_by_the_other_layers(
    bench: CompileBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.settings = bench.settings.model_copy(update={"drafts": False})
    task = task_of("planning", bench)
    record = next(record for record in task.load("val") if not hasattr(record, "page"))
    asked: list[str] = []

    def write_selects(**inputs: Any) -> Any:
        asked.append("sql")
        raise OutputError("no SELECT")

    monkeypatch.setattr(bench.expert, "sql_extraction", write_selects)
    verdict = task.judge(record, right_of(task, record))
    assert asked == ["sql"]
    assert verdict == Judged(0.1, "the plan fails at sql extraction: no SELECT")


def test_a_lucky_select_is_wrong(bench: CompileBench) -> None:
    task = task_of("sql_extraction", bench)
    record = next(record for record in task.load("val") if len(record.frames) == 1)
    frame = record.frames[0]
    from finexpert.datasets.layers.references import frames_of

    rows = frames_of(record)[0].data.head(50).to_dict("split")["data"]
    constant = (
        "SELECT * FROM (VALUES "
        + ", ".join("(" + ", ".join(f"'{value}'" for value in row) + ")" for row in rows)
        + f") AS t({', '.join(frame.columns)})"
    )
    assert task.judge(record, {frame.name: constant}).score < 1


@pytest.mark.parametrize(
    ("written", "score", "said"),
    [
        ({}, 0.0, "there is no SELECT for the frame"),
        ("SELECT 1 AS nothing", 0.2, "the columns nothing"),
        ("SELECT nothing FROM nowhere", 0.0, "fails"),
    ],
)
def test_wrong_selects(bench: CompileBench, written: Any, score: float, said: str) -> None:
    task = task_of("sql_extraction", bench)
    record = task.load("holdout", 1)[0]
    selects = {frame.name: written for frame in record.frames} if isinstance(written, str) else written
    verdict = task.judge(record, selects)
    assert verdict.score == score
    assert said in verdict.feedback


@pytest.mark.parametrize(
    ("code", "score"), [("answer = 1 / 0", 0.0), ("answer = 'no number'", 0.0), ("answer = 12345.678", 0.2)]
)
def test_wrong_scripts(bench: CompileBench, code: str, score: float) -> None:
    task = task_of("script_generation", bench)
    record = next(record for record in task.load("val") if record.answer_format.kind == "number")
    assert task.judge(record, code).score == score


def test_lookup_wants_the_right_process_and_no_wrong_one(bench: CompileBench) -> None:
    task = task_of("memory_lookup", bench)
    record = next(record for record in task.load("val") if record.whole)
    none = next(record for record in task.load("val") if not record.expected)
    right = list(record.expected)
    scores = [
        task.judge(record, Recalled(found, "whole" if found else "none")).score
        for found in (right, [*right, "Another"], ["Another"], [])
    ]
    assert scores[0] == 1
    assert 0.5 > scores[1] > scores[2] == scores[3] == 0
    assert task.judge(none, Recalled([], "none")).score == 1
    assert task.judge(none, Recalled(["Another"], "whole")).score == 0


def test_rephrasing_wants_terms_found_and_asked_about(bench: CompileBench) -> None:
    task = task_of("keyword_rephrasing", bench)
    records = task.load("train")
    asking = next(record for record in records if record.ask and not record.expected_terms)
    plain = next(record for record in records if not record.ask and not record.expected_terms)
    assert task.judge(asking, Rephrased(asking.question, [], list(asking.ask))).score == 1
    assert task.judge(asking, Rephrased(asking.question)).score < 1
    assert "ask what" in task.judge(asking, Rephrased(asking.question)).feedback
    assert task.judge(plain, Rephrased(plain.question)).score == 1
    assert task.judge(plain, Rephrased(plain.question, ["a term"], ["another"])).score < 0.5


@pytest.mark.parametrize("layer", LAYERS)
def test_demonstrations_hold_the_outputs_and_leave_out_what_is_long(layer: str, bench: CompileBench) -> None:
    task = task_of(layer, bench)
    made = getattr(FinancialExpert(), layer)
    found = [task.demonstrations(made, record) for record in task.load("train", 8)]
    predictors = {name.removeprefix("self."): p for name, p in made.named_sub_modules(dspy.Predict)}
    assert any(found)
    for demos in found:
        for place, demo in demos.items():
            assert set(predictors[place].signature.output_fields) <= set(demo.keys())
            assert "feedback" not in demo
            # Of the schema, the tables that the demonstration's SELECTs read.
            selects = demo.get("selects") or demo.get("select")
            assert ("schema_card" in demo) == bool(selects and place != "warehouse")
            shown = re.findall(r"^table (\w+)", demo.get("schema_card", ""), re.MULTILINE)
            assert all(name in str(selects) for name in shown)


def test_gepa_reads_feedback_and_bootstrap_a_number_that_may_be_false() -> None:
    def judge(gold: Any, pred: Any) -> Judged:
        return Judged(0.0, "write a SELECT")

    scored = dspy_metric(judge)(dspy.Example(), dspy.Prediction(), None, "write", None)
    assert (scored.score, scored.feedback) == (0.0, "write a SELECT")
    # The trap: this prediction is true, so a bootstrap would take it.
    assert bool(scored)
    assert not plain_metric(judge)(dspy.Example(), dspy.Prediction())
