"""A plan in the official program language, and a gold program as a plan.

    >>> from finexpert.datasets.convfinqa.conversations import load
    >>> first = load()[0]
    >>> plan = from_official_program("subtract(486.2, 441.5)", first.filing, "and how much did they change?")
    >>> to_official_program(plan, first.filing, Workspace())
    ['subtract(', '486.2', '441.5', ')', 'EOF']

Not every plan can be written in that language (a median, a present value): then the result is None. A gold program says
which numbers, not where they stand: `from_official_program` takes the cell whose labels are most like the question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from finexpert.core.plans import Cell, Compute, Plan, Quote, Reference, Step, reference
from finexpert.core.workspace import Value, Workspace
from finexpert.datasets.convfinqa.programs import OVER_ROWS, read_token, tokenize
from finexpert.errors import PlanError, QuoteError, StepError
from finexpert.filings.page.filing import Filing
from finexpert.filings.page.folding import fold
from finexpert.plans import operations

_CONSTANTS = frozenset([*range(1, 11), *(10**n for n in range(2, 8)), 10**9])
_BINARY = {"add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "exp": "exp",
           "greater": "greater", "percent": "divide", "ratio": "divide", "operating_profit_margin": "divide",
           "current_ratio": "divide"}  # fmt: skip
_ROW = {"sum": "table_sum", "average": "table_average", "min": "table_min", "max": "table_max"}
_CHAINED = {"add": "add", "sum": "add", "average": "add", "multiply": "multiply"}


def to_official_program(plan: Plan, filing: Filing, workspace: Workspace) -> list[str] | None:
    """The tokens of a plan, ending with EOF; None where the language cannot say it.

    References to earlier turns are written out with the plans of those turns.
    """
    writer = _Writer(filing, workspace)
    try:
        token = writer.answer_of(plan, len(workspace.turns))
    except (_Unsayable, StepError):
        return None
    if token.startswith("#"):
        if int(token[1:]) != len(writer.steps) - 1:
            return None
        return [part for step in writer.steps for part in step] + ["EOF"]
    return [token, "EOF"] if not writer.steps else None


class _Unsayable(Exception):
    """The program language has no words for this."""


@dataclass
class _Writer:
    """Writes the steps that a plan's answer needs, in order, each once."""

    filing: Filing
    workspace: Workspace
    steps: list[tuple[str, str, str, str]] = field(default_factory=list)
    written: dict[tuple[int, int], str] = field(default_factory=dict)

    def answer_of(self, plan: Plan, turn: int) -> str:
        return self._referred(plan.answer_reference, plan, turn)

    def _referred(self, found: Reference, plan: Plan, turn: int) -> str:
        """The token of what a reference in the plan of a turn (counted from 0) means."""
        if found.kind == "step":
            key = (turn, found.number)
            if key not in self.written:
                self.written[key] = self._step(plan.step(found.number), plan, turn)
            return self.written[key]
        place = found.number - 1 if found.number > 0 else turn + found.number
        if found.number == 0 or not 0 <= place < turn:
            raise PlanError(f"there is no turn {found.number}")
        earlier = self.workspace.turns[place].plan
        if earlier is None:
            raise _Unsayable
        return self.answer_of(earlier, place)

    def _step(self, step: Step, plan: Plan, turn: int) -> str:
        if isinstance(step, Cell | Quote):
            value = self.filing.cell(step) if isinstance(step, Cell) else self.filing.quote(step)
            return _printed(value)
        if not isinstance(step, Compute):
            raise _Unsayable
        name = operations.find(step.operation).name
        if name in _ROW and len(step.arguments) == 1 and (row := self._row(step.arguments[0])) is not None:
            return self._write(_ROW[name], row, "none")
        tokens = [self._argument(argument, plan, turn) for argument in step.arguments]
        return self._compute(name, tokens)

    def _row(self, argument: float | str) -> str | None:
        """The exact name of the row that an argument means."""
        if isinstance(argument, float) or reference(argument):
            return None
        self.filing.row(argument)
        return next((name for name in self.filing.row_names if fold(name) == fold(argument)), None)

    def _argument(self, argument: float | str, plan: Plan, turn: int) -> str:
        if isinstance(argument, float):
            return _constant(argument)
        found = reference(argument)
        if found is None:
            raise _Unsayable
        return self._referred(found, plan, turn)

    def _compute(self, name: str, tokens: Sequence[str]) -> str:
        if name == "absolute" and not tokens[0].startswith("#"):
            return tokens[0].lstrip("-")
        if name in _BINARY and len(tokens) == 2:
            return self._write(_BINARY[name], tokens[0], tokens[1])
        if name in _CHAINED and tokens:
            result = tokens[0]
            for token in tokens[1:]:
                result = self._write(_CHAINED[name], result, token)
            return self._write("divide", result, _constant(float(len(tokens)))) if name == "average" else result
        if name == "percent_change":
            return self._write("divide", self._write("subtract", tokens[1], tokens[0]), tokens[0])
        if name == "cagr":
            growth = self._write("divide", tokens[1], tokens[0])
            root = self._write("divide", "const_1", tokens[2])
            return self._write("subtract", self._write("exp", growth, root), "const_1")
        raise _Unsayable

    def _write(self, operation: str, first: str, second: str) -> str:
        self.steps.append((f"{operation}(", first, second, ")"))
        return f"#{len(self.steps) - 1}"


