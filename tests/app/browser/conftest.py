"""A real server with a scripted model, and Debian's Chromium before it. Skipped where no Chromium is installed.

Every page that a test opens is watched: an error in its scripts, a breach of the content security policy, or a request that leaves the
machine fails the test.
"""

from __future__ import annotations

import datetime as dt
import io
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from served import running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from finexpert.app.desk import Desk

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SECONDS = 60
ROOT = Path(__file__).parents[3]
# Read here: a test finds no variable of ours in its environment.
SCREENS = os.environ.get("FINEXPERT_TEST_SCREENS")
KEPT = (
    "home-light", "answer-light", "table-light", "script-dark", "answer-phone", "side-phone", "citation-light", "remembered-light",
    "source-light", "report-light",
)  # fmt: skip
_STILL = """async () => {
  await document.fonts.ready;
  const seen = (image) => image.getBoundingClientRect().top < innerHeight && image.getBoundingClientRect().bottom > 0;
  await Promise.allSettled([...document.images].filter(seen).map((image) => image.decode()));
  const ending = document.getAnimations().filter((each) => Number.isFinite(each.effect.getComputedTiming().endTime));
  await Promise.allSettled(ending.map((each) => each.finished));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
_REFUSED = ("the server responded with a status of 4", "Response Status Error Code 4")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    place = shutil.which("chromium")
    if place is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=place, args=ARGUMENTS)
        yield browser
        browser.close()


@dataclass
class Server:
    """A desk behind an address."""

    desk: Desk
    address: str


@pytest.fixture
def serving() -> Callable[..., AbstractContextManager[Server]]:
    return _serving


@contextmanager
def _serving(desk: Desk, port: int = 0) -> Iterator[Server]:
    """The server of a desk, in a thread; it ends with the block."""
    import uvicorn

    from finexpert.app.server import create_app

    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    config = uvicorn.Config(create_app(desk), log_level="warning", timeout_graceful_shutdown=2)
    with closing(listening), running(config, listening) as (host, bound):
        yield Server(desk, f"http://{host}:{bound}")


@pytest.fixture
def make_desk(desk: Any, warehouse: Any, own_home: Path) -> Callable[..., Desk]:
    """Makes desks over the sales of the tests, with their scripted model."""

    def make(**given: Any) -> Desk:
        from finexpert.app.desk import Desk, GivenSource
        from finexpert.app.options import ServeOptions
        from finexpert.settings import Settings

        settings = Settings(
            home=own_home, as_of=dt.date(2020, 12, 31), cache=False, embedder="words", **given.pop("settings", {})
        )
        options = ServeOptions(**given.pop("options", {}))
        sources = given.pop("sources", [GivenSource("Sales", place=str(warehouse.path))])
        return Desk(settings, options, given=sources, models=desk.models, sandbox=desk.sandbox, **given)

    return make


@pytest.fixture
def server(make_desk: Callable[..., Desk]) -> Iterator[Server]:
    with _serving(make_desk()) as started:
        yield started


@dataclass
class Visitor:
    """A page of the browser, and what is done on it again and again."""

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)

    def go(self, path: str = "/") -> Page:
        self.page.goto(self.address + path)
        return self.page

    def ask(self, question: str, *, finish: bool = True) -> None:
        """Ask in the box of the page, and wait for what becomes of it."""
        turns = self.page.locator(".turn").count()
        self.page.locator("[data-composer] textarea").fill(question)
        self.page.keyboard.press("Enter")
        self.page.locator(".turn").nth(turns).wait_for()
        if finish:
            self.settle()

    def settle(self) -> None:
        """Wait until nothing is under way."""
        self.page.wait_for_function("() => !document.querySelector('.progress, .htmx-request')", timeout=SECONDS * 1000)

    def still(self) -> None:
        """Wait until nothing moves any more: letters and pictures in view are there, and no animation but the turning ones runs."""
        self.page.evaluate(_STILL)

    @property
    def last(self) -> Any:
        return self.page.locator(".turn").last


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Callable[..., Visitor]]:
    """Opens a page in a browser of its own, which nobody was in before."""
    opened: list[tuple[Any, Visitor]] = []

    def visit(address: str, **given: Any) -> Visitor:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 860}, **given})
        context.set_default_timeout(SECONDS * 1000)
        visitor = Visitor(context.new_page(), address)
        _watched(visitor)
        opened.append((context, visitor))
        return visitor

    yield visit
    for context, _ in opened:
        context.close()
    assert [fault for _, visitor in opened for fault in visitor.faults] == []


def _watched(visitor: Visitor) -> None:
    own = urlsplit(visitor.address).netloc

    def requested(request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.netloc != own:
            visitor.faults.append(f"a request left the machine: {request.url}")

    def said(message: Any) -> None:
        # A refusal is shown on the page, and the browser writes its status here.
        if message.type == "error" and not any(known in message.text for known in _REFUSED):
            visitor.faults.append(message.text)

    visitor.page.on("request", requested)
    visitor.page.on("console", said)
    visitor.page.on("pageerror", lambda error: visitor.faults.append(str(error)))


@pytest.fixture
def faults() -> Callable[[Any], list[str]]:
    """What axe finds of serious faults on a page."""
    from axe_playwright_python.sync_playwright import Axe

    def faults(page: Page) -> list[str]:
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        return [
            f"{each['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
            for each in found
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]

    return faults


@pytest.fixture
def keep() -> Callable[[Any, str], None]:
    """Writes a screenshot where the docs are written anew, see `test_looks`."""

    def keep(page: Page, name: str) -> None:
        if SCREENS and name in KEPT:
            from PIL import Image

            folder = ROOT / SCREENS
            folder.mkdir(parents=True, exist_ok=True)
            with Image.open(io.BytesIO(page.screenshot())) as shot:
                shot.convert("RGB").quantize(128).save(folder / f"{name}.png", optimize=True)

    return keep


@pytest.fixture
def visitor(server: Server, visit: Callable[..., Visitor]) -> Visitor:
    return visit(server.address)
