"""What a team was taught: processes and terms, with their history; and a conversation that becomes a process.

remembered = desk.remember(teacher, conversation, "Recession Calculation")
if remembered.clash: desk.decide(teacher, conversation, "replace")
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import sqlalchemy as sa
from pydantic import BaseModel, ValidationError

from finexpert.answers.sources.sources import Sources
from finexpert.app.actions.asking import Asking
from finexpert.app.people.people import Person
from finexpert.app.running import Running
from finexpert.app.state import tables
from finexpert.app.state.naming import new_id, now
from finexpert.core.answers import Clarification
from finexpert.core.progress import Watch, watching
from finexpert.errors import Busy, ConfigurationError, NotFound, Refused, StoreError
from finexpert.knowledge import explaining
from finexpert.knowledge.collection import Collection
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.items import Item
from finexpert.knowledge.process import EDITED, Process
from finexpert.knowledge.scopes import EVERYWHERE, of_source
from finexpert.knowledge.taught import Taught
from finexpert.knowledge.verified.query import VerifiedQuery
from finexpert.modules.flow.teaching import Decision, Remembered
from finexpert.session import Session
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
        return self._changed(
            person,
            "activate process",
            lambda taught: taught.memory.activate(_found(taught.memory, id).id, person.name),
        )

    def retire(self, person: Person, id: str) -> Process:
        """Take a process out of use; its history stays."""
        return self._changed(
            person,
            "retire process",
            lambda taught: taught.memory.retire(_found(taught.memory, id).id, person.name),
        )

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
        """Keep a thumb up or down; up says that the result is accepted, so the person's drafts in it come into use."""
        super().feedback(person, answer, up, reason)
        taught = self.taught(person.team)
        if up and taught is not None and person.can("teach"):
            terms = self.answer(person, answer).meanings
            for draft in taught.glossary.items(("draft",)):
                if draft.taught_by == person.name and draft.term in terms:
                    taught.glossary.accept(draft.id, person.name)

    def retire_term(self, person: Person, id: str) -> Keyword:
        return self._changed(
            person, "retire term", lambda taught: taught.glossary.retire(_found(taught.glossary, id).id, person.name)
        )

    def term_history(self, person: Person, id: str) -> list[Version]:
        return _versions(self._taught_of(person).glossary, id)

    def verified(self, person: Person) -> list[VerifiedQuery]:
        """Verified queries in use and drafts, by their questions."""
        return sorted(self._taught_of(person).verified.items(), key=lambda query: query.question)

    def activate_verified(self, person: Person, id: str) -> VerifiedQuery:
        """Let a draft, or a retired one, answer its question."""
        return self._changed(
            person,
            "activate verified query",
            lambda taught: taught.verified.activate(_found(taught.verified, id).id, person.name),
        )

    def retire_verified(self, person: Person, id: str) -> VerifiedQuery:
        return self._changed(
            person,
            "retire verified query",
            lambda taught: taught.verified.retire(_found(taught.verified, id).id, person.name),
        )

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

    def remember(self, person: Person, conversation: str, heading: str = "") -> Remembered:
        """Make a process of what a conversation did, and try it in a clean one; it takes the conversation meanwhile.

        With a `clash` nothing is kept yet: `decide` settles it. Raises as `Session.remember` does.
        """
        person.need("teach")
        with self._taken(person, conversation) as session:
            remembered = session.remember(heading)
        self._keep_pending(person, conversation, remembered)
        return remembered

    def decide(self, person: Person, conversation: str, decision: Decision, heading: str = "") -> Remembered:
        """Settle the clash of the last `remember`: replace, ignore, or keep both under another heading."""
        person.need("teach")
        self._conversation(person, conversation)
        c = tables.pending.c
        row = self.state.row(sa.select(c.remembered).where(c.conversation == conversation))
        if row is None:
            raise NotFound("nothing waits for a decision in this conversation")
        with self._taken(person, conversation) as session:
            remembered = session.decide(_remembered(row["remembered"]), decision, heading)
        self._keep_pending(person, conversation, remembered)
        return remembered

    def try_again(self, person: Person, conversation: str, process: str) -> Remembered:
        """Try a kept process on its case, over the source of a conversation; in use if it holds, else a draft that says why."""
        person.need("teach")
        kept = self.process(person, process)
        with self._taken(person, conversation) as session:
            remembered = session.check(kept)
        self.logged(person, "try process", kept.id, remembered.process.status)
        return remembered

    def _keep_pending(self, person: Person, conversation: str, remembered: Remembered) -> None:
        c = tables.pending.c
        with self.state.writing() as connection:
            connection.execute(tables.pending.delete().where(c.conversation == conversation))
            if remembered.clash is not None:
                row = {"conversation": conversation, "remembered": remembered_json(remembered), "made": now()}
                connection.execute(tables.pending.insert().values(row))
            action = "remember process" if remembered.stored else "look at process"
            self.log(connection, person, action, remembered.process.id, remembered.process.heading)

    @contextmanager
    def _taken(self, person: Person, conversation: str) -> Iterator[Session]:
        """The session of a conversation for something other than a question, which counts and may be cancelled as one."""
        # The server stands in the id: when it is killed, the conversation is freed.
        running = Running(f"{self.server}/{new_id()[-16:]}", conversation, person)
        self._admit(running, lambda: self._take(running))
        try:
            opened = self._session(running)
            try:
                with watching(Watch()) as watch:
                    running.stoppable(watch.cancel)
                    yield opened.session
            finally:
                self.sessions.keep(conversation, opened)
        finally:
            self._ended(running)
            self._kept_later(partial(self._give_back, running))
            running.end()

    def _take(self, running: Running) -> None:
        c = tables.conversations.c
        with self.state.writing() as connection:
            mine = self._mine(running.person, running.conversation).with_for_update()
            row = connection.execute(mine).mappings().first()
            if row is None:
                raise NotFound(f"there is no conversation {running.conversation[:80]!r}")
            if row["asking"] is not None:
                raise Busy("a question of this conversation is under way: wait for it, or cancel it")
            taken = tables.conversations.update().where(c.id == running.conversation)
            connection.execute(taken.values(asking=running.id))

    def _give_back(self, running: Running) -> None:
        c = tables.conversations.c
        with self.state.writing() as connection:
            taken = tables.conversations.update().where(c.id == running.conversation, c.asking == running.id)
            connection.execute(taken.values(asking=None))

    def _taught_of(self, person: Person) -> Taught:
        person.need("read")
        taught = self.taught(person.team)
        if taught is None:
            raise ConfigurationError("memory is switched off; set FINEXPERT_MEMORY=true to teach")
        return taught

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


def remembered_json(remembered: Remembered) -> dict[str, Any]:
    """What became of a process, as JSON."""
    return {
        "process": remembered.process.model_dump(mode="json"),
        "problems": remembered.problems,
        "clash": remembered.clash.model_dump(mode="json") if remembered.clash else None,
        "stored": remembered.stored,
    }


def _remembered(kept: Mapping[str, Any]) -> Remembered:
    clash = Process.model_validate(kept["clash"]) if kept["clash"] else None
    return Remembered(Process.model_validate(kept["process"]), list(kept["problems"]), clash, kept["stored"])
