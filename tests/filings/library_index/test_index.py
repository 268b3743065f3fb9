"""The index of a library: what it finds, and that it follows the store whatever happens."""

from __future__ import annotations

import multiprocessing
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from finexpert.embeddings.embedding import WordHashing
from finexpert.errors import LibraryError
from finexpert.filings.library.index.index import VERSION, LibraryIndex, Way
from finexpert.filings.library.store import LibraryStore
from finexpert.filings.records import SearchRequest

Put = Callable[[LibraryStore, str, int], None]


@pytest.fixture
def index(store: LibraryStore) -> LibraryIndex:
    return LibraryIndex(store, WordHashing(), store.folder)


def test_a_package_that_is_not_installed_is_named(store: LibraryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tantivy", None)
    with pytest.raises(LibraryError, match=r"needs the package tantivy: `pip install 'finexpert\[library\]'`"):
        LibraryIndex(store, WordHashing(), store.folder)


def test_a_folder_that_cannot_be_written_is_named(store: LibraryStore) -> None:
    (store.folder / f"index-v{VERSION}").write_text("in the way")
    with pytest.raises(LibraryError, match=r"cannot use .*/words \(Not a directory\): .* another with --library"):
        LibraryIndex(store, WordHashing(), store.folder)


def pages(index: LibraryIndex, request: SearchRequest, by: Way = "fused") -> list[str]:
    return [page for page, *_ in index.search(request, by)]


@pytest.mark.parametrize("by", ["fused", "words", "meaning"])
@pytest.mark.parametrize(
    ("phrase", "page"), [("what did net sales of paper do?", "page_1"), ("minimum payments for leases", "page_2")]
)
def test_the_page_on_the_subject_is_first(index: LibraryIndex, phrase: str, page: str, by: Way) -> None:
    found = pages(index, SearchRequest((phrase,), frozenset({"BBB"}), frozenset({2011})), by)
    assert found[0].endswith(page)
    assert all(found.startswith("BBB/") for found in found)


def test_the_filing_of_the_year_comes_first_then_the_next_then_the_one_before(index: LibraryIndex) -> None:
    found = pages(index, SearchRequest(("net sales",), frozenset({"AAA"}), frozenset({2011})))
    assert [page for page in found if page.endswith("page_1")] == [f"AAA/{year}/page_1" for year in (2011, 2012, 2010)]


def test_a_year_in_the_words_prefers_its_filing(index: LibraryIndex) -> None:
    assert pages(index, SearchRequest(("net sales in 2012",)))[0].split("/")[1] == "2012"


@pytest.mark.parametrize(
    ("request_", "allowed"),
    [
        (SearchRequest(("net sales",), years=frozenset({2013})), {"2012"}),
        (SearchRequest(("net sales",), years=frozenset({2030})), set()),
        (SearchRequest(("net sales",), kinds=frozenset({"table"})), {"2010", "2011", "2012"}),
        (SearchRequest(("net sales",), quarters=frozenset({2})), {"2010", "2011", "2012"}),
    ],
)
def test_filters(index: LibraryIndex, request_: SearchRequest, allowed: set[str]) -> None:
    found = pages(index, request_)
    assert {page.split("/")[1] for page in found} == allowed
    if request_.kinds:
        assert all(page.endswith("page_1") for page in found)


def test_several_wordings_are_one_search(index: LibraryIndex) -> None:
    both = pages(index, SearchRequest(("revenue from paper", "net sales"), frozenset({"AAA"}), limit=3))
    assert len(both) == len(set(both)) == 3
    assert both[0].endswith("page_1")


@pytest.mark.parametrize("phrases", [(), ("",), ("  ",)])
def test_nothing_asked_finds_nothing(index: LibraryIndex, phrases: tuple[str, ...]) -> None:
    assert index.search(SearchRequest(phrases)) == []


@pytest.mark.parametrize("phrase", ["?!", "the of and", "zzzqqq", 'a" OR (', "\x00", "net " * 5000])
def test_any_words_may_be_asked(index: LibraryIndex, phrase: str) -> None:
    assert len(index.search(SearchRequest((phrase,)))) <= 8


def test_it_says_which_chunks_and_why(index: LibraryIndex, store: LibraryStore) -> None:
    page, score, chunks, why = index.search(SearchRequest(("net sales of paper",)))[0]
    assert score > 0
    assert "words #" in why
    assert {store.chunks_by_id(chunks)[number].page for number in chunks} == {page}


def test_it_follows_the_store(index: LibraryIndex, store: LibraryStore, put: Put) -> None:
    request = SearchRequest(("net sales",), frozenset({"AAA"}), limit=20)
    before = pages(index, request)
    store.remove("AAA/2010")
    assert {page.split("/")[1] for page in pages(index, request)} == {"2011", "2012"}
    put(store, "AAA", 2010)
    assert sorted(pages(index, request)) == sorted(before)


def test_a_lost_or_broken_index_is_made_anew(store: LibraryStore, caplog: pytest.LogCaptureFixture) -> None:
    request = SearchRequest(("net sales",), limit=20)
    first = LibraryIndex(store, WordHashing(), store.folder)
    before = pages(first, request)
    (first.folder / "words" / "meta.json").write_text("{ not json")
    codes = next(first.folder.glob("*.codes"))
    codes.write_bytes(codes.read_bytes()[:-70])
    assert pages(LibraryIndex(store, WordHashing(), store.folder), request) == before
    assert "made anew" in caplog.text
    shutil.rmtree(first.folder)
    assert pages(LibraryIndex(store, WordHashing(), store.folder), request) == before


def test_threads_search_while_a_filing_is_added(index: LibraryIndex, store: LibraryStore, put: Put) -> None:
    found: list[int] = []

    def search() -> None:
        for _ in range(5):
            found.append(len(_with_sales(index)))

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    put(store, "CCC", 2012)
    for thread in threads:
        thread.join()
    assert len(found) == 20
    assert set(found) <= {6, 7}
    assert len(_with_sales(index)) == 7


def _with_sales(index: LibraryIndex) -> list[str]:
    found = pages(index, SearchRequest(("net sales",), limit=50))
    return [page for page in found if page.endswith("page_1")]


def _search_in_another_process(folder: Path, results: multiprocessing.Queue[int]) -> None:
    store = LibraryStore(folder)
    index = LibraryIndex(store, WordHashing(), folder)
    for _ in range(10):
        results.put(len(_with_sales(index)))
    store.close()


def test_two_processes_search_while_one_adds(index: LibraryIndex, store: LibraryStore, put: Put) -> None:
    index.refresh()
    spawned = multiprocessing.get_context("spawn")
    results: multiprocessing.Queue[int] = spawned.Queue()
    readers = [spawned.Process(target=_search_in_another_process, args=(store.folder, results)) for _ in range(2)]
    for reader in readers:
        reader.start()
    for year in range(2000, 2006):
        put(store, "CCC", year)
        index.search(SearchRequest(("net sales",)))
    counts = [results.get(timeout=60) for _ in range(20)]
    for reader in readers:
        reader.join(timeout=60)
        assert reader.exitcode == 0
    assert min(counts) >= 6
    assert max(counts) <= 12
    assert len(_with_sales(index)) == 12
