"""Files to add with what is known of each: a manifest of what was fetched, or a table that somebody wrote.

    path,symbol,company,form,fiscal_year
    aapl/2023.htm,AAPL,Apple Inc.,10-K,2023

A path is told from the folder of the table. What a table of CSV says of a file goes before what the file says of itself. Of a manifest
that holds for symbol and form alone: company and period are taken from it where the file does not tag them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from finexpert.errors import LibraryError
from finexpert.filings.edgar.manifest import Entry, read_manifest
from finexpert.filings.library.adding import Added, add_file
from finexpert.filings.library.library import Library
from finexpert.filings.readers.cover import NOTHING, Given
from finexpert.filings.readers.files import checksum
from finexpert.storage import foreign_files

_NAMES = {
    "path": ("path", "file"),
    "symbol": ("symbol", "ticker"),
    "company": ("company", "name"),
    "form": ("form", "kind"),
    "fiscal_year": ("fiscal_year", "year"),
    "quarter": ("quarter",),
    "sha256": ("sha256",),
}
_MANIFESTS = frozenset({".ndjson", ".jsonl"})


@dataclass(frozen=True)
class ToAdd:
    """A file, what goes before what it says of itself, what is known where it does not, and its checksum where that is known."""

    path: Path
    given: Given
    otherwise: Given = NOTHING
    sha256: str = ""


def add_listed(library: Library, each: ToAdd) -> Iterator[Added]:
    """Add a file of a list; one with another checksum than the list tells has failed."""
    try:
        differs = bool(each.sha256) and checksum(each.path) != each.sha256
    except LibraryError as error:
        yield Added(each.path, "failed", message=str(error))
        return
    if differs:
        yield Added(
            each.path, "failed", message=f"{each.path} is not the file of the list: its checksum is another one"
        )
        return
    yield from add_file(library, each.path, each.given, each.otherwise)


def of_entry(entry: Entry, folder: Path) -> ToAdd:
    """A filing of EDGAR; its symbol holds for all years, whatever the company was called in one."""
    given = Given(ticker=entry.symbol, kind=entry.form)
    otherwise = Given(company=entry.company, fiscal_year=entry.fiscal_year, quarter=entry.quarter)
    return ToAdd(folder / entry.path, given, otherwise, entry.sha256)


def read_list(path: Path) -> list[ToAdd]:
    """The files of a manifest (.ndjson, .jsonl) or of a table (.csv); LibraryError names what is wrong with it."""
    suffix = path.suffix.lower()
    if suffix in _MANIFESTS:
        found = [of_entry(entry, path.parent) for entry in read_manifest(path)]
    elif suffix == ".csv":
        found = _of_table(path)
    else:
        raise LibraryError(f"{path} is neither a manifest (.ndjson, .jsonl) nor a table (.csv): name one of them")
    if not found:
        raise LibraryError(f"{path} names no file: write a line for each, with at least its path")
    return found


def _of_table(path: Path) -> list[ToAdd]:
    try:
        with open(path, encoding="utf-8-sig", newline="", opener=foreign_files.regular) as file:
            rows = csv.DictReader(file, strict=True)
            columns = _columns(path, rows.fieldnames or [])
            return [_of_row(path, rows.line_num, row, columns) for row in rows if any(row.values())]
    except OSError as error:
        raise LibraryError(f"cannot read {path}: {error.strerror}; see to its name and rights") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise LibraryError(f"{path} is no table of CSV in UTF-8: {error}. Save it as such") from None


def _columns(path: Path, header: Sequence[str]) -> dict[str, str]:
    """Which column of a table holds what."""
    plain = {re.sub(r"[\s-]+", "_", name.strip().lower()): name for name in header if name}
    columns = {
        what: plain[next(name for name in names if name in plain)]
        for what, names in _NAMES.items()
        if plain.keys() & set(names)
    }
    if "path" not in columns:
        known = ", ".join(_NAMES)
        raise LibraryError(f"{path} has no column `path`, but {', '.join(header) or 'none'}: the columns are {known}")
    return columns


def _of_row(path: Path, line: int, row: Mapping[str, str | None], columns: Mapping[str, str]) -> ToAdd:
    if None in row:
        raise LibraryError(
            f"line {line} of {path} has more cells than its first line: put a text with a comma in quotes"
        )
    told = {what: _text(row[name]) for what, name in columns.items()}
    if not told["path"]:
        raise LibraryError(f"line {line} of {path} has no path: give one, or remove the line")
    sha256 = told.get("sha256", "").lower()
    if sha256 and not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise LibraryError(f"line {line} of {path}: {sha256!r} is no SHA-256 of 64 digits: mend it, or leave it empty")
    given = Given(
        company=told.get("company", ""),
        ticker=told.get("symbol", "").upper(),
        fiscal_year=_number(
            told.get("fiscal_year", ""), r"(?:FY ?)?([12]\d{3})", "fiscal year such as 2023", line, path
        ),
        quarter=_number(told.get("quarter", ""), r"Q?([1-4])", "quarter from 1 to 4", line, path),
        kind=told.get("form", ""),
    )
    return ToAdd(path.parent / told["path"], given, sha256=sha256)


def _number(text: str, pattern: str, what: str, line: int, path: Path) -> int | None:
    if not text:
        return None
    if (match := re.fullmatch(pattern, text, re.IGNORECASE)) is None:
        raise LibraryError(f"line {line} of {path}: {text!r} is no {what}: mend it, or leave it empty")
    return int(match[1])


def _text(value: str | None) -> str:
    """A cell without space around it; a row that ends early has none."""
    return (value or "").strip()
