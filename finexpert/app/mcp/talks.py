"""The conversations of one person over stdio: a session each, a bounded number, the oldest forgotten.

talks = Talks(expert, settings, models, taught)
talk = talks.make("data", source)    a new conversation over the source that clients know as "data"
talk = talks.find("c3")              one that goes on
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

import anyio

from finexpert.answers.sources.sources import Sources
from finexpert.core.answers import Clarification
from finexpert.errors import NotFound
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.knowledge.taught import Taught
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.sandbox import Limits, Sandbox
from finexpert.session import Session
from finexpert.settings import Settings
from finexpert.warehouse.warehouse import Warehouse

MOST_TALKS = 50

Source = Warehouse | Filing | Library
Asked = Source | Sources


@dataclass
class Talk:
    """A conversation; `told` are meanings that hold in it alone. One question at a time."""

    id: str
    source: str
    session: Session
    told: dict[str, str] = field(default_factory=dict)
    asking: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def knowledge(self) -> str:
        """What was told, as it goes with a question."""
        return "\n".join(f"By {term!r} the user means: {meaning}" for term, meaning in self.told.items())

    def tell(self, term: str, meaning: str) -> None:
        """A meaning for this conversation; the term is not asked about again."""
        if meaning:
            self.told[term] = meaning
        self.session.declined.append(term)

    def explain(self, unclear: Clarification, meaning: str) -> bool:
        """Take a reply, and say whether to ask on: a reading is confirmed, and a term that is not explained assumed."""
        if unclear.kind == "value":
            self.session.explain(unclear, meaning)
            return bool(meaning)
        if unclear.kind == "term":
            self.tell(unclear.term, meaning)
            return True
        if meaning and meaning not in unclear.candidates:
            self.told[unclear.term] = meaning
        return False


class Talks:
    """Sessions that share an expert, models, a store and one sandbox."""

    def __init__(
        self, expert: FinancialExpert, settings: Settings, models: LanguageModels, taught: Taught | None
    ) -> None:
        self.expert, self.settings, self.models, self.taught = expert, settings, models, taught
        self._talks: OrderedDict[str, Talk] = OrderedDict()
        self._made = 0
        self._sandbox: Sandbox | None = None

    @property
    def sandbox(self) -> Sandbox:
        """Opened when the first question of tables is asked; SandboxUnavailable where scripts cannot be confined."""
        if self._sandbox is None:
            self._sandbox = Sandbox(Limits(wall_seconds=self.settings.script_seconds), workers=self.settings.workers)
        return self._sandbox

    def find(self, id: str) -> Talk:
        """A conversation by its id; NotFound where it was forgotten."""
        if id not in self._talks:
            raise NotFound(f"there is no conversation {id[:80]!r} any more: ask without one")
        self._talks.move_to_end(id)
        return self._talks[id]

    def make(self, name: str, source: Asked) -> Talk:
        """A new conversation over a source, or over several."""
        self._made += 1
        session = Session(
            source,
            expert=self.expert,
            settings=self.settings,
            models=self.models,
            sandbox=None if isinstance(source, Filing | Library) else self.sandbox,
            taught=self.taught,
        )
        talk = self._talks[f"c{self._made}"] = Talk(f"c{self._made}", name, session)
        self._forget_the_oldest()
        return talk

    def close(self) -> None:
        for talk in self._talks.values():
            talk.session.close()
        if self._sandbox is not None:
            self._sandbox.close()

    def _forget_the_oldest(self) -> None:
        idle = [talk for talk in self._talks.values() if not talk.asking.locked()]
        for talk in idle[: max(0, len(self._talks) - MOST_TALKS)]:
            del self._talks[talk.id]
            talk.session.close()
