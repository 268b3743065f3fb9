"""A compile that can be trusted: the gate, the budget, and what is left after an interruption."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.layers import examples as layer_examples
from finexpert.errors import ConfigurationError, ModelUnreachable
from finexpert.language_models.limits import SpendingLimits
from finexpert.language_models.roles import LanguageModels
from finexpert.optimizers.compiling.compile_run import CompilePlan, CompileRun, Roles
from finexpert.optimizers.compiling.gate import not_worse
from finexpert.optimizers.compiling.tasks import CompileBench, task_of
from finexpert.optimizers.compiling.whole_gate import WholeVerdict, without_demonstrations
from finexpert.optimizers.program.artifact import layers_of, states_of
from finexpert.optimizers.program.loading import load

LAYER = "sql_extraction"
SMALL = {"train": 4, "val": 3, "holdout": 4, "candidates": 2, "end_to_end": False}
SPLIT = {record.question: record.split for record in layer_examples.load(LAYER)}


OPTUNA = pytest.mark.skipif(find_spec("optuna") is None, reason="MIPROv2 needs optuna, which is not installed")


def with_demos(question: str, messages: Any) -> bool:
    return len(messages) > 2


def helped(question: str, messages: Any) -> bool:
    return len(messages) > 2 or "Name every window." in messages[0]["content"]


@pytest.fixture
def run(bench: CompileBench, tmp_path: Path) -> Callable[..., CompileRun]:
    def made(model: Any, **plan: Any) -> CompileRun:
        models = LanguageModels(model)
        fresh = CompileBench(bench.sandbox, bench.settings, bench.folder)
        chosen = CompilePlan(**({"layers": (LAYER,)} | SMALL | plan))
        return CompileRun(fresh, Roles(models, models, models), chosen, tmp_path / "compile", plan.get("threads", 1))

    return made


def test_a_better_candidate_passes(run: Any, extractor: Any, tmp_path: Path) -> None:
    made = run(extractor(with_demos))
    outcome = made.layer(LAYER)
    assert outcome.kept
    assert outcome.why.startswith("kept: better on val by 0.8 (n=3) and not worse on the holdout: 0.8 (n=4)")
    assert (outcome.scores["holdout"].before.mean, outcome.scores["holdout"].after.mean) == (0.2, 1.0)
    saved = load(made.save(tmp_path / "better"))
    assert states_of(saved.sql_extraction) == outcome.states
    entry = saved.manifest.layers[LAYER]
    assert (entry.optimizer, entry.arguments["holdout"], entry.model) == ("labeled", 4, "scripted")
    assert entry.arguments["calls"] == 3 + 4 + 2 * 3 + 4
    assert saved.manifest.refused == []


@pytest.mark.parametrize(
    ("right", "why"),
    [
        (lambda question, messages: len(messages) == 2, "no better on val: 1 before and after"),
        (lambda question, messages: True, "no better on val: 1 before and after"),
        (lambda question, messages: False, "no better on val: 0.2 before and after"),
        (
            lambda question, messages: (len(messages) > 2) == (SPLIT[question] != "holdout"),
            "better on val by 0.8 (n=3), but worse on the holdout: -0.8",
        ),
    ],
    ids=["worse", "tie", "tie at the bottom", "better on val alone"],
)
def test_what_is_not_better_is_kept_out(run: Any, extractor: Any, right: Any, why: str) -> None:
    made = run(extractor(right))
    outcome = made.layer(LAYER)
    assert not outcome.kept
    assert outcome.decision.reason.startswith(why)
    assert states_of(layers_of(made.expert)[LAYER]) == states_of(layers_of(made.before)[LAYER])
    assert made.kept == []


def test_kept_anyway_is_said_for_good(run: Any, extractor: Any, tmp_path: Path) -> None:
    def right(question: str, messages: Any) -> bool:
        return (len(messages) > 2) == (SPLIT[question] != "holdout")

    made = run(extractor(right), keep_anyway=True)
    assert made.layer(LAYER).kept
    assert load(made.save(tmp_path / "worse")).manifest.refused == [f"layer {LAYER}"]


@pytest.mark.parametrize(
    ("recipe", "calls"),
    [("labeled", n) for n in range(21)] + [(name, n) for name in ("bootstrap", "gepa") for n in (6, 13, 17)],
)
def test_the_budget_is_never_overrun(run: Any, extractor: Any, recipe: str, calls: int) -> None:
    model = extractor(with_demos)
    outcome = run(model, recipe=recipe, limits=SpendingLimits(calls=calls)).layer(LAYER)
    assert len(model.prompts) <= calls
    assert outcome.spent.calls == len(model.prompts)
    # 3 of val and 4 of the holdout as it stands, 4 of the holdout for the gate: less decides nothing.
    assert (outcome.decision is not None) == (calls >= 7)
    if recipe == "labeled":
        assert outcome.kept == (calls >= 7 + 3 + 4)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("calls", [1, 9, 16, 25])
def test_layers_share_the_budget(run: Any, extractor: Any, calls: int, threads: int) -> None:
    model = extractor(with_demos)
    made = run(model, limits=SpendingLimits(calls=calls), layers=(LAYER, LAYER), candidates=1)
    made.threads = threads
    first, second = made.layer(LAYER), made.layer(LAYER)
    assert first.spent.calls <= -(-calls // 2)
    assert first.spent.calls + second.spent.calls >= len(model.prompts)
    assert len(model.prompts) <= calls


class Failing:
    """Raises at the kth call, as a lost connection would."""

    def __init__(self, right: Any, at: int) -> None:
        self.right, self.left = right, at

    def __call__(self, question: str, messages: Any) -> bool:
        self.left -= 1
        if self.left == 0:
            raise ModelUnreachable("the connection is lost")
        return bool(self.right(question, messages))


def told(made: CompileRun, outcome: Any) -> Any:
    lines = [json.loads(line) for line in (made.folder / f"{LAYER}.jsonl").read_text().splitlines()]
    scores = {(line["program"], line["split"], line["id"]): line["score"] for line in lines if line["kind"] == "scored"}
    tried = [(candidate.name, candidate.scores) for candidate in outcome.tried]
    return outcome.states, outcome.decision.model_dump(), tried, scores


@pytest.mark.parametrize("recipe", ["labeled", "bootstrap", "gepa"])
@pytest.mark.parametrize("limits", [SpendingLimits(), SpendingLimits(calls=14)], ids=["free", "tight"])
def test_interrupted_and_resumed_is_as_uninterrupted(
    run: Any, extractor: Any, recipe: str, limits: SpendingLimits
) -> None:
    counting = Failing(with_demos, 0)
    whole = run(extractor(counting), recipe=recipe, limits=limits)
    expected = told(whole, whole.layer(LAYER))
    for at in sorted({1, 5, 9, -counting.left}):
        whole.forget()
        first = run(extractor(Failing(with_demos, at)), recipe=recipe, limits=limits)
        with pytest.raises(ModelUnreachable):
            first.layer(LAYER)
        assert at == 1 or first.found
        resumed = run(extractor(with_demos), recipe=recipe, limits=limits)
        assert told(resumed, resumed.layer(LAYER)) == expected


@OPTUNA
def test_miprov2_is_resumed_too(run: Any, extractor: Any) -> None:
    test_no_recipe_asks_a_model_twice(run, extractor, "miprov2")


@pytest.mark.parametrize("recipe", ["labeled", "bootstrap", "bootstrap-random-search", "gepa"])
def test_no_recipe_asks_a_model_twice(run: Any, extractor: Any, recipe: str) -> None:
    counting = Failing(helped, 0)
    whole = run(extractor(counting), recipe=recipe)
    expected = told(whole, whole.layer(LAYER))
    asked = len(whole.roles.student.default.prompts)
    for done in sorted({2, asked // 2, asked - 1}):
        whole.forget()
        model = extractor(lambda question, messages: True)
        answer, rest = extractor(helped), iter(range(done))
        # At the kth call of any kind, also where it words instructions.
        model.engine._answers = lambda messages, rest=rest, answer=answer: (
            answer.engine._answers(messages) if next(rest, None) is not None else unreachable()
        )
        with pytest.raises(ModelUnreachable):
            run(model, recipe=recipe).layer(LAYER)
        model = extractor(helped)
        resumed = run(model, recipe=recipe)
        assert told(resumed, resumed.layer(LAYER)) == expected
        # Fewer, where a recipe asks again what was scored before it began.
        assert len(model.prompts) <= asked - done


def unreachable() -> str:
    raise ModelUnreachable("the connection is lost")


def test_what_was_finished_is_not_asked_again(run: Any, extractor: Any) -> None:
    with pytest.raises(ModelUnreachable):
        run(extractor(Failing(with_demos, 12))).layer(LAYER)
    model = extractor(with_demos)
    resumed = run(model)
    resumed.layer(LAYER)
    assert len(model.prompts) == 3 + 4 + 2 * 3 + 4 - 11
    resumed.forget()
    assert not resumed.found


@pytest.mark.parametrize("change", [{"seed": 1}, {"val": 2}, {"recipe": "bootstrap"}, {"candidates": 3}])
def test_another_plan_is_another_compile(run: Any, extractor: Any, change: dict[str, Any]) -> None:
    model = extractor(with_demos)
    assert run(model, **change).folder != run(model).folder


@pytest.fixture
def verdicts(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has the second gate say this of the program that it is given."""

    def say(**verdict: Any) -> None:
        def judge_whole(whole: Any, before: Any, after: Any, *rest: Any, **given: Any) -> WholeVerdict:
            own = {
                name: given["own"](name, without_demonstrations(states_of(layers_of(after)[name]))) for name in rest[0]
            }
            found = {name: value(own) if callable(value) else value for name, value in verdict.items()}
            return WholeVerdict(**{"expert": after, **found})

        monkeypatch.setattr("finexpert.optimizers.compiling.compile_run.judge_whole", judge_whole)

    return say


