"""Plans: what a language model contributes to an answer, as a typed list of steps.

A step refers to an earlier step as `step 2` and to an earlier answer of the conversation as `turn -1` (the one
before) or `turn 1` (the first):

    >>> plan = Plan.model_validate({"steps": [
    ...     {"kind": "cell", "id": 1, "row": "revenue", "column": "2017"},
    ...     {"kind": "compute", "id": 2, "operation": "divide", "arguments": ["step 1", "turn -1"]}]})
    >>> plan.order()
    [[1], [2]]
    >>> plan.answer_reference
    Reference(kind='step', number=2)

A plan holds no number that it computed itself: values come from frames, cells, quotes and earlier answers; a
number among the arguments is a constant such as 100. Running a plan is `finexpert.plans.execution`.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator

from finexpert.errors import PlanError

FRAME_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
_REFERENCE = re.compile(r"^\s*(step|turn)\s*(-?\d+)\s*$|^\s*([#@])(-?\d+)\s*$", re.IGNORECASE)


class Reference(NamedTuple):
    """A reference to an earlier step or to an earlier turn's answer."""

    kind: Literal["step", "turn"]
    number: int


def reference(text: object) -> Reference | None:
    """The reference that a text is, or None.

    >>> reference("step 2"), reference("turn -1"), reference("#3"), reference("100")
    (Reference(kind='step', number=2), Reference(kind='turn', number=-1), Reference(kind='step', number=3), None)
    """
    found = _REFERENCE.match(text) if isinstance(text, str) else None
    if not found:
        return None
    word = (found[1] or {"#": "step", "@": "turn"}[found[3]]).lower()
    return Reference("step" if word == "step" else "turn", int(found[2] or found[4]))


class _Step(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: int = Field(ge=1, le=999, description="number of the step, from 1")

    @property
    def references(self) -> list[Reference]:
        return []


class Extract(_Step):
    """Get a named frame from the warehouse."""

    kind: Literal["extract"] = "extract"
    frame: str = Field(pattern=FRAME_NAME, description="name of the frame, a Python identifier")
    purpose: str = Field(description="which rows and columns, over which time")
    columns: list[str] = Field(default_factory=list, description="names of the frame's columns, in order")
    select: str | None = Field(default=None, description="draft of the SELECT")


class Script(_Step):
    """Compute the answer from frames with a Python script."""

    kind: Literal["script"] = "script"
    frames: list[str] = Field(default_factory=list, description="names of the frames that the script reads")
    task: str = Field(description="what to compute from them, step by step")
    code: str | None = Field(default=None, description="draft of the script")


class Cell(_Step):
    """Read one cell of a filing's table."""

    kind: Literal["cell"] = "cell"
    row: str = Field(description="row label")
    column: str = Field(description="column label")
    row_number: int | None = Field(default=None, description="number of the row as printed, r0 is the header")
    column_number: int | None = Field(default=None, description="number of the column as printed, c0 holds the labels")


class Quote(_Step):
    """Read a number from a sentence of a filing."""

    kind: Literal["quote"] = "quote"
    quote: str = Field(description="words copied from the page that contain the value")
    value: str = Field(description="the number as written in the quote")


class Compute(_Step):
    """Apply an operation to earlier values and constants."""

    kind: Literal["compute"] = "compute"
    operation: str
    arguments: list[float | str] = Field(description="'step N', 'turn N', a constant, or the label of a table row")

    @field_validator("arguments", mode="before")
    @classmethod
    def _numbers_stay_numbers(cls, value: object) -> object:
        if not isinstance(value, list):
            return value
        return [_number(v) for v in value]

    @property
    def references(self) -> list[Reference]:
        return [found for argument in self.arguments if (found := reference(argument))]


class Search(_Step):
    """Read or compute a value on a page of a library that has to be found first.

    `page` and `plan` are what was found and done there: with both set, the step runs again without a search.
    """

    kind: Literal["search"] = "search"
    question: str = Field(description="what to find out, complete in itself")
    company: str = Field(default="", description="name of the company, or 'step N' of a step that gives it")
    year: int | None = Field(default=None, description="fiscal year")
    quarter: int | None = Field(default=None, ge=1, le=4)
    page: str | None = None
    plan: Plan | None = None

    @property
    def references(self) -> list[Reference]:
        found = reference(self.company)
        return [found] if found else []


class Lookup(_Step):
    """Get one value about companies from the table of their attributes."""

    kind: Literal["lookup"] = "lookup"
    select: str = Field(description="a SELECT that returns one value")


def _number(argument: object) -> object:
    """A constant as a number, also where it was written as text."""
    if isinstance(argument, int | str) and not isinstance(argument, bool):
        try:
            return float(argument)
        except ValueError:
            return argument
    return argument


Step = Annotated[Extract | Script | Cell | Quote | Compute | Search | Lookup, Field(discriminator="kind")]


class Plan(BaseModel):
    """Steps, and which of them is the answer."""

    model_config = ConfigDict(extra="ignore")

    steps: list[Step] = Field(min_length=0, max_length=200)
    answer: str | None = Field(default=None, description="'step N' or 'turn N'; the last step if not said")
    interpretation: str = Field(default="", description="how the question was understood")
    entity: str | None = Field(default=None, description="what the answer is about, for later turns to point to")
    unit: str | None = None
    period: str | None = None

    @property
    def answer_reference(self) -> Reference:
        if self.answer and (found := reference(self.answer)):
            return found
        if not self.steps:
            raise PlanError("the plan has no steps and names no earlier answer")
        return Reference("step", self.steps[-1].id)

    @property
    def answering_extract(self) -> Extract | None:
        """The step whose frame is the answer itself, where no script computes it."""
        if not self.steps:
            return None
        found = self.answer_reference
        step = self.step(found.number) if found.kind == "step" else None
        return step if isinstance(step, Extract) else None

    def step(self, number: int) -> Step:
        for step in self.steps:
            if step.id == number:
                return step
        raise PlanError(f"there is no step {number}; the plan has {[s.id for s in self.steps]}")

    def order(self) -> list[list[int]]:
        """Ids of the steps in waves: the steps of one wave do not depend on each other.

        >>> Plan(steps=[Compute(id=1, operation="add", arguments=["step 2", 1.0]),
        ...             Compute(id=2, operation="add", arguments=["step 1", 1.0])]).order()
        Traceback (most recent call last):
            ...
        finexpert.errors.PlanError: steps [1, 2] refer to each other in a circle
        """
        needs = self._needs()
        waves: list[list[int]] = []
        done: set[int] = set()
        while len(done) < len(needs):
            wave = [number for number, wanted in needs.items() if number not in done and wanted <= done]
            if not wave:
                raise PlanError(f"steps {sorted(set(needs) - done)} refer to each other in a circle")
            waves.append(wave)
            done.update(wave)
        return waves

    def _needs(self) -> dict[int, set[int]]:
        ids = [step.id for step in self.steps]
        if len(set(ids)) != len(ids):
            raise PlanError(f"two steps have the same id: {ids}")
        makers: dict[str, int] = {}
        for step in self.steps:
            if isinstance(step, Extract):
                if step.frame in makers:
                    raise PlanError(f"two steps make a frame named {step.frame!r}")
                makers[step.frame] = step.id
        needs: dict[int, set[int]] = {}
        for step in self.steps:
            wanted = {found.number for found in step.references if found.kind == "step"}
            if unknown := wanted - set(ids):
                raise PlanError(f"step {step.id} refers to step {min(unknown)}, which does not exist")
            if isinstance(step, Script):
                wanted |= {makers[name] for name in step.frames if name in makers}
            needs[step.id] = wanted
        return needs
