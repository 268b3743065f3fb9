"""Teaching on the page: remember, see it tried, use it, settle a clash, edit it, take it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from counted import shows

if TYPE_CHECKING:
    from tests.app.browser.conftest import Visitor


def taught(visitor: Visitor, desk: Any, heading: str = "Month count") -> None:
    """Ask once, and have it remembered."""
    desk.says("planning", desk.plan())
    desk.says("memorization", desk.process(heading=heading))
    visitor.go()
    visitor.ask("How many months with sales were there?")
    visitor.last.get_by_role("button", name="Remember").click()
    visitor.page.locator("#heading").fill(heading)
    visitor.page.get_by_role("button", name="Write it down and try it").click()
    visitor.page.locator("#dialog .process").first.wait_for()


def test_a_process_is_tried_before_ones_eyes_and_used(
    visitor: Visitor, desk: Any, faults: Callable[..., list[str]]
) -> None:
    taught(visitor, desk)
    dialog = visitor.page.locator("#dialog")
    assert "it gave the result that you accepted" in dialog.inner_text()
    assert "Count the months with sales." in dialog.inner_text()
    assert faults(visitor.page) == []
    dialog.get_by_role("button", name="Done").click()
    desk.says("planning", desk.plan(follows=(1,)))
    visitor.go()
    visitor.ask("Give me the month count")
    assert "Follows the process “Month count”" in visitor.last.inner_text()


def test_what_does_not_give_the_accepted_result_is_a_draft(visitor: Visitor, desk: Any) -> None:
    desk.says("planning", desk.plan(), desk.plan(code="answer = len(sales) + 1"))
    desk.says("memorization", desk.process())
    visitor.go()
    visitor.ask("How many months with sales were there?")
    visitor.last.get_by_role("button", name="Remember").click()
    visitor.page.get_by_role("button", name="Write it down and try it").click()
    visitor.page.get_by_text("Kept as a draft, which is not used").wait_for()
    visitor.go("/knowledge")
    assert "draft, not used" in visitor.page.locator(".entries").inner_text()


def test_a_clash_is_shown_side_by_side_and_settled(
    visitor: Visitor, desk: Any, faults: Callable[..., list[str]]
) -> None:
    taught(visitor, desk)
    step = {"text": "Count them in another way.", "sql": desk.good, "code": "answer = int(sales['amount'].count())"}
    desk.says("planning", desk.plan())
    desk.says("memorization", desk.process(steps=[step]))
    visitor.go()
    visitor.ask("How many months with sales were there?")
    visitor.last.get_by_role("button", name="Remember").click()
    visitor.page.get_by_role("button", name="Write it down and try it").click()
    visitor.page.locator(".beside").wait_for()
    assert "Count the months with sales." in visitor.page.locator(".beside").inner_text()
    assert "Count them in another way." in visitor.page.locator(".beside").inner_text()
    assert faults(visitor.page) == []
    visitor.page.get_by_role("button", name="Replace the known one").click()
    visitor.page.get_by_text("it gave the result that you accepted").wait_for()
    visitor.page.get_by_role("link", name="Open it").click()
    visitor.page.wait_for_url("**/knowledge/processes/**")
    assert faults(visitor.page) == []
    assert "Count them in another way." in visitor.page.locator(".process").inner_text()


def test_a_process_is_edited_and_taken_back(visitor: Visitor, desk: Any) -> None:
    taught(visitor, desk)
    page = visitor.page
    page.get_by_role("link", name="Open it").click()
    page.wait_for_url("**/knowledge/processes/**")
    page.get_by_role("button", name="Edit").click()
    area = page.locator("#edit-process textarea")
    area.fill(area.input_value().replace("Count the months with sales.", "Count every month with sales."))
    with page.expect_navigation():
        page.get_by_role("button", name="Keep as a new version").click()
    assert "Count every month with sales." in page.locator(".process").inner_text()
    assert "draft, not used" in page.locator(".page-head").inner_text()
    page.get_by_role("button", name="Try it again").click()
    page.get_by_text("it gave the result that you accepted").wait_for()
    page.reload()
    assert "in use" in page.locator(".page-head").inner_text()
    assert shows(page.locator(".talk"), 1)
    page.get_by_text("What it changed").first.click()
    assert "+1. Count every month with sales." in page.locator(".entries").inner_text()
    with page.expect_navigation():
        page.get_by_role("button", name="Go back to it").last.click()
    assert "Count the months with sales." in page.locator(".process").inner_text()
    page.on("dialog", lambda dialog: dialog.accept())
    with page.expect_navigation():
        page.get_by_role("button", name="Take out of use").click()
    assert "Nothing has been taught yet" in page.locator(".entries").inner_text()


def test_what_is_no_process_is_not_kept(visitor: Visitor, desk: Any) -> None:
    taught(visitor, desk)
    page = visitor.page
    page.get_by_role("link", name="Open it").click()
    page.wait_for_url("**/knowledge/processes/**")
    page.get_by_role("button", name="Edit").click()
    page.locator("#edit-process textarea").fill("nothing")
    page.get_by_role("button", name="Keep as a new version").click()
    page.get_by_text("this is not the text of a process").wait_for()


def test_a_term_is_explained_and_changed(visitor: Visitor) -> None:
    page = visitor.go("/knowledge/terms")
    page.locator("#term").fill("stress month")
    page.locator("#meaning").fill("a month with a spread below 0.5")
    with page.expect_navigation():
        page.get_by_role("button", name="Keep", exact=True).click()
    page.locator("#meaning").fill("a month with a spread below 0.25")
    with page.expect_navigation():
        page.get_by_role("button", name="Keep", exact=True).click()
    history = page.locator(".entries").inner_text()
    assert "below 0.5" in history
    assert "below 0.25" in history
