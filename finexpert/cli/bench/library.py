"""`finexpert bench library`: how long a search takes in a library of made-up filings.

finexpert bench library --chunks 1000000
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.bench import frame

if TYPE_CHECKING:
    from finexpert.filings.library.index.index import LibraryIndex
    from finexpert.filings.library.store import LibraryStore
    from finexpert.filings.records import SearchRequest


# Seconds by the clock, and seconds of a processor: on a busy machine these differ.
Took = tuple[float, float]


def library(
    chunks: Annotated[int, typer.Option(min=1, help="Chunks that the library holds, about five to a page.")] = 100_000,
    n: Annotated[int, typer.Option("-n", min=3, help="Searches to time, after two that are not counted.")] = 60,
    folder: Annotated[
        Path | None, typer.Option("--library", help="Fill and keep this library; one that is there is used again.")
    ] = None,
    as_json: common.Json = False,
) -> None:
    """Time a search among made-up pages: median and 95th percentile, beside the embedding of the question."""
    with tempfile.TemporaryDirectory(prefix="finexpert-bench-") as temporary:
        facts, rows = _measured(folder or Path(temporary), chunks, n)
    searches = {name: _figures(took) for name, took in rows.items()}
    frame.tell(
        {"n": n, **facts, "searches": searches},
        as_json,
        title=f"a search beside the embedding, n = {n}",
        columns=("search", "median, ms", "95th percentile", "of a processor, median", "95th percentile"),
        rows=[(name, *figure.values()) for name, figure in searches.items()],
        facts=facts,
    )


def _measured(folder: Path, chunks: int, n: int) -> tuple[dict[str, Any], dict[str, list[Took]]]:
    from finexpert.embeddings.embedding import Remembering
    from finexpert.filings.library.index.index import LibraryIndex
    from finexpert.filings.library.index.made_up import CHUNKS_A_PAGE, PAGES, MadeUpEmbedder
    from finexpert.filings.library.store import LibraryStore
    from finexpert.filings.records import SearchRequest

    begun = time.perf_counter()
    store = LibraryStore(folder, make=True)
    new = _fill(store, chunks)
    stored = time.perf_counter()
    index = LibraryIndex(store, Remembering(MadeUpEmbedder()), folder)
    index.refresh()
    indexed = time.perf_counter()
    pages = -(-chunks // (PAGES * CHUNKS_A_PAGE)) * PAGES
    held = len(store.chunk_ids())
    opened = LibraryIndex(store, index.embedder, folder)
    start = time.perf_counter()
    opened.search(SearchRequest(("first",)))
    facts = {
        "pages": pages,
        "chunks": held,
        **(
            {
                "stored, chunks/s": round(held / (stored - begun)),
                "indexed without the sentence model, chunks/s": round(held / (indexed - stored)),
            }
            if new == pages
            else {}
        ),
        "first search after opening, s": round(time.perf_counter() - start, 2),
    }
    rows = _searches(opened, pages, n)
    store.close()
    return facts, rows


def _fill(store: LibraryStore, chunks: int) -> int:
    """Put in what is missing; how many pages that were."""
    from finexpert.filings.library.index.made_up import CHUNKS_A_PAGE, filings

    there = {info.id for info in store.filings()}
    new = 0
    with common.progress("chunks", chunks) as advance:
        for info, pages in filings(chunks):
            if info.id not in there:
                store.put(info, pages)
                new += len(pages)
            advance(CHUNKS_A_PAGE * len(pages))
    return new


def _searches(index: LibraryIndex, pages: int, n: int) -> dict[str, list[Took]]:
    from finexpert.filings.library.index.made_up import question
    from finexpert.filings.records import SearchRequest

    def timed(request: SearchRequest, search: Callable[[SearchRequest], object]) -> Took:
        index.embedder.embed(request.phrases)
        start, busy = time.perf_counter(), time.process_time()
        search(request)
        return time.perf_counter() - start, time.process_time() - busy

    rows: dict[str, list[Took]] = {}
    for number in range(n + frame.WARM_UP):
        text, ticker, year = question(number, pages)
        short = " ".join(text.split()[3:7])
        asked = {
            "one phrase": SearchRequest((text,)),
            "three wordings": SearchRequest((text, short, text.removeprefix("what was the "))),
            "one company and year": SearchRequest((text,), frozenset({ticker}), frozenset({year})),
        }
        for name, request in asked.items():
            rows.setdefault(name, []).append(timed(request, index.search))
        rows.setdefault("words alone", []).append(timed(asked["one phrase"], lambda r: index.search(r, "words")))
        rows.setdefault("meaning alone", []).append(timed(asked["one phrase"], lambda r: index.search(r, "meaning")))
    return {name: seconds[frame.WARM_UP :] for name, seconds in rows.items()}


def _figures(took: Sequence[Took]) -> dict[str, float]:
    clock, busy = (frame.figures(seconds) for seconds in zip(*took, strict=True))
    return clock | {f"cpu_{name}": value for name, value in busy.items()}
