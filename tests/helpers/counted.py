"""How many of something a page shows, waited for: scripts draw, and a busy machine takes its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator


def shows(found: Locator, number: int) -> bool:
    """Whether there are so many of it, now or within some seconds; raises AssertionError where not."""
    from playwright.sync_api import expect

    expect(found).to_have_count(number, timeout=15_000)
    return True
