"""Open sources: each once, whoever asks at once, and nothing left of one that could not be opened."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from finexpert.app.opened import OpenSources
from finexpert.errors import DataError


class Source:
    """Counts how often it is closed."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def test_what_cannot_be_opened_leaves_nothing() -> None:
    def broken() -> Any:
        raise DataError("no such file")

    opened = OpenSources(60)
    for number in range(5):
        with pytest.raises(DataError):
            opened.take(f"s{number}", broken)
    assert (len(opened), opened._opening) == (0, {})


def test_a_source_that_two_threads_opened_is_kept_once() -> None:
    """A sweep between two threads takes the lock from under the first, so both open."""
    opened, made = OpenSources(0), []
    first_is_opening, second_is_done = threading.Event(), threading.Event()
    taken: list[Any] = []

    def slow() -> Any:
        first_is_opening.set()
        assert second_is_done.wait(10)
        made.append(Source())
        return made[-1]

    first = threading.Thread(target=lambda: taken.append(opened.take("s", slow)))
    first.start()
    assert first_is_opening.wait(10)
    opened._opening.clear()  # what a sweep does to a key that was open before

    def fast() -> Any:
        made.append(Source())
        return made[-1]

    taken.append(opened.take("s", fast))
    second_is_done.set()
    first.join(10)
    assert taken[0] is taken[1]
    assert sorted(each.closed for each in made) == [0, 1]
    opened.give_back("s")
    opened.sweep()
    assert len(opened) == 1, "one of them still uses it"
    opened.give_back("s")
    opened.sweep()
    assert [each.closed for each in made] == [1, 1]
