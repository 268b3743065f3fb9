"""Running a plan, step by step, over a workspace.

A plan knows nothing of language models, and neither does this file, nor those that run its steps (`extraction.py`, `scripts.py`,
`searches.py`). What is handed in stands in `surroundings.py`:

    >>> from finexpert.core.plans import Compute
    >>> plan = Plan(steps=[Compute(id=1, operation="divide", arguments=[1.0, 4.0])])
    >>> run(plan, Workspace(), Surroundings()).value.value
    0.25

What fails goes back to its own layer with the error, at most `retries` times (`retries.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from finexpert.core.answers import AnswerFormat
from finexpert.core.plans import Cell, Compute, Extract, Lookup, Plan, Quote, Script, Search, Step, reference
from finexpert.core.workspace import Value, Workspace
from finexpert.errors import PlanError
from finexpert.plans import operations, unit_rules
from finexpert.plans.extraction import extract
from finexpert.plans.retries import (
    FILING_SEARCH,
    PLANNING,
    SANDBOX,
    SCRIPT_GENERATION,
    SQL_EXTRACTION,
    NeedsAnotherPlan,
    StepFailed,
    with_retries,
)
from finexpert.plans.running import Running, iso_date
from finexpert.plans.scripts import names_in, script, usable_frames
from finexpert.plans.searches import look_up_company, search
from finexpert.plans.surroundings import CodeReviewer, PageFinder, ScriptWriter, SelectWriter, Surroundings

__all__ = [
    "FILING_SEARCH",
    "PLANNING",
    "SANDBOX",
    "SCRIPT_GENERATION",
    "SQL_EXTRACTION",
    "CodeReviewer",
    "NeedsAnotherPlan",
    "Outcome",
    "PageFinder",
    "ScriptWriter",
    "SelectWriter",
    "StepFailed",
    "Surroundings",
    "names_in",
    "run",
    "usable_frames",
    "with_retries",
]


@dataclass
class Outcome:
    """What running a plan gave: the answer's value, and the plan as it was in the end run."""

    value: Value
    plan: Plan
    registers: dict[int, Value] = field(default_factory=dict)
    figures: list[bytes] = field(default_factory=list)
    repairs: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    answer_format: AnswerFormat | None = None  # of a frame that is the answer itself


def run(plan: Plan, workspace: Workspace, surroundings: Surroundings) -> Outcome:
    """Run all steps and return the value of the answer's step; frames are left in the workspace.

    Raises StepFailed when a step cannot be made to work, PlanError when the plan itself is malformed.
    """
    running = Running(plan, workspace, surroundings)
    for wave in plan.order():
        steps = [plan.step(number) for number in wave]
        if extracts := [step for step in steps if isinstance(step, Extract)]:
            extract(running, extracts)
        search(running, [step for step in steps if isinstance(step, Search)])
        for step in steps:
            if not isinstance(step, Extract | Search):
                _one(running, step)
    value = unit_rules.settled(running.look_up(plan.answer_reference))
    done = plan.model_copy(update={"steps": [running.done.get(step.id, step) for step in plan.steps]})
    return Outcome(
        value, done, running.registers, running.figures, running.repairs, running.seconds, running.answer_format
    )


def _one(running: Running, step: Step) -> None:
    if isinstance(step, Script):
        script(running, step)
    elif isinstance(step, Compute):
        values = [_argument(running, a) for a in step.arguments]
        # Two filings may print the same thing in thousands and in millions.
        values = unit_rules.on_one_scale(values) if running.around.find_page else values
        running.registers[step.id] = operations.apply(step.operation, values)
    elif isinstance(step, Lookup):
        running.registers[step.id] = look_up_company(running, step)
    elif isinstance(step, Cell | Quote):
        if running.around.filing is None:
            raise PlanError(f"step {step.id} reads a filing, but the question is asked of none")
        read = running.around.filing.cell if isinstance(step, Cell) else running.around.filing.quote
        running.registers[step.id] = read(step)  # type: ignore[arg-type]


def _argument(running: Running, argument: float | str) -> Value:
    if isinstance(argument, float):
        return Value(argument)
    if ref := reference(argument):
        return running.look_up(ref)
    if (day := iso_date(argument)) is not None:
        return Value(day)
    if running.around.filing is not None:
        return _row(running.around.filing.row(argument))
    raise PlanError(f"{argument!r} is neither 'step N', 'turn N' nor a number")


def _row(cells: Sequence[Value]) -> Value:
    """The numbers of a table row as one value, with what the first of them says of unit and scale."""
    first = cells[0]
    return replace(
        first,
        value=[float(cell.value) for cell in cells if isinstance(cell.value, int | float)],
        period=None,
        citations=tuple(citation for cell in cells for citation in cell.citations),
        flags=tuple(dict.fromkeys(flag for cell in cells for flag in cell.flags)),
    )
