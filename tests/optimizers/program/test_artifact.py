"""What stands on disk, and all that is refused when it is read."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dspy
import pytest

from finexpert.errors import ConfigurationError, DataError
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.modules.sql_extraction import SqlExtraction
from finexpert.optimizers.compiling.gate import decide, score
from finexpert.optimizers.program import artifact
from finexpert.optimizers.program.artifact import COMPILED, layers_of, save
from finexpert.optimizers.program.loading import load, promote, promoted, saved
from finexpert.optimizers.program.manifest import BeforeAfter, ChosenOptions, Provenance, read
from finexpert.settings import Settings
from finexpert.signatures.planning import MakeFilingPlan
from finexpert.signatures.sql_extraction import WriteSelect

TOLD = "Plan with care."


def compiled(instruction: str = TOLD) -> FinancialExpert:
    expert = FinancialExpert()
    predictor = expert.planning.warehouse
    predictor.signature = predictor.signature.with_instructions(instruction)
    predictor.demos = [dspy.Example(question="What?", interpretation="this", frames=[], task="1. that")]
    return expert


@pytest.fixture
def folder(here: Path) -> Path:
    return save(compiled(), COMPILED / "one")


def test_one_file_a_layer_and_a_manifest(folder: Path) -> None:
    expert = FinancialExpert()
    assert {path.name for path in folder.iterdir()} == {
        "manifest.json",
        *(f"{name}.json" for name in layers_of(expert)),
    }
    manifest = read(folder)
    assert manifest.name == "one"
    entry = manifest.layers["planning"]
    assert entry.class_ == "finexpert.modules.planning.Planning"
    assert list(entry.predictors) == ["warehouse", "warehouse_with_drafts", "warehouse_by_select", "filing"]
    assert entry.predictors["warehouse"].name == "MakePlan"
    # The states are DSPy's own form: its loader reads them too.
    expert.planning.load(folder / "planning.json")
    assert expert.planning.warehouse.signature.instructions == TOLD


def test_what_it_was_compiled_with_is_kept(here: Path) -> None:
    before, after = [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]
    decision = decide(before, after, before, after, ids=["a", "b", "c"])
    scores = {"holdout": BeforeAfter(before=score(before), after=score(after))}
    how = Provenance(
        optimizer="GEPA", arguments={"seed": 1}, examples="abc", model="m", scores=scores, decision=decision
    )
    options = ChosenOptions(drafts=False, demonstrations=2)
    save(compiled(), COMPILED / "two", layers={"planning": how}, options=options, evidence={"drafts": decision})
    expert = load("two")
    entry = expert.manifest.layers["planning"]
    assert (entry.optimizer, entry.arguments, entry.scores, entry.decision) == ("GEPA", {"seed": 1}, scores, decision)
    assert expert.options == {"drafts": False, "demonstrations": 2}
    assert expert.manifest.evidence["drafts"].flips[0].id == "a"
    assert expert.manifest.layers["sql_extraction"].optimizer is None
    with pytest.raises(ConfigurationError, match="the program has no layer plans; it has"):
        save(compiled(), COMPILED / "three", layers={"plans": how})


def test_a_model_that_was_set_is_not_kept(here: Path, scripted: Callable[[], Any]) -> None:
    expert = compiled()
    expert.set_lm(dspy.LM("openai/gpt", api_key="planted-key", api_base="http://elsewhere"))
    folder = save(expert, COMPILED / "one")
    assert not [p for p in folder.iterdir() if "elsewhere" in p.read_text() or "planted" in p.read_text()]
    assert load("one").planning.warehouse.lm is None


def test_a_name_is_never_overwritten(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="never overwritten"):
        save(compiled("other"), folder)
    second = save(compiled("other"), folder, exists="version")
    third = save(compiled("third"), folder, exists="version")
    assert [second.name, third.name] == ["one-2", "one-3"]
    assert read(third).name == "one-3"
    assert load("one").planning.warehouse.signature.instructions == TOLD
    assert load("one-2").planning.warehouse.signature.instructions == "other"
    assert saved() == [COMPILED / name for name in ("one", "one-2", "one-3")]
    with pytest.raises(ConfigurationError, match="hidden' is no name of a program"):
        save(compiled(), COMPILED / ".hidden")


def test_several_that_want_one_name_at_once_all_get_one(here: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(save, compiled(f"number {n}"), COMPILED / "one", exists="version") for n in range(4)]
    assert {job.result().name for job in jobs} == {"one", "one-2", "one-3", "one-4"}
    told = {load(path).planning.warehouse.signature.instructions for path in saved()}
    assert told == {f"number {n}" for n in range(4)}


@pytest.mark.parametrize("at", ["_write", "_read_back", "_name"])
def test_what_fails_half_way_leaves_nothing(here: Path, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    def fail(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(artifact, at, fail)
    with pytest.raises(OSError, match="disk full"):
        save(compiled(), COMPILED / "one")
    assert list(COMPILED.iterdir()) == []


def test_what_json_does_not_have_is_told(here: Path) -> None:
    expert = compiled()
    expert.planning.warehouse.demos = [dspy.Example(question=object())]
    with pytest.raises(DataError, match="a demonstration holds a object"):
        save(expert, COMPILED / "one")
    expert = compiled()
    expert.planning.warehouse.signature = expert.planning.warehouse.signature.append("why", dspy.OutputField(), str)
    with pytest.raises(DataError, match=r"planning.warehouse was compiled to other fields.*added: why"):
        save(expert, COMPILED / "one")
    expert = compiled()
    expert.planning.another = dspy.Predict("a -> b")
    with pytest.raises(DataError, match="its class does not make: another"):
        save(expert, COMPILED / "one")
    del expert.planning.another, expert.planning.filing
    with pytest.raises(DataError, match="has lost its predictors filing"):
        save(expert, COMPILED / "one")


# Reading.


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def edit_layer(folder: Path, change: Callable[[Any], Any]) -> None:
    """Change a state, and the manifest with it, as someone would who means it."""
    edit(folder / "planning.json", change)
    digest = hashlib.sha256((folder / "planning.json").read_bytes()).hexdigest()
    edit(folder / "manifest.json", lambda m: m["layers"]["planning"].update(sha256=digest))


def fields(manifest: Any) -> Any:
    return manifest["layers"]["planning"]["predictors"]["warehouse"]["fields"]


SIGNATURES: list[tuple[str, Callable[[Any], Any], str]] = [
    ("removed", lambda m: fields(m).append({**fields(m)[-1], "name": "why"}), "removed: why"),
    ("added", lambda m: fields(m).pop(), "added: unit"),
    ("retyped", lambda m: fields(m)[12].update(type="int", shape="0"), r"retyped: task \(was int, is str\)"),
    ("renamed", lambda m: fields(m)[5].update(name="ask"), "added: question; removed: ask"),
    ("reordered", lambda m: fields(m).insert(0, fields(m).pop()), "reordered: dialect"),
]


@pytest.mark.parametrize(("change", "found"), [case[1:] for case in SIGNATURES], ids=[case[0] for case in SIGNATURES])
def test_a_signature_that_is_another_now_is_refused_by_its_fields(folder: Path, change: Any, found: str) -> None:
    assert fields(json.loads((folder / "manifest.json").read_text()))[12]["name"] == "task"
    edit(folder / "manifest.json", change)
    with pytest.raises(DataError, match=rf"the signature MakePlan of planning.warehouse is another now: .*{found}"):
        load("one")


def test_a_signature_changed_in_the_code_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same from the other side: the file is old, the code is new."""

    class WriteSelects(dspy.Signature):  # type: ignore[misc]
        """Write SELECTs."""

        schema_card: str = dspy.InputField()
        selects: str = dspy.OutputField()

    def changed(self: Any) -> None:
        super(SqlExtraction, self).__init__()
        self.write = dspy.Predict(WriteSelects)
        self.write_one = dspy.Predict(WriteSelect)

    monkeypatch.setattr(SqlExtraction, "__init__", changed)
    with pytest.raises(
        DataError, match=r"removed: knowledge; .*retyped: selects \(was list\[DataFrameFromSQL\], is str"
    ):
        load("one")


