"""Asking: a question goes under way, tells what it does, and its answer is kept before anybody sees it.

    async for thing in desk.ask(person, conversation, "When did the latest recession start?"):
        ...     # Event, Event, ..., StoredAnswer

A question belongs to its conversation and not to the connection of who asked it: it goes on when nobody listens, and is
followed again with `watch`. One question of a conversation is under way at a time, on whatever server.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from finexpert.app.actions.answering import Answering, Wish
from finexpert.app.guarding.limits import Limit
from finexpert.app.people.people import Person
from finexpert.app.running import Running, Told, is_question
from finexpert.app.state import tables
from finexpert.app.state.naming import new_id, now
from finexpert.core.answers import Clarification
from finexpert.errors import Busy, FinexpertError, NotFound, Refused, TooMany
from finexpert.knowledge.cues import rambles

__all__ = ["Asking", "Wish"]

LONGEST_QUESTION = 8_000
_LOOK_SECONDS = 0.5


class Asking(Answering):
    """Questions under way."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.draining = False
        self._questions = Limit(self.options.questions_per_minute, "questions")

    async def ask(self, person: Person, conversation: str, question: str, **options: Any) -> AsyncIterator[Told]:
        """Ask a question; yields its events, and at the end the answer as it was kept.

        Options are the fields of `Wish`. Raises what the program could not go on with; NotFound, Forbidden, Busy and Refused
        before the question is under way.
        """
        running = await asyncio.to_thread(self.start, person, conversation, Wish(question, **options))
        async for thing in running.follow():
            yield thing

    async def watch(self, person: Person, conversation: str) -> AsyncIterator[Told]:
        """Follow the question under way from its first event on; yields nothing where there is none.

        Of a question at another server only the end is told.
        """
        row = await asyncio.to_thread(self._conversation, person, conversation)
        running = self._running.get(conversation)
        if running is not None and running.is_question:
            async for thing in running.follow():
                yield thing
        elif row["asking"] is not None and is_question(row["asking"]):
            answer = await asyncio.to_thread(self.answer, person, row["asking"])
            while answer.state == "running":
                await asyncio.sleep(_LOOK_SECONDS)
                answer = await asyncio.to_thread(self.answer, person, row["asking"])
            if answer.state != "finished":
                raise FinexpertError(answer.error)
            yield answer

    async def reply(
        self, person: Person, conversation: str, clarification: Clarification | str, meaning: str
    ) -> AsyncIterator[Told]:
        """Say what is meant, where the last answer asked back, and have the question answered.

        `clarification` is the one of the answer, or its term. An empty meaning has it answered on an assumption.
        """
        running = await asyncio.to_thread(self.start_reply, person, conversation, clarification, meaning)
        async for thing in running.follow():
            yield thing

    def cancel(self, person: Person, conversation: str) -> bool:
        """Cancel the question under way, on whatever server; whether there was one."""
        person.need("ask")
        row = self._conversation(person, conversation)
        if row["asking"] is None:
            return False
        with self.state.writing() as connection:
            connection.execute(tables.answers.update().where(tables.answers.c.id == row["asking"]).values(cancel=True))
            self.log(connection, person, "cancel", row["asking"])
        running = self._running.get(conversation)
        if running is not None and running.id == row["asking"]:
            running.cancel()
        return True

    def start(self, person: Person, conversation: str, wish: Wish) -> Running:
        """Put a question under way in a thread of the desk. What it costs is counted from here on."""
        person.need("ask")
        question = wish.question.strip()
        if not question or len(question) > LONGEST_QUESTION:
            raise Refused(f"a question has 1 to {LONGEST_QUESTION:,} characters, and this one has {len(question):,}")
        if any((ord(char) < 32 and char not in "\t\n\r") or "\ud800" <= char <= "\udfff" for char in question):
            raise Refused("the question holds control characters: write it in plain text")
        running = Running(new_id(), conversation, person)
        self._admit(running, lambda: self._begin(person, running, question, wish.as_of))
        self.metrics.asked()
        self._pool.submit(self._carried_out, running, wish)
        return running

    def start_new(self, person: Person, source: str, wish: Wish) -> Running:
        """Put a question under way in a conversation of its own, which is not left behind where the question is refused."""
        conversation = self.create(person, source).id
        try:
            return self.start(person, conversation, wish)
        except BaseException:
            self.delete(person, conversation)
            raise

    def _admit(self, running: Running, begin: Callable[[], None]) -> None:
        """Count what a person has asked for, and take its conversation by `begin`; Busy and TooMany where it has to wait."""
        if self.draining:
            raise Busy("the server is about to end: ask again in a moment", seconds=5)
        self._questions.hit(running.person.id)
        with self._running_lock:
            self._check_load(running.person)
            begin()
            self._running[running.conversation] = running

    @property
    def under_way(self) -> int:
        """How many questions are under way at this server."""
        return len(self._running)

    def _check_load(self, person: Person) -> None:
        under_way = list(self._running.values())
        if len(under_way) >= self.options.questions_at_once + self.options.waiting:
            raise TooMany("too many questions are under way: ask again in a moment", seconds=5)
        if sum(each.person.id == person.id for each in under_way) >= self.options.questions_each:
            raise TooMany(f"{self.options.questions_each} of your questions are under way: wait for one, or cancel it")

    def _begin(self, person: Person, running: Running, question: str, as_of: dt.date | None) -> None:
        """Keep the question, and take its conversation, which no other question has then."""
        c, of = tables.conversations.c, tables.answers.c
        with self.state.writing() as connection:
            mine = self._mine(person, running.conversation).with_for_update()
            row = connection.execute(mine).mappings().first()
            if row is None:
                raise NotFound(f"there is no conversation {running.conversation[:80]!r}")
            if row["asking"] is not None:
                raise Busy("another question of this conversation is under way: wait for it, or cancel it")
            last = connection.scalar(sa.select(sa.func.max(of.number)).where(of.conversation == running.conversation))
            asked = {"id": running.id, "conversation": running.conversation, "person": person.id, "question": question,
                     "number": (last or 0) + 1, "state": "running", "server": self.server, "asked": now()}  # fmt: skip
            if as_of is not None:
                # Where it is cancelled, fails or is interrupted it is asked again as of the same day.
                asked["body"] = {"as_of": as_of.isoformat(), "as_of_given": True}
            connection.execute(tables.answers.insert().values(asked))
            name = row["name"] or " ".join(question.split())[:80]
            taken = {"asking": running.id, "name": name, "changed": now()}
            connection.execute(tables.conversations.update().where(c.id == running.conversation).values(taken))
            self.log(connection, person, "ask", running.id)

    def start_reply(
        self, person: Person, conversation: str, clarification: Clarification | str, meaning: str
    ) -> Running:
        person.need("ask")
        answers = self.conversation(person, conversation)
        last = answers[-1] if answers else None
        unclear = last.clarification if last else None
        term = clarification if isinstance(clarification, str) else clarification.term
        if last is None or unclear is None or unclear.term != term:
            raise Refused(f"nothing was asked back about {term[:80]!r}: the conversation went on since")
        meaning = meaning.strip()
        if len(meaning) > LONGEST_QUESTION:
            raise Refused(f"a meaning has at most {LONGEST_QUESTION:,} characters")
        wish = Wish(last.question, as_of=last.as_of if last.as_of_given else None)
        return self.start(person, conversation, self._with_meaning(person, conversation, wish, unclear, meaning))

    def _with_meaning(
        self, person: Person, conversation: str, wish: Wish, unclear: Clarification, meaning: str
    ) -> Wish:
        """The question once more with the reply: kept in the glossary where the person may teach, else for this question."""
        if unclear.kind == "value" and meaning:
            return replace(wish, chosen=((f"{unclear.place}={unclear.term}", meaning),))
        if unclear.kind == "term" and not meaning:
            return replace(wish, declined=(unclear.term,))
        if unclear.kind == "term" and person.can("teach"):
            if meaning not in unclear.candidates and rambles(meaning):
                return replace(wish, replied=(unclear, meaning))
            self.explain(person, conversation, unclear, meaning)
            return wish
        knowledge = f"By {unclear.term!r} the user means: {meaning}" if meaning else ""
        return replace(wish, knowledge=knowledge, clarify=False)

    def explain(self, person: Person, conversation: str, unclear: Clarification, meaning: str) -> None:
        """Keep what a term means; the desk's actions of teaching say how."""
        raise NotImplementedError
