"""What `finexpert library add` and `finexpert library fetch` share: adding with a bar, the index, and what is said of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from finexpert.cli import common
from finexpert.cli.taught import stores

if TYPE_CHECKING:
    from finexpert.filings.library.adding import Added
    from finexpert.filings.library.library import Library

Folder = Annotated[
    Path | None, typer.Option("--library", help="Folder of the library; or FINEXPERT_LIBRARY; else one at home.")
]
WordsOnly = Annotated[
    bool, typer.Option("--words-only", help="Embed nothing now: questions need words alone, and the next add embeds.")
]
_T = TypeVar("_T")
_WORDS = {"same": "in the library already"}


@dataclass(frozen=True)
class Done:
    """What became of the files that were added, how many chunks were indexed, and how long both took."""

    results: Sequence[Added]
    chunks: int
    reading: float
    indexing: float

    @property
    def failed(self) -> bool:
        """Whether a file could not be read."""
        return any(result.outcome == "failed" for result in self.results)

    def facts(self) -> list[dict[str, Any]]:
        """The results as JSON holds them."""
        return [asdict(result) | {"path": str(result.path)} for result in self.results]

    def say(self, quiet: frozenset[str] = frozenset()) -> None:
        """Print what is to be known of single files, but for these outcomes, then the counts and rates."""
        for result in self.results:
            if result.message and result.outcome not in quiet:
                stores.say(
                    f"{_WORDS.get(result.outcome, result.outcome)}: {result.filing or result.path}: {result.message}"
                )
        counts = Counter(_WORDS.get(result.outcome, result.outcome) for result in self.results)
        counted = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        pages = sum(result.pages for result in self.results if result.outcome in ("added", "replaced"))
        stores.say(f"{counted}; {pages:,} pages")
        rates = (_rate(pages, "pages", "added", self.reading), _rate(self.chunks, "chunks", "indexed", self.indexing))
        if told := "; ".join(filter(None, rates)):
            stores.say(told)


def add_all(items: Sequence[_T], add: Callable[[_T], Iterable[Added]], library: Library | None) -> Done:
    """Add files one after the other, then bring the index of the library up to date, if one is given."""
    results: list[Added] = []
    begun = time.perf_counter()
    with common.progress("files", len(items)) as done:
        for item in items:
            results += add(item)
            done(1)
    read = time.perf_counter()
    chunks = 0 if library is None else index(library)
    return Done(results, chunks, read - begun, time.perf_counter() - read)


def index(library: Library) -> int:
    """Bring the index up to date, also where an earlier run was interrupted; how many chunks were missing."""
    missing = library.chunks_to_index()
    with common.progress("chunks indexed", missing) as done:
        library.refresh(done)
    return missing


def _rate(count: int, unit: str, done: str, seconds: float) -> str:
    """
    >>> _rate(1365, "pages", "added", 9.5), _rate(0, "pages", "added", 0.1)
    ('1,365 pages added in 9.5 s, 144 a second', '')
    """
    a_second = count / max(seconds, 1e-9)
    return (
        f"{count:,} {unit} {done} in {seconds:.1f} s, {a_second:,.{0 if a_second >= 10 else 1}f} a second"
        if count
        else ""
    )
