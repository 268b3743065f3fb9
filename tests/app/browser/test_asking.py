"""Asking on the page: progress, cancel, follow-ups, questions back, and what a reload or a dead server leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from counted import shows

if TYPE_CHECKING:
    from tests.app.browser.conftest import Visitor

COUNT = "SELECT count(*) AS months FROM sales"


def counted(desk: Any, **said: Any) -> str:
    return desk.plan(select=COUNT, columns=("months",), code="", kind="integer", about="The months with sales.", **said)  # type: ignore[no-any-return]


@pytest.fixture
def held(desk: Any) -> Any:
    """A planner that waits until it is let go."""
    gate = threading.Event()

    def plan(prompt: str) -> str:
        gate.wait(30)
        return counted(desk)

    desk.says("planning", plan)
    yield gate
    gate.set()


def test_a_question_is_asked_and_followed_up(visitor: Visitor, desk: Any) -> None:
    desk.says("planning", counted(desk), desk.plan(about="All sales.", kind="table", code="answer = sales"))
    visitor.go()
    assert visitor.page.title() == "finexpert"
    visitor.ask("How many months had sales?")
    assert visitor.last.locator(".value").inner_text().startswith("6")
    assert "The months with sales." in visitor.last.inner_text()
    visitor.ask("Show them")
    assert shows(visitor.last.locator(".table-wrap tbody tr"), 6)
    assert shows(visitor.page.locator(".turn"), 2)
    assert visitor.page.locator(".side [aria-current]").inner_text().startswith("How many months had sales?")


def test_an_example_is_asked_by_a_click(visitor: Visitor, desk: Any) -> None:
    desk.says("planning", counted(desk))
    page = visitor.go()
    page.locator("[data-example]").first.click()
    page.wait_for_url("**/c/**")
    visitor.settle()
    assert shows(visitor.last.locator(".card"), 1)


def test_progress_is_shown_and_a_question_cancelled(visitor: Visitor, desk: Any, held: threading.Event) -> None:
    visitor.go()
    visitor.ask("How many months had sales?", finish=False)
    visitor.page.get_by_text("Planning").first.wait_for()
    assert visitor.page.locator("[data-since]").inner_text().endswith(" s")
    visitor.page.get_by_role("button", name="Cancel").click()
    held.set()
    visitor.settle()
    assert "Cancelled" in visitor.last.inner_text()
    visitor.ask("How many months had sales?")
    assert visitor.last.locator(".value").inner_text().startswith("6")


def test_a_reload_in_the_middle_loses_nothing(visitor: Visitor, held: threading.Event) -> None:
    visitor.go()
    visitor.ask("How many months had sales?", finish=False)
    visitor.page.get_by_text("Planning").first.wait_for()
    visitor.page.reload()
    visitor.page.locator(".progress").get_by_text("Planning").first.wait_for()
    held.set()
    visitor.settle()
    assert visitor.last.locator(".value").inner_text().startswith("6")
    visitor.page.reload()
    assert visitor.last.locator(".value").inner_text().startswith("6")


def test_a_question_is_asked_as_of_a_day_copied_and_edited(visitor: Visitor, desk: Any) -> None:
    desk.says("planning", counted(desk), counted(desk))
    page = visitor.go()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".as-of summary").click()
    page.locator("[name=as_of]").fill("2020-03-31")
    assert page.locator(".as-of [data-day]").inner_text() == "2020-03-31"
    visitor.ask("How many months had sales?")
    assert "As of 2020-03-31" in visitor.last.inner_text()
    # A follow-up is of the same day, until another one is chosen.
    assert page.locator(".as-of [data-day]").inner_text() == "2020-03-31"
    visitor.last.get_by_role("button", name="Copy", exact=True).click()
    visitor.last.get_by_text("Copied").wait_for()
    assert page.evaluate("() => navigator.clipboard.readText()").endswith("The months with sales.")
    visitor.last.hover()
    visitor.last.get_by_role("button", name="Edit the question").click()
    assert page.locator("[data-composer] textarea").input_value() == "How many months had sales?"


def test_a_cancelled_question_is_asked_in_a_new_conversation(
    visitor: Visitor, desk: Any, held: threading.Event
) -> None:
    held.set()
    page = visitor.go()
    visitor.ask("How many months had sales?")
    held.clear()
    visitor.ask("And how many were there in all?", finish=False)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Ask in a new conversation").wait_for()
    held.set()
    with page.expect_navigation():
        page.get_by_role("button", name="Ask in a new conversation").click()
    visitor.settle()
    assert shows(page.locator(".turn"), 1)
    assert "And how many were there in all?" in visitor.last.inner_text()


def test_a_server_that_starts_again_has_everything(
    make_desk: Callable[..., Any], serving: Callable[..., Any], visit: Callable[..., Visitor], desk: Any
) -> None:
    desk.says("planning", counted(desk))
    with serving(make_desk()) as server:
        visitor = visit(server.address)
        visitor.go()
        visitor.ask("How many months had sales?")
        place = visitor.page.url
        port = int(server.address.rpartition(":")[2])
    with serving(make_desk(), port):
        visitor.page.goto(place)
        assert visitor.last.locator(".value").inner_text().startswith("6")
        visitor.ask("How many months had sales?")
        assert shows(visitor.page.locator(".turn"), 2)


def test_an_unknown_term_is_asked_back_and_kept(visitor: Visitor, desk: Any, faults: Callable[..., list[str]]) -> None:
    desk.says("planning", desk.plan(unclear="calm month"), counted(desk, follows=(1,)))
    visitor.go()
    visitor.ask("How many calm months were there?")
    assert "calm month" in visitor.last.locator("form h3").inner_text()
    assert faults(visitor.page) == []
    visitor.last.locator("textarea").fill("a month with sales")
    visitor.last.get_by_role("button", name="Reply").click()
    visitor.page.locator(".turn").nth(1).wait_for()
    visitor.settle()
    assert "calm month: a month with sales" in visitor.last.inner_text()
    assert visitor.page.locator(".turn").first.locator("form").count() == 0
    visitor.go("/knowledge/terms")
    assert "a month with sales" in visitor.page.locator(".entries").inner_text()


def test_a_value_that_is_not_in_its_column_is_clicked(visitor: Visitor, desk: Any) -> None:
    wrong = "SELECT count(*) AS months FROM sales WHERE note = 'zyxw'"
    desk.says(
        "planning",
        lambda prompt: desk.plan(select=wrong, columns=("months",), code="", kind="integer"),
    )
    desk.says("sql_extraction", lambda prompt: desk.fields(select_query=wrong))
    visitor.go()
    visitor.ask("How many months have the note zyxw?")
    chosen = visitor.last.locator(".candidates button")
    assert chosen.count() >= 1
    value = chosen.first.inner_text()
    chosen.first.click()
    visitor.page.locator(".turn").nth(1).wait_for()
    visitor.settle()
    assert visitor.last.locator(".value").inner_text().startswith("1")
    assert all(value not in prompt for prompt in desk.prompts)


def test_a_failed_answer_says_what_to_do(visitor: Visitor, desk: Any) -> None:
    broken = desk.plan(select="SELECT nothing FROM sales", columns=("nothing",), code="", kind="integer")
    desk.says("planning", broken)
    desk.says("sql_extraction", desk.fields(select_query="SELECT nothing FROM sales"))
    visitor.go()
    visitor.ask("How much nothing is there?")
    assert "There is no answer." in visitor.last.locator(".note.bad").inner_text()


def test_conversations_are_found_renamed_and_deleted(visitor: Visitor, desk: Any) -> None:
    desk.says("planning", counted(desk))
    page = visitor.go()
    for question in ("How many months had sales?", "And how many were there in all?"):
        visitor.go()
        visitor.ask(question)
    assert shows(page.locator(".talk"), 2)
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("in all")
    page.wait_for_function("() => document.querySelectorAll('.talk').length === 1")
    page.locator(".talk .more").first.click()
    page.locator("#talk-name").fill("All months")
    with page.expect_navigation():
        page.get_by_role("button", name="Rename", exact=True).click()
    assert page.locator(".talk a").first.inner_text() == "All months"
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator(".talk .more").first.click()
    with page.expect_navigation():
        page.get_by_role("button", name="Delete", exact=True).click()
    assert shows(page.locator(".talk"), 1)
