"""What one line of the example set of critique holds: an example of planning, and what a critic is shown of it.

    {"id": "fuel_year_before", "split": "train", "planning": "ferries_fuel_2016",
     "instead": {"kind": "cell", "id": 1, "row": "fuel cost", "column": "2015"}, "reason": "The question asks for 2016."}

With `instead` a reading was taken from the wrong place, with `missing` one was not made, with `audit` all are right. A line
with none of them has the critic plan on its own, over a page or over a warehouse. A file of one's own may also hold
whole examples: those of planning, with `readings` where something was read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import Field

from finexpert.core.plans import Cell, Plan, Quote, Step
from finexpert.datasets.layers.records import FilingExample, PlanningExample, Record
from finexpert.errors import QuestionFileError


class AuditExample(FilingExample):
    """What was read from a page for a question: right, or with one reading that is wrong or missing.

    `steps` are those of the right plan; `reason` says why the wrong reading is wrong.
    """

    readings: tuple[Cell | Quote, ...] = Field(min_length=1)
    reason: str = ""

    @property
    def needed(self) -> dict[int, Cell | Quote]:
        """The right readings, by step."""
        return {step.id: step for step in self.steps if isinstance(step, Cell | Quote)}

    @property
    def wrong(self) -> int | None:
        """The step that was read wrongly, or not at all; None where all is right."""
        read = {step.id: step for step in self.readings}
        return next((number for number, step in self.needed.items() if read.get(number) != step), None)

    def plan_with(self, readings: Iterable[Cell | Quote]) -> Plan:
        """The plan with these readings in place of its own; a step that nobody read is left out."""
        read = {step.id: step for step in readings}
        computed: list[Step] = [step for step in self.steps if step.id not in self.needed]
        return self.plan.model_copy(update={"steps": [*read.values(), *computed]})


class DeriveExample(FilingExample):
    """A turn about a page that a critic plans on its own."""


class RecomputeExample(PlanningExample):
    """A question over a warehouse that a critic answers with a program of its own."""


CritiqueExample = AuditExample | DeriveExample | RecomputeExample


class PlanningReference(Record):
    """A line that names an example of the packaged planning set."""

    planning: str = Field(min_length=1)
    audit: bool = False
    instead: Cell | Quote | None = None
    missing: int | None = None
    reason: str = ""

    def example(self, planned: Sequence[object]) -> CritiqueExample:
        """The example, with what it takes over from that of planning. QuestionFileError where they do not fit."""
        found = next((each for each in planned if getattr(each, "id", "") == self.planning), None)
        if not isinstance(found, FilingExample | PlanningExample):
            raise QuestionFileError(f"{self.place}: planning: there is no example {self.planning!r} of planning")
        if found.split != self.split:
            raise QuestionFileError(
                f"{self.place}: split: {self.planning} is in {found.split}, and not in {self.split}"
            )
        given = found.model_dump(exclude_unset=True) | {"id": self.id}
        made: CritiqueExample
        if isinstance(found, PlanningExample):
            made = RecomputeExample.model_validate(given)
        elif self.audit or self.instead is not None or self.missing is not None:
            made = AuditExample.model_validate(given | {"readings": self._readings(found), "reason": self.reason})
        else:
            made = DeriveExample.model_validate(given)
        made.at(self.place)
        if isinstance(made, FilingExample) and isinstance(found, FilingExample):
            made.on(found.filing)
        return made

    def _readings(self, found: FilingExample) -> list[Cell | Quote]:
        right = [step for step in found.steps if isinstance(step, Cell | Quote)]
        wrong = self.missing if self.instead is None else self.instead.id
        if wrong is not None and wrong not in {step.id for step in right}:
            raise QuestionFileError(f"{self.place}: {self.planning} reads nothing in its step {wrong}")
        kept = [self.instead if step.id == wrong else step for step in right]
        return [step for step in kept if step is not None]
