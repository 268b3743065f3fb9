"""Conversations: find, name, delete, read. Each belongs to one person, and nobody else learns that it is there."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from finexpert.app.actions.places import Place
from finexpert.app.actions.together import Together
from finexpert.app.people.people import Person
from finexpert.app.state import tables
from finexpert.app.state.answers import shown
from finexpert.app.state.naming import named, new_id, now
from finexpert.app.state.stored import Conversation, Feedback, StoredAnswer
from finexpert.errors import Busy, NotFound

MOST_FOUND = 500
_REASON = 2_000


class Conversations(Together):
    """What was asked, and what was answered."""

    def conversations(self, person: Person, search: str = "") -> list[Conversation]:
        """The person's conversations, the last one first; with `search` those whose name or questions hold the text."""
        person.need("read")
        c = tables.conversations.c
        wanted = sa.select(tables.conversations).where(c.person == person.id, c.removed.is_(None))
        if search.strip():
            asked = sa.select(tables.answers.c.conversation).where(
                tables.answers.c.person == person.id,
                tables.answers.c.question.icontains(search.strip(), autoescape=True),
            )
            wanted = wanted.where(sa.or_(c.name.icontains(search.strip(), autoescape=True), c.id.in_(asked)))
        return self._shown(wanted.order_by(c.changed.desc()).limit(MOST_FOUND))

    def create(self, person: Person, source: str, name: str = "") -> Conversation:
        """A new conversation over a source, or over several (see `meant`). Without a name it is called after its first question."""
        person.need("ask")
        source = self.meant(person, source)
        id, at = new_id(), now()
        row = {"id": id, "person": person.id, "source": source, "name": named(name, "a conversation") if name else "",
               "made": at, "changed": at, "turns": [], "frames": [], "declined": [], "chosen": {}, "spent": {}}  # fmt: skip
        with self.state.writing() as connection:
            connection.execute(tables.conversations.insert().values(row))
            self.log(connection, person, "create conversation", id)
        return self.about(person, id)

    def about(self, person: Person, conversation: str) -> Conversation:
        """One conversation, without its answers."""
        person.need("read")
        found = self._shown(self._mine(person, conversation))
        if not found:
            raise _not_found(conversation)
        return found[0]

    def rename(self, person: Person, conversation: str, name: str) -> Conversation:
        person.need("ask")
        self._conversation(person, conversation)
        with self.state.writing() as connection:
            connection.execute(
                tables.conversations.update()
                .where(tables.conversations.c.id == conversation)
                .values(name=named(name, "a conversation"))
            )
            self.log(connection, person, "rename conversation", conversation)
        return self.about(person, conversation)

    def delete(self, person: Person, conversation: str) -> None:
        """Delete a conversation with its answers, charts and records. Busy while a question of it is under way."""
        person.need("ask")
        c, of = tables.conversations.c, tables.answers.c
        with self.state.writing() as connection:
            # In a state of several servers a question may begin at another one just now.
            row = connection.execute(self._mine(person, conversation).with_for_update()).mappings().first()
            if row is None:
                raise _not_found(conversation)
            if row["asking"]:
                raise Busy("a question of this conversation is under way: cancel it first, or wait")
            mine = sa.select(of.id).where(of.conversation == conversation)
            for table in (tables.figures, tables.feedback, tables.settled):
                connection.execute(table.delete().where(table.c.answer.in_(mine)))
            connection.execute(tables.answers.delete().where(of.conversation == conversation))
            connection.execute(tables.pending.delete().where(tables.pending.c.conversation == conversation))
            connection.execute(tables.threads.delete().where(tables.threads.c.conversation == conversation))
            connection.execute(
                tables.conversations.update()
                .where(c.id == conversation)
                .values(removed=now(), name="", frames=[], turns=[], chosen={}, declined=[])
            )
            self.log(connection, person, "delete conversation", conversation)

    def conversation(self, person: Person, conversation: str) -> list[StoredAnswer]:
        """The questions of a conversation in their order, with what became of each."""
        person.need("read")
        self._conversation(person, conversation)
        c = tables.answers.c
        columns = [each for each in c if each.name not in ("table", "record", "turn")]
        rows = self.state.rows(sa.select(*columns).where(c.conversation == conversation).order_by(c.number))
        liked = self._liked(person, [row["id"] for row in rows])
        return [shown(row, liked.get(row["id"])) for row in rows]

    def answer(self, person: Person, answer: str) -> StoredAnswer:
        """One answer of the person's own."""
        person.need("read")
        return shown(self._answer(person, answer), self._liked(person, [answer]).get(answer))

    def feedback(self, person: Person, answer: str, up: bool, reason: str = "") -> None:
        """Keep a thumb up or down, and why; the last one of a person counts."""
        person.need("ask")
        self._answer(person, answer)
        c = tables.feedback.c
        row = {"answer": answer, "person": person.id, "up": up, "reason": reason.strip()[:_REASON], "at": now()}
        with self.state.writing() as connection:
            connection.execute(tables.feedback.delete().where(c.answer == answer, c.person == person.id))
            connection.execute(tables.feedback.insert().values(row))
            self.log(connection, person, "feedback", answer, "up" if up else "down")

    def feedbacks(self, person: Person) -> list[Feedback]:
        """What the person said about answers, the last first."""
        person.need("read")
        c, of = tables.feedback.c, tables.answers.c
        statement = (
            sa.select(tables.feedback, of.question)
            .join(tables.answers, of.id == c.answer)
            .where(c.person == person.id)
            .order_by(c.at.desc())
        )
        names = ("answer", "up", "reason", "at", "question")
        return [Feedback(**{name: row[name] for name in names}) for row in self.state.rows(statement)]

    def _mine(self, person: Person, conversation: str) -> sa.Select[Any]:
        c = tables.conversations.c
        return sa.select(tables.conversations).where(c.id == conversation, c.person == person.id, c.removed.is_(None))

    def _conversation(self, person: Person, conversation: str) -> sa.RowMapping:
        row = self.state.row(self._mine(person, conversation))
        if row is None:
            raise _not_found(conversation)
        return row

    def _answer(self, person: Person, answer: str) -> sa.RowMapping:
        """The row of an answer; NotFound for another person's, as for one that is not there."""
        c = tables.answers.c
        row = self.state.row(sa.select(tables.answers).where(c.id == answer, c.person == person.id))
        if row is None:
            raise NotFound(f"there is no answer {answer[:80]!r}")
        return row

    def _liked(self, person: Person, answers: list[str]) -> dict[str, bool]:
        c = tables.feedback.c
        rows = self.state.rows(sa.select(c.answer, c.up).where(c.person == person.id, c.answer.in_(answers)))
        return {row["answer"]: row["up"] for row in rows}

    def _shown(self, statement: sa.Select[Any]) -> list[Conversation]:
        rows = self.state.rows(statement)
        of = tables.answers.c
        counted = self.state.rows(
            sa.select(of.conversation, sa.func.count().label("answers"))
            .where(of.conversation.in_([row["id"] for row in rows]))
            .group_by(of.conversation)
        )
        answers = {row["conversation"]: row["answers"] for row in counted}
        names = ("id", "name", "source", "made", "changed", "asking")
        return [Conversation(**{name: row[name] for name in names}, answers=answers.get(row["id"], 0)) for row in rows]

    def _asked_of(self, person: Person, answer: StoredAnswer) -> dict[str, Place]:
        """The places of the sources that an answer rests on, by their names in its plan."""
        if answer.sources:
            return {name: self._place(person, id) for name, id in answer.sources.items()}
        return self._places(person, self._conversation(person, answer.conversation)["source"])


def _not_found(conversation: str) -> NotFound:
    return NotFound(f"there is no conversation {conversation[:80]!r}")
