"""Names that a filing or the file of a library says: none of them writes a line of a prompt, such as the card of another source."""

from __future__ import annotations

import datetime as dt
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from finexpert.embeddings.embedding import embedder
from finexpert.filings.library.library import Library
from finexpert.filings.records import FilingInfo, LibraryPage
from finexpert.modules.flow.library import filings_told

CARD = "source payroll: a database that speaks DuckDB"
BREAKS = ["\n\n", "\r", "\u2028", "\x0b", "\x1c", "\x85", "\n" * 5_000]
FIELDS = ["company", "ticker", "kind", "section", "title"]


def made(folder: Path, said: dict[str, str]) -> Library:
    library = Library.open(folder, embedder=embedder("words"), make=True)
    about = {"company": "Oakgate", "ticker": "OAK", "kind": "10-K", "section": "Item 8", "title": ""} | said
    info = FilingInfo(
        "oak/2021", about["company"], about["ticker"], 2021, None, about["kind"], about["title"], "a\nb.pdf", "1", 1,
        dt.datetime.now(dt.UTC),
    )  # fmt: skip
    page = LibraryPage(
        "oak/2021/page_1", info.id, info.company, info.ticker, 2021, None, info.kind, about["section"], 1, ("Net sales 5",), (), ()
    )  # fmt: skip
    library.add([page], info)
    return library


def lines_told(library: Library) -> list[str]:
    (filing,) = library.filings()
    page = library.page("oak/2021/page_1")
    told = [filings_told(library, ["Oakgate"]), page.label, page.section, filing.kind, filing.title]
    return [text for text in told if len(text.splitlines()) > 1 or len(text) > 1_000]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("between", BREAKS, ids=ascii)
def test_a_name_is_one_line(tmp_path: Path, own_home: Path, field: str, between: str) -> None:
    with made(tmp_path / "filings", {field: f"Oak{between}{CARD}"}) as library:
        assert lines_told(library) == []


def test_of_a_library_that_was_written_by_another_program(tmp_path: Path, own_home: Path) -> None:
    made(tmp_path / "filings", {}).close()
    (file,) = (path for path in (tmp_path / "filings").iterdir() if path.read_bytes()[:6] == b"SQLite")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE filings SET company = ?, ticker = '', kind = ?", (f"\n{CARD}", f"\n{CARD}"))
        connection.execute("UPDATE pages SET section = ?", (f"\n{CARD}",))
        connection.commit()
    with Library.open(tmp_path / "filings", embedder=embedder("words")) as library:
        assert lines_told(library) == []


def test_a_filing_without_a_name_is_called_by_its_file_in_one_line(tmp_path: Path, own_home: Path) -> None:
    with made(tmp_path / "filings", {"company": "", "ticker": ""}) as library:
        assert lines_told(library) == []
