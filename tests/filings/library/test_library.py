from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from finexpert.embeddings.embedding import WordHashing
from finexpert.errors import LibraryError
from finexpert.filings.library.adding import Added, add_files
from finexpert.filings.library.library import Library
from finexpert.filings.readers.cover import Given
from finexpert.filings.records import SearchRequest


def record(filename: str, words: str = "flour sales rose .", number: str = "5") -> dict[str, object]:
    ticker, year, page = filename.split("/")
    return {
        "filename": filename,
        "ticker": ticker,
        "fiscal_year": int(year),
        "page": int(page.removeprefix("page_").removesuffix(".pdf")),
        "pre_text": [words],
        "table": [["", year], ["net sales", number]],
        "post_text": [],
    }


def write(path: Path, *records: object) -> Path:
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def added(library: Library, *files: Path, given: Given | None = None) -> list[Added]:
    return list(add_files(library, files, given))


def brief(outcomes: list[Added]) -> list[tuple[str, str, int]]:
    return [(outcome.outcome, outcome.filing, outcome.pages) for outcome in outcomes]


@pytest.fixture
def records(tmp_path: Path) -> Path:
    names = ("HRBM/2018/page_3.pdf", "HRBM/2018/page_9.pdf", "NRTH/2018/page_3.pdf")
    return write(tmp_path / "pages.jsonl", *map(record, names))


def test_adding_twice_changes_nothing(library: Library, records: Path, data: Path) -> None:
    files = [records, data / "harbour-10k.html", data / "harbour-10q.txt"]
    first = added(library, *files)
    fingerprint = library.fingerprint
    assert {outcome.outcome for outcome in first} == {"added"}
    assert {outcome.outcome for outcome in added(library, *files)} == {"same"}
    assert library.fingerprint == fingerprint
    assert len(library.filings()) == len(first) == 4


def test_the_fingerprint_is_that_of_the_content(library: Library, records: Path, tmp_path: Path) -> None:
    empty = library.fingerprint
    added(library, records)
    with Library.open(tmp_path / "other", embedder=WordHashing(), make=True) as other:
        added(other, records)
        assert other.fingerprint == library.fingerprint
        other.remove("NRTH/2018")
        assert other.fingerprint not in (library.fingerprint, empty)


def test_an_interrupted_run_goes_on(library: Library, data: Path, records: Path) -> None:
    next(add_files(library, [data / "harbour-10k.html", records]))
    assert brief(added(library, data / "harbour-10k.html", records)) == [
        ("same", "HRBM/2018/10-K", 4),
        ("added", "HRBM/2018", 2),
        ("added", "NRTH/2018", 1),
    ]


