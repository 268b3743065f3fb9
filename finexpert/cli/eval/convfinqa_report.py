"""What `finexpert eval convfinqa` says of one model in one mode: scores, what was lost, how sure it was; as a table, for MLflow, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from finexpert.cli import common
from finexpert.cli.eval import modes as evaluate_modes

if TYPE_CHECKING:
    from rich.console import Console

    from finexpert.datasets.convfinqa.conversations import Conversation
    from finexpert.datasets.convfinqa.evaluation import Bench, ConversationResult
    from finexpert.datasets.convfinqa.scoring import Share, Summary, TurnResult
    from finexpert.datasets.evaluations.mode_comparison import Way


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


def of(bench: Bench, mode: str, results: Sequence[Any], conversations: Sequence[Conversation]) -> Report:
    """The report of one model in one mode."""
    from finexpert.datasets.convfinqa.evaluation import BASELINE

    chosen = [r for r in results if r.mode == mode and r.model == bench.model]
    # Modes of the program share their plans: only the baseline and the program are two ways of answering.
    beside = [r for r in results if (r.mode == BASELINE) != (mode == BASELINE) and r.model == bench.model]
    return Report(bench.model, mode, chosen, conversations, beside)


def log(report: Report) -> None:
    """Log a report as a run within the open one."""
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


def show(reports: Sequence[Report], about: dict[str, Any]) -> None:
    """Print one table with a row a model and mode, and what each of them lost."""
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
