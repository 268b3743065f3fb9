"""What `finexpert eval csv` and `finexpert eval sql` share: questions of others, put to the program and to the single call beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli.eval import modes as evaluate_modes

if TYPE_CHECKING:
    from finexpert.core.answers import Answer
    from finexpert.datasets.evaluations.evaluation import Result
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.settings import Settings
    from finexpert.warehouse.warehouse import Warehouse

Limit = Annotated[int | None, typer.Option(min=1, help="The first N questions.")]
Ids = Annotated[str | None, typer.Option(help="Ids of questions, with commas.")]
Baseline = Annotated[bool, typer.Option("--baseline/--no-baseline", help="The single call beside the program.")]


@dataclass(frozen=True)
class PairedRun:
    """An evaluation of questions of others: its `name`, and the two rules by which answers are judged, in words."""

    name: str
    rule: str
    ours: str
    expert: FinancialExpert
    settings: Settings
    baseline: bool
    threads: int
    fresh: bool
    json_out: Path | None

    def ask(
        self,
        questions: Sequence[Any],
        sources: Mapping[str, Warehouse],
        *,
        judge: Callable[[str, Any, Answer], Result],
        digest: str,
    ) -> None:
        """Ask every question of its source in both ways, and tell how many are right by both rules."""
        from functools import partial

        from finexpert.cli.eval.running import run
        from finexpert.datasets.external import paired
        from finexpert.language_models.roles import LanguageModels
        from finexpert.sandbox import Limits, Sandbox

        models = LanguageModels.from_settings(self.settings)
        ways = paired.WAYS if self.baseline else paired.WAYS[:1]
        limits = Limits(wall_seconds=self.settings.script_seconds)
        with Sandbox(limits, workers=self.settings.workers) as sandbox:
            first = sources[questions[0].source_name]
            bench = paired.PairedBench(
                first, sandbox, models, self.settings, self.expert, sources=sources, digest=digest
            )
            ask = partial(paired.evaluate, bench, questions, ways, judge=judge)
            results = run(
                bench,
                questions,
                ways,
                threads=self.threads,
                fresh=self.fresh,
                json_out=self.json_out,
                name=self.name,
                evaluate=lambda journal, told: ask(journal, threads=self.threads, on_result=told),
            )
        evaluate_modes.tell_both_rules(results, ways, self.rule, self.ours)
