"""What speaks against a result, and how much.

    >>> from finexpert.core.plans import Compute
    >>> plan = Plan(steps=[Compute(id=3, operation="subtract", arguments=["step 1", "step 2"])])
    >>> values = {1: Value(5.0, period="2006", entity="sales"), 2: Value(7.0, period="2007", entity="sales")}
    >>> direction_of_time(plan, values)
    ['direction: step 3 takes 2007 from the earlier 2006']

A flag is a sentence; `WEIGHTS` says by its beginning how many points it takes from the confidence. Flags that came with the
values (a fuzzy label, a dash read as zero) count as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from finexpert.core.plans import Cell, Compute, Plan, Quote, reference
from finexpert.core.workspace import Value, Workspace
from finexpert.errors import CellError, OperationError
from finexpert.filings.page.filing import Filing
from finexpert.filings.page.labels import Label
from finexpert.plans import operations, unit_rules

START = 95
WEIGHTS: tuple[tuple[str, int], ...] = (
    ("the answer rests on no number", 40),
    ("unit: ", 15),
    ("different units", 25),
    ("different scales", 15),
    ("a product of", 5),
    ("direction: ", 10),
    ("range: ", 15),
    ("text and table: ", 15),
    ("earlier turn: ", 10),
    ("constant: ", 10),
    ("fuzzy", 6),
    ("the label", 15),
    ("row and column were given", 10),
    ("the first number of", 10),
    ("the number of", 4),
    ("a dash", 8),
    ("a percentage in the quote", 8),
    ("stands with a minus", 8),
)
UNKNOWN_FLAG, A_COMPUTE_STEP, A_QUOTE, AN_EARLIER_TURN = 5, 2, 2, 1

_PERCENT_WORDS = re.compile(r"%|percent|fraction|ratio|share")
_MONEY_WORDS = re.compile(r"\$|usd|dollar|eur|gbp|yen|million|billion|thousand")


def flags_of(
    plan: Plan, values: Mapping[int, Value], answer: Value, workspace: Workspace, filing: Filing | None
) -> list[str]:
    """All flags of a result, each once."""
    flags = [
        *answer.flags,
        *rests_on_nothing(answer),
        *direction_of_time(plan, values),
        *out_of_range(plan, values, answer),
        *unit_against_plan(plan, answer),
        *stated_numbers(plan, filing),
        *(text_against_table(plan, values, filing) if filing else []),
        *against_earlier_turns(plan, answer, workspace),
    ]
    return list(dict.fromkeys(flags))


def confidence(plan: Plan, flags: list[str]) -> int:
    """How sure a result is, from 0 to 100: what flags and steps leave of the start."""
    left = START - sum(weight_of(flag) for flag in flags)
    for step in plan.steps:
        left -= A_COMPUTE_STEP if isinstance(step, Compute) else A_QUOTE if isinstance(step, Quote) else 0
        left -= AN_EARLIER_TURN if any(found.kind == "turn" for found in step.references) else 0
    return max(0, min(100, left))


def weight_of(flag: str) -> int:
    return next((points for beginning, points in WEIGHTS if flag.startswith(beginning)), UNKNOWN_FLAG)


def rests_on_nothing(answer: Value) -> list[str]:
    return [] if answer.citations else ["the answer rests on no number of the page"]


def direction_of_time(plan: Plan, values: Mapping[int, Value]) -> list[str]:
    """A change is the later minus the earlier amount of one thing."""
    flags = []
    for step in plan.steps:
        if not isinstance(step, Compute) or len(step.arguments) != 2 or (name := _name(step)) is None:
            continue
        first, second = (_register(argument, values) for argument in step.arguments)
        if not first or not second or not first.period or not second.period or first.entity != second.entity:
            continue
        if name == "subtract" and first.period < second.period:
            flags.append(f"direction: step {step.id} takes {second.period} from the earlier {first.period}")
        if name == "percent_change" and first.period > second.period:
            flags.append(f"direction: step {step.id} goes from {first.period} back to {second.period}")
    return flags


def out_of_range(plan: Plan, values: Mapping[int, Value], answer: Value) -> list[str]:
    """Changes beyond tenfold, parts greater than the whole, numbers larger than any amount of money."""
    flags = []
    for step in plan.steps:
        value = values.get(step.id)
        if not isinstance(step, Compute) or value is None or not isinstance(value.value, float):
            continue
        name = _name(step)
        if name in ("percent_change", "cagr", "irr", "xirr") and abs(value.value) > 10:
            flags.append(f"range: step {step.id}, a {name.replace('_', ' ')} of {value.value:.6g}")
        if name in ("percent", "operating_profit_margin") and abs(value.value) > 1:
            flags.append(f"range: step {step.id}, a part of {value.value:.6g} of the whole")
    if isinstance(answer.value, float) and abs(answer.value) * answer.scale > 1e15:
        flags.append("range: more than any amount of money")
    return flags


def unit_against_plan(plan: Plan, answer: Value) -> list[str]:
    """The planner said what unit the answer has, the page says another."""
    said = (plan.unit or "").casefold()
    if answer.unit in ("fraction", "ratio", "percent") and _MONEY_WORDS.search(said):
        return [f"unit: the plan says {plan.unit}, the page gives a {answer.unit}"]
    if answer.unit and answer.unit.isupper() and _PERCENT_WORDS.search(said) and not _MONEY_WORDS.search(said):
        return [f"unit: the plan says {plan.unit}, the page gives {answer.unit}"]
    return []


def stated_numbers(plan: Plan, filing: Filing | None) -> list[str]:
    """A number of the page that the plan states by itself instead of reading it."""
    if filing is None:
        return []
    stated = {a for step in plan.steps if isinstance(step, Compute) for a in step.arguments if isinstance(a, float)}
    return [f"constant: {a:.12g} stands on the page, but was not read there" for a in sorted(stated) if _unusual(a)]


def text_against_table(plan: Plan, values: Mapping[int, Value], filing: Filing) -> list[str]:
    """A quoted number whose words name a row and whose year names a column, where the table has another number."""
    flags = []
    for step in plan.steps:
        value = values.get(step.id)
        if not isinstance(step, Quote) or value is None or not value.period or not isinstance(value.value, float):
            continue
        words = Label(step.quote).words
        for row in filing.row_names:
            core = Label(row).words
            if len(core) < 8 or not re.search(rf"\b{re.escape(core)}\b", words):
                continue
            try:
                cell = filing.cell(Cell(id=1, row=row, column=value.period))
            except CellError:
                continue
            if _disagree(value, cell):
                flags.append(f"text and table: the table has another number for {row!r} in {value.period}")
    return flags


def against_earlier_turns(plan: Plan, answer: Value, workspace: Workspace) -> list[str]:
    """The same amount with the other sign, or another number for what has the same name and the same time."""
    flags = []
    places = {(c.source, c.place) for c in answer.citations}
    for number, turn in enumerate(workspace.turns, start=1):
        earlier = turn.value
        if earlier is None or not isinstance(earlier.value, float) or not isinstance(answer.value, float):
            continue
        same_places = places == {(c.source, c.place) for c in earlier.citations}
        if same_places and answer.value == -earlier.value != 0:
            flags.append(f"earlier turn: turn {number} has the same amount with the other sign")
        named_alike = (answer.entity, answer.period) == (earlier.entity, earlier.period) and answer.period
        if named_alike and answer.value != earlier.value and _reads(plan) and turn.plan and _reads(turn.plan):
            flags.append(f"earlier turn: turn {number} read another number for {answer.entity!r} in {answer.period}")
    return flags


def _reads(plan: Plan) -> bool:
    """Whether a plan's answer is read from the page as it stands."""
    found = plan.answer_reference
    return found.kind == "step" and isinstance(plan.step(found.number), Cell)


def _disagree(text: Value, cell: Value) -> bool:
    """Whether two numbers of one kind differ by more than rounding; a scale told on one side only is no difference."""
    if not isinstance(text.value, float) or not isinstance(cell.value, float):
        return False
    if not unit_rules.compatible(text.unit, cell.unit) or (text.unit == "fraction") != (cell.unit == "fraction"):
        return False
    sizes = [(abs(text.value) * text.scale, abs(cell.value) * cell.scale), (abs(text.value), abs(cell.value))]
    return not any(abs(a - b) <= 0.02 * max(a, b) for a, b in sizes)


def _register(argument: float | str, values: Mapping[int, Value]) -> Value | None:
    found = reference(argument)
    return values.get(found.number) if found and found.kind == "step" else None


def _name(step: Compute) -> str | None:
    try:
        return operations.find(step.operation).name
    except OperationError:
        return None


def _unusual(number: float) -> bool:
    return not (number.is_integer() and abs(number) <= 12) and not (
        number > 0 and re.fullmatch(r"1e[+]?\d+|10*", f"{number:.0f}")
    )