def test_a_copy_under_another_name_is_folded(library: Library, data: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.htm"
    copy.write_bytes((data / "harbour-10k.html").read_bytes())
    (_, second) = added(library, data / "harbour-10k.html", copy)
    assert second.outcome == "same"
    assert second.message.startswith("same as HRBM/2018/10-K (")
    assert len(library.filings()) == 1


def test_a_new_version_of_a_file_takes_its_place_and_another_file_does_not(
    library: Library, data: Path, tmp_path: Path
) -> None:
    path = tmp_path / "harbour.html"
    text = (data / "harbour-10k.html").read_text()
    path.write_text(text)
    added(library, path)
    path.write_text(text.replace("1,234.5", "1,300.0"))
    assert brief(added(library, path)) == [("replaced", "HRBM/2018/10-K", 4)]
    assert "$ 1,300.0" in str(library.page("HRBM/2018/10-K/page_3").table)
    other = tmp_path / "amended.html"
    other.write_text(text.replace("1,234.5", "1,400.0"))
    assert brief(added(library, other)) == [("added", "HRBM/2018/10-K-2", 4)]
    assert library.page("HRBM/2018/10-K-2/page_3").filing == "HRBM/2018/10-K-2"


@pytest.mark.parametrize(
    "places",
    [
        ("0000320193-25-000008/full-submission.txt", "0000320193-25-000057/full-submission.txt", "0000320193-24-000123/full-submission.txt"),
        ("a/10-K.txt", "b/10-K.txt", "c/10-K.txt"),
        ("AAPL/2024/x.txt", "AAPL/2024/sub/x.txt", "AAPL/2024/other/x.txt"),
        ("x.txt", "deep/er/x.txt", "deep/x.txt"),
        ("one/report 2024.txt", "two/report 2024.txt", "three/report 2024.txt"),
    ],
)  # fmt: skip
def test_files_of_one_name_are_as_many_filings(library: Library, tmp_path: Path, places: tuple[str, ...]) -> None:
    for number, place in enumerate(places):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(f"Annual report\n\nNet sales were $ {number}{number}1.5 million in that year.\n")
    files = [tmp_path / place for place in places]
    assert [one.outcome for one in added(library, *files)] == ["added"] * 3
    assert len({filing.id for filing in library.filings()}) == 3
    bodies = " ".join(str(page) for filing in library.filings() for page in library.pages_of(filing.id))
    assert all(f"{number}{number}1.5" in bodies for number in range(3))
    # A second run changes nothing; a new version takes the place of its own file alone.
    assert [one.outcome for one in added(library, *files)] == ["same"] * 3
    files[1].write_text("Annual report\n\nNet sales were $ 991.5 million in that year.\n")
    assert [one.outcome for one in added(library, *files)] == ["same", "replaced", "same"]
    assert len(library.filings()) == 3


def test_what_is_given_later_moves_the_filing(library: Library, data: Path) -> None:
    path = data / "harbour-10q.txt"
    added(library, path)
    given = Given(ticker="HRBM", fiscal_year=1998, quarter=3)
    assert brief(added(library, path, given=given)) == [("replaced", "HRBM/1998Q3/10-Q", 2)]
    assert brief(added(library, path, given=given)) == [("same", "HRBM/1998Q3/10-Q", 2)]
    assert [filing.id for filing in library.filings()] == ["HRBM/1998Q3/10-Q"]


def test_records_of_one_filing_in_several_files_come_together(library: Library, records: Path, tmp_path: Path) -> None:
    more = write(tmp_path / "more.jsonl", record("HRBM/2018/page_9.pdf"), record("HRBM/2018/page_12.pdf"))
    added(library, records, more)
    assert [page.number for page in library.pages_of("HRBM/2018")] == [3, 9, 12]
    assert {outcome.outcome for outcome in added(library, records, more)} == {"same"}


def test_one_broken_file_does_not_stop_the_others(library: Library, records: Path, tmp_path: Path) -> None:
    broken, missing = tmp_path / "broken.pdf", tmp_path / "missing.htm"
    broken.write_bytes(b"%PDF-1.4 nothing")
    bad = write(tmp_path / "bad.jsonl", record("HRBM/2017/page_1.pdf"), {"filename": "X/2017/page_1.pdf", "table": 1})
    outcomes = added(library, broken, missing, bad, records)
    assert [outcome.outcome for outcome in outcomes] == ["failed", "failed", "added", "failed", "added", "added"]
    for outcome, words in zip(outcomes, ("broken.pdf", "missing.htm", "", "bad.jsonl"), strict=False):
        assert words in outcome.message


def test_a_long_pdf_is_read_whole(library: Library, write_pdf: Callable[..., Path]) -> None:
    path = write_pdf([[(72, 700, f"Page {number} speaks of flour")] for number in range(1, 501)], "HRBM_10K_2018.pdf")
    assert brief(added(library, path)) == [("added", "HRBM/2018/10-K", 500)]
    assert library.page("HRBM/2018/10-K/page_500").pre_text == ("Page 500 speaks of flour",)


def test_pages_open_as_filings_with_their_label(library: Library, data: Path) -> None:
    added(library, data / "harbour-10k.html")
    page = library.page("HRBM/2018/10-K/page_3")
    assert page.as_filing().name == page.label == "Harbour Mills, Inc., FY 2018, p. 3"


def test_search_finds_pages_within_the_filters(library: Library, data: Path, records: Path) -> None:
    added(library, data / "harbour-10k.html", records)
    (best, *_) = library.search(SearchRequest(("sales of flour and feed by region",)))
    assert best.page.id == "HRBM/2018/10-K/page_3.2"
    assert best.chunks
    assert {chunk.page for chunk in best.chunks} == {best.page.id}
    assert {hit.page.ticker for hit in library.search(SearchRequest(("sales",), tickers=frozenset({"NRTH"})))} == {
        "NRTH"
    }
    added(library, write(records.with_name("new.jsonl"), record("NEWW/2019/page_1.pdf", "shipyards and dry docks .")))
    assert library.search(SearchRequest(("dry docks",)))[0].page.ticker == "NEWW"
    library.remove("NEWW/2019")
    assert "NEWW" not in {hit.page.ticker for hit in library.search(SearchRequest(("dry docks",)))}


def test_companies_are_those_of_the_filings(library: Library, data: Path) -> None:
    added(library, data / "harbour-10k.html")
    assert [mention.ticker for mention in library.companies.resolve("the sales of Harbour Mills in 2018")] == ["HRBM"]
    library.remove("HRBM/2018/10-K")
    assert library.companies.resolve("the sales of Harbour Mills in 2018") == []


def test_a_known_symbol_gives_the_company_its_name(library: Library, tmp_path: Path) -> None:
    added(library, write(tmp_path / "a.jsonl", record("UNP/2018/page_3.pdf")))
    assert library.page("UNP/2018/page_3.pdf").label == "Union Pacific, FY 2018, p. 3"


def test_what_is_not_there_is_an_error_with_what_is_near(library: Library, data: Path) -> None:
    added(library, data / "harbour-10k.html")
    with pytest.raises(LibraryError, match=r"no filing 'HRBM/2018/10K'.*the nearest are HRBM/2018/10-K"):
        library.remove("HRBM/2018/10K")
    with pytest.raises(LibraryError, match=r"no page 'x'.*`finexpert library list`"):
        library.page("x")


def test_add_counts_pages_and_replaces_what_is_known(library: Library, data: Path) -> None:
    added(library, data / "harbour-10k.html")
    info = library.filing("HRBM/2018/10-K")
    pages, done = library.pages_of(info.id), list[int]()
    assert library.add(pages, info, done.append) == "same"
    assert library.add(pages, replace(info, fiscal_year=2019), done.append) == "replaced"
    assert sum(done) == len(pages)
    assert {page.fiscal_year for page in library.pages_of(info.id)} == {2019}
