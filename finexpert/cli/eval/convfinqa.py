"""`finexpert eval convfinqa`: whole conversations about a filing page, tracked in MLflow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from finexpert.cli import common
from finexpert.cli.eval import modes as evaluate_modes

if TYPE_CHECKING:
    from rich.console import Console

    from finexpert.datasets.convfinqa.conversations import Conversation
    from finexpert.datasets.convfinqa.evaluation import Bench, ConversationResult
    from finexpert.datasets.convfinqa.scoring import Share, Summary, TurnResult
    from finexpert.datasets.evaluations.mode_comparison import Way


def convfinqa(
    records: Annotated[
        Path | None, typer.Option(help="File of conversations; else what `finexpert data convfinqa` fetched.")
    ] = None,
    split: Annotated[str, typer.Option(help="train or dev, of the fetched files.")] = "dev",
    sample: Annotated[int | None, typer.Option(min=1, help="Draw N conversations, stratified.")] = None,
    ids: Annotated[
        str | None,
        typer.Option(
            help="File of conversation ids, one a line; or 'recorded': the 100 whose completions are packaged."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
    history: Annotated[str, typer.Option(help="own or gold: whose answers later turns build on.")] = "own",
    baseline: Annotated[
        str | None, typer.Option(help="single-call: let the model read and compute, beside the planner.")
    ] = None,
    mode: evaluate_modes.Modes = None,
    plot: evaluate_modes.Plot = None,
    demonstrations: Annotated[
        int, typer.Option(min=0, max=16, help="Show the planner the N nearest turns of the training set, with plans.")
    ] = 0,
    demonstrations_from: Annotated[
        Path | None, typer.Option(help="Training set for --demonstrations; the fetched train.json if not given.")
    ] = None,
    lm: Annotated[list[str] | None, typer.Option("--lm", help="Model; several for a comparison in one run.")] = None,
    api_base: common.ApiBase = None,
    record: common.Record = None,
    recordings: common.Recordings = None,
    budget: common.Budget = None,
    program: common.Program = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Conversations under way side by side.")] = 8,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not go on with an interrupted run.")] = False,
    predictions: Annotated[
        Path | None, typer.Option(help="Write predictions in the official leaderboard form.")
    ] = None,
    json_out: Annotated[Path | None, typer.Option("--json", help="Write configuration, summaries and turns.")] = None,
) -> None:
    """Hold the conversations of ConvFinQA; print one table; log everything to MLflow."""
    if history not in ("own", "gold"):
        raise typer.BadParameter(f"{history!r} is neither own nor gold", param_hint="--history")
    if baseline not in (None, "single-call"):
        raise typer.BadParameter(f"{baseline!r} is no baseline; there is single-call", param_hint="--baseline")
    first = common.settings_from(
        api_base=api_base, record=record, recordings=recordings, **common.budget_settings(budget, "run")
    )
    from finexpert.datasets.convfinqa import conversations as data
    from finexpert.datasets.convfinqa import evaluation
    from finexpert.datasets.convfinqa.demonstrations import Demonstrations
    from finexpert.language_models.roles import LanguageModels

    expert, first = common.program_of(program, first)
    file = records or _fetched(first.home, split)
    conversations = data.load(file)
    if ids is not None:
        conversations = data.named(conversations, None if ids == "recorded" else Path(ids))
    chosen = data.sample(conversations, sample, seed) if sample else conversations
    chooser = None
    if demonstrations:
        chooser = Demonstrations(data.load(demonstrations_from or _fetched(first.home, "train")), demonstrations)
    asked = evaluate_modes.checked(mode) if mode else [evaluation.PLANNER]
    modes = list(dict.fromkeys([*asked, *([baseline] if baseline else [])]))
    benches = []
    names: list[str | None] = [*lm] if lm else [None]
    for each in names:
        settings = first.model_copy(update={"lm": each}) if each else first
        models = LanguageModels.from_settings(settings)
        side: Literal["own", "gold"] = "gold" if history == "gold" else "own"
        name = "recorded" if models.replaying else str(models.describe()["model"])
        benches.append(evaluation.Bench(models, settings, side, expert=expert, model=name, demonstrations=chooser))
    about = {
        "data": str(file.name) if file else "sample pages (made-up companies)",
        "conversations": len(chosen),
        "turns": sum(len(c.turns) for c in chosen),
        "seed": seed,
        "history": history,
        "demonstrations": demonstrations,
        "modes": ",".join(modes),
        "mode": first.mode,
        "program": common.program_words(expert),
    }
    run(
        benches,
        chosen,
        modes,
        about,
        threads=threads,
        fresh=fresh,
        json_out=json_out,
        predictions=predictions,
        plot=plot,
    )


def _fetched(home: Path, split: str) -> Path | None:
    path = home / "convfinqa" / f"{split}.json"
    if path.exists():
        return path
    if split != "dev":
        raise typer.BadParameter(f"there is no {path}; get it with `finexpert data convfinqa`", param_hint="--split")
    return None


def run(
    benches: Sequence[Bench],
    conversations: Sequence[Conversation],
    modes: Sequence[str],
    about: dict[str, Any],
    *,
    threads: int,
    fresh: bool,
    json_out: Path | None,
    predictions: Path | None,
    plot: Path | None = None,
) -> None:
    """Evaluate with a progress bar, inside one MLflow run a comparison and one nested run a model and mode."""
    from finexpert import tracking
    from finexpert.datasets.convfinqa import evaluation
    from finexpert.datasets.evaluations.evaluation import Journal, write_json
    from finexpert.language_models.budget import Budget, ended_by

    budget = Budget.of(benches[0].settings, "run")
    place = benches[0].settings.home / "eval" / f"convfinqa-{_fingerprint(benches, conversations, about)}.jsonl"
    if fresh:
        place.unlink(missing_ok=True)
    journal = Journal(place, evaluation.ConversationResult)
    if journal.results:
        common.console().print(f"going on after {len(journal.results)} conversations (--fresh starts over)")
    uri = tracking.start(benches[0].settings, "finexpert eval convfinqa")
    with tracking.run("eval convfinqa", parent=True, params=about | {"models": [b.model for b in benches]}):
        total = about["turns"] * len(modes) * len(benches)
        with common.progress("turns", total) as advance, ended_by(budget) as ended:
            advance(sum(len(result.turns) for result in journal.results))
            for bench in benches:
                evaluation.evaluate(
                    bench, conversations, modes, journal, threads=threads, on_result=lambda r: advance(len(r.turns))
                )
        done = sum(len(result.turns) for result in journal.results)
        measured = evaluate_modes.measured(done, total, budget, ended)
        reports = [_report(bench, mode, journal.results, conversations) for bench in benches for mode in modes]
        for report in reports:
            _log(report)
        compared = None
        ways = [report.way for report in reports if report.results]
        if len(ways) > 1:
            title = f"ConvFinQA, {about['conversations']} conversations, {about['turns']} turns"
            compared = evaluate_modes.tell(ways, title, plot)
    tracking.finish()
    if json_out:
        content = {"config": about, "measured": measured, "reports": [report.as_json() for report in reports]}
        write_json(json_out, content | ({"comparison": compared} if compared else {}))
    if predictions:
        write_json(predictions, evaluation.predictions(reports[0].results))
    if not ended:
        place.unlink(missing_ok=True)
    _print(reports, about, uri)
    evaluate_modes.print_measured(measured)


def _fingerprint(benches: Sequence[Bench], conversations: Sequence[Conversation], about: dict[str, Any]) -> str:
    """What must be the same for an interrupted evaluation to go on."""
    from finexpert.datasets.fred.evaluation import limits_of

    content = [
        [[c.id, c.filing.fingerprint, c.turns] for c in conversations],
        [[b.models.describe(), b.settings.retries, b.knowledge, *limits_of(b.settings)] for b in benches],
        about,
    ]
    return hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()[:16]


class Report:
    """One model in one mode: results, turns for scoring, summary, and what was lost."""

    def __init__(
        self,
        model: str,
        mode: str,
        results: list[ConversationResult],
        conversations: Sequence[Conversation],
        beside: Sequence[ConversationResult] = (),
    ) -> None:
        from finexpert.datasets.convfinqa import evaluation, scoring

        tables = {c.id: c.filing.table for c in conversations}
        self.model, self.mode, self.results = model, mode, results
        self.rows: list[TurnResult] = evaluation.turn_results(results, conversations)
        self.summary: Summary = scoring.summarise(self.rows, tables=tables.__getitem__)
        self.bins, self.calibration_error = scoring.reliability(self.rows)
        self.lost = evaluation.lost(results, beside)
        turns = [turn for result in results for turn in result.turns]
        n = max(1, len(turns))
        self.calls = sum(t.usage.calls for t in turns) / n
        self.tokens = sum(t.usage.prompt_tokens + t.usage.completion_tokens for t in turns) / n
        self.outside = (
            sorted(max(0.0, t.usage.seconds - t.usage.model_seconds) for t in turns)[len(turns) // 2] if turns else 0.0
        )
        self.arithmetic_errors = evaluation.arithmetic_errors(results, conversations)

    @property
    def way(self) -> Way:
        """The report as one way of answering among others."""
        from finexpert.datasets.evaluations.mode_comparison import Way

        right = {f"{row.conversation} turn {row.turn}": row.right("close") for row in self.rows}
        return Way(self.model, self.mode, right, [turn.usage for result in self.results for turn in result.turns])

    def metrics(self) -> dict[str, float | None]:
        s = self.summary
        turns = [turn for result in self.results for turn in result.turns]
        return {
            # Without public answers there is nothing to score, and no share.
            **{f"turns_{name}": share.share for name, share in s.turns.items() if share.of},
            **{f"conversations_{name}": share.share for name, share in s.conversations.items() if share.of},
            **{f"by_turn/{turn}": share.share for turn, share in s.by_turn.items()},
            **{f"by_type/{kind}": share.share for kind, share in s.by_type.items()},
            **{f"by_steps/{steps}": share.share for steps, share in s.by_steps.items()},
            **{f"after_{name}_turn": share.share for name, share in s.given.items() if share.of},
            "execution_rate": s.answered.share if s.answered.of else None,
            "program_accuracy": s.programs.share if s.programs.of else None,
            "arithmetic_errors": self.arithmetic_errors,
            "calls_per_turn": self.calls,
            "tokens_per_turn": self.tokens,
            "seconds_outside_model_median": self.outside,
            "calibration_error": self.calibration_error if self.bins else None,
            **{f"lost/{name}": count for name, count in self.kinds().items()},
            **evaluate_modes.stage_metrics([t.review for t in turns if t.review], [t.usage for t in turns]),
        }

    def kinds(self) -> dict[str, int]:
        from collections import Counter

        return dict(Counter(str(entry["kind"]) for entry in self.lost).most_common())

    def as_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "mode": self.mode,
            "metrics": self.metrics(),
            "reliability": [vars(b) for b in self.bins],
            "lost": self.lost,
            "conversations": [r.model_dump(mode="json") for r in self.results],
        }


def _report(bench: Bench, mode: str, results: Sequence[Any], conversations: Sequence[Conversation]) -> Report:
    from finexpert.datasets.convfinqa.evaluation import BASELINE

    chosen = [r for r in results if r.mode == mode and r.model == bench.model]
    # Modes of the program share their plans: only the baseline and the program are two ways of answering.
    beside = [r for r in results if (r.mode == BASELINE) != (mode == BASELINE) and r.model == bench.model]
    return Report(bench.model, mode, chosen, conversations, beside)


def _log(report: Report) -> None:
    from finexpert import tracking
    from finexpert.datasets.convfinqa import evaluation
    from finexpert.datasets.evaluations import plots

    with tracking.run(f"{report.mode}, {report.model}"[:200], parent=False, params={"mode": report.mode}):
        artifacts: dict[str, Any] = {
            "lost.json": report.lost,
            "turns.json": [r.model_dump(mode="json") for r in report.results],
            "predictions.json": evaluation.predictions(report.results),
        }
        if report.bins:
            artifacts["reliability.json"] = [vars(b) for b in report.bins]
            artifacts["reliability.png"] = plots.reliability(report.bins, report.model)
        tracking.log(report.metrics(), artifacts)


def _percent(share: Share) -> str:
    return f"{share.share:.1%}" if share.of else "-"


def _print(reports: Sequence[Report], about: dict[str, Any], uri: str) -> None:
    from rich import box
    from rich.table import Table

    out = common.console()
    out.print(
        f"{about['data']}: {about['conversations']} conversations, {about['turns']} turns, {about['history']} history"
    )
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("model", "mode", "turns", "95 %", "strict", "lenient", "conv.", "95 %", "calls"):
        table.add_column(name, justify="left" if name in ("model", "mode") else "right", no_wrap=name != "model")
    for r in reports:
        turns, whole = r.summary.turns, r.summary.conversations["close"]
        table.add_row(
            r.model,
            r.mode,
            _percent(turns["close"]),
            _interval(turns["close"]),
            _percent(turns["strict"]),
            _percent(turns["lenient"]),
            _percent(whole),
            _interval(whole),
            f"{r.calls:.2f}",
        )
    out.print(table)
    for r in reports:
        _print_details(r, out)
    out.print(f"MLflow: {uri}", style="dim", soft_wrap=True)


def _interval(share: Share) -> str:
    return "-" if share.low is None else f"{share.low:.0%}-{share.high:.0%}"


def _print_details(report: Report, out: Console) -> None:
    turns, whole = report.summary.turns["close"], report.summary.conversations["close"]
    kinds = ", ".join(f"{name} {count}" for name, count in report.kinds().items()) or "none"
    given = "".join(f", after a {name} turn {s.share:.1%}" for name, s in report.summary.given.items() if s.of)
    out.print(
        f"{report.mode}: turns close {turns.right}/{turns.of}, conversations {whole.right}/{whole.of}{given}; "
        f"programs {_percent(report.summary.programs)}; lost turns: {kinds}; arithmetic errors {report.arithmetic_errors}; "
        f"{report.tokens:,.0f} tokens a turn; {report.outside * 1000:.1f} ms a turn outside the model (median)",
        soft_wrap=True,
    )
    for b in report.bins:
        out.print(f"  confidence {b.low}-{b.high}: {b.count} turns, said {b.confidence:.0%}, right {b.accuracy:.0%}")
