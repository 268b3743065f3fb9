"""A page of a PDF as a picture, and where words stand on it.

picture = picture_of(Path("annual-report.pdf"), 42, ["net sales"], value="1,234")
picture.png, picture.marks            # marks are shares of width and height, from the top left corner
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium

from finexpert.errors import LibraryError
from finexpert.filings.readers.pdf.pages import PDFIUM

_WIDTH = 1_400  # pixels: sharp on a screen of twice the density
_MOST_PIXELS = 12_000_000
_LONGEST = 400

Box = tuple[float, float, float, float]  # left, bottom, right, top in points, as PDF counts


@dataclass(frozen=True)
class Picture:
    """A PNG, and marks as (left, top, right, bottom)."""

    png: bytes
    marks: tuple[Box, ...]


def picture_of(path: Path, number: int, phrases: Sequence[str] = (), value: str = "") -> Picture:
    """The page with this number, counted from 1. Marked are the phrases, and a value on the line of one of them.

    LibraryError where the file cannot be read or has no such page.
    """
    with PDFIUM:
        try:
            document = pdfium.PdfDocument(path)
        except (pdfium.PdfiumError, OSError) as error:
            raise LibraryError(f"cannot read {path.name}: {error}; fetch the filing again") from error
        try:
            if not 1 <= number <= len(document):
                raise LibraryError(f"{path.name} has no page {number}: it has {len(document)}")
            page = document[number - 1]
            width, height = page.get_size()
            scale = min(_WIDTH / max(width, 1), (_MOST_PIXELS / max(width * height, 1)) ** 0.5)
            png = io.BytesIO()
            page.render(scale=scale).to_pil().save(png, "PNG")
            boxes = list(_boxes(page.get_textpage(), phrases, value))
        finally:
            document.close()
    marks = tuple((b[0] / width, 1 - b[3] / height, b[2] / width, 1 - b[1] / height) for b in boxes)
    return Picture(png.getvalue(), marks)


def blank() -> Picture:
    """The picture of a page without anything: what draws is loaded then."""
    with PDFIUM:
        document = pdfium.PdfDocument.new()
        png = io.BytesIO()
        document.new_page(100, 100).render().to_pil().save(png, "PNG")
        document.close()
    return Picture(png.getvalue(), ())


def _boxes(words: Any, phrases: Sequence[str], value: str) -> Iterator[Box]:
    found = [box for phrase in phrases for box in _first(words, phrase)]
    yield from found
    if not value:
        return
    numbers = list(_every(words, value))
    on_line = [box for box in numbers if any(_overlap(box, other) for other in found)]
    # A number that stands once on the page needs no line to be told by.
    yield from on_line or (numbers if len(numbers) == 1 else [])


def _first(words: Any, phrase: str) -> list[Box]:
    """Where a phrase stands first; of one that was folded in reading, its first words."""
    parts = phrase.split()
    for length in dict.fromkeys((len(parts), 8, 5, 3)):
        if length and length <= len(parts):
            search = words.search(" ".join(parts[:length])[:_LONGEST])
            if (place := search.get_next()) is not None:
                return _rectangles(words, *place)
    return []


def _every(words: Any, text: str) -> Iterator[Box]:
    search = words.search(text[:_LONGEST], match_whole_word=True)
    while (place := search.get_next()) is not None:
        yield from _rectangles(words, *place)


def _rectangles(words: Any, index: int, count: int) -> list[Box]:
    return list(_joined(words.get_rect(each) for each in range(words.count_rects(index, count))))


def _joined(boxes: Iterable[Box]) -> Iterator[Box]:
    """Boxes that follow each other on a line as one: some files draw every letter on its own.

    >>> list(_joined([(0.0, 0.0, 5.0, 8.0), (5.5, 0.0, 9.0, 7.5), (60.0, 0.0, 70.0, 8.0)]))
    [(0.0, 0.0, 9.0, 8.0), (60.0, 0.0, 70.0, 8.0)]
    """
    last: Box | None = None
    for box in boxes:
        if last is not None and _overlap(last, box) and box[0] - last[2] < last[3] - last[1] and box[2] > last[0]:
            last = (min(last[0], box[0]), min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3]))
            continue
        if last is not None:
            yield last
        last = box
    if last is not None:
        yield last


def _overlap(one: Box, other: Box) -> bool:
    """Whether two boxes stand on one line."""
    return min(one[3], other[3]) - max(one[1], other[1]) > 0.4 * min(one[3] - one[1], other[3] - other[1])