def test_a_layer_that_spoils_the_program_is_not_kept(run: Any, extractor: Any, verdicts: Any, tmp_path: Path) -> None:
    said = not_worse([1, 1], [0, 0]).model_copy(update={"reason": "the combined program is worse with it"})
    verdicts(left_out={LAYER: said})
    made = run(extractor(with_demos))
    made.layer(LAYER)
    assert made.kept == [LAYER]
    made.whole({"source": None})
    assert made.kept == []
    assert states_of(layers_of(made.expert)[LAYER]) == states_of(layers_of(made.before)[LAYER])
    manifest = load(made.save(tmp_path / "without")).manifest
    assert manifest.layers[LAYER].optimizer is None
    assert manifest.layers[LAYER].left_out == said
    assert manifest.refused == []


def test_scores_of_a_layer_without_demonstrations_are_its_own(
    run: Any, extractor: Any, verdicts: Any, tmp_path: Path
) -> None:
    verdicts(instructions_only=lambda own: own)
    made = run(extractor(with_demos))
    made.layer(LAYER)
    verdict = made.whole({"source": None})
    assert verdict.instructions_only[LAYER] == {"val": ([1] * 3, [0.2] * 3), "holdout": ([1] * 4, [0.2] * 4)}
    entry = load(made.save(tmp_path / "plain")).manifest.layers[LAYER]
    assert {split: scores.after.mean for split, scores in entry.scores.items()} == pytest.approx(
        {"val": 0.2, "holdout": 0.2}
    )
    assert entry.arguments["demonstrations"] == 0


def test_unknown_layers_and_budgets(run: Any, extractor: Any) -> None:
    with pytest.raises(ConfigurationError, match="there is no example set of 'panel'"):
        run(extractor(with_demos), layers=("panel",))
    for text, said in (("call=3", "'call' is none of calls"), ("calls=x", "not of the form"), ("usd=-1", "no amount")):
        with pytest.raises(ConfigurationError, match=said):
            SpendingLimits.parse(text)


def test_samples_take_the_scenarios_in_turn(bench: CompileBench) -> None:
    task = task_of("planning", bench)
    few = task.load("train", 4)
    assert {type(record).__name__ for record in few} == {"FilingExample", "PlanningExample"}
    assert [record.id for record in few] == [record.id for record in task.load("train", 8)][:4]
    assert [record.id for record in few] != [record.id for record in task.load("train", 4, seed=1)]
