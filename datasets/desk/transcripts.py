"""Transcripts: how a definition or a process is taught, as lines that a program can play.

    {"message": "Show real GDP by quarter since 2000, and count how many quarters in a row it has fallen."}
    {"message": "When did the latest recession start?", "expect": {"reference": "latest_recession"},
     "answer_format": {"kind": "list", "items": "integer"}}
    {"remember": "Recession Calculation"}

One JSON object a line, in order; a line does exactly one thing:

- `message`: what the expert says. With `expect` and `answer_format` the answer to it must be that value. The value
  stands there, or is `{"reference": NAME}`: what the reference function of that name gives on the data at hand.
  `as_of`, where given, is the message's today.
- `reply`: what the expert answers where the program has asked back; `expect` as above.
- `remember`: keep the conversation so far as a process under this heading; null lets the program propose one.
- `define`: a term and its meaning for the glossary, `{"term": ..., "meaning": ..., "aliases": [...]}`.
- `clash`: what to do where the name is taken already: "replace", "ignore" or "keep both as HEADING".

Nothing here plays a transcript.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from finexpert.core.answers import AnswerFormat
from finexpert.datasets.desk.references import REFERENCES
from finexpert.datasets.evaluations.question_lines import text_of
from finexpert.datasets.fred.tables import FredTables
from finexpert.errors import AnswerFormatError, QuestionFileError
from finexpert.storage import foreign_json
from finexpert.warehouse.warehouse import Warehouse

Action = Literal["message", "reply", "remember", "define", "clash"]
_ACTIONS: tuple[Action, ...] = ("message", "reply", "remember", "define", "clash")
_KEEP_BOTH = re.compile(r"keep both as (?P<heading>\S.*)")


class Definition(BaseModel):
    """A term and what it means, as an expert defines it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    term: str = Field(min_length=1)
    meaning: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()


class Line(BaseModel):
    """One line of a transcript; see the head of this file for its fields.

    >>> Line(remember=None).action
    'remember'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    message: str | None = Field(default=None, min_length=1)
    reply: str | None = Field(default=None, min_length=1)
    remember: str | None = Field(default=None, min_length=1)
    define: Definition | None = None
    clash: str | None = None
    expect: Any = None
    answer_format: AnswerFormat | None = None
    as_of: dt.date | None = None

    @property
    def action(self) -> Action:
        """The one thing that the line does."""
        return next(action for action in _ACTIONS if action in self.model_fields_set)

    @property
    def text(self) -> str | None:
        """What the expert says, where the line says something."""
        return self.message or self.reply

    @property
    def expects(self) -> bool:
        """Whether the answer to the line must be a certain value."""
        return self.expect is not None

    @property
    def second_heading(self) -> str | None:
        """The heading under which a clash keeps the new entry beside the old one.

        >>> Line(clash="keep both as Short Recession").second_heading
        'Short Recession'
        """
        found = _KEEP_BOTH.fullmatch(self.clash or "")
        return found["heading"] if found else None

    @model_validator(mode="after")
    def _does_one_thing(self) -> Line:
        actions = [action for action in _ACTIONS if action in self.model_fields_set]
        if len(actions) != 1:
            raise ValueError(
                f"a line does one of {', '.join(_ACTIONS)}; this one does {' and '.join(actions) or 'none'}"
            )
        if actions[0] != "remember" and getattr(self, actions[0]) is None:
            raise ValueError(f"{actions[0]} is null")
        if self.clash is not None and self.clash not in ("replace", "ignore") and not self.second_heading:
            raise ValueError(f"clash is 'replace', 'ignore' or 'keep both as HEADING', not {self.clash!r}")
        self._check_expectation()
        return self

    def _check_expectation(self) -> None:
        extras = {"expect", "answer_format", "as_of"} & self.model_fields_set
        if extras and self.text is None:
            raise ValueError(f"{', '.join(sorted(extras))} belongs to a message or a reply")
        if not self.expects:
            return
        if self.answer_format is None or self.answer_format.kind == "table":
            raise ValueError("expect needs an answer_format, of any kind but 'table'")
        if isinstance(self.expect, dict):
            if set(self.expect) != {"reference"} or not isinstance(self.expect["reference"], str):
                raise ValueError('expect is a value, or {"reference": NAME}')
            return
        try:
            self.answer_format.coerce(self.expect)
        except AnswerFormatError as error:
            raise ValueError(f"expect does not fit answer_format: {error}") from error


def read_transcript(path: Path) -> list[Line]:
    """The lines of a transcript. QuestionFileError names the file and the line."""
    text = text_of(path, "give a transcript, one JSON object a line")
    # Not splitlines(): JSON may hold line separators of Unicode inside a text.
    lines = [
        _line(line, f"{path}, line {number}") for number, line in enumerate(text.split("\n"), start=1) if line.strip()
    ]
    if not lines:
        raise QuestionFileError(f"{path} holds no line: write one JSON object a line")
    return lines


def _line(text: str, place: str) -> Line:
    try:
        return Line.model_validate(foreign_json.parse(text))
    except json.JSONDecodeError as error:
        raise QuestionFileError(f"{place}: not JSON ({error.msg}, column {error.colno})") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        reason = first["msg"].removeprefix("Value error, ")
        raise QuestionFileError(f"{place}: {field}: {reason}" if field else f"{place}: {reason}") from error


def resolve_expect(line: Line, warehouse: Warehouse, as_of: dt.date | None = None) -> Any:
    """The value that the answer to a line must have, in the type of its format; None where it expects nothing.

    `as_of` is the today of the conversation; the line's own comes first.
    """
    if line.answer_format is None or not line.expects:
        return None
    if not isinstance(line.expect, dict):
        return line.answer_format.coerce(line.expect)
    name = line.expect["reference"]
    if name not in REFERENCES:
        raise QuestionFileError(f"there is no reference {name!r}: write the expected value itself into the transcript")
    return line.answer_format.coerce(REFERENCES[name](FredTables(warehouse, line.as_of or as_of)))
