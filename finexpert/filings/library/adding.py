"""Files added to a library, one after the other: what became of each.

    for added in add_files(library, found_files([Path("filings")])):
        added.outcome, added.filing       # "added", "AAPL/2025Q1/10-Q"

A file that is in the library already is not read again, whatever it is called; so an interrupted run goes on where it
stopped. One that cannot be read is reported and does not stop the others. Records of pages join the pages that the
library has of the same filing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from finexpert.errors import LibraryError
from finexpert.filings.library.library import Library
from finexpert.filings.readers.cover import NOTHING, Given
from finexpert.filings.readers.files import RECORDS, ReadFiling, checksum
from finexpert.filings.readers.process import read_file
from finexpert.filings.readers.records import pages_checksum
from finexpert.filings.records import FilingInfo, LibraryPage


@dataclass(frozen=True)
class Added:
    """What became of a filing; `message` says why it failed, what it is the same as, or what to know of it."""

    path: Path
    outcome: Literal["added", "same", "replaced", "failed"]
    filing: str = ""
    pages: int = 0
    message: str = ""


def add_files(library: Library, files: Iterable[Path], given: Given | None = None) -> Iterator[Added]:
    """Add files; what becomes of each filing as it is done. `given` goes before what a file says of itself."""
    for path in files:
        yield from add_file(library, path, given or Given())


def add_file(library: Library, path: Path, given: Given, otherwise: Given = NOTHING) -> Iterator[Added]:
    """Add one file, which holds many filings where it is one of records; `otherwise` is known where its facts do not say."""
    try:
        sha256 = checksum(path)
        twin = None if path.suffix.lower() in RECORDS else library.filing_of(sha256)
        if twin is not None and _says(twin, given):
            yield _same(path, twin)
            return
        for read in read_file(path, sha256, given, otherwise):
            yield (
                Added(path, "failed", message=str(read))
                if isinstance(read, LibraryError)
                else _add(library, path, read, twin)
            )
    except LibraryError as error:
        yield Added(path, "failed", message=str(error))


def _add(library: Library, path: Path, read: ReadFiling, twin: FilingInfo | None) -> Added:
    read = _merged(library, read) if path.suffix.lower() in RECORDS else _with_free_id(library, read)
    try:
        outcome = library.add(read.pages, read.info, instead_of=twin.id if twin else None)
    except LibraryError as error:
        return Added(path, "failed", read.info.id, message=str(error))
    return Added(path, outcome, read.info.id, len({page.number for page in read.pages}), "; ".join(read.notes))


def _says(info: FilingInfo, given: Given) -> bool:
    """Whether a filing is known as it is given; what is not given is left open."""
    names = ("company", "ticker", "fiscal_year", "quarter", "kind")
    return all(getattr(given, name) in ("", None, getattr(info, name)) for name in names)


def _same(path: Path, twin: FilingInfo) -> Added:
    other = f" ({twin.path})" if Path(twin.path).name != path.name else ""
    return Added(path, "same", twin.id, twin.pages, f"same as {twin.id}{other}")


def _merged(library: Library, read: ReadFiling) -> ReadFiling:
    """The filing with the pages that the library has of it from other files of records."""
    if library.find(read.info.id) is None:
        return read
    pages = {page.id: page for page in [*library.pages_of(read.info.id), *read.pages]}
    merged = sorted(pages.values(), key=lambda page: (page.number, page.id))
    info = replace(read.info, sha256=pages_checksum(read.info.id, merged), pages=len(merged))
    return replace(read, info=info, pages=merged)


def _with_free_id(library: Library, read: ReadFiling) -> ReadFiling:
    """A filing whose id another file has is numbered; a new version of the same file takes its place."""
    id, number = read.info.id, 1
    while (other := library.find(id)) is not None and not _same_file(other, read.info):
        number += 1
        id = f"{read.info.id}-{number}"
    if id == read.info.id:
        return read
    notes = (*read.notes, f"{read.info.id} is another filing: this one is called {id}")
    return replace(read, info=replace(read.info, id=id), pages=[_moved(page, id) for page in read.pages], notes=notes)


def _same_file(old: FilingInfo, new: FilingInfo) -> bool:
    """Whether it is the same content, or a new version at the same place: many filings are called full-submission.txt."""
    return old.sha256 == new.sha256 or Path(old.path).absolute() == Path(new.path).absolute()


def _moved(page: LibraryPage, filing: str) -> LibraryPage:
    return replace(page, id=filing + page.id.removeprefix(page.filing), filing=filing)
