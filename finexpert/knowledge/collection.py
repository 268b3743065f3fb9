"""A collection: what memory and glossary share. It keeps items as entries: found, changed, taken back, never lost.

    memory.edit(process, by="anna")     a new version, refused where someone else was faster
    memory.undo(by="anna")              the last change of the collection taken back, itself a change

An item is a `Process` or a `Keyword`; where entries are kept (a file, a server) is the business of the `EntryStore`.
"""

from __future__ import annotations

import copy
import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import ValidationError
from rapidfuzz import process

from finexpert.embeddings.embedding import Embedder
from finexpert.embeddings.vectors import Vectors
from finexpert.errors import NameTaken, NotKept, StaleEntry, StoreError
from finexpert.knowledge.entries.entries import ACTIVE, CURRENT, Change, Entry, EntryStore, Status
from finexpert.knowledge.entries.name_index import NameIndex
from finexpert.knowledge.items import Item
from finexpert.knowledge.scopes import EVERYWHERE, is_drafted, kept_under, plain
from finexpert.text.terms import normalise, phrases_in
from finexpert.text.texts import sentence

EVERY: tuple[Status, ...] = ("draft", "active", "retired")
_FACTS = {"id", "version", "status"}  # an entry has these itself


T = TypeVar("T", bound=Item)
V = TypeVar("V")


