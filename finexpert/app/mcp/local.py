"""The backend of `finexpert mcp`: one person, the sources that were named when it was started, records at home.

with LocalBackend({"data": open_data()}, settings=settings) as backend:
    server(lambda context: backend).run("stdio")
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from finexpert.answers import replaying
from finexpert.answers.records import Record
from finexpert.answers.sources import parts
from finexpert.answers.sources.sources import ALL, Sources
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
    SourceKind,
    SourceShown,
    Terms,
)
from finexpert.app.mcp.talks import Asked, Source, Talk, Talks
from finexpert.core.answers import Answer, Clarification
from finexpert.core.display.charts import save_figures
from finexpert.core.display.parts import Parts
from finexpert.core.encoding import encode
from finexpert.core.progress import Event
from finexpert.errors import NotFound, RecordError
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.knowledge.taught import Taught
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.modules.flow.verifying import verified_query
from finexpert.settings import Settings, with_options
from finexpert.storage.closing import Closing

_ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]{6}")


class LocalBackend(Closing):
    """Sessions of this process. Close it, or use it as a context manager; it closes its sources too."""

    def __init__(
        self,
        sources: Mapping[str, Source],
        *,
        settings: Settings,
        expert: FinancialExpert | None = None,
        models: LanguageModels | None = None,
        taught: Taught | None = None,
    ) -> None:
        expert = expert or FinancialExpert()
        # What a client asks may be another model's words: nothing of it is offered to be kept.
        self.settings = with_options(settings, getattr(expert, "options", {})).model_copy(update={"learn": False})
        self._sources = dict(sources)
        self._taught = taught or (Taught.from_settings(self.settings) if self.settings.memory else None)
        models = models or LanguageModels.from_settings(self.settings)
        self._talks = Talks(expert, self.settings, models, self._taught)
        self._records = self.settings.home / "records"

    def sources(self) -> list[SourceShown]:
        return [
            SourceShown(name=name, kind=_kind(source), label=getattr(source, "label", None))
            for name, source in self._sources.items()
        ]

    async def ask(self, request: Ask) -> AsyncGenerator[Event | Reply]:
        talk = self._talk(request)
        for term, meaning in request.told.items():
            talk.tell(term, meaning)
        async with talk.asking:
            events = talk.session.aevents(
                request.question,
                knowledge=talk.knowledge,
                clarify=request.clarify,
                someone_there=request.someone_there,
                as_of=request.as_of,
                learn=False,
            )
            async with aclosing(events):
                async for each in events:
                    yield each if isinstance(each, Event) else self._reply(talk, each)

    async def explain(self, conversation: str, unclear: Clarification, meaning: str) -> bool:
        return self._talks.find(conversation).explain(unclear, meaning)

    def search(
        self, source: str, phrases: Sequence[str], company: str, year: int | None, limit: int
    ) -> list[PageFound]:
        return shown.pages_found(self._library(source), phrases, company, year, limit)

    def page(self, source: str, page: str) -> PageRead:
        _, of = self._source(source, (Library, Filing))
        if isinstance(of, Library):
            return shown.page_read(of.page(page))
        if isinstance(of, Filing) and page == of.id:
            return shown.page_read(of)
        raise NotFound(f"there is no page {page[:80]!r}: search_filings finds the pages that there are")

    def schema(self, source: str, question: str) -> tuple[str, str]:
        name, of = self._source(source)
        return name, shown.schema_text(of, question)

    def terms(self, text: str, source: str) -> Terms:
        sources = [self._source(source)[1]] if source else self._sources.values()
        metrics = [metric for each in sources for metric in getattr(each, "metrics", ())]
        return shown.terms(text, self._taught, metrics)

    def processes(self) -> list[ProcessShown]:
        return [shown.process(each) for each in self._taught.memory.processes()] if self._taught else []

    def replay(self, id: str) -> ReplayResult:
        kept = Record.load(self._file(id, ".json"))
        again = self._again(kept)
        text, said = again.text(kept), again.differences
        return ReplayResult(same=again.same, text=text, missing=kept.missing, differences=said)

    def propose(self, id: str) -> Proposed:
        kept = Record.load(self._file(id, ".json"))
        source = self._asked_of(kept.source.dialect, kept.source.name)
        if self._taught is None or isinstance(source, Library | Filing):
            raise RecordError("only an answer by one SELECT over tables can be verified, where memory is on")
        query = verified_query(kept, source, self._taught)
        return shown.proposed(self._taught.verified.propose(query, self.settings.teacher))

    def record(self, id: str) -> str:
        return shown.record_text(json.loads(self._file(id, ".json").read_text(encoding="utf-8")))

    def chart(self, id: str, number: int) -> bytes:
        return self._file(id, f"-{number}.png").read_bytes()

    def close(self) -> None:
        self._talks.close()
        if self._taught is not None:
            self._taught.close()
        for source in self._sources.values():
            if not isinstance(source, Filing):
                source.close()

    def _talk(self, request: Ask) -> Talk:
        if not request.conversation:
            return self._talks.make(*self._meant(request.source))
        talk = self._talks.find(request.conversation)
        if request.source and self._meant(request.source)[0] != talk.source:
            raise NotFound(f"this conversation is over the source {talk.source!r}: ask without a conversation")
        return talk

    def _meant(self, words: str) -> tuple[str, Asked]:
        """The sources that a question names: one, several with commas between them, or all."""
        if not words or words in self._sources:
            return self._source(words)
        named = [*self._sources] if words == ALL else [self._source(word.strip())[0] for word in words.split(",")]
        chosen: dict[str, Any] = {name: source for name, source in self._sources.items() if name in named}
        name, source = ",".join(chosen), next(iter(chosen.values()))
        return name, Sources.of(chosen) if len(chosen) > 1 else source

    def _source(self, name: str, kinds: tuple[type, ...] = ()) -> tuple[str, Source]:
        """A source by its name, or the first one of these kinds."""
        fit = [each for each, source in self._sources.items() if not kinds or isinstance(source, kinds)]
        if name in fit:
            return name, self._sources[name]
        if not name and fit:
            return fit[0], self._sources[fit[0]]
        if not fit:
            raise NotFound("no library of filings is connected: start the server with --library FOLDER")
        raise NotFound(f"there is no source {name[:80]!r} for this: give one of {', '.join(fit)}")

    def _library(self, name: str) -> Library:
        _, source = self._source(name, (Library,))
        assert isinstance(source, Library)
        return source

    def _file(self, id: str, ending: str) -> Path:
        """A file of a record; an id is never a part of a path."""
        path = self._records / f"{id}{ending}"
        if not _ID.fullmatch(id) or not path.is_file():
            raise NotFound(f"there is no answer {id[:80]!r} with this: `ask` returns the ids")
        return path

    def _again(self, kept: Record) -> replaying.Replay:
        if several := parts.parts_of(kept):
            sources: dict[str, Any] = {
                part.source: self._asked_of(part.record.source.dialect, part.record.source.name) for part in several
            }
            return parts.replay(kept, sources, self._talks.sandbox)
        source = self._asked_of(kept.source.dialect, kept.source.name)
        if isinstance(source, Library):
            return replaying.replay_library(kept, source)
        if isinstance(source, Filing):
            return replaying.replay_filing(kept, source)
        return replaying.replay(kept, source, self._talks.sandbox)

    def _asked_of(self, dialect: str, name: str) -> Source:
        """The source that an answer is of: computed over another one, it would be said to differ."""
        fit = [source for source in self._sources.values() if _dialect(source) == dialect]
        named = [source for source in fit if _name(source) == name]
        if not named and len(fit) == 1 and not isinstance(fit[0], Library | Filing):
            return fit[0]  # a file may have been renamed
        if not named:
            raise NotFound(f"the answer is of the source {name!r}, which is not connected: start the server with it")
        return named[0]

    def _reply(self, talk: Talk, answer: Answer) -> Reply:
        id = ""
        if answer.record is not None:
            answer.record.save(self._records)
            save_figures(answer, self._records)
            id = answer.record.id
        seen = shown.for_models(answer)
        return Reply(facts(seen, talk.id, id), Parts.of(seen), answer.figures, answer.clarification)


def facts(answer: Answer, conversation: str, id: str) -> AskResult:
    """An answer as a client's program reads it."""
    value = encode(answer.value)
    table = value if answer.format.kind == "table" and isinstance(value, dict) else {"columns": [], "data": []}
    is_table = bool(table["columns"])
    return AskResult(
        conversation=conversation,
        id=id,
        status=answer.status,
        text=f"{len(table['data']):,} rows" if is_table else answer.cited_text,
        value=None if is_table else value,
        unit=answer.format.unit,
        columns=[str(column) for column in table["columns"]],
        rows=table["data"][: shown.MOST_ROWS],
        row_count=len(table["data"]) if is_table else None,
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
        record=shown.record_address(id) if id else None,
        charts=[shown.chart_address(id, number) for number in range(1, len(answer.figures) + 1)] if id else [],
    )


def _dialect(source: Source) -> str:
    if isinstance(source, Library):
        return "library"
    return "filing" if isinstance(source, Filing) else source.dialect


def _name(source: Source) -> str:
    return source.id if isinstance(source, Filing) else source.name


def _kind(source: Source) -> SourceKind:
    if isinstance(source, Library):
        return "library"
    return "page" if isinstance(source, Filing) else "tables"
