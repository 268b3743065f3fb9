"""A pattern that meets the very value that the question names, and others beside it.

    payer ILIKE '%hydro%'     "Hydro Süd GmbH" is a payer, and so is 'HYDRO SUED SERVICE GMBH': a person is asked which are meant

Alike names are mostly two things, and a sum over both is no answer for one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

from sqlglot import exp

from finexpert.errors import UnknownValue
from finexpert.warehouse.checks.reading.changed import as_wrapped
from finexpert.warehouse.checks.reading.comparisons import Comparison
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, text_of
from finexpert.warehouse.profile import from_named

_SMALL = 2_000_000
_MOST = 60
_SHOWN = 8
ALL_OF_THEM = "all of them"
_SHORTEST = 4
_SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
# Who says one of these means more than the one that is called so.
_SEVERAL = re.compile(
    r"\b(all|any|every|each|group|contain\w*|includ\w*|alike|related|kinds?|types?|alle|jede\w*)\b", re.IGNORECASE
)


def check_named(
    compared: Iterable[Comparison], one: Read, probe: Probe, question: str, asked: Collection[str] = ()
) -> None:
    """Raises UnknownValue, with a question of its own, where one of the values met stands in the question and others do not.

    Of columns that are `asked` a person has said the meaning already.
    """
    for comparison in compared if not _SEVERAL.search(question) else ():
        rows = comparison.origin.table.rows
        if (
            not comparison.pattern
            or comparison.negated
            or comparison.node.find_ancestor(exp.Order)
            or str(comparison.origin) in asked
            or rows is None
            or rows > _SMALL
        ):
            continue
        values = probe.values(comparison.origin, exp.and_(*_tests(comparison)), _MOST + 1)
        spelled = {value.strip(): is_named(value, question) for value in values}
        called = {_words(value) for value, is_one in spelled.items() if is_one}
        # 'DUBOIS Claire' is 'Claire Dubois'.
        named = sorted((value for value in spelled if _words(value) in called), key=lambda value: not spelled[value])
        others = sorted(value for value in spelled if value not in named)
        # Spellings of one name are one.
        # One word is a kind more often than a name: 'retail' beside 'online retail'.
        if len(called) != 1 or len(called.pop()) < 2 or not others or len(spelled) > _MOST:
            continue
        unknown = UnknownValue(
            f"{text_of(one, comparison.node)}: the question names a value of {comparison.origin} itself, and the pattern meets others "
            "beside it: compare with that one alone",
            place=str(comparison.origin),
            text=comparison.texts[0],
            values=(named[0], ALL_OF_THEM, *others[:_SHOWN]),
        )
        unknown.question = (
            f"{comparison.origin} holds {named[0]!r}, and {', '.join(map(repr, others[:_SHOWN]))}{', ...' if len(others) > _SHOWN else ''} "
            f"match {comparison.texts[0]!r} as well. Is {named[0]!r} meant alone, or {ALL_OF_THEM}?"
        )
        raise unknown


def _tests(comparison: Comparison) -> list[exp.Expr]:
    """The comparison with the conditions beside it that look at the same column alone: LIKE '%horseradish%' AND LIKE '%1 kg%'."""
    columns = {column.sql() for column in comparison.node.find_all(exp.Column)}
    top = comparison.node
    while isinstance(top.parent, exp.And | exp.Paren):
        top = top.parent
    tests = [comparison.holds().args["where"].this]
    for test in top.flatten() if isinstance(top, exp.And) else ():
        within = {column.sql() for column in test.find_all(exp.Column)}
        if test is not comparison.node and within == columns and not test.find(exp.Query):
            # As the comparison sees the column: a SELECT below may have put it in small letters.
            tests.append(test.copy().transform(lambda node: comparison.side if isinstance(node, exp.Column) else node))
    return tests


def as_compared(comparison: Comparison, value: str, probe: Probe) -> str:
    """A value of the column as what is compared makes it: 'shell fuel' of 'Shell Fuel' in lower(coalesce(merchant, ''))."""
    column = exp.column(comparison.origin.column.name, quoted=True)
    side = comparison.node.this.copy()
    side = side.transform(lambda node: column.copy() if isinstance(node, exp.Column) else node)
    given = exp.select(side).from_(from_named(comparison.origin.table.name)).where(column.eq(exp.Literal.string(value)))
    rows = [] if isinstance(comparison.node.this, exp.Literal) else probe.rows(given.limit(1))
    return str(rows[0][0]) if rows and rows[0][0] is not None else as_wrapped(comparison.wraps, value)


def is_named(value: str, question: str) -> bool:
    """Whether a question has the whole of a value among its words.

    >>> is_named("HYDRO SUED GMBH", "How much did Hydro Süd GmbH pay?"), is_named("Hydro Sued Service GmbH", "How much did Hydro Süd GmbH pay?")
    (True, False)
    """
    return any(
        len(folded) >= _SHORTEST and f" {folded} " in f" {_folded(question, spelled)} "
        for spelled in (True, False)
        if (folded := _folded(value, spelled))
    )


def _words(value: str) -> tuple[str, ...]:
    return tuple(sorted(_folded(value, True).split()))


def _folded(text: str, spelled: bool) -> str:
    text = text.casefold()
    text = unicodedata.normalize("NFKD", text.translate(_SPELLED) if spelled else text)
    letters = "".join(letter for letter in text if not unicodedata.combining(letter))
    return " ".join(re.findall(r"[^\W_]+", letters))
