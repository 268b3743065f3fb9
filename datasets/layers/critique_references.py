"""Auditing an example of what was read: which objections stand, what comes out with them, and whether the example is right.

    corrections = standing_of(example, [Objection(step=1, reason="another year", instead=Cell(...))])
    corrected(example, corrections)          # the plan's value with the corrected readings; None if it does not run

No language model here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from finexpert.core.plans import Cell, Quote
from finexpert.core.reviews import Correction, agree
from finexpert.core.workspace import Value
from finexpert.datasets.layers.critique_records import AuditExample
from finexpert.datasets.layers.records import workspace_of
from finexpert.errors import StepError
from finexpert.modules.critique import standing
from finexpert.modules.flow.reviewing.filing import reading
from finexpert.plans import execution
from finexpert.plans.execution import Surroundings
from finexpert.signatures.critique import Objection

# Gold of the official files is rounded to five decimals.
TOLERANCE = 1e-5


def read(example: AuditExample, step: Cell | Quote) -> Value:
    """What stands there on the page of an example. Raises StepError."""
    return example.filing.cell(step) if isinstance(step, Cell) else example.filing.quote(step)


def readings_of(example: AuditExample) -> str:
    """What was read, as the critic is shown it."""
    return "\n".join(reading(step, read(example, step)) for step in example.readings)


def standing_of(example: AuditExample, objections: Iterable[Objection]) -> list[Correction]:
    """The objections that the page bears out."""
    values = {step.id: read(example, step).value for step in example.readings}
    found = [standing(objection, values, lambda step: read(example, step)) for objection in objections]
    return [correction for correction in found if correction is not None]


def right_objections(example: AuditExample) -> list[Objection]:
    """What a critic should say of an example: nothing, or the one objection that mends it."""
    if example.wrong is None:
        return []
    read_at_all = example.wrong in {step.id for step in example.readings}
    step = example.wrong if read_at_all else 0
    return [Objection(step=step, reason=example.reason, instead=example.needed[example.wrong])]


def corrected(example: AuditExample, corrections: Sequence[Correction]) -> float | str | None:
    """The value of the plan with what was read, and with the corrections in its place; None if that does not run.

    A correction of a value that nobody read is taken for the one that is missing.
    """
    steps = {step.id: step for step in example.readings}
    for correction in corrections:
        number = correction.step or example.wrong
        if number is not None:
            steps[number] = correction.instead.model_copy(update={"id": number})
    plan = example.plan_with(steps.values())
    try:
        value = execution.run(plan, workspace_of(example), Surroundings(filing=example.filing)).value.value
    except (StepError, execution.StepFailed):
        return None
    return value if isinstance(value, float | str) else None


def mends(example: AuditExample, corrections: Sequence[Correction]) -> bool:
    """Whether the value is right with the corrections."""
    value = corrected(example, corrections)
    return value is not None and agree(value, example.gold, TOLERANCE)


def problems_of_audit(example: AuditExample) -> Iterator[str]:
    """What is wrong with what an example says was read."""
    numbers = [step.id for step in example.readings]
    if unknown := sorted(set(numbers) - set(example.needed)) or sorted({n for n in numbers if numbers.count(n) > 1}):
        yield f"readings: step {unknown[0]} is none that the plan reads, or stands twice"
        return
    if example.wrong is None:
        if example.reason:
            yield "reason: it says what is wrong, and every reading is right"
        return
    if not example.reason:
        yield "reason: one is needed where a reading is wrong"
    if mends(example, []):
        yield f"the wrong reading of step {example.wrong} does not change the value"
    objections = right_objections(example)
    if not mends(example, standing_of(example, objections)):
        yield f"the right objection to step {example.wrong} does not stand: the same value is read already"
