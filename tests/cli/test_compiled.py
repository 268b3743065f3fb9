"""`finexpert compiled` and `finexpert log-model`: what is told of programs, and which one is in use."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import dspy
import pytest
import typer

from finexpert.cli import main
from finexpert.cli.compile.log_model import log_model
from finexpert.cli.compiled import compiled_app
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.optimizers.compiling.gate import decide, score
from finexpert.optimizers.program.artifact import COMPILED, save
from finexpert.optimizers.program.loading import load, promoted
from finexpert.optimizers.program.manifest import BeforeAfter, ChosenOptions, Combined, Provenance

WORDS = ("compiled", "log-model")


@pytest.fixture
def run(finexpert: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs one of the two commands, also where the others are not at hand."""
    app = typer.Typer()
    app.add_typer(compiled_app, name=WORDS[0])
    app.command(WORDS[1])(log_model)
    monkeypatch.setattr(main, "app", app)
    return finexpert


def planner(instruction: str, demos: int = 0) -> FinancialExpert:
    expert = FinancialExpert()
    predictor = expert.planning.warehouse
    predictor.signature = predictor.signature.with_instructions(instruction)
    predictor.demos = [dspy.Example(question=f"question {n}", task="1. count") for n in range(demos)]
    return expert


def how(after: list[float], **more: Any) -> Provenance:
    before = [0.0, 0.0, 1.0, 1.0]
    ids = ["gdp", "cpi", "debt", "[red]rate"]
    decision = decide(before, after, [0.0], [1.0], ids=ids, **more)
    scores = {"holdout": BeforeAfter(before=score(before), after=score(after))}
    return Provenance(optimizer="GEPA", arguments={"seed": 1}, model="openai/m", scores=scores, decision=decision)


@pytest.fixture
def programs(home: Path) -> None:
    """One that passed the gate, one that did not, and one that is broken."""
    options = ChosenOptions(drafts=False)
    good = how([1.0, 1.0, 1.0, 1.0])
    combined = Combined(sample="30 FRED questions", scores=good.scores["holdout"], decision=good.decision)  # type: ignore[arg-type]
    evidence = {"drafts": good.decision}
    save(
        planner("Plan well.", demos=2), COMPILED / "good", layers={"planning": good}, options=options,
        evidence=evidence, combined=[combined],
    )  # fmt: skip
    save(planner("Plan."), COMPILED / "bad", layers={"planning": how([0.0, 0.0, 0.0, 0.0], keep_anyway=True)})
    (COMPILED / "broken").mkdir()
    (COMPILED / ".half.part").mkdir()


def test_nothing_is_compiled(run: Any) -> None:
    assert "nothing is compiled here" in run("compiled", "list").out
    assert run("compiled", "list", "--json").json == []


@pytest.mark.usefixtures("programs")
def test_what_there_is(run: Any) -> None:
    rows = {row["name"]: row for row in run("compiled", "list", "--json").json}
    assert set(rows) == {"good", "bad", "broken"}
    assert rows["good"] | {"created": ""} == {
        "name": "good",
        "in_use": False,
        "created": "",
        "layers": {"planning": "GEPA"},
        "models": ["openai/m"],
        "options": {"drafts": False},
        "against_the_gate": [],
        "error": None,
    }
    assert rows["bad"]["against_the_gate"] == ["layer planning"]
    assert "no compiled program: it has no manifest.json" in rows["broken"]["error"]
    shown = run("compiled", "list")
    assert shown.code == 0
    for word in ("good", "planning (GEPA)", "drafts=False", "against the gate", "unusable"):
        assert word in shown.out


@pytest.mark.usefixtures("programs")
def test_what_one_was_compiled_with(run: Any) -> None:
    shown = run("compiled", "show", "good").out
    for words in (
        "planning: GEPA, seed=1, model openai/m",
        "holdout: 0.500 (0.150 to 0.850) before, 1.000 (0.510 to 1.000) after, n=4",
        "kept: better on val by 1 (n=1) and not worse on the holdout: 0.5 (n=4)",
        "flipped: gdp 0→1, cpi 0→1",
        "n=4 is too small to tell",
        "option drafts = False: better on val",
        "the program on 30 FRED questions: 0.500 before, 1.000 after",
        "sql_extraction: as in the code",
    ):
        assert words in shown
    assert "Plan well." not in shown
    bad = run("compiled", "show", "bad").out
    assert "kept anyway: better on val by 1 (n=1), but worse on the holdout: -0.5" in bad
    assert "flipped: debt 1→0, [red]rate 1→0" in bad
    prompts = run("compiled", "show", "good", "--prompts").out
    assert "planning.warehouse\n" not in shown
    assert "Plan well." in prompts
    assert "question: question 1" in prompts
    content = run("compiled", "show", str(COMPILED / "good"), "--json").json
    assert content["layers"]["planning"]["class"] == "finexpert.modules.planning.Planning"
    missing = run("compiled", "show", "nothing")
    assert (missing.code, missing.err.split(":")[0]) == (1, "DataError")


@pytest.mark.usefixtures("programs")
def test_how_two_differ(run: Any) -> None:
    out = run("compiled", "diff", "code", "good").out
    assert out.startswith("planning.warehouse\n--- code\n+++ good\n")
    for line in ("-Plan how to answer a financial question from a database.", "+Plan well.", "+Demonstrations: 2"):
        assert line in out.splitlines()
    assert "option drafts: as set -> False" in out
    assert "planning.filing" not in out
    assert run("compiled", "diff", "bad", "bad").out == "bad and bad ask the same\n"


@pytest.mark.usefixtures("programs")
def test_one_is_put_into_use(run: Any) -> None:
    assert run("compiled", "promote", "good").out == "good is in use\n"
    assert load().planning.warehouse.signature.instructions == "Plan well."
    refused = run("compiled", "promote", "bad")
    assert refused.code == 1
    assert "the gate refused layer planning of bad" in refused.err
    anyway = run("compiled", "promote", "bad", "--keep-anyway")
    assert anyway.out == "bad is in use, in place of good\nagainst the gate: layer planning\n"
    assert (promoted().name, promoted().previous) == ("bad", "good")
    assert run("compiled", "promote", "broken").code == 1
    assert {row["name"]: row["in_use"] for row in run("compiled", "list", "--json").json}["bad"] is True
    assert "in use" in run("compiled", "list").out


def test_one_becomes_a_model(run: Any, tracked: Path, programs: None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what MLflow says of itself
        ran = run("log-model", "good", "--alias", "champion", "--requirement", "finexpert")
    assert ran.code == 0, ran.err
    first, serve, _ = ran.out.splitlines()
    assert first == f"logged models:/finexpert/1 in sqlite:///{tracked}"
    assert serve.endswith("mlflow models serve -m models:/finexpert/1 --env-manager local")
    expert = load("models:/finexpert@champion")
    assert (expert.options, expert.manifest.name) == ({"drafts": False}, "good")
    assert json.loads(run("compiled", "show", "models:/finexpert/1", "--json").out)["name"] == "good"
