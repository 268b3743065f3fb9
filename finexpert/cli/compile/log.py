"""What a compile leaves in MLflow: one run for the compile, one nested run a layer.

A layer's run has the scores of every candidate and its prompts, the decision with its flipped cases, and the final
prompts as text and as differences to those before.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from finexpert import tracking

if TYPE_CHECKING:
    from finexpert.language_models.usage import Meter
    from finexpert.optimizers.compiling.compile_run import CompileRun
    from finexpert.optimizers.compiling.outcome import Candidate, Outcome
    from finexpert.optimizers.compiling.whole_gate import WholeVerdict


def without_traces() -> None:
    """A compile makes thousands of calls: their traces would take longer than they did."""
    import mlflow

    mlflow.dspy.autolog(disable=True)


def params(run: CompileRun) -> dict[str, object]:
    """What the runs are called by."""
    from dataclasses import asdict

    told: dict[str, object] = dict(asdict(run.plan)) | {"limits": run.plan.limits.words()}
    roles = {role: run.roles.words(role) for role in ("student", "teacher", "reflection")}
    return told | roles | {"layers": ",".join(run.plan.layers), "drafts": run.bench.settings.drafts}


def layer(outcome: Outcome, run: CompileRun) -> None:
    """Log one layer into the open run."""
    metrics: dict[str, float | None] = {
        "kept": float(outcome.kept),
        "candidates": len(outcome.tried),
        "calls": outcome.spent.calls,
        "tokens": outcome.spent.tokens,
        "cost_usd": outcome.spent.usd,
        "minutes": outcome.seconds / 60,
    }
    for split, scores in outcome.scores.items():
        metrics |= {f"{split}/before": scores.before.mean, f"{split}/after": scores.after.mean}
    artifacts: dict[str, Any] = {
        "candidates.json": {"candidates": [_row(candidate) for candidate in outcome.tried]},
        "decision.json": outcome.decision.model_dump(mode="json") if outcome.decision else {"ended": outcome.ended},
    }
    for number, candidate in enumerate(outcome.tried):
        for place, text in _prompts(run, outcome.layer, candidate.states).items():
            artifacts[f"candidates/{number:02}-{candidate.name.replace(' ', '-')}/{place}.txt"] = text
    tracking.log(metrics, artifacts | _final(outcome, run))


def _final(outcome: Outcome, run: CompileRun) -> dict[str, str]:
    from finexpert.optimizers.program.differences import difference

    before, after = (_prompts(run, outcome.layer, states) for states in (outcome.base, outcome.states))
    found = {f"prompt/{place}.txt": text for place, text in after.items()}
    changed = {place: difference(before[place], text) for place, text in after.items() if before[place] != text}
    return found | {f"prompt/{place}.diff.txt": text for place, text in changed.items()}


def _row(candidate: Candidate) -> dict[str, Any]:
    return {"name": candidate.name, "val": candidate.mean, "scores": candidate.scores, "characters": candidate.size}


def _prompts(run: CompileRun, name: str, states: Any) -> dict[str, str]:
    from finexpert.optimizers.compiling.trial import with_states
    from finexpert.optimizers.program.artifact import layers_of, predictors_of
    from finexpert.optimizers.program.differences import prompt_text

    made = with_states(layers_of(run.before)[name], states)
    return {place: prompt_text(predictor) for place, predictor in predictors_of(made).items()}


def whole(verdict: WholeVerdict) -> None:
    """Log the combined program into the open run."""
    metrics: dict[str, float | None] = {"left_out_layers": len(verdict.left_out)}
    for part in verdict.combined:
        name = part.sample.split(" ")[0]
        metrics |= {f"{name}/before": part.scores.before.mean, f"{name}/after": part.scores.after.mean}
    content = {
        "combined": [part.model_dump(mode="json") for part in verdict.combined],
        "options": verdict.options.chosen(),
        "evidence": {name: decision.model_dump(mode="json") for name, decision in verdict.evidence.items()},
        "left_out": {name: decision.model_dump(mode="json") for name, decision in verdict.left_out.items()},
        "instructions_only": sorted(verdict.instructions_only),
        "ended": verdict.ended,
    }
    tracking.log(metrics, {"whole_program.json": content})


def total(meter: Meter, run: CompileRun) -> None:
    """Log what all of it took."""
    usage = meter.usage()
    tracking.log(
        {
            "kept_layers": len(run.kept),
            "calls": usage.calls,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "cost_usd": usage.cost_usd,
            "minutes": meter.wall_seconds / 60,
        },
        {},
    )


def artifact(folder: Path) -> None:
    """Log the saved program, so that runs:/ID/compiled loads it."""
    import mlflow

    mlflow.log_artifacts(str(folder), "compiled")
