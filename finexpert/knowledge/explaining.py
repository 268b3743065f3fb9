"""Keeping what somebody says that a term means.

explain(taught, clarification, "a month in which unemployment rose by 0.3 points", by="anna")
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from finexpert.core.answers import Clarification
from finexpert.core.offers import Offer
from finexpert.errors import NotKept
from finexpert.knowledge.glossary import Glossary, Keyword
from finexpert.knowledge.process import Process
from finexpert.knowledge.taught import Taught
from finexpert.text.texts import sentence

Named = TypeVar("Named", Keyword, Process)


def explain(taught: Taught, unclear: Clarification, meaning: str, by: str, scope: str = "") -> Keyword | Process:
    """Keep the reply to a question back about a term, for one scope.

    The name of a keyword or of a process that the clarification offered makes the term another name of it.
    """
    if meaning in unclear.candidates:
        if keyword := taught.glossary.get(meaning):
            return taught.glossary.edit(_also(keyword, unclear.term), by)
        if process := taught.memory.get(meaning):
            return taught.memory.edit(_also(process, unclear.term), by)
    said = {"term": unclear.term, "meaning": meaning, "source": "clarification"}
    return define(taught.glossary, by, **said, scope=scope_of(taught.glossary, unclear.term, scope))


def scope_of(glossary: Glossary, term: str, scope: str) -> str:
    """What a term holds for: what it held for so far, else the scope given."""
    known = glossary.get(term)
    return known.scope if known else scope


def define(glossary: Glossary, by: str, **said: Any) -> Keyword:
    """Keep a keyword; `said` are its fields. NotKept for what cannot be kept."""
    try:
        keyword = Keyword(taught_by=by, taught_at=dt.datetime.now(dt.UTC), **said)
    except ValidationError as error:
        raise NotKept(f"{said['term'][:200]!r} cannot be kept: {sentence(error)}") from error
    return glossary.define(keyword, by)


def offered(offer: Offer) -> Keyword:
    """The keyword of an offer, as it is used for the message that gave it."""
    return Keyword(term=offer.term, meaning=offer.meaning, about=offer.about, kind=_kind(offer), source="conversation")


def _kind(offer: Offer) -> Literal["term", "convention"]:
    return "convention" if offer.kind == "convention" else "term"


def keep(glossary: Glossary, offer: Offer, by: str) -> Keyword:
    """Keep what a person agreed to: a draft until it was used once with an accepted result; what replaces an entry keeps its status."""
    known = glossary.get_in(offer.scope, offer.term, by)
    said = offer.model_dump(include={"term", "meaning", "about", "scope"}) | {
        "kind": _kind(offer),
        "status": known.status if known else "draft",
        "source": "conversation",
    }
    return define(glossary, by, **said)


def _also(known: Named, name: str) -> Named:
    return known.model_copy(update={"aliases": [*known.aliases, name]})
