"""A pattern of the plain SELECTs over few tables, for servers that write nothing else than what a pattern allows.

    months = Readable("months", (("month", "day"), ("rate", "number")))
    re.fullmatch(pattern([months]), "SELECT avg(rate) FROM months WHERE month >= DATE '2000-01-01'")

A small model that can only write names that are there makes no mistake of this kind. What is plain: one source, aggregates, a condition or
three, a group, an order, a limit; no joins but `IN (SELECT ...)` over days of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["day", "number", "truth", "text", "unknown"]

_NUMBER = "-?[0-9]{1,6}([.][0-9]{1,3})?"
_DAY = "DATE '[12][0-9]{3}-[01][0-9]-[0-3][0-9]'"
_YEAR = "[12][0-9]{3}"
_TEXT = "'[A-Za-z0-9 &._-]{1,40}'"
_COMPARED = "(=|<|<=|>|>=)"
_CALLED = re.compile(r"(?P<name>\w+)[(](?P<values>.*)[)]", re.DOTALL)
_LITERAL = re.compile(r"'(?:[^']|'')*'|-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Readable:
    """What a SELECT may read: a table or a call with examples of its values, its columns, and the texts that a column is published to hold."""

    call: str
    columns: Sequence[tuple[str, Kind]]
    texts: Sequence[tuple[str, Sequence[str]]] = ()

    def names(self, *kinds: Kind) -> list[str]:
        return [name for name, kind in self.columns if kind in (*kinds, "unknown")]


def pattern(readable: Sequence[Readable]) -> str:
    """A regular expression without anchors, in the part of the language that grammars are made of: no escapes, no look around."""
    named = [replace(one, columns=[each for each in one.columns if each[0].isidentifier()]) for one in readable]
    return _either([_plain(one, [other for other in named if other is not one]) for one in named if one.columns])


def _plain(one: Readable, others: Sequence[Readable]) -> str:
    every, numbers, days = (one.names(*kinds) for kinds in (("day", "number", "truth", "text"), ("number",), ("day",)))
    condition, any_ = _condition(one, others), _either(every)
    made = ["count[(][*][)]", any_]
    if numbers:
        number = _either(numbers)
        made += [f"(avg|sum|min|max|median|stddev)[(]{number}[)]", f"corr[(]{number}, {number}[)]"]
        made += [f"(arg_max|arg_min)[(]{any_}, {number}[)]"]
        made += [f"(count[(][*][)]|(avg|sum|min|max)[(]{number}[)]) FILTER [(]WHERE {condition}[)]"]
    if days:
        made += [f"(min|max|year)[(]{_either(days)}[)]"]
    part = _either(made)
    compared = f"100 [*] [(]{part} / {part} - 1[)]"
    whole = f"[*] FROM {_source(one.call)}|" if _CALLED.fullmatch(one.call) else ""
    return (
        f"SELECT ({whole}({compared}|(100 [*] )?{part}( [-+*/] {part})?(, {part})?) FROM {_source(one.call)}"
        f"( WHERE {condition}( (AND|OR) {condition}){{0,2}})?( GROUP BY {part})?( ORDER BY {part}( DESC)?)?( LIMIT [1-9][0-9]?)?)"
    )


def _condition(one: Readable, others: Sequence[Readable]) -> str:
    numbers, days, truths, texts = (one.names(kind) for kind in ("number", "day", "truth", "text"))
    published = dict(one.texts)
    made: list[str] = []
    if days:
        day = _either(days)
        made += [f"{day} {_COMPARED} {_DAY}", f"{day} BETWEEN {_DAY} AND {_DAY}"]
        made += [
            f"year[(]{day}[)] ({_COMPARED} {_YEAR}|BETWEEN {_YEAR} AND {_YEAR})",
            f"(month|quarter)[(]{day}[)] = [1-9][0-2]?",
        ]
    if numbers:
        number = _either(numbers)
        made += [f"{number} {_COMPARED} ({_NUMBER}|{number})", f"{number} BETWEEN {_NUMBER} AND {_NUMBER}"]
    if truths:
        made += [f"(NOT )?{_either(truths)}"]
    for name in texts:
        said = [f"'{_quoted(text)}'" for text in published.get(name, ()) if "'" not in text]
        made.append(f"{_quoted(name)} = {_either(said) if said else _TEXT}")
    for other in others:
        shared = [name for name in days if name in other.names("day")]
        made += [f"{name} (NOT )?IN [(]SELECT {name} FROM {_source(other.call)}[)]" for name in map(_quoted, shared)]
    return _either(made)


def _source(call: str) -> str:
    """A table as it stands; a call with other values of the kinds of its examples."""
    called = _CALLED.fullmatch(call)
    if called is None:
        return _quoted(call)
    values = [_value(literal) for literal in _LITERAL.findall(called["values"])]
    return f"{_quoted(called['name'])}[(]{', '.join(values)}[)]"


def _value(literal: str) -> str:
    if not literal.startswith("'"):
        return _NUMBER
    return f"'{_DAY[6:-1]}'" if re.fullmatch(r"'\d{4}-\d\d-\d\d'", literal) else _TEXT


def _either(parts: Sequence[str]) -> str:
    return f"({'|'.join(dict.fromkeys(parts))})"


def _quoted(text: str) -> str:
    """A text as a pattern of itself: signs that mean something stand in brackets, since some readers keep a backslash.

    >>> _quoted("a.b (c)")
    'a[.]b [(]c[)]'
    """
    return re.sub(r"([.^$*+?()|{}\[\]\\])", lambda sign: "[\\\\]" if sign[0] == "\\" else f"[{sign[0]}]", text)
