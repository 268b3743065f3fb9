"""Texts that would be scripts, in every place that a page shows: rendered in the browser, none runs and nothing is asked of another address.

A report and what a notebook shows are opened as files, which no content security policy guards.
"""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import openpyxl
import pandas as pd
import pytest
from tests.app.browser.test_safety import harmless

from finexpert.batch.answer_rows import AnswerRow
from finexpert.batch.reports.running import Made, Section
from finexpert.batch.reports.writing import html, workbook
from finexpert.core.answers import Answer
from finexpert.core.display.parts import Code

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from tests.app.browser.conftest import Visitor

TEXTS = (
    "<script>window.hacked = 1</script>",
    '<img src=x onerror="window.hacked = 1">',
    "\"><svg onload='window.hacked = 1'>",
    "' onmouseover='window.hacked = 1' x='",
    "</title><script>window.hacked = 1</script>",
    "</style><script>window.hacked = 1</script>",
    "</textarea><script>window.hacked = 1</script>",
    "--><script>window.hacked = 1</script>",
    "]]><script>window.hacked = 1</script>",
    "<iframe srcdoc='<script>parent.hacked = 1</script>'>",
    "<a href=javascript:window.hacked=1>x</a>",
    "<meta http-equiv=refresh content='0;url=https://elsewhere.example'>",
    "<link rel=stylesheet href=https://elsewhere.example/x.css>",
    "<base href=https://elsewhere.example/>",
    "<form action=https://elsewhere.example><input type=image src=https://elsewhere.example/x>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.hacked=1>",
    "{{ ''.__class__ }}{% set x = 1 %}",
    "${window.hacked = 1}`",
    "\u2028window.hacked = 1//",
    "![x](https://elsewhere.example/?q=)",
    "&lt;script&gt;window.hacked = 1&lt;/script&gt;",
    "+ADw-script+AD4-window.hacked=1+ADw-/script+AD4-",
    "\x00<script>window.hacked = 1</script>",
    "<scr\x00ipt>window.hacked = 1</scr\x00ipt>",
)
_MADE = "script, iframe, svg, [onerror], [onload], [onmouseover], a[href^=javascript], link[href], base, form, math, meta[http-equiv=refresh]"


def table(text: str) -> pd.DataFrame:
    return pd.DataFrame({text: [text, "x"], f"n {text}": [1.5, 2.0], "=1+1": ["=cmd|' /C calc'!A0", "@SUM(1)"]})


def a_report(text: str) -> Made:
    row = AnswerRow(
        status="answered",
        text=text,
        unit=text,
        period=text,
        explanation=text,
        flags=[text],
        citations=[text],
        record=text,
    )
    failed = AnswerRow(status="failed", reason=text, failed_layer=text, failed_kind=text)
    code = [Code(text, "sql", text), Code(text, "python", text)]
    sections = [
        Section(text, text, row, text, text, table(text), [], code),
        Section(text, text, failed, text, text, None, [], code),
    ]
    return Made(text, {text: text}, text, text, dt.datetime(2024, 1, 2, 3, 4), dt.date(2024, 1, 2), sections)


def a_notebook(text: str) -> str:
    answers = [
        Answer(question=text, status="answered", value=value, explanation=text, flags=[text], period=text)
        for value in (text, table(text))
    ]
    return "".join(answer._repr_html_() for answer in answers)


@pytest.mark.parametrize("made", [lambda text: html(a_report(text)), a_notebook], ids=["report", "notebook"])
def test_what_is_opened_as_a_file_runs_nothing(chromium: Browser, tmp_path: Path, made: Callable[[str], str]) -> None:
    context = chromium.new_context()
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    for number, text in enumerate(TEXTS):
        file = tmp_path / f"{number}.html"
        file.write_text("<!doctype html><meta charset=utf-8>" + made(text), "utf-8")
        page.goto(file.as_uri())
        for element in page.locator("summary").all():
            element.click()
        page.mouse.move(200, 200)
        assert page.evaluate("() => window.hacked") is None, text
        assert page.locator(_MADE).count() == 0, text
        assert [url for url in asked if not url.startswith((file.as_uri(), "data:"))] == [], text
        asked.clear()
    context.close()


def test_a_workbook_holds_no_formula_and_no_link(tmp_path: Path) -> None:
    for text in ('=HYPERLINK("https://elsewhere.example")', "+1+1", "-1+1", "@SUM(1)", "\t=1+1", *TEXTS):
        book = openpyxl.load_workbook(io.BytesIO(workbook(a_report(text))))
        for sheet in book:
            for cell in (cell for row in sheet for cell in row):
                assert cell.data_type != "f", (text, cell.coordinate)
                assert cell.hyperlink is None


@pytest.mark.parametrize("number", range(0, len(TEXTS), 4))
def test_what_a_page_names_is_text(
    make_desk: Callable[..., Any],
    serving: Callable[..., Any],
    visit: Callable[..., Visitor],
    desk: Any,
    tmp_path: Path,
    number: int,
) -> None:
    """Names of sources, tables, filings, files, conversations and terms, pages of filings, and what an error repeats."""
    from finexpert.app.desk import GivenSource
    from finexpert.embeddings.embedding import embedder
    from finexpert.filings.library.adding import add_file
    from finexpert.filings.library.library import Library
    from finexpert.filings.readers.cover import Given

    texts = [text for text in TEXTS[number : number + 4] if "\x00" not in text and "\u2028" not in text] or TEXTS[:1]
    folder = tmp_path / "library"
    with Library.open(folder, make=True, embedder=embedder("words")) as library:
        for place, text in enumerate(texts):
            file = tmp_path / f"HRB{place}_2022.txt"
            file.write_text(f"Net revenue was 412 million in 2022. {text}\n" * 3)
            (added,) = add_file(library, file, Given(company=text, ticker=f"HRB{place}", kind="10-K"))
            assert added.outcome == "added", added.message
    (tmp_path / "tables").mkdir()
    for place, text in enumerate(texts):
        name = text.replace("/", "\u2044")[:60]
        (tmp_path / "tables" / f"{name}{place}.csv").write_text(f'"{text.replace(chr(34), chr(34) * 2)}",n\n1,2\n')
    sources = [GivenSource("Filings", "library", str(folder)), GivenSource("Tables", "data", str(tmp_path / "tables"))]
    with serving(make_desk(sources=sources)) as server:
        visitor = visit(server.address)
        page = visitor.go("/sources")
        for link in [each.get_attribute("href") for each in page.locator("a[href^='/sources/']").all()]:
            visitor.go(link or "/")
            harmless(visitor)
        for text in texts:
            response = page.request.post(
                server.address + "/api/conversations", data=json.dumps({"source": "Tables", "name": text[:100]}),
                headers={"content-type": "application/json", "origin": server.address},
            )  # fmt: skip
            assert response.status == 201, response.text()
            page.request.post(
                server.address + "/api/terms", data=json.dumps({"term": text[:80], "meaning": text}),
                headers={"content-type": "application/json", "origin": server.address},
            )  # fmt: skip
            for path in (
                f"/?source={text}",
                f"/sources/{text}",
                f"/knowledge?search={text}",
                f"/{text}",
                f"/login?next={text}",
            ):
                page.goto(server.address + path.replace("#", "%23"))
                assert page.evaluate("() => window.hacked") is None
        for path in ("/", "/knowledge", "/knowledge/terms", "/sources"):
            visitor.go(path)
            harmless(visitor)
