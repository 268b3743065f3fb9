"""How one question is answered: the settings that a journey needs, in the mode that was chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from finexpert.modes import CHECKED, Mode, mode
from finexpert.settings import Privacy, Settings


@dataclass(frozen=True)
class Options:
    """How one question is answered; the meanings stand in `finexpert.settings.Settings`.

    With `clarify`, what is unclear is asked back. With `someone_there`, who can reply at once, so is what a text means that its
    column does not hold, before a model guesses again. With `verified`, questions that were verified are examples for planning.
    """

    drafts: bool = True
    retries: int = 2
    privacy: Privacy = "schema"
    ask_below: int = 0
    clarify: bool = False
    someone_there: bool = False
    judge: bool = True
    constrained: bool = False
    verified: bool = True
    review: bool = False
    mode: Mode = CHECKED
    revisions: int = 1
    library_tokens: int = 8_000

    @classmethod
    def of(cls, settings: Settings, **changes: Any) -> Self:
        """As the settings say, which never ask back by themselves; with changes."""
        s = settings
        given = cls(
            drafts=s.drafts,
            retries=s.retries,
            privacy=s.privacy,
            judge=s.judge,
            constrained=s.constrained,
            verified=s.verified,
            review=s.review,
            revisions=s.revisions,
            library_tokens=s.library_tokens,
        )
        return replace(given, **changes).within(changes.get("mode") or mode(s.mode))

    def within(self, chosen: Mode) -> Self:
        """The options in a mode: one without repairs has none, one with an extractor of its own no drafts."""
        drafts = self.drafts and not chosen.has("extractor")
        return replace(self, mode=chosen, drafts=drafts, retries=self.retries if chosen.has("retries") else 0)
