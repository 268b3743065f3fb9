"""Which source a question is for by its words; where anything points to another one, a planner looks."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.answers.sources.routing import route
from finexpert.answers.sources.sources import Sources
from finexpert.embeddings.embedding import embedder
from finexpert.filings.library.library import Library
from finexpert.filings.records import FilingInfo, LibraryPage
from finexpert.warehouse.files.frames import open_frames


@pytest.fixture
def library(tmp_path: Path, own_home: Path) -> Iterator[Library]:
    with Library.open(tmp_path / "filings", embedder=embedder("words"), make=True) as made:
        page = LibraryPage(
            "a/1", "a", "Oakgate Water Inc.", "", 2021, None, "10-K", "", 1, ("It sells water.",), (), ()
        )
        info = FilingInfo(
            "a", "Oakgate Water Inc.", "", 2021, None, "10-K", "", "a.pdf", "1", 1, dt.datetime.now(dt.UTC)
        )
        made.add([page], info)
        yield made


@pytest.fixture
def macro() -> Iterator[Any]:
    frames = {
        "unemployment": pd.DataFrame({"month": pd.to_datetime(["2024-01-01"]), "rate": [4.0]}),
        "consumer_prices": pd.DataFrame({"month": pd.to_datetime(["2024-01-01"]), "inflation": [3.0], "income": [1.0]}),
    }
    with open_frames(frames) as made:
        yield made


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What was the unemployment rate in March 1995?", "frames"),
        ("In which month was inflation highest?", "frames"),
        ("What was Oakgate Water's total revenue in 2021?", "filings"),
        ("What was Oakgate Water's operating income in 2021?", "filings"),
        ("Did Oakgate Water's revenue grow faster than inflation?", None),
        ("Did Oakgate Water's net income follow personal income?", None),
        ("What do the covenants of Oakgate Water say?", None),
        ("Which companies suffered most from inflation?", None),
        ("Which 10-K speaks of unemployment?", None),
        ("And in 2019?", None),
        ("How high were the waves?", None),
        ("How did revenue growth compare with inflation?", None),
    ],
)
def test_one_source_only_where_nothing_points_to_another(
    macro: Any, library: Library, question: str, name: str | None
) -> None:
    assert route(question, Sources.of([macro, library])) == name


def test_of_two_warehouses_the_one_that_knows_every_word(macro: Any, warehouse: Any) -> None:
    sources = Sources.of([macro, warehouse])
    assert route("What was the unemployment rate?", sources) == "frames"
    assert route("What were sales a month by region?", sources) == "sales"
    assert route("How did sales move with unemployment?", sources) is None
    assert route("How did sales move with the weather?", sources) is None
