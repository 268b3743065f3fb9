"""What all actions of a desk stand on: state, settings, models, one sandbox, and the log of what was done."""

from __future__ import annotations

import hashlib
import re
import threading

import sqlalchemy as sa

from finexpert.app.guarding.addresses import Rules
from finexpert.app.guarding.limits import AtOnce
from finexpert.app.guarding.sealing import Sealer
from finexpert.app.options import ServeOptions
from finexpert.app.people.people import Person
from finexpert.app.state import tables
from finexpert.app.state.naming import now
from finexpert.app.state.state import State
from finexpert.errors import ConfigurationError
from finexpert.knowledge.entries.opening import SERVERS
from finexpert.knowledge.taught import Taught
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.secrets import known_secrets, redacted
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.sandbox import Limits, Sandbox
from finexpert.settings import Settings, with_options


class Base:
    """Shared by all threads of a server. It opens what is needed when it is first needed."""

    def __init__(
        self,
        settings: Settings,
        options: ServeOptions,
        *,
        state: State | None = None,
        models: LanguageModels | None = None,
        expert: FinancialExpert | None = None,
        sandbox: Sandbox | None = None,
    ) -> None:
        self.expert = expert or FinancialExpert()
        self.settings = with_options(settings, getattr(self.expert, "options", {}))
        self.options = options
        self.state = state or State.open(settings, options.state)
        self.sealer = Sealer.of(settings.home, options.secret)
        self.models = models or LanguageModels.from_settings(self.settings)
        self.folder = settings.home / "serve"
        self.rules = Rules(tuple(options.data_hosts), tuple(options.data_folders), options.is_local)
        self._computing = AtOnce(options.questions_each)
        self._opening = threading.RLock()
        self._sandbox, self._owns_sandbox = sandbox, sandbox is None
        self._taught: dict[str, Taught] = {}

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox of all conversations; SandboxUnavailable where scripts cannot be confined."""
        with self._opening:
            if self._sandbox is None:
                self._sandbox = Sandbox(
                    Limits(wall_seconds=self.settings.script_seconds), workers=self.settings.workers
                )
            return self._sandbox

    def taught(self, team: str) -> Taught | None:
        """What a team was taught; None where memory is switched off."""
        if not self.settings.memory:
            return None
        with self._opening:
            if team not in self._taught:
                self._taught[team] = Taught.from_settings(self._settings_of(team))
            return self._taught[team]

    def _settings_of(self, team: str) -> Settings:
        """The settings with the team's own store: the one that is named is the store of the server's own team."""
        store = self.settings.store
        if store is not None and "{team}" in store:
            return self.settings.model_copy(update={"store": store.replace("{team}", slug(team))})
        if team == self.options.team:
            return self.settings
        if store is not None and store.startswith(SERVERS):
            raise ConfigurationError(
                f"the team {team!r} has no store: write {{team}} into the address of FINEXPERT_STORE, such as "
                "postgresql://desk@db/knowledge_{team}, and make a database for each team"
            )
        place = self.settings.home / "stores" / f"{slug(team)}.sqlite"
        return self.settings.model_copy(update={"store": str(place)})

    def log(self, connection: sa.Connection, person: Person, action: str, object: str = "", note: str = "") -> None:
        """Write a line of the audit log, in the transaction of what was done. It holds ids and names, and no value."""
        connection.execute(
            tables.audit.insert().values(
                at=now(), person=person.id, name=person.name, team=person.team, action=action, object=object, note=note
            )
        )

    def logged(self, person: Person, action: str, object: str = "", note: str = "") -> None:
        """Write a line of the audit log on its own."""
        with self.state.writing() as connection:
            self.log(connection, person, action, object, note)

    def said(self, error: BaseException) -> str:
        """The words of an error for a person: without keys, and on a server of several people without its folders."""
        words = redacted(str(error), known_secrets())
        return words if self.options.is_local else self.without_folders(words)

    def without_folders(self, words: str) -> str:
        """The words without the server's folders, as they are named and as they lie: a home may be relative, or behind a link."""
        for folder in (self.folder, self.settings.home):
            for each in (folder.resolve(), folder.absolute(), folder):
                words = words.replace(f"{each}/", "")
        return words

    def close(self) -> None:
        """Let go of everything that was opened."""
        with self._opening:
            if self._sandbox is not None and self._owns_sandbox:
                self._sandbox.close()
            for taught in self._taught.values():
                taught.close()
            self._taught.clear()
        self.state.close()


def slug(text: str) -> str:
    """A text as a part of a file's name; texts that look alike have other hashes.

    >>> slug("../Rates & FX")
    'rates_fx_2fabc0'
    """
    plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40] or "team"
    return f"{plain}_{hashlib.sha256(text.encode()).hexdigest()[:6]}"
