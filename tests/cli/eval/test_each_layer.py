"""`finexpert eval layers`: scores before and with a program, one model or several, and going on after an interruption."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.layers import examples as layer_examples
from finexpert.datasets.layers.records import SqlExtractionExample
from finexpert.errors import ModelUnreachable
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.compiling.trial import with_states
from finexpert.optimizers.program.artifact import save, states_of
from finexpert.optimizers.program.manifest import ChosenOptions
from finexpert.settings import Settings

MARK = "Write each SELECT with care."
SMALL = ("eval", "layers", "sql_extraction", "--holdout", "4", "--threads", "1")


@pytest.fixture
def program(home: Path) -> FinancialExpert:
    """A program `careful` under runs/compiled, whose SQL extraction has other instructions."""
    expert = FinancialExpert()
    states = {place: dict(state) for place, state in states_of(expert.sql_extraction).items()}
    states["write"]["signature"] = {**states["write"]["signature"], "instructions": MARK}
    expert.sql_extraction = with_states(expert.sql_extraction, states)
    save(expert, Path("runs") / "compiled" / "careful", options=ChosenOptions(drafts=False))
    return expert


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Every model named is right about SQL where it is told to be careful; `until` calls are answered."""
    from finexpert.language_models.roles import LanguageModels
    from finexpert.language_models.scripted import ScriptedModel

    records = layer_examples.load("sql_extraction")
    by_question = {record.question: record for record in records if isinstance(record, SqlExtractionExample)}

    def use(until: int = 1000) -> list[str]:
        asked: list[str] = []

        def answer(name: str, messages: list[dict[str, str]]) -> str:
            if len(asked) == until:
                raise ModelUnreachable("the connection is lost")
            asked.append(name)
            record = next(record for question, record in by_question.items() if question in messages[-1]["content"])
            right = MARK in messages[0]["content"] and name != "weak"
            selects = [
                {"df_name": f.name, "df_columns": [*f.columns], "select_query": f.select if right else "SELECT 1 AS x"}
                for f in record.frames
            ]
            return f"[[ ## selects ## ]]\n{json.dumps(selects)}\n\n[[ ## completed ## ]]"

        def models(settings: Settings) -> LanguageModels:
            name = settings.lm or "scripted"
            return LanguageModels(ScriptedModel(lambda messages: answer(name, messages)), description={"model": name})

        monkeypatch.setattr(LanguageModels, "from_settings", models)
        return asked

    return use


@pytest.mark.usefixtures("tracked", "program")
def test_before_and_with_a_program(finexpert: Any, model: Any) -> None:
    asked = model()
    ran = finexpert(*SMALL, "--program", "careful", "--json", "out.json")
    assert ran.code == 0
    assert len(asked) == 8
    assert "program careful (" in ran.out
    assert "sql_extraction  4   0.200    1.000      +0.800  +0.800 to +0.800" in " ".join(ran.out.splitlines())
    assert "flipped: " in ran.out
    written = json.loads(Path("out.json").read_text())
    (row,) = written["layers"]
    assert (row["before"]["mean"], row["after"]["mean"], row["decision"]["n"]) == (pytest.approx(0.2), 1, 4)
    assert (row["calls_before"], row["calls_after"]) == (1, 1)
    assert sorted(tuple(pair) for pair in row["scores"].values()) == [(pytest.approx(0.2), 1.0)] * 4
    assert written["config"]["drafts"] is False
    assert list((Settings().home / "eval").iterdir()) == []

    import mlflow

    runs = mlflow.search_runs(search_all_experiments=True, output_format="list")
    parent, nested = sorted(runs, key=lambda run: "mlflow.parentRunId" in run.data.tags)
    assert nested.data.metrics["sql_extraction/difference"] == pytest.approx(0.8)
    assert parent.data.params["program"].startswith("careful (")


@pytest.mark.usefixtures("tracked", "program")
def test_several_models_make_a_transfer_table(finexpert: Any, model: Any) -> None:
    asked = model()
    ran = finexpert(*SMALL, "--program", "careful", "--lm", "strong", "--lm", "weak", "--json", "out.json")
    assert ran.code == 0
    assert asked == ["strong"] * 8 + ["weak"] * 8
    rows = json.loads(Path("out.json").read_text())["layers"]
    assert [(row["model"], row["after"]["mean"]) for row in rows] == [("strong", 1), ("weak", pytest.approx(0.2))]
    assert "sql_extraction, strong: flipped" in ran.out
    assert "sql_extraction, weak: flipped" not in ran.out


@pytest.mark.usefixtures("tracked")
def test_without_a_program_each_layer_is_asked_once(finexpert: Any, model: Any) -> None:
    asked = model()
    ran = finexpert(*SMALL)
    assert ran.code == 0
    assert len(asked) == 4
    assert "as in the code" in ran.out


@pytest.mark.usefixtures("tracked", "program")
def test_an_interruption_asks_nothing_twice(finexpert: Any, model: Any) -> None:
    model(until=5)
    assert finexpert(*SMALL, "--program", "careful").code == 1
    asked = model()
    ran = finexpert(*SMALL, "--program", "careful")
    assert ran.code == 0
    assert len(asked) == 3
    assert "going on after 5 answers" in ran.out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("panel",), 1, "there is no example set of 'panel'"),
        (("--split", "test"), 2, "'test' is none of train, val, holdout"),
        (("--program", "nothing"), 1, "there is no compiled program 'nothing'"),
    ],
)
def test_wrong_usage(finexpert: Any, model: Any, arguments: tuple[str, ...], code: int, said: str) -> None:
    model()
    ran = finexpert("eval", "layers", *arguments)
    assert ran.code == code
    assert said in " ".join(ran.err.replace("│", " ").split())


@pytest.mark.usefixtures("tracked")
def test_without_a_judge_nothing_is_asked(
    finexpert: Any, scripted: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINEXPERT_JUDGE", "false")
    prompts = scripted([])
    assert finexpert("eval", "layers", "memory_lookup", "--holdout", "6", "--json", "out.json").code == 0
    (row,) = json.loads(Path("out.json").read_text())["layers"]
    assert (row["calls_before"], prompts) == (0, [])
    assert row["before"]["mean"] > 0.3
    assert finexpert("eval", "lookup", "--split", "val", "--json", "out.json").code == 0
    summary = json.loads(Path("out.json").read_text())["summary"]
    assert (summary["calls"], summary["without_call"][2]) == (0, 1)
    assert prompts == []
