"""What a session holds: its source, models, sandbox and workspace, what was taught, and how all of that is closed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from finexpert.answers import saved_session
from finexpert.answers.earlier import EarlierAnswers
from finexpert.answers.sources.opening import open_several
from finexpert.answers.sources.sources import Sources, are_several
from finexpert.core.offers import Offer
from finexpert.core.streams import UnderWay
from finexpert.core.workspace import NamedFrame, Workspace
from finexpert.errors import ConfigurationError
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.scopes import EVERYWHERE, of_source
from finexpert.knowledge.taught import Taught
from finexpert.language_models.budget import Budget
from finexpert.language_models.roles import LanguageModels
from finexpert.modules.financial_expert import FinancialExpert, Options
from finexpert.sandbox import Limits, Sandbox
from finexpert.settings import Settings, with_options
from finexpert.warehouse.opening import Tabular, is_warehouse, open_data
from finexpert.warehouse.warehouse import Warehouse


class Base:
    """Opened by `Session`, which says what is raised."""

    def __init__(
        self,
        source: Warehouse | Filing | Library | Sources | str | Path | Mapping[str, Any] | Sequence[Any] | Tabular,
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
        # What is opened here is closed here: at the end, or at once where something after it cannot be opened.
        with ExitStack() as opened:
            if are_several(source):
                source, own = open_several(source, self.settings)
                for each in own:
                    opened.callback(each.close)
            elif not isinstance(source, Filing | Library | Sources) and not is_warehouse(source):
                source = open_data(source, settings=self.settings)
                opened.callback(source.close)
            self.source: Warehouse | Filing | Library | Sources = source
            # Pages need no scripts, so they can be asked about where scripts cannot be confined.
            if sandbox is None and not isinstance(self.source, Filing | Library):
                sandbox = Sandbox(Limits(wall_seconds=self.settings.script_seconds), workers=self.settings.workers)
                opened.callback(sandbox.close)
            self.sandbox = sandbox
            if taught is None and self.settings.memory:
                taught = Taught.from_settings(self.settings)
                opened.callback(taught.close)
            self.taught = taught
            self._earlier = EarlierAnswers(self)
            opened.callback(self._earlier.close)
            self._opened = opened.pop_all()
        self.workspace = workspace or Workspace()
        self.knowledge = knowledge
        self.declined: list[str] = []
        self.chosen: dict[str, str] = {}
        self.name = ""
        self._saved: saved_session.Stamp = None
        self._as_of = self.settings.as_of or dt.date.today()
        self._as_of_given = self.settings.as_of is not None
        self._before: list[dict[str, NamedFrame]] = []
        self._conversation = Budget.of(self.settings, "conversation")
        self._under_way = UnderWay()
        self._said: list[str] = []
        self._proving: list[str] = []
        self._in_use: list[Offer] = []
        self._offers: list[Offer] = []
        self._learns = self.settings.learn

    @property
    def source_name(self) -> str:
        return self.source.id if isinstance(self.source, Filing) else self.source.name

    @property
    def by(self) -> str:
        """Who teaches."""
        return self.settings.teacher

    @property
    def stores(self) -> Taught:
        """Memory and glossary, as far as they hold for the source; ConfigurationError where they are switched off."""
        seen = self._seen()
        if seen is None:
            raise ConfigurationError("memory is switched off; set FINEXPERT_MEMORY=true to teach")
        return seen

    @property
    def scope(self) -> str:
        """What is taught here holds for: the source that is asked, and everywhere where there are several."""
        return EVERYWHERE if isinstance(self.source, Sources) else of_source(self.source_name)

    def _seen(self, offered: Sequence[Keyword] = ()) -> Taught | None:
        """What was taught that holds for the source, or everywhere."""
        several = self.source.by_name.items() if isinstance(self.source, Sources) else ()
        names = {self.scope, *(name for pair in several for name in (pair[0], of_source(pair[1].name)))}
        return self.taught.seen_by(names, self.by, offered) if self.taught is not None else None

    @property
    def spent(self) -> dict[str, float]:
        """What the conversation took so far, since it was opened here: calls, usd, tokens, seconds of answering."""
        return self._conversation.spent

    def _options(self, clarify: bool, someone_there: bool = False) -> Options:
        s = self.settings
        ask = clarify and s.clarify
        return Options.of(s, ask_below=s.ask_below if ask else 0, clarify=ask, someone_there=ask and someone_there)

    def _budget(self) -> Budget:
        return Budget.of(self.settings, "answer")

    def close(self) -> None:
        self._opened.close()
