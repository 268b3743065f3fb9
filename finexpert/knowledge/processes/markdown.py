"""The little markdown that process files are made of: sections, lists and fenced chunks.

    sections                       a file into its parts, each line with its number
    groups, body, split_fences     a section into its list items, an item into text and chunks
    fenced, escape                 the same the other way

It reads what it writes, and what people make of that by hand; it is no reader of markdown in general.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from finexpert.errors import ProcessFileError
from finexpert.text.texts import sentence

_FENCE = re.compile(r"(?P<lead>\s*)(?P<fence>`{3,}|~{3,})\s*(?P<language>[^`~\s]*)\s*(?P<called>\w*)[^`]*$")
_TITLE = re.compile(r"#\s+(.*\S)\s*$")
_SECTION = re.compile(r"##\s+(.*?)\s*#*\s*$")
# What would be read as a chunk, an example or an escape is written with a backslash before it.
_MEANS = re.compile(r"^(\s*)(?=\\[\\`~-]|```|~~~|- example:)", re.MULTILINE | re.IGNORECASE)
_ESCAPED = re.compile(r"^(\s*)\\(?=[\\`~-])", re.MULTILINE)


M = TypeVar("M", bound=BaseModel)


class Line(NamedTuple):
    """A line and its number in the file, from 1."""

    number: int
    text: str


@dataclass(frozen=True)
class Fence:
    """A fenced chunk; `number` and `last` are the lines of its two fences."""

    language: str
    called: str  # the word after the language
    text: str
    number: int
    last: int


def bad(where: str, number: int, what: str) -> ProcessFileError:
    return ProcessFileError(f"{where}, line {number}: {what}")


def numbered(text: str) -> list[Line]:
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    return [Line(number, line) for number, line in enumerate(lines, 1)]


def validated(model: type[M], values: Mapping[str, Any], where: str, number: int) -> M:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise bad(where, number, sentence(error)) from error


def escape(text: str) -> str:
    """A text in which no line is read as something else.

    >>> escape("as in\\n```sql"), unescape("as in\\n\\\\```sql")
    ('as in\\n\\\\```sql', 'as in\\n```sql')
    """
    return "\n".join(_MEANS.sub(r"\1\\", line) for line in text.split("\n"))


def unescape(text: str) -> str:
    return "\n".join(_ESCAPED.sub(r"\1", line) for line in text.split("\n"))


def sections(lines: list[Line], known: Sequence[str], where: str) -> tuple[Line, dict[str, list[Line]]]:
    """The title, and the lines of each `## section`."""
    title: Line | None = None
    found: dict[str, list[Line]] = {}
    current: list[Line] | None = None
    for line, in_fence in _with_fences(lines, where):
        if not in_fence and (match := _TITLE.match(line.text)):
            if title is not None:
                raise bad(where, line.number, "a second title: a file holds one process")
            title = Line(line.number, match[1])
        elif not in_fence and (match := _SECTION.match(line.text)):
            name = next((name for name in known if name.lower() == match[1].lower()), None)
            if name is None or name in found:
                why = "stands there twice" if name else f"is not one of {', '.join(known)}"
                raise bad(where, line.number, f"the section {match[1]!r} {why}")
            current = found[name] = []
        elif current is not None:
            current.append(line)
        elif line.text.strip():
            raise bad(where, line.number, "a text outside the sections: put it into a step or a variable")
    if title is None:
        raise bad(where, 1, "there is no title: a line '# Heading'")
    return title, {name: part for name, part in found.items() if any(line.text.strip() for line in part)}


def _with_fences(lines: Iterable[Line], where: str) -> Iterable[tuple[Line, bool]]:
    """Each line, and whether it is inside a chunk or one of its fences."""
    opened: tuple[Line, str] | None = None
    for line in lines:
        match = _FENCE.match(line.text)
        if opened is None:
            opened = (line, match["fence"]) if match else None
            yield line, match is not None
        else:
            if _closes(line.text, opened[1]):
                opened = None
            yield line, True
    if opened is not None:
        raise bad(where, opened[0].number, f"the chunk that begins here is not closed with {opened[1]}")


def _closes(text: str, fence: str) -> bool:
    text = text.strip()
    return len(text) >= len(fence) and not text.strip(fence[0])


def groups(lines: list[Line], marker: re.Pattern[str], where: str, how: str) -> list[tuple[Line, list[Line]]]:
    """The items of a list: the line with the marker, and the lines that belong to it."""
    items: list[tuple[Line, list[Line]]] = []
    for line, in_fence in _with_fences(lines, where):
        if not in_fence and marker.match(line.text):
            items.append((line, []))
        elif items:
            items[-1][1].append(line)
        elif line.text.strip():
            raise bad(where, line.number, how)
    return items


def body(first: Line, rest: Sequence[Line], marker: re.Pattern[str]) -> tuple[list[Line], int]:
    """The lines of an item without its marker, and the margin that the others may have."""
    match = marker.match(first.text)
    margin = match.end() if match else 0
    return [Line(first.number, first.text[margin:]), *rest], margin


def without_margin(text: str, margin: int) -> str:
    own = len(text) - len(text.lstrip(" "))
    return text[min(own, margin) :]


def split_fences(lines: Sequence[Line], where: str, margin: int = 0) -> tuple[str, list[Fence]]:
    """The text of an item, and its chunks."""
    text: list[str] = []
    fences: list[Fence] = []
    opened: tuple[Line, re.Match[str]] | None = None
    inside: list[str] = []
    for line, in_fence in _with_fences(lines, where):
        if not in_fence:
            text.append(without_margin(line.text, margin) if text else line.text)
        elif opened is None:
            match = _FENCE.match(line.text)
            opened, inside = (line, match) if match else None, []
        elif _closes(line.text, opened[1]["fence"]):
            own = len(opened[1]["lead"])
            chunk = "\n".join(without_margin(one, own) for one in inside)
            fences.append(Fence(opened[1]["language"], opened[1]["called"], chunk, opened[0].number, line.number))
            opened = None
        else:
            inside.append(line.text)
    return "\n".join(text).strip(), fences


def fenced(text: str, language: str) -> list[str]:
    """A chunk between fences that are longer than any in it.

    >>> fenced("a = '```'", "python")
    ['````python', "a = '```'", '````']
    """
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return [fence + language, *text.split("\n"), fence]


def indented(lines: Iterable[str], width: int) -> list[str]:
    return [" " * width + line if line else "" for line in lines]
