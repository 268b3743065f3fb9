"""An evaluation inside an MLflow run that goes on where it was interrupted, and that keeps what it measured when its budget ends.

run = ResumableRun("filings", mark, FilingResult, settings, fresh=fresh)
with run.tracked(params, total, lambda journal, told: evaluate(..., journal, on_result=told)) as results:
    ...                                         # log what came out; the MLflow run is open
run.write(json_out, content)
run.tell()

The results so far lie in `eval/NAME-MARK.jsonl` of the home. The mark says what must be the same for a run to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from finexpert.cli import common
from finexpert.cli.eval import modes as evaluate_modes

if TYPE_CHECKING:
    from pydantic import BaseModel

    from finexpert.datasets.evaluations.evaluation import Journal
    from finexpert.language_models.budget import Budget
    from finexpert.modules.financial_expert import FinancialExpert
    from finexpert.settings import Settings

R = TypeVar("R", bound="BaseModel")


class ResumableRun(Generic[R]):
    """One evaluation: its results so far, and what of it was measured."""

    def __init__(
        self, name: str, mark: str, kind: type[R], settings: Settings, *, fresh: bool, unit: str = "answers"
    ) -> None:
        from finexpert.datasets.evaluations.evaluation import Journal

        self.name, self.settings = name, settings
        self.uri = ""
        self.measured: dict[str, Any] = {}
        self._place = settings.home / "eval" / f"{name}-{mark}.jsonl"
        if fresh:
            self._place.unlink(missing_ok=True)
        self.journal = Journal(self._place, kind)
        if self.journal.results:
            common.console().print(f"going on after {len(self.journal.results)} {unit} (--fresh starts over)")

    @contextmanager
    def tracked(
        self,
        params: Mapping[str, Any],
        total: int,
        evaluate: Callable[[Journal[R], Callable[[R], None]], object],
        *,
        size: Callable[[R], int] = lambda result: 1,
        unit: str = "questions",
        budget: Budget | None = None,
    ) -> Iterator[list[R]]:
        """Evaluate with a progress bar; within the block the MLflow run is open, and has what was measured.

        A result counts for `size` of the `total`. The budget is that of the settings, if none is given.
        """
        from finexpert import tracking
        from finexpert.language_models.budget import Budget, ended_by

        budget = budget or Budget.of(self.settings, "run")
        self.uri = tracking.start(self.settings, f"finexpert eval {self.name}")
        with tracking.run(f"eval {self.name}", parent=True, params=params):
            with common.progress(unit, total) as advance, ended_by(budget) as ended:
                advance(sum(map(size, self.journal.results)))
                evaluate(self.journal, lambda result: advance(size(result)))
            results = self.journal.results
            self.measured = evaluate_modes.measured(sum(map(size, results)), total, budget, ended)
            yield results
        tracking.finish()

    def write(self, json_out: Path | None, content: Mapping[str, Any]) -> None:
        """Write what came out, where that is wished; after it the results of a run that came to its end are dropped."""
        from finexpert.datasets.evaluations.evaluation import write_json

        if json_out is not None:
            write_json(json_out, {"measured": self.measured, **content})
        if not self.measured["ended"]:
            self._place.unlink(missing_ok=True)

    def tell(self) -> None:
        """Say where the run stopped before its end, and where MLflow has it."""
        evaluate_modes.print_measured(self.measured)
        common.console().print(common.store_words(self.uri), style="dim", soft_wrap=True)


def mark_of(expert: FinancialExpert, *parts: object) -> str:
    """The mark of a run: a hash of its parts, and of the compiled program that is asked, if it is one.

    >>> from finexpert.modules.financial_expert import FinancialExpert
    >>> mark_of(FinancialExpert(), "0f3a"), mark_of(FinancialExpert(), "0f3a", 1) == mark_of(FinancialExpert(), "0f3a", 2)
    ('0f3a', False)
    """
    from finexpert.optimizers.program.fingerprints import digest

    mark = str(parts[0]) if len(parts) == 1 else digest(parts)
    return f"{mark}-{digest(common.program_words(expert))}" if hasattr(expert, "manifest") else mark
