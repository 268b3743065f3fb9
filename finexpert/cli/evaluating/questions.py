"""What the evaluations share that put questions to warehouses: which are asked, and what is told of the results.

A rung is one way of asking: a step of the ladder, a mode, or a form of what is known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import typer

from finexpert.cli import common
from finexpert.cli.evaluating.report import Cell, Evaluation, Logged, Report, interval, number, right

if TYPE_CHECKING:
    from finexpert.core.answers import Usage
    from finexpert.core.reviews import Review
    from finexpert.datasets.evaluations.evaluation import Result, Summary
    from finexpert.datasets.evaluations.journal import Journal
    from finexpert.datasets.fred.evaluation import QuestionBench
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.sandbox import Sandbox
    from finexpert.settings import Settings


class Named(Protocol):
    """A question of any evaluation."""

    @property
    def id(self) -> str: ...


Q = TypeVar("Q", bound=Named)
Ask = Callable[["Journal[Result]", Callable[["Result"], None]], object]


def chosen(questions: Sequence[Q], only: str | None, option: str = "--only", where: str = "") -> list[Q]:
    """The questions whose ids an option names with commas, or all of them; an error says `where` an id was looked for."""
    if only is None:
        return list(questions)
    ids = [name.strip() for name in only.split(",")]
    if unknown := set(ids) - {q.id for q in questions}:
        raise typer.BadParameter(f"there is no question {min(unknown)!r}{where}", param_hint=option)
    return [q for q in questions if q.id in ids]


def among(names: Sequence[str | None], known: Collection[str], option: str) -> None:
    """Typer's error for the first name that is not a known one."""
    for name in names:
        if name is not None and name not in known:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(known)}", param_hint=option)


