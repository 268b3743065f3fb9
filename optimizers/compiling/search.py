"""The search for a better layer: candidates are made, scored on val, and the best so far is known at any time.

search.make("labeled 1", lambda: a_layer_with_demonstrations)    # made and scored once, also over interruptions
search.best()                                                    # Candidate(name="labeled 1", scores=[...])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import dspy

from finexpert.datasets.evaluations.journal import side_by_side
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.usage import Meter
from finexpert.optimizers.compiling.journal import Journal, Line, Spent, States, fingerprint
from finexpert.optimizers.compiling.outcome import Candidate
from finexpert.optimizers.compiling.tasks import Record, Task
from finexpert.optimizers.compiling.trial import Trial, Trying, with_states
from finexpert.optimizers.compiling.watching import Watch
from finexpert.optimizers.program.artifact import states_of

AS_IT_STANDS = "as it stands"


class Scored(Protocol):
    """A program, and what it is asked."""

    def line(self, id: str) -> Line:
        """What it came to on the example of this id."""


# Scores the examples of these ids elsewhere, so many side by side, and hands on each line.
Engine = Callable[[Any, Sequence[str], Callable[[Line], None], int], None]


def score(
    scored: Scored, ids: Sequence[str], keep: Callable[[Line], None], threads: int, engine: Engine | None
) -> None:
    """Have these examples scored; each line is kept at once."""
    if engine is not None:
        engine(scored, ids, keep, threads)
    else:
        side_by_side(lambda id: keep(scored.line(id)), [(id,) for id in ids], threads)


@dataclass
class Models:
    """Who is asked: the model that is compiled for, one that shows it how, one that words instructions."""

    student: LanguageModels
    teacher: LanguageModels
    reflection: LanguageModels


@dataclass
class Search:
    """One layer, the examples, and what was tried; `note` says why a recipe ended early."""

    task: Task
    base: dspy.Module
    models: Models
    journal: Journal
    train: Sequence[Record]
    val: Sequence[Record]
    seed: int = 0
    threads: int = 1
    most: int = 6
    engine: Engine | None = None
    watch: Watch = field(default_factory=Watch)
    tried: list[Candidate] = field(default_factory=list)
    note: str = ""

    def layer(self) -> dspy.Module:
        """The layer as it stood before."""
        return with_states(self.base, states_of(self.base))

    def make(self, name: str, build: Callable[[], dspy.Module]) -> Candidate:
        """Make a candidate, unless the journal has it, and score it on val."""
        self.watch.candidate(name)
        states = self.journal.made(name)
        if states is None:
            with Meter() as meter:
                states = states_of(build())
            self.journal.add_made(name, states, Spent.of(meter.calls))
        return self.add(name, states)

    def add(self, name: str, states: States) -> Candidate:
        """Score a candidate on val; the same program is not scored twice."""
        candidate = Candidate(name, states)
        candidate.scores = self.scores(states, self.val, "val")
        if fingerprint(states) not in self.known:
            self.tried.append(candidate)
        self.watch.scored(name, candidate.mean, self.best().mean)
        return candidate

    def scores(self, states: States, records: Sequence[Record], split: str) -> list[float]:
        """The scores of a program, from the journal where it has them."""
        program = fingerprint(states)
        trial = Trial(with_states(self.base, states), Trying(self.task, self.models.student))

        def keep(line: Line) -> None:
            line = line.model_copy(update={"program": program, "split": split})
            self.journal.add_scored(line)
            self.watch.example(program, line)

        missing = [record.id for record in records if self.journal.scored(program, split, record.id) is None]
        score(trial, missing, keep, self.threads, self.engine)
        found = [self.journal.scored(program, split, record.id) for record in records]
        return [line.score for line in found if line is not None]

    @property
    def known(self) -> set[str]:
        """The programs that were tried, by fingerprint."""
        return {fingerprint(candidate.states) for candidate in self.tried}

    def best(self) -> Candidate:
        """The best of those that were tried to the end; of equals the one with the shortest prompts, then the first."""
        return min(self.tried, key=lambda candidate: (-round(candidate.mean, 9), candidate.size))
