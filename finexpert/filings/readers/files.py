"""Files and folders as filings: which files there are, and what reads each.

    for path in found_files([Path("filings")]):
        for outcome in read_file(path, checksum(path), Given(ticker="AAPL")):
            ...            # a ReadFiling, or the LibraryError of what could not be read

By the end of its name a file is records of pages (.jsonl, .json), HTML (.htm, .html, .xhtml), PDF, or text (.txt, .md),
which may be a transcript or a whole submission to the SEC. The parsers are loaded when the first such file is read.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from finexpert.errors import LibraryError
from finexpert.filings.page.folding import excerpt
from finexpert.filings.readers import AGAIN, cover, text, transcript
from finexpert.filings.readers.blocks import PrintedPage, library_pages
from finexpert.filings.readers.cover import NOTHING, Given
from finexpert.filings.readers.records import read_page_records
from finexpert.filings.records import FilingInfo, LibraryPage
from finexpert.storage import foreign_files

RECORDS = frozenset({".jsonl", ".json"})
HTML = frozenset({".htm", ".html", ".xhtml"})
PDF = frozenset({".pdf"})
TEXT = frozenset({".txt", ".md"})
WHOLE = HTML | PDF | TEXT
LARGEST_FILE = 256 << 20
_COVER_PAGES = 3


@dataclass(frozen=True)
class ReadFiling:
    """A filing as it was read, and what somebody who adds it should know."""

    info: FilingInfo
    pages: list[LibraryPage]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Read:
    printed: Iterable[PrintedPage]
    facts: Given = field(default_factory=Given)
    title: str = ""
    # Known when all pages were read.
    notes: Callable[[], tuple[str, ...]] = tuple


def found_files(paths: Iterable[Path]) -> list[Path]:
    """The files that are named, and those of a readable kind in folders, in order of their names; hidden ones and links out of them not."""
    found: dict[Path, None] = {}
    for path in paths:
        if not path.is_dir():
            found[path] = None
            continue
        for each in sorted(path.rglob("*")):
            hidden = any(part.startswith(".") for part in each.relative_to(path).parts)
            # A link in a folder may point at anything that its owner can read.
            if not each.resolve().is_relative_to(path.resolve()):
                continue
            if each.suffix.lower() in RECORDS | HTML | PDF | TEXT and each.is_file() and not hidden:
                found[each] = None
    return list(found)


def checksum(path: Path) -> str:
    """SHA-256 of a file's bytes; LibraryError where it cannot be read."""
    try:
        with open(path, "rb", opener=foreign_files.regular) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> LibraryError:
    return LibraryError(f"cannot read {path}: {error.strerror}; see to its name and rights, then {AGAIN}")


def read_file(path: Path, sha256: str, given: Given, otherwise: Given = NOTHING) -> Iterator[ReadFiling | LibraryError]:
    """The filings of a file, one but for records of pages; in the place of one that cannot be read, its error.

    `given` goes before what the file says of itself, `otherwise` behind its tagged facts and before its name, its words and its folders.
    """
    if path.suffix.lower() in RECORDS:
        for outcome in read_page_records(path, given):
            yield outcome if isinstance(outcome, LibraryError) else ReadFiling(*outcome)
        return
    try:
        yield _one(path, sha256, given, otherwise)
    except LibraryError as error:
        yield error
    except OSError as error:
        yield _unreadable(path, error)


def _one(path: Path, sha256: str, given: Given, otherwise: Given) -> ReadFiling:
    reader = _reader(path)
    if (size := path.stat().st_size) > LARGEST_FILE:
        raise LibraryError(
            f"{path} has {size >> 20} MB, more than the {LARGEST_FILE >> 20} that a filing may have: split it"
        )
    try:
        return _filing(path, sha256, given, otherwise, reader(path))
    except ModuleNotFoundError as error:
        raise LibraryError(f"{path} needs the package {error.name}: `pip install 'finexpert[library]'`") from error


