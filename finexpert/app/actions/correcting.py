"""The queue of what people of a team called wrong, and what a teacher makes of an entry.

entry = desk.complaints(teacher)[0]
desk.correct(teacher, entry.id, "SELECT sum(fee) - sum(rebate) AS fees FROM trades")     # a verified query
"""

from __future__ import annotations

import datetime as dt

import sqlalchemy as sa

from finexpert.answers.feedback import Feedback
from finexpert.app.actions.again import LONGEST_SELECT, Again
from finexpert.app.actions.places import Place
from finexpert.app.people.people import Person
from finexpert.app.state import tables
from finexpert.app.state.feedback import of_state
from finexpert.app.state.naming import now
from finexpert.datasets.layers import kept as kept_examples
from finexpert.errors import NotFound, Refused
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.taught import Taught
from finexpert.knowledge.verified.query import VerifiedQuery
from finexpert.knowledge.verifying import Day, Pair, of_pair


class Correcting(Again):
    """Who gives a thumb shows the question and its SELECT to whoever may teach the team; a SELECT that was edited stays its person's own."""

    def complaints(self, person: Person) -> list[Feedback]:
        """What is open, the oldest first: thumbs down of the team, and the SELECTs that the person edited."""
        person.need("teach")
        found = of_state(self.state, team=person.team, edited_by=person.id)
        return sorted((each for each in found if not (each.up or each.settled)), key=lambda each: each.at)

    def correct(self, person: Person, entry: str, sql: str, *, example: bool = False) -> VerifiedQuery:
        """Keep the entry's question with the SELECT that is right, tried with all checks on the source that was asked.

        With `example` it is one for `finexpert compile --from-feedback` too.
        """
        complaint = self._complaint(person, entry)
        if not sql.strip() or len(sql) > LONGEST_SELECT:
            raise Refused(f"a SELECT has 1 to {LONGEST_SELECT:,} characters")
        pair = Pair(complaint.question, sql.strip().rstrip(";"))
        places, day = self._asked_for(person, entry)

        def kept(taught: Taught) -> VerifiedQuery:
            with self._computing.one(person.id), self._warehouse_at(places) as warehouse:
                query = of_pair(pair, warehouse, taught, day)
            return taught.verified.verify(query, person.name)

        query = self._changed(person, "verify", kept)
        became = f"verified query {query.id[:8]}"
        if example:
            kept_examples.keep(kept_examples.examples_file(self.settings.home), entry, query, "train")
            became += ", an example"
        self._settle(person, entry, became)
        return query

    def correct_term(self, person: Person, entry: str, term: str, meaning: str) -> Keyword:
        """Define a term, because an answer took it otherwise."""
        self._complaint(person, entry)
        keyword = self.define(person, term, meaning)
        self._settle(person, entry, f"the term {keyword.term!r}")
        return keyword

    def drop(self, person: Person, entry: str) -> None:
        """Take an entry out of the queue; what was said stays with the answer."""
        self._complaint(person, entry)
        self._settle(person, entry, "dropped")

    def _complaint(self, person: Person, entry: str) -> Feedback:
        for each in self.complaints(person):
            if each.id == entry:
                return each
        raise NotFound(f"nothing that is open is called {entry[:80]!r}")

    def _asked_for(self, person: Person, answer: str) -> tuple[dict[str, Place], Day]:
        """The places that a question of anybody in the team was asked of, as the person reaches them, and its day."""
        of, talk = tables.answers.c, tables.conversations.c
        row = self.state.row(
            sa.select(of.body, of.record, talk.source)
            .join(tables.conversations, talk.id == of.conversation)
            .where(of.id == answer)
        )
        if row is None:
            raise NotFound(f"there is no answer {answer[:80]!r}")
        body, record = row["body"] or {}, row["record"] or {}
        named = body.get("sources") or {}
        places = {name: self._place(person, id) for name, id in named.items()} or self._places(person, row["source"])
        as_of = record.get("as_of") or body.get("as_of")
        return places, Day(dt.date.fromisoformat(as_of) if as_of else dt.date.today(), bool(body.get("as_of_given")))

    def _settle(self, person: Person, answer: str, became: str) -> None:
        row = {"answer": answer, "became": became, "by": person.name, "at": now()}
        with self.state.writing() as connection:
            connection.execute(tables.settled.delete().where(tables.settled.c.answer == answer))
            connection.execute(tables.settled.insert().values(row))
            self.log(connection, person, "settle feedback", answer, became)
