"""What a desk gives back: conversations, answers, sources and pages as a person sees them.

They are what REST sends as JSON, and what the page shows. No address of data, no key and no path stands in them.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from finexpert.core.answers import AnswerFormat, Citation, Clarification, Failure, Sentence, Usage
from finexpert.core.offers import Offer
from finexpert.core.statuses import Missing, Status

AnswerState = Literal["running", "finished", "failed", "cancelled", "interrupted"]
SourceKind = Literal["data", "library"]
PREVIEW_ROWS = 200


class _Shown(BaseModel):
    model_config = ConfigDict(frozen=True)


class SourceInfo(_Shown):
    """A source of data. Its address is never shown again."""

    id: str
    name: str
    kind: SourceKind
    shared: bool = Field(description="whether the whole team may ask it")
    mine: bool = Field(description="whether the person who asks added it")
    removable: bool
    label: str | None = Field(default=None, description="what is said of its numbers wherever they are shown")


class ColumnInfo(_Shown):
    name: str
    type: str
    comment: str = ""
    published: list[str] | None = Field(default=None, description="the values that a model sees; None if it sees none")


class TableInfo(_Shown):
    name: str
    comment: str = ""
    rows: int | None = None
    told: bool = Field(default=False, description="whether a model sees all of its rows")
    rules: bool = Field(
        default=False, description="whether it seems to hold rules or words of the house, which no model sees"
    )
    small: bool = Field(default=False, description="whether all of its rows can be published together")
    columns: list[ColumnInfo]


class FilingRow(_Shown):
    id: str
    company: str
    ticker: str
    fiscal_year: int | None
    quarter: int | None
    kind: str
    title: str
    pages: int


class SourceSchema(_Shown):
    """The tables of a warehouse, or the filings of a library; `card` is what a model is told."""

    source: SourceInfo
    card: str
    tables: list[TableInfo] = []
    filings: list[FilingRow] = []


class ModelText(_Shown):
    """The semantic model of a source as its file. Version 0 is a draft that was never kept."""

    source: str
    version: int
    text: str
    at: dt.datetime | None = None
    by: str = ""
    action: str = ""


class Conversation(_Shown):
    id: str
    name: str
    source: str = Field(description="id of the source, or the ids of several with commas between them")
    made: dt.datetime
    changed: dt.datetime
    answers: int
    asking: str | None = Field(default=None, description="id of the answer that is under way")


class Select(_Shown):
    """A SELECT of an answer and the frame that it fetched."""

    frame: str
    sql: str
    columns: list[str]
    rows: int


class StoredAnswer(_Shown):
    """A question of a conversation and what became of it. The rows of a table beyond `rows` are had with `Desk.table`."""

    id: str
    conversation: str
    number: int
    question: str
    state: AnswerState
    asked: dt.datetime
    ended: dt.datetime | None = None
    error: str = Field(default="", description="why there is no answer, where the program could not go on")
    status: Status | None = None
    text: str = Field(
        default="", description="the answer as shown: rounded, with its unit and the numbers of citations"
    )
    value: Any = Field(default=None, description="a scalar or a list; dates as ISO text; None for a table")
    format: AnswerFormat = AnswerFormat()
    columns: list[str] = []
    rows: list[list[Any]] = Field(default=[], description="the first rows of a table")
    row_count: int | None = None
    period: str | None = None
    sentences: list[Sentence] = Field(
        default=[], description="an answer from filings in words, of which `text` is made"
    )
    explanation: str | None = None
    rephrased: str | None = None
    meanings: dict[str, str] = {}
    offers: list[Offer] = Field(
        default=[], description="what the message explained; `keep` keeps it, and to say 'keep it' does so too"
    )
    processes: list[str] = []
    citations: list[Citation] = []
    confidence: int | None = None
    flags: list[str] = []
    missing: list[Missing] = Field(default=[], description="of a partial answer: what it lacks, by source")
    failure: Failure | None = None
    clarification: Clarification | None = None
    usage: Usage = Usage()
    figures: int = 0
    plan: dict[str, Any] | None = None
    plan_words: str = ""
    selects: list[Select] = []
    script: str | None = None
    source_name: str = ""
    sources: dict[str, str] = Field(
        default={}, description="ids of those that it rests on by their names in its plan, where several were asked"
    )
    as_of: dt.date | None = None
    as_of_given: bool = Field(default=False, description="whether the person asked for that day")
    has_record: bool = False
    rerun_of: str | None = Field(default=None, description="the answer whose SELECT was edited")
    liked: bool | None = Field(default=None, description="thumbs up or down of the person who asks")


class Feedback(_Shown):
    answer: str
    up: bool
    reason: str
    at: dt.datetime
    question: str = ""


class Replayed(_Shown):
    """What running a record again gave."""

    same: bool
    value: Any
    text: str
    missing: list[Missing] = []
    differences: list[str]


class Mark(_Shown):
    """A rectangle on a page's picture, as shares of its width and height from the top left corner."""

    left: float
    top: float
    right: float
    bottom: float


class PageView(_Shown):
    """A page of a filing: its text and table, the PDF's page as a picture where there is one, and what is marked on it."""

    id: str
    label: str
    filing: str
    number: int
    text_before: list[str]
    table: list[list[str]]
    text_after: list[str]
    picture: bytes | None = Field(default=None, repr=False, exclude=True)
    has_picture: bool = False
    marks: list[Mark] = []


class Found(_Shown):
    """A page that a search found, with the words that fit best."""

    page: str
    filing: str
    label: str
    score: float
    why: str
    text: str


class AuditEntry(_Shown):
    at: dt.datetime
    person: str
    name: str
    action: str
    object: str
    note: str


class TokenInfo(_Shown):
    """A token without its secret, which is shown once, when it is made."""

    id: str
    name: str
    role: str
    team: str
    scopes: list[str]
    made: dt.datetime
    expires: dt.datetime
    revoked: dt.datetime | None = None
    used: dt.datetime | None = None
