"""Questions over a library of filings, and their gold.

A question file holds one JSON object a line:

    {"id": "unp_fcf_2013", "question": "What was Union Pacific's free cash flow in 2013, in millions of dollars?",
     "category": "simple search", "pages": ["UNP/2013/page_24.pdf"], "answer_format": {"kind": "number"},
     "program": [{"kind": "cell", "id": 1, "page": "UNP/2013/page_24.pdf", "row": "free cash flow", "column": "2013"}]}

- `program`: the steps that lead to the gold, the last one giving it: `cell`, `quote` and `compute` as in `finexpert.core.plans`,
  the first two with their `page`; `choose` gives the name whose value is greatest or least; `select` is one value of the
  table of companies in SQL, with `expect` where the steps after it rest on what it gives today.
- `gold`: the right answer, where there is no program; `{"not_found": true}` where the library has nothing on the subject.
- `as_of` is the question's today, `pages` are the pages that an answer rests on, `alternatives` other pages that hold the same
  numbers as one of them (a later report repeats those of the years before), `split` is train (prompts may be tuned on it)
  or dev. Only `id` and `question` must stand there; fields not named here are kept, and not read.

The packaged questions rest on pages that are not packaged: gold is computed on the user's own copy. Numbers are as the page prints
them ("in millions"), shares and changes are fractions. Scoring is `scoring`.
"""

from __future__ import annotations

import datetime as dt
import importlib.resources
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, model_validator

from finexpert.core.answers import AnswerFormat
from finexpert.core.plans import Cell, Compute, Quote, reference
from finexpert.core.workspace import Value
from finexpert.datasets.evaluations.question_lines import records_of, text_of
from finexpert.errors import DataError, LibraryError, QuestionFileError, StepError
from finexpert.filings.companies.companies import Companies
from finexpert.filings.records import LibraryPage
from finexpert.plans import operations

PACKAGED = "filings.jsonl"
NOT_FOUND = {"not_found": True}


class Pages(Protocol):
    """What gold is computed on: a `Library`. `page` must raise LibraryError where there is no such page."""

    @property
    def companies(self) -> Companies: ...

    def page(self, id: str) -> LibraryPage: ...


class PageCell(Cell):
    """Read one cell of a page's table."""

    page: str = Field(min_length=1)


class PageQuote(Quote):
    """Read a number from a sentence of a page."""

    page: str = Field(min_length=1)


