"""What a reader finds in a file, page by page, and the library's pages made of it.

    PrintedPage(12, [Paragraph("The following table ..."), Table((("", "2017"), ("Net sales", "$ 5")))])

A page with several tables gives a part for each: text between two tables goes with the second, which it introduces,
except for footnotes, which go with the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from finexpert.errors import DataError, LibraryError
from finexpert.filings.page import file as filing_file
from finexpert.filings.page.folding import visible
from finexpert.filings.page.table import PageTable
from finexpert.filings.page.tags import MOST, Tag, placed
from finexpert.filings.page.units import TableUnits
from finexpert.filings.records import FilingInfo, LibraryPage

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Paragraph:
    text: str
    tags: tuple[Tag, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Table:
    rows: Rows
    tags: tuple[Tag, ...] = field(default=(), repr=False)


Block = Paragraph | Table


@dataclass(frozen=True)
class _Part:
    """One table of a page, its text, and the tags of their numbers."""

    pre: list[str]
    table: Rows
    post: list[str]
    tags: list[Tag]


@dataclass
class PrintedPage:
    """A page as it is printed. `section` is what the reader knows of it; else it is found in the headings."""

    number: int
    blocks: list[Block] = field(default_factory=list)
    section: str = ""

    @property
    def text(self) -> str:
        """All words of the page, a paragraph or a table row a line."""
        return "\n".join(
            block.text if isinstance(block, Paragraph) else "\n".join(" ".join(filter(None, row)) for row in block.rows)
            for block in self.blocks
        )


_FOOTNOTE = re.compile(r"(?:\(\w{1,2}\)|\*+|\u2020|\d\)|[\u00b9\u00b2\u00b3])\s*\S")
_ITEM = re.compile(r"(?:part\s+[iv]+\W+)?(item\s+\d+[a-c]?)\b[.:\s\u2013\u2014-]*(.*)", re.IGNORECASE)
_NOTE = re.compile(r"(note\s+\d+)\b[.:\s\u2013\u2014-]+(.*)", re.IGNORECASE)
_LONGEST_HEADING = 150
_SENTENCE = re.compile(r"[.:;!?]$")
_MOST_ITEMS = 3
_PAGE_NUMBER = re.compile(
    r"(?:page\s+)?[-\u2013\u2014\s]*(?:[a-z]-)?\d{1,4}[-\u2013\u2014\s]*|table of contents", re.IGNORECASE
)
# A page of running text, where a file has none of its own.
PAGE_CHARACTERS = 4000


def library_pages(printed: Iterable[PrintedPage], info: FilingInfo) -> Iterator[LibraryPage]:
    """The library's pages of a filing; those with nothing on them are left out."""
    item = note = ""
    for page in printed:
        headings = [block.text for block in page.blocks if isinstance(block, Paragraph)]
        # More than a few on one page are a table of contents.
        few = sum(_heading(_ITEM, text) != "" for text in headings) <= _MOST_ITEMS
        for number, part in enumerate(_scaled(_parts(page.blocks)), start=1):
            for text in [*part.pre, *part.post] if few else []:
                if found := _heading(_ITEM, text):
                    item, note = found, ""
                note = _heading(_NOTE, text) or note
            texts = _checked(part.pre, part.table, part.post, f"{info.path}, page {page.number}")
            yield LibraryPage(
                id=f"{info.id}/page_{page.number}" + (f".{number}" if number > 1 else ""),
                filing=info.id,
                company=info.company,
                ticker=info.ticker,
                fiscal_year=info.fiscal_year,
                quarter=info.quarter,
                kind=info.kind,
                section=page.section or ", ".join(filter(None, (item, note))),
                number=page.number,
                pre_text=texts[0],
                table=texts[1],
                post_text=texts[2],
                tags=tuple(part.tags[:MOST]),
            )


def running_pages(blocks: Iterable[Block]) -> Iterator[PrintedPage]:
    """Pages of about the same length, cut between blocks: for a file that has no pages."""
    page, length = PrintedPage(1), 0
    for block in blocks:
        size = len(block.text) if isinstance(block, Paragraph) else sum(len(cell) for row in block.rows for cell in row)
        if page.blocks and length + size > PAGE_CHARACTERS:
            yield page
            page, length = PrintedPage(page.number + 1), 0
        page.blocks.append(block)
        length += size
    if page.blocks:
        yield page


def _parts(blocks: Sequence[Block]) -> Iterator[_Part]:
    """A part for each table with the text before it and after it; one part without table where there is none."""
    pre: list[Paragraph] = []
    table: Table | None = None
    post: list[Paragraph] = []
    for block in blocks:
        if isinstance(block, Paragraph):
            if not _PAGE_NUMBER.fullmatch(block.text):
                (pre if table is None else post).append(block)
        elif table is None:
            table = block
        else:
            own = next((n for n, text in enumerate(post) if not _FOOTNOTE.match(text.text)), len(post))
            yield _part(pre, table, post[:own])
            pre, table, post = post[own:], block, []
    if pre or table or post:
        yield _part(pre, table, post)


def _part(pre: Sequence[Paragraph], table: Table | None, post: Sequence[Paragraph]) -> _Part:
    tags = [tag for paragraph in (*pre, *post) for tag in paragraph.tags]
    if table is not None and table.tags:
        tags += placed(table.rows, PageTable(table.rows).header_rows, table.tags)
    return _Part([each.text for each in pre], table.rows if table else (), [each.text for each in post], tags)


def _scaled(parts: Iterable[_Part]) -> Iterator[_Part]:
    """The parts of a page; a table under headings alone is in the scale that the table above it names."""
    above = ""
    for part in parts:
        note = TableUnits(PageTable(part.table), part.pre).scale_note
        headings = part.table and not any(_SENTENCE.search(text) or len(text) > _LONGEST_HEADING for text in part.pre)
        above = note or (above if headings else "")
        yield replace(part, pre=[*part.pre, above]) if above and not note else part


def _heading(pattern: re.Pattern[str], text: str) -> str:
    """
    >>> _heading(_ITEM, "ITEM 7.  Management's Discussion")
    "Item 7 Management's Discussion"
    """
    match = pattern.fullmatch(text) if len(text) <= _LONGEST_HEADING else None
    return f"{match[1].capitalize()} {match[2]}".strip(" .") if match else ""


def _checked(
    pre_text: list[str], table: Rows, post_text: list[str], place: str
) -> tuple[tuple[str, ...], Rows, tuple[str, ...]]:
    """What a page may hold, so that it can always be opened as a filing."""
    # Characters without width or of another direction are seen by a model alone.
    pre_text, post_text = list(map(visible, pre_text)), list(map(visible, post_text))
    table = tuple(tuple(map(visible, row)) for row in table)
    try:
        return (
            filing_file.checked_texts(pre_text, "the text", place),
            filing_file.checked_table(table, place),
            filing_file.checked_texts(post_text, "the text", place),
        )
    except DataError as error:
        raise LibraryError(str(error)) from error
