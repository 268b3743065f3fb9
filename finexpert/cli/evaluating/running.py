"""Runs an evaluation: inside an MLflow run, within its budget, going on where an interrupted one stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from finexpert.cli.evaluating.report import Asked, Evaluation, Finished, R, Report
from finexpert.language_models.budget import Budget, Ended, ended_by
from finexpert.settings import Settings

if TYPE_CHECKING:
    from finexpert.datasets.evaluations.journal import Engine

# The engine of an evaluation, and of which of several it is; None for threads.
EngineOf = Callable[[Evaluation[Any], int], "Engine | None"]


class Screen(Protocol):
    """Where a run is told."""

    def say(self, line: str) -> None: ...

    def progress(self, unit: str, total: int) -> AbstractContextManager[Callable[[int], None]]: ...

    def show(self, finished: Finished) -> None: ...


class Silent:
    """Tells nobody."""

    def say(self, line: str) -> None:
        pass

    @contextmanager
    def progress(self, unit: str, total: int) -> Iterator[Callable[[int], None]]:
        yield lambda done: None

    def show(self, finished: Finished) -> None:
        pass


def run(
    asked: Asked,
    *,
    screen: Screen,
    fresh: bool = False,
    json_out: Path | None = None,
    engine: EngineOf = lambda evaluation, number: None,
) -> list[Report]:
    """Run an evaluation, or several and compare them; `json_out` takes what came out.

    Where the budget of the run ends, what was measured is told, and its results stay for the next run.
    """
    from finexpert.datasets.evaluations.evaluation import write_json

    if asked is None:
        return []
    if isinstance(asked, Evaluation):
        budget = Budget.of(asked.settings, "run")
        return [_run(asked, budget, screen, fresh, json_out, engine(asked, 0))]
    budget = Budget.of(asked.evaluations[0].settings, "run")
    reports = [
        _run(each, budget, screen, fresh, None, engine(each, number)) for number, each in enumerate(asked.evaluations)
    ]
    settings = asked.evaluations[0].settings
    together = Report(head="", ways=[way for report in reports for way in report.ways], title=asked.title)
    models = ", ".join(str(each.settings.lm) for each in asked.evaluations)
    with _tracked(asked.name, f"eval {asked.name}, several models", settings, {"models": models}) as uri:
        content = {"comparison": _compared(together, asked.plot)}
    screen.show(Finished(together, {}, uri, content, asked.plot))
    if json_out is not None:
        write_json(json_out, content)
    return reports


def _run(
    evaluation: Evaluation[R],
    budget: Budget,
    screen: Screen,
    fresh: bool,
    json_out: Path | None,
    engine: Engine | None,
) -> Report:
    from finexpert import tracking
    from finexpert.datasets.evaluations.evaluation import write_json
    from finexpert.datasets.evaluations.journal import Journal

    place = evaluation.settings.home / "eval" / f"{evaluation.name}-{evaluation.mark}.jsonl"
    if fresh:
        place.unlink(missing_ok=True)
    journal, size = Journal(place, evaluation.kind, engine), evaluation.size
    if journal.results:
        screen.say(f"going on after {len(journal.results)} {evaluation.answers} (--fresh starts over)")
    with _tracked(evaluation.name, f"eval {evaluation.name}", evaluation.settings, evaluation.params) as uri:
        with screen.progress(evaluation.unit, evaluation.total) as advance, ended_by(budget) as ended:
            advance(sum(map(size, journal.results)))
            evaluation.ask(journal, lambda result: advance(size(result)))
        measured = measured_of(sum(map(size, journal.results)), evaluation.total, budget, ended)
        report = evaluation.report(journal.results)
        tracking.log(dict(report.metrics), dict(report.artifacts))
        for logged in report.runs:
            with tracking.run(logged.name[:200], parent=False, params={**evaluation.params, **logged.params}):
                tracking.log(dict(logged.metrics), dict(logged.artifacts))
        compared = _compared(report, evaluation.plot)
    content = {"measured": measured, "config": dict(evaluation.params), **report.content}
    content |= {"comparison": compared} if compared else {}
    if json_out is not None:
        write_json(json_out, content)
    if not ended:
        place.unlink(missing_ok=True)
    screen.show(Finished(report, measured, uri, content, evaluation.plot))
    return report


@contextmanager
def _tracked(name: str, run_name: str, settings: Settings, params: Any) -> Iterator[str]:
    from finexpert import tracking

    uri = tracking.start(settings, f"finexpert eval {name}")
    with tracking.run(run_name, parent=True, params=params):
        yield uri
    tracking.finish()


def measured_of(done: int, of: int, budget: Budget, ended: Ended) -> dict[str, Any]:
    """How much of a run was done, and what of its budget was spent; logged to the active MLflow run."""
    from finexpert import tracking

    spent = budget.describe()
    numbers: dict[str, float | None] = {"measured": done, "measured_of": of, "budget_ended": float(bool(ended))}
    for name, (amount, limit) in spent.items():
        numbers |= {f"budget/{name}": amount, f"budget/{name}_limit": limit}
    tracking.log(numbers, {})
    return {"done": done, "of": of, "ended": ended.why, "budget": spent}


def _compared(report: Report, plot: Path | None) -> dict[str, Any] | None:
    """The comparison of several ways as JSON, logged to the active MLflow run and drawn into a file."""
    if len(report.ways) < 2:
        return None
    from finexpert import tracking
    from finexpert.datasets.evaluations import mode_comparison, plots

    ways = mode_comparison.named(report.ways)
    content = mode_comparison.as_json(ways)
    figure = plots.pareto([way.point for way in ways], report.title)
    metrics: dict[str, float | None] = {}
    for way in ways:
        point = way.point
        metrics[f"modes/{way.name}/accuracy"] = point.accuracy.share
        metrics |= {f"modes/{way.name}/{kind}": point.cost(kind) for kind in mode_comparison.COSTS}
    tracking.log(metrics, {"comparison.json": content, "pareto.png": figure})
    if plot is not None:
        plot.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(plot, format="png", dpi=150)
    return content
