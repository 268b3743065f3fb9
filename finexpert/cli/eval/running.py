"""Running an evaluation: with a progress bar, inside an MLflow run, told as one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import typer

from finexpert.cli import common
from finexpert.cli.eval import modes as evaluate_modes

if TYPE_CHECKING:
    from finexpert.datasets.evaluations.evaluation import Journal, Result, Summary
    from finexpert.datasets.fred.evaluation import Bench
    from finexpert.language_models.budget import Budget


class Named(Protocol):
    """A question of any evaluation."""

    @property
    def id(self) -> str: ...


Q = TypeVar("Q", bound=Named)


def chosen(questions: Sequence[Q], only: str | None, option: str = "--only", where: str = "") -> list[Q]:
    """The questions whose ids an option names with commas, or all of them; an error says `where` an id was looked for."""
    if only is None:
        return list(questions)
    ids = [name.strip() for name in only.split(",")]
    if unknown := set(ids) - {q.id for q in questions}:
        raise typer.BadParameter(f"there is no question {min(unknown)!r}{where}", param_hint=option)
    return [q for q in questions if q.id in ids]


Evaluation = Callable[["Journal[Result]", Callable[["Result"], None]], "list[Result]"]


def run(
    bench: Bench,
    questions: Sequence[Any],
    rungs: Sequence[str],
    *,
    repeats: int = 1,
    threads: int,
    fresh: bool,
    json_out: Path | None,
    name: str = "fred",
    total: int | None = None,
    evaluate: Evaluation | None = None,
    plot: Path | None = None,
    budget: Budget | None = None,
) -> list[Result]:
    """Evaluate with a progress bar, inside an MLflow run; the journal goes when all is told.

    `evaluate` is how the questions are asked, where it is not every question on every rung; `total` how many that are.
    Where the run's `budget` ends, that of the settings if none is given, what was measured is told, and the journal
    stays.
    """
    from finexpert.cli.eval.resumable import ResumableRun, mark_of
    from finexpert.datasets.evaluations.evaluation import Result, summarise
    from finexpert.datasets.evaluations.mode_comparison import ways_of
    from finexpert.datasets.fred import evaluation
    from finexpert.modes import MODES

    mark = mark_of(bench.expert, evaluation.fingerprint(bench, questions, rungs, repeats))
    going = ResumableRun(name, mark, Result, bench.settings, fresh=fresh)
    params = _params(bench, questions, rungs, repeats)
    ask = evaluate or (
        lambda journal, told: evaluation.evaluate(
            bench, questions, rungs, journal, repeats=repeats, threads=threads, on_result=told
        )
    )
    total = total or len(questions) * len(rungs) * repeats
    compared = None
    with going.tracked(params, total, ask, budget=budget) as results:
        summaries = [summarise(rung, [r for r in results if r.rung == rung]) for rung in rungs]
        _log(summaries, results, params, name)
        if set(rungs) <= MODES.keys() and len(rungs) > 1:
            title = f"{name}, {len(questions)} questions, {params['model']}"
            ways = ways_of(results, rungs, str(params["model"]))
            compared = evaluate_modes.tell(ways, title, plot) if len(ways) > 1 else None
    content = {
        "config": params,
        "rungs": {s.rung: s.model_dump(mode="json") for s in summaries},
        "results": [r.model_dump(mode="json") for r in results],
    }
    going.write(json_out, content | ({"comparison": compared} if compared else {}))
    _print(summaries, bench)
    going.tell()
    _print_flips(results, rungs)
    return results


def _print_flips(results: Sequence[Result], rungs: Sequence[str]) -> None:
    """What memory changed, question by question."""
    before, after = "+retries", "+memory"
    if not {before, after} <= set(rungs):
        return
    lost, won = evaluate_modes.flips(results, before, after)
    out = common.console()
    out.print(f"{after} lost against {before}: {', '.join(lost) or 'nothing'}", soft_wrap=True, markup=False)
    out.print(f"{after} won: {', '.join(won) or 'nothing'}", soft_wrap=True, markup=False)


def _params(bench: Bench, questions: Sequence[Any], rungs: Sequence[str], repeats: int) -> dict[str, object]:
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


def _log(summaries: Sequence[Summary], results: Sequence[Result], params: dict[str, object], name: str) -> None:
    from finexpert import tracking
    from finexpert.datasets.evaluations import plots

    title = f"eval {name}, {params['model']}"
    tracking.log({}, {"ladder.png": plots.ladder(summaries, title), "spread.png": plots.spread(summaries, title)})
    for summary in summaries:
        rows = [r for r in results if r.rung == summary.rung]
        with tracking.run(summary.rung, parent=False, params=params | {"rung": summary.rung}):
            metrics: dict[str, float | None] = {
                "accuracy": summary.overall.share,
                "accuracy_low": summary.overall.low,
                "accuracy_high": summary.overall.high,
                **{f"accuracy/{name}": s.share for name, s in summary.by_category.items()},
                "accuracy/with_needs": summary.with_needs.share,
                "accuracy/without_needs": summary.without_needs.share,
                **{f"failures/{name}": count for name, count in summary.failures.items()},
                "calls_per_question": summary.calls,
                "prompt_tokens_per_question": summary.prompt_tokens,
                "completion_tokens_per_question": summary.completion_tokens,
                "cost_usd_per_question": summary.cost_usd,
                "seconds_per_question": summary.seconds,
                "outside_model_seconds_per_question": summary.outside_model_seconds,
            }
            metrics |= evaluate_modes.stage_metrics([r.review for r in rows if r.review], [r.usage for r in rows])
            table = [r.model_dump(mode="json") | {"verdict": r.verdict} for r in rows]
            tracking.log(metrics, {"questions.json": table})


def _print(summaries: Sequence[Summary], bench: Bench) -> None:
    from rich import box
    from rich.table import Table

    out = common.console()
    drafts = "on" if bench.settings.drafts else "off"
    model = common.model_words(bench.models.describe())
    out.print(f"{model}; {bench.title}; drafts {drafts}", soft_wrap=True, markup=False)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    categories = sorted({c for s in summaries for c in s.by_category})
    priced = any(s.cost_usd is not None for s in summaries)
    needs = ["needs"] if any(s.with_needs.n for s in summaries) else []
    columns = ["rung", "right", "95 %", *categories, *needs, "calls", "tokens", *(["cost"] if priced else []), "s"]
    for name in columns:
        table.add_column(name, justify="left" if name == "rung" else "right", no_wrap=True)
    for s in summaries:
        parts = [s.by_category.get(c) for c in categories] + [s.with_needs for _ in needs]
        table.add_row(
            s.rung + ("*" if s.rung == "sql" else ""),
            f"{s.overall.right}/{s.overall.n}",
            f"{s.overall.low:.0%}-{s.overall.high:.0%}",
            *[f"{p.right}/{p.n}" if p else "" for p in parts],
            f"{s.calls:.2f}",
            f"{s.prompt_tokens + s.completion_tokens:,.0f}",
            *([("?" if s.cost_usd is None else f"${s.cost_usd:.4f}")] if priced else []),
            f"{s.seconds:.1f}",
        )
    out.print(table)
    for s in summaries:
        if s.wrong:
            kinds = ", ".join(f"{name} ({count})" for name, count in s.failures.items())
            out.print(f"{s.rung}: not right: {', '.join(s.wrong)}", soft_wrap=True, markup=False)
            out.print(f"  by kind: {kinds}", soft_wrap=True, markup=False)
    for s in summaries:
        if s.prefix_share is not None:
            out.print(f"{s.rung}: {s.prefix_share:.0%} of a prompt is as in the one before", style="dim")
    if any(s.rung == "sql" for s in summaries):
        out.print("* rows of the data reach the model: for public data only", style="dim")
    about = "needs: questions that rest on a definition; " if needs else ""
    out.print(f"{about}calls, tokens, cost and s (seconds) are means a question", style="dim")
