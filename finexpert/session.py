"""A conversation: an expert, a source, a workspace, what was taught, and what they run with.

    with Session(DuckDBWarehouse("fred.duckdb")) as session:
        print(session.ask("When did the latest recession start?").text)
        print(session.ask("And what was the unemployment rate then?").text)
        session.remember("Recession Calculation")

Frames stay in the workspace, so a follow-up question reuses them. What is remembered or defined stays in the store,
for other conversations too.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypedDict, Unpack

from finexpert import tracking
from finexpert.answers import saved_session
from finexpert.answers.earlier import Asked, EarlierAnswers
from finexpert.answers.records import Record
from finexpert.answers.routing import route
from finexpert.core import progress
from finexpert.core.answers import Answer, AnswerFormat, Clarification
from finexpert.core.streams import UnderWay, astreamed, streamed
from finexpert.core.workspace import NamedFrame, Workspace
from finexpert.errors import Cancelled, ConfigurationError
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.knowledge import explaining
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.process import Process
from finexpert.knowledge.taught import Taught
from finexpert.knowledge.verified.query import VerifiedQuery
from finexpert.language_models.budget import Budget
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.calling import using
from finexpert.modules.financial_expert import FinancialExpert, Options, kind_of
from finexpert.modules.flow.teaching import Decision, Remembered, Teaching
from finexpert.modules.flow.verified_question import Conversing, answer_verified
from finexpert.modules.flow.verifying import verified_query
from finexpert.sandbox import Limits, Sandbox
from finexpert.settings import Settings, with_options
from finexpert.text.texts import whole
from finexpert.tracking import spans
from finexpert.warehouse.opening import Tabular, is_warehouse, open_data
from finexpert.warehouse.warehouse import Warehouse


class AskOptions(TypedDict, total=False):
    """What `Session.ask` takes beside the question."""

    answer_format: AnswerFormat | None
    knowledge: str
    clarify: bool
    someone_there: bool
    as_of: dt.date | None
    cached: bool | None


class Session:
    """One conversation over one source. Use it as a context manager: leaving it stops the sandbox.

    The source is a warehouse, a filing, a library, or what `open_data` makes a warehouse of: a path, an address, a frame, a dict of
    frames.

    `taught` is the memory and the glossary; opened from the settings if not given, and left out with
    `Settings(memory=False)`. Raises ModelNotConfigured when no model is named or found, SandboxUnavailable when
    scripts cannot be confined, StoreError when what was taught cannot be read.
    """

    def __init__(
        self,
        source: Warehouse | Filing | Library | str | Path | Mapping[str, Any] | Tabular,
        *,
        expert: FinancialExpert | None = None,
        settings: Settings | None = None,
        models: LanguageModels | None = None,
        sandbox: Sandbox | None = None,
        workspace: Workspace | None = None,
        knowledge: str = "",
        taught: Taught | None = None,
    ) -> None:
        self.expert = expert or FinancialExpert()
        # What compiling chose for this program counts where the user has not said otherwise.
        self.settings = with_options(settings or Settings(), getattr(self.expert, "options", {}))
        self.models = models or LanguageModels.from_settings(self.settings)
        self._opened: Warehouse | None = None
        if not isinstance(source, Filing | Library) and not is_warehouse(source):
            source = self._opened = open_data(source, settings=self.settings)
        self.source: Warehouse | Filing | Library = source
        self._owns_sandbox = sandbox is None
        # Pages need no scripts, so they can be asked about where scripts cannot be confined.
        if sandbox is None and not isinstance(self.source, Filing | Library):
            sandbox = Sandbox(Limits(wall_seconds=self.settings.script_seconds), workers=self.settings.workers)
        self.sandbox = sandbox
        self.workspace = workspace or Workspace()
        self.knowledge = knowledge
        self._owns_taught = taught is None
        self.taught = taught or (Taught.from_settings(self.settings) if self.settings.memory else None)
        self.declined: list[str] = []
        self.chosen: dict[str, str] = {}
        self.name = ""
        self._saved: saved_session.Stamp = None
        self._as_of = self.settings.as_of or dt.date.today()
        self._as_of_given = self.settings.as_of is not None
        self._before: list[dict[str, NamedFrame]] = []
        self._conversation = Budget.of(self.settings, "conversation")
        self._earlier = EarlierAnswers(self)
        self._under_way = UnderWay()

    def ask(
        self,
        question: str,
        *,
        answer_format: AnswerFormat | None = None,
        knowledge: str = "",
        clarify: bool = False,
        someone_there: bool = False,
        as_of: dt.date | None = None,
        cached: bool | None = None,
    ) -> Answer:
        """Answer one question of the conversation; `answer_format` is decided from the question if not given.

        With `clarify`, a question with an unknown term, or one that cannot be read safely, gives an answer with status
        "needs_clarification": say what is meant with `explain` and ask again, or ask without `clarify` to have an
        answer that rests on an assumption and says so. A text that its column does not hold is asked back too, with the column's
        values: at once where `someone_there` can reply, else after the model has tried again.

        Where the budget of the answer or of the conversation ends (settings `budget_*`), what comes back is the best
        answer so far with a low confidence, or a failed one that names the setting to raise.

        "What was that again?" gives the last answer. With the setting `cache_answers`, what was answered before is found
        and said to be so; `cached=False` has everything computed again.
        """
        if not question.strip():
            raise ValueError("the question is empty")
        # A terminal hands over bytes that are no text as halves of characters.
        question = whole(question)
        with progress.watching() as watch, self._under_way.taken_by(watch), self._traced() as traced:
            self._as_of = as_of or self.settings.as_of or dt.date.today()
            self._as_of_given = (as_of or self.settings.as_of) is not None
            if cached is not False and self.workspace.turns and (wanted := route(question)):
                said = self._asked_again() if wanted == "again" else self._earlier.last()
                if said is not None:
                    traced.answer = said
                    return said
            told = "\n".join(filter(None, [self.knowledge, knowledge]))
            asked = Asked(question, self._as_of, answer_format, told, self._options(clarify, someone_there))
            frames, earlier = dict(self.workspace.frames), [turn.question for turn in self.workspace.turns]
            key = self._earlier.key(asked, earlier)
            answer = None if cached is False else self._earlier.find(key, asked)
            if answer is None:
                answer = self._computed(asked)
                self._earlier.keep(key, asked, earlier, answer)
            traced.answer = answer
            self._earlier.given(answer)
            if len(self.workspace.turns) > len(earlier):
                self._before.append(frames)
            return answer

    def events(self, question: str, **options: Unpack[AskOptions]) -> Iterator[progress.Event | Answer]:
        """Answer a question as `ask` does, and yield what is done meanwhile; the last thing is the answer.

        Closing the generator cancels the question, and returns when nothing of it runs any more.
        """
        with self._under_way.taken_by(progress.Watch()) as watch:
            yield from streamed(lambda: self.ask(question, **options), watch)

    async def aevents(self, question: str, **options: Unpack[AskOptions]) -> AsyncGenerator[progress.Event | Answer]:
        """As `events`, for a coroutine. Cancelling its task cancels the question."""
        with self._under_way.taken_by(progress.Watch()) as watch:
            async with aclosing(astreamed(lambda: self.ask(question, **options), watch)) as events:
                async for each in events:
                    yield each

    async def aask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """As `ask`, for a coroutine. Cancelling its task cancels the question."""
        async with aclosing(self.aevents(question, **options)) as events:
            async for each in events:
                if isinstance(each, Answer):
                    return each
        raise AssertionError("unreachable")

    def cancel(self) -> None:
        """End the question under way, from any thread: who asked it gets Cancelled. Without one nothing happens.

        A SELECT is interrupted and a script killed. The conversation is as it was before the question, and goes on.
        """
        self._under_way.cancel()

    def _computed(self, asked: Asked) -> Answer:
        frames = dict(self.workspace.frames)
        try:
            return self._answered(asked)
        except Cancelled:
            self.workspace.frames = frames
            raise

    def _answered(self, asked: Asked) -> Answer:
        with using(self.models), self._conversation.counting(), self._budget():
            verified, notes = self._by_verified_query(asked)
            if verified is not None:
                return verified
            answer: Answer = self.expert(
                question=asked.question,
                source=self.source,
                sandbox=self.sandbox,
                workspace=self.workspace,
                answer_format=asked.answer_format,
                as_of=asked.as_of if self._as_of_given else None,
                knowledge=asked.knowledge,
                taught=self.taught,
                declined=self.declined,
                chosen=self.chosen,
                options=asked.options,
            ).answer
        answer.flags += notes
        return answer

    def _by_verified_query(self, asked: Asked) -> tuple[Answer | None, list[str]]:
        """The answer of the question's verified query; else None, and why one in its words is not used."""
        if isinstance(self.source, Filing | Library) or self.taught is None or self.sandbox is None:
            return None, []
        # What is said beside the question, and the one call that is measured, are no part of a verified query.
        if not self.settings.verified or asked.knowledge or asked.options.mode.has("single_call"):
            return None, []
        about = Conversing(self.expert, self.source, self.sandbox, self.workspace, self.taught, asked.options)
        return answer_verified(asked.question, asked.answer_format, about, (asked.as_of, self._as_of_given))

    def _asked_again(self) -> Answer:
        """The last question asked anew, in the place of its turn, which comes back if that fails."""
        turn, frames = self.workspace.turns[-1], self.workspace.frames
        self.undo()
        before = dict(self.workspace.frames)
        try:
            return self.ask(turn.question, answer_format=turn.answer_format, as_of=self._as_of, cached=False)
        except BaseException:
            self.workspace.turns.append(turn)
            self.workspace.frames = frames
            self._before.append(before)
            raise

    def explain(self, unclear: Clarification, meaning: str) -> Keyword | Process | None:
        """The reply to a question back: kept as a keyword and used from then on.

        An empty meaning keeps nothing; the term is not asked about again in this conversation. The name of a keyword
        or of a process that the clarification offered makes the term another name of it.
        """
        meaning = meaning.strip()
        if unclear.kind == "value":
            # It stays in this conversation, and at home: what a column holds is in no prompt.
            if meaning:
                self.chosen[f"{unclear.place}={unclear.term}"] = meaning
            return None
        if not meaning:
            self.declined.append(unclear.term)
            return None
        return explaining.explain(self.stores, unclear, meaning, self.by)

    def define(self, term: str, meaning: str, aliases: Sequence[str] = ()) -> Keyword:
        """Keep what a term means; an earlier meaning stays in its history. Raises StoreError for what cannot be kept."""
        said = {"term": term, "meaning": meaning, "aliases": list(aliases), "source": "expert"}
        return explaining.define(self.stores.glossary, self.by, **said)

    def verify(
        self, answer: Answer, *, variables: Mapping[str, str] | None = None, by: str | None = None
    ) -> VerifiedQuery:
        """Keep the question of an answer with its SELECT: asked again in the same words, it is answered without a model.

        `variables` are parts of the question that may be others, as {"year": "2023"}. Raises RecordError for an answer that is not one
        SELECT over tables, StoreError for a variable that is none, QueryError where the SELECT does not pass the checks any more.
        """
        if isinstance(self.source, Filing | Library) or not isinstance(answer.record, Record):
            raise ConfigurationError("only an answer over tables can be verified: it has to be one SELECT")
        query = verified_query(answer.record, self.source, self.stores, variables)
        return self.stores.verified.verify(query, by or self.by)

    def remember(self, heading: str = "") -> Remembered:
        """Keep what this conversation did as a process, after trying it in a clean one; see `Remembered`.

        Raises PlanError when nothing has been answered yet, OutputError when the model's text is no process.
        """
        with self._teaching_by_models():
            return self._teaching().remember(self.workspace, heading, self.name)

    def decide(self, remembered: Remembered, decision: Decision, heading: str = "") -> Remembered:
        """Settle a clash: replace the process that is there, ignore the new one, or keep both under another heading."""
        return self._teaching().store(remembered, decision, heading)

    def check(self, process: Process) -> Remembered:
        """Try a stored process again; it becomes active if it holds on its taught case, else a draft that says why."""
        with self._teaching_by_models():
            tried = self._teaching().checked(process)
        return Remembered(self.stores.memory.edit(tried.process, self.by), tried.problems, stored=True)

    def forget(self, name: str) -> Process | Keyword | None:
        """Retire the process or the keyword of this name; its history stays. None if there is neither."""
        if self.stores.memory.get(name) is not None:
            return self.stores.memory.retire(name, self.by)
        if self.stores.glossary.get(name) is not None:
            return self.stores.glossary.retire(name, self.by)
        return None

    def undo(self) -> bool:
        """Take the last turn back, with the frames that it fetched; False if there is none."""
        if not self.workspace.turns:
            return False
        self.workspace.turns.pop()
        if self._before:
            self.workspace.frames = self._before.pop()
        return True

    def save(self, name: str) -> Path:
        """Keep the conversation under a name in `home`/sessions: its turns and SELECTs, no rows.

        Raises DataError where it goes on in another process too, which saved it under this name meanwhile.
        """
        folder, as_of = self.settings.home / "sessions", self.settings.as_of
        known = self._saved if name == self.name else saved_session.UNKNOWN
        path = saved_session.save(
            folder,
            name,
            self.workspace,
            self.source_name,
            as_of,
            self.declined,
            known,
            spent=self._conversation.spent,
        )
        self.name, self._saved = name, saved_session.stamp(path)
        return path

    def resume(self, name: str) -> list[str] | None:
        """Take up a saved conversation; gives what is not as it was, or None if there is none of this name."""
        folder = self.settings.home / "sessions"
        # Before it is read: what is written in between is noticed when this one is saved.
        self._saved = saved_session.stamp(saved_session.file_of(folder, name))
        saved = saved_session.load(folder, name)
        self.name = name
        if saved is None:
            return None
        return self.take_up(saved)

    def take_up(self, saved: saved_session.SavedSession) -> list[str]:
        """Go on with a conversation that was kept, whose frames are fetched again; returns what is not as it was."""
        warehouse = None if isinstance(self.source, Filing | Library) else self.source
        self.workspace, notes = saved_session.restore(saved, warehouse, self.settings.as_of)
        self.declined, self._before = list(saved.declined), []
        self._conversation = Budget.of(self.settings, "conversation")
        self._conversation.add(saved.spent)
        if saved.source != self.source_name:
            notes.insert(0, f"the conversation was over {saved.source}, and goes on over {self.source_name}")
        return notes

    @property
    def source_name(self) -> str:
        return self.source.id if isinstance(self.source, Filing) else self.source.name

    @property
    def by(self) -> str:
        """Who teaches."""
        return self.settings.teacher

    @property
    def stores(self) -> Taught:
        """Memory and glossary; ConfigurationError where they are switched off."""
        if self.taught is None:
            raise ConfigurationError("memory is switched off; set FINEXPERT_MEMORY=true to teach")
        return self.taught

    def _teaching(self) -> Teaching:
        if isinstance(self.source, Filing | Library) or self.sandbox is None:
            raise ConfigurationError("processes are taught over a warehouse; a filing page has no SQL to remember")
        return Teaching(
            expert=self.expert,
            source=self.source,
            sandbox=self.sandbox,
            memory=self.stores.memory,
            as_of=self._as_of,
            options=self._options(clarify=False),
            by=self.by,
        )

    def _traced(self) -> AbstractContextManager[spans.Told]:
        """Spans of the question where the settings want them."""
        where = self.settings.trace
        dialect = kind_of(self.source) if isinstance(self.source, Filing | Library) else self.source.dialect
        return spans.traced(where, self.settings.mode, dialect, lambda: tracking.address(self.settings))

    @contextmanager
    def _teaching_by_models(self) -> Iterator[None]:
        with (
            progress.watching() as watch,
            self._under_way.taken_by(watch),
            using(self.models),
            self._conversation.counting(),
            self._budget(),
        ):
            yield

    def _options(self, clarify: bool, someone_there: bool = False) -> Options:
        s = self.settings
        ask = clarify and s.clarify
        return Options.of(s, ask_below=s.ask_below if ask else 0, clarify=ask, someone_there=ask and someone_there)

    def _budget(self) -> Budget:
        return Budget.of(self.settings, "answer")

    @property
    def spent(self) -> dict[str, float]:
        """What the conversation took so far, since it was opened here: calls, usd, tokens, seconds of answering."""
        return self._conversation.spent

    def close(self) -> None:
        if self.sandbox is not None and self._owns_sandbox:
            self.sandbox.close()
        if self.taught is not None and self._owns_taught:
            self.taught.close()
        self._earlier.close()
        if self._opened is not None:
            self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