class Collection(Generic[T]):
    """Items of one kind in a store. May be used by several threads; sees what other processes change."""

    name: ClassVar[str]  # of the collection, and of the command that shows it
    kind: type[T]

    def __init__(self, entries: EntryStore, embedder: Embedder) -> None:
        self.entries, self.embedder = entries, embedder
        self.scopes: frozenset[str] | None = None
        self.by = ""
        self._index = NameIndex(entries, self.name)
        self._kept: dict[str, tuple[int, Any]] = {}
        self._views: dict[tuple[frozenset[str], str], Self] = {}

    def seen_by(self, scopes: Iterable[str], by: str = "") -> Self:
        """The collection as questions over these sources see it: what holds for them or everywhere, and the person's own drafts of conversations."""
        key = frozenset((*scopes, EVERYWHERE)), by
        if key not in self._views:
            view = copy.copy(self)
            (view.scopes, view.by), view._kept = key, {}
            self._views[key] = view
        return self._views[key]

    def _unchanged(self, what: str, ask: Callable[[], V]) -> V:
        """What this view of the collection asked its store; asked anew only after a change."""
        stamp = self.entries.stamp()
        if self._kept.get(what, (None,))[0] != stamp:
            self._kept[what] = stamp, ask()
        found: V = self._kept[what][1]
        return found

    @classmethod
    def open(cls, place: Path | str | None = None, embedder: Embedder | None = None) -> Self:
        """Open the store at a file or a postgresql:// address; by default the one in the home that both kinds share."""
        from finexpert.embeddings.embedding import embedder as chosen
        from finexpert.knowledge.entries.opening import open_entries
        from finexpert.settings import Settings

        settings = Settings()
        if place is None:
            place = settings.store or settings.home / "stores" / "knowledge.sqlite"
        embedder = embedder or chosen(settings.embedder)
        return cls(open_entries(place, embedder), embedder)

    def close(self) -> None:
        self.entries.close()

    @property
    def size(self) -> int:
        """How many are active."""
        return self._unchanged("size", self._count)

    def _count(self) -> int:
        if self.scopes is None:
            return self.entries.count(self.name, ACTIVE)
        return sum(self._holds(entry) for entry in self.entries.entries(self.name, ACTIVE)) + len(self.drafts())

    def _holds(self, entry: Entry) -> bool:
        """Whether an entry holds for the sources that are asked."""
        return self.scopes is None or entry.body.get("scope", EVERYWHERE) in self.scopes

    def drafts(self) -> list[T]:
        """The drafts that count already: the person's own, kept from a conversation and not used with an accepted result yet."""
        return self._unchanged("drafts", self._own_drafts) if self.by else []

    def _own_drafts(self) -> list[T]:
        found = [self.item(each) for each in self.entries.entries(self.name, ("draft",)) if self._holds(each)]
        return [each for each in found if each.drafted_by == self.by]

    @property
    def empty(self) -> bool:
        return self.size == 0

    def get(self, name: str) -> T | None:
        """The one with this name or alias, in any spelling, unless it is retired; a scope's own comes before one of everywhere."""
        for scope in sorted(self.scopes or {EVERYWHERE}, reverse=True):
            if found := self.get_in(scope, name):
                return found
        id = self._unchanged("elsewhere", self._elsewhere).get(normalise(name)) if self.scopes is None else None
        entry = self.entries.get(self.name, id) if id else None
        return self.item(entry) if entry else None

    def _elsewhere(self) -> dict[str, str]:
        """The ids of those that hold for one source, by their names; what one person drafted is theirs."""
        names = self.entries.names(self.name, CURRENT)
        return {plain(name): id for name, id in names if plain(name) != name and not is_drafted(name)}

    def get_in(self, scope: str, name: str, by: str = "") -> T | None:
        """The one with this name in exactly this scope; a person's own draft comes before what all use, and another's is not seen."""
        for person in dict.fromkeys((by or self.by, "")):
            if entry := self.entries.named(self.name, kept_under(normalise(name), scope, person)):
                return self.item(entry)
        return None

    def find(self, name: str) -> T:
        """The one with this id or name, in whatever scope, else the retired one that had it last.

        StoreError names what is spelt alike, and the ids where several have the name.
        """
        if entry := self.entries.get(self.name, name):
            return self.item(entry)
        if self.scopes is not None and (found := self.get(name)):
            return found
        wanted = normalise(name)
        had = [entry for entry in self.entries.entries(self.name, EVERY) if wanted in map(plain, entry.names)]
        if len(current := [self.item(entry) for entry in had if entry.status != "retired"]) > 1:
            ids = ", ".join(f"{each.id} ({each.status}, for {each.scope or 'every source'})" for each in current)
            raise StoreError(f"several of the {self.name} are called {name[:200]!r}: give one of the ids {ids}")
        if had:
            return self.item(max(had, key=lambda entry: (entry.status != "retired", entry.at)))
        phrases = [phrase for item in self.items(EVERY) for phrase in item.phrases]
        near = process.extract(name[:200], phrases, processor=normalise, score_cutoff=60, limit=3)
        alike = f" Spelt alike: {', '.join(repr(phrase) for phrase, *_ in near)}." if near else ""
        raise StoreError(
            f"the {self.name} has no {name[:200]!r}.{alike} `finexpert {self.name} list --all` shows what it has"
        )

    def items(self, statuses: Sequence[Status] = CURRENT) -> list[T]:
        return [self.item(entry) for entry in self.entries.entries(self.name, statuses)]

    def add_all(self, items: Sequence[T], by: str) -> list[T]:
        """Keep new items, all or, where a name is taken, none; what says nearly the same is not looked for."""
        changes = [self._change(self._stamped(item, by), "add", by) for item in items]
        return [self.item(entry) for entry in self.entries.write_all(self.name, changes)]

    def edit(self, item: T, by: str) -> T:
        """Keep a new version; StaleEntry where it is not the one that `item` was made from, NameTaken for a clash."""
        if not item.id or self.entries.get(self.name, item.id) is None:
            raise NotKept(f"{item.title!r} is not kept yet, so there is nothing to edit: add it first")
        return self._write(item, "edit", by, expected=item.version)

    def activate(self, name: str, by: str) -> T:
        """Let questions use it; nothing is checked here."""
        found = self.find(name)
        return self._write(found.model_copy(update={"status": "active", **self._cleared}), "activate", by)

    def accept(self, id: str, by: str) -> None:
        """Put a draft into use that an accepted result was computed with.

        What is none any more, or was changed meanwhile, stays as it is; a draft stays its author's where another's of the same name is
        in use already.
        """
        entry = self.entries.get(self.name, id)
        if entry is not None and entry.status == "draft":
            with suppress(NameTaken, StaleEntry):
                self._write(self.item(entry).model_copy(update={"status": "active", **self._cleared}), "accept", by)

    def retire(self, name: str, by: str) -> T:
        """Take it out of use; its history stays, and `activate` brings it back."""
        found = self.find(name)
        return self._write(found.model_copy(update={"status": "retired"}), "retire", by)

    def history(self, name: str) -> list[tuple[Entry, T]]:
        """Every version, the newest first."""
        versions = self.entries.history(self.name, self.find(name).id, limit=10_000)
        return [(entry, self.item(entry)) for entry in versions]

    def revert(self, name: str, version: int, by: str) -> T:
        """A new version with the content and the status of an old one."""
        now, *_ = versions = self.history(name)
        old = next((item for entry, item in versions if entry.version == version), None)
        if old is None:
            raise NotKept(
                f"{now[1].title!r} has no version {version}; it has 1 to {now[0].version}. "
                f"`finexpert {self.name} history {name!r}` shows them"
            )
        return self._write(old.model_copy(update={"version": now[0].version}), f"revert to {version}", by)

    def undo(self, by: str) -> T:
        """Take back the last change of the collection; done twice, the change is there again."""
        last = next(iter(self.entries.history(self.name, None, limit=1)), None)
        if last is None:
            raise NotKept(f"the {self.name} was never changed, so there is nothing to undo")
        if last.version == 1:
            before = self.item(last).model_copy(update={"status": "retired"})
        else:
            versions = self.entries.history(self.name, last.id, limit=2)
            before = self.item(versions[1]).model_copy(update={"version": last.version})
        return self._write(before, f"undo {last.action}", by)

    def search(self, texts: Sequence[str], limit: int = 8) -> list[tuple[T, float]]:
        """The active ones nearest in meaning to any of the texts, with their cosine, the nearest first."""
        if not texts or self.empty:
            return []
        return self.search_vectors(self.embedder.embed(texts), limit)

    def search_vectors(self, vectors: Vectors, limit: int = 8) -> list[tuple[T, float]]:
        if self.scopes is None:
            return [(self.item(hit.entry), hit.score) for hit in self.entries.search(self.name, vectors, limit, ACTIVE)]
        # What holds elsewhere takes no place of what holds here.
        wanted, own = limit, {draft.id for draft in self.drafts()}
        while True:
            hits = self.entries.search(self.name, vectors, wanted, CURRENT if own else ACTIVE)
            seen = [
                hit for hit in hits if hit.entry.id in own or (hit.entry.status == "active" and self._holds(hit.entry))
            ]
            if len(seen) >= limit or len(hits) < wanted:
                return [(self.item(hit.entry), hit.score) for hit in seen[:limit]]
            wanted *= 4

    def named_in(self, text: str) -> list[T]:
        """The active ones whose name or alias stands in the text, the longest name first.

        The person's own draft comes before its namesake of the same scope, and one of a scope before its namesake of everywhere.
        """
        found = (self.entries.get(self.name, id) for id in self._index.found_in(text))
        active = [
            self.item(each) for each in found if each is not None and each.status == "active" and self._holds(each)
        ]
        own = [draft for draft in self.drafts() if phrases_in(text, draft.names)]
        scoped = {name for item in (*own, *active) if item.scope for name in item.names}
        drafted = {(name, item.scope) for item in own for name in item.names}
        shared = [item for item in active if not drafted & {(name, item.scope) for name in item.names}]
        return [*own, *(item for item in shared if item.scope or not scoped & set(item.names))]

    def item(self, entry: Entry) -> T:
        """What an entry holds."""
        facts = {"id": entry.id, "version": entry.version, "status": entry.status}
        try:
            return self.kind.model_validate({**entry.body, **facts})
        except ValidationError as error:
            raise StoreError(
                f"the entry {entry.id} (version {entry.version}) of the {self.name} in {self.entries.place} cannot be read: "
                f"{sentence(error)}. It is damaged, or was written by another version of finexpert"
            ) from error

    @property
    def _cleared(self) -> dict[str, str]:
        """What becomes untrue when an item is made active."""
        return {"note": ""} if "note" in self.kind.model_fields else {}

    def _write(
        self, item: T, action: str, by: str, expected: int | None = None, *, new: bool = False, id: str | None = None
    ) -> T:
        """Keep an item as a new entry or a new version."""
        if not new:
            id, expected = item.id, item.version if expected is None else expected
        (entry,) = self.entries.write_all(self.name, [self._change(item, action, by, id, expected)])
        return self.item(entry)

    def _change(self, item: T, action: str, by: str, id: str | None = None, expected: int | None = None) -> Change:
        """An item as it is kept, after checking what a changed copy may have slipped past."""
        try:
            item = self.kind.model_validate(item.model_dump(mode="json"))
        except ValidationError as error:
            raise NotKept(f"{item.title[:200]!r} cannot be kept: {sentence(error)}") from error
        body = item.model_dump(mode="json", exclude=_FACTS)
        return Change(body, item.kept_names, item.searched, item.status, action, by, id or None, expected)

    def _stamped(self, item: T, by: str) -> T:
        """The item with who taught it and when, where it does not say."""
        update = {"taught_by": item.taught_by or by, "taught_at": item.taught_at or dt.datetime.now(dt.UTC)}
        return item.model_copy(update=update)
