"""The printed pages of a library's filings, read from its store when they are asked for and kept while it is open.

    shelf = Shelf.of(library)
    shelf.pages(filings)         # Pages of these filings, whose words are counted once

A filing has some hundred pages; where a question names no company, the library's index proposes which filings to look at.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from finexpert.filings.library.library import Library
from finexpert.filings.records import FilingInfo, SearchRequest
from finexpert.plans.pages.printed import Printed, printed_pages
from finexpert.plans.pages.ranking import Pages

MOST_PAGES = 4_000
_KEPT = 6
_PROPOSED = 40

_shelves: WeakKeyDictionary[Library, Shelf] = WeakKeyDictionary()
_lock = threading.Lock()


class Shelf:
    """Printed pages by filing. Many threads may read."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._kept: OrderedDict[tuple[str, ...], Pages] = OrderedDict()
        self._lock = threading.Lock()

    @classmethod
    def of(cls, library: Library) -> Shelf:
        """The shelf of a library, made once."""
        with _lock:
            if library not in _shelves:
                _shelves[library] = cls(library)
            return _shelves[library]

    def pages(self, filings: Sequence[FilingInfo], phrases: Sequence[str] = ()) -> Pages:
        """The pages of filings; of more than can be looked at, those that the library's index finds for the phrases."""
        if sum(filing.pages for filing in filings) > MOST_PAGES:
            filings = self._proposed(filings, phrases)
        key = tuple(f"{filing.id}\x1f{filing.sha256}" for filing in filings)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = Pages([page for filing in filings for page in self._read(filing)])
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return made

    def _read(self, filing: FilingInfo) -> list[Printed]:
        return printed_pages(filing, self._library.pages_of(filing.id))

    def _proposed(self, filings: Sequence[FilingInfo], phrases: Sequence[str]) -> list[FilingInfo]:
        """The filings whose pages the index finds by words, the best first, as many as can be looked at."""
        by_id = {filing.id: filing for filing in filings}
        tickers = frozenset(filing.ticker for filing in filings)
        requests = [
            SearchRequest((phrase,), tickers - {""} if "" not in tickers else frozenset(), limit=_PROPOSED)
            for phrase in phrases
        ]
        found = [hit.page.filing for request in requests for hit in self._library.search(request, "words")]
        chosen: dict[str, FilingInfo] = {}
        for id in [*(id for id, _ in Counter(found).most_common()), *by_id]:
            pages = sum(filing.pages for filing in chosen.values())
            if id in by_id and (not chosen or pages + by_id[id].pages <= MOST_PAGES):
                chosen[id] = by_id[id]
        return list(chosen.values())
