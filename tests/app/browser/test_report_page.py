"""The report of the docs in a browser: wide and on a phone, light and dark, with no fault and nothing that is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    command = [str(Path(sys.executable).with_name("finexpert")), "report", str(ROOT / "docs/economy.yaml")]
    command += ["--lm", "recorded", "--as-of", "2024-09-30", "--out", str(folder / "economy")]
    environment = {**os.environ, "FINEXPERT_HOME": str(folder / "home")}
    ran = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    return folder / "economy.html"


@pytest.mark.parametrize(("scheme", "width", "height"), [("light", 1100, 1340), ("dark", 390, 1000)])
def test_it_is_read_on_every_screen(
    chromium: Browser, report: Path, faults: Callable[[Page], list[str]], keep: Callable[..., None],
    scheme: str, width: int, height: int,
) -> None:  # fmt: skip
    context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True)  # type: ignore[arg-type]
    page, requests = context.new_page(), []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(report.as_uri())
    assert page.locator(".value").first.inner_text() == "3 recessions"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("img").first.evaluate("image => image.decode().then(() => image.naturalWidth)") > 500
    assert [url for url in requests if not url.startswith(("data:", report.as_uri()))] == []
    assert faults(page) == []
    keep(page, f"report-{scheme}")
    context.close()