class Choose(BaseModel):
    """Give the name whose value is the greatest or the least; a tie has no answer."""

    kind: Literal["choose"] = "choose"
    id: int = Field(ge=1)
    pick: Literal["max", "min"]
    names: tuple[str, ...] = Field(min_length=2)
    arguments: tuple[str, ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _as_many(self) -> Choose:
        if len(self.names) != len(self.arguments):
            raise ValueError(f"{len(self.names)} names, but {len(self.arguments)} arguments")
        return self


class Select(BaseModel):
    """Read one value of the table of companies."""

    kind: Literal["select"] = "select"
    id: int = Field(ge=1)
    select: str = Field(min_length=1)
    expect: str | None = None


ProgramStep = Annotated[PageCell | PageQuote | Compute | Choose | Select, Field(discriminator="kind")]


class FilingQuestion(BaseModel):
    """One line of a question file; see the head of this file for its fields."""

    model_config = ConfigDict(frozen=True, extra="allow")

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    as_of: dt.date | None = None
    category: str | None = None
    pages: tuple[str, ...] = ()
    alternatives: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    program: tuple[ProgramStep, ...] = ()
    answer_format: AnswerFormat = AnswerFormat()
    split: Literal["train", "dev"] = "dev"
    gold: Any = None

    @model_validator(mode="after")
    def _fits(self) -> FilingQuestion:
        known: set[int] = set()
        for step in self.program:
            wanted = [reference(argument) for argument in getattr(step, "arguments", ())]
            if unknown := [ref.number for ref in wanted if ref and (ref.kind != "step" or ref.number not in known)]:
                raise ValueError(f"step {step.id} of the program refers to step {unknown[0]}, which is not before it")
            if step.id in known:
                raise ValueError(f"the program has two steps {step.id}")
            known.add(step.id)
        if self.gold is not None and self.program:
            raise ValueError("a question has a gold or a program, not both")
        if strangers := [page for page in self.alternatives if page not in self.pages]:
            raise ValueError(f"alternatives are given for {strangers[0]}, which is none of the pages")
        unread = {page for page in self.pages if self.program and page not in self.program_pages}
        if missing := [page for page in self.program_pages if page not in self.pages] + sorted(unread):
            raise ValueError(f"pages and program do not name the same pages: {missing[0]}")
        return self

    @property
    def program_pages(self) -> list[str]:
        """The pages that the program reads, in order, each once."""
        return list(dict.fromkeys(step.page for step in self.program if isinstance(step, PageCell | PageQuote)))


def load_questions(path: Path | None = None) -> list[FilingQuestion]:
    """The questions of a file, or the packaged ones. QuestionFileError names the file and the line."""
    if path is None:
        name = PACKAGED
        text = (importlib.resources.files("finexpert.datasets") / "questions" / name).read_text(encoding="utf-8")
    else:
        name, text = str(path), text_of(path, "name another with --questions, or none for the packaged ones")
    return parse_questions(text, name)


def parse_questions(text: str, name: str) -> list[FilingQuestion]:
    """The questions of a text, one JSON object a line; `name` is what errors call it."""
    questions: dict[str, FilingQuestion] = {}
    for place, question in records_of(text, name, FilingQuestion, "question"):
        if question.id in questions:
            raise QuestionFileError(f"{place}: the id {question.id!r} stands twice")
        questions[question.id] = question
    return list(questions.values())


def gold(question: FilingQuestion, library: Pages) -> Any:
    """The right answer: as the file says, or by the program on the pages of this library.

    DataError where the program does not run there: a page is missing, or says something else.
    """
    if not question.program:
        if question.gold is None:
            raise DataError(f"question {question.id!r} has neither gold nor program: write one into the file")
        return question.gold
    values: dict[int, Value] = {}
    step: ProgramStep | None = None
    try:
        for step in question.program:
            values[step.id] = _value(step, values, library)
        return question.answer_format.coerce(values[question.program[-1].id].value)
    except (StepError, LibraryError) as error:
        place = f"step {step.id}" if step else "program"
        raise DataError(f"the gold of question {question.id!r} cannot be computed, {place}: {error}") from error


def missing_pages(questions: Sequence[FilingQuestion], library: Pages) -> list[str]:
    """The pages that questions rest on and a library does not have."""
    missing: list[str] = []
    for page in dict.fromkeys(page for question in questions for page in question.pages):
        try:
            library.page(page)
        except LibraryError:
            missing.append(page)
    return missing


def _value(step: ProgramStep, values: dict[int, Value], library: Pages) -> Value:
    if isinstance(step, PageCell):
        return library.page(step.page).as_filing().cell(step)
    if isinstance(step, PageQuote):
        return library.page(step.page).as_filing().quote(step)
    if isinstance(step, Select):
        return _selected(step, library)
    arguments = [_argument(argument, values) for argument in step.arguments]
    if isinstance(step, Compute):
        return operations.apply(step.operation, arguments)
    numbers = [float(value.value) for value in arguments]  # type: ignore[arg-type]
    best = max(numbers) if step.pick == "max" else min(numbers)
    if numbers.count(best) > 1:
        raise DataError(f"step {step.id}: {best:g} is the value of several of {', '.join(step.names)}")
    return Value(step.names[numbers.index(best)])


def _argument(argument: float | str, values: dict[int, Value]) -> Value:
    ref = reference(argument)
    return values[ref.number] if ref else Value(argument)


def _selected(step: Select, library: Pages) -> Value:
    with library.companies.warehouse() as warehouse:
        data = warehouse.query(step.select).data
    if data.shape != (1, 1):
        raise DataError(
            f"step {step.id}: the SELECT gives {data.shape[0]} rows of {data.shape[1]} columns, not one value"
        )
    value: Any = data.iloc[0, 0]
    plain: Any = value.item() if hasattr(value, "item") else value
    if step.expect is not None and str(plain) != step.expect:
        raise DataError(
            f"step {step.id}: the table of companies gives {plain!r}, but the program rests on {step.expect!r}"
        )
    return Value(plain)
