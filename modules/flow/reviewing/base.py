"""Reviewing: after the first executed value, critics side by side, then a revision, then the value that stands.

As often as the setting `revisions` says, once if it says nothing, a value that no two plans share is planned again.
The critics of a source and how it plans again stand in `filing` and `warehouse`. Whatever goes wrong
from here on leaves the first value standing, and says so: a review never makes an answer fail.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, ClassVar, TypeVar

from finexpert.core import progress
from finexpert.core.reviews import Agreement, Ending, Review, Stage, Verdict, agree
from finexpert.errors import BudgetExceeded, ModelError, SandboxFailure, StepError, Unanswerable, UnknownPrompt
from finexpert.modules.flow.filing_question import FilingQuestion
from finexpert.modules.flow.warehouse_question import WarehouseQuestion
from finexpert.plans import execution

T = TypeVar("T")
Critic = Callable[[execution.Outcome], Verdict | None]
REVISION, SYNTHESISER = "revision", "synthesiser"


class Stages:
    """Runs stages, and keeps how each of them ended."""

    def __init__(self) -> None:
        self.ended: list[Stage] = []

    def run(self, name: str, work: Callable[[], T]) -> T | None:
        """What the work gives, or None where it had nothing to do or went wrong.

        A prompt that was not recorded is raised: a table that is replayed must not miss a stage unseen.
        """
        start = time.perf_counter()
        ending: Ending = "done"
        detail, result = "", None
        try:
            with progress.stage("checking", name):
                result = work()
        except UnknownPrompt:
            raise
        except BudgetExceeded as error:
            ending, detail = "budget", str(error)
        except (ModelError, SandboxFailure) as error:
            ending, detail = "unreachable", str(error)
        except (StepError, Unanswerable, execution.StepFailed) as error:
            ending, detail = "failed", str(error)
        if result is None and ending == "done":
            ending = "skipped"
        seconds = time.perf_counter() - start
        self.ended.append(Stage(name=name, ending=ending, detail=detail[:300], seconds=seconds))
        return result


class Reviewing(ABC):
    """The review of one answer."""

    tolerance: ClassVar[float] = 1e-9

    def __init__(self, asked: FilingQuestion | WarehouseQuestion) -> None:
        self.asked = asked
        self.stages = Stages()
        self.summary = ""

    @abstractmethod
    def critics(self) -> Mapping[str, Critic]:
        """The critics by name. Each gives a verdict, or None if there is nothing for it to look at; called from threads."""

    @abstractmethod
    def revise(self, first: execution.Outcome, verdicts: list[Verdict]) -> execution.Outcome:
        """Plan and run once more, told what the critics found; the workspace stays as it is."""

    @abstractmethod
    def told(self, first: execution.Outcome, verdicts: list[Verdict]) -> tuple[str, str]:
        """The first result and the verdicts, in words that a synthesiser may see."""

    @abstractmethod
    def settle(self, chosen: execution.Outcome) -> None:
        """Called with a revised outcome that became the answer."""

    def review(self, first: execution.Outcome) -> tuple[execution.Outcome, Review]:
        """The outcome that stands, and how it came to that."""
        verdicts = self._side_by_side(first)
        review = Review(verdicts=verdicts)
        other = next((verdict for verdict in verdicts if verdict.plan is not None), None)
        if not all(verdict.agrees for verdict in verdicts):
            first, review = self._after_doubt(first, review, other)
        elif other is not None:
            review.agreement = "agreed"
        review.stages = self.stages.ended
        names = {stage.name for stage in review.stages}
        self.asked.stages |= {
            name: sum(stage.seconds for stage in review.stages if stage.name == name) for name in sorted(names)
        }
        return first, review

    def _side_by_side(self, first: execution.Outcome) -> list[Verdict]:
        critics = self.critics()
        with ThreadPoolExecutor(len(critics)) as pool:
            jobs = [
                pool.submit(copy_context().run, self.stages.run, name, lambda critic=critic: critic(first))
                for name, critic in critics.items()
            ]
        found = [job.result() for job in jobs]
        self.stages.ended.sort(key=lambda stage: stage.name)
        return [verdict for verdict in found if verdict is not None]

    def _after_doubt(
        self, first: execution.Outcome, review: Review, other: Verdict | None
    ) -> tuple[execution.Outcome, Review]:
        review.note = self._doubts(first, review.verdicts)
        review.agreement = "disputed"
        if self.asked.options.mode.has(SYNTHESISER) and not self._wants_revision(first, review.verdicts):
            review.note += "; the synthesiser let the answer stand"
            return first, review
        chosen = self._revisions(first, review, other)
        if review.revised:
            review.note += "; the revision kept the answer" if chosen is first else "; the answer was revised"
        if chosen is not first:
            self.settle(chosen)
            self.asked.last_plan = chosen.plan
        return chosen, review

    def _revisions(self, first: execution.Outcome, review: Review, other: Verdict | None) -> execution.Outcome:
        """Plan again until two plans give the same value, as often as is set; the value that stands."""
        tried = [first]
        for _ in range(self.asked.options.revisions):
            revised = self.stages.run(REVISION, lambda: self.revise(tried[-1], review.verdicts))
            if revised is None:
                break
            review.revised = True
            chosen, review.agreement = self._majority(tried, revised, other)
            if review.agreement != "disputed":
                return chosen
            tried.append(revised)
        return tried[-1]

    def _wants_revision(self, first: execution.Outcome, verdicts: list[Verdict]) -> bool:
        asked = self.asked
        result, found = self.told(first, verdicts)
        synthesis = self.stages.run(
            SYNTHESISER,
            lambda: asked.layers.panel.synthesise(
                asked.understood.question, result, found, asked.knowledge, asked.conversation()
            ),
        )
        # Without a synthesiser, what was recomputed and differs is reason enough.
        if synthesis is not None:
            self.summary = str(synthesis.summary)
        return synthesis is None or synthesis.status == "revise"

    def _majority(
        self, tried: list[execution.Outcome], revised: execution.Outcome, other: Verdict | None
    ) -> tuple[execution.Outcome, Agreement]:
        """Of the values so far, the revised and the independent one that which two share; else the revised, which saw both."""
        for earlier in tried:
            if self.same(earlier, revised.value.value):
                return earlier, "settled"
        if other is not None and other.agrees:
            return tried[0], "settled"
        if other is not None and self.same(revised, other.value):
            return revised, "settled"
        return revised, "disputed"

    def same(self, outcome: execution.Outcome, value: Any) -> bool:
        return agree(outcome.value.value, value, self.tolerance)

    def _doubts(self, first: execution.Outcome, verdicts: list[Verdict]) -> str:
        """What the user is told."""
        said = []
        for verdict in verdicts:
            if verdict.plan is not None and not verdict.agrees:
                said.append(
                    f"an independent plan gave {in_short(verdict.value)} instead of {in_short(first.value.value)}"
                )
            said += [f"{c.place}, with {in_short(c.value)}, was named as the right place" for c in verdict.corrections]
        return "; ".join(said)


def in_short(value: Any) -> str:
    """A value in a few characters of one line.

    >>> in_short(0.1 + 0.2), in_short("yes")
    ('0.3', 'yes')
    """
    words = f"{value:.10g}" if isinstance(value, float) else " ".join(str(value).split())
    return words if len(words) <= 60 else f"{words[:57]}..."
