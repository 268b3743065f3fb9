"""Which characters of a PDF page a person sees: the others are no words of the filing.

    seen = PageSight(page, words)
    seen.shows(17, box)           # False: white on white, transparent, of no size, beside the page

What may not be seen (near white, transparent, or not painted) is looked up in a picture of the page: white letters on a dark
ground are seen. Letters that are not painted are those of a scan where a picture stands below them. Not told: black letters
below a white box.
"""

from __future__ import annotations

import ctypes
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_raw

_SMALLEST_LETTER = 2.0
_NEAR_WHITE = 225
_FAINT = 26
_LEAST_CONTRAST = 24
_PIXELS_A_POINT = 2.0
_DEEPEST_FORM = 8
_NOT_PAINTED = (pdfium_raw.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium_raw.FPDF_TEXTRENDERMODE_CLIP)
# A page of a poster's size is drawn smaller.
_MOST_PIXELS = 4_000_000


class PageSight:
    """What is seen of one page; PDFium's lock is held by the caller."""

    def __init__(self, page: pdfium.PdfPage, words: pdfium.PdfTextPage) -> None:
        self._page, self._words = page, words
        self._left, self._bottom, self._right, self._top = page.get_bbox()

    def shows(self, place: int, box: pdfium_raw.FS_RECTF) -> bool:
        """Whether the character of this number, which fills this box, is seen."""
        if abs(box.top - box.bottom) < _SMALLEST_LETTER:
            return False
        if box.right <= self._left or box.left >= self._right or box.top <= self._bottom or box.bottom >= self._top:
            return False
        if not self._some_are_faint:
            return True
        text = pdfium_raw.FPDFText_GetTextObject(self._words, place)
        if not text or _mode(text) in _NOT_PAINTED:
            return self._is_over_a_picture(box) and self._has_contrast(box, abs(box.top - box.bottom))
        return not _is_pale(_fill(text)) or self._has_contrast(box)

    @cached_property
    def _some_are_faint(self) -> bool:
        """Whether any text of the page is to be looked at: asked of its few objects, not of each character."""
        texts = self._page.get_objects(filter=(pdfium_raw.FPDF_PAGEOBJ_TEXT,), max_depth=_DEEPEST_FORM)
        return any(_mode(text.raw) in _NOT_PAINTED or _is_pale(_fill(text.raw)) for text in texts)

    def _is_over_a_picture(self, box: pdfium_raw.FS_RECTF) -> bool:
        x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        return any(left <= x <= right and bottom <= y <= top for left, bottom, right, top in self._pictures)

    @cached_property
    def _pictures(self) -> list[tuple[float, float, float, float]]:
        found = self._page.get_objects(filter=(pdfium_raw.FPDF_PAGEOBJ_IMAGE,), max_depth=_DEEPEST_FORM)
        return [each.get_bounds() for each in found]

    def _has_contrast(self, box: pdfium_raw.FS_RECTF, around: float = 0.0) -> bool:
        height, width = self._picture.shape
        x, y = ctypes.c_int(), ctypes.c_int()
        corners = []
        for across, up in (
            (box.left - around, box.bottom - around),
            (box.right + around, box.top + around),
        ):
            pdfium_raw.FPDF_PageToDevice(self._page, 0, 0, width, height, 0, across, up, x, y)
            corners.append((x.value, y.value))
        (x0, y0), (x1, y1) = corners
        part = self._picture[max(min(y0, y1), 0) : max(y0, y1) + 1, max(min(x0, x1), 0) : max(x0, x1) + 1]
        return bool(part.size) and int(part.max()) - int(part.min()) >= _LEAST_CONTRAST

    @cached_property
    def _picture(self) -> npt.NDArray[Any]:
        width, height = self._page.get_size()
        scale = min(_PIXELS_A_POINT, (_MOST_PIXELS / max(width * height, 1.0)) ** 0.5)
        bitmap = self._page.render(scale=scale, grayscale=True)
        picture = np.array(bitmap.to_numpy()).reshape(bitmap.height, bitmap.width, -1)[:, :, 0]
        bitmap.close()
        return picture


def _mode(text: Any) -> int:
    return int(pdfium_raw.FPDFTextObj_GetTextRenderMode(text))


def _fill(text: Any) -> tuple[int, int, int, int]:
    parts = [ctypes.c_uint() for _ in range(4)]
    if not pdfium_raw.FPDFPageObj_GetFillColor(text, *parts):
        return 0, 0, 0, 255
    red, green, blue, alpha = (part.value for part in parts)
    return red, green, blue, alpha


def _is_pale(colour: tuple[int, int, int, int]) -> bool:
    return min(colour[:3]) >= _NEAR_WHITE or colour[3] <= _FAINT
