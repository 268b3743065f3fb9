"""What a team was taught: processes, terms and verified queries, with their history.

desk.define(teacher, "slow money", "a month in which M2 grows by less than 2 percent")
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from finexpert.answers.sources.sources import Sources
from finexpert.app.actions.asking import Asking
from finexpert.app.people.people import Person
from finexpert.core.answers import Clarification
from finexpert.errors import ConfigurationError, NotFound, Refused, StoreError
from finexpert.knowledge import explaining
from finexpert.knowledge.collection import Collection
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.items import Item
from finexpert.knowledge.process import EDITED, Process
from finexpert.knowledge.scopes import EVERYWHERE, of_source
from finexpert.knowledge.taught import Taught
from finexpert.knowledge.verified.query import VerifiedQuery
from finexpert.text.texts import sentence

T = TypeVar("T", bound=Item)
K = TypeVar("K", bound=Process | Keyword | VerifiedQuery)


class Version(BaseModel):
    """One version of a process or a term, with who made it."""

    version: int
    action: str
    by: str
    at: dt.datetime
    status: str
    item: dict[str, Any]


class Teaching(Asking):
    """Everything taught belongs to the person's team. To read it needs the right to read, to change it the right to teach."""

    def processes(self, person: Person, search: str = "") -> list[Process]:
        """Processes in use and drafts; with `search` those nearest in meaning, of those in use."""
        memory = self._taught_of(person).memory
        return [each for each, _ in memory.search([search])] if search.strip() else memory.processes()

    def process(self, person: Person, id: str) -> Process:
        """A process by its id or a name of it."""
        return _found(self._taught_of(person).memory, id)

    def edit(self, person: Person, process: Process) -> Process:
        """Keep a new version; StaleEntry where somebody else changed it since this one was read."""
        return self._changed(person, "edit process", lambda taught: taught.memory.edit(process, person.name))

    def edit_process(self, person: Person, id: str, changes: Mapping[str, Any]) -> Process:
        """A new version with some fields changed; Refused names a field that does not fit.

        A process that was in use and does something else now is a draft until `try_again` has tried it.
        """
        known = self.process(person, id)
        changed = _with(known, changes)
        if known.status == "active" and not changed.does_as(known):
            changed = changed.model_copy(update={"status": "draft", "note": EDITED})
        return self.edit(person, changed)

    def activate(self, person: Person, id: str) -> Process:
        """Bring back what was retired, or use a draft as it is."""
        return self._activated(person, "process", self._taught_of(person).memory, id)

    def retire(self, person: Person, id: str) -> Process:
        """Take a process out of use; its history stays."""
        return self._retired(person, "process", self._taught_of(person).memory, id)

    def revert(self, person: Person, id: str, version: int) -> Process:
        """Make an old version the current one."""
        return self._changed(
            person,
            "revert process",
            lambda taught: taught.memory.revert(_found(taught.memory, id).id, version, person.name),
        )

    def history(self, person: Person, id: str) -> list[Version]:
        """The versions of a process, the newest first."""
        return _versions(self._taught_of(person).memory, id)

    def terms(self, person: Person, search: str = "") -> list[Keyword]:
        """Terms with their meanings; with `search` those whose name or meaning holds the text."""
        wanted = search.strip().lower()
        found = self._taught_of(person).glossary.keywords()
        return [each for each in found if wanted in f"{' '.join(each.phrases)} {each.meaning}".lower()]

    def term(self, person: Person, id: str) -> Keyword:
        return _found(self._taught_of(person).glossary, id)

    def define(
        self, person: Person, term: str, meaning: str, aliases: tuple[str, ...] = (), source: str = ""
    ) -> Keyword:
        """Keep what a term means; an earlier meaning stays in its history.

        It holds for the source that is named (see `meant`), else for what it held for before, else everywhere.
        """
        said = {"term": term, "meaning": meaning, "aliases": list(aliases), "source": "expert"}
        scope = self._scope(person, self.meant(person, source)) if source else None
        return self._changed(
            person,
            "define term",
            lambda taught: explaining.define(
                taught.glossary,
                person.name,
                **said,
                scope=explaining.scope_of(taught.glossary, term, EVERYWHERE) if scope is None else scope,
            ),
        )

    def keep_offer(
        self, person: Person, answer: str, number: int, meaning: str = "", everywhere: bool = False
    ) -> Keyword:
        """Keep what the message of an answer explained, by its number from 1: a draft of the person's, until a result with it is accepted."""
        offers = self.answer(person, answer).offers
        if not 1 <= number <= len(offers):
            raise NotFound(f"the answer {answer[:80]!r} offers nothing numbered {number}; it has {len(offers)} offers")
        offer = offers[number - 1]
        changes = ({"meaning": meaning} if meaning.strip() else {}) | ({"scope": ""} if everywhere else {})
        return self._changed(
            person,
            "keep offer",
            lambda taught: explaining.keep(taught.glossary, offer.model_copy(update=changes), person.name),
        )

    def feedback(self, person: Person, answer: str, up: bool, reason: str = "") -> None:
        """Keep a thumb up or down; up says that the result is accepted, so the person's drafts that it was computed with come into use."""
        super().feedback(person, answer, up, reason)
        taught, accepted = self.taught(person.team), self.answer(person, answer)
        if up and taught is not None and person.can("teach") and accepted.status == "answered":
            for draft in taught.glossary.items(("draft",)):
                # A draft of another source, or of another wording, proved nothing in this answer.
                if draft.taught_by == person.name and accepted.meanings.get(draft.term) == draft.meaning:
                    taught.glossary.accept(draft.id, person.name)

    def retire_term(self, person: Person, id: str) -> Keyword:
        return self._retired(person, "term", self._taught_of(person).glossary, id)

    def term_history(self, person: Person, id: str) -> list[Version]:
        return _versions(self._taught_of(person).glossary, id)

    def verified(self, person: Person) -> list[VerifiedQuery]:
        """Verified queries in use and drafts, by their questions."""
        return sorted(self._taught_of(person).verified.items(), key=lambda query: query.question)

    def activate_verified(self, person: Person, id: str) -> VerifiedQuery:
        """Let a draft, or a retired one, answer its question."""
        return self._activated(person, "verified query", self._taught_of(person).verified, id)

    def retire_verified(self, person: Person, id: str) -> VerifiedQuery:
        return self._retired(person, "verified query", self._taught_of(person).verified, id)

    def explain(self, person: Person, conversation: str, unclear: Clarification, meaning: str) -> None:
        """Keep the reply to a question back for the source of its conversation, as a session does."""
        scope = self._scope(person, self._conversation(person, conversation)["source"])
        self._changed(
            person,
            "explain term",
            lambda taught: explaining.explain(
                taught.seen_by({scope}, person.name), unclear, meaning, person.name, scope
            ),
        )

    def _scope(self, person: Person, source: str) -> str:
        """What is taught over a source holds for: the source, and everywhere where there are several."""
        with self._opened_at(self._places(person, source)) as opened:
            return EVERYWHERE if isinstance(opened, Sources) else of_source(opened.name)

    def _taught_of(self, person: Person) -> Taught:
        person.need("read")
        taught = self.taught(person.team)
        if taught is None:
            raise ConfigurationError("memory is switched off; set FINEXPERT_MEMORY=true to teach")
        return taught

    def _activated(self, person: Person, what: str, of: Collection[K], id: str) -> K:
        return self._changed(person, f"activate {what}", lambda _: of.activate(_found(of, id).id, person.name))

    def _retired(self, person: Person, what: str, of: Collection[K], id: str) -> K:
        return self._changed(person, f"retire {what}", lambda _: of.retire(_found(of, id).id, person.name))

    def _changed(self, person: Person, action: str, change: Callable[[Taught], K]) -> K:
        person.need("teach")
        kept = change(self._taught_of(person))
        self.logged(person, action, kept.id, kept.title)
        return kept


def _found(collection: Collection[T], id: str) -> T:
    """The item with an id, else with a name; NotFound says what is spelt alike."""
    try:
        return collection.find(id)
    except StoreError as error:
        raise NotFound(str(error).partition(" `finexpert")[0]) from error


def _versions(collection: Collection[T], id: str) -> list[Version]:
    return [
        Version(version=entry.version, action=entry.action, by=entry.by, at=entry.at, status=entry.status,
                item=item.model_dump(mode="json"))
        for entry, item in collection.history(_found(collection, id).id)
    ]  # fmt: skip


def _with(process: Process, changes: Mapping[str, Any]) -> Process:
    """A process with some fields changed. Who made it, its case and its state are not a person's to write."""
    allowed = {"heading", "aliases", "variables", "steps", "version"}
    if more := sorted(set(changes) - allowed):
        raise Refused(f"{more[0][:40]!r} cannot be changed: {', '.join(sorted(allowed))} can")
    try:
        return Process.model_validate({**process.model_dump(mode="json"), **changes})
    except ValidationError as error:
        raise Refused(f"this cannot be kept: {sentence(error)}") from error
