"""Texts that say the same in another dress, and values that are near to a text.

same_text("Private Bank", "PRIVATE_BANK")   ->   True
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz import fuzz, process, utils
from sqlglot import exp

from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin

SHOWN = 50
_SEPARATORS = re.compile(r"[\s_\-./]+")
_NEAR_WORDS = 60
_NEARLY = 90
_NEAR_MEANING = 0.45
_MOST_EMBEDDED = 200


def same_text(one: str, other: str) -> bool:
    """Whether two texts differ in case, spaces and separators alone.

    >>> same_text(" Buy", "BUY"), same_text("buy", "sell"), same_text("T+1", "t +1")
    (True, False, False)
    """
    return _folded(one) == _folded(other) != ""


def is_nearly(one: str, other: str) -> bool:
    """Whether two texts differ by a letter or so, as two ways of spelling one word do.

    >>> is_nearly("Canceled", "CANCELLED"), is_nearly("SAVING", "SAV"), is_nearly("CLOSED", "CLOSE")
    (True, False, True)
    >>> is_nearly("2023-03", "2023-04")
    False
    """
    # Numbers tell codes and periods apart.
    return re.findall(r"\d", one) == re.findall(r"\d", other) and fuzz.ratio(_folded(one), _folded(other)) >= _NEARLY


def _folded(text: str) -> str:
    return _SEPARATORS.sub(" ", text).strip().casefold()


def nearest_values(origin: Origin, text: str, probe: Probe) -> list[str]:
    """Values of a column to show to a person who is asked what a text means: the nearest first, then the rest."""
    values = probe.distinct(origin)
    if values is None:
        return _found_by_words(origin, text, probe)
    by_words = process.extract(
        text, values, scorer=fuzz.WRatio, processor=utils.default_process, limit=10, score_cutoff=_NEAR_WORDS
    )
    near = [*(match[0] for match in by_words), *_near_in_meaning(text, values)]
    return list(dict.fromkeys([*near, *values]))[:SHOWN]


def _near_in_meaning(text: str, values: Sequence[str]) -> list[str]:
    if len(values) > _MOST_EMBEDDED:
        return []
    from finexpert.embeddings.embedding import embedder

    vectors = embedder().embed([text, *values])
    cosines = vectors[1:] @ vectors[0]
    order = (-cosines).argsort()
    return [values[place] for place in order if cosines[place] >= _NEAR_MEANING]


def _found_by_words(origin: Origin, text: str, probe: Probe) -> list[str]:
    """Of a column with too many values to list: those that hold the longest word of the text."""
    words = sorted(re.findall(r"\w{3,}", text.lower()), key=len, reverse=True)
    if not words:
        return []
    column = exp.Lower(this=exp.column(origin.column.name, quoted=True))
    found = probe.values(origin, column.like(exp.Literal.string(f"%{words[0]}%")))
    return sorted(found, key=lambda value: -fuzz.WRatio(text, value, processor=utils.default_process))
