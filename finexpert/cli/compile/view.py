"""What a compile shows: one live line on a terminal, plain lines elsewhere, and a paragraph for each decision."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from finexpert.cli import common
from finexpert.language_models.usage import Meter, total_cost
from finexpert.optimizers.compiling.watching import Watch

if TYPE_CHECKING:
    from finexpert.language_models.limits import SpendingLimits
    from finexpert.optimizers.compiling.journal import Line
    from finexpert.optimizers.compiling.outcome import Outcome
    from finexpert.optimizers.compiling.whole_gate import WholeVerdict
    from finexpert.optimizers.program.decision import Decision


class View(Watch):
    """Shows layer, candidate, best so far, calls, tokens, cost and minutes left."""

    def __init__(self, limits: SpendingLimits) -> None:
        self._limits = limits
        self._out = common.console()
        self._lock = threading.Lock()
        self._begun = time.monotonic()
        self._meter = Meter()
        self._where, self._what, self._best, self._done = "", "", "", 0

    @contextmanager
    def showing(self, meter: Meter) -> Iterator[None]:
        """Within it the line is live, where there is a terminal."""
        from rich.console import Console
        from rich.live import Live

        self._meter, self._begun = meter, time.monotonic()
        # A file of its own: what optimizers write to the standard streams is thrown away meanwhile.
        screen = Console(file=sys.stderr, highlight=False)
        if not screen.is_terminal:
            yield
            return
        before, self._out = self._out, screen if self._out.is_terminal else self._out
        with Live(get_renderable=self.line, console=screen, refresh_per_second=2, transient=True):
            yield
        self._out = before

    def line(self) -> str:
        """The line as it is now."""
        with self._lock:
            parts = [self._where, f"{self._what}, example {self._done}", self._best]
        calls = self._meter.calls
        cost = total_cost(calls)
        parts += [f"{len(calls)} calls", f"{sum(c.prompt_tokens + c.completion_tokens for c in calls):,} tokens"]
        parts += [] if not cost else [f"${cost:.2f}"]
        minutes = (time.monotonic() - self._begun) / 60
        left = self._limits.minutes
        parts.append(f"{minutes:.0f} min" if left is None else f"{max(0.0, left - minutes):.0f} min left")
        return " · ".join(filter(None, parts))

    def layer(self, name: str, recipe: str, train: int, val: int, holdout: int) -> None:
        self._set(where=name, what="", best="")
        self._say(f"{name}: {recipe}, {train} to learn from, {val} to choose by, {holdout} to judge by", "bold")

    def candidate(self, name: str) -> None:
        self._set(what=name)

    def example(self, program: str, line: Line) -> None:
        with self._lock:
            self._done += 1

    def scored(self, name: str, mean: float, best: float) -> None:
        self._set(best=f"best {best:.3f}")
        self._say(f"  {name}: {mean:.3f} on val (best {best:.3f}), {len(self._meter.calls)} calls")

    def decided(self, outcome: Outcome) -> None:
        self._say(f"  {outcome.why}", "green" if outcome.kept else "yellow")
        if outcome.ended and outcome.decision is not None:
            self._say(f"  {outcome.ended}", "dim")
        if outcome.decision is not None and outcome.best is not None:
            scores = outcome.scores["holdout"]
            self._say(
                f"  {outcome.best.name} on the holdout: {scores.before.mean:.3f} before, {scores.after.mean:.3f} after"
            )
            self._decision(outcome.decision)
        self._say(
            f"  {outcome.spent.calls} calls, {outcome.spent.tokens:,} tokens, {outcome.seconds / 60:.1f} min", "dim"
        )

    def sample(self, name: str, variant: str, done: int, of: int) -> None:
        self._set(where=name, what=variant, best=f"{done} of {of}")

    def whole(self, verdict: WholeVerdict) -> None:
        """Show what the combined program came to."""
        for part in verdict.combined:
            before, after = part.scores.before, part.scores.after
            self._say(
                f"the program on {part.sample}: {before.mean:.3f} before, {after.mean:.3f} after (n={after.n})", "bold"
            )
            self._say(f"  {part.decision.reason}", "" if part.decision.passed else "yellow")
            self._decision(part.decision)
        for name, decision in verdict.left_out.items():
            self._say(f"{name} is left out: {decision.reason}", "yellow")
        for name, decision in verdict.evidence.items():
            value = verdict.options.chosen().get(name)
            self._say(f"{name}: {decision.reason}" if value is None else f"option {name} = {value}: {decision.reason}")
        for name in verdict.instructions_only:
            self._say(f"{name} goes by its instructions alone")
        if verdict.ended:
            self._say(f"  {verdict.ended}", "yellow")

    def _decision(self, decision: Decision) -> None:
        low, high = decision.interval
        self._say(f"  difference {decision.difference:+.3f} (95 %: {low:+.3f} to {high:+.3f}), p={decision.p:.3g}")
        if decision.flips:
            flips = ", ".join(f"{id} {before:.2g}→{after:.2g}" for id, before, after in decision.flips)
            self._say(f"  flipped: {flips}")
        if decision.note:
            self._say(f"  note: {decision.note}", "dim")

    def _set(self, *, where: str | None = None, what: str | None = None, best: str | None = None) -> None:
        with self._lock:
            self._where = self._where if where is None else where
            self._what = self._what if what is None else what
            self._best = self._best if best is None else best
            self._done = 0 if what is not None else self._done

    def _say(self, text: str, style: str = "") -> None:
        self._out.print(text, style=style, markup=False, soft_wrap=True)
