"""What an answer rests on, as one hash: where anything of it differs, nothing is found.

Question, data (fingerprint, the state of the file, and what the semantic model says of it), day, format, knowledge given, what was taught and declined, program,
model, settings, options, and what was said in the conversation before. A source whose data may change while it is open
has no key: its answers are not kept.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from finexpert.answers.sources.sources import Sources
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.settings import Settings
from finexpert.text.texts import as_asked
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
from finexpert.warehouse.warehouse import Warehouse


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Grows when the same plan may give another answer, or when what is kept changes.
VERSION = 3
# Settings that change no answer, or are secret. All others count, those too that are still to come.
WITHOUT = _set(
    "home api_key fallback_api_key as_of timeout cache record recordings budget_calls budget_usd budget_seconds budget_tokens store by"
    " workers tracking_uri cache_answers"
)


@dataclass(frozen=True)
class AskedWith:
    """What goes into a key. `said` is what `context` gives, `as_of` the day and whether it was asked for."""

    question: str
    source: str
    as_of: tuple[dt.date, bool]
    answer_format: Any
    knowledge: str
    taught: str
    declined: Sequence[str]
    program: str
    model: Any
    settings: Settings
    options: Any
    said: Sequence[str]

    def key(self) -> str:
        """The hash of all of it."""
        shown = self.settings.model_dump(mode="json", exclude=set(WITHOUT))
        parts = {**vars(self), "settings": shown, "version": VERSION, "finexpert": version("finexpert")}
        text = json.dumps(parts, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def of_source(source: Warehouse | Filing | Library | Sources) -> str | None:
    """The data as they are now; None for a source whose data may change without being opened again."""
    if isinstance(source, Sources):
        states = {name: of_source(each) for name, each in source.by_name.items()}
        return None if None in states.values() else f"sources {sorted(states.items())}"
    if isinstance(source, Filing):
        return f"filing {source.id} {source.fingerprint}"
    if isinstance(source, Library):
        return f"library {source.fingerprint}"
    # Another file in the place of the one that is open: what is computed now rests on neither for sure.
    if isinstance(source, DuckDBWarehouse) and (state := source.state()) is not None:
        return f"duckdb {' '.join(map(str, state))} {meaning_of(source)}"
    return None


def meaning_of(source: Warehouse) -> str:
    """What is said of the data beside them, as a hash: tables, columns, published values, and the expressions of metrics."""
    return hashlib.sha256(repr((source.tables, source.metrics)).encode()).hexdigest()[:16]


def context(question: str, earlier: Sequence[str]) -> list[str]:
    """What of the earlier questions an answer may rest on: all but the question itself, asked before.

    >>> context("And in 2019?", ["What was GDP in 2020?", "And in 2019?"])
    ['What was GDP in 2020']
    """
    return [said for said in map(as_asked, earlier) if said != as_asked(question)]
