"""Examples of the user's own: over a database of theirs, beside the packaged ones or in place of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.datasets.layers import examples as layer_examples
from finexpert.datasets.layers.copies import Copies
from finexpert.datasets.layers.inputs import to_dspy
from finexpert.datasets.layers.records import OWN
from finexpert.datasets.layers.references import answer_of, problems_of, variants_of
from finexpert.datasets.layers.sets import ExampleSets
from finexpert.errors import ConfigurationError, FinexpertError, QuestionFileError
from finexpert.sandbox import Sandbox
from finexpert.warehouse.local.duckdb_warehouse import Table, build_warehouse

LAYER = "script_generation"
FRAME = {
    "name": "open", "columns": ["exposure"], "purpose": "exposures of the rates desk",
    "select": "SELECT exposure FROM positions WHERE desk = 'rates'",
}  # fmt: skip
SQL: dict[str, Any] = {
    "id": "mine", "split": "train", "scenario": OWN, "question": "How much is open?", "today": "2024-06-28",
    "frames": [FRAME],
}  # fmt: skip
SCRIPT = SQL | {"answer_format": {"kind": "number"}, "task": "1. Sum.", "code": "answer = open['exposure'].sum()"}
PLAN = SCRIPT | {"interpretation": "The sum."}
RECORDS = {"sql_extraction": SQL, "script_generation": SCRIPT, "planning": PLAN}


@pytest.fixture
def desk(tmp_path: Path) -> Callable[..., Path]:
    """A database of two desks: `desk(777123.5)` has this exposure, and one that is a thousand more a day later."""

    def build(exposure: float = 777123.5, name: str = "desk") -> Path:
        days = pd.to_datetime(["2024-06-03", "2024-06-04", "2024-06-04"])
        data = {"date": days, "desk": ["rates", "rates", "fx"], "exposure": [exposure, exposure + 1000, 5.0]}
        return build_warehouse(
            tmp_path / f"{name}.duckdb", [Table("positions", pd.DataFrame(data), date_column="date")]
        )

    return build


def write(folder: Path, *records: dict[str, Any], name: str = "mine.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def one(layer: str, record: dict[str, Any], folder: Path, data: Path | None) -> Any:
    return layer_examples.load(layer, path=write(folder, record), copies=Copies(data=data))[0]


@pytest.mark.parametrize("layer", RECORDS)
def test_a_record_over_a_database_of_ones_own(layer: str, desk: Any, tmp_path: Path, sandbox: Sandbox) -> None:
    example = one(layer, RECORDS[layer], tmp_path, desk())
    assert variants_of(example) == (0,)
    assert problems_of(example, sandbox) == []
    told = json.dumps({name: str(value) for name, value in to_dspy(example).inputs().items()})
    assert ("table positions" in told) == (layer != "script_generation")
    assert "777123" not in told


def test_two_databases_are_never_mixed(desk: Any, tmp_path: Path, sandbox: Sandbox) -> None:
    found = [answer_of(one(LAYER, SCRIPT, tmp_path, desk(n, f"desk{n}")), sandbox) for n in (1.0, 2.0)]
    assert found == [1002.0, 1004.0]


def test_rows_after_the_day_are_not_seen(desk: Any, tmp_path: Path, sandbox: Sandbox) -> None:
    assert answer_of(one(LAYER, SCRIPT | {"today": "2024-06-03"}, tmp_path, desk(8.0)), sandbox) == 8.0


@pytest.mark.parametrize(
    ("layer", "record", "message"),
    [
        ("sql_extraction", SQL | {"frames": [FRAME | {"select": "SELECT exposures FROM positions"}]}, "exposures"),
        ("sql_extraction", SQL | {"frames": [FRAME | {"select": f"{FRAME['select']} AND false"}]}, "frame open: there is no row"),
        ("sql_extraction", SQL | {"frames": [FRAME | {"columns": ["value"]}]}, "columns says"),
        ("script_generation", SCRIPT | {"code": "answer = open['exposure'].sum() * 0"}, "empty, missing or 0"),
        ("planning", PLAN | {"code": "answer = opened['exposure'].sum()"}, "the reference fails: .*opened"),
        ("memory_lookup", {"id": "m", "split": "val", "scenario": "mine", "question": "?", "expected": ["Desk limits"], "whole": True},
         "no process 'Desk limits'"),
        ("keyword_rephrasing", {"id": "mine-exact-1", "split": "val", "scenario": "mine", "question": "?",
         "expected_terms": ["haircut"], "ask": [], "keep": []}, "glossaries.jsonl has no 'mine'"),
    ],
)  # fmt: skip
def test_a_wrong_reference_is_found(
    layer: str, record: dict[str, Any], message: str, desk: Any, tmp_path: Path, sandbox: Sandbox
) -> None:
    problems = problems_of(one(layer, record, tmp_path, desk()), sandbox)
    assert any(re.search(message, problem) for problem in problems), problems


def test_a_database_that_is_not_named_or_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"mine\.jsonl, line 1: scenario: own is .*name it with --data"):
        one(LAYER, SCRIPT, tmp_path, None)
    with pytest.raises(ConfigurationError, match=r"line 1: scenario: own: .*none\.duckdb does not exist"):
        one(LAYER, SCRIPT, tmp_path, tmp_path / "none.duckdb")


def test_the_database_is_opened_once_and_closed(desk: Any, tmp_path: Path) -> None:
    files = {LAYER: [write(tmp_path, SCRIPT, SCRIPT | {"id": "b", "split": "val", "question": "And?"})]}
    with Copies(data=desk()) as copies:
        examples = ExampleSets(files, True, copies).load(LAYER)
        assert examples[0].warehouse is examples[1].warehouse is copies.warehouse  # type: ignore[union-attr]
        assert copies.warehouse.query("SELECT 1 AS one").data["one"].item() == 1
    with pytest.raises(FinexpertError, match="is closed"):
        copies.warehouse.query("SELECT 1 AS one")


# Beside the packaged sets, and in place of them


@pytest.mark.parametrize("only", [False, True])
def test_own_examples_are_added_or_stand_alone(only: bool, desk: Any, tmp_path: Path) -> None:
    packaged = layer_examples.load(LAYER)
    files = [
        write(tmp_path, SCRIPT),
        write(tmp_path, SCRIPT | {"id": "b", "split": "holdout", "question": "And?"}, name="b.jsonl"),
    ]
    with Copies(data=desk()) as copies:
        sets = ExampleSets({LAYER: files}, only, copies)
        assert len(sets.load(LAYER)) == 2 + (0 if only else len(packaged))
        assert [example.id for example in sets.own(LAYER)] == ["mine", "b"]
        assert sets.words(LAYER) == {"own_examples": 2, "packaged_examples": 0 if only else len(packaged)}
        assert sets.load("planning") == layer_examples.load("planning")
        assert sets.words("planning") == {}
        sets.need(LAYER, ["train", "holdout"])
        if only:
            with pytest.raises(QuestionFileError, match=r"mine\.jsonl and .*b\.jsonl: no example of .* is in val"):
                sets.need(LAYER, ["val"])
        else:
            sets.need(LAYER, ["val"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "{id}"}, r"mine\.jsonl, line 1: the id '{id}' stands in script_generation\.jsonl, line \d+ too"),
        ({"question": "{question}", "split": "holdout"}, r"mine\.jsonl, line 1: its question stands in holdout and train"),
        ({"scenario": "fund", "split": "holdout"}, "the scenario 'fund' is in train and in the holdout"),
        ({"split": "test"}, r"mine\.jsonl, line 1: split: "),
    ],
)  # fmt: skip
def test_what_leaks_from_the_packaged_set_is_named(
    change: dict[str, str], message: str, desk: Any, tmp_path: Path
) -> None:
    first = layer_examples.load(LAYER, "train")[0]
    given = SCRIPT | {key: value.format(id=first.id, question=first.question) for key, value in change.items()}
    with Copies(data=desk()) as copies, pytest.raises(QuestionFileError, match=message.format(id=first.id)):
        ExampleSets({LAYER: [write(tmp_path, given)]}, copies=copies).load(LAYER)


def test_a_file_is_read_once(desk: Any, tmp_path: Path) -> None:
    path = write(tmp_path, SCRIPT)
    with Copies(data=desk()) as copies:
        sets = ExampleSets({LAYER: [path]}, True, copies)
        before = sets.fingerprint(LAYER), sets.load(LAYER)
        write(tmp_path, SCRIPT | {"id": "later"})
        assert (sets.fingerprint(LAYER), sets.load(LAYER)) == before


def test_a_fingerprint_covers_lines_the_choice_and_the_rows(desk: Any, tmp_path: Path) -> None:
    def fingerprint(record: dict[str, Any], only: bool = False, exposure: float = 1.0) -> str:
        with Copies(data=desk(exposure)) as copies:
            return ExampleSets({LAYER: [write(tmp_path, record)]}, only, copies).fingerprint(LAYER)

    changed = (SCRIPT | {"id": "b"}, False, 1.0), (SCRIPT, True, 1.0), (SCRIPT, False, 2.0)
    found = [fingerprint(SCRIPT), *(fingerprint(*each) for each in changed), layer_examples.fingerprint(LAYER)]
    assert len(set(found)) == len(found)
    assert found[0] == fingerprint(SCRIPT)


@pytest.mark.parametrize(
    ("given", "only", "message"),
    [
        (["mine.jsonl"], False, "'mine.jsonl' is not LAYER=FILE; write --examples planning=mine.jsonl"),
        (["planning="], False, "is not LAYER=FILE"),
        (["=mine.jsonl"], False, "is not LAYER=FILE; write --examples planning=mine.jsonl"),
        (["plans=mine.jsonl"], False, "no example set of 'plans'; there are sql_extraction"),
        (["planning=none.jsonl"], False, "--examples planning=none.jsonl: there is no file none.jsonl"),
        ([], True, "--only-own leaves no example: name a file with --examples"),
    ],
)
def test_wrong_options(
    given: list[str], only: bool, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, SCRIPT)
    with pytest.raises(ConfigurationError, match=message):
        ExampleSets.of(given, only=only)
