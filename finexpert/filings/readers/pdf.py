"""A filing as PDF: the words of each page by their places, and the tables that they line up to.

    pages = PdfPages(Path("annual-report.pdf"))
    for page in pages: ...            # one page in memory at a time
    pages.without_text                # [3, 4]: scanned, there is nothing to read

Not told: a table beside a column of text, and a table of words without numbers. Nothing is recognised in pictures.
"""

from __future__ import annotations

import ctypes
import statistics
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_raw

from finexpert.errors import LibraryError
from finexpert.filings.readers import AGAIN
from finexpert.filings.readers.aligned import regions_of
from finexpert.filings.readers.blocks import Block, Paragraph, PrintedPage, Table
from finexpert.filings.readers.cells import Span, as_table, is_value, joined
from finexpert.filings.readers.pdf_sight import PageSight

# PDFium keeps global state: its calls must not run side by side.
PDFIUM = threading.RLock()
_CELL_GAP = 1.1
_WORD_GAP = 0.17
_SPACE_GAP = 0.04
_SAME_LINE = 0.45
_PARAGRAPH_GAP = 1.7
_MONEY = "$\u20ac\u00a3\u00a5"
_MOST_CHARACTERS = 200_000


@dataclass(frozen=True)
class _Char:
    text: str
    left: float
    right: float
    base: float
    size: float
    spaced: bool = False  # whether the file itself has a space before it


class PdfPages:
    """The pages of a file, read one after the other; LibraryError names the file where it cannot be opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.without_text: list[int] = []
        self.unreadable: list[int] = []
        # By page, the letters that nobody sees.
        self.unseen: dict[int, str] = {}
        try:
            with PDFIUM:
                self._document = pdfium.PdfDocument(path)
                self.count = len(self._document)
        except pdfium.PdfiumError as error:
            locked = "assword" in str(error)
            reason = "it is locked with a password" if locked else "it is broken or no PDF"
            mended = "`qpdf --decrypt --password=... IN.pdf OUT.pdf` opens it" if locked else "fetch it again"
            raise LibraryError(f"cannot read {path}: {reason} ({error}); {mended}, then {AGAIN}") from error

    def __iter__(self) -> Iterator[PrintedPage]:
        """The pages that have text; the file is closed after the last, so they are read once."""
        try:
            for number in range(self.count):
                try:
                    chars = self._chars(number)
                except pdfium.PdfiumError:
                    self.unreadable.append(number + 1)
                    continue
                if chars:
                    yield PrintedPage(number + 1, list(_blocks(chars)))
                else:
                    self.without_text.append(number + 1)
        finally:
            with PDFIUM:
                self._document.close()

    def _chars(self, number: int) -> list[_Char]:
        """The printed characters of a page in the order of the file; spaces are told by the file and by the gaps."""
        box = pdfium_raw.FS_RECTF()
        x, y = ctypes.c_double(), ctypes.c_double()
        chars = []
        spaced = False
        with PDFIUM:
            page = self._document[number]
            words = page.get_textpage()
            unseen = []
            try:
                sight = PageSight(page, words)
                for place in range(min(words.count_chars(), _MOST_CHARACTERS)):
                    text = chr(pdfium_raw.FPDFText_GetUnicode(words, place))
                    if text.isspace() or not text.isprintable():
                        spaced = spaced or text.isspace()
                        continue
                    pdfium_raw.FPDFText_GetLooseCharBox(words, place, box)
                    if not sight.shows(place, box):
                        unseen.append(text)
                        continue
                    pdfium_raw.FPDFText_GetCharOrigin(words, place, x, y)
                    chars.append(_Char(text, box.left, box.right, y.value, abs(box.top - box.bottom), spaced))
                    spaced = False
            finally:
                words.close()
                page.close()
        if unseen:
            self.unseen[number + 1] = "".join(unseen)
        return chars


def use_once() -> None:
    """Load what PDFium needs, on a page without anything."""
    with PDFIUM:
        document = pdfium.PdfDocument.new()
        page = document.new_page(100, 100)
        page.get_textpage().close()
        page.render(grayscale=True).to_numpy()
        document.close()


def _blocks(chars: Sequence[_Char]) -> Iterator[Block]:
    """Tables by the places of their words; the text around them in the order of the file, so that columns stay whole."""
    lines = _lines(sorted(chars, key=lambda char: -char.base))
    rows = [joined(_cells(line)) for line in lines]
    rest = list(chars)
    for start, end in regions_of(rows):
        top, bottom = lines[start][0], lines[end - 1][0]
        above = [char for char in rest if char.base > top.base + _SAME_LINE * top.size]
        yield from _paragraphs(above)
        yield Table(as_table([row for row in rows[start:end] if row]))
        rest = [char for char in rest if char.base < bottom.base - _SAME_LINE * bottom.size]
    yield from _paragraphs(rest)


def _lines(chars: Sequence[_Char]) -> list[list[_Char]]:
    """Characters that follow each other on about the same height, a line each."""
    lines: list[list[_Char]] = []
    for char in chars:
        if lines and abs(lines[-1][0].base - char.base) <= _SAME_LINE * max(char.size, lines[-1][0].size):
            lines[-1].append(char)
        else:
            lines.append([char])
    return lines


def _cells(line: Sequence[_Char]) -> list[Span]:
    """The characters of a line as cells: a gap of a letter's height parts them, a small one parts words."""
    cells: list[Span] = []
    for char in sorted(line, key=lambda each: each.left):
        gap = char.left - cells[-1].end if cells else 0.0
        if not cells or gap > _CELL_GAP * char.size or _begins_number(cells[-1].text, char, gap):
            cells.append(Span(char.text, char.left, char.right))
        else:
            last = cells[-1]
            # Narrow type has spaces that are hardly wider than what stands between two letters: the file knows better.
            narrow = _SPACE_GAP if char.spaced else _WORD_GAP
            space = " " if gap > narrow * char.size else ""
            cells[-1] = Span(last.text + space + char.text, last.start, max(last.end, char.right))
    return cells


def _begins_number(before: str, char: _Char, gap: float) -> bool:
    """Whether a sign of money after a number is that of the next column, however near."""
    return char.text in _MONEY and gap > _WORD_GAP * char.size and is_value(before)


def _paragraphs(chars: Sequence[_Char]) -> Iterator[Paragraph]:
    """Text in the order of the file; a gap between lines, or a jump upwards to the next column, parts paragraphs."""
    if not chars:
        return
    lines = _lines(chars)
    usual = statistics.median(char.size for char in chars)
    words: list[str] = []
    last: float | None = None
    for line in lines:
        base = line[0].base
        if last is not None and not 0 <= last - base <= _PARAGRAPH_GAP * usual:
            yield Paragraph(" ".join(words))
            words = []
        words.append(" ".join(cell.text for cell in _cells(line)))
        last = base
    yield Paragraph(" ".join(words))
