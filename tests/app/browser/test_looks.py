"""How the page looks and reads: axe finds no serious fault on any screen, light, dark and on a phone; keys alone are enough.

    FINEXPERT_TEST_SCREENS=docs/screens pytest -m browser tests/app/browser/test_looks.py       writes the screenshots of the docs

The screens are real answers over the sample economy, from recorded completions.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from counted import shows

if TYPE_CHECKING:
    from tests.app.browser.conftest import Visitor

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "has_touch": True,
        "is_mobile": True,
        "device_scale_factor": 1,
    },
}
RECESSIONS = "How many recessions have there been in the last 30 years?"
FALLS = (
    "Show real GDP quarter by quarter since 2000, with a running count of how many quarters in a row it has been lower than in "
    "the quarter before."
)
UNEMPLOYMENT = "Plot the unemployment rate and its 12-month moving average since January 2000, and tell me when the moving average was highest."


LESSON = (
    FALLS,
    "The count should go back to 0 in every quarter in which real GDP rises.",
    "A recession starts in the quarter in which the count becomes 2.",
    "It ends in the quarter before the count goes back to 0.",
    "Put both into the table, as True or False.",
    (
        "When did the recessions since 2000 start and end, and how many months did each last, counting the first and the last quarter in "
        "full? A table with one row a recession, please."
    ),
)


@pytest.fixture(scope="module")
def economy_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("economy")


@pytest.fixture
def economy(
    economy_home: Path, serving: Callable[..., Any], sandbox: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """A server over the sample economy with recorded completions, and what was asked of it before."""
    from finexpert.app.desk import Desk
    from finexpert.settings import Settings

    monkeypatch.setenv("LOGNAME", "anna")
    # What is taught is kept for one test: it changes the prompts of others.
    settings = Settings(
        store=str(tmp_path / "knowledge.sqlite"),
        home=economy_home,
        lm="recorded",
        as_of=dt.date(2024, 9, 30),
        by="anna",
    )
    with serving(Desk(settings, sandbox=sandbox)) as server:
        yield server


def fits(page: Any) -> bool:
    """Whether nothing stands beside the screen."""
    return bool(page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth"))


@pytest.mark.timeout(600)
def test_the_lesson_of_the_readme_is_taught_and_used(
    economy: Any, visit: Callable[..., Visitor], keep: Callable[..., None]
) -> None:
    visitor = visit(economy.address, **LOOKS["light"])
    page = visitor.go()
    for message in LESSON:
        visitor.ask(message)
        assert shows(visitor.last.locator(".card"), 1), visitor.last.inner_text()
    visitor.last.get_by_role("button", name="Remember").click()
    page.locator("#heading").fill("Recession Calculation")
    page.get_by_role("button", name="Write it down and try it").click()
    page.get_by_text("it gave the result that you accepted").wait_for()
    keep(page, "remembered-light")
    visitor.go()
    visitor.ask("What was the average unemployment rate in the last 30 years, leaving out all recession quarters?")
    assert "Follows the process “Recession Calculation”" in visitor.last.inner_text()
    assert visitor.last.locator(".value").inner_text().startswith("5.80")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("look", LOOKS)
def test_every_screen_is_readable(
    economy: Any, visit: Callable[..., Visitor], keep: Callable[..., None], faults: Callable[..., list[str]], look: str
) -> None:
    visitor = visit(economy.address, **LOOKS[look])
    page, found = visitor.page, {}

    def seen(name: str) -> None:
        visitor.still()
        found[name] = faults(page)
        assert fits(page), name
        keep(page, f"{name}-{look}")

    visitor.go()
    page.locator("[data-example]").first.wait_for()
    seen("home")
    visitor.ask(RECESSIONS)
    visitor.last.get_by_role("button", name="SELECT").click()
    seen("answer")
    visitor.go()
    visitor.ask(FALLS)
    visitor.last.get_by_role("button", name="Plan").click()
    page.locator(".turn").last.evaluate("turn => turn.scrollIntoView({block: 'start'})")
    seen("table")
    visitor.go()
    visitor.ask(UNEMPLOYMENT)
    visitor.last.get_by_role("button", name="Script").click()
    seen("script")
    visitor.last.get_by_role("button", name="Remember").click()
    page.locator("#heading").wait_for()
    seen("remember")
    for path in ("sources", "knowledge", "knowledge/terms", "evaluations"):
        visitor.go(f"/{path}")
        seen(path.replace("/", "-"))
    visitor.go("/sources")
    page.locator(".entries a").first.click()
    page.wait_for_url("**/sources/*")
    seen("source")
    page.get_by_role("link", name="What the tables mean").click()
    page.wait_for_url("**/model")
    seen("model")
    visitor.go("/c/nothing")
    seen("not-found")
    assert {name: each for name, each in found.items() if each} == {}


def test_the_side_bar_opens_on_a_phone(
    economy: Any, visit: Callable[..., Visitor], keep: Callable[..., None], faults: Callable[..., list[str]]
) -> None:
    visitor = visit(economy.address, **LOOKS["phone"])
    page = visitor.go()
    assert not page.locator("#search").is_visible()
    page.get_by_role("button", name="Conversations and pages").click()
    page.locator("#search").wait_for(state="visible")
    visitor.still()
    keep(page, "side-phone")
    assert faults(page) == []
    page.get_by_role("link", name="Sources").click()
    page.wait_for_url("**/sources")


def test_keys_alone_are_enough(visitor: Visitor, desk: Any) -> None:
    desk.says("planning", desk.plan())
    page = visitor.go()
    page.keyboard.type("How many months had sales?")
    page.keyboard.press("Enter")
    page.wait_for_url("**/c/**")
    visitor.settle()
    page.locator("[data-composer] textarea").press("Escape")
    page.keyboard.press("k")
    assert page.evaluate("() => document.activeElement.classList.contains('turn')")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.textContent.trim()") == "Plan":
            break
    page.keyboard.press("Enter")
    assert visitor.last.locator("[id^=plan-]").is_visible()
    page.keyboard.press("?")
    page.locator("#keys").wait_for(state="visible")
    page.keyboard.press("Escape")
    page.locator("#keys").wait_for(state="hidden")
    page.keyboard.press("q")
    assert page.evaluate("() => document.activeElement.tagName") == "TEXTAREA"
    page.keyboard.press("Escape")
    with page.expect_navigation():
        page.keyboard.press("n")
    assert page.url.rstrip("/") == visitor.address


def test_the_colours_are_chosen_and_kept(visitor: Visitor) -> None:
    page = visitor.go()
    button = page.locator("[data-theme-button]")
    assert page.locator("html").get_attribute("data-theme") == "auto"
    button.click()
    button.click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.reload()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.evaluate("() => getComputedStyle(document.body.parentElement).colorScheme") == "dark"
