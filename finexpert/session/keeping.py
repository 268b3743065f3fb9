"""Keeping: a conversation is saved under a name, without rows, and goes on later."""

from __future__ import annotations

from pathlib import Path

from finexpert.answers import saved_session
from finexpert.answers.sources.sources import Sources
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.language_models.budget import Budget
from finexpert.session.teaching import Teaching


class Keeping(Teaching):
    """Saved conversations."""

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
        warehouse = None if isinstance(self.source, Filing | Library | Sources) else self.source
        self.workspace, notes = saved_session.restore(saved, warehouse, self.settings.as_of)
        self.declined, self._before = list(saved.declined), []
        self._conversation = Budget.of(self.settings, "conversation")
        self._conversation.add(saved.spent)
        if saved.source != self.source_name:
            notes.insert(0, f"the conversation was over {saved.source}, and goes on over {self.source_name}")
        return notes
