"""Deterministic checks of a plan before it runs, and of a result after.

    >>> from finexpert.core.plans import Compute
    >>> before(Plan(steps=[Compute(id=1, operation="subtract", arguments=["turn -1", 5829.0])]), None, Workspace())
    ['step 1: there is no turn -1; the conversation has 0 so far', 'step 1: 5829 is no constant; read it with a cell or a quote']

`before` names every problem at once, so that one repair can mend them all; `after` gives flags and a confidence from
0 to 100. Neither asks a language model, and neither changes anything.
"""

from __future__ import annotations

from collections.abc import Mapping

from finexpert.core.plans import Cell, Compute, Extract, Plan, Quote, Reference, Step, reference
from finexpert.core.workspace import Value, Workspace
from finexpert.errors import OperationError, PlanError, StepError
from finexpert.filings.page.filing import Filing
from finexpert.plans import operations, unit_rules
from finexpert.plans.result_checks import confidence, flags_of

CONSTANTS = frozenset(
    {float(n) for n in range(-1, 13)}
    | {10.0**n for n in range(10)}
    | {24.0, 30.0, 31.0, 52.0, 360.0, 365.0, 366.0, 0.5, -100.0}
)
"""Numbers that a plan may state: small counts, powers of ten, the parts of a year."""


def before(plan: Plan, filing: Filing | None, workspace: Workspace) -> list[str]:
    """What is wrong with a plan, each problem in words that a planner can act on; empty if nothing is."""
    try:
        waves = plan.order()
        answer = plan.answer_reference
    except PlanError as error:
        return [str(error)]
    known: dict[int, Value] = {}
    problems: list[str] = []
    for number in (number for wave in waves for number in wave):
        step = plan.step(number)
        problems += [f"step {number}: {problem}" for problem in _of_step(step, plan, filing, workspace, known)]
    return problems + [f"answer: {problem}" for problem in _of_reference(answer, plan, workspace)]


def after(
    plan: Plan,
    values: Mapping[int, Value],
    answer: Value,
    *,
    workspace: Workspace | None = None,
    filing: Filing | None = None,
) -> tuple[list[str], int]:
    """Flags of a result, and how sure it is.

    `values` are the registers of the run by step; the workspace is that of the turns before this one.

    >>> after(Plan(steps=[]), {}, Value(2.0))
    (['the answer rests on no number of the page'], 55)
    """
    flags = flags_of(plan, values, answer, workspace or Workspace(), filing)
    return flags, confidence(plan, flags)


def _of_step(step: Step, plan: Plan, filing: Filing | None, workspace: Workspace, known: dict[int, Value]) -> list[str]:
    if isinstance(step, Cell | Quote):
        if filing is None:
            return ["it reads a filing, but the question is asked of none"]
        try:
            known[step.id] = filing.cell(step) if isinstance(step, Cell) else filing.quote(step)
        except StepError as error:
            return [str(error)]
        return []
    return _of_compute(step, plan, filing, workspace, known) if isinstance(step, Compute) else []


def _of_compute(
    step: Compute, plan: Plan, filing: Filing | None, workspace: Workspace, known: dict[int, Value]
) -> list[str]:
    problems = []
    arguments: list[Value | None] = []
    for argument in step.arguments:
        problem, value = _argument(argument, plan, filing, workspace, known)
        arguments.append(value)
        problems += [problem] if problem else []
    try:
        operation = operations.find(step.operation)
    except OperationError as error:
        return [*problems, str(error)]
    if any(argument is None for argument in arguments) or problems:
        return problems + _arity(operation, len(arguments))
    values = [argument for argument in arguments if argument is not None]
    try:
        known[step.id] = operations.apply(step.operation, values)
    except OperationError as error:
        return [str(error)]
    return _mixed(operation.name, values)


def _argument(
    argument: float | str, plan: Plan, filing: Filing | None, workspace: Workspace, known: dict[int, Value]
) -> tuple[str | None, Value | None]:
    """The problem with an argument, and its value where it is known already."""
    if isinstance(argument, float):
        stated = argument in CONSTANTS or (filing is not None and filing.has_number(argument))
        return (None if stated else f"{argument:.12g} is no constant; read it with a cell or a quote"), Value(argument)
    if (found := reference(argument)) is not None:
        problems = _of_reference(found, plan, workspace)
        if problems:
            return problems[0], None
        return None, known.get(found.number) if found.kind == "step" else workspace.turn(found.number).value
    if filing is None:
        return f"{argument!r} is neither 'step N', 'turn N' nor a number", None
    try:
        row = filing.row(argument)
    except StepError as error:
        return str(error), None
    numbers = [float(value.value) for value in row if isinstance(value.value, int | float)]
    return None, Value(numbers, unit=row[0].unit, scale=row[0].scale, citations=row[0].citations)


def _of_reference(found: Reference, plan: Plan, workspace: Workspace) -> list[str]:
    try:
        if found.kind == "step":
            return (
                [f"step {found.number} is a frame, not a value"] if isinstance(plan.step(found.number), Extract) else []
            )
        turn = workspace.turn(found.number)
    except PlanError as error:
        return [str(error)]
    return [] if turn.value is not None else [f"turn {found.number} has no answer to refer to"]


def _arity(operation: operations.Operation, count: int) -> list[str]:
    least, most = operation.arity
    if most is None or least <= count <= most:
        return []
    return [f"{operation.name}({operation.arguments}) got {count} arguments"]


def _mixed(name: str, values: list[Value]) -> list[str]:
    """A sum of a share and an amount is a mistake; other differences only lower the confidence."""
    if name not in ("add", "subtract", "sum", "average"):
        return []
    units = [value.unit for value in values if not unit_rules.is_constant(value)]
    money = next((unit for unit in units if unit and unit.isupper()), None)
    if "fraction" in units and money:
        return [f"{name} of a percentage and {money}"]
    return []