def _filing(path: Path, sha256: str, given: Given, otherwise: Given, read: _Read) -> ReadFiling:
    printed = iter(read.printed)
    first = list(islice(printed, _COVER_PAGES))
    text = "\n".join(page.text for page in first)
    words = cover.from_words(text)
    told = given.filled(read.facts).filled(otherwise)
    known = told.filled(cover.from_name(path)).filled(words).filled(cover.from_folders(path))
    if not told.ticker:
        known = cover.named(path, known, words, text)
    if known.kind.startswith("10-K") or known.kind == "annual report":
        known = Given(known.company, known.ticker, known.fiscal_year, None, known.kind)
    info = FilingInfo(
        id=_id(known, path),
        company=known.company,
        ticker=known.ticker,
        fiscal_year=known.fiscal_year,
        quarter=known.quarter,
        kind=known.kind,
        title=read.title or path.stem,
        path=str(path),
        sha256=sha256,
        pages=0,
        added=dt.datetime.now(dt.UTC),
    )
    pages = list(library_pages(chain(first, printed), info))
    notes = (*known.notes, *read.notes())
    if not pages:
        raise LibraryError(f"there is no text in {path}" + "".join(f"; {note}" for note in notes))
    if not (info.company or info.ticker) or info.fiscal_year is None:
        missing = "company" if not (info.company or info.ticker) else "year"
        notes = (*notes, f"its {missing} was not found; add it again with --{missing} to find it by that")
    return ReadFiling(info, pages, notes)


def _id(known: Given, path: Path) -> str:
    """
    >>> _id(Given(ticker="AAPL", fiscal_year=2025, quarter=1, kind="10-Q"), Path("x.htm"))
    'AAPL/2025Q1/10-Q'
    >>> _id(Given(company="Harbour Mills, Inc.", fiscal_year=2018), Path("x.htm"))
    'harbour-mills-inc/2018/x'
    """
    who = known.ticker or (known.company and _slug(known.company))
    if not who or known.fiscal_year is None:
        return _slug(path.stem)
    period = f"{known.fiscal_year}" + (f"Q{known.quarter}" if known.quarter else "")
    return f"{who}/{period}/{re.sub(r'[^A-Za-z0-9-]+', '-', known.kind) or _slug(path.stem)}"


def _slug(text: str) -> str:
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-") or "filing"


def _reader(path: Path) -> Callable[[Path], _Read]:
    suffix = path.suffix.lower()
    for suffixes, reader in ((HTML, _html), (PDF, _pdf), (TEXT, _text)):
        if suffix in suffixes:
            return reader
    kinds = ", ".join(sorted(RECORDS | HTML | PDF | TEXT))
    raise LibraryError(f"{path} is of no kind that is read here: {kinds}")


def _html(path: Path) -> _Read:
    return _html_content(foreign_files.read_bytes(path), path)


def _html_content(content: bytes, path: Path) -> _Read:
    from finexpert.filings.readers.html import read_html

    found = read_html(content, str(path))
    unseen = tuple([_unseen(found.unseen)] if found.unseen else [])
    return _Read(found.pages, cover.from_facts(found.facts), found.title, lambda: unseen)


def _unseen(words: Sequence[str]) -> str:
    number = sum(len(each.split()) for each in words)
    return f"{number:,} words that nobody sees are left out, such as {excerpt(max(words, key=len), 60)!r}"


def _pdf(path: Path) -> _Read:
    from finexpert.filings.readers.pdf.pages import PdfPages

    pages = PdfPages(path)

    def notes() -> tuple[str, ...]:
        found = []
        if pages.without_text:
            found.append(f"no text on page {_ranges(pages.without_text)}: scanned? `ocrmypdf IN.pdf OUT.pdf` adds it")
        if pages.unreadable:
            found.append(f"page {_ranges(pages.unreadable)} cannot be read")
        if pages.unseen:
            letters = max(pages.unseen.values(), key=len)
            found.append(
                f"letters that nobody sees are left out on page {_ranges(pages.unseen)}: {excerpt(letters, 60)!r}"
            )
        return tuple(found)

    return _Read(pages, notes=notes)


def _text(path: Path) -> _Read:
    from finexpert.filings.readers.decoding import decoded

    words = text.main_document(decoded(foreign_files.read_bytes(path)))
    if re.search(r"<html[\s>]", words[:20_000], re.IGNORECASE):
        return _html_content(words.encode(), path)
    if transcript.is_transcript(words):
        return _Read(transcript.read_transcript(words), Given(kind="transcript"))
    return _Read(text.read_text(words))


def _ranges(numbers: Iterable[int]) -> str:
    """
    >>> _ranges([1, 3, 4, 5, 9])
    '1, 3-5, 9'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)
