"""Records of pages, as in a `pages.jsonl`: each names its filing, so that one file holds many.

    {"filename": "AAL/2010/page_72.pdf", "ticker": "AAL", "fiscal_year": 2010, "page": 72,
     "pre_text": ["..."], "table": [["", "2011"], ["pension", "574"]], "post_text": ["..."]}

`ticker`, `fiscal_year`, `quarter`, `page`, `company`, `kind` and `section` may be left out: ticker, year and page are
told by a file name of this form. The pages of one filing may stand in several files. One record that cannot be read costs its filing, not the others.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from finexpert.errors import DataError, LibraryError
from finexpert.filings.page import file as filing_file
from finexpert.filings.readers.cover import Given
from finexpert.filings.records import FilingInfo, LibraryPage

_FILE_NAME = re.compile(r"(?P<ticker>[A-Z][\w.-]*)/(?P<year>(?:19|20)\d\d)/page_(?P<page>\d+)(?:\.\w+)?")
Record = Mapping[str, Any]


_MOST_PAGES = 1_000_000


def read_page_records(path: Path, given: Given) -> Iterator[tuple[FilingInfo, list[LibraryPage]] | LibraryError]:
    """The filings of a file with their pages; in the place of one that cannot be read, its error."""
    try:
        records = filing_file.read_records(path)
    except DataError as error:
        yield LibraryError(str(error))
        return
    filings: dict[str, list[Record]] = {}
    for number, record in enumerate(records, start=1):
        name = filing_file.record_name(record)
        if not record.get("filename") and not record.get("id"):
            yield LibraryError(f'{path}: record {number} has no "filename" and no "id"')
            continue
        try:
            filings.setdefault(_filing_name(record, name), []).append(record)
        except LibraryError as error:
            yield LibraryError(f"{path}, record {number}: {error}")
    for filing, members in filings.items():
        try:
            yield _filing(filing, members, path, given)
        except (DataError, LibraryError) as error:
            yield LibraryError(f"{path}: {error}")


def _filing_name(record: Record, name: str) -> str:
    known = _known(record, Given())
    if known.ticker and known.fiscal_year:
        return f"{known.ticker}/{known.fiscal_year}" + (f"Q{known.quarter}" if known.quarter else "")
    return str(Path(str(record.get("filename") or name)).parent) if "/" in name else name


def pages_checksum(id: str, pages: Sequence[LibraryPage]) -> str:
    """SHA-256 of what stands on the pages of a filing."""
    content = [[page.id, page.number, page.section, page.pre_text, page.table, page.post_text] for page in pages]
    return hashlib.sha256(json.dumps([id, content], ensure_ascii=True).encode()).hexdigest()


def _filing(id: str, records: Sequence[Record], path: Path, given: Given) -> tuple[FilingInfo, list[LibraryPage]]:
    known = _known(records[0], given)
    # A page with several questions stands in such files several times.
    by_id = {page.id: page for page in (_page(record, id, known) for record in records)}
    pages = sorted(by_id.values(), key=lambda page: (page.number, page.id))
    info = FilingInfo(
        id=id,
        company=known.company,
        ticker=known.ticker,
        fiscal_year=known.fiscal_year,
        quarter=known.quarter,
        kind=known.kind or "annual report",
        title=id,
        path=str(path),
        sha256=pages_checksum(id, pages),
        pages=len(pages),
        added=dt.datetime.now(dt.UTC),
    )
    return info, pages


def _known(record: Record, given: Given) -> Given:
    match = _FILE_NAME.search(str(record.get("filename") or record.get("id") or ""))
    year = record.get("fiscal_year", match and int(match["year"]))
    quarter = record.get("quarter")
    for name, value in (("fiscal_year", year), ("quarter", quarter)):
        if value is not None and not (type(value) is int and 0 < value < 10_000):
            raise LibraryError(f"{name} of {filing_file.record_name(record)} is {value!r}, not a number such as 2010")
    company, ticker, kind = (str(record.get(name) or "") for name in ("company", "ticker", "kind"))
    ticker = ticker or (match["ticker"] if match else "")
    return replace(given, notes=()).filled(Given(company, ticker, year, quarter, kind))


def _page(record: Record, filing: str, known: Given) -> LibraryPage:
    name = str(record.get("filename") or record.get("id"))
    match = _FILE_NAME.search(name)
    number = record.get("page", int(match["page"]) if match else 1)
    if type(number) is not int or not 0 <= number < _MOST_PAGES:
        raise LibraryError(f"page of {name} is {str(number)[:40]!r}, not a number such as 72")
    texts = [filing_file.checked_texts(record.get(field), field, name) for field in ("pre_text", "post_text")]
    return LibraryPage(
        id=name,
        filing=filing,
        company=known.company,
        ticker=known.ticker,
        fiscal_year=known.fiscal_year,
        quarter=known.quarter,
        kind=known.kind,
        section=str(record.get("section") or ""),
        number=number,
        pre_text=texts[0],
        table=filing_file.checked_table(record.get("table"), name),
        post_text=texts[1],
    )