def test_a_predictor_that_is_new_in_the_code_is_as_it_stands_there(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    edit_layer(folder, lambda states: states.pop("filing"))
    edit(folder / "manifest.json", lambda m: m["layers"]["planning"]["predictors"].pop("filing"))
    planning = load("one").planning
    assert planning.warehouse.signature.instructions == TOLD
    assert planning.filing.signature.equals(MakeFilingPlan)
    assert "planning has got the predictors filing since it was compiled" in caplog.text


def test_a_predictor_that_is_gone_from_the_code_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def less(self: Any) -> None:
        super(SqlExtraction, self).__init__()
        self.write_one = dspy.Predict(WriteSelect)

    monkeypatch.setattr(SqlExtraction, "__init__", less)
    with pytest.raises(DataError, match=r"sql_extraction had the predictors \['write', 'write_one'\]"):
        load("one")


def test_other_wording_in_the_code_is_told_and_loaded(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    edit(folder / "manifest.json", lambda m: m["layers"]["planning"]["predictors"]["warehouse"].update(wording="0"))
    assert load("one").planning.warehouse.signature.instructions == TOLD
    assert "the wording of planning changed" in caplog.text


WRONG: list[tuple[str, Callable[[Path], Any], str]] = [
    ("no manifest", lambda f: (f / "manifest.json").unlink(), "no compiled program: it has no manifest.json"),
    ("no layer", lambda f: (f / "planning.json").unlink(), "planning.json is missing or cannot be read"),
    ("half a manifest", lambda f: (f / "manifest.json").write_text('{"format": 1,'), "is not a manifest of this version"),
    ("newer", lambda f: edit(f / "manifest.json", lambda m: m.update(format=2)), "format: Input should be 1"),
    ("unknown field", lambda f: edit(f / "manifest.json", lambda m: m.update(extra=1)), "extra: Extra inputs"),
    ("changed layer", lambda f: (f / "planning.json").write_text("{}"), "scores were measured on another text"),
    ("other class", lambda f: edit(f / "manifest.json", lambda m: m["layers"]["planning"].update({"class": "os.system"})), "is a os.system"),
    ("unknown layer", lambda f: edit(f / "manifest.json", lambda m: m["layers"].update(more=m["layers"]["planning"])), "has a layer more"),
    ("path in a name", lambda f: edit(f / "manifest.json", lambda m: m["layers"]["planning"].update(file="../x.json")), "String should match"),
    ("pickle beside", lambda f: (f / "planning.pkl").write_bytes(pickle.dumps({})), "planning.pkl is a pickle"),
    ("a model", lambda f: edit_layer(f, lambda s: s["filing"].update(lm={"model": "x"})), "it names a model"),
    ("unknown state", lambda f: edit_layer(f, lambda s: s["filing"].update(forward="x")), "no state of a predictor"),
    ("demos", lambda f: edit_layer(f, lambda s: s["filing"].update(demos=["x"])), "demos is no list of examples"),
    ("fields", lambda f: edit_layer(f, lambda s: s["filing"]["signature"]["fields"].pop()), "does not have the 8 fields"),
    ("predictors", lambda f: edit_layer(f, lambda s: s.pop("filing")), "holds the predictors"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "message"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_what_is_broken_is_refused(folder: Path, spoil: Callable[[Path], Any], message: str) -> None:
    spoil(folder)
    with pytest.raises(DataError, match=message):
        load("one")


class Bomb:
    """Does something when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("exploded",)


def test_a_pickle_is_refused_and_not_opened(here: Path) -> None:
    for name in ("state.pkl", "whole/program.pkl", "model/data/model.pickle"):
        path = here / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(pickle.dumps(Bomb()))
    for place in ("state.pkl", "whole", here / "model", "nowhere.pkl"):
        with pytest.raises(DataError, match="is a pickle, which runs code of whoever wrote it"):
            load(place)
    assert not (here / "exploded").exists()


def test_a_folder_of_save_program_is_refused(here: Path) -> None:
    dspy.Predict("a -> b").save(here / "whole", save_program=True)
    with pytest.raises(DataError, match=r"program.pkl is a pickle"):
        load(here / "whole")


def test_a_place_that_is_none(folder: Path) -> None:
    with pytest.raises(DataError, match=r"there is no compiled program 'nothing'.*finexpert compiled list"):
        load("nothing")
    with pytest.raises(DataError, match="give the folder that holds manifest"):
        load(folder / "planning.json")


def test_one_is_put_into_use(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="no compiled program is in use"):
        load()
    promote("one")
    assert load().planning.warehouse.signature.instructions == TOLD
    assert promoted().previous is None
    worse = decide([1.0] * 9, [0.0] * 9, [0.0], [1.0], keep_anyway=True)
    save(compiled("bad"), COMPILED / "bad", layers={"planning": Provenance(optimizer="GEPA", decision=worse)})
    with pytest.raises(ConfigurationError, match=r"the gate refused layer planning of bad.*--keep-anyway"):
        promote("bad")
    assert promoted().name == "one"
    made = promote("bad", keep_anyway=True)
    assert (made.previous, made.anyway, promoted()) == ("one", ["layer planning"], made)
    with pytest.raises(ConfigurationError, match="there is no"):
        promote("../compiled/one")


def test_options_of_a_program_give_way_to_what_a_user_set(monkeypatch: pytest.MonkeyPatch) -> None:
    from finexpert.settings import with_options

    monkeypatch.setenv("FINEXPERT_RETRIES", "1")
    found = with_options(Settings(), {"drafts": False, "retries": 5})
    assert (found.drafts, found.retries) == (False, 1)
