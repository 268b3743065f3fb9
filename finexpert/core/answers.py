"""Answers: the value with where it came from, or the reason why there is none.

>>> Answer(question="How many recessions?", status="answered", value=3, format=AnswerFormat(kind="integer")).text
'3'
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, field_serializer

from finexpert.core.answer_format import AnswerFormat, Kind, Scalar, kind_of
from finexpert.core.display.displayed import Displayed
from finexpert.core.display.plain import of_table
from finexpert.core.encoding import encode
from finexpert.core.offers import Offer
from finexpert.core.statuses import Missing, Status, gives_value

__all__ = [
    "Answer",
    "AnswerFormat",
    "Citation",
    "Clarification",
    "Failure",
    "Kind",
    "Missing",
    "Scalar",
    "Sentence",
    "Status",
    "Usage",
    "gives_value",
    "in_words",
    "kind_of",
    "marked",
    "show",
]


class Citation(BaseModel):
    """Where a number came from: a frame of the warehouse, a cell, or a sentence."""

    source: str = Field(description="name of the frame, page or filing")
    place: str = Field(description="the SELECT, 'row / column', or the quoted words")
    value: Any = None
    company: str | None = Field(default=None, description="whose filing it is, for a page of a library")
    period: str | None = Field(default=None, description="the filing's period, such as FY 2014 or Q1 2025")
    page: str | None = Field(default=None, description="id of the page in the library")
    library: str | None = Field(
        default=None, description="name of the library among several sources that are asked together"
    )
    tag: str | None = Field(default=None, description="what the filing's inline XBRL says of the number")


class Sentence(BaseModel):
    """A sentence of an answer in words, with the numbers of the citations that it rests on."""

    says: str
    cites: list[int] = Field(default_factory=list, description="places in `citations`, from 1")


class Clarification(BaseModel):
    """A question back to the user: a term that nobody has explained, a reading that is not safe, or a text that its column
    does not hold; and what may be meant.

    The reply goes with the question asked again.
    """

    kind: Literal["term", "reading", "value"] = "reading"
    term: str
    place: str = Field(default="", description="of a value: the column, as table.column")
    question: str
    candidates: list[str] = Field(default_factory=list)


class Failure(BaseModel):
    """Why there is no answer: which layer, which kind of error, and the last message."""

    layer: str
    kind: str
    message: str
    for_models: str = Field(default="", description="the message without values of columns, where it holds some")


class Usage(BaseModel):
    """What an answer or a run cost; cost is None where the price of the model is not known."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0
    model_seconds: float = 0.0
    by_layer: dict[str, int] = Field(default_factory=dict, description="calls a layer")
    cached: int = Field(
        default=0, description="calls among these that the cache served: nothing was asked, nothing paid"
    )
    failed: int = Field(default=0, description="calls that gave no completion; not among `calls`")
    fell_back: int = Field(default=0, description="failed calls for which the fallback model was asked")
    stages: dict[str, float] = Field(default_factory=dict, description="seconds a stage, model included")
    prefix_share: float | None = Field(
        default=None,
        description="share of the prompts that the ones before them began with: what a prefix cache can serve",
    )


