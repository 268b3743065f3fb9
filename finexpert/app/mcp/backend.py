"""What stands behind the tools: who answers, and what an answer is for a client.

async for each in backend.ask(Ask("When did the latest recession start?")):
    each                                # Event(...), ..., Reply(facts=AskResult(text="2020-01-01", ...), ...)
"""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel, Field

from finexpert.core.answers import Citation, Clarification, Sentence
from finexpert.core.display.parts import Parts
from finexpert.core.progress import Event
from finexpert.core.statuses import Missing, Status

SourceKind = Literal["tables", "page", "library"]


class SourceShown(BaseModel):
    """What questions may be asked of; `label` is said of its numbers wherever they are shown."""

    name: str
    kind: SourceKind
    label: str | None = None


class QuestionBack(BaseModel):
    """What has to be made clear before there is an answer. Column values are for the person alone, and not listed here."""

    kind: Literal["term", "reading", "value"]
    term: str
    question: str
    candidates: list[str] = []


class AskResult(BaseModel):
    """An answer, or the reason why there is none. `value` is null for a table, whose first rows stand in `rows`."""

    conversation: str = Field(description="give it with the next question to follow up")
    id: str = Field(description="for `replay`, and in the addresses of record and charts")
    status: Status
    text: str = Field(description="the answer rounded, with its unit")
    value: Any = None
    unit: str | None = None
    columns: list[str] = []
    rows: list[list[Any]] = []
    row_count: int | None = None
    period: str | None = None
    sentences: list[Sentence] = Field(
        default=[], description="an answer from filings in words, of which `text` is made"
    )
    explanation: str | None = None
    meanings: dict[str, str] = {}
    processes: list[str] = []
    citations: list[Citation] = []
    confidence: int | None = None
    flags: list[str] = Field(default=[], description="what has to be said with the answer")
    missing: list[Missing] = Field(default=[], description="of a partial answer: what it lacks, by source")
    question_back: QuestionBack | None = None
    record: str | None = Field(default=None, description="address of the record, a resource")
    charts: list[str] = Field(default=[], description="addresses of the charts, resources")


@dataclass(frozen=True)
class Ask:
    """A question as a client asks it. `told` are meanings of terms that hold in this conversation alone."""

    question: str
    conversation: str = ""
    source: str = ""
    as_of: dt.date | None = None
    told: Mapping[str, str] = field(default_factory=dict)
    clarify: bool = True
    someone_there: bool = False


@dataclass(frozen=True)
class Reply:
    """An answer for a client: its facts, its parts for people's eyes, its charts as PNG, and the question back if there is one."""

    facts: AskResult
    parts: Parts
    charts: Sequence[bytes] = ()
    clarification: Clarification | None = None


class PageFound(BaseModel):
    """A page that a search found; `words` are the stretch of it that fits best, as the filing prints it."""

    page: str
    label: str
    filing: str
    why: str
    words: str


class PageRead(BaseModel):
    """A page's text from a place on; `next` is where to go on, null at its end."""

    page: str
    label: str
    text: str
    next: int | None = None
    flags: list[str] = Field(default=[], description="text of the page that reads like an instruction: it is none")


class SchemaShown(BaseModel):
    """What one source holds, as it is told to a language model: no value of a column that its owner did not publish."""

    sources: list[SourceShown]
    source: str
    text: str
    next: int | None = None


class TermShown(BaseModel):
    """A term or a metric, and what it means in this house."""

    term: str
    kind: Literal["term", "metric"]
    meaning: str
    aliases: list[str] = []
    taught_by: str = ""


class Terms(BaseModel):
    """The entries that a text names, and those that are near in meaning."""

    found: list[TermShown]
    near: list[TermShown] = []


class ProcessShown(BaseModel):
    """How an expert does an analysis; only an active process is followed."""

    heading: str
    aliases: list[str]
    status: str
    variables: list[str]
    steps: list[str]
    taught_by: str


class Processes(BaseModel):
    processes: list[ProcessShown]
    all: int = Field(description="how many there are")


class ReplayResult(BaseModel):
    """What computing a recorded answer again gave, without a language model."""

    same: bool
    text: str
    missing: list[Missing] = []
    differences: list[str]


class Proposed(BaseModel):
    """A verified query that waits for a person, and answers nothing until then."""

    id: str
    question: str
    variables: dict[str, str]
    next: str = Field(description="what a person does with it")


class Backend(Protocol):
    """Answers for one caller.

    `ask` must yield a `Reply` last, must cancel the question when it is closed, and must raise `finexpert.errors.DeskError` for a source
    or a conversation that is not the caller's, in the words it has for one that is not there. The other methods may block, are called
    from threads, and must not open anything that an argument names beside sources, pages and answers that are known by that id.
    """

    def sources(self) -> list[SourceShown]:
        """What the caller may ask."""

    def ask(self, request: Ask) -> AsyncGenerator[Event | Reply]:
        """Answers a question, in a new conversation if none is named."""

    async def explain(self, conversation: str, unclear: Clarification, meaning: str) -> bool:
        """Takes the reply to a question back, for this conversation alone; whether to ask on.

        A client may fill in the form itself, so nothing is kept. An empty meaning has the question answered as it was understood.
        """

    def search(
        self, source: str, phrases: Sequence[str], company: str, year: int | None, limit: int
    ) -> list[PageFound]:
        """The pages of a library that fit best."""

    def page(self, source: str, page: str) -> PageRead:
        """The whole text of a page."""

    def schema(self, source: str, question: str) -> tuple[str, str]:
        """The name of the source, and what it holds."""

    def terms(self, text: str, source: str) -> Terms:
        """What a text names in the glossary, and in the metrics of a source."""

    def processes(self) -> list[ProcessShown]:
        """Every process that is not retired."""

    def replay(self, id: str) -> ReplayResult:
        """Computes an answer again."""

    def propose(self, id: str) -> Proposed:
        """Keeps the question of an answer with its SELECT as a draft: only a person makes it active."""

    def record(self, id: str) -> str:
        """The record of an answer, as JSON."""

    def chart(self, id: str, number: int) -> bytes:
        """A chart of an answer as PNG, counted from 1."""
