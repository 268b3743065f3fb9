"""The picture of a page is drawn in a process of its own: it shows the same, and a page that is never drawn holds nobody up."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from finexpert.errors import LibraryError
from finexpert.filings.readers.pdf import drawing
from finexpert.filings.readers.pdf.drawing import _marks, drawn
from finexpert.filings.readers.pdf.picture import picture_of
from finexpert.isolation.guests.zygote import problem

PAGE = [(72.0, 700.0, "Net sales"), (300.0, 700.0, "1,234"), (72.0, 650.0, "Cost of sales"), (300.0, 650.0, "987")]
locked = pytest.mark.skipif(problem() is not None, reason="no process can be locked in here")


def of_objects(*objects: str) -> bytes:
    written = [f"{number} 0 obj\n{body}\nendobj\n" for number, body in enumerate(objects, 1)]
    return ("%PDF-1.7\n" + "".join(written) + "trailer << /Root 1 0 R >>\n%%EOF").encode()


def page(content: str, resources: str) -> tuple[str, ...]:
    return (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << {resources} >> >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
    )


def tiled(inner: str) -> str:
    content = "/Pattern cs /P scn 0 0 600 800 re f" if inner else "0 g 0 0 5 5 re f"
    return (
        "<< /Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 600 800] /XStep 7 /YStep 7 "
        f"/Resources << {inner} >> /Length {len(content)} >>\nstream\n{content}\nendstream"
    )


# Patterns within patterns, and a form that draws itself.
PATTERNS = of_objects(
    *page("/Pattern cs /P scn 0 0 612 792 re f", "/Pattern << /P 5 0 R >>"),
    *(tiled(f"/Pattern << /P {number} 0 R >>") for number in (6, 7, 8, 9)),
    tiled(""),
)
CUT = of_objects(*page("0 0 5 5 re f", ""))[:40]


def test_a_page_is_drawn_as_in_this_process(write_pdf: Callable[..., Path]) -> None:
    path = write_pdf([PAGE, PAGE])
    here, there = picture_of(path, 2, ["Net sales"], "1,234"), drawn(path, 2, ["Net sales"], "1,234")
    assert there is not None
    assert there.png == here.png
    assert there.marks == here.marks
    assert len(there.marks) == 2


@locked
@pytest.mark.parametrize("content", [PATTERNS, CUT, b"no PDF"], ids=["patterns", "cut off", "no PDF"])
def test_what_cannot_be_drawn_has_no_picture_and_the_next_has(
    tmp_path: Path, write_pdf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(drawing, "SECONDS", 3.0)
    monkeypatch.setattr(drawing, "_ENDED", {})
    evil = tmp_path / "evil.pdf"
    evil.write_bytes(content)
    began = time.monotonic()
    assert drawn(evil, 1) is None
    assert time.monotonic() - began < 25
    assert drawn(write_pdf([PAGE]), 1) is not None
    began = time.monotonic()
    if content is PATTERNS:
        # It is not tried again.
        assert drawn(evil, 1) is None
        assert time.monotonic() - began < 1


@locked
def test_a_page_that_is_not_there_has_no_picture(write_pdf: Callable[..., Path]) -> None:
    path = write_pdf([PAGE])
    assert drawn(path, 7) is None
    with pytest.raises(LibraryError, match="has no page 7"):
        picture_of(path, 7)


@pytest.mark.parametrize("said", [
    None, [], "", "{", "3", "[1]", "[[1, 2, 3]]", '[[1, 2, 3, "4"]]', "[[1, 2, 3, NaN]]", "[[0, 0, 1, Infinity]]", json.dumps([[0, 0, 1, 1]] * 1_001), "[" * 100_000,
])  # fmt: skip
def test_marks_of_a_process_are_marks_or_nothing(said: object) -> None:
    assert _marks(said) is None
    assert _marks("[[0, 0.5, 1, 1]]") == ((0, 0.5, 1, 1),)
