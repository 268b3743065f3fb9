"""Checks of a taught process that need no language model: would its SQL and code run, and does it only say what to do.

    problems(process, warehouse, as_of)  ->  ["step 2: its SELECT does not run: there is no table 'wages'"]

A process with a problem stays a draft. That it also computes the right thing is found out by running it on the case
that it was taught on; `same_result` compares what came out then.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from finexpert.core.syntax import parse
from finexpert.errors import QueryError
from finexpert.knowledge.process import Process
from finexpert.sandbox.policy import refusals
from finexpert.text.texts import said_to_a_program
from finexpert.warehouse.warehouse import Warehouse

_words = str.split

_DIGITS = re.compile(r"\d+(?:[.,-]\d+)*")
_UP = frozenset(_words("rose rise rises rising up higher above more increase increased increases grew gain gained"))
_DOWN = frozenset(_words("fell fall falls falling down lower below less decrease decreased decreases shrank loss lost"))
_NOT = frozenset(_words("no not never none neither without"))
_PLACEHOLDER = re.compile(r"<([A-Za-z_]\w*)>")


def problems(process: Process, source: Warehouse | None, as_of: dt.date) -> list[str]:
    """What is wrong with a process, in words for the expert; empty if nothing is."""
    return [
        *_undeclared(process),
        *_instructions(process),
        *(_selects(process, source, as_of) if source is not None else ()),
        *_scripts(process),
    ]


def _texts(process: Process) -> Iterator[tuple[str, str]]:
    yield "the heading", process.heading
    yield from (("an alias", alias) for alias in process.aliases)
    for variable in process.variables:
        yield f"the variable {variable.name}", f"{variable.meaning} {variable.example}"
    for number, step in enumerate(process.steps, 1):
        yield f"step {number}", "\n".join(filter(None, [step.text, step.sql, step.code]))


def _undeclared(process: Process) -> Iterator[str]:
    known = {variable.name for variable in process.variables}
    for number, step in enumerate(process.steps, 1):
        used = set(_PLACEHOLDER.findall(f"{step.text}\n{step.sql or ''}"))
        for name in sorted(used - known):
            yield f"step {number}: <{name}> is no variable of the process"


def _instructions(process: Process) -> Iterator[str]:
    for place, text in _texts(process):
        if found := said_to_a_program(text):
            yield f"{place}: {found!r} reads like an instruction to the program and not like a step of an analysis"


def _selects(process: Process, source: Warehouse, as_of: dt.date) -> Iterator[str]:
    for number, step in enumerate(process.steps, 1):
        if step.sql:
            try:
                source.query(filled_in(step.sql, process), as_of=as_of)
            except QueryError as error:
                yield f"step {number}: its SELECT does not run: {error}"


def _scripts(process: Process) -> Iterator[str]:
    for number, step in enumerate(process.steps, 1):
        code = textwrap.dedent(filled_in(step.code or "", process))
        try:
            parse(code)
        except SyntaxError as error:
            yield f"step {number}: its code is not Python: {error.msg}, line {error.lineno}"
            continue
        yield from (f"step {number}: {refusal}" for refusal in refusals(code))


def filled_in(text: str, process: Process) -> str:
    """SQL or code with the values of the taught case in place of its variables.

    >>> from finexpert.knowledge.process import ProcessStep, Variable
    >>> taught = Process(heading="Highest rate", variables=[Variable(name="start", example="2000-01-01")],
    ...                  steps=[ProcessStep(text="take the rates since <start>")])
    >>> filled_in("SELECT max(dff) FROM rates WHERE date >= <start>", taught)
    "SELECT max(dff) FROM rates WHERE date >= '2000-01-01'"
    """
    examples = {variable.name: variable.example for variable in process.variables}

    def value(found: re.Match[str]) -> str:
        example = examples.get(found[1])
        if example is None:
            return found[0]
        quoted = found.start() > 0 and text[found.start() - 1] in "'\""
        return example.strip("'\"") if quoted else _literal(example)

    return _PLACEHOLDER.sub(value, text)


def _literal(example: str) -> str:
    """A value as SQL and Python write it: numbers, lists and what is quoted or typed already stay as they are."""
    plain = re.fullmatch(r"-?[\d.]+|'.*'|\".*\"|\[.*\]|\(.*\)|[A-Za-z_][\w.]*\s*[('].*|True|False", example, re.DOTALL)
    return example if plain else f"'{example}'"


def same_result(expected: Any, found: Any) -> bool:
    """Whether two results, as records keep them, are the same but for noise in the last digits.

    A table is the same if it has each expected column, whatever it is called, in the same order of rows. Nothing is the same as a table
    without rows or columns, or as a text that differs in a word of its own: such a case proves nothing.

    >>> same_result({"columns": ["start"], "data": [["2001-01-01"]]}, {"columns": ["n", "s"], "data": [[1, "2001-01-01"]]})
    True
    >>> same_result([2.0, 3], [2.0000000001, 3]), same_result([2.0], [2.1])
    (True, False)
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        columns = _columns(found)
        if not proves(expected) or len(expected.get("data", [])) != len(found.get("data", [])):
            return False
        return all(any(same_result(column, other) for other in columns) for column in _columns(expected))
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(same_result, expected, found))
    numbers = [value for value in (expected, found) if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == 2:
        return math.isclose(*numbers, rel_tol=1e-6, abs_tol=1e-9)
    if isinstance(expected, str) and isinstance(found, str):
        return _day(expected) == _day(found) or (bool(_DIGITS.findall(expected)) and _same_numbers(expected, found))
    return type(expected) is type(found) and bool(expected == found)


def proves(expected: Any) -> bool:
    """Whether a result can tell a process that works from one that does not: it holds a value.

    >>> proves({"columns": ["n"], "data": []}), proves([]), proves({"columns": ["n"], "data": [[None]]}), proves(0.0)
    (False, False, False, True)
    """
    if isinstance(expected, dict):
        return any(proves(list(row)) for row in expected.get("data", []))
    if isinstance(expected, list):
        return any(map(proves, expected))
    return (
        expected is not None
        and not (isinstance(expected, float) and math.isnan(expected))
        and (not isinstance(expected, str) or bool(expected.strip()))
    )


def _same_numbers(expected: str, found: str) -> bool:
    """Two sentences say the same if they hold the same numbers in the same order, the same direction, and the same names.

    >>> _same_numbers("It fell by 5 percent", "It rose by 5 percent"), _same_numbers("GDP 5 in Germany", "unemployment 5 in France")
    (False, False)
    >>> _same_numbers("It fell by 5 percent", "A fall of 5 percent")
    True
    """
    same = _DIGITS.findall(expected) == _DIGITS.findall(found) and _direction(expected) == _direction(found)
    return same and _named(expected) == _named(found)


def _named(text: str) -> set[str]:
    """What a sentence names: capitalised words within it, and words of capitals and digits."""
    words = re.findall(r"[^\W\d_][\w&.-]*", text)
    return {
        word.casefold()
        for place, word in enumerate(words)
        if (place and word[0].isupper()) or (len(word) > 1 and word.isupper())
    }


def _direction(text: str) -> tuple[bool, ...]:
    words = set(re.findall(r"[a-z]+", text.casefold()))
    return tuple(bool(words & group) for group in (_UP, _DOWN, _NOT))


def _columns(table: dict[str, Any]) -> list[list[Any]]:
    rows = table.get("data", [])
    return [[row[index] for row in rows] for index in range(len(table.get("columns", [])))]


def _day(value: str) -> str:
    """A midnight timestamp as the day that it is."""
    return value[:10] if re.fullmatch(r"\d{4}-\d\d-\d\dT00:00:00(\.0+)?Z?", value) else value
