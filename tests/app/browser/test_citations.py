"""A citation opens the page of the filing beside the answer: the PDF's own page as a picture, with what was cited marked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from counted import shows

from finexpert.embeddings.embedding import embedder
from finexpert.filings.library.adding import add_file
from finexpert.filings.library.library import Library
from finexpert.filings.readers.cover import Given

if TYPE_CHECKING:
    from tests.app.browser.conftest import Visitor

LINES = (
    (720, ("Oakgate Water Inc.",)),
    (700, ("Consolidated Statements of Operations, year ended December 31, 2022",)),
    (660, ("(in millions)", "2022", "2021")),
    (640, ("Net sales", "$ 500", "$ 400")),
    (620, ("Cost of sales", "300", "250")),
    (600, ("Operating income", "100", "60")),
    (580, ("Income taxes", "21", "13")),
    (560, ("Net income", "79", "47")),
    (520, ("Operating income rose because of higher prices, which the regulator allowed in March 2022.",)),
)
COLUMNS = (72, 380, 470)


COVER = ((720, ("Oakgate Water Inc.",)), (700, ("Annual report on Form 10-K for the year ended December 31, 2022",)))
ABOUT = (
    (720, ("Item 1. Business",)),
    (700, ("Oakgate Water Inc. sells water to towns in Vermont, Marlow and Delmont among them.",)),
)


def write_pdf(path: Path) -> None:
    """A filing of three pages, the statement on the last; its words can be read as text."""
    import matplotlib as mpl
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure

    with mpl.rc_context({"pdf.fonttype": 42}), PdfPages(path) as pages:
        for lines in (COVER, ABOUT, LINES):
            figure = Figure(figsize=(8.5, 11))
            for height, texts in lines:
                for left, text in zip(COLUMNS, texts, strict=False):
                    figure.text(left / 612, height / 792, text, fontsize=11, family="DejaVu Sans", parse_math=False)
            pages.savefig(figure)


@pytest.fixture
def filings(tmp_path: Path) -> Path:
    """A library of one filing: a PDF of a page."""
    write_pdf(tmp_path / "OAKGATE_2022_10K.pdf")
    with Library.open(tmp_path / "library", embedder=embedder("words"), make=True) as library:
        added = add_file(
            library, tmp_path / "OAKGATE_2022_10K.pdf", Given("Oakgate Water Inc.", "OAK", 2022, None, "10-K")
        )
        assert [each.outcome for each in added] == ["added"], added
        library.refresh()
    return tmp_path / "library"


def say(desk: Any) -> None:
    """The model's two answers: which pages, and what stands on them."""
    desk.says(
        "library_search",
        desk.fields(
            companies=["Oakgate Water"], years=[2022], statements=["income statement"], searches=["operating income"]
        ),
    )
    number = {"name": "i22", "page": "P1", "quote": "Operating income | 100 | 60", "number": "100"}
    quote = "Operating income rose because of higher prices"
    drove = {"name": "up", "says": "Prices rose.", "page": "P1", "quote": quote}
    said: dict[str, Any] = {
        "numbers": [number], "computed": [], "statements": [drove], "kind": "number", "result": "i22", "listed": [],
        "answer": [{"says": "Operating income was {i22}.", "rests_on": ["i22"]}, {"says": "Higher prices drove it.", "rests_on": ["up"]}],
        "answers": "true", "missing": "", "searches": [],
    }  # fmt: skip
    desk.says("library_reading", desk.fields(**said))


def test_a_citation_is_shown_on_its_page(
    make_desk: Callable[..., Any],
    serving: Callable[..., Any],
    visit: Callable[..., Visitor],
    filings: Path,
    desk: Any,
    keep: Callable[..., None],
    faults: Callable[..., list[str]],
) -> None:
    from finexpert.app.desk import GivenSource

    say(desk)
    with serving(make_desk(sources=[GivenSource("Filings", "library", str(filings))])) as server:
        visitor = visit(server.address, viewport={"width": 1440, "height": 860}, color_scheme="light")
        visitor.go()
        visitor.ask("What was Oakgate Water's operating income in FY2022, and what drove it?")
        assert "100" in visitor.last.locator(".value").inner_text(), json.dumps(visitor.last.inner_text())
        assert visitor.last.locator(".said").inner_text().split() == [
            *("Operating", "income", "was", "100", "million", "USD.", "1", "Higher", "prices", "drove", "it.", "2")
        ]
        visitor.last.get_by_role("button", name="Page of citation 1").click()
        panel = visitor.page.locator("#panel")
        panel.locator(".paper img").wait_for()
        assert "Oakgate Water Inc., FY 2022, p. 3" in panel.locator("h2").inner_text()
        assert panel.locator(".paper img").evaluate("image => image.decode().then(() => image.naturalWidth)") > 500
        assert shows(panel.locator("rect"), 2)
        keep(visitor.page, "citation-light")
        assert faults(visitor.page) == []
        panel.get_by_text("The page's words").click()
        assert "100" in panel.locator("mark").all_inner_texts()
        visitor.page.keyboard.press("Escape")
        assert not panel.is_visible()
        assert visitor.page.evaluate("() => document.activeElement.textContent.trim()") == "1"
