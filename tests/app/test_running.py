"""A question under way, and those who follow it."""

from __future__ import annotations

import asyncio
from typing import Any

from finexpert.app.people.people import local_person
from finexpert.app.running import Running
from finexpert.core.progress import Event


class Closing:
    """A loop that is closed after it was looked at."""

    def is_closed(self) -> bool:
        return False

    def call_soon_threadsafe(self, act: Any) -> None:
        raise RuntimeError("Event loop is closed")


def test_a_listener_whose_loop_has_gone_ends_no_question() -> None:
    async def woken() -> asyncio.Event:
        return asyncio.Event()

    running = Running("a1", "c1", local_person())
    running._listeners.append((Closing(), asyncio.run(woken())))  # type: ignore[arg-type]
    running.tell(Event("planning", "started"))
    running.end()
    assert running.done.is_set()
