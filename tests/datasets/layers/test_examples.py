"""The example sets: what they hold, what is refused, and that every reference runs and means something."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

import dspy
import pytest

from finexpert.datasets.fred.questions import load_questions
from finexpert.datasets.layers import references as layer_references
from finexpert.datasets.layers.examples import LAYERS, Copies, fingerprint, load, read, to_dspy
from finexpert.datasets.layers.inputs import AT_RUN_TIME
from finexpert.datasets.layers.records import (
    FilingExample,
    FredExample,
    Placed,
    PlanningExample,
    SqlExtractionExample,
    WarehouseExample,
)
from finexpert.datasets.layers.references import answer_of, frames_of, problems_of
from finexpert.errors import ConfigurationError, QuestionFileError
from finexpert.sandbox import Sandbox
from finexpert.signatures import rules
from finexpert.signatures.planning import MakeFilingPlan, MakePlan, MakePlanWithDrafts
from finexpert.signatures.script_generation import WriteScript
from finexpert.signatures.sql_extraction import WriteSelects
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

OURS = ("sql_extraction", "script_generation", "planning")
SAMPLE_PAGES = Path(str(files("finexpert.datasets") / "questions" / "convfinqa_sample.json"))

FRAME: dict[str, Any] = {
    "name": "flows",
    "columns": ["date", "redemptions"],
    "purpose": "redemptions of 2022",
    "select": "SELECT date, redemptions FROM fund_values WHERE date BETWEEN DATE '2022-01-01' AND DATE '2022-12-31'",
}
SQL: dict[str, Any] = {
    "id": "a", "split": "train", "scenario": "fund", "question": "How much left?", "today": "2024-06-28",
    "frames": [FRAME],
}  # fmt: skip
SCRIPT = SQL | {"answer_format": {"kind": "number"}, "task": "1. Sum.", "code": "answer = flows['redemptions'].sum()"}
PLAN = SCRIPT | {"interpretation": "The sum."}
FILING: dict[str, Any] = {
    "id": "f", "split": "train", "page": "BRKW/2016/page_34", "question": "fuel cost in 2016 ?", "entity": "fuel cost",
    "steps": [{"kind": "cell", "id": 1, "row": "fuel cost", "column": "2016"}], "answer": "step 1", "gold": -18442.0,
}  # fmt: skip
CONVFINQA: dict[str, Any] = {"id": "c", "split": "val", "convfinqa": "Single_HRBR/2015/page_41.pdf-1", "turn": 4}


def write(folder: Path, *lines: dict[str, Any] | str) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def without(record: dict[str, Any], field: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != field}


def only(layer: str, folder: Path, record: dict[str, Any], copies: Copies | None = None) -> Any:
    return load(layer, path=write(folder, record), copies=copies)[0]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(workers=2) as box:
        yield box


# What there is


@pytest.mark.parametrize("layer", OURS)
def test_enough_of_each_split(layer: str) -> None:
    examples = [example for example in load(layer) if isinstance(example, WarehouseExample)]
    counts = Counter(example.split for example in examples)
    assert len(examples) >= 48
    assert 0.35 <= counts["train"] / len(examples) <= 0.45
    assert 0.2 <= counts["val"] / len(examples) <= 0.3
    assert 0.3 <= counts["holdout"] / len(examples) <= 0.4
    assert load(layer, "val") == [example for example in load(layer) if example.split == "val"]


@pytest.mark.parametrize("layer", LAYERS)
def test_nothing_of_the_packaged_sets_is_wrong(layer: str) -> None:
    examples, problems = read(layer)
    assert problems == []
    assert {example.split for example in examples} == {"train", "val", "holdout"}
    assert all(type(example) is LAYERS[layer] or isinstance(example, FilingExample) for example in examples)


def test_filings_have_conversations_and_every_kind_of_step() -> None:
    filings = [example for example in load("planning") if isinstance(example, FilingExample)]
    assert len(filings) >= 16
    assert sum(bool(example.earlier) for example in filings) >= 8
    assert {step.kind for example in filings for step in example.steps} == {"cell", "quote", "compute"}
    assert {type(example.gold) for example in filings} == {float, str}


@pytest.mark.parametrize("layer", OURS)
def test_no_scenario_and_no_question_is_in_train_and_in_the_holdout(layer: str) -> None:
    train, holdout = load(layer, "train"), load(layer, "holdout")
    assert {e.scenario for e in train} & {e.scenario for e in holdout} == {"economy"}
    assert not {e.question for e in train} & {e.question for e in holdout}


@pytest.mark.parametrize("layer", OURS)
def test_no_question_of_the_benchmark_is_among_them(layer: str) -> None:
    assert not {e.question for e in load(layer)} & {question.question for question in load_questions()}


# References


@pytest.mark.parametrize("layer", OURS)
def test_every_reference_runs_and_differs_between_variants(layer: str, sandbox: Sandbox) -> None:
    examples = load(layer)
    with ThreadPoolExecutor(2) as pool:
        problems = list(pool.map(lambda example: problems_of(example, sandbox), examples))
    assert [f"{e.id}: {problem}" for e, found in zip(examples, problems, strict=True) for problem in found] == []


def frame(**changes: Any) -> list[dict[str, Any]]:
    return [FRAME | changes]


@pytest.mark.parametrize(
    ("layer", "record", "message"),
    [
        ("sql_extraction", SQL | {"frames": frame(select="SELECT date, redemption FROM fund_values")}, "redemption"),
        ("sql_extraction", SQL | {"frames": frame(columns=["day", "redemptions"])}, "columns says"),
        ("sql_extraction", SQL | {"frames": frame(select=FRAME["select"] + " AND redemptions < 0")}, "there is no row"),
        ("sql_extraction", SQL | {"frames": frame(select="SELECT date, NULL AS redemptions FROM fx")}, "nothing but"),
        (
            "sql_extraction",
            SQL | {"frames": frame(columns=["date"], select="SELECT date FROM fund_values ORDER BY date")},
            "the same on both variants",
        ),
        ("script_generation", SCRIPT | {"code": "answer = 3.5"}, "the same on both variants: 3.5"),
        ("script_generation", SCRIPT | {"code": "answer = flows['redemption'].sum()"}, "reference fails: .*redemption"),
        ("script_generation", SCRIPT | {"code": "answer = flows['redemptions'].sum() * 0"}, "missing or 0"),
        ("script_generation", SCRIPT | {"answer_format": {"kind": "integer"}}, "must be an integer"),
        ("planning", PLAN | {"code": "answer = float(len(flows))"}, "the same on both variants"),
        ("planning", PLAN | {"answer_select": "SELECT 7.0"}, r"answer_select gives 7.0, and the script \d"),
        ("planning", PLAN | {"answer_select": "SELECT date FROM fund_values"}, "reference fails: answer_select: .* rows"),
        ("planning", FILING | {"gold": 18442.0}, "the plan gives -18442.0, and gold is 18442.0"),
        ("planning", FILING | {"steps": [FILING["steps"][0] | {"row": "wages"}]}, "step 1: .*wages"),
        ("planning", FILING | {"answer": "turn -1"}, "no turn -1"),
        (
            "planning",
            FILING | {"earlier": [{"question": "?", "steps": FILING["steps"], "answer": "step 1", "value": 1.0}]},
            "turn 1 gives -18442.0, and its value is 1.0",
        ),
    ],
)  # fmt: skip
def test_a_wrong_reference_is_found(
    layer: str, record: dict[str, Any], message: str, sandbox: Sandbox, tmp_path: Path
) -> None:
    problems = problems_of(only(layer, tmp_path, record), sandbox)
    assert any(re.search(message, problem) for problem in problems), problems


def test_right_records_of_this_file_have_no_problem(sandbox: Sandbox, tmp_path: Path) -> None:
    for layer, record in (
        ("sql_extraction", SQL),
        ("script_generation", SCRIPT),
        ("planning", PLAN),
        ("planning", FILING),
    ):
        assert problems_of(only(layer, tmp_path, record), sandbox) == []


def test_frames_and_answers_of_a_variant(sandbox: Sandbox, tmp_path: Path) -> None:
    example = only("planning", tmp_path, PLAN)
    for variant in (0, 1):
        flows = frames_of(example, variant)[0].data
        assert answer_of(example, sandbox, variant) == pytest.approx(flows["redemptions"].sum())
    assert example.plan.order() == [[1], [2]]


# Lines that are refused


@pytest.mark.parametrize(
    ("layer", "record", "message"),
    [
        ("planning", "{", r"mine\.jsonl, line 2: not JSON"),
        ("planning", "[]", r"line 2: the line: "),
        ("planning", without(PLAN, "code"), r"line 2: code: Field required"),
        ("planning", PLAN | {"gold": 3}, r"line 2: gold: Extra inputs"),
        ("planning", PLAN | {"split": "test"}, r"line 2: split: .*'test'"),
        ("planning", PLAN | {"scenario": "funds"}, r"line 2: scenario: .*there are bank, companies, economy, fund"),
        ("planning", PLAN | {"code": "answer = ("}, r"line 2: code: .*not Python"),
        ("planning", PLAN | {"frames": []}, r"line 2: frames: "),
        ("planning", PLAN | {"frames": [without(FRAME, "purpose")]}, r"line 2: frames\.0\.purpose: Field required"),
        ("planning", PLAN | {"answer_format": {"kind": "colour"}}, r"line 2: answer_format\.kind: "),
        ("planning", FILING | {"page": "none"}, r"line 2: page: there is no page 'none'"),
        ("planning", FILING | {"scenario": "fund"}, r"line 2: scenario: leave it out"),
        ("planning", FILING | {"answer": "the first"}, r"line 2: answer: "),
        ("planning", {"id": "x", "split": "val", "fred": "no_such"}, r"line 2: fred: there is no question 'no_such'"),
        ("planning", CONVFINQA | {"convfinqa": "nobody"}, r"line 2: convfinqa: there is no conversation 'nobody'"),
        ("planning", CONVFINQA | {"turn": 9}, r"line 2: turn: .*has 4 turns"),
        ("sql_extraction", CONVFINQA, r"line 2: convfinqa: only planning"),
        ("sql_extraction", SQL | {"today": "soon"}, r"line 2: today: "),
        ("sql_extraction", SCRIPT, r"line 2: answer_format: Extra inputs"),
        ("script_generation", without(SCRIPT, "task"), r"line 2: task: Field required"),
        ("memory_lookup", {"id": "m", "split": "val", "scenario": "fund", "question": "?"}, r"line 2: expected: Field"),
        ("keyword_rephrasing", {"id": "a-exact-1", "split": "val", "scenario": "a", "question": "?"}, r"line 2: exp"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_named(layer: str, record: dict[str, Any] | str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, "", record)
    with pytest.raises(QuestionFileError, match=message):
        load(layer, path=path, copies=Copies(convfinqa=SAMPLE_PAGES))


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (SQL, "the id 'a' stands in .*line 1 too"),
        (SQL | {"id": "b", "split": "holdout"}, "its question stands in holdout and train"),
        (
            SQL | {"id": "b", "split": "holdout", "question": "And then?"},
            "the scenario 'fund' is in train and in the holdout",
        ),
    ],
)
def test_a_leak_between_splits_is_named(second: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError, match=f"line 2: {message}"):
        load("sql_extraction", path=write(tmp_path, SQL, second))


def test_the_economy_may_give_questions_to_all_splits(tmp_path: Path) -> None:
    lines = [
        SQL | {"id": split, "split": split, "question": split, "scenario": "economy"} for split in ("train", "holdout")
    ]
    assert len(load("sql_extraction", path=write(tmp_path, *lines))) == 2


def test_a_file_that_is_not_there_or_empty(tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError, match="cannot be read"):
        load("planning", path=tmp_path / "none.jsonl")
    with pytest.raises(QuestionFileError, match="holds no example"):
        load("planning", path=write(tmp_path, ""))


def test_an_unknown_layer_is_named() -> None:
    for call in (load, fingerprint):
        with pytest.raises(ConfigurationError, match="no example set of 'plan'; there are sql_extraction"):
            call("plan")


# As dspy examples


SIGNATURES = {"sql_extraction": WriteSelects, "script_generation": WriteScript}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("drafts", [True, False])
def test_inputs_are_those_of_the_signature(layer: str, drafts: bool) -> None:
    for example in load(layer):
        made = to_dspy(example, drafts=drafts)
        assert all(isinstance(value, str) and value for value in made.inputs().values())
        signature: Any = SIGNATURES.get(layer)
        if layer == "planning":
            whole = MakePlanWithDrafts if drafts else MakePlan
            signature = MakeFilingPlan if isinstance(example, FilingExample) else whole
        if signature is not None:
            assert set(made.inputs()) == set(signature.input_fields)
            assert set(signature.output_fields) <= set(made.labels())
        assert made.id == example.id


@pytest.mark.parametrize("layer", OURS)
def test_as_demonstrations_they_show_the_signature_alone_and_can_be_saved(layer: str) -> None:
    for example in (load(layer, "train")[0], load(layer, "train")[-1]):
        made = to_dspy(example)
        signature = next(
            s
            for s in (WriteSelects, WriteScript, MakePlanWithDrafts, MakeFilingPlan)
            if set(made.inputs()) == set(s.input_fields)
        )
        predict = dspy.Predict(signature)
        predict.demos = [made]
        *_, question, completion, _last = dspy.ChatAdapter().format(signature, predict.demos, dict(made.inputs()))
        shown = question["content"] + completion["content"]
        assert set(re.findall(r"\[\[ ## (\w+) ## \]\]", shown)) == {*signature.fields, "completed"}
        assert "Not supplied" not in shown
        assert json.loads(json.dumps(predict.dump_state()))["demos"]


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        (MakePlanWithDrafts.delete("today"), "line 1: the example has the input today, which "),
        (
            MakePlanWithDrafts.prepend("region", dspy.InputField(), str),
            "has the input region, which the example",
        ),
    ],
)
def test_a_signature_with_other_fields_is_named(
    signature: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("finexpert.datasets.layers.inputs.MakePlanWithDrafts", signature)
    with pytest.raises(QuestionFileError, match=message):
        to_dspy(only("planning", tmp_path, PLAN))


def test_what_is_left_to_the_module_exists() -> None:
    from finexpert.signatures import keyword_rephrasing

    for name, fields in AT_RUN_TIME.items():
        assert fields <= set(getattr(keyword_rephrasing, name).input_fields)


def test_texts_are_those_that_the_modules_make(tmp_path: Path) -> None:
    sql = to_dspy(only("sql_extraction", tmp_path, SQL))
    assert sql.frames == "flows (date, redemptions): redemptions of 2022"
    assert sql.knowledge == sql.feedback == rules.NONE
    assert "table fund_values" in sql.schema_card
    script = to_dspy(only("script_generation", tmp_path, SCRIPT))
    assert script.frames.startswith("flows(date datetime64[us], redemptions float64): SELECT date, redemptions")
    assert script.answer_type == "a float (not rounded)"


def test_something_else_is_no_example() -> None:
    with pytest.raises(TypeError, match="Placed is no example"):
        to_dspy(Placed())


# The user's own copies


def test_a_turn_of_convfinqa_by_id(tmp_path: Path, sandbox: Sandbox) -> None:
    example = only("planning", tmp_path, CONVFINQA, Copies(convfinqa=SAMPLE_PAGES))
    assert isinstance(example, FilingExample)
    assert example.gold == 0.10125
    assert len(example.earlier) == 3
    assert problems_of(example, sandbox) == []
    made = to_dspy(example)
    assert "turn 3: and how much did they change over the year ?" in made.conversation
    assert made.question == "what is that as a portion of the 2014 figure ?"


def test_convfinqa_of_the_home(tmp_path: Path, own_home: Path) -> None:
    path = write(tmp_path, CONVFINQA)
    with pytest.raises(QuestionFileError, match=r"line 1: there is no ConvFinQA in .*finexpert data convfinqa"):
        load("planning", path=path)
    (own_home / "convfinqa").mkdir()
    (own_home / "convfinqa" / "train.json").write_bytes(SAMPLE_PAGES.read_bytes())
    assert len(load("planning", path=path)) == 1


def test_a_question_of_fred_by_id(tmp_path: Path, sandbox: Sandbox, sample: DuckDBWarehouse) -> None:
    record = {"id": "mine", "split": "val", "fred": "recessions_in_thirty_years"}
    example = only("planning", tmp_path, record, Copies(data=sample.path))
    assert isinstance(example, FredExample)
    assert isinstance(example, PlanningExample)
    assert answer_of(example, sandbox) == 3
    assert problems_of(example, sandbox) == []
    made = to_dspy(example)
    assert set(made.inputs()) == set(MakePlanWithDrafts.input_fields)
    assert set(made.labels()) == {"answer_kind", "unit", "unclear", "missing", "id"}


# Fingerprints


def test_a_fingerprint_changes_with_what_answers_follow_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = fingerprint("planning", write(tmp_path, PLAN))
    assert one == fingerprint("planning", write(tmp_path, PLAN))
    assert one != fingerprint("planning", write(tmp_path, PLAN | {"id": "b"}))
    assert len({fingerprint(layer) for layer in LAYERS}) == len(LAYERS)
    monkeypatch.setattr("finexpert.datasets.fred.database.code_key", lambda: "other code")
    assert one != fingerprint("planning", write(tmp_path, PLAN))
    assert fingerprint("memory_lookup")


def test_answers_are_computed_once(tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    example = only("script_generation", tmp_path, SCRIPT)
    first = answer_of(example, sandbox)
    monkeypatch.setattr(layer_references, "frames_of", lambda *_: pytest.fail("computed again"))
    assert answer_of(example, sandbox) == first
    assert isinstance(only("sql_extraction", tmp_path, SQL), SqlExtractionExample)
