"""Files with one JSON object a line, read into records: what the files of questions have in common.

    for place, question in records_of(text_of(path, "give another"), str(path), Question, "question"):
        place                                  # 'mine.jsonl, line 3', where an error of the caller happened

What else makes a line wrong, such as an id that stands twice, is told by who reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from finexpert.errors import QuestionFileError
from finexpert.storage import foreign_files, foreign_json

T = TypeVar("T", bound=BaseModel)


def text_of(path: Path, instead: str) -> str:
    """The text of a file. QuestionFileError says why it cannot be read, and what to give instead."""
    try:
        return foreign_files.read_text(path)
    except OSError as error:
        raise QuestionFileError(f"{path} cannot be read ({error.strerror}): {instead}") from error
    except UnicodeDecodeError as error:
        raise QuestionFileError(f"{path} cannot be read (byte {error.start} is no UTF-8): {instead}") from error


def records_of(text: str, name: str, kind: type[T], noun: str) -> Iterator[tuple[str, T]]:
    """Each line with its place. QuestionFileError names the line that is wrong, or says that there is no `noun`."""
    empty = True
    # Not splitlines(): JSON may hold line separators of Unicode inside a text.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            empty = False
            yield (place := f"{name}, line {number}"), _record(line, place, kind)
    if empty:
        raise QuestionFileError(f"{name} holds no {noun}: write one JSON object a line")


def _record(line: str, place: str, kind: type[T]) -> T:
    try:
        return kind.model_validate(foreign_json.parse(line))
    except json.JSONDecodeError as error:
        raise QuestionFileError(f"{place}: not JSON ({error.msg}, column {error.colno})") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the line"
        raise QuestionFileError(f"{place}: {field}: {first['msg']}, not {first['input']!r:.80}") from error