class Answer(Displayed, BaseModel):
    """An answer, or the reason why there is none.

    `value` is set exactly when `status` is "answered" or "partial". One that is "partial" holds what could be proved of an answer,
    and `missing` says what it lacks. A value that could not be computed is never replaced by a guess, an empty text or 0.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, ser_json_bytes="base64")

    question: str
    status: Status
    value: Any = None
    format: AnswerFormat = AnswerFormat()
    period: str | None = Field(default=None, description="the time that the data of the answer cover")
    sentences: list[Sentence] = Field(
        default_factory=list,
        description="all of an answer from filings in words, of which `value` is what was asked first",
    )
    explanation: str | None = Field(default=None, description="how the question was understood")
    rephrased: str | None = Field(default=None, description="the question with the meanings of its terms put in")
    meanings: dict[str, str] = Field(default_factory=dict, description="terms of the glossary that it rests on")
    processes: list[str] = Field(default_factory=list, description="headings of the processes that it follows")
    offers: list[Offer] = Field(
        default_factory=list, description="what the message explained; it is kept where the person agrees"
    )
    citations: list[Citation] = Field(default_factory=list)
    figures: list[bytes] = Field(default_factory=list, repr=False, description="PNG files")
    confidence: int | None = Field(default=None, ge=0, le=100)
    flags: list[str] = Field(default_factory=list)
    missing: list[Missing] = Field(default_factory=list, description="of a partial answer: what it lacks, by source")
    failure: Failure | None = None
    clarification: Clarification | None = None
    usage: Usage = Usage()
    sources: list[str] = Field(
        default_factory=list, description="names of those that it rests on, where several were asked"
    )
    record: Any = Field(default=None, repr=False, description="a finexpert.answers.records.Record")

    @field_serializer("value", when_used="json")
    def _value_as_json(self, value: Any) -> Any:
        return encode(value)

    @property
    def text(self) -> str:
        """The answer as shown: in its sentences, or the value rounded to the format's decimals, with its unit."""
        if self.clarification:
            return self.clarification.question
        if self.status == "noted":
            return self.explanation or f"understood; nothing was asked: {'; '.join(map(str, self.offers))}"
        if not gives_value(self.status):
            return f"no answer: {self.failure.message}" if self.failure else f"no answer ({self.status})"
        shown = in_words(self.sentences) or show(self.value, self.format)
        return shown if self.status == "answered" else f"in part: {shown}"

    @property
    def cited_text(self) -> str:
        """The answer as shown, with [1], [2] ... for the pages of a library that it rests on, behind each of its sentences."""
        if self.sentences and gives_value(self.status):
            said = " ".join(map(_cited, self.sentences))
            return said if self.status == "answered" else f"in part: {said}"
        return marked(self.text, self.citations) if gives_value(self.status) else self.text


def _cited(sentence: Sentence) -> str:
    """
    >>> _cited(Sentence(says="It fell.", cites=[1, 3]))
    'It fell [1] [3].'
    """
    says = sentence.says.rstrip(".")
    return "".join([says, *(f" [{number}]" for number in sentence.cites), sentence.says[len(says) :]])


def in_words(sentences: Sequence[Sentence]) -> str:
    """Sentences as one text; empty where there are none."""
    return " ".join(sentence.says for sentence in sentences)


def marked(text: str, citations: Sequence[Citation]) -> str:
    """A text with the numbers of the citations that name a page.

    >>> marked("94.00 million USD", [Citation(source="Entergy, FY 2016, p. 23", place="row / 2015", page="a")])
    '94.00 million USD [1]'
    """
    numbers = [f"[{number}]" for number, citation in enumerate(citations, 1) if citation.page]
    return " ".join([text, *numbers])


def show(value: Any, answer_format: AnswerFormat) -> str:
    """A value as text.

    >>> show(3.9444, AnswerFormat(kind="number", unit="percent"))
    '3.94 percent'
    >>> show(1234567.5, AnswerFormat(kind="number", decimals=0))
    '1,234,568'
    >>> print(show(pd.DataFrame({"desk": ["A"], "fee": [2]}), AnswerFormat(kind="table", unit="USD")))
    in USD:
    desk fee
       A   2
    >>> print(show(pd.DataFrame({"quarter": ["Q1"], "revenue": [1566493.166]}), AnswerFormat(kind="table")))
    quarter       revenue
         Q1 1,566,493.166
    """
    decimals = 2 if answer_format.decimals is None else answer_format.decimals
    if isinstance(value, pd.DataFrame):
        words = of_table(value, rows=len(value))
        # Behind the last cell it would be that one's alone.
        return f"in {answer_format.unit}:\n{words}" if answer_format.unit else words
    if isinstance(value, list):
        words = ", ".join(_show_one(item, decimals) for item in value) or "(none)"
    else:
        words = _show_one(value, decimals)
    year = answer_format.kind == "year"
    if year and not isinstance(value, list):
        words = str(value)
    if answer_format.items == "year" and isinstance(value, list):
        words = ", ".join(str(item) for item in value)
    return f"{words} {answer_format.unit}" if answer_format.unit else words


def _show_one(value: Any, decimals: int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value + 0.0:,.{decimals}f}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dt.date):
        return value.isoformat()
    return str(value)
