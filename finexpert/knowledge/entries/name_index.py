"""Which names of a collection stand in a text, fast: an index in memory, brought up to date by what was changed since.

NameIndex(entries, "glossary").found_in("How long did the stress months last?")  ->  ["5f0c..."]
"""

from __future__ import annotations

import threading
from collections import defaultdict

from finexpert.knowledge.entries.entries import ACTIVE, Entry, EntryStore
from finexpert.knowledge.scopes import plain
from finexpert.text.terms import phrases_in, words_of

_CATCH_UP = 100


class NameIndex:
    """Names of the active entries by their first two words. May be used by several threads."""

    def __init__(self, entries: EntryStore, collection: str) -> None:
        self._entries, self._collection = entries, collection
        self._lock = threading.Lock()
        self._stamp: int | None = None
        self._newest: tuple[str, int] | None = None
        self._ids: dict[str, dict[str, None]] = defaultdict(dict)  # of several scopes
        self._names: dict[str, list[str]] = defaultdict(list)
        self._by_words: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))

    def found_in(self, text: str) -> list[str]:
        """The ids of the entries whose name stands in the text, the longest name first, each once."""
        with self._lock:
            self._refresh()
            words = {*words_of(text), ""}
            candidates = {
                name
                for first in words & self._by_words.keys()
                for second in words & self._by_words[first].keys()
                for name in self._by_words[first][second]
            }
            found = phrases_in(text, candidates)
            return list(dict.fromkeys(id for name in found for id in self._ids[name]))

    def _refresh(self) -> None:
        stamp = self._entries.stamp()
        if stamp == self._stamp:
            return
        newest = self._entries.history(self._collection, None, limit=_CATCH_UP)
        versions = [(entry.id, entry.version) for entry in newest]
        if self._newest in versions:
            for entry in reversed(newest[: versions.index(self._newest)]):
                self._replace(entry)
        else:
            for kept in (self._ids, self._names, self._by_words):
                kept.clear()
            for name, id in self._entries.names(self._collection, ACTIVE):
                self._add(name, id)
        # Read before the changes were: one that came in between is read again, which does no harm.
        self._stamp, self._newest = stamp, versions[0] if versions else None

    def _replace(self, entry: Entry) -> None:
        for name in self._names.pop(entry.id, ()):
            self._ids[name].pop(entry.id, None)
            if not self._ids[name]:
                del self._ids[name]
                first, second = _first_two(name)
                self._by_words[first][second].discard(name)
        if entry.status in ACTIVE:
            for name in entry.names:
                self._add(name, entry.id)

    def _add(self, name: str, id: str) -> None:
        name = plain(name)
        self._names[id].append(name)
        self._ids[name][id] = None
        first, second = _first_two(name)
        self._by_words[first][second].add(name)


def _first_two(name: str) -> tuple[str, str]:
    """The first two words; the second is empty where there is none.

    >>> _first_two("stress month count"), _first_two("stress")
    (('stress', 'month'), ('stress', ''))
    """
    first, _, rest = name.partition(" ")
    return first, rest.partition(" ")[0]
