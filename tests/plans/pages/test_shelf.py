"""Pages of a library without vectors: nothing is embedded for a question, whatever the size of the library."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from finexpert.filings.library.library import Library
from finexpert.filings.records import FilingInfo, LibraryPage, SearchRequest
from finexpert.plans.pages import shelf
from finexpert.plans.pages.searching import Wanted, best_pages


class Forbidden:
    """An embedder that must not be asked."""

    name = "forbidden"
    dimensions = 8

    def embed(self, texts: Any) -> Any:
        raise AssertionError(f"{len(texts)} texts were embedded")


@pytest.fixture
def library(tmp_path: Path, own_home: Path) -> Any:
    with Library.open(tmp_path / "library", embedder=Forbidden(), make=True) as made:
        for name, words in (("Oakgate", "water and its price"), ("Marlow", "paper and pulp"), ("Ashby", "jars of jam")):
            id = f"{name.lower()}/2022"
            text = (f"{name} sells {words}.",)
            page = LibraryPage(f"{id}/page_1", id, name, "", 2022, None, "10-K", "", 1, text, (), ())
            info = FilingInfo(
                id, name, "", 2022, None, "10-K", "", f"{name}_2022_10K.pdf", name, 1, dt.datetime.now(dt.UTC)
            )
            made.add([page], info)
        yield made


def test_words_are_searched_without_a_vector(library: Library) -> None:
    (hit, *_) = library.search(SearchRequest(("paper pulp",)), "words")
    assert hit.page.company == "Marlow"


def test_of_more_pages_than_can_be_looked_at_the_index_proposes_some(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "MOST_PAGES", 1)
    found = best_pages(library, "Who sells jam?", Wanted(searches=["jars of jam"]))
    assert [page.filing.company for page in found.pages] == ["Ashby"]


def test_a_company_that_is_named_needs_no_index(library: Library) -> None:
    found = best_pages(library, "What does Oakgate sell?", Wanted.of_words("What does Oakgate sell?"))
    assert [page.filing.company for page in found.pages] == ["Oakgate"]
    assert found.companies == ["Oakgate"]
