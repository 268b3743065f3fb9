"""What is not trusted stays text, people do not see each other, and nothing leaves the machine.

`conftest._watched` fails every test of this folder in which a request leaves the machine, or the content security policy is breached.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pandas as pd
import pytest
from counted import shows

from finexpert.app.people import access
from finexpert.app.people.people import Role

if TYPE_CHECKING:
    from tests.app.browser.conftest import Visitor

ATTACKS = (
    '<img src=x onerror="window.hacked = 1">',
    "<script>window.hacked = 1</script>",
    "\"><svg onload='window.hacked = 1'>",
    "</script><script>window.hacked = 1</script>",
    "{{ 7 * 7 }}<b>bold</b>",
    "javascript:window.hacked=1",
    "<a href='javascript:window.hacked=1'>x</a>",
    "<div hx-get='/evil' hx-trigger='load'>",
    "\u202egnp.exe",
)


def harmless(visitor: Visitor) -> None:
    """Nothing that was put in ran, or became a part of the page."""
    assert visitor.page.evaluate("() => window.hacked") is None
    for made in (
        "img[src=x]",
        "svg[onload]",
        "[hx-get='/evil']",
        "a[href^=javascript]",
        ".untrusted b:has-text('bold')",
    ):
        assert visitor.page.locator(made).count() == 0, made
    assert "\u202e" not in visitor.page.content()


def test_cells_and_names_of_columns_are_text(visitor: Visitor, desk: Any, tmp_path: Path) -> None:
    file = tmp_path / "hostile.csv"
    pd.DataFrame({ATTACKS[0]: ATTACKS[:6], "n": range(6), "day": ["2020-01-01"] * 6}).to_csv(file, index=False)
    visitor.go("/sources")
    visitor.page.locator("#file").set_input_files(file)
    visitor.page.locator("#file-name").fill("<i>hostile</i>")
    visitor.page.get_by_role("button", name="Connect the file").click()
    visitor.page.wait_for_url("**/sources/*")
    harmless(visitor)
    select = 'SELECT * EXCLUDE (day), n AS "</script><script>window.hacked = 1</script>" FROM hostile ORDER BY n'
    desk.says(
        "planning",
        desk.plan(select=select, columns=(ATTACKS[0], "n", ATTACKS[3]), code="", kind="table", about=ATTACKS[1]),
    )
    visitor.page.get_by_role("link", name="Ask it").click()
    visitor.page.wait_for_url("**/?source=*")
    visitor.ask("Show all")
    assert shows(visitor.last.locator(".table-wrap tbody tr"), 6)
    assert ATTACKS[0] in visitor.last.locator(".table-wrap").inner_text()
    visitor.last.get_by_role("button", name="SELECT").click()
    visitor.last.get_by_role("button", name="Plan").click()
    harmless(visitor)


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_questions_and_names_are_text(visitor: Visitor, desk: Any, attack: str) -> None:
    desk.says("planning", desk.plan(about=attack, unclear=""))
    visitor.go()
    visitor.ask(f"How many? {attack}")
    visitor.page.reload()
    harmless(visitor)


def test_what_a_chart_is_drawn_of_is_text(visitor: Visitor, desk: Any) -> None:
    select = f"""SELECT 'a' || row_number() OVER (ORDER BY date) || '{ATTACKS[3]}' AS "{ATTACKS[1]}", row_number() OVER (ORDER BY date) AS "{ATTACKS[0].replace('"', "")}" FROM sales"""
    columns = (ATTACKS[1], ATTACKS[0].replace('"', ""))
    desk.says("planning", desk.plan(select=select, columns=columns, code="", kind="table"))
    visitor.go()
    visitor.ask("Draw it")
    assert shows(visitor.last.locator("[data-chart] canvas"), 1), visitor.last.inner_text()
    assert "onerror" in visitor.last.locator(".u-legend").inner_text()
    harmless(visitor)


