"""Searching a library while somebody waits: the same way at every door.

search_now(library, SearchRequest(("net revenue",)))   ->   [PageHit(...), ...]
"""

from __future__ import annotations

from finexpert.filings.library.library import Library
from finexpert.filings.records import PageHit, SearchRequest


def search_now(library: Library, request: SearchRequest) -> list[PageHit]:
    """The pages that fit best; by words alone while chunks wait to be embedded, which takes longer than anybody waits."""
    return library.search(request, by="words" if library.chunks_to_index() else "fused")
