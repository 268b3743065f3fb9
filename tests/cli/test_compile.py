"""`finexpert compile` as a user runs it: what is printed, saved and tracked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.layers import examples as layer_examples
from finexpert.datasets.layers.records import SqlExtractionExample

SMALL = ("--train", "4", "--val", "3", "--holdout", "4", "--candidates", "1", "--threads", "1")
ALONE = (*SMALL, "--no-end-to-end")


@pytest.fixture
def model(scripted: Any) -> Callable[[bool], list[str]]:
    """Has SQL extraction answered right on what has this in its prompt, and everything else with nothing."""
    records = layer_examples.load("sql_extraction")
    by_question = {record.question: record for record in records if isinstance(record, SqlExtractionExample)}

    def use(helps: bool) -> list[str]:
        seen: list[int] = []

        def answer(prompt: str) -> str:
            # As it stands, the layer is asked about 3 examples of val and 4 of the holdout, and then with demonstrations.
            seen.append(1)
            record = next((r for question, r in by_question.items() if question in prompt), None)
            if record is None:
                return "I do not know"
            right = helps and len(seen) > 7
            selects = [
                {"df_name": f.name, "df_columns": [*f.columns], "select_query": f.select if right else "SELECT 1 AS x"}
                for f in record.frames
            ]
            return f"[[ ## selects ## ]]\n{json.dumps(selects)}\n\n[[ ## completed ## ]]"

        prompts: list[str] = scripted(answer)
        return prompts

    return use


@pytest.mark.usefixtures("tracked")
def test_what_is_better_is_saved_and_can_be_promoted(finexpert: Any, model: Any, own_home: Path) -> None:
    model(True)
    ran = finexpert("compile", "sql_extraction", "--name", "better", *ALONE)
    assert ran.code == 0
    for said in (
        "sql_extraction: labeled, 4 to learn from, 3 to choose by, 4 to judge by",
        "as it stands: 0.200 on val",
        "labeled 1: 1.000 on val (best 1.000)",
        "kept: better on val by 0.8 (n=3) and not worse on the holdout: 0.8 (n=4)",
        "difference +0.800",
        "flipped: ",
        "14 calls",
        "saved compiled/better: sql_extraction",
    ):
        assert said in ran.out
    assert finexpert("compiled", "promote", "better").code == 0
    assert "labeled" in finexpert("compiled", "show", "better").out
    assert list((own_home / "compile").iterdir()) == []

    import mlflow

    runs = mlflow.search_runs(search_all_experiments=True, output_format="list")
    parent, layer = sorted(runs, key=lambda run: "mlflow.parentRunId" in run.data.tags)
    assert layer.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert layer.data.metrics["holdout/after"] == 1
    client = mlflow.MlflowClient()
    assert {"prompt/write.txt", "prompt/write.diff.txt", "prompt/write_one.txt"} == {
        file.path for file in client.list_artifacts(layer.info.run_id, "prompt")
    }
    assert len(client.list_artifacts(layer.info.run_id, "candidates")) == 2
    shown = finexpert("compiled", "show", f"runs:/{parent.info.run_id}/compiled", "--json")
    assert shown.json["layers"]["sql_extraction"]["optimizer"] == "labeled"


@pytest.mark.usefixtures("tracked")
def test_what_is_not_better_is_not_saved(finexpert: Any, model: Any) -> None:
    model(False)
    ran = finexpert("compile", "sql_extraction", *ALONE)
    assert ran.code == 0
    assert "not kept: no better on val" in ran.out
    assert "nothing was proven better: no program is saved" in ran.out
    assert not (Path("runs") / "compiled").exists()


@pytest.mark.usefixtures("tracked")
def test_the_combined_program_is_judged_too(finexpert: Any, model: Any) -> None:
    model(True)
    sizes = ("--questions", "1", "--conversations", "1", "--house", "2")
    ran = finexpert("compile", "sql_extraction", *sizes, *SMALL)
    assert ran.code == 0
    assert "the program on FRED questions" in ran.out
    assert "the program on house questions" in ran.out
    # A page is read without SQL, so conversations would tell nothing.
    assert "ConvFinQA" not in ran.out
    assert "option drafts = " in ran.out
    assert "option judge = " in ran.out
    manifest = json.loads((Path("runs") / "compiled" / "compiled" / "manifest.json").read_text())
    assert [part["decision"]["n"] for part in manifest["combined"]] == [1, 2]
    assert set(manifest["options"]) > {"drafts", "judge"} == set(manifest["evidence"])


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize("anyway", [False, True])
def test_a_program_that_got_worse_is_not_saved(
    finexpert: Any, model: Any, monkeypatch: pytest.MonkeyPatch, anyway: bool
) -> None:
    model(True)

    def ask(self: Any, way: Any) -> Any:
        return lambda id: float(way.name == "before")

    monkeypatch.setattr("finexpert.optimizers.compiling.whole_program.Whole._fred", ask)
    sizes = ("--questions", "4", "--conversations", "0", "--house", "0")
    ran = finexpert("compile", "sql_extraction", *sizes, *SMALL, *(["--keep-anyway"] if anyway else []))
    assert ran.code == 0
    assert (Path("runs") / "compiled" / "compiled").exists() == anyway
    if anyway:
        assert "the combined program got worse: it can be loaded, and is not promoted" in ran.out
    else:
        assert "sql_extraction is left out: the combined program is worse, on FRED questions" in ran.out
        assert "the combined program got worse: no program is saved; --keep-anyway saves it" in ran.out


@pytest.mark.usefixtures("tracked")
def test_a_budget_that_ends_is_told(finexpert: Any, model: Any) -> None:
    prompts = model(True)
    ran = finexpert("compile", "sql_extraction", "--budget", "calls=5", *ALONE)
    assert ran.code == 0
    assert len(prompts) == 5
    assert "not kept: the budget ended before the gate could judge: 5 of 5 calls; give more with --budget" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--optimizer", "copro"), "'copro' is none of labeled"),
        (("--budget", "call=1"), "'call' is none of calls"),
        (("panel",), "there is no example set of 'panel'"),
        (("--base", "nothing"), "there is no compiled program 'nothing'"),
    ],
)
def test_wrong_usage(finexpert: Any, model: Any, arguments: tuple[str, ...], said: str) -> None:
    model(True)
    ran = finexpert("compile", *arguments)
    assert ran.code == 1
    assert said in ran.err
