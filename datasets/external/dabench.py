"""Questions in the form of InfiAgent-DABench: CSV files, questions with constraints, and answers with names.

    FOLDER/files/insurance.csv      or FOLDER/da-dev-tables/insurance.csv, as in the repository
    FOLDER/questions.jsonl          {"id": 25, "question": ..., "constraints": ..., "format": ..., "file_name": ..., "answers": [[name, value]]}
                                    or da-dev-questions.jsonl and da-dev-labels.jsonl beside each other

An answer is asked for as `@mean_fare[mean_value], where "mean_value" is rounded to two decimal places`, and is right by the official
rule if every named value is: as the same text, or as a number within 1e-6. The data are github.com/InfiAgent/InfiAgent, Apache-2.0.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from finexpert.core.answers import AnswerFormat
from finexpert.datasets.evaluations.answer_matching import fold, same_number
from finexpert.datasets.evaluations.question_lines import records_of, text_of
from finexpert.errors import QuestionFileError
from finexpert.warehouse.frame_values import decimals_asked

SOURCE = "github.com/InfiAgent/InfiAgent holds them under examples/DA-Agent/data"
_NAMED = re.compile(r"@(\w+)\[(.*?)\]")

_DECIMALS = 2
# A list of the whole text.
_LIST = re.compile(r"^\[([^\[\]]*)\]$")


class Label(BaseModel):
    """The right values of one question, as the repository keeps them in a file of their own."""

    model_config = ConfigDict(extra="ignore")

    id: int
    common_answers: list[tuple[str, str]]


class DabenchQuestion(BaseModel):
    """One question with its gold; `names` are those that the format gives to the values."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    number: int = Field(alias="id")
    question: str = Field(min_length=1)
    constraints: str = ""
    format: str = Field(min_length=1)
    file_name: str = Field(min_length=1)
    level: str = ""
    concepts: tuple[str, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()
    knowledge: ClassVar[str] = ""

    @property
    def id(self) -> str:
        return str(self.number)

    @property
    def asked(self) -> str:
        """The question as it is asked, with what binds the answer."""
        return f"{self.question.strip()}\n\nConstraints: {self.constraints.strip()}\n\nFormat: {self.format.strip()}"

    @property
    def source_name(self) -> str:
        return self.file_name

    @cached_property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """For each name the columns of the table that hold its value: one, or one for each part of it.

        >>> DabenchQuestion(id=1, question="?", file_name="x.csv", format="@top[month, year] @mean[value]").columns
        {'top': ('month', 'year'), 'mean': ('mean',)}
        """
        found: dict[str, tuple[str, ...]] = {}
        for name, inside in _NAMED.findall(self.format):
            parts = [re.sub(r"\W+", "_", part.strip()) for part in inside.split(",")]
            found.setdefault(name, tuple(parts) if len(parts) > 1 else (name,))
        return found

    @property
    def answer_format(self) -> AnswerFormat:
        """One row, with a column for each named value."""
        names = ", ".join(f'"{column}"' for columns in self.columns.values() for column in columns)
        return AnswerFormat(
            kind="table",
            description=f"It has one row, and the columns {names}. A list is one text, with commas; a whole column is told by its name",
        )

    def decimals(self, name: str) -> int | None:
        """To how many decimals the format rounds the value of a name; None if nothing says it.

        >>> text = '@n[count] @mean[mean_value] where "count" is an integer and "mean_value" is rounded to three decimals.'
        >>> question = DabenchQuestion(id=1, question="?", file_name="x.csv", format=text)
        >>> question.decimals("n"), question.decimals("mean")
        (0, 3)
        """
        inside = next((inside for own, inside in _NAMED.findall(self.format) if own == name), "")
        prose = _NAMED.sub("", self.format)
        for word in (inside, name):
            if word and (said := _said_of(word, prose)) is not None:
                return said
        return next(
            (said for text in (prose, self.constraints, self.question) if (said := decimals_asked(text)) is not None),
            None,
        )


def _said_of(word: str, prose: str) -> int | None:
    """How many decimals a sentence gives to a quoted word: what stands behind its verb, up to the next quoted word.

    >>> _said_of("n", 'where "n" is an integer, "a" and "b" are rounded to two decimals.')
    0
    >>> _said_of("a", 'where "n" is an integer, "a" and "b" are rounded to two decimals.')
    2
    """
    for rest in prose.split(f'"{word}"')[1:]:
        verb = re.search(r"\b(is|are|represents?)\b", rest)
        said = rest[verb.start() :].partition(' "')[0] if verb else rest
        if (decimals := decimals_asked(said)) is not None:
            return decimals
        if "integer" in said:
            return 0
    return None


def load_questions(folder: Path) -> list[DabenchQuestion]:
    """The questions of a folder; QuestionFileError says what is wrong with a file, or that there is none."""
    paths = [path for name in ("questions.jsonl", "da-dev-questions.jsonl") if (path := folder / name).is_file()]
    if not paths:
        raise QuestionFileError(f"{folder} holds no questions.jsonl or da-dev-questions.jsonl; {SOURCE}")
    path, labels = paths[0], folder / "da-dev-labels.jsonl"
    where = f"give the folder that holds the questions; {SOURCE}"
    known = {}
    if labels.is_file():
        known = {
            label.id: label.common_answers
            for _, label in records_of(text_of(labels, where), str(labels), Label, "label")
        }
    questions: dict[str, DabenchQuestion] = {}
    for place, question in records_of(text_of(path, where), str(path), DabenchQuestion, "question"):
        if question.id in questions:
            raise QuestionFileError(f"{place}: the id {question.id} stands twice")
        answers = question.answers or known.get(question.number)
        if not answers:
            raise QuestionFileError(f"{place}: no answer is known: da-dev-labels.jsonl beside it should hold one")
        if not question.columns:
            raise QuestionFileError(f"{place}: the format names no value, as @name[value] does")
        questions[question.id] = question.model_copy(update={"answers": tuple(answers)})
    return list(questions.values())


def file_of(folder: Path, question: DabenchQuestion) -> Path:
    """The file that a question is about; QuestionFileError if it is not there."""
    for place in (folder / "files", folder / "da-dev-tables", folder):
        if (path := place / Path(question.file_name).name).is_file():
            return path
    raise QuestionFileError(f"{folder}/files/{question.file_name} is not there, for question {question.id}; {SOURCE}")


def digest(folder: Path, questions: Sequence[DabenchQuestion]) -> str:
    """SHA-256 of the files that the questions are about."""
    names = sorted({file_of(folder, question) for question in questions})
    return hashlib.sha256(
        json.dumps([hashlib.sha256(path.read_bytes()).hexdigest() for path in names]).encode()
    ).hexdigest()


def values_of(table: pd.DataFrame, question: DabenchQuestion) -> dict[str, list[Any]]:
    """By name, the parts of its value; a name whose columns are not there is left out.

    A table of as many columns as are asked for is read by their places, where its names are others.
    """
    wanted = [column for columns in question.columns.values() for column in columns]
    if len(table) != 1:
        return {}
    own = {str(column).casefold(): place for place, column in enumerate(table.columns)}
    if len(wanted) == len(table.columns) and not all(column.casefold() in own for column in wanted):
        own = {column.casefold(): place for place, column in enumerate(wanted)}
    return {
        name: [table.iloc[0, own[column.casefold()]] for column in columns]
        for name, columns in question.columns.items()
        if all(column.casefold() in own for column in columns)
    }


def response_of(table: pd.DataFrame, question: DabenchQuestion) -> str:
    """The answer in the form that is asked for, rounded as it says.

    >>> question = DabenchQuestion(id=1, question="?", file_name="x.csv", format="@mean[value] rounded to two decimal places")
    >>> response_of(pd.DataFrame({"mean": [2.0 / 3]}), question)
    '@mean[0.67]'
    >>> outliers = DabenchQuestion(id=2, question="?", file_name="x.csv", format="@outliers[list_of_numbers]")
    >>> response_of(pd.DataFrame({"outliers": ["[]"]}), outliers)
    '@outliers[]'
    """
    found = values_of(table, question)
    return " ".join(
        f"@{name}[{', '.join(_shown(part, question.decimals(name)) for part in parts)}]"
        for name, parts in found.items()
    )


def _shown(value: Any, decimals: int | None) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return ""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return f"{value:.{_DECIMALS if decimals is None else decimals}f}"
    if isinstance(value, list | tuple):
        return ", ".join(_shown(one, decimals) for one in value)
    # The form has brackets already: a list that was written with its own has them once.
    return _LIST.sub(r"\1", str(value))


def right_officially(response: str, answers: Sequence[tuple[str, str]]) -> bool:
    """The rule of InfiAgent-DABench: every named value is the same text, or the same number within 1e-6.

    >>> right_officially("@mean[0.670] @n[3]", [("mean", "0.67"), ("n", "3")])
    True
    """
    said = dict(_NAMED.findall(response))
    return all(name in said and _is_equal(said[name], gold) for name, gold in answers)


def _is_equal(said: str, gold: str) -> bool:
    if said == gold:
        return True
    try:
        return abs(float(said) - float(gold)) < 1e-6
    except ValueError:
        return False


def right_by_ours(table: pd.DataFrame, question: DabenchQuestion) -> bool:
    """Whether every named value is the gold: numbers after rounding to its decimals, a tie either way; texts without their case."""
    found = values_of(table, question)
    return all(name in found and _same(found[name], gold) for name, gold in question.answers)


def _same(parts: Sequence[Any], gold: str) -> bool:
    golds = [one.strip() for one in gold.split(",")] if len(parts) > 1 else [gold]
    return len(golds) == len(parts) and all(_same_one(part, one) for part, one in zip(parts, golds, strict=True))


def _same_one(value: Any, gold: str) -> bool:
    try:
        return same_number(float(value), float(gold), len(gold.partition(".")[2]) if "." in gold else 0)
    except (TypeError, ValueError):
        return fold(_shown(value, None)) == fold(gold)
