"""What was read on several pages, proved: carried out by the program, at the time of asking and at every replay.

    reading = Reading(values=[...], computed=[...], answer="The margin fell from {m21} to {m22}.", kind="text")
    carried_out(reading, library.page).text     # "The margin fell from 36.8% to 34.6%."

Every number of the answer is one that a page prints or one that the program computed from such numbers. The model's own numbers
are never shown. What cannot be computed is left out and said.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import BaseModel, Field

from finexpert import operations, page_reading, unit_rules
from finexpert.errors import PlanError, StepError
from finexpert.filings.formula import as_steps, parsed
from finexpert.plans import Cell, Compute, Plan, Quote, Search, Step, reference
from finexpert.sources.folding import fold
from finexpert.sources.library_records import LibraryPage
from finexpert.sources.numbers import SCALES, printed_numbers
from finexpert.workspace import Value

Kind = Literal["number", "text", "yes/no", "name", "list", "table"]
FindPage = Callable[[str], LibraryPage]
_PLACEHOLDER = re.compile(r"\{\{?\s*([A-Za-z_]\w*)\s*\}?\}")
_SCALE_WORD = re.compile(r"\b(thousand|million|billion|trillion)s?\b|\b(mn|bn)\b", re.IGNORECASE)
_SCALE_NAMES = {1e3: "thousand", 1e6: "million", 1e9: "billion"}
_SHARES = ("fraction", "ratio")
_POINTS = re.compile(r"%|percent|\bpp\b", re.IGNORECASE)
_BASIS_POINTS = re.compile(r"basis points|\bbps?\b", re.IGNORECASE)
_YEARS = range(1900, 2101)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_SMALL = 12


class ProvedValue(BaseModel):
    """A number that stands on a page, with the step that reads it there."""

    name: str
    page: str
    step: Cell | Quote
    printed: str
    quote: str
    without_sign: bool = Field(default=False, description="printed in brackets, and meant as an amount")


class Computation(BaseModel):
    """A number that is computed from others."""

    name: str
    what: str
    formula: str
    unit: str = ""
    decimals: int = 2


class ProvedWords(BaseModel):
    """A claim, and the words of a page that it rests on."""

    says: str
    page: str
    quote: str


class Reading(BaseModel):
    """All that an answer rests on; kept in its record."""

    values: list[ProvedValue] = Field(default_factory=list)
    computed: list[Computation] = Field(default_factory=list)
    statements: list[ProvedWords] = Field(default_factory=list)
    kind: Kind = "text"
    result: str = ""
    items: list[str] = Field(default_factory=list)
    answer: str = ""

    @property
    def cited(self) -> list[tuple[str, str]]:
        """The pages with the words quoted from them."""
        values = [(value.page, value.quote) for value in self.values]
        return values + [(words.page, words.quote) for words in self.statements]


@dataclass
class CarriedOut:
    """A reading with its numbers: the plan that gave them, the values by name, and what could not be done."""

    plan: Plan
    values: dict[str, Value] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    text: str = ""
    notes: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def carried_out(reading: Reading, page: FindPage) -> CarriedOut:
    """Read and compute all values anew. LibraryError where a page is gone."""
    run = _Run(page)
    for value in reading.values:
        run.read(value)
    for computed in reading.computed:
        run.compute(computed)
    done = run.done
    done.text = filled(reading.answer, done.shown)
    wanted = [name for name in [*_PLACEHOLDER.findall(reading.answer), reading.result] if name]
    done.missing = [name for name in dict.fromkeys(wanted) if name not in done.shown]
    last = run.names.get(reading.result)
    about = "\n".join([done.text, *done.lines])
    done.plan = Plan(steps=run.steps, answer=last, interpretation=about, entity=done.text[:200])
    return done


def filled(text: str, shown: Mapping[str, str]) -> str:
    """A text with its numbers put in; a unit that the text itself has beside the place is not said twice.

    >>> filled("It rose to ${a} million, or {b}.", {"a": "5,363 million USD", "b": "34.6%"})
    'It rose to $5,363 million, or 34.6%.'
    """

    def put(found: re.Match[str]) -> str:
        words = shown.get(found[1])
        if words is None:
            return found[0]
        number, _, unit = words.partition(" ")
        after = text[found.end() : found.end() + 24]
        before = text[max(0, found.start() - 5) : found.start()]
        if unit and (
            _SCALE_WORD.match(after.lstrip()) or re.match(r"\s*(?:USD|dollars|%|percent|times|x\b|days)", after)
        ):
            return number
        if unit and before.rstrip().endswith("$"):
            return " ".join(filter(None, [number, unit.replace("USD", "").strip()]))
        return f"{number.removesuffix('%')}" if number.endswith("%") and re.match(r"\s*(?:%|percent)", after) else words

    return _PLACEHOLDER.sub(put, text)


def unsupported(reading: Reading, question: str) -> list[str]:
    """The numbers of the answer's own words that stand neither in a quote nor in the question; years and small counts apart.

    >>> unsupported(Reading(answer="It grew by 13.5% from 2021 to {b}."), "What was the growth?")
    ['13.5']
    """
    known = {
        number.digits
        for text in (*(quote for _, quote in reading.cited), question)
        for number in printed_numbers(fold(text))
    }
    plain = _PLACEHOLDER.sub(" ", reading.answer)
    said = {number.digits for number in printed_numbers(fold(plain))}
    return [
        f"{number:,.12g}"
        for number in sorted(said)
        if number not in known and not (number.is_integer() and (number in _YEARS or number <= _SMALL))
    ]


class _Run:
    """The registers of one reading."""

    def __init__(self, page: FindPage) -> None:
        self._page = page
        self.steps: list[Step] = []
        self.names: dict[str, str] = {}
        self._registers: dict[int, Value] = {}
        self.done = CarriedOut(Plan(steps=[]))

    def read(self, value: ProvedValue) -> None:
        page = self._page(value.page)
        plan = Plan(steps=[value.step])
        search = Search(
            id=self._next, question=value.name, company=page.company, year=page.fiscal_year, page=page.id, plan=plan
        )
        try:
            found = page_reading.read_page(page, plan)[0]
        except StepError as error:
            self._left_out(value.name, error)
            return
        self.steps.append(search)
        self._registers[search.id] = replace(found, flags=())
        self.done.notes += _other_year(page, value)
        if value.without_sign:
            self._apply(Compute(id=self._next, operation="absolute", arguments=[f"step {search.id}"]))
        self._named(value.name, self._registers[self.steps[-1].id], _printed(value, self._registers[self.steps[-1].id]))

    def compute(self, computed: Computation) -> None:
        before = len(self.steps)
        try:
            for step in as_steps(computed.formula, self.names, self._next):
                self._apply(step)
        except StepError as error:
            del self.steps[before:]
            self._left_out(computed.what or computed.name, error)
            return
        value = self._registers[self.steps[-1].id]
        self.done.notes += [f"{computed.what or computed.name}: {flag}" for flag in value.flags]
        shown, note = _shown(value, computed)
        self.done.notes += [note] if note else []
        self._named(computed.name, value, shown)
        formula = computed.formula.strip()
        if formula in self.names:
            return
        numbers = re.sub(r"[A-Za-z_]\w*", lambda found: self._plain(found[0]), formula)
        self.done.lines.append(f"{computed.what or computed.name} = {formula} = {numbers} = {shown}")

    def _plain(self, name: str) -> str:
        """A value as it stands in a formula, without its unit and brackets; the name of an operation as it is."""
        number = self.done.shown.get(name, name).partition(" ")[0]
        return f"-{number[1:-1]}" if re.fullmatch(r"\([\d.,]+\)", number) else number

    @property
    def _next(self) -> int:
        return len(self.steps) + 1

    def _apply(self, step: Compute) -> None:
        values = [self._argument(argument) for argument in step.arguments]
        self._registers[step.id] = operations.apply(step.operation, unit_rules.on_one_scale(values))
        self.steps.append(step)

    def _argument(self, argument: float | str) -> Value:
        if isinstance(argument, float):
            return Value(argument)
        if (found := reference(argument)) is None:
            raise PlanError(f"{argument!r} is neither a value nor a number")
        return self._registers[found.number]

    def _named(self, name: str, value: Value, shown: str) -> None:
        self.names[name] = f"step {self.steps[-1].id}"
        self.done.values[name], self.done.shown[name] = value, shown

    def _left_out(self, what: str, error: StepError) -> None:
        self.done.notes.append(f"{what} is left out: {error}")


def _other_year(page: LibraryPage, value: ProvedValue) -> list[str]:
    """A doubt where a value is called by a year, and stands under another one while its table has a column of that year."""
    step, named = value.step, set(_YEAR.findall(value.name))
    if not isinstance(step, Cell) or step.row_number is None or step.column_number is None or len(named) != 1:
        return []
    filing, row = page.as_filing(), page.table[step.row_number]
    under = [set(_YEAR.findall(filing.labels(step.row_number, column)[1])) for column in range(len(row))]
    own = under[step.column_number]
    if not own or own & named:
        return []
    meant = [row[column] for column, years in enumerate(under) if years & named]
    if not meant or any(cell.strip() == row[step.column_number].strip() for cell in meant):
        return []
    return [f"{value.name} is read from the column of {', '.join(sorted(own))}: {value.printed} on {page.label}"]


def _printed(value: ProvedValue, found: Value) -> str:
    """A number as its page prints it, with the unit of its table."""
    number = value.printed.strip().strip("$").strip()
    if found.unit in _SHARES or "%" in number:
        return number.replace(" ", "")
    if value.without_sign:
        number = number.strip("()- ")
    unit = unit_words(found)
    return f"{number} {unit}" if unit and not _SCALE_WORD.search(number) else number


def unit_words(value: Value) -> str:
    """
    >>> unit_words(Value(5.0, unit="USD", scale=1e6)), unit_words(Value(0.5, unit="ratio"))
    ('million USD', '')
    """
    unit = None if value.unit in _SHARES else value.unit
    return " ".join(filter(None, [_SCALE_NAMES.get(value.scale), unit]))


def _shown(value: Value, computed: Computation) -> tuple[str, str]:
    """A computed number with its unit, and what to know of it where model and pages do not agree on its scale."""
    if isinstance(value.value, str | list):
        return str(value.value), ""
    number = in_unit(value, computed)
    words = f"{number + 0.0:,.{max(0, min(computed.decimals, 6))}f}"
    unit = computed.unit.strip()
    if _POINTS.search(unit):
        return words + ("%" if unit in ("%", "percent") else f" {unit}"), ""
    said = _SCALE_WORD.search(unit)
    said_scale = SCALES.get((said[0].lower().rstrip("s") if said else ""), 1.0)
    if value.scale != 1.0 and value.scale != said_scale:
        own = unit_words(value)
        return (
            f"{words} {own}",
            f"{computed.what or computed.name} is in {own} by the pages, not in {unit or 'plain units'}",
        )
    return f"{words} {unit}".strip(), ""


def in_unit(value: Value, computed: Computation) -> float:
    """A computed number in the unit in which it is asked for: a share as a percentage, if it is one.

    >>> in_unit(Value(0.308, unit="ratio"), Computation(name="g", what="growth", formula="(a - b) / b", unit="%"))
    30.8
    >>> in_unit(Value(3.0), Computation(name="d", what="change of a rate printed as 23", formula="a - b", unit="%"))
    3.0
    """
    number = float(value.value)  # type: ignore[arg-type]
    if _BASIS_POINTS.search(computed.unit) and _is_share(value, computed.formula):
        return round(number * 10_000, 10)
    if _POINTS.search(computed.unit) and _is_share(value, computed.formula):
        return round(number * 100, 10)
    return number


def _is_share(value: Value, formula: str) -> bool:
    """Whether a number is a plain quotient, which 100 makes a percentage."""
    tree = parsed(formula)
    products = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)]
    if any(
        isinstance(side, ast.Constant) and side.value in (100, 10_000) for p in products for side in (p.left, p.right)
    ):
        return False
    quotients = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)]
    if any(isinstance(q.right, ast.Constant) and q.right.value in (100, 10_000) for q in quotients):
        return True
    # One value over another, and not the mean of two that are printed as percentages already.
    divides = any(isinstance(node, ast.Name) for quotient in quotients for node in ast.walk(quotient.right))
    return value.unit in _SHARES or (divides and value.unit is None)
