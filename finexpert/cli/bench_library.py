"""`finexpert bench library`: how long a search takes in a library of made-up filings.

finexpert bench library --chunks 1000000
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from finexpert.sources.library_index import LibraryIndex
    from finexpert.sources.library_records import SearchRequest
    from finexpert.sources.library_store import LibraryStore


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
    figures = {name: _figures(seconds) for name, seconds in rows.items()}
    if as_json:
        typer.echo(json.dumps({"n": n, **facts, "searches": figures}, indent=1))
        return
    _print(figures, facts, n)


def _measured(folder: Path, chunks: int, n: int) -> tuple[dict[str, Any], dict[str, list[float]]]:
    from finexpert.sources.library_index import LibraryIndex
    from finexpert.sources.library_index_made_up import CHUNKS_A_PAGE, PAGES, MadeUpEmbedder
    from finexpert.sources.library_records import SearchRequest
    from finexpert.sources.library_store import LibraryStore
    from finexpert.stores.embedding import Remembering

    begun = time.perf_counter()
    store = LibraryStore(folder, make=True)
    _fill(store, chunks)
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
        "stored, chunks/s": round(held / (stored - begun)),
        "indexed without the sentence model, chunks/s": round(held / (indexed - stored)),
        "first search after opening, s": round(time.perf_counter() - start, 2),
    }
    rows = _searches(opened, pages, n)
    store.close()
    return facts, rows


def _fill(store: LibraryStore, chunks: int) -> None:
    from finexpert.sources.library_index_made_up import filings

    there = {info.id for info in store.filings()}
    with common.progress("chunks", chunks) as advance:
        for info, pages in filings(chunks):
            if info.id not in there:
                store.put(info, pages)
            advance(5 * len(pages))


def _searches(index: LibraryIndex, pages: int, n: int) -> dict[str, list[float]]:
    from finexpert.sources.library_index_made_up import question
    from finexpert.sources.library_records import SearchRequest

    def timed(request: SearchRequest, search: Callable[[SearchRequest], object]) -> float:
        index.embedder.embed(request.phrases)
        start = time.perf_counter()
        search(request)
        return time.perf_counter() - start

    rows: dict[str, list[float]] = {}
    for number in range(n + 2):
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
    return {name: seconds[2:] for name, seconds in rows.items()}


def _figures(seconds: Sequence[float]) -> dict[str, float]:
    import numpy as np

    return {
        "median_ms": round(1000 * float(np.median(seconds)), 1),
        "p95_ms": round(1000 * float(np.percentile(seconds, 95)), 1),
    }


def _print(figures: dict[str, dict[str, float]], facts: dict[str, Any], n: int) -> None:
    from rich.table import Table

    table = Table(title=f"a search beside the embedding, n = {n}")
    table.add_column("search")
    table.add_column("median, ms", justify="right")
    table.add_column("95th percentile, ms", justify="right")
    for name, figure in figures.items():
        table.add_row(name, f"{figure['median_ms']:.1f}", f"{figure['p95_ms']:.1f}")
    console = common.console()
    console.print(table)
    for name, fact in facts.items():
        console.print(f"{name}: {fact:,}")
