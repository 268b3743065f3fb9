"""The glossary: terms of this house and what they mean here.

    glossary = Glossary.open()
    glossary.define(Keyword(term="stress month", meaning="a month in which the spread is below 0.5"), by="anna")
    glossary.named_in("How many stress-months were there?")  ->  [Keyword(term="stress month", ...)]

A term has one meaning at a time; the ones before are its history.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from finexpert.errors import NameTaken, NotKept
from finexpert.knowledge.collection import Collection
from finexpert.knowledge.entries.entries import CURRENT, Entry, Status
from finexpert.knowledge.items import Item
from finexpert.knowledge.plain_words import everyday
from finexpert.knowledge.scopes import EVERYWHERE
from finexpert.text.terms import normalise, phrases_in
from finexpert.text.texts import Meaning, Name

MOST_ALIASES = 40


class Keyword(Item):
    """A term and its meaning; `source` says how it came in.

    A convention is how the house always does something: it is not looked for by its name, but by the words that it is `about`.
    """

    term: Name
    meaning: Meaning
    aliases: list[Name] = Field(default_factory=list, max_length=MOST_ALIASES)
    kind: Literal["term", "convention"] = "term"
    about: list[Name] = Field(default_factory=list, max_length=MOST_ALIASES)
    source: Literal["expert", "clarification", "file", "conversation"] = "expert"
    status: Status = "active"

    @property
    def title(self) -> str:
        return self.term

    @property
    def phrases(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.term, *self.aliases)))

    @property
    def drafted_by(self) -> str:
        """Who kept it from a conversation, while it is a draft; else empty."""
        return self.taught_by if (self.status, self.source) == ("draft", "conversation") else ""

    @property
    def told(self) -> str:
        """How a prompt is told of it."""
        if self.kind == "convention":
            return f"A convention of this house: {self.meaning}"
        return f"By {self.term!r} this house means: {self.meaning}"

    def same_as(self, other: Keyword) -> bool:
        """Whether both say the same, whoever taught them."""
        said = {"term", "meaning", "aliases", "kind", "about"}
        return self.model_dump(include=said) == other.model_dump(include=said)


class Glossary(Collection[Keyword]):
    """Keywords in a store."""

    name: ClassVar[str] = "glossary"
    kind = Keyword

    offered: Sequence[Keyword] = ()

    def with_offered(self, offered: Sequence[Keyword]) -> Glossary:
        """The glossary with keywords that were just said and are not kept, or not yet."""
        view = copy.copy(self)
        view.offered = tuple(offered)
        return view

    def _holds(self, entry: Entry) -> bool:
        # A convention has no name that stands in a question.
        return super()._holds(entry) and (self.scopes is None or entry.body.get("kind", "term") == "term")

    def named_in(self, text: str) -> list[Keyword]:
        """The active ones whose name or alias stands in the text, the longest name first, after those just said."""
        said = [each for each in self.offered if each.kind == "term" and phrases_in(text, each.names)]
        names = {name for each in said for name in each.names}
        return [
            *said,
            *(each for each in super().named_in(text) if each.kind == "term" and not names & set(each.names)),
        ]

    @property
    def empty(self) -> bool:
        return not self.offered and super().empty

    def conventions(self, *texts: str) -> list[Keyword]:
        """The conventions that hold here; with texts, those of which a word that they are about stands in one, or that are about everything."""
        found = [*self._conventions(), *(each for each in self.offered if each.kind == "convention")]
        later = {name for each in self.offered for name in each.names}
        kept = [each for each in found if not each.id or not later & set(each.names)]
        return [each for each in kept if not texts or not each.about or any(_about(each, text) for text in texts)]

    def all_drafts(self) -> list[Keyword]:
        """The person's own drafts, terms and conventions."""
        return [*self.drafts(), *(each for each in self._conventions() if each.status == "draft")]

    def _conventions(self) -> list[Keyword]:
        return self._unchanged("conventions", self._conventions_here)

    def _conventions_here(self) -> list[Keyword]:
        here = self.scopes or {EVERYWHERE}
        found = [each for each in self.entries.entries(self.name, CURRENT) if each.body.get("kind") == "convention"]
        own = [self.item(each) for each in found if each.body.get("scope", EVERYWHERE) in here]
        return [each for each in own if each.status == "active" or each.drafted_by == self.by]

    def keywords(self, statuses: Sequence[Status] = CURRENT) -> list[Keyword]:
        return self.items(statuses)

    def define(self, keyword: Keyword, by: str) -> Keyword:
        """Keep a term; where it is known, as a new version, which keeps the aliases if none are given.

        NameTaken where the term is an alias of another, or an alias is a name of another; NotKept for an alias that is an everyday word.
        """
        known = self.get_in(keyword.scope, keyword.term, by)
        if known is not None and normalise(known.term) != normalise(keyword.term):
            raise NameTaken(
                f"{keyword.term!r} is an alias of the term {known.term!r}: define that one, or take the alias out with "
                f"`finexpert glossary edit {known.term!r}`",
                entry_id=known.id,
            )
        for alias in keyword.aliases:
            other = self.get_in(keyword.scope, alias, by)
            if other is not None and (known is None or other.id != known.id):
                raise NameTaken(
                    f"the alias {alias!r} is taken by the term {other.term!r}; "
                    f"`finexpert glossary show {other.term!r}` shows it",
                    entry_id=other.id,
                )
        _refuse_everyday(keyword, known)
        keyword = self._stamped(keyword, by)
        if known is None:
            return self._write(keyword.model_copy(update={"id": ""}), "define", by, new=True)
        aliases = keyword.aliases or known.aliases
        keyword = keyword.model_copy(update={"id": known.id, "version": known.version, "aliases": aliases})
        if keyword.same_as(known) and keyword.status == known.status:
            return known
        return self._write(keyword, "define", by)

    def edit(self, item: Keyword, by: str) -> Keyword:
        """Keep a new version, as every collection does; NotKept for a new alias that is an everyday word."""
        kept = self.entries.get(self.name, item.id) if item.id else None
        _refuse_everyday(item, self.item(kept) if kept else None)
        return super().edit(item, by)


def _about(convention: Keyword, text: str) -> bool:
    return bool(phrases_in(text, [normalise(word) for word in convention.about]))


def _refuse_everyday(keyword: Keyword, before: Keyword | None) -> None:
    """An everyday word as a new alias would be found in questions that do not mean the term."""
    known = before.aliases if before else []
    for alias in keyword.aliases:
        if alias not in known and everyday(alias):
            raise NotKept(
                f"the alias {alias!r} of {keyword.term!r} is an everyday word, which questions use without meaning it: "
                "give it with the words that make it a term"
            )
