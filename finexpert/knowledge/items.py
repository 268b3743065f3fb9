"""An item: what a process, a keyword and a verified query have in common, whatever store they are kept in."""

from __future__ import annotations

import datetime as dt
from abc import abstractmethod
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from finexpert.knowledge.entries.entries import Status
from finexpert.knowledge.scopes import EVERYWHERE, kept_under
from finexpert.text.terms import normalise
from finexpert.text.texts import Note


class Item(BaseModel):
    """What a process and a keyword have in common. `version` 0 and no `id`: not kept yet."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    @abstractmethod
    def title(self) -> str:
        """The heading or the term."""

    @property
    @abstractmethod
    def phrases(self) -> tuple[str, ...]:
        """What it is found by."""

    @property
    def searched(self) -> tuple[str, ...]:
        """The texts whose meaning is searched."""
        return self.phrases

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called, as names are compared."""
        return tuple(dict.fromkeys(name for phrase in self.phrases if (name := normalise(phrase))))

    @field_validator("taught_at", check_fields=False)
    @classmethod
    def _in_utc(cls, at: dt.datetime | None) -> dt.datetime | None:
        if at is None:
            return None
        return at.replace(tzinfo=dt.UTC) if at.tzinfo is None else at.astimezone(dt.UTC)

    @property
    def kept_names(self) -> tuple[str, ...]:
        """Its names as the store keeps them: each is free in another scope, and beside a person's own draft."""
        return tuple(kept_under(name, self.scope, self.drafted_by) for name in self.names)

    @property
    def drafted_by(self) -> str:
        """Whose draft it is, where it is one that only they use; else empty."""
        return ""

    scope: Note = EVERYWHERE
    id: Annotated[str, Field(pattern=r"^[\w-]*$", max_length=80)] = ""
    version: int = Field(default=0, ge=0)
    status: Status = "draft"
    taught_by: Note = ""
    taught_at: dt.datetime | None = None
