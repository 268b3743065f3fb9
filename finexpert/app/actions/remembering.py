"""A conversation that becomes a process, tried before it is used.

remembered = desk.remember(teacher, conversation, "Recession Calculation")
if remembered.clash: desk.decide(teacher, conversation, "replace")
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import sqlalchemy as sa

from finexpert.app.actions.teaching import Teaching
from finexpert.app.people.people import Person
from finexpert.app.running import Running
from finexpert.app.state import tables
from finexpert.app.state.naming import new_id, now
from finexpert.core.progress import Watch, watching
from finexpert.errors import Busy, NotFound
from finexpert.knowledge.process import Process
from finexpert.modules.flow.teaching import Decision, Remembered
from finexpert.session import Session


class Remembering(Teaching):
    """What needs a conversation to teach, and takes it meanwhile."""

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
