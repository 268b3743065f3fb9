"""The backend of a server: a person at its desk. Conversations and answers are the ones of the web page.

backend = DeskBackend(desk, person)     made anew for each request
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pandas as pd

from finexpert.app.actions.asking import Wish
from finexpert.app.mcp import shown
from finexpert.app.mcp.backend import (
    Ask,
    AskResult,
    PageFound,
    PageRead,
    ProcessShown,
    Proposed,
    ReplayResult,
    Reply,
    SourceShown,
    Terms,
)
from finexpert.core.answers import Clarification
from finexpert.core.display.parts import Code, Parts, cited_lines, cost
from finexpert.core.progress import Event
from finexpert.core.statuses import gives_value
from finexpert.errors import NotFound

if TYPE_CHECKING:
    from finexpert.app.desk import Desk
    from finexpert.app.people.people import Person
    from finexpert.app.running import Running
    from finexpert.app.state.stored import SourceInfo, StoredAnswer


class DeskBackend:
    """One person for the time of a request; what they may not do, the desk refuses."""

    def __init__(self, desk: Desk, person: Person) -> None:
        self.desk, self.person = desk, person
        self._wish: dict[str, Any] = {}  # what replies to questions back add to the next question

    def sources(self) -> list[SourceShown]:
        infos = self.desk.sources(self.person)
        return [
            SourceShown(
                name=_name(info, infos), kind="library" if info.kind == "library" else "tables", label=info.label
            )
            for info in infos
        ]

    async def ask(self, request: Ask) -> AsyncGenerator[Event | Reply]:
        told = "\n".join(f"By {term!r} the user means: {meaning}" for term, meaning in request.told.items())
        wish = {"as_of": request.as_of, "clarify": request.clarify and not told, "knowledge": told} | self._wish
        starting = asyncio.create_task(
            asyncio.to_thread(self._started, request, Wish(request.question, learn=False, **wish))
        )
        try:
            running = await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(_cancel)
            raise
        try:
            async with aclosing(running.follow()) as events:
                async for each in events:
                    yield each if isinstance(each, Event) else await asyncio.to_thread(self._reply, each)
        finally:
            if not running.done.is_set():
                # Who goes away does not want the answer: the question would go on without them.
                running.cancel()

    async def explain(self, conversation: str, unclear: Clarification, meaning: str) -> bool:
        if unclear.kind == "value" and meaning:
            self._wish = {"chosen": ((f"{unclear.place}={unclear.term}", meaning),)}
            return True
        if unclear.kind == "term" and not meaning:
            self._wish = {"declined": (unclear.term,)}
            return True
        if meaning and (unclear.kind == "term" or meaning not in unclear.candidates):
            self._wish = {"knowledge": f"By {unclear.term!r} the user means: {meaning}", "clarify": False}
        return False

    def search(
        self, source: str, phrases: Sequence[str], company: str, year: int | None, limit: int
    ) -> list[PageFound]:
        with self.desk.library(self.person, self._source(source, "library").id) as library:
            return shown.pages_found(library, phrases, company, year, limit)

    def page(self, source: str, page: str) -> PageRead:
        self.person.need("read")
        with self.desk.library(self.person, self._source(source, "library").id) as library:
            return shown.page_read(library.page(page))

    def schema(self, source: str, question: str) -> tuple[str, str]:
        self.person.need("read")
        info = self._source(source)
        with self.desk.source(self.person, info.id) as opened:
            return info.name, shown.schema_text(opened, question)

    def terms(self, text: str, source: str) -> Terms:
        self.person.need("read")
        taught = self.desk.taught(self.person.team)
        if not source:
            return shown.terms(text, taught, ())
        with self.desk.source(self.person, self._source(source).id) as opened:
            return shown.terms(text, taught, getattr(opened, "metrics", ()))

    def processes(self) -> list[ProcessShown]:
        return [shown.process(each) for each in self.desk.processes(self.person)]

    def replay(self, id: str) -> ReplayResult:
        again = self.desk.replay(self.person, id)
        return ReplayResult.model_validate(again.model_dump(exclude={"value"}))

    def propose(self, id: str) -> Proposed:
        return shown.proposed(self.desk.verify(self.person, id, draft=True))

    def record(self, id: str) -> str:
        return shown.record_text(self.desk.record(self.person, id))

    def chart(self, id: str, number: int) -> bytes:
        return self.desk.figure(self.person, id, "png", number)

    def _started(self, request: Ask, wish: Wish) -> Running:
        if not request.conversation:
            return self.desk.start_new(self.person, self._meant(request.source), wish)
        if request.source:
            about = self.desk.about(self.person, request.conversation)
            if self._meant(request.source) != about.source:
                raise NotFound("this conversation is over another source: ask without a conversation")
        return self.desk.start(self.person, request.conversation, wish)

    def _meant(self, words: str) -> str:
        """The ids of the sources that a question names; of the first one, if it names none."""
        return self.desk.meant(self.person, words) if words else self._source("").id

    def _source(self, name: str, kind: str = "") -> SourceInfo:
        """A source by its name or id, or the first one of this kind."""
        infos = self.desk.sources(self.person)
        fit = [info for info in infos if kind in ("", info.kind)]
        for info in fit:
            if not name or name in (info.id, _name(info, infos)):
                return info
        known = ", ".join(_name(info, infos) for info in fit) or "none is connected yet"
        raise NotFound(f"there is no source {name[:80]!r} for this: {known}")

    def _reply(self, answer: StoredAnswer) -> Reply:
        numbers = range(1, answer.figures + 1)
        charts = [self.desk.figure(self.person, answer.id, "png", number) for number in numbers]
        seen = shown.for_models(answer)
        return Reply(_facts(seen), _parts(seen), charts, answer.clarification)


def _cancel(starting: asyncio.Task[Running]) -> None:
    """Cancel a question that was put under way after whoever asked it had gone."""
    if not starting.cancelled() and starting.exception() is None:
        starting.result().cancel()


def _name(info: SourceInfo, infos: Sequence[SourceInfo]) -> str:
    """The name of a source; its id where another one has the same name."""
    return info.name if sum(other.name == info.name for other in infos) == 1 else info.id


def _facts(answer: StoredAnswer) -> AskResult:
    table = answer.row_count is not None
    return AskResult(
        conversation=answer.conversation,
        id=answer.id,
        status=answer.status or "failed",
        text=f"{answer.row_count:,} rows" if table else answer.text,
        value=answer.value,
        unit=answer.format.unit,
        columns=answer.columns,
        rows=answer.rows[: shown.MOST_ROWS],
        row_count=answer.row_count,
        period=answer.period,
        sentences=answer.sentences,
        explanation=answer.explanation,
        meanings=answer.meanings,
        processes=answer.processes,
        citations=answer.citations,
        confidence=answer.confidence,
        flags=answer.flags,
        missing=answer.missing,
        question_back=shown.question_back(answer.clarification),
        record=shown.record_address(answer.id) if answer.has_record else None,
        charts=[shown.chart_address(answer.id, number) for number in range(1, answer.figures + 1)],
    )


def _parts(answer: StoredAnswer) -> Parts:
    """A kept answer as its parts; of a table the rows that it came with."""
    table = pd.DataFrame(answer.rows, columns=answer.columns) if answer.row_count is not None else None
    before = [f"{term}: {meaning}" for term, meaning in answer.meanings.items()]
    before += [f"Follows: {', '.join(answer.processes)}"] if answer.processes else []
    after = [f"Confidence: {answer.confidence} of 100"] if answer.confidence is not None else []
    after += [f"Period: {answer.period}"] if answer.period else []
    code = [Code(f"SQL → {select.frame}", "sql", select.sql) for select in answer.selects]
    return Parts(
        question=answer.question,
        answered=gives_value(answer.status),
        before=[*before, answer.explanation] if answer.explanation else before,
        text=None if table is not None else answer.text,
        table=table,
        rows=answer.row_count or 0,
        citations=cited_lines(answer.citations),
        after=[*after, *(f"Note: {flag}" for flag in answer.flags)],
        code=[*code, Code("Script", "python", answer.script)] if answer.script else code,
        cost=cost(answer.usage),
        record=answer.id if answer.has_record else None,
    )
