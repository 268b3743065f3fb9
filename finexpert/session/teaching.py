"""Teaching: what a person explains, defines, verifies, or has remembered as a process. It stays for other conversations too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from finexpert.answers.records import Record
from finexpert.answers.sources.sources import Sources
from finexpert.core import progress
from finexpert.core.answers import Answer, Clarification
from finexpert.errors import ConfigurationError
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.knowledge import explaining
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.process import Process
from finexpert.knowledge.verified.query import VerifiedQuery
from finexpert.modules.calling import using
from finexpert.modules.flow import teaching as flow
from finexpert.modules.flow.verifying import verified_query
from finexpert.session.asking import Asking
from finexpert.session.listening import Heard


class Teaching(Asking):
    """What a conversation leaves in the store. ConfigurationError where memory is switched off."""

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
        if self.rambling(unclear, meaning):
            with self._teaching_by_models():
                meaning = self.heard_in_reply(unclear, meaning)
        if not meaning:
            self.declined.append(unclear.term)
            return None
        return explaining.explain(self.stores, unclear, meaning, self.by, self.scope)

    def listen(self, message: str) -> Heard:
        """What a message would have kept, without answering it; `ask` does both."""
        with self._teaching_by_models():
            return self._heard(message)

    def define(self, term: str, meaning: str, aliases: Sequence[str] = (), scope: str | None = None) -> Keyword:
        """Keep what a term means; an earlier meaning stays in its history. Raises StoreError for what cannot be kept.

        It holds for the source, or for what it held for before; `scope` names another, and "" means everywhere.
        """
        glossary = self.stores.glossary
        wanted = explaining.scope_of(glossary, term, self.scope) if scope is None else scope
        said = {"term": term, "meaning": meaning, "aliases": list(aliases), "source": "expert", "scope": wanted}
        return explaining.define(glossary, self.by, **said)

    def verify(
        self, answer: Answer, *, variables: Mapping[str, str] | None = None, by: str | None = None
    ) -> VerifiedQuery:
        """Keep the question of an answer with its SELECT: asked again in the same words, it is answered without a model.

        `variables` are parts of the question that may be others, as {"year": "2023"}; what the question names and the SELECT holds once
        if not given, and none if empty. Raises RecordError for an answer that is not one
        SELECT over tables, StoreError for a variable that is none, QueryError where the SELECT does not pass the checks any more.
        """
        if isinstance(self.source, Filing | Library | Sources) or not isinstance(answer.record, Record):
            raise ConfigurationError(
                "only an answer over tables of one source can be verified: it has to be one SELECT"
            )
        self.accept()
        query = verified_query(answer.record, self.source, self.stores, variables)
        return self.stores.verified.verify(query, by or self.by)

    def remember(self, heading: str = "") -> flow.Remembered:
        """Keep what this conversation did as a process, after trying it in a clean one; see `Remembered`.

        Raises PlanError when nothing has been answered yet, OutputError when the model's text is no process.
        """
        with self._teaching_by_models():
            return self._teaching().remember(self.workspace, heading, self.name)

    def decide(self, remembered: flow.Remembered, decision: flow.Decision, heading: str = "") -> flow.Remembered:
        """Settle a clash: replace the process that is there, ignore the new one, or keep both under another heading."""
        return self._teaching().store(remembered, decision, heading)

    def check(self, process: Process) -> flow.Remembered:
        """Try a stored process again; it becomes active if it holds on its taught case, else a draft that says why."""
        tried = self.tried(process)
        return flow.Remembered(self.stores.memory.edit(tried.process, self.by), tried.problems, stored=True)

    def tried(self, process: Process) -> flow.Remembered:
        """What `check` would make of a process; nothing is kept."""
        with self._teaching_by_models():
            return self._teaching().checked(process)

    def forget(self, name: str) -> Process | Keyword | None:
        """Retire the process or the keyword of this name; its history stays. None if there is neither."""
        seen = self.stores
        if seen.memory.get(name) is not None:
            return seen.memory.retire(name, self.by)
        if seen.glossary.get(name) is not None:
            return seen.glossary.retire(name, self.by)
        return None

    def _teaching(self) -> flow.Teaching:
        if isinstance(self.source, Filing | Library | Sources) or self.sandbox is None:
            raise ConfigurationError(
                "processes are taught over a warehouse: open one alone; a filing page has no SQL to remember"
            )
        return flow.Teaching(
            expert=self.expert,
            source=self.source,
            sandbox=self.sandbox,
            memory=self.stores.memory,
            as_of=self._as_of,
            options=self._options(clarify=False),
            by=self.by,
            scope=self.scope,
        )

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
