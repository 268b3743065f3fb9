"""Keeping what somebody says that a term means.

explain(taught, clarification, "a month in which unemployment rose by 0.3 points", by="anna")
"""

from __future__ import annotations

import datetime as dt
from typing import Any, TypeVar

from pydantic import ValidationError

from finexpert.core.answers import Clarification
from finexpert.errors import StoreError
from finexpert.knowledge.glossary import Glossary, Keyword
from finexpert.knowledge.process import Process
from finexpert.knowledge.taught import Taught
from finexpert.text.texts import sentence

Named = TypeVar("Named", Keyword, Process)


def explain(taught: Taught, unclear: Clarification, meaning: str, by: str) -> Keyword | Process:
    """Keep the reply to a question back about a term.

    The name of a keyword or of a process that the clarification offered makes the term another name of it.
    """
    if meaning in unclear.candidates:
        if keyword := taught.glossary.get(meaning):
            return taught.glossary.edit(_also(keyword, unclear.term), by)
        if process := taught.memory.get(meaning):
            return taught.memory.edit(_also(process, unclear.term), by)
    return define(taught.glossary, by, term=unclear.term, meaning=meaning, source="clarification")


def define(glossary: Glossary, by: str, **said: Any) -> Keyword:
    """Keep a keyword; `said` are its fields. StoreError for what cannot be kept."""
    try:
        keyword = Keyword(taught_by=by, taught_at=dt.datetime.now(dt.UTC), **said)
    except ValidationError as error:
        raise StoreError(f"{said['term'][:200]!r} cannot be kept: {sentence(error)}") from error
    return glossary.define(keyword, by)


def _also(known: Named, name: str) -> Named:
    return known.model_copy(update={"aliases": [*known.aliases, name]})
