"""Made-up files of filings, and a library of its own for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from finexpert.embeddings.embedding import WordHashing
from finexpert.filings.library.library import Library

DATA = Path(__file__).parent / "data"
Words = tuple[float, float, str]  # left, baseline, text; of a page of 612 by 792 points


@pytest.fixture
def data() -> Path:
    return DATA


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.open(tmp_path / "library", embedder=WordHashing(), make=True) as opened:
        yield opened


@pytest.fixture
def write_pdf(tmp_path: Path) -> Callable[..., Path]:
    """Writes a PDF whose pages hold these words in Helvetica of 10 points; a page of None is a picture."""

    def write(pages: Sequence[Sequence[Words] | None], name: str = "filing.pdf") -> Path:
        objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
        objects.append(
            "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 "
            "/Length 1 >>\nstream\n0\nendstream"
        )
        kids = []
        for words in pages:
            content = "q 600 0 0 700 0 0 cm /I Do Q" if words is None else "\n".join(map(_shown, words))
            kids.append(f"{len(objects) + 1} 0 R")
            objects.append(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects) + 2} 0 R "
                "/Resources << /Font << /F 3 0 R >> /XObject << /I 4 0 R >> >> >>"
            )
            objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
        objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
        path = tmp_path / name
        path.write_bytes(_file(objects))
        return path

    return write


def _shown(words: Words) -> str:
    left, base, text = words
    return f"BT /F 10 Tf {left} {base} Td ({text.replace('(', chr(92) + '(').replace(')', chr(92) + ')')}) Tj ET"


def _file(objects: Sequence[str]) -> bytes:
    content, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(content))
        content += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\n"
    )
    return content + f"{end}startxref\n{len(content)}\n%%EOF\n".encode()
