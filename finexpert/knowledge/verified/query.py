"""A verified query: a question, the SELECT that answers it, and all that has to be as it was for the SELECT to be used again.

    VerifiedQuery(question="What was the fee income in 2023", select="SELECT sum(fee_usd) FROM trades WHERE year(day) = 2023",
                  tables={"trades": {"fee_usd": "DOUBLE", "day": "DATE"}}, variables=[Variable(name="year", kind="year", value="2023")], ...)

It is kept with its source: the same words asked of other data are another question.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from finexpert.core.answers import AnswerFormat
from finexpert.knowledge.entries.entries import Status
from finexpert.knowledge.items import Item
from finexpert.text.texts import Chunk, Note, StepText

VariableKind = Literal["year", "quarter", "date", "number", "text"]
_SHOWN = 100
_STATE = re.compile(r"-[0-9a-f]{16}$")


class Variable(BaseModel):
    """A part of a question that may be another one: its name, its kind, and its value in the question that was verified."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z]\w*$", max_length=31)]
    kind: VariableKind
    value: Annotated[str, Field(min_length=1, max_length=120)]


class Source(BaseModel):
    """The data of a verified query: name, dialect, and where they lie, without a password; None where nothing says it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    dialect: str
    address: str | None = None

    @property
    def key(self) -> str:
        """What tells it from other data, whatever state it is in: where it lies, else its name without the hash of a state."""
        return f"{self.dialect} {self.address or _STATE.sub('', self.name)}"


class VerifiedQuery(Item):
    """A question with its SELECT. `taught_by` verified it, at `taught_at`."""

    question: StepText
    select: Chunk
    source: Source
    answer_format: AnswerFormat
    frame: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$", max_length=81)]
    columns: list[str]
    period: str | None = None
    interpretation: Note = ""
    as_of: dt.date
    tables: dict[str, dict[str, str]] = Field(description="what it reads: tables, their columns, the columns' types")
    metrics: dict[str, str] = Field(
        default_factory=dict, description="the house's metrics, with their expressions then"
    )
    meanings: dict[str, str] = Field(default_factory=dict, description="hashes of the terms and processes it rests on")
    result: Note = Field(default="", description="hash of what it gave when it was verified")
    variables: list[Variable] = Field(default_factory=list, max_length=8)
    record: Note = Field(default="", description="id of the record that was verified")
    status: Status = "active"

    @property
    def title(self) -> str:
        return self.question if len(self.question) <= _SHOWN else f"{self.question[:_SHOWN]}..."

    @property
    def phrases(self) -> tuple[str, ...]:
        """Nothing: whether it answers a question is told by its words, never by nearness."""
        return ()

    @property
    def searched(self) -> tuple[str, ...]:
        """Its question, which may be an example for one that is near."""
        return (self.question,)

    @property
    def names(self) -> tuple[str, ...]:
        """One name, so that a question has one SELECT a source."""
        said = json.dumps([self.source.key, self.question])
        return (hashlib.sha256(said.encode()).hexdigest(),)

    @property
    def sql(self) -> str:
        """The SELECT."""
        return self.select or ""

    def same_as(self, other: VerifiedQuery) -> bool:
        """Whether both say the same, whoever verified them, and from whichever record."""
        apart = {"id", "version", "taught_by", "taught_at", "record", "result", "status"}
        return self.model_dump(exclude=apart) == other.model_dump(exclude=apart)
