"""Offering: from what a model heard in a message to what the person would keep, checked at home.

The meaning is cut out of what the person wrote, letter by letter. What they did not write, what a document says, what is
supposed and what reads like an instruction to a program becomes no offer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from finexpert.core.offers import Offer, OfferKind
from finexpert.knowledge import injections
from finexpert.knowledge.cues import own_words
from finexpert.knowledge.glossary import Glossary, Keyword
from finexpert.text.terms import normalise, phrases_in
from finexpert.text.texts import MEANING_LENGTH, NAME_LENGTH, said_to_a_program, unseen

GAP = " ... "
_TITLE_WORDS = 8
_MOST_ABOUT = 12
_AROUND = " \t\r\n,;:-\u2013\u2014"


@dataclass(frozen=True)
class Said:
    """A message, the ones of the same person before it, and the term that it is a reply about."""

    message: str
    earlier: Sequence[str] = ()
    asked: str = ""

    def holds(self, term: str) -> bool:
        """Whether a term stands in what was said or asked."""
        name = normalise(term)
        return bool(name) and any(phrases_in(text, [name]) for text in (self.message, self.asked, *self.earlier))


def offer(
    said: Said,
    known: Sequence[Keyword],
    glossary: Glossary,
    scope: str,
    *,
    kind: OfferKind,
    term: str,
    quotes: Sequence[str],
    taken_back: Sequence[str] = (),
    about: Sequence[str] = (),
    number: int | None = None,
) -> Offer | None:
    """The offer of one lesson; None where it does not stand in what the person said, or is kept so already."""
    meaning = _meaning(said, quotes, taken_back)
    if meaning is None:
        return None
    before = _before(said, known, glossary, term, number)
    if before is None and kind != "convention" and not said.holds(term):
        return None
    if before is None and (kind == "convention" and not _usable_title(said, term)):
        term = " ".join(meaning.split()[:_TITLE_WORDS])[:NAME_LENGTH]
    if before is not None:
        if normalise(before.meaning) == normalise(meaning):
            return None
        term, scope, kind = before.term, before.scope, "convention" if before.kind == "convention" else kind
    about = [word for word in dict.fromkeys(about) if 0 < len(word) <= NAME_LENGTH and normalise(word)][:_MOST_ABOUT]
    return Offer(
        kind=kind,
        term=" ".join(term.split())[:NAME_LENGTH],
        meaning=meaning,
        about=about if kind == "convention" else [],
        before=before.meaning if before else "",
        scope=scope,
    )


def _usable_title(said: Said, term: str) -> bool:
    return len(term) <= NAME_LENGTH and said.holds(term)


def _before(said: Said, known: Sequence[Keyword], glossary: Glossary, term: str, number: int | None) -> Keyword | None:
    """The entry that is kept under the term, or the one that the model names if the conversation does."""
    if (same := glossary.get(term)) is not None:
        return same
    named = known[number - 1] if number is not None and 0 < number <= len(known) else None
    if named is None or not (named.kind == "convention" or any(said.holds(phrase) for phrase in named.phrases)):
        return None
    return named


def _meaning(said: Said, quotes: Sequence[str], taken_back: Sequence[str]) -> str | None:
    """The quotes as they stand in what was said, less what was taken back; None where one is nobody's own words."""
    texts = [own_words(said.message), *(own_words(text) for text in reversed(said.earlier))]
    pieces: list[str] = []
    new = False
    for quote in quotes:
        place, found = next(((n, each) for n, text in enumerate(texts) if (each := _standing(quote, text))), (0, None))
        if found is None:
            return None
        new = new or place == 0
        pieces += [piece for piece in _without(found, taken_back) if piece not in pieces]
    meaning = GAP.join(pieces)
    if not new or not normalise(meaning) or len(meaning) > MEANING_LENGTH or unseen(meaning):
        return None
    if said_to_a_program(meaning) or injections.instruction_in(meaning):
        return None
    return meaning


def _standing(quote: str, text: str) -> str | None:
    """The quote as the text has it: blanks between words and capital letters may differ.

    >>> _standing("less than 2 percent", "Slow: Less  than 2 percent."), _standing("2 percent or less", "less than 2 percent")
    ('Less  than 2 percent', None)
    """
    words = quote.strip(" \t\r\n").split()
    if not words:
        return None
    pattern = r"\s+".join(re.escape(word) for word in words)
    for flags in (0, re.IGNORECASE):
        if found := re.search(rf"(?<!\w){pattern}(?!\w)", text, flags):
            return found[0].strip()
    return None


def _without(text: str, taken_back: Sequence[str]) -> Iterator[str]:
    """The parts of a text that were not taken back.

    >>> list(_without("M2 below 3, no, below 2 percent", ["below 3, no"]))
    ['M2', 'below 2 percent']
    """
    parts = [text]
    for words in taken_back:
        cut = [(part, _standing(words, part)) for part in parts]
        parts = [piece for part, gone in cut for piece in (part.split(gone, 1) if gone else [part])]
    for part in parts:
        if normalise(piece := part.strip(_AROUND) if len(parts) > 1 else part.strip()):
            yield piece
