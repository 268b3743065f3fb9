from __future__ import annotations

import datetime as dt
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from finexpert.errors import LibraryError
from finexpert.filings.library.chunking import Chunking
from finexpert.filings.library.store import LibraryStore
from finexpert.filings.records import FilingInfo, LibraryPage

ADDED = dt.datetime(2025, 1, 2, tzinfo=dt.UTC)


def info(id: str = "AAA/2018", sha256: str = "1") -> FilingInfo:
    return FilingInfo(id, "Harbour Mills", "AAA", 2018, None, "10-K", "title", "a.htm", sha256, 0, ADDED)


def pages(filing: str = "AAA/2018", count: int = 2, word: str = "flour") -> list[LibraryPage]:
    return [
        LibraryPage(
            f"{filing}/page_{number}", filing, "Harbour Mills", "AAA", 2018, None, "10-K", "Item 7", number,
            (f"sales of {word} on page {number} .",), (("", "2018"), ("sales", str(number))), (),
        )
        for number in range(1, count + 1)
    ]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> LibraryStore:
    return LibraryStore(tmp_path / "library", make=True)


def test_what_is_kept_comes_back(store: LibraryStore) -> None:
    store.put(info(), pages())
    assert store.filings() == [replace(info(), pages=2)]
    assert store.pages_of("AAA/2018") == pages()
    assert store.page("AAA/2018/page_2") == pages()[1]
    assert store.pages(["AAA/2018/page_2", "gone"]) == {"AAA/2018/page_2": pages()[1]}
    assert [(chunk.kind, chunk.page) for chunk in store.chunks()] == [
        ("text", "AAA/2018/page_1"), ("table", "AAA/2018/page_1"),
        ("text", "AAA/2018/page_2"), ("table", "AAA/2018/page_2"),
    ]  # fmt: skip
    assert {chunk.fiscal_year for chunk in store.chunks()} == {2018}


def test_a_filing_takes_the_place_of_its_older_version_with_new_chunk_numbers(store: LibraryStore) -> None:
    store.put(info(), pages())
    old = store.chunk_ids()
    store.put(info(sha256="2"), pages(count=1, word="feed"))
    assert not set(old) & set(store.chunk_ids())
    assert [page.pre_text for page in store.pages_of("AAA/2018")] == [("sales of feed on page 1 .",)]


def test_the_stamp_changes_with_every_change_and_with_nothing_else(store: LibraryStore) -> None:
    stamps = [store.stamp]
    for change in (
        lambda: store.put(info(), pages()),
        lambda: store.put(info(), pages()),
        lambda: store.remove("AAA/2018"),
    ):
        change()
        stamps.append(store.stamp)
    assert len(set(stamps)) == 4
    store.remove("AAA/2018")
    store.without_vector("words")
    assert store.stamp == stamps[-1]


def test_a_page_of_another_filing_is_refused_and_nothing_changes(store: LibraryStore) -> None:
    store.put(info(), pages())
    with pytest.raises(LibraryError, match=r"'AAA/2018/page_1' of 'B' belongs to the filing 'AAA/2018' already"):
        store.put(info("B"), [replace(pages()[0], filing="B")])
    assert [filing.id for filing in store.filings()] == ["AAA/2018"]


def test_pages_that_fail_half_way_leave_the_older_version(store: LibraryStore) -> None:
    store.put(info(), pages())

    def broken() -> object:
        yield pages()[0]
        raise LibraryError("the file ended")

    with pytest.raises(LibraryError, match="the file ended"):
        store.put(info(sha256="2"), broken())  # type: ignore[arg-type]
    assert store.filings() == [replace(info(), pages=2)]


def test_vectors_belong_to_one_embedder_and_go_with_their_chunk(store: LibraryStore) -> None:
    store.put(info(), pages())
    numbers = [chunk.id for chunk in store.without_vector("one")]
    store.put_vectors("one", [*numbers, 999], np.eye(5, 8, dtype=np.float32))
    assert (store.count_without_vector("one"), store.count_without_vector("two")) == (0, 4)
    found, vectors = store.vectors("one", numbers)
    assert found == numbers
    assert np.array_equal(vectors, np.eye(4, 8))
    assert store.vectors("two", numbers)[0] == []
    assert len(store.without_vector("two")) == 4  # which forgets those of "one"
    assert store.vectors("one", numbers)[0] == []


def test_chunks_are_read_in_parts(store: LibraryStore) -> None:
    store.put(info(), pages(count=20))
    numbers = store.chunk_ids()
    assert [chunk.id for chunk in store.chunks(after=numbers[4], at_once=3)] == numbers[5:]
    assert list(store.chunks_by_id(numbers[:2])) == numbers[:2]


def test_a_library_keeps_the_size_of_its_chunks(store: LibraryStore, tmp_path: Path) -> None:
    store.put(info(), pages())
    store.close()
    with pytest.raises(LibraryError, match="chunks of 1000 characters with an overlap of 200, not 500/100"):
        LibraryStore(tmp_path / "library", chunking=Chunking(500, 100))
    with pytest.raises(LibraryError, match="was closed"):
        store.filings()


def test_no_library_names_the_next_command(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match=r"there is no library in .*nowhere: `finexpert library add PATH` makes one"):
        LibraryStore(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_another_program_s_file_a_newer_one_and_a_damaged_one_are_left_alone(tmp_path: Path) -> None:
    other, newer, damaged = (tmp_path / name / "library.sqlite" for name in ("other", "newer", "damaged"))
    for path in (other, newer, damaged):
        path.parent.mkdir()
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    LibraryStore(newer.parent, make=True).close()
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    damaged.write_bytes(b"not a database" * 100)
    for path, message in ((other, "not a library"), (newer, "has schema 99"), (damaged, "damaged or no library")):
        before = path.read_bytes()
        with pytest.raises(LibraryError, match=message):
            LibraryStore(path.parent)
        assert path.read_bytes() == before


def test_many_threads_read_while_one_writes(store: LibraryStore) -> None:
    store.put(info(), pages(count=5))
    seen: list[int] = []

    def read() -> None:
        seen.extend(len(store.pages_of("AAA/2018")) for _ in range(50))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(20):
        store.put(info(sha256=str(number)), pages(count=5))
    for thread in threads:
        thread.join()
    assert seen == [5] * 200


def test_a_killed_writer_leaves_whole_filings(tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from test_library_store import *\n"
        "store = LibraryStore(Path(sys.argv[1]), make=True)\n"
        "for n in range(10_000):\n"
        "    store.put(info(f'F{n}', str(n)), pages(f'F{n}', 30)); print(n, flush=True)\n"
    )
    here = str(Path(__file__).parent)
    writer = subprocess.Popen([sys.executable, "-c", script, str(tmp_path), here], stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    for line in writer.stdout:
        if int(line) >= 5:
            break
    os.kill(writer.pid, signal.SIGKILL)
    writer.communicate()
    store = LibraryStore(tmp_path)
    filings = store.filings()
    assert len(filings) >= 6
    assert all(len(store.pages_of(filing.id)) == 30 for filing in filings)
    assert len(store.chunk_ids()) == len(filings) * 60
