"""Pages of a library at a desk."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from sample_library import sample_info, sample_pages

from finexpert.app.desk import Desk, GivenSource, local_person
from finexpert.embeddings.embedding import embedder
from finexpert.filings.library.library import Library
from finexpert.settings import Settings


@pytest.fixture
def pages(desk: Any, tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A desk over the made-up filings, of which no chunk is embedded yet."""
    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    with Library.open(tmp_path / "filings", embedder=embedder("words"), make=True) as made:
        for page in islice(sample_pages(), 3):
            made.add([page], sample_info(page))
    settings = Settings(home=own_home, as_of=dt.date(2020, 12, 31), cache=False)
    given = [GivenSource("Filings", "library", str(tmp_path / "filings"))]
    with Desk(settings, given=given, models=desk.models, sandbox=desk.sandbox) as opened:
        yield opened


def test_a_search_embeds_nothing_while_a_person_waits(pages: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def embedded(*_: object) -> None:
        raise AssertionError("a chunk was embedded")

    person, source = local_person(), next(iter(pages.given))
    with pages.library(person, source) as library:
        assert library.chunks_to_index()
        monkeypatch.setattr(type(library._embedder), "embed", embedded)
    found = [each.page for each in pages.search_pages(person, source, "net revenue")]
    assert "HRBX/2022/page_4.pdf" in found
