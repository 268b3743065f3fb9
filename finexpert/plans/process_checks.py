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
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from finexpert.core.encoding import encode
from finexpert.core.syntax import parse
from finexpert.errors import AnswerFormatError, NoRows, QueryError
from finexpert.knowledge.process import Process
from finexpert.sandbox.policy import refusals
from finexpert.text.texts import said_to_a_program
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.frame_values import value_of
from finexpert.warehouse.named_selects import PLACEHOLDER, NamedSelect, filled_in, literal
from finexpert.warehouse.schema import find_table
from finexpert.warehouse.warehouse import Warehouse

_words = str.split

_DIGITS = re.compile(r"\d+(?:[.,-]\d+)*")
_UP = frozenset(_words("rose rise rises rising up higher above more increase increased increases grew gain gained"))
_DOWN = frozenset(_words("fell fall falls falling down lower below less decrease decreased decreases shrank loss lost"))
_NOT = frozenset(_words("no not never none neither without"))


def problems(
    process: Process, source: Warehouse | None, as_of: dt.date, others: Mapping[str, NamedSelect] = MappingProxyType({})
) -> list[str]:
    """What is wrong with a process, in words for the expert; empty if nothing is. `others` are the named SELECTs of other processes."""
    return [
        *_undeclared(process),
        *_instructions(process),
        *(_selects(process, source, as_of, others) if source is not None else ()),
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
        used = set(PLACEHOLDER.findall(f"{step.text}\n{step.sql or ''}"))
        for name in sorted(used - known):
            yield f"step {number}: <{name}> is no variable of the process"


def _instructions(process: Process) -> Iterator[str]:
    for place, text in _texts(process):
        if found := said_to_a_program(text):
            yield f"{place}: {found!r} reads like an instruction to the program and not like a step of an analysis"


def _selects(process: Process, source: Warehouse, as_of: dt.date, others: Mapping[str, NamedSelect]) -> Iterator[str]:
    """Each SELECT with the examples of its variables, through all checks of a SELECT."""
    own = {one.name: one for one in process.named_selects}
    steps = [(number, step) for number, step in enumerate(process.steps, 1) if step.sql]
    checks = Checks(source, as_of, named={**others, **own})
    for (number, step), one in zip(steps, own.values(), strict=True):
        if step.name and (taken := _taken(one, source, others)):
            yield f"step {number}: {taken}: give it another name"
        if step.name and (without := [name for name, value in one.variables.items() if value == "''"]):
            yield f"step {number}: <{without[0]}> has no example, with which its SELECT could be tried"
        # By its name it has what it reads of the steps before; on its own the engine says best what is wrong with it.
        by_name = step.name or any(re.search(rf"\b{other}\b", one.select) for other in one.beside)
        try:
            checks.run(f"SELECT * FROM {one.call}" if by_name else filled_in(one.select, _literals(process)))
        except NoRows:
            continue
        except QueryError as error:
            yield f"step {number}: its SELECT does not run: {error}"


def gives_its_case(
    process: Process, source: Warehouse, as_of: dt.date, others: Mapping[str, NamedSelect] = MappingProxyType({})
) -> bool:
    """Whether the last SELECT of a process gives, with the examples of its variables, the result that was accepted: no model is needed to tell."""
    case, last = process.case, process.named_selects[-1:]
    if case is None or not last or process.steps[-1].sql is None or not proves(case.expected):
        return False
    named = {**others, **{one.name: one for one in process.named_selects}}
    try:
        frame = Checks(source, as_of, named=named).run(f"SELECT * FROM {last[0].call}").frame
        return same_result(case.expected, encode(value_of(frame.data, case.answer_format)[0]))
    except (QueryError, AnswerFormatError):
        return False


def _taken(one: NamedSelect, source: Warehouse, others: Mapping[str, NamedSelect]) -> str:
    """Why a SELECT cannot be read by its name; empty where it can."""
    if find_table(source.tables, one.name) is not None:
        return f"{one.name} is a table of {source.name}"
    return f"{one.name} is the name of {others[one.name].of}" if one.name in others else ""


def _scripts(process: Process) -> Iterator[str]:
    for number, step in enumerate(process.steps, 1):
        code = textwrap.dedent(filled_in(step.code or "", _literals(process)))
        try:
            parse(code)
        except SyntaxError as error:
            yield f"step {number}: its code is not Python: {error.msg}, line {error.lineno}"
            continue
        yield from (f"step {number}: {refusal}" for refusal in refusals(code))


def _literals(process: Process) -> dict[str, str]:
    return {variable.name: literal(variable.example) for variable in process.variables}


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
