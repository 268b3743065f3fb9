"""What an expert taught, as it goes with a question: the memory of processes, the glossary of keywords, verified queries.

    taught = Taught.open(Path("knowledge.sqlite"))
    taught.glossary.define(Keyword(term="stress month", meaning="a month in which ..."), by="anna")

All live in one store, so that one file (or one database) holds all that was taught.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from finexpert.embeddings.embedding import Embedder, embedder
from finexpert.knowledge.entries.entries import ACTIVE
from finexpert.knowledge.entries.opening import open_entries
from finexpert.knowledge.glossary import Glossary, Keyword
from finexpert.knowledge.memory import Memory
from finexpert.knowledge.process import Process
from finexpert.knowledge.verified.queries import VerifiedQueries
from finexpert.settings import Settings
from finexpert.storage.closing import Closing
from finexpert.text.terms import normalise


@dataclass(frozen=True)
class Taught(Closing):
    """Memory, glossary and verified queries. Close it, or use it as a context manager."""

    memory: Memory
    glossary: Glossary
    verified: VerifiedQueries

    @classmethod
    def open(cls, place: Path | str, embedder: Embedder) -> Self:
        """Open the store at a file or a postgresql:// address; a file is made when something is first taught."""
        entries = open_entries(place, embedder)
        return cls(Memory(entries, embedder), Glossary(entries, embedder), VerifiedQueries(entries, embedder))

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls.open(settings.store or settings.home / "stores" / "knowledge.sqlite", embedder(settings.embedder))

    def seen_by(self, scopes: Iterable[str], by: str, offered: Sequence[Keyword] = ()) -> Self:
        """What of it questions over these sources see, and what was just said with the question."""
        scopes = frozenset(scopes)
        glossary = self.glossary.seen_by(scopes, by)
        return replace(
            self,
            memory=self.memory.seen_by(scopes, by),
            glossary=glossary.with_offered(offered) if offered else glossary,
        )

    @property
    def empty(self) -> bool:
        return self.memory.empty and self.glossary.empty

    def fingerprint(self) -> str:
        """What was taught and is in use, as a short hash: the same for the same content, wherever it is kept."""
        active = [*self._active(), *self.verified.items(ACTIVE)]
        items = [item.model_dump_json(exclude={"id", "version", "taught_at", "case"}) for item in active]
        return hashlib.sha256("\n".join(sorted(items)).encode()).hexdigest()[:16]

    def _active(self) -> list[Process | Keyword]:
        return [*self.memory.items(ACTIVE), *self.glossary.items(ACTIVE)]

    def copy_without(self, place: Path, names: Collection[str]) -> Self:
        """A store at `place` with what is active here, but for the processes and keywords of these names."""
        left_out = {normalise(name) for name in names}
        copy = type(self).open(place, self.memory.embedder)
        for item in self._active():
            if not left_out & set(item.names):
                _put(item, copy)
        return copy

    def copy_into(self, other: Taught) -> None:
        """Put processes and keywords, drafts too, into another store; NameTaken where it has one of the names."""
        for process in self.memory.items():
            _put(process, other)
        for keyword in self.glossary.items():
            _put(keyword, other)

    def close(self) -> None:
        self.memory.entries.close()


def _put(item: Process | Keyword, other: Taught) -> None:
    if isinstance(item, Process):
        other.memory.restore(item, item.taught_by, "copy")
    else:
        # As it is: an alias that was kept in the past stays.
        other.glossary.add_all([item.model_copy(update={"id": "", "version": 0})], item.taught_by)
