"""What is done with an answer: its rows, its chart, its SELECT edited, replayed, exported, judged."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from counted import shows

if TYPE_CHECKING:
    from tests.app.browser.conftest import Visitor

SALES = "SELECT date, amount FROM sales ORDER BY date"


@pytest.fixture
def table(visitor: Visitor, desk: Any) -> Visitor:
    """A visitor with a table of six months before them."""
    plan = desk.plan(select=SALES, columns=("date", "amount"), code="", kind="table", about="All sales.")
    desk.says("planning", plan.replace("[[ ## unit ## ]]\n", "[[ ## unit ## ]]\npieces"))
    visitor.go()
    visitor.ask("Show the sales by month")
    return visitor


def cells(visitor: Visitor, column: int) -> list[str]:
    texts: list[str] = visitor.last.locator(f".table-wrap tbody td:nth-child({column})").all_inner_texts()
    return texts


def test_rows_are_sorted_and_downloaded(table: Visitor) -> None:
    first = cells(table, 1)
    assert first[0] == "2020-01-01"
    assert "Unit pieces" in table.last.locator(".about").inner_text()
    table.last.get_by_role("button", name="date").click()
    table.settle()
    table.last.get_by_role("button", name="date").click()
    table.page.wait_for_selector("th[aria-sort=descending]")
    assert cells(table, 1) == first[::-1]
    with table.page.expect_download() as download:
        table.last.get_by_role("link", name="CSV").click()
    rows = list(csv.reader(io.StringIO(Path(download.value.path()).read_text("utf-8-sig"))))
    assert rows[0] == ["date", "amount"]
    assert len(rows) == 7
    with table.page.expect_download() as download:
        table.last.get_by_role("link", name="Excel").click()
    assert Path(download.value.path()).read_bytes().startswith(b"PK")


def test_rows_that_are_sorted_stay_where_the_person_looks(table: Visitor) -> None:
    table.ask("Show the sales by month once more")
    page, first = table.page, table.page.locator(".turn").first
    first.locator("th button").first.scroll_into_view_if_needed()
    before = page.evaluate("() => document.querySelector('.scroll').scrollTop")
    first.locator("th button").first.click()
    page.wait_for_selector("th[aria-sort=ascending]")
    table.settle()
    assert page.evaluate("() => document.querySelector('.scroll').scrollTop") == before


def test_what_could_not_be_copied_is_not_said_to_be(table: Visitor) -> None:
    refuse = "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }"
    table.page.evaluate(refuse)
    table.last.get_by_role("button", name="SELECT").click()
    table.last.locator("[id^=select-] [data-copy]").first.click()
    table.last.get_by_text("Not copied").wait_for()


def test_the_chart_is_drawn_read_by_keys_and_downloaded(table: Visitor) -> None:
    chart = table.last.locator("[data-chart]")
    assert shows(chart.locator("canvas"), 1)
    chart.focus()
    table.page.keyboard.press("ArrowRight")
    table.last.locator("section[aria-label=Chart] [role=status]", has_text="2020-01-01: amount 918273645.5").wait_for()
    with table.page.expect_download() as download:
        table.last.get_by_role("link", name="SVG").click()
    assert b"<svg" in Path(download.value.path()).read_bytes()


def test_an_edited_select_is_a_new_answer(table: Visitor) -> None:
    table.last.get_by_role("button", name="SELECT").click()
    area = table.last.locator("textarea.code")
    assert table.last.locator(".code-box .k").first.inner_text() == "SELECT"
    area.fill("SELECT region, sum(amount) AS amount FROM sales GROUP BY region ORDER BY region")
    table.last.get_by_role("button", name="Run again").click()
    table.page.locator(".turn").nth(1).wait_for()
    table.settle()
    assert cells(table, 1) == ["north", "south"]
    assert "SELECT edited by hand" in table.last.inner_text()


def test_an_edited_select_passes_the_same_checks(table: Visitor) -> None:
    table.last.get_by_role("button", name="SELECT").click()
    table.last.locator("textarea.code").fill("DELETE FROM sales")
    table.last.get_by_role("button", name="Run again").click()
    table.page.locator(".turn .note.bad, #toasts .note").first.wait_for()
    assert table.page.locator(".turn").count() <= 2


def test_an_answer_is_replayed_and_taken_along(table: Visitor) -> None:
    table.last.get_by_role("button", name="Replay").click()
    table.page.get_by_text("Replayed without a model: the same answer").wait_for()
    table.last.get_by_role("button", name="Record").click()
    with table.page.expect_download() as download:
        table.last.get_by_role("link", name="As a Python script").click()
    assert "SELECT date, amount" in Path(download.value.path()).read_text()
    with table.page.expect_download() as download:
        table.last.get_by_role("link", name="Record").click()
    assert '"seal"' in Path(download.value.path()).read_text()


def test_an_answer_is_judged_with_a_reason(table: Visitor) -> None:
    table.last.get_by_role("button", name="Wrong").click()
    table.page.locator("#reason").fill("Returns are not taken off")
    table.page.get_by_role("button", name="Keep", exact=True).click()
    table.page.wait_for_selector(".turn button[aria-label=Wrong][aria-pressed=true]")
    assert not table.page.locator("#dialog").is_visible()
    table.page.reload()
    assert table.last.get_by_role("button", name="Wrong").get_attribute("aria-pressed") == "true"
