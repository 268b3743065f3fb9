"""Listening: what a message explains is offered to be kept, and a draft that proved itself comes into use.

answer = session.ask("By slow money we mean M2 up by less than 2 percent over a year. How often since 2000?")
session.keep(answer.offers[0])
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from finexpert.core.answers import Answer, Clarification
from finexpert.core.offers import Offer
from finexpert.errors import BudgetExceeded, OutputError, UnknownPrompt
from finexpert.knowledge import cues, explaining
from finexpert.knowledge.glossary import Keyword
from finexpert.modules.learning.listening import LAYER as LISTENING
from finexpert.session.base import Base
from finexpert.text.terms import normalise

__all__ = ["LISTENING", "Heard", "Listening"]

_REMEMBERED = 12
_KEEP = re.compile(
    r"\W*(?:(?:yes|ok|okay|please)\W+)*keep (?:it|this|that|them|both|all|\d{1,2})(?: please)?\W*", re.IGNORECASE
)


@dataclass(frozen=True)
class Heard:
    """What a message would have kept, whether it asks anything, and what could not be found out."""

    offers: list[Offer] = field(default_factory=list)
    wants_answer: bool = True
    notes: list[str] = field(default_factory=list)


class Listening(Base):
    """What messages explain."""

    _last_heard: Heard | None = None

    def keep(self, offer: Offer) -> Keyword:
        """Keep what a message explained, as a draft until it was used with an accepted result. StoreError for what cannot be kept.

        Change it before with `offer.model_copy(update={"meaning": ..., "scope": ""})`; an empty scope is everywhere.
        """
        kept = explaining.keep(self.stores.glossary, offer, self.by)
        if kept.status == "draft" and any(offer.term == used.term for used in self._in_use):
            self._proving.append(kept.id)
        return kept

    def _keeps(self, message: str) -> bool:
        """Whether a message says no more than that what the one before explained is to be kept."""
        return self._learns and bool(self._offers) and _KEEP.fullmatch(message) is not None

    def _kept_as_said(self, message: str) -> Answer:
        """Keep the offers of the last answer, or the one of the number that was said."""
        number = int(found[0]) if (found := re.search(r"\d+", message)) else 0
        wanted = self._offers[number - 1 : number] if number else self._offers
        kept = [self.keep(offer) for offer in wanted]
        said = (
            "; ".join(each.told for each in kept) or f"nothing: there are {len(self._offers)} offers, and no {number}"
        )
        return Answer(question=message, status="noted", explanation=f"kept: {said}")

    def accept(self) -> None:
        """The last answer is right: the drafts that it was computed with come into use. To ask on says so too, and `undo` denies it."""
        self._accept(())

    def rambling(self, unclear: Clarification, reply: str) -> bool:
        """Whether a reply to a question back has to be listened to before it is kept."""
        return bool(reply) and reply not in unclear.candidates and self.settings.learn and cues.rambles(reply)

    def heard_in_reply(self, unclear: Clarification, reply: str) -> str:
        """What a reply that rambles says that a term means, in the person's words; empty where it says nothing."""
        heard = self._listened(reply, unclear.term)
        if heard.notes:
            return reply
        wanted = normalise(unclear.term)
        return next((each.meaning for each in heard.offers if normalise(each.term) == wanted), "")

    def _heard(self, message: str) -> Heard:
        """What a message explains, with what was said before it; drafts of the last answer come into use unless it corrects them."""
        if self._said and self._said[-1] == message and self._last_heard is not None:
            return self._last_heard  # asked again after a question back
        heard = Heard()
        if self.taught is not None and self._learns and cues.explains(message):
            heard = self._listened(message)
        if self._learns:  # where no person speaks, asking on accepts nothing
            self._accept({normalise(offer.term) for offer in heard.offers})
        self._said = [*self._said, message][-_REMEMBERED:]
        self._last_heard = heard
        return heard

    def _listened(self, message: str, asked: str = "") -> Heard:
        taught = self._seen()
        if taught is None:
            return Heard()
        earlier = self._said or [turn.question for turn in self.workspace.turns]
        try:
            found = self.expert.listening(
                message=message, earlier=earlier, glossary=taught.glossary, asked=asked, scope=self.scope
            )
        except (OutputError, BudgetExceeded, UnknownPrompt) as error:
            return Heard(notes=[f"what the message explains was not looked at: {error}"])
        return Heard(found.offers, found.wants_answer)

    def _drafts(self) -> list[Keyword]:
        seen = self._seen()
        return seen.glossary.all_drafts() if seen is not None else []

    def _accept(self, corrected: Collection[str]) -> None:
        kept = {draft.id: draft for draft in self._drafts()} if self._proving else {}
        for id in self._proving:
            if id in kept and not set(kept[id].names) & set(corrected):
                self.stores.glossary.accept(id, self.by)
        self._proving = []
