"""Rows of a library's tables as records, and back.

as_page(row of `SELECT {PAGE}`)  ->  LibraryPage(id="AAL/2010/page_72.pdf", ...)

What a filing says of itself stands once, with the filing; its pages are given it when they are read.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from typing import Any, TypeVar

from finexpert.filings.page.tags import as_json, checked
from finexpert.filings.records import Chunk, FilingInfo, LibraryPage
from finexpert.storage import foreign_json
from finexpert.text.texts import one_line

FILING = "id, company, ticker, fiscal_year, quarter, kind, title, path, sha256, pages, added"
PAGE = (
    "p.id, p.filing, f.company, f.ticker, f.fiscal_year, f.quarter, f.kind, p.section, p.number, p.body "
    "FROM pages p JOIN filings f ON f.id = p.filing"
)
CHUNK = "SELECT id, page, kind, text, ticker, fiscal_year, quarter FROM chunks"

Row = tuple[Any, ...]
Named = TypeVar("Named", FilingInfo, LibraryPage)
_LONGEST_NAME = 200


def filing_row(info: FilingInfo) -> Row:
    names = FILING.split(", ")
    return (*(getattr(info, name) for name in names[:-1]), info.added.isoformat())


def as_filing_info(row: Row) -> FilingInfo:
    values = (*row[:-1], dt.datetime.fromisoformat(row[-1]))
    return _in_one_line(FilingInfo(*values), "company", "ticker", "kind", "title")


def page_row(page: LibraryPage, filing: str, position: int) -> Row:
    tags = [as_json(page.tags)] if page.tags else []
    body = json.dumps([page.pre_text, page.table, page.post_text, *tags], ensure_ascii=False, separators=(",", ":"))
    return page.id, filing, position, page.number, page.section, body


def as_page(row: Row) -> LibraryPage:
    pre_text, table, post_text, *tags = foreign_json.parse(row[-1])
    tagged = checked(tags[0], str(row[0])) if tags else ()
    values = (*row[:-1], tuple(pre_text), tuple(map(tuple, table)), tuple(post_text), tagged)
    return _in_one_line(LibraryPage(*values), "company", "ticker", "kind", "section")


def _in_one_line(record: Named, *names: str) -> Named:
    """The record with its names in one line: a filing, or the file of a library, says them, and prompts hold them."""
    said: dict[str, Any] = {name: one_line(str(getattr(record, name)), _LONGEST_NAME) for name in names}
    return replace(record, **said)


def as_chunk(row: Row) -> Chunk:
    return Chunk(*row)