def _constant(number: float) -> str:
    if number == -1:
        return "const_m1"
    if number in _CONSTANTS:
        return f"const_{number:.0f}"
    return f"{number:.12g}"


def _printed(value: Value) -> str:
    """The digits of a value as printed, in the way the programs write them."""
    text = fold(str(value.citations[0].value))
    digits = value.value * 100 if value.unit == "fraction" and isinstance(value.value, float) else value.value
    for found in re.finditer(r"\d[\d,]*(?:\.\d+)?|\.\d+", text):
        if isinstance(digits, float) and abs(float(found[0].replace(",", "")) - abs(digits)) < 1e-9 * max(
            1, abs(digits)
        ):
            sign = "-" if digits < 0 else ""
            return f"{sign}{found[0].replace(',', '')}{'%' if value.unit == 'fraction' else ''}"
    return f"{digits:.12g}{'%' if value.unit == 'fraction' else ''}"


def from_official_program(program: str, filing: Filing, question: str = "") -> Plan:
    """A gold program as a plan that reads its numbers from the page; PlanError where one does not stand there."""
    tokens = tokenize(program)[:-1]
    steps: list[Step] = []
    reads: dict[str, str] = {}

    def read(token: str) -> float | str:
        if token.startswith("const_"):
            return read_token(token)
        if token not in reads:
            steps.extend(_reading(token, len(steps) + 1, filing, question))
            reads[token] = f"step {len(steps)}"
        return reads[token]

    if len(tokens) == 1:
        read(tokens[0])
        return Plan(steps=steps)
    results: list[str] = []
    for start in range(0, len(tokens), 4):
        name, first, second = tokens[start].strip("("), tokens[start + 1], tokens[start + 2]
        if name in OVER_ROWS:
            arguments: list[float | str] = [first]
            name = name.removeprefix("table_")
        else:
            arguments = [results[int(t[1:])] if t.startswith("#") else read(t) for t in (first, second)]
        steps.append(Compute(id=len(steps) + 1, operation=name, arguments=arguments))
        results.append(f"step {len(steps)}")
    return Plan(steps=steps)


def _reading(token: str, number: int, filing: Filing, question: str) -> list[Step]:
    """The steps that read a number: from the cell most like the question, else from the sentence most like it.

    Where the page prints it as negative or as a percentage and the program does not, a further step converts it.
    """
    value = read_token(token)
    if cell := _cell(value, number, filing, question):
        return [cell]
    if quote := _quote(token, number, filing, question):
        return [quote]
    if cell := _cell(-value, number, filing, question):
        return [cell, Compute(id=number + 1, operation="absolute", arguments=[f"step {number}"])]
    if cell := _cell(value / 100, number, filing, question):
        return [cell, Compute(id=number + 1, operation="multiply", arguments=[f"step {number}", 100.0])]
    raise PlanError(f"the number {token} stands neither in the table nor in the text")


def _cell(value: float, number: int, filing: Filing, question: str) -> Cell | None:
    found = [
        (fuzz.token_set_ratio(f"{cell.entity} {cell.period or ''}", fold(question)), -row, -column)
        for row, column, cell in filing.cells()
        if isinstance(cell.value, float) and abs(cell.value - value) < 1e-9 * max(1.0, abs(value))
    ]
    if not found:
        return None
    _, row, column = max(found)
    label, header = filing.labels(-row, -column)
    return Cell(id=number, row=label, column=header, row_number=-row, column_number=-column)


def _quote(token: str, number: int, filing: Filing, question: str) -> Quote | None:
    ranked = sorted(
        (*filing.pre_text, *filing.post_text),
        key=lambda sentence: -fuzz.token_set_ratio(fold(sentence), fold(question)),
    )
    for sentence in ranked:
        step = Quote(id=number, quote=sentence, value=token)
        try:
            filing.quote(step)
        except QuoteError:
            continue
        return step
    return None
