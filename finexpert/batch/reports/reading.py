"""The file of a report: its title, its parameters with their usual values, and its questions.

    title: Prices and jobs
    parameters:
      month: 2024-03
      companies: [Verizon, 3M]
    sources: [fred.duckdb, filings/]
    questions:
      - What was the unemployment rate in {month}?
      - {name: Margins, question: "What was the operating margin of {companies} in 2022?", answer_format: number}

A question is asked once for each item of a list. What stands wrong is said with its line.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from finexpert import trust
from finexpert.batch.questions import BatchQuestion, question_of
from finexpert.errors import QuestionFileError
from finexpert.storage import foreign_yaml
from finexpert.warehouse.database_address import public_address


def _no_truth(given: Any) -> Any:
    """Pydantic would read a truth as the number 1."""
    if isinstance(given, bool):
        raise ValueError("true and false are no values of a parameter: write them in quotes")  # noqa: TRY004 - pydantic knows this one
    return given


Scalar = Annotated[dt.date | int | float | str, BeforeValidator(_no_truth)]
_NAME = re.compile(r"\{(\w+)\}")
_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")
_MOST_QUESTIONS, _LONGEST = 1_000, 20_000
_FORMS = {dt.date: "a day such as 2024-03-01", int: "a whole number", float: "a number", str: "a text"}


class _Wanted(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1)
    name: str = ""
    as_of: str | dt.date | None = None
    answer_format: str | dict[str, Any] | None = None
    knowledge: str = ""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: str = Field(min_length=1)
    parameters: dict[str, Scalar | list[Scalar]] = {}
    sources: list[str] = []
    questions: list[_Wanted] = Field(min_length=1)

    @field_validator("questions", mode="before")
    @classmethod
    def _in_words(cls, given: Any) -> Any:
        return (
            [{"question": each} if isinstance(each, str) else each for each in given]
            if isinstance(given, list)
            else given
        )


@dataclass(frozen=True)
class Asked:
    """A question of a report; `place` is the same in every run, whatever the parameters are."""

    place: str
    name: str
    question: BatchQuestion


@dataclass(frozen=True)
class Report:
    """A report as it is to be run."""

    title: str
    parameters: Mapping[str, str]
    sources: Sequence[str]
    asked: Sequence[Asked]


def read(file: Path, given: Sequence[str] = ()) -> Report:
    """The report of a file, with parameters `given` as NAME=VALUE; QuestionFileError says what is wrong, and on which line."""
    try:
        document = foreign_yaml.read(file)
    except foreign_yaml.YamlError as error:
        raise QuestionFileError(
            f"{file} cannot be read ({error}): give the YAML file of a report, see docs/reports.md"
        ) from error
    lines = _Lines(file, document.node)
    try:
        wanted = _File.model_validate({} if document.content is None else document.content)
    except ValidationError as error:
        first = error.errors()[0]
        raise QuestionFileError(
            f"{lines.at(first['loc'])}: {'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
        ) from error
    values = _with_given(wanted.parameters, given, lines)
    asked = list(islice(_asked(wanted, values, lines), _MOST_QUESTIONS + 1))
    if len(asked) > _MOST_QUESTIONS:
        raise QuestionFileError(f"{file}: a report has at most {_MOST_QUESTIONS:,} questions: split it")
    _check_places(asked, file)
    shown = {
        name: ", ".join(map(str, value)) if isinstance(value, list) else str(value) for name, value in values.items()
    }
    return Report(wanted.title, shown, [_beside(file, place) for place in wanted.sources], asked)


def own_sources(report: Report, file: Path, trusted: Sequence[str]) -> list[str]:
    """The sources that a report names; QuestionFileError for an address that its reader has not named: anybody may have written the file."""
    for place in report.sources:
        if (option := trust.foreign_option(place)) is not None:
            why = f"with the option {option!r}, which may lead elsewhere: leave it out, or"
        elif (host := trust.data_elsewhere(place, trusted)) is not None:
            why = f"on another machine: {trust.instead(host).replace('; else', ', or')}"
        else:
            continue
        raise QuestionFileError(
            f"{file} names the source {public_address(place).partition('?')[0]} {why.rstrip()} name its sources yourself, with --data and --library"
        )
    return list(report.sources)


def _asked(wanted: _File, values: Mapping[str, Any], lines: _Lines) -> Iterator[Asked]:
    used: set[str] = set()
    for number, each in enumerate(wanted.questions):
        where = lines.at(("questions", number))
        names = dict.fromkeys(_NAME.findall(f"{each.question} {each.name} {each.as_of} {each.knowledge}"))
        if unknown := next((name for name in names if name not in values), None):
            known = ", ".join(values) or "none"
            raise QuestionFileError(
                f"{where}: {{{unknown}}} is no parameter of the report ({known}): write it under parameters"
            )
        used |= set(names)
        lists = [name for name in names if isinstance(values[name], list)]
        if (often := prod(len(values[name]) for name in lists)) > _MOST_QUESTIONS:
            raise QuestionFileError(
                f"{where}: its lists make {often:,} questions of it, and a report has at most {_MOST_QUESTIONS:,}: shorten them"
            )
        for chosen in product(*(values[name] for name in lists)):
            filled = {**values, **dict(zip(lists, chosen, strict=True))}
            row = {key: _filled(text, filled, where) for key, text in each.model_dump().items()}
            place = "; ".join([each.name or each.question, *map(str, chosen)])
            yield Asked(place, row["name"], question_of(row, where))
    if idle := next((name for name in values if name not in used), None):
        raise QuestionFileError(f"{lines.at(('parameters', idle))}: no question has {{{idle}}}: take the parameter out")


def _filled(text: Any, values: Mapping[str, Any], where: str) -> Any:
    if not isinstance(text, str):
        return text
    if len(text) + sum(len(str(values[name])) for name in _NAME.findall(text)) > _LONGEST:
        raise QuestionFileError(f"{where}: with its parameters it is longer than {_LONGEST:,} characters")
    return _NAME.sub(lambda found: str(values[found[1]]), text)


def _with_given(parameters: Mapping[str, Any], given: Sequence[str], lines: _Lines) -> dict[str, Any]:
    """The parameters with what --set names, of the same kind as their usual values."""
    values = dict(parameters)
    if empty := next((name for name, value in values.items() if value == []), None):
        raise QuestionFileError(f"{lines.at(('parameters', empty))}: the list {empty} is empty")
    for each in given:
        name, found, text = each.partition("=")
        if not found or name not in values:
            known = ", ".join(values) or "none"
            raise QuestionFileError(f"--set {each}: give NAME=VALUE, of the parameters of {lines.file}: {known}")
        where = f"--set {each}: the parameter of {lines.at(('parameters', name))}"
        usual = values[name]
        if isinstance(usual, list):
            values[name] = [_value(item.strip(), usual[0], where) for item in text.split(",")]
        else:
            values[name] = _value(text.strip(), usual, where)
    return values


def _value(text: str, usual: Any, where: str) -> Any:
    """A text as the kind of the usual value.

    >>> _value("2024-04", "2024-03", "there"), _value("30", 20, "there")
    ('2024-04', 30)
    """
    kind = type(usual)
    try:
        if kind is str and _MONTH.fullmatch(usual) and not _MONTH.fullmatch(text):
            raise QuestionFileError(f"{where} is a month such as 2024-03, and {text!r} is none")
        if not text:
            raise ValueError
        return dt.date.fromisoformat(text) if kind is dt.date else kind(text)
    except ValueError:
        raise QuestionFileError(f"{where} is {_FORMS.get(kind, 'a text')}, and {text!r} is not") from None


def _check_places(asked: Sequence[Asked], file: Path) -> None:
    places = [each.place for each in asked]
    if twice := next((place for place in places if places.count(place) > 1), None):
        raise QuestionFileError(f"{file}: {twice!r} stands twice: give each question another name")


def _beside(file: Path, place: str) -> str:
    """A place in the file, as seen from the file; an address stays as it is."""
    return place if "://" in place else str(file.parent / place)


class _Lines:
    """Where things stand in a file."""

    def __init__(self, file: Path, node: Any) -> None:
        self.file, self._node = file, node

    def at(self, place: Sequence[Any]) -> str:
        """The file and the line of what a place names, or of the nearest thing around it."""
        node, line = self._node, 1
        for part in place:
            pairs: Any = getattr(node, "value", None)
            if isinstance(node, yaml.MappingNode):
                key, node = next(((key, value) for key, value in pairs if key.value == str(part)), (None, None))
                line = key.start_mark.line + 1 if key else line
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
                node = pairs[part]
                line = node.start_mark.line + 1
            else:
                break
        return f"{self.file}, line {line}"
