"""What a terminal shows while something is asked: the stage, and the seconds since it began.

    ⠹ Planning  4 s

Nothing is shown where the errors do not go to a terminal, and nothing of it stays.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from finexpert.cli import common
from finexpert.core.display.stages import words
from finexpert.core.progress import Event, Watch, watching

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from finexpert.settings import Settings

_PER_SECOND = 5


@contextmanager
def waiting(at_first: str = "Starting") -> Iterator[None]:
    """Within it, stages are shown as they begin; `at_first` stands there until the first one does."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    console = common.console(stderr=True)
    with Progress(*columns, console=console, transient=True, refresh_per_second=_PER_SECOND) as bar:
        shown = _Shown(bar, bar.add_task(at_first, total=None))
        with watching(Watch(shown.hear)):
            yield


@contextmanager
def starting() -> Iterator[None]:
    """Within it no garbage is looked for, and afterwards not in what was made: what is imported and opened makes much, and leaves it all."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def completions_soon(settings: Settings) -> threading.Thread | None:
    """Open what DSPy keeps completions in, sixteen files, while the rest is loaded and opened; nothing where no model is named or none is kept."""
    if settings.lm in (None, "recorded") or not settings.cache:
        return None
    import dspy

    from finexpert.language_models.model import keep_private

    keep_private()
    opening = threading.Thread(target=lambda: dspy.cache, name="completions", daemon=True)
    opening.start()
    return opening


class _Shown:
    """The line of a progress bar that names the stages that run, the last to begin."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar, self._task = bar, task
        self._lock = threading.Lock()
        self._running: list[tuple[str, str]] = []

    def hear(self, event: Event) -> None:
        with self._lock:
            if event.state == "started":
                self._running.append((event.stage, words(event)))
            else:
                # A stage that runs in several threads at once ends as often as it began.
                last = next(n for n in range(len(self._running) - 1, -1, -1) if self._running[n][0] == event.stage)
                del self._running[last]
            if self._running:
                self._bar.update(self._task, description=self._running[-1][1])
