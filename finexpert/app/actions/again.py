"""An answer once more: its record, its table and charts, replayed, exported, and with a SELECT that was edited."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pandas as pd
import sqlalchemy as sa

from finexpert.answers import recording, replaying
from finexpert.answers.export import script as exported
from finexpert.answers.records import Record
from finexpert.answers.sources import parts
from finexpert.answers.sources.sources import Sources
from finexpert.app.actions.places import Place
from finexpert.app.actions.sources import with_tables
from finexpert.app.actions.teaching import Teaching
from finexpert.app.people.people import Person
from finexpert.app.state import tables
from finexpert.app.state.answers import body_of, frame_of, table_of
from finexpert.app.state.naming import new_id, now
from finexpert.app.state.stored import Replayed, StoredAnswer
from finexpert.core import reviews
from finexpert.core.answers import Answer, Failure, show
from finexpert.core.display import files
from finexpert.core.encoding import encode
from finexpert.core.plans import Extract, Plan, Step
from finexpert.core.workspace import Workspace
from finexpert.errors import FinexpertError, NotFound, PlanError, RecordError, Refused, StepError
from finexpert.filings.library.library import Library
from finexpert.knowledge.taught import Taught
from finexpert.knowledge.verified.query import VerifiedQuery
from finexpert.modules.flow.verifying import verified_query
from finexpert.plans import execution
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.warehouse import Warehouse

EDITED = "the SELECT was edited by hand"
_LONGEST_SELECT = 20_000


class Again(Teaching):
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

    def csv(self, person: Person, answer: str) -> bytes:
        """The table as CSV. A text that a spreadsheet would take for a formula begins with an apostrophe."""
        return files.csv_text(self.table(person, answer), safe=True).encode("utf-8-sig")

    def xlsx(self, person: Person, answer: str) -> bytes:
        """The table as an Excel file; texts are kept as texts, whatever they begin with."""
        return files.excel_bytes(self.table(person, answer))

    def figure(self, person: Person, answer: str, kind: str = "png", number: int = 1) -> bytes:
        """A chart of an answer, counted from 1. Charts are kept as PNG."""
        person.need("read")
        if kind != "png":
            raise Refused(f"charts are kept as PNG, and not as {kind[:12]!r}")
        self._answer(person, answer)
        c = tables.figures.c
        row = self.state.row(sa.select(c.png).where(c.answer == answer, c.number == number))
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
        text = f"a table of {len(again.value):,} rows" if table else show(again.value, record.answer_format)
        value = None if table else encode(again.value)
        return Replayed(same=again.same, value=value, text=text, differences=again.differences)

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
        if not sql.strip() or len(sql) > _LONGEST_SELECT:
            raise Refused(f"a SELECT has 1 to {_LONGEST_SELECT:,} characters")
        record, places = self._recorded(person, answer)
        plan = _with_select(record, sql.strip().rstrip(";"), frame)
        with self._computing.one(person.id), self._warehouse_at(places) as warehouse:
            made = self._run(record, plan, warehouse)
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

    def _run(self, record: Record, plan: Plan, warehouse: Warehouse) -> Answer:
        workspace, hidden = Workspace(), not record.as_of_given
        around = execution.Surroundings(
            warehouse=warehouse,
            checks=Checks(warehouse, record.as_of, hidden, question=record.question),
            sandbox=self.sandbox,
            answer_format=record.answer_format,
            format_fixed=record.script is not None,
            as_of=record.as_of,
        )
        try:
            outcome = execution.run(plan, workspace, around)
        except execution.StepFailed as failed:
            return _failed(record, failed.layer, failed.error)
        except (PlanError, StepError) as error:
            return _failed(record, execution.PLANNING, error)
        answer = Answer(
            question=record.question,
            status="answered",
            value=outcome.value.value,
            format=outcome.answer_format or record.answer_format,
            period=outcome.value.period,
            explanation=plan.interpretation,
            citations=list(outcome.value.citations),
            figures=outcome.figures,
            flags=[EDITED, *outcome.value.flags, *([warehouse.label] if warehouse.label else [])],
        )
        answer.confidence = reviews.unless_unchecked(answer.flags, None)
        answer.record = recording.of_answer(
            answer, outcome.plan, workspace, warehouse, record.as_of, record.knowledge, record.as_of_given
        )
        answer.record.follows = record.follows
        return answer

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


def _with_select(record: Record, sql: str, frame: str) -> Plan:
    """The plan of a record as SELECTs and a script, one of the SELECTs in other words."""
    if record.status not in ("answered", "failed") or record.reading is not None:
        raise RecordError("this answer was not computed with a SELECT")
    answering = record.plan.answering_extract
    names = [kept.name for kept in record.frames] or [
        step.frame for step in record.plan.steps if isinstance(step, Extract)
    ]
    wanted = frame or (answering.frame if answering else names[0] if len(names) == 1 else "")
    if wanted not in names:
        raise Refused(f"say which frame the SELECT is for: {', '.join(names) or 'this answer has none'}")
    kept = {each.name: (each.select, each.columns) for each in record.frames}
    kept[wanted] = (sql, [])
    purpose = "as the record says"
    steps: list[Step] = [
        Extract(id=number, frame=name, purpose=EDITED if name == wanted else purpose, columns=columns, select=select)
        for number, (name, (select, columns)) in enumerate(kept.items(), 1)
    ]
    if (script := record.script) is not None:
        steps.append(script.model_copy(update={"id": len(steps) + 1}))
    said = record.plan.interpretation
    about = {"interpretation": f"{said} ({EDITED})" if said else EDITED}
    return Plan(steps=steps, answer=f"step {len(steps)}", unit=record.plan.unit, **about)


def _failed(record: Record, layer: str, error: FinexpertError) -> Answer:
    failure = Failure(layer=layer, kind=getattr(error, "kind", "select"), message=str(error))
    return Answer(question=record.question, status="failed", failure=failure, flags=[EDITED])
