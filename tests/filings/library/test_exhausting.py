"""Small files that would exhaust a reader: each is read or refused in seconds, with bounded memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from finexpert.errors import LibraryError
from finexpert.filings.readers import text
from finexpert.filings.readers.cover import Given
from finexpert.filings.readers.files import found_files, read_file
from finexpert.filings.readers.html import read_html

Soon = Callable[[float, Callable[[], object]], None]


@pytest.mark.parametrize(
    "content",
    [
        "<DOCUMENT><TEXT>" * 3_000,
        "<DOCUMENT>" * 5_000,
        "<DOCUMENT>" + "<TEXT>" * 6_000,
        "\n" * 200_000 + "x",
        " \n" * 100_000 + "<PAG",
        "a " + "." * 60_000 + "x",
        ". " * 40_000 + "x",
        "\t" * 200_000 + "<TABLE",
    ],
    ids=lambda content: ascii(content[:20]),
)
def test_a_text_is_read_in_the_time_of_its_length(content: str, soon: Soon) -> None:
    soon(4.0, lambda: text.read_text(text.main_document(content)))


def test_the_first_document_is_the_main_one() -> None:
    whole = "<DOCUMENT>\n<TYPE>10-K<TEXT>\nthe report</TEXT></DOCUMENT><DOCUMENT><TEXT>an exhibit</TEXT>"
    assert text.main_document(whole) == "\nthe report"
    assert text.main_document(whole.lower().replace("</text>", "")) == whole.lower().replace("</text>", "")


CELL = "<td colspan=1000 rowspan=99999>1</td>"
QUOTES = "".join(f'a{number}=">" ' for number in range(60_000))


@pytest.mark.parametrize(
    "content",
    [
        f"<table><tr>{CELL * 1_500}</tr>{'<tr><td>1' * 2_000}</table>",
        f"<table>{f'<tr>{CELL}<td>5</td></tr>' * 1_500}</table>",
        f"<table>{'<tr><td rowspan=65000>a<td colspan=999>5' * 3_000}</table>",
        f"<table><tr>{'<td colspan=1000>1' * 4_000}</table>",
        f"<p {' '.join(f'a{number}=1' for number in range(100_000))}>x</p>",
        f"<p {QUOTES}>x</p>",
        "<p " + " ".join(f"b{number}" for number in range(100_000)) + ">x",
        "<div>" * 20_000 + "deep",
    ],
    ids=lambda content: content[:40],
)
def test_a_page_is_read_or_refused_soon(content: str, soon: Soon) -> None:
    said: list[str] = []

    def read() -> None:
        try:
            said.append(read_html(content.encode(), "x.html").pages[0].text)
        except LibraryError as refused:
            said.append(str(refused))

    soon(8.0, read)
    tracemalloc.start()
    read()
    assert tracemalloc.get_traced_memory()[1] < 600 << 20
    tracemalloc.stop()
    assert all(said)


def test_a_picture_within_a_tag_is_no_attribute() -> None:
    found = read_html(f'<p>Net sales</p><img src="data:image/png;base64,{"QUJD" * 30_000}">'.encode(), "x.html")
    assert "Net sales" in found.pages[0].text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("page", 10**30),
        ("page", -1),
        ("page", True),
        ("page", 2**63),
        ("page", "1"),
        ("fiscal_year", True),
        ("fiscal_year", 2018.5),
        ("quarter", False),
        ("quarter", True),
    ],
)
def test_one_bad_record_does_not_stop_the_others(tmp_path: Path, field: str, value: object) -> None:
    import json

    good = {
        "filename": "A/2010/page_1.pdf",
        "pre_text": ["x"],
        "table": [["", "2010"], ["sales", "5"]],
        "post_text": [],
    }
    bad = good | {"filename": "B/2010/page_2.pdf", field: value}
    path = tmp_path / "pages.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in (bad, good)))
    read = list(read_file(path, "", Given()))
    assert [type(one).__name__ for one in read if isinstance(one, LibraryError)] == ["LibraryError"]
    assert [one.info.id for one in read if not isinstance(one, LibraryError)] == ["A/2010"]


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    folder, outside = tmp_path / "filings", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (folder / "a.txt").write_text("a")
    (folder / "inner.txt").symlink_to(folder / "a.txt")
    (folder / "out.txt").symlink_to(outside / "secret.txt")
    (folder / "whole").symlink_to(outside)
    (folder / "up.txt").symlink_to(Path("..") / "outside" / "secret.txt")
    (folder / "gone.txt").symlink_to(outside / "nothing.txt")
    assert [path.name for path in found_files([folder])] == ["a.txt", "inner.txt"]
    # A link that is named itself is meant.
    assert [path.name for path in found_files([folder / "out.txt"])] == ["out.txt"]
