"""Questions over a FRED warehouse, and their gold.

A question file holds one JSON object a line:

    {"id": "year_cpi_rose_above_200", "question": "In what year did ...?", "as_of": "2024-09-30", "category": "simple",
     "area": "cpi", "needs": [], "answer_format": {"kind": "year"}, "gold": 2006}

- `as_of`: the question's today; observations dated later are hidden. `needs`: the processes or terms it calls for.
- `answer_format`: `kind` is number, integer, date, year, boolean, text or list, with `unit`, `decimals`, `items` (the
  kind of a list's elements) and `description` where they apply.
- `gold`: the right answer. It may be left out for a question whose id has a reference function, here or in the house set,
  and may be `{"ask": [terms]}` where asking back is right. `must_not_use`: what only sounds as if it were called for.
- Only `id`, `question` and `answer_format` must stand there; fields not named here are kept, and not read.

Scoring is the matter of `answer_matching`.
"""

from __future__ import annotations

import datetime as dt
import importlib.resources
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from finexpert.core.answers import AnswerFormat
from finexpert.datasets.evaluations.question_lines import records_of, text_of
from finexpert.datasets.fred.recessions import RECESSION_DEFINITION
from finexpert.datasets.fred.references import REFERENCES, Reference
from finexpert.datasets.fred.tables import FredTables
from finexpert.errors import AnswerFormatError, QuestionFileError
from finexpert.warehouse.warehouse import Warehouse

__all__ = ["RECESSION_DEFINITION", "REFERENCES", "FredTables", "Question", "gold", "load_questions"]


class Question(BaseModel):
    """One line of a question file; see the head of this file for its fields."""

    model_config = ConfigDict(frozen=True, extra="allow")

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    as_of: dt.date | None = None
    category: Literal["simple", "complex"] = "simple"
    area: str | None = None
    needs: tuple[str, ...] = ()
    must_not_use: tuple[str, ...] = ()
    answer_format: AnswerFormat
    gold: Any = None

    @field_validator("answer_format")
    @classmethod
    def _has_rule(cls, value: AnswerFormat) -> AnswerFormat:
        if value.kind == "table":
            raise ValueError("kind 'table' cannot be matched: ask for a list or a single value")
        return value


def load_questions(path: Path | None = None) -> list[Question]:
    """The questions of a file, or the 30 packaged ones. QuestionFileError names the file and the line."""
    if path is None:
        name = "fred.jsonl"
        text = (importlib.resources.files("finexpert.datasets") / "questions" / name).read_text(encoding="utf-8")
    else:
        name, text = str(path), text_of(path, "name another with --questions, or none for the packaged ones")
    questions: dict[str, Question] = {}
    for place, question in records_of(text, name, Question, "question"):
        if question.id in questions:
            raise QuestionFileError(f"{place}: the id {question.id!r} stands twice")
        try:
            _coerced(question)
        except AnswerFormatError as error:
            raise QuestionFileError(f"{place}: gold does not fit answer_format: {error}") from error
        questions[question.id] = question
    return list(questions.values())


def _coerced(question: Question) -> Any:
    if question.gold is None or isinstance(question.gold, dict):
        return question.gold
    return question.answer_format.coerce(question.gold)


def gold(question: Question, warehouse: Warehouse, references: Mapping[str, Reference] = REFERENCES) -> Any:
    """The right answer in the type of its format: as the file says, or else by the reference function on this data."""
    if question.gold is not None:
        return _coerced(question)
    if question.id not in references:
        raise QuestionFileError(
            f"question {question.id!r} has no gold and no reference function: write its gold into the file"
        )
    return question.answer_format.coerce(references[question.id](FredTables(warehouse, question.as_of)))
