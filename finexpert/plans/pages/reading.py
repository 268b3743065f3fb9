"""What was read on several pages, proved: carried out by the program, at the time of asking and at every replay.

    reading = Reading(values=[...], computed=[...], sentences=["The margin fell from {m21} to {m22}."], kind="text")
    carried_out(reading, library.page).text     # "The margin fell from 36.8% to 34.6%."

Every number of the answer is one that a page prints or one that the program computed from such numbers. The model's own numbers
are never shown. What cannot be computed is left out and said.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from finexpert.core.answers import Sentence, in_words
from finexpert.core.plans import Cell, Compute, Plan, Search, Step, reference
from finexpert.core.workspace import Value
from finexpert.errors import PlanError, StepError
from finexpert.filings.page.folding import fold
from finexpert.filings.page.numbers import printed_numbers
from finexpert.filings.page.table import YEAR, PageTable
from finexpert.filings.page.tags import DIFFERS
from finexpert.filings.records import LibraryPage
from finexpert.plans import operations, unit_rules
from finexpert.plans.pages import page as page_reading
from finexpert.plans.pages.formula import as_steps
from finexpert.plans.pages.proved import NAMES, Computation, ProvedValue, Reading
from finexpert.plans.pages.wording import (
    PLACEHOLDER,
    computed_words,
    filled,
    in_named_scale,
    other_scale,
    printed_words,
    unpaged_scales,
)

FindPage = Callable[[str], LibraryPage]
_YEARS = range(1900, 2101)
_MONTH = "(?:" + "|".join(f"{name}|{name[:3]}\\." for name in calendar.month_name[1:]) + ")"
_DAY = re.compile(rf"\b{_MONTH} \d{{1,2}}\b(?![.,]\d)|\b\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}(?!\w)")
_SMALL = 12


@dataclass
class CarriedOut:
    """A reading with its numbers: the plan that gave them, the values by name, and what could not be done."""

    plan: Plan
    values: dict[str, Value] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    sentences: list[Sentence] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The answer's sentences, with their numbers."""
        return in_words(self.sentences)


def carried_out(reading: Reading, page: FindPage) -> CarriedOut:
    """Read and compute all values anew. LibraryError where a page is gone."""
    run = _Run(page)
    for value in reading.values:
        run.read(value)
    for computed in reading.computed:
        run.compute(computed)
    done = run.done
    for said in reading.sentences:
        done.sentences.append(Sentence(says=filled(said.says, done.shown), cites=reading.cites(said)))
        done.notes += unpaged_scales(said.says, done.shown)
    wanted = [name for name in [*PLACEHOLDER.findall(reading.answer), reading.result] if name]
    formulas = " ".join(computed.formula for computed in reading.computed)
    on_the_way = set(NAMES.findall(formulas)) - set(wanted)
    done.notes += [note for name, notes in run.products.items() if name not in on_the_way for note in notes]
    done.missing = [name for name in dict.fromkeys(wanted) if name not in done.shown]
    last = run.names.get(reading.result)
    about = "\n".join(filter(None, [done.text, *done.lines]))
    done.plan = Plan(steps=run.steps, answer=last, interpretation=about, entity=done.text[:200])
    return done


def unsupported(reading: Reading, question: str) -> list[str]:
    """The numbers of the answer's own words that stand neither in a quote nor in the question; years and small counts apart.

    >>> from finexpert.plans.pages.proved import ProvedSentence
    >>> said = ProvedSentence(says="It grew by 13.5% from 2021 to {b}.")
    >>> unsupported(Reading(sentences=[said]), "What was the growth?")
    ['13.5']
    >>> said = ProvedSentence(says="It was signed on June 30, 2023, and ends on 31 Dec.")
    >>> unsupported(Reading(sentences=[said]), "When?")
    []
    """
    known = {
        number.digits
        for text in (*(quote for _, quote in reading.cited), question)
        for number in printed_numbers(fold(text))
    }
    plain = _DAY.sub(" ", PLACEHOLDER.sub(" ", reading.answer))
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
        self.products: dict[str, list[str]] = {}

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
        differs = [f"{value.name}: {flag}" for flag in found.flags if flag.startswith(DIFFERS)]
        self.done.notes += [*other_year(page, value), *other_scale(value, found), *differs]
        if value.without_sign:
            self._apply(Compute(id=self._next, operation="absolute", arguments=[f"step {search.id}"]))
        self._named(
            value.name, self._registers[self.steps[-1].id], printed_words(value, self._registers[self.steps[-1].id])
        )

    def compute(self, computed: Computation) -> None:
        before = len(self.steps)
        try:
            for step in as_steps(computed.formula, self.names, self._next):
                self._apply(step)
        except StepError as error:
            del self.steps[before:]
            self._left_out(computed.what or computed.name, error)
            return
        value = in_named_scale(unit_rules.settled(found := self._registers[self.steps[-1].id]))
        shown, note = computed_words(value, computed)
        notes = [*(f"{computed.what or computed.name}: {flag}" for flag in value.flags), *filter(None, [note])]
        # A product of two amounts may be a step on the way: what is said of it depends on whether it is shown.
        (self.done.notes if value.unit == found.unit else self.products.setdefault(computed.name, [])).extend(notes)
        self._named(computed.name, value, shown)
        formula = computed.formula.strip()
        if formula in self.names:
            return
        numbers = NAMES.sub(lambda found: self._plain(found[0]), formula)
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


def other_year(page: LibraryPage, value: ProvedValue) -> list[str]:
    """A doubt where a value is called by a year, and stands under another one while its table has a column of that year."""
    step, named = value.step, set(YEAR.findall(value.name))
    if not isinstance(step, Cell) or step.row_number is None or step.column_number is None or len(named) != 1:
        return []
    row = page.table[step.row_number]
    under = PageTable(page.table).years[: len(row)]
    own = under[step.column_number]
    if not own or own & named:
        return []
    meant = [row[column] for column, years in enumerate(under) if years & named]
    if not meant or any(cell.strip() == row[step.column_number].strip() for cell in meant):
        return []
    return [f"{value.name} is read from the column of {', '.join(sorted(own))}: {value.printed} on {page.label}"]
