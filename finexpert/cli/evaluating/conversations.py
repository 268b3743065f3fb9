"""The evaluation of whole conversations, each by one model in one mode: scores, what was lost, how sure it was."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from finexpert.cli.evaluating.questions import stage_metrics
from finexpert.cli.evaluating.report import Cell, Evaluation, Logged, Report, number

if TYPE_CHECKING:
    from finexpert.datasets.convfinqa.conversations import Conversation
    from finexpert.datasets.convfinqa.evaluation import ConversationBench, ConversationResult
    from finexpert.datasets.convfinqa.scoring import Share
    from finexpert.datasets.evaluations.journal import Journal
    from finexpert.datasets.evaluations.mode_comparison import Way


def evaluation_of(
    benches: Sequence[ConversationBench],
    conversations: Sequence[Conversation],
    modes: Sequence[str],
    about: Mapping[str, Any],
    *,
    threads: int,
    plot: Path | None,
    predictions: Path | None,
) -> Evaluation[ConversationResult]:
    """The evaluation of conversations by every bench in every mode; `predictions` takes those of the first."""
    from finexpert.datasets.convfinqa import evaluation

    def ask(journal: Journal[ConversationResult], told: Callable[[ConversationResult], None]) -> None:
        for bench in benches:
            evaluation.evaluate(bench, conversations, modes, journal, threads=threads, on_result=told)

    return Evaluation(
        name="convfinqa",
        settings=benches[0].settings,
        kind=evaluation.ConversationResult,
        mark=_fingerprint(benches, conversations, about),
        params={**about, "models": [bench.model for bench in benches]},
        total=about["turns"] * len(modes) * len(benches),
        ask=ask,
        report=lambda results: _report(benches, conversations, modes, about, results, predictions),
        size=lambda result: len(result.turns),
        unit="turns",
        answers="conversations",
        plot=plot,
    )


def _fingerprint(
    benches: Sequence[ConversationBench], conversations: Sequence[Conversation], about: Mapping[str, Any]
) -> str:
    """What must be the same for an interrupted evaluation to go on."""
    from finexpert.datasets.fred.evaluation import limits_of

    content = [
        [[c.id, c.filing.fingerprint, c.turns] for c in conversations],
        [[b.models.describe(), b.settings.retries, b.knowledge, *limits_of(b.settings)] for b in benches],
        about,
    ]
    return hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()[:16]


def _report(
    benches: Sequence[ConversationBench],
    conversations: Sequence[Conversation],
    modes: Sequence[str],
    about: Mapping[str, Any],
    results: Sequence[ConversationResult],
    predictions: Path | None,
) -> Report:
    from finexpert.datasets.convfinqa import evaluation
    from finexpert.datasets.evaluations.evaluation import write_json

    held = [_Held(bench, mode, results, conversations) for bench in benches for mode in modes]
    if predictions:
        write_json(predictions, evaluation.predictions(held[0].results))
    return Report(
        head=f"{about['data']}: {about['conversations']} conversations, {about['turns']} turns, {about['history']} history",
        columns=("model", "mode", "turns", "95 %", "strict", "lenient", "conv.", "95 %", "calls"),
        left=2,
        rows=[each.row() for each in held],
        notes=[line for each in held for line in each.notes()],
        runs=[each.logged() for each in held],
        content={"reports": [each.as_json() for each in held]},
        ways=[each.way for each in held if each.results],
        title=f"ConvFinQA, {about['conversations']} conversations, {about['turns']} turns",
    )


class _Held:
    """One model in one mode: results, turns for scoring, summary, and what was lost."""

    def __init__(
        self,
        bench: ConversationBench,
        mode: str,
        results: Sequence[ConversationResult],
        conversations: Sequence[Conversation],
    ) -> None:
        from finexpert.datasets.convfinqa import evaluation, scoring

        mine = [r for r in results if r.model == bench.model]
        self.model, self.mode, self.results = bench.model, mode, [r for r in mine if r.mode == mode]
        # Modes of the program share their plans: only the baseline and the program are two ways of answering.
        beside = [r for r in mine if (r.mode == evaluation.BASELINE) != (mode == evaluation.BASELINE)]
        tables = {c.id: c.filing.table for c in conversations}
        self.rows = evaluation.turn_results(self.results, conversations)
        self.summary = scoring.summarise(self.rows, tables=tables.__getitem__)
        self.bins, self.calibration_error = scoring.reliability(self.rows)
        self.lost = evaluation.lost(self.results, beside)
        self.kinds = dict(Counter(str(entry["kind"]) for entry in self.lost).most_common())
        self.turns = turns = [turn for result in self.results for turn in result.turns]
        n = max(1, len(turns))
        self.calls = sum(t.usage.calls for t in turns) / n
        self.tokens = sum(t.usage.prompt_tokens + t.usage.completion_tokens for t in turns) / n
        outside = sorted(max(0.0, t.usage.seconds - t.usage.model_seconds) for t in turns)
        self.outside = outside[len(turns) // 2] if turns else 0.0
        self.arithmetic_errors = evaluation.arithmetic_errors(self.results, conversations)

    @property
    def way(self) -> Way:
        """This way of answering among others."""
        from finexpert.datasets.evaluations.mode_comparison import Way

        right = {f"{row.conversation} turn {row.turn}": row.right("close") for row in self.rows}
        return Way(self.model, self.mode, right, [turn.usage for turn in self.turns])

    def metrics(self) -> dict[str, float | None]:
        s = self.summary
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
            **{f"lost/{name}": count for name, count in self.kinds.items()},
            **stage_metrics([t.review for t in self.turns if t.review], [t.usage for t in self.turns]),
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "mode": self.mode,
            "metrics": self.metrics(),
            "reliability": [vars(b) for b in self.bins],
            "lost": self.lost,
            "conversations": [r.model_dump(mode="json") for r in self.results],
        }

    def logged(self) -> Logged:
        from finexpert.datasets.convfinqa import evaluation
        from finexpert.datasets.evaluations import plots

        artifacts: dict[str, Any] = {
            "lost.json": self.lost,
            "turns.json": [r.model_dump(mode="json") for r in self.results],
            "predictions.json": evaluation.predictions(self.results),
        }
        if self.bins:
            artifacts["reliability.json"] = [vars(b) for b in self.bins]
            artifacts["reliability.png"] = plots.reliability(self.bins, self.model)
        return Logged(f"{self.mode}, {self.model}", {"mode": self.mode}, self.metrics(), artifacts)

    def row(self) -> list[Cell]:
        turns, whole = self.summary.turns, self.summary.conversations["close"]
        shares = [
            _percent(turns["close"]),
            _interval(turns["close"]),
            _percent(turns["strict"]),
            _percent(turns["lenient"]),
        ]
        own = [Cell(self.model, self.model), Cell(self.mode, self.mode)]
        return [*own, *shares, _percent(whole), _interval(whole), number(self.calls, ".2f")]

    def notes(self) -> list[str]:
        turns, whole = self.summary.turns["close"], self.summary.conversations["close"]
        kinds = ", ".join(f"{name} {count}" for name, count in self.kinds.items()) or "none"
        given = "".join(f", after a {name} turn {s.share:.1%}" for name, s in self.summary.given.items() if s.of)
        return [
            (
                f"{self.mode}: turns close {turns.right}/{turns.of}, conversations {whole.right}/{whole.of}{given}; "
                f"programs {_percent(self.summary.programs).text}; lost turns: {kinds}; arithmetic errors "
                f"{self.arithmetic_errors}; {self.tokens:,.0f} tokens a turn; {self.outside * 1000:.1f} ms a turn outside the model "
                "(median)"
            ),
            *(
                f"  confidence {b.low}-{b.high}: {b.count} turns, said {b.confidence:.0%}, right {b.accuracy:.0%}"
                for b in self.bins
            ),
        ]


def _percent(share: Share) -> Cell:
    return Cell(share.share, f"{share.share:.1%}") if share.of else Cell(None, "-")


def _interval(share: Share) -> Cell:
    return Cell(None, "-") if share.low is None else Cell((share.low, share.high), f"{share.low:.0%}-{share.high:.0%}")
