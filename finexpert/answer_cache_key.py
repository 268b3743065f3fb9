"""What an answer rests on beside its question, as one hash: where anything of it differs, nothing is found.

Data (fingerprint, and the state of the file), day, format, knowledge given, what was taught and declined, program,
model, settings, options, and what was said in the conversation before. A source whose data may change while it is open
has no key: its answers are not kept.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from finexpert import question_words as listed
from finexpert.question_reading import read
from finexpert.settings import Settings
from finexpert.sources.filing import Filing
from finexpert.sources.library import Library
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
from finexpert.warehouse.warehouse import Warehouse


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Grows when the same plan may give another answer, or when what is kept changes.
VERSION = 1
# Settings that change no answer, or are secret. All others count, those too that are still to come.
WITHOUT = _set(
    "home api_key fallback_api_key as_of timeout cache record recordings budget_calls budget_usd budget_seconds budget_tokens store by"
    " workers tracking_uri cache_answers"
)
_REFERS = _set(
    "it its they them their that this these those then same again also too former latter instead other another one"
    " previous prior preceding such both"
)
_OPENS_A_FOLLOW_UP = re.compile(r"^\W*(?:and|but|so|then|now|what about|how about|or|also)\b", re.IGNORECASE)
_ASKS = re.compile(
    r"^\W*(?:(?:in|on|of|at|for|from|by|since|over|during|between|as of|to|until)\b[^?]*\b)?"
    r"(?:what|which|when|who|how|why|where|is|are|was|were|did|does|do|has|have|had|can|could|list|show|give|count|name)\b",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"\b(?:suppose|assume|assuming|call|let|define|mean|means|meant|should|must|use|using|always|never|ignore|treat"
    r"|from now on|instead|wrong|actually|correct|correction|rather|no)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Surroundings:
    """What goes into a key. `said` is what `context` gives."""

    source: str
    as_of: dt.date
    answer_format: Any
    knowledge: str
    taught: str
    declined: Sequence[str]
    program: str
    model: Any
    settings: Settings
    options: Any
    embedder: str
    said: Sequence[str]

    def key(self) -> str:
        """The hash of all of it."""
        shown = self.settings.model_dump(mode="json", exclude=set(WITHOUT))
        parts = {**vars(self), "settings": shown, "version": VERSION, "finexpert": version("finexpert")}
        text = json.dumps(parts, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def of_source(source: Warehouse | Filing | Library) -> str | None:
    """The data as they are now; None for a source whose data may change without being opened again."""
    if isinstance(source, Filing):
        return f"filing {source.id} {source.fingerprint}"
    if isinstance(source, Library):
        return f"library {source.fingerprint}"
    if isinstance(source, DuckDBWarehouse):
        try:
            found = source.path.stat()
        except OSError:
            return None
        return f"duckdb {found.st_ino} {found.st_mtime_ns} {found.st_size}"
    return None


def context(question: str, earlier: Sequence[str], as_of: dt.date) -> list[str]:
    """What of the earlier questions the answer may rest on: all, or only what was said beside asking.

    >>> day = dt.date(2024, 9, 30)
    >>> context("What was the unemployment rate in 2019?", ["How did GDP grow in 2020?"], day)
    []
    >>> context("And in 2019?", ["How did GDP grow in 2020?"], day)
    ['How did GDP grow in 2020?']
    >>> context("What was the unemployment rate in 2019?", ["Use the U-6 rate from now on."], day)
    ['Use the U-6 rate from now on.']
    """
    if not stands_alone(question, as_of):
        return list(earlier)
    return [said for said in earlier if not _only_asks(said)]


def stands_alone(question: str, as_of: dt.date) -> bool:
    """Whether a question names what it is about and for when, and refers to nothing before it.

    >>> day = dt.date(2024, 9, 30)
    >>> [stands_alone(text, day) for text in ("What was GDP in 2019?", "What was it in 2019?", "What was GDP?")]
    [True, False, False]
    """
    reading = read(question, as_of)
    words = set(re.findall(r"[a-z]+", question.lower()))
    refers = _OPENS_A_FOLLOW_UP.match(question) or words & _REFERS
    return not refers and bool(reading.times) and bool(set(reading.subjects) - listed.UNITS)


def _only_asks(said: str) -> bool:
    return bool(_ASKS.match(said)) and said.rstrip().endswith("?") and not _DEFINES.search(said)