def test_what_was_taught_and_asked_back_is_text(visitor: Visitor, desk: Any) -> None:
    desk.says("planning", desk.plan(unclear=ATTACKS[0]), desk.plan())
    visitor.go()
    visitor.ask(f"How many {ATTACKS[0]} were there?")
    harmless(visitor)
    visitor.go("/knowledge/terms")
    visitor.page.locator("#term").fill("odd term")
    visitor.page.locator("#meaning").fill(f"{ATTACKS[1]} {ATTACKS[7]}")
    with visitor.page.expect_navigation():
        visitor.page.get_by_role("button", name="Keep", exact=True).click()
    assert ATTACKS[1] in visitor.page.locator("h1 + span + p").inner_text()
    harmless(visitor)


def test_the_policy_lets_nothing_in(server: Any) -> None:
    reply = httpx.get(server.address)
    policy = reply.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "script-src 'self';" in policy
    assert "default-src 'none'" in policy
    assert reply.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    "path", ["/static/../page.py", "/static/..%2fpage.py", "/static/%2e%2e/mounting.py", "/static/templates/base.html"]
)
def test_only_the_files_of_the_page_are_served(server: Any, path: str) -> None:
    assert httpx.get(server.address + path).status_code in (400, 404, 422)


@pytest.fixture
def guarded(make_desk: Callable[..., Any], serving: Callable[..., Any]) -> Any:
    """A server with a login, and the tokens of two readers and a teacher."""
    desk = make_desk(options={"login": True})
    roles: tuple[tuple[str, Role], ...] = (("ann", "reader"), ("ben", "reader"), ("eve", "teacher"))
    made = {
        name: access.make_token(desk.state, name, role=role, team="local", days=1, made_by="owner")[1]
        for name, role in roles
    }
    with serving(desk) as server:
        yield server.address, made


def log_in(visitor: Visitor, token: str) -> None:
    visitor.page.locator("#token").fill(token)
    visitor.page.get_by_role("button", name="Log in").click()


def test_a_login_is_asked_for_and_left(guarded: Any, visit: Callable[..., Visitor]) -> None:
    address, tokens = guarded
    visitor = visit(address)
    page = visitor.go("/knowledge")
    assert "/login" in page.url
    log_in(visitor, "fx_wrong")
    assert "not known" in page.get_by_role("alert").inner_text()
    log_in(visitor, tokens["ann"])
    page.wait_for_url("**/knowledge")
    assert page.locator(".foot").inner_text().startswith("ann")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    visitor.go("/")
    assert "/login" in page.url


def test_two_people_do_not_see_each_other(guarded: Any, visit: Callable[..., Visitor], desk: Any) -> None:
    address, tokens = guarded
    desk.says("planning", desk.plan())
    ann, ben = visit(address), visit(address)
    for visitor, name in ((ann, "ann"), (ben, "ben")):
        visitor.go("/login")
        log_in(visitor, tokens[name])
        visitor.page.wait_for_url(f"{address}/")
    ann.ask("How many months are mine?")
    ben.go("/")
    assert ben.page.locator(".talk").count() == 0
    place = ann.page.url.removeprefix(address)
    answer = str(ann.last.get_attribute("id")).removeprefix("turn-")
    for path in (place, f"/a/{answer}/record.json", f"/a/{answer}/table.csv", f"/a/{answer}/export.py"):
        reply = ben.page.request.get(address + path)
        assert reply.status == 404, path
        assert "mine" not in reply.text()
    ben.go(place)
    assert "There is nothing here" in ben.page.content()


def test_a_reader_is_offered_nothing_that_a_teacher_does(
    guarded: Any, visit: Callable[..., Visitor], desk: Any
) -> None:
    address, tokens = guarded
    desk.says("planning", desk.plan())
    visitor = visit(address)
    visitor.go("/login")
    log_in(visitor, tokens["ann"])
    visitor.page.wait_for_url(f"{address}/")
    visitor.ask("How many months?")
    assert visitor.last.get_by_role("button", name="Remember").count() == 0
    visitor.go("/knowledge/terms")
    assert visitor.page.locator("form[hx-post]").count() == 0
    visitor.go("/sources")
    assert visitor.page.locator("#address").count() == 0
    reply = visitor.page.request.post(
        f"{address}/knowledge/terms", form={"term": "a", "meaning": "b"}, headers={"origin": address}
    )
    assert reply.status == 403
