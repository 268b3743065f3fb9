"""Words of a PDF that no person sees are no words of the filing; white words on a dark ground and those over a scan stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from finexpert.errors import LibraryError
from finexpert.filings.readers.cover import Given
from finexpert.filings.readers.files import ReadFiling, checksum, read_file

SECRET = "net income was 999"
SEEN = "BT 0 g 0 Tr /F 10 Tf 72 700 Td (Net sales rose.) Tj ET"


def written(path: Path, content: str, page: str = "") -> Path:
    """A PDF of one page with this content."""
    resources = "/Resources<</Font<</F 5 0 R>>/ExtGState<</A<</ca 0>>/B<</ca 1>>>>/XObject<</I 6 0 R/X 7 0 R>>>>"
    scan = "/Width 64/Height 1/ColorSpace/DeviceGray/BitsPerComponent 1/Filter/ASCIIHexDecode/Length 17"
    form = f"BT 1 g /F 10 Tf 72 400 Td ({SECRET}) Tj ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R{resources}{page}>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Type/XObject/Subtype/Image{scan}>>stream\nAAAAAAAAAAAAAAAA>\nendstream",
        f"<</Type/XObject/Subtype/Form/BBox[0 0 612 792]{resources}/Length {len(form)}>>stream\n{form}\nendstream",
    ]
    body = "%PDF-1.4\n" + "".join(f"{n} 0 obj\n{each}\nendobj\n" for n, each in enumerate(objects, start=1))
    path.write_text(body + "trailer<</Root 1 0 R/Size 8>>\n%%EOF", encoding="latin-1")
    return path


def words(path: Path) -> tuple[str, tuple[str, ...]]:
    (read,) = read_file(path, checksum(path), Given())
    assert isinstance(read, ReadFiling)
    return " ".join(text for page in read.pages for text in page.pre_text), read.notes


@pytest.mark.parametrize(
    "content",
    [
        f"BT 1 g /F 10 Tf 72 400 Td ({SECRET}) Tj ET",
        f"BT 0.97 0.99 0.98 rg /F 10 Tf 72 400 Td ({SECRET}) Tj ET",
        f"BT 0 0 0 0 k /F 10 Tf 72 400 Td ({SECRET}) Tj ET",
        f"BT 3 Tr /F 10 Tf 72 400 Td ({SECRET}) Tj ET",
        f"BT 7 Tr /F 10 Tf 72 400 Td ({SECRET}) Tj ET",
        f"/A gs BT 0 g /F 10 Tf 72 400 Td ({SECRET}) Tj ET /B gs",
        f"BT /F 0.5 Tf 72 400 Td ({SECRET}) Tj ET",
        f"BT /F 10 Tf 0.01 0 0 0.01 72 400 Tm ({SECRET}) Tj ET",
        f"BT /F 10 Tf 72 2000 Td ({SECRET}) Tj ET",
        f"BT /F 10 Tf -400 400 Td ({SECRET}) Tj ET",
        f"BT /F 10 Tf 72 -40 Td ({SECRET}) Tj ET",
        "q /X Do Q",
        f"BT 3 Tr /F 10 Tf 72 700 Td ({SECRET}) Tj ET",
        f"q 500 0 0 90 50 50 cm /I Do Q BT 3 Tr /F 10 Tf 72 400 Td ({SECRET}) Tj ET",
    ],
)
def test_words_that_nobody_sees_are_left_out_and_said(content: str, tmp_path: Path) -> None:
    text, notes = words(written(tmp_path / "a.pdf", f"{SEEN} {content} {SEEN.replace('700', '300')}"))
    assert text == "Net sales rose. Net sales rose."
    assert notes[0] == f"letters that nobody sees are left out on page 1: {SECRET.replace(' ', '')!r}"


@pytest.mark.parametrize(
    "content",
    [
        f"0 0 0.5 rg 60 380 300 40 re f BT 1 g /F 10 Tf 72 400 Td ({SECRET}) Tj ET",
        f"BT 0.4 g /F 10 Tf 72 400 Td ({SECRET}) Tj ET",
        f"BT 0 g /F 5 Tf 72 400 Td ({SECRET}) Tj ET",
        f"q 500 0 0 500 50 50 cm /I Do Q BT 3 Tr /F 10 Tf 72 400 Td ({SECRET}) Tj ET",
        f"BT 1 Tr /F 10 Tf 72 400 Td ({SECRET}) Tj ET",
        f"BT 1 g /F 10 Tf 72 200 Td (other) Tj ET BT 0 g /F 10 Tf 72 400 Td ({SECRET}) Tj ET",
    ],
)
@pytest.mark.parametrize("page", ["", "/Rotate 90", "/CropBox[20 20 600 780]"])
def test_words_that_are_seen_are_read(content: str, page: str, tmp_path: Path) -> None:
    assert SECRET in words(written(tmp_path / "a.pdf", f"{SEEN} {content}", page))[0]


def test_a_file_of_unseen_words_alone_has_no_text(tmp_path: Path) -> None:
    path = written(tmp_path / "a.pdf", f"BT 1 g /F 10 Tf 72 400 Td ({SECRET}) Tj ET")
    (refused,) = read_file(path, checksum(path), Given())
    assert isinstance(refused, LibraryError)
    assert "letters that nobody sees" in str(refused)
