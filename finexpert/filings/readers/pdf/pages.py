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
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_raw

from finexpert.errors import LibraryError
from finexpert.filings.readers import AGAIN
from finexpert.filings.readers.aligned import regions_of
from finexpert.filings.readers.blocks import Block, Paragraph, PrintedPage, Table
from finexpert.filings.readers.grid import as_table
from finexpert.filings.readers.pdf.columns import apart
from finexpert.filings.readers.pdf.lines import SAME_LINE, Char, Rule, lowered, paragraphs_of, rows_of, whole_labels
from finexpert.filings.readers.pdf.sight import PageSight

# PDFium keeps global state: its calls must not run side by side.
PDFIUM = threading.RLock()
_PARAGRAPH_GAP = 1.7
_THICKEST_RULE = 2.5
_SHORTEST_RULE = 6.0
_TOUCHING = 0.6
_MOST_OBJECTS = 5_000
_FEWEST_DIGITS = 20
# What PDFium has in the place of a hyphen at the end of a line.
_HYPHENS = {0x02: "-", 0xAD: "-", 0xFFFE: "-"}
_MOST_CHARACTERS = 200_000


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
                    chars, rules = self._drawn(number)
                except pdfium.PdfiumError:
                    self.unreadable.append(number + 1)
                    continue
                if chars:
                    yield PrintedPage(number + 1, list(_blocks(chars, rules)))
                else:
                    self.without_text.append(number + 1)
        finally:
            with PDFIUM:
                self._document.close()

    def _drawn(self, number: int) -> tuple[list[Char], list[Rule]]:
        """The printed characters of a page in the order of the file, whose spaces are told by the file and by the gaps, and its rules."""
        box = pdfium_raw.FS_RECTF()
        x, y = ctypes.c_double(), ctypes.c_double()
        chars, rules = [], []
        spaced = False
        with PDFIUM:
            page = self._document[number]
            words = page.get_textpage()
            unseen = []
            try:
                sight = PageSight(page, words)
                for place in range(min(words.count_chars(), _MOST_CHARACTERS)):
                    text = _HYPHENS.get(code := pdfium_raw.FPDFText_GetUnicode(words, place)) or chr(code)
                    if text.isspace() or not text.isprintable():
                        spaced = spaced or text.isspace()
                        continue
                    pdfium_raw.FPDFText_GetLooseCharBox(words, place, box)
                    if not sight.shows(place, box):
                        unseen.append(text)
                        continue
                    pdfium_raw.FPDFText_GetCharOrigin(words, place, x, y)
                    chars.append(Char(text, box.left, box.right, y.value, abs(box.top - box.bottom), spaced))
                    spaced = False
                rules = _rules(page) if _may_have_tables(chars) else []
            finally:
                words.close()
                page.close()
        if unseen:
            self.unseen[number + 1] = "".join(unseen)
        return lowered(chars), rules


def use_once() -> None:
    """Load what PDFium needs, on a page without anything."""
    with PDFIUM:
        document = pdfium.PdfDocument.new()
        page = document.new_page(100, 100)
        page.get_textpage().close()
        page.render(grayscale=True).to_numpy()
        document.close()


def _may_have_tables(chars: Sequence[Char]) -> bool:
    return sum(char.text.isdigit() for char in chars) >= _FEWEST_DIGITS


def _rules(page: pdfium.PdfPage) -> list[Rule]:
    """The lines drawn from left to right, pieces that touch as one; PDFium's lock is held by the caller."""
    pieces = []
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for place in range(min(pdfium_raw.FPDFPage_CountObjects(page), _MOST_OBJECTS)):
        drawn = pdfium_raw.FPDFPage_GetObject(page, place)
        if pdfium_raw.FPDFPageObj_GetType(drawn) != pdfium_raw.FPDF_PAGEOBJ_PATH:
            continue
        if not pdfium_raw.FPDFPageObj_GetBounds(drawn, left, bottom, right, top):
            continue
        if top.value - bottom.value <= _THICKEST_RULE:
            pieces.append(Rule(round(bottom.value, 1), left.value, right.value))
    rules: list[Rule] = []
    for piece in sorted(pieces, key=lambda each: (each.base, each.left)):
        last = rules[-1] if rules else None
        if last is not None and abs(last.base - piece.base) <= _TOUCHING and piece.left <= last.right + _TOUCHING:
            rules[-1] = Rule(last.base, last.left, max(last.right, piece.right))
        else:
            rules.append(piece)
    return [rule for rule in rules if rule.right - rule.left >= _SHORTEST_RULE]


def _blocks(chars: Sequence[Char], rules: Sequence[Rule] = ()) -> Iterator[Block]:
    """Tables by the places of their words; the text around them in the order of the file, so that columns stay whole."""
    for column in apart(chars, rules):
        yield from _blocks_of(column, rules)


def _blocks_of(chars: Sequence[Char], rules: Sequence[Rule]) -> Iterator[Block]:
    rows = rows_of(chars, rules)
    rest = list(chars)
    for start, end in regions_of([row.cells for row in rows]):
        top, bottom = rows[start], rows[end - 1]
        above = [char for char in rest if char.base > top.base + SAME_LINE * top.size]
        yield from _paragraphs(above)
        yield Table(as_table(whole_labels([row for row in rows[start:end] if row.cells])))
        rest = [char for char in rest if char.base < bottom.base - SAME_LINE * bottom.size]
    yield from _paragraphs(rest)


def _paragraphs(chars: Sequence[Char]) -> Iterator[Paragraph]:
    if chars:
        usual = statistics.median(char.size for char in chars)
        yield from map(Paragraph, paragraphs_of(chars, _PARAGRAPH_GAP, usual))
