"""A pattern that meets the very value that the question names, and others beside it.

    payer ILIKE '%hydro%'     "Hydro Süd GmbH" is a payer, and so is 'HYDRO SUED SERVICE GMBH': a person is asked which are meant

Alike names are mostly two things, and a sum over both is no answer for one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

from finexpert.errors import UnknownValue
from finexpert.warehouse.checks.reading.comparisons import Comparison
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, text_of

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
            or str(comparison.origin) in asked
            or rows is None
            or rows > _SMALL
        ):
            continue
        values = probe.values(comparison.origin, comparison.holds().args["where"].this, _MOST + 1)
        spelled = {value.strip(): is_named(value, question) for value in values}
        named = [value for value, is_one in spelled.items() if is_one]
        if len(named) != 1 or len(spelled) == 1 or len(spelled) > _MOST:
            continue
        others = sorted(value for value in spelled if value not in named)
        unknown = UnknownValue(
            f"{text_of(one, comparison.node)}: the question names a value of {comparison.origin} itself, and the pattern meets others "
            "beside it: compare with that one alone",
            place=str(comparison.origin),
            text=comparison.texts[0],
            values=(*named, ALL_OF_THEM, *others[:_SHOWN]),
        )
        unknown.question = (
            f"{comparison.origin} holds {named[0]!r}, and {', '.join(map(repr, others[:_SHOWN]))}{', ...' if len(others) > _SHOWN else ''} "
            f"match {comparison.texts[0]!r} as well. Is {named[0]!r} meant alone, or {ALL_OF_THEM}?"
        )
        raise unknown


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


def _folded(text: str, spelled: bool) -> str:
    text = text.casefold()
    text = unicodedata.normalize("NFKD", text.translate(_SPELLED) if spelled else text)
    letters = "".join(letter for letter in text if not unicodedata.combining(letter))
    return " ".join(re.findall(r"[^\W_]+", letters))
