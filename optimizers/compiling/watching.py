"""What a compile tells while it runs. The base class is silent; the command line has one that shows it."""

from __future__ import annotations

from finexpert.optimizers.compiling.journal import Line
from finexpert.optimizers.compiling.outcome import Outcome


class Watch:
    """Told of what happens, in any thread; must not raise and must not take long."""

    def layer(self, name: str, recipe: str, train: int, val: int, holdout: int) -> None:
        """A layer begins."""

    def candidate(self, name: str) -> None:
        """A candidate is being made and scored."""

    def example(self, program: str, line: Line) -> None:
        """An example was scored."""

    def scored(self, name: str, mean: float, best: float) -> None:
        """A candidate was scored on all of val."""

    def decided(self, outcome: Outcome) -> None:
        """A layer is done."""

    def sample(self, name: str, variant: str, done: int, of: int) -> None:
        """A question of the combined program was answered."""
