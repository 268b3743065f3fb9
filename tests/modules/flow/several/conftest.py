"""A small warehouse of sales beside a small library of filings; rows of the warehouse hold canaries."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from finexpert.embeddings.embedding import embedder
from finexpert.filings.library.library import Library
from finexpert.filings.records import FilingInfo, LibraryPage

INCOME = (
    ("(in millions)", "2021", "2020"),
    ("Net sales", "$ 500", "$ 400"),
    ("Operating income", "100", "60"),
)
WORDS = "The credit agreement limits total leverage to 3.5 times, and the company was in compliance with this covenant."


def page(number: int, table: tuple[tuple[str, ...], ...], *text: str) -> LibraryPage:
    return LibraryPage(
        f"oakgate/2021/page_{number}", "oakgate/2021", "Oakgate Water Inc.", "", 2021, None, "10-K", "", number, text, table, ()
    )  # fmt: skip


@pytest.fixture
def library(tmp_path: Path, own_home: Path) -> Iterator[Library]:
    with Library.open(tmp_path / "filings", embedder=embedder("words"), make=True) as made:
        info = FilingInfo(
            "oakgate/2021", "Oakgate Water Inc.", "", 2021, None, "10-K", "", "OAKGATE_2021_10K.pdf", "1", 2, dt.datetime.now(dt.UTC)
        )  # fmt: skip
        made.add([page(1, INCOME, "Consolidated Statements of Operations"), page(2, (), WORDS)], info)
        yield made


@pytest.fixture
def revenue() -> dict[str, Any]:
    """The part of a plan that reads two years of net sales."""
    return {
        "source": "filings",
        "name": "revenue",
        "question": "What were Oakgate Water's net sales in 2020 and 2021?",
        "columns": [{"name": "year", "kind": "year"}, {"name": "sales", "kind": "number", "unit": "million USD"}],
        "companies": ["Oakgate Water"],
        "years": [2021],
        "statements": ["income statement"],
        "searches": ["net sales"],
    }


@pytest.fixture
def amounts() -> dict[str, Any]:
    """The part of a plan that adds up the rows of a warehouse by year."""
    return {
        "source": "sales",
        "name": "amounts",
        "question": "What was the sum of amounts in each year?",
        "columns": [{"name": "year", "kind": "year"}, {"name": "amount", "kind": "number"}],
        "select": "SELECT year(date) AS year, sum(amount) AS amount FROM sales GROUP BY year(date) ORDER BY year",
    }


@pytest.fixture
def rows() -> Callable[..., dict[str, Any]]:
    """What a model reads on the page of net sales."""

    def read(**changes: Any) -> dict[str, Any]:
        numbers = [
            {"name": "s21", "page": "P1", "quote": "Net sales | $ 500", "number": "$ 500"},
            {"name": "s20", "page": "P1", "quote": "Net sales | $ 500 | $ 400", "number": "$ 400"},
        ]
        said = {"missing": "", "numbers": numbers, "computed": [], "statements": []}
        return said | {"rows": [["2020", "{s20}"], ["2021", "{s21}"]], "answers": "true", "searches": []} | changes

    return read


@pytest.fixture
def planned(desk: Any) -> Callable[..., str]:
    """A plan over several sources, as a model writes it."""

    def plan(*parts: dict[str, Any], combine: str = "", kind: str = "number", **said: str) -> str:
        given = {"understood": "as asked", "unclear": "", "missing": "", "parts": list(parts), "combine": combine}
        return str(desk.fields(**given | {"answer_kind": kind, "unit": ""} | said))

    return plan
