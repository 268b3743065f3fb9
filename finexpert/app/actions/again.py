"""An answer once more: its record, its table and charts, replayed, exported, and with a SELECT that was edited."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pandas as pd
import sqlalchemy as sa

from finexpert.answers import replaying, rerunning
from finexpert.answers.export import script as exported
from finexpert.answers.records import Record
from finexpert.answers.sources import parts
from finexpert.answers.sources.sources import Sources
from finexpert.app.actions.places import Place
from finexpert.app.actions.remembering import Remembering
from finexpert.app.actions.sources import with_tables
from finexpert.app.people.people import Person
from finexpert.app.state import tables
from finexpert.app.state.answers import body_of, frame_of, table_of
from finexpert.app.state.naming import new_id, now
from finexpert.app.state.stored import Replayed, StoredAnswer
from finexpert.core.answers import Answer
from finexpert.core.display import files
from finexpert.core.display.displayed import with_missing
from finexpert.core.encoding import encode
from finexpert.errors import NotFound, RecordError, Refused
from finexpert.filings.library.library import Library
from finexpert.knowledge.taught import Taught
from finexpert.knowledge.verified.query import VerifiedQuery
from finexpert.modules.flow.verifying import verified_query
from finexpert.warehouse.warehouse import Warehouse

LONGEST_SELECT = 20_000
# A larger number is none that a database can be asked for.
_MOST_FIGURES = (1 << 31) - 1


class Again(Remembering):
    """What is had of an answer after it was given."""

    def record(self, person: Person, answer: str) -> dict[str, Any]:
        """The record of an answer, as `finexpert replay` reads it from a file."""
        person.need("read")
        row = self._answer(person, answer)
        if row["record"] is None:
            raise NotFound("this answer has no record: nothing was computed for it")
        record: dict[str, Any] = row["record"]
        return record

    def table(self, person: Person, answer: str) -> pd.DataFrame:
        """All rows of an answer that is a table."""
        person.need("read")
        row = self._answer(person, answer)
        if row["table"] is None:
            raise NotFound("this answer is no table")
        return frame_of(row["table"])

    def _whole(self, person: Person, answer: str) -> pd.DataFrame:
        """The table as it leaves the server: that of a part of an answer says what is missing."""
        return with_missing(self.table(person, answer), self.answer(person, answer).missing)

    def csv(self, person: Person, answer: str) -> bytes:
        """The table as CSV. A text that a spreadsheet would take for a formula begins with an apostrophe."""
        return files.csv_text(self._whole(person, answer), safe=True).encode("utf-8-sig")

    def xlsx(self, person: Person, answer: str) -> bytes:
        """The table as an Excel file; texts are kept as texts, whatever they begin with."""
        return files.excel_bytes(self._whole(person, answer))

    def figure(self, person: Person, answer: str, kind: str = "png", number: int = 1) -> bytes:
        """A chart of an answer, counted from 1. Charts are kept as PNG."""
        person.need("read")
        if kind != "png":
            raise Refused(f"charts are kept as PNG, and not as {kind[:12]!r}")
        self._answer(person, answer)
        c = tables.figures.c
        known = 0 < number <= _MOST_FIGURES
        row = self.state.row(sa.select(c.png).where(c.answer == answer, c.number == number)) if known else None
        if row is None:
            raise NotFound(f"this answer has no chart {number}")
        return bytes(row["png"])

    def replay(self, person: Person, answer: str) -> Replayed:
        """Compute an answer again without a model, and compare."""
        person.need("ask")
        record, places = self._recorded(person, answer)
        with self._computing.one(person.id), self._opened_at(places) as opened:
            if isinstance(opened, Sources):
                again = parts.replay(record, opened.by_name, self.sandbox)
            elif isinstance(opened, Library):
                again = replaying.replay_library(record, opened)
            else:
                again = replaying.replay(record, opened, self.sandbox)
        self.logged(person, "replay", answer, "same" if again.same else "different")
        table = isinstance(again.value, pd.DataFrame)
        text = f"a table of {len(again.value):,} rows" if table else again.text(record)
        value = None if table else encode(again.value)
        return Replayed(same=again.same, value=value, text=text, missing=record.missing, differences=again.differences)

    def export(self, person: Person, answer: str) -> str:
        """The answer as a plain Python script."""
        person.need("ask")
        record, places = self._recorded(person, answer)
        with self._computing.one(person.id), self._warehouse_at(places) as warehouse:
            script = exported.export(record, warehouse)
        self.logged(person, "export", answer)
        return script if self.options.is_local else script.replace(f"{self.settings.home}/", "")

    def run_select(self, person: Person, answer: str, sql: str, frame: str = "") -> StoredAnswer:
        """Run an answer again with another SELECT for one of its frames, and keep what comes out as an answer of its own.

        No model is asked. The checks of any answer hold here too, and rows later than its day stay hidden. The answer is no turn
        of the conversation: a follow-up builds on what was asked.
        """
        person.need("ask")
        if not sql.strip() or len(sql) > LONGEST_SELECT:
            raise Refused(f"a SELECT has 1 to {LONGEST_SELECT:,} characters")
        record, places = self._recorded(person, answer)
        plan = rerunning.plan_of(record, sql.strip().rstrip(";"), frame)
        with self._computing.one(person.id), self._warehouse_at(places) as warehouse:
            made = rerunning.rerun(record, plan, warehouse, self.sandbox, [rerunning.EDITED])
        return self._keep_again(person, answer, made)

    def verify(
        self, person: Person, answer: str, variables: Mapping[str, str] | None = None, *, draft: bool = False
    ) -> VerifiedQuery:
        """Keep the question of an answer with its SELECT, for the team; as a draft where no person has said so. Raises as `Session.verify`."""
        person.need("teach")
        record, places = self._recorded(person, answer)

        def kept(taught: Taught) -> VerifiedQuery:
            with self._computing.one(person.id), self._warehouse_at(places) as warehouse:
                query = verified_query(record, warehouse, taught, variables)
            return (taught.verified.propose if draft else taught.verified.verify)(query, person.name)

        return self._changed(person, "propose verified query" if draft else "verify", kept)

    def _keep_again(self, person: Person, of: str, answer: Answer) -> StoredAnswer:
        first, c = self._answer(person, of), tables.answers.c
        id, at = new_id(), now()
        kept = first["body"] or {}
        body = body_of(answer, rerun_of=of)
        body |= {"as_of_given": bool(kept.get("as_of_given")), "sources": kept.get("sources", {})}
        with self.state.writing() as connection:
            # Its number is the next one: nobody else takes it, nor deletes the conversation, before this is kept.
            mine = self._mine(person, first["conversation"]).with_for_update()
            if connection.execute(mine).first() is None:
                raise NotFound(f"there is no answer {of[:80]!r}")
            last = connection.scalar(sa.select(sa.func.max(c.number)).where(c.conversation == first["conversation"]))
            row = {"id": id, "conversation": first["conversation"], "person": person.id, "question": first["question"],
                   "number": (last or 0) + 1, "state": "finished", "server": self.server, "asked": at, "ended": now(),
                   "body": body, "table": table_of(answer),
                   "record": json.loads(answer.record.sealed()) if answer.record else None}  # fmt: skip
            connection.execute(tables.answers.insert().values(row))
            for number, png in enumerate(answer.figures, 1):
                connection.execute(tables.figures.insert().values(answer=id, number=number, png=png))
            self.log(connection, person, "run select", id, of)
        return self.answer(person, id)

    def _recorded(self, person: Person, answer: str) -> tuple[Record, dict[str, Place]]:
        """The record of an answer, and the places of the sources that it rests on."""
        record = Record.read(json.dumps(self.record(person, answer)).encode(), f"the record of {answer}")
        return record, self._asked_of(person, self.answer(person, answer))

    @contextmanager
    def _warehouse_at(self, places: Mapping[str, Place]) -> Iterator[Warehouse]:
        """The one source of an answer, which has tables."""
        with self._opened_at(places) as opened:
            if isinstance(opened, Sources):
                raise RecordError(f"this answer is of several sources, {opened.name}: it is replayed as a whole")
            yield with_tables(opened)