def listed(text: str) -> list[str]:
    """The names in a text with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


@contextmanager
def sandbox_of(settings: Settings) -> Iterator[Sandbox]:
    """A sandbox as the settings say."""
    from finexpert.sandbox import Limits, Sandbox

    with Sandbox(Limits(wall_seconds=settings.script_seconds), workers=settings.workers) as sandbox:
        yield sandbox


def mark_of(expert: FinancialExpert, *parts: object) -> str:
    """The mark of a run: a hash of its parts, and of the compiled program that is asked, if it is one.

    >>> from finexpert.modules.financial_expert import FinancialExpert
    >>> mark_of(FinancialExpert(), "0f3a"), mark_of(FinancialExpert(), "0f3a", 1) == mark_of(FinancialExpert(), "0f3a", 2)
    ('0f3a', False)
    """
    from finexpert.optimizers.program.fingerprints import digest

    mark = str(parts[0]) if len(parts) == 1 else digest(parts)
    return f"{mark}-{digest(common.program_words(expert))}" if hasattr(expert, "manifest") else mark


def evaluation_of(
    name: str,
    bench: QuestionBench,
    questions: Sequence[Any],
    rungs: Sequence[str],
    *,
    ask: Ask,
    repeats: int = 1,
    total: int | None = None,
    plot: Path | None = None,
    model: str = "",
    at_last: Callable[[Sequence[Result]], Sequence[str]] = lambda results: (),
) -> Evaluation[Result]:
    """The evaluation of questions on rungs; `at_last` are lines below all others, `total` what is asked if not everything is.

    `model` is its name in a comparison.
    """
    from finexpert.datasets.evaluations.evaluation import Result
    from finexpert.datasets.fred import evaluation

    params = _params(bench, questions, rungs, repeats)
    return Evaluation(
        name=name,
        settings=bench.settings,
        kind=Result,
        mark=mark_of(bench.expert, evaluation.fingerprint(bench, questions, rungs, repeats)),
        params=params,
        total=total or len(questions) * len(rungs) * repeats,
        ask=ask,
        report=lambda results: _report(name, bench, rungs, params, results, model, at_last(results)),
        plot=plot,
    )


def _params(bench: QuestionBench, questions: Sequence[Any], rungs: Sequence[str], repeats: int) -> dict[str, object]:
    return {
        "model": common.model_words(bench.models.describe()),
        "data": bench.source.name,
        "data_snapshot": bench.source.snapshot(),
        "data_label": bench.source.label or "",
        "questions": len(questions),
        "rungs": ",".join(rungs),
        "repeats": repeats,
        "drafts": bench.settings.drafts,
        "retries": bench.settings.retries,
        "mode": bench.settings.mode,
        "privacy": bench.settings.privacy,
        "taught": bench.taught.fingerprint() if bench.taught else "",
        "program": common.program_words(bench.expert),
    }


def _report(
    name: str,
    bench: QuestionBench,
    rungs: Sequence[str],
    params: Mapping[str, Any],
    results: Sequence[Result],
    way: str,
    at_last: Sequence[str],
) -> Report:
    from finexpert.datasets.evaluations import plots
    from finexpert.datasets.evaluations.evaluation import summarise
    from finexpert.datasets.evaluations.mode_comparison import ways_of
    from finexpert.modes import MODES

    summaries = [summarise(rung, [r for r in results if r.rung == rung]) for rung in rungs]
    title, model = f"eval {name}, {params['model']}", str(params["model"])
    compared = set(rungs) <= MODES.keys()
    columns, rows = _table(summaries)
    needs = "needs: questions that rest on a definition; " if "needs" in columns else ""
    return Report(
        head=f"{model}; {bench.title}; drafts {'on' if bench.settings.drafts else 'off'}",
        columns=columns,
        rows=rows,
        notes=[line for s in summaries for line in _wrong(s)],
        dim=[
            *(
                f"{s.rung}: {s.prefix_share:.0%} of a prompt is as in the one before"
                for s in summaries
                if s.prefix_share is not None
            ),
            *(["* rows of the data reach the model: for public data only"] if "sql" in rungs else []),
            f"{needs}calls, tokens, cost and s (seconds) are means a question",
        ],
        runs=[Logged(s.rung, {"rung": s.rung}, *_kept(s, results)) for s in summaries],
        artifacts={"ladder.png": plots.ladder(summaries, title), "spread.png": plots.spread(summaries, title)},
        content={
            "rungs": {s.rung: s.model_dump(mode="json") for s in summaries},
            "results": [r.model_dump(mode="json") for r in results],
        },
        ways=ways_of(results, rungs, way or model) if compared else (),
        title=f"{name}, {params['questions']} questions, {model}",
        at_last=at_last,
    )


def _table(summaries: Sequence[Summary]) -> tuple[list[str], list[list[Cell]]]:
    categories = sorted({c for s in summaries for c in s.by_category})
    priced = any(s.cost_usd is not None for s in summaries)
    needs = any(s.with_needs.n for s in summaries)
    columns = ["rung", "right", "95 %", *categories, *(["needs"] if needs else []), "calls", "tokens"]
    rows = [
        [
            Cell(s.rung, s.rung + ("*" if s.rung == "sql" else "")),
            right(s.overall),
            interval(s.overall),
            *(right(s.by_category.get(category)) for category in categories),
            *([right(s.with_needs)] if needs else []),
            number(s.calls, ".2f"),
            number(s.prompt_tokens + s.completion_tokens, ",.0f"),
            *([Cell(s.cost_usd, "?" if s.cost_usd is None else f"${s.cost_usd:.4f}")] if priced else []),
            number(s.seconds, ".1f"),
        ]
        for s in summaries
    ]
    return [*columns, *(["cost"] if priced else []), "s"], rows


def _wrong(s: Summary) -> list[str]:
    if not s.wrong:
        return []
    kinds = ", ".join(f"{name} ({count})" for name, count in s.failures.items())
    return [f"{s.rung}: not right: {', '.join(s.wrong)}", f"  by kind: {kinds}"]


def _kept(s: Summary, results: Sequence[Result]) -> tuple[dict[str, float | None], dict[str, Any]]:
    """What MLflow keeps of a rung: metrics, and its results."""
    rows = [r for r in results if r.rung == s.rung]
    metrics: dict[str, float | None] = {
        "accuracy": s.overall.share,
        "accuracy_low": s.overall.low,
        "accuracy_high": s.overall.high,
        **{f"accuracy/{name}": part.share for name, part in s.by_category.items()},
        "accuracy/with_needs": s.with_needs.share,
        "accuracy/without_needs": s.without_needs.share,
        **{f"failures/{name}": count for name, count in s.failures.items()},
        "calls_per_question": s.calls,
        "prompt_tokens_per_question": s.prompt_tokens,
        "completion_tokens_per_question": s.completion_tokens,
        "cost_usd_per_question": s.cost_usd,
        "seconds_per_question": s.seconds,
        "outside_model_seconds_per_question": s.outside_model_seconds,
        **stage_metrics([r.review for r in rows if r.review], [r.usage for r in rows]),
    }
    return metrics, {"questions.json": [r.model_dump(mode="json") | {"verdict": r.verdict} for r in rows]}


def stage_metrics(reviews: Sequence[Review], usages: Sequence[Usage]) -> dict[str, float | None]:
    """How reviews and their stages ended ("review/agreed", "review/revision: done", "review/calculation_critic: budget"),
    and calls and seconds of each stage, as means a question.
    """
    from collections import Counter

    stages = [f"{stage.name}: {stage.ending}" for review in reviews for stage in review.stages]
    counts = Counter([*(review.agreement for review in reviews), *stages])
    calls, seconds, n = Counter[str](), dict[str, float](), max(1, len(usages))
    for usage in usages:
        calls.update(usage.by_layer)
        for name, took in usage.stages.items():
            seconds[name] = seconds.get(name, 0.0) + took
    return {
        **{f"review/{name}": count for name, count in counts.items()},
        **{f"calls/{name}": count / n for name, count in calls.items()},
        **{f"stage_seconds/{name}": took / n for name, took in seconds.items()},
    }


def flips(results: Sequence[Result], before: str, after: str) -> tuple[list[str], list[str]]:
    """Questions that only the first, and only the second rung has right."""
    found = {(r.rung, r.id, r.repeat): r.correct for r in results}
    lost: list[str] = []
    won: list[str] = []
    for (rung, id, repeat), was in found.items():
        now = found.get((after, id, repeat))
        if rung == before and now is not None and was != now:
            (lost if was else won).append(id)
    return lost, won
