"""Keeps DSPy's optimizers from writing over the screen: they print, log and draw bars of their own."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

_LOUD = ("dspy", "gepa", "optuna")


@contextmanager
def quietly() -> Iterator[None]:
    """Within it nothing reaches the screen of what optimizers say; errors are raised as ever."""
    loggers = [logging.getLogger(name) for name in _LOUD]
    levels = [logger.level for logger in loggers]
    sink = io.StringIO()
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        with redirect_stdout(sink), redirect_stderr(sink):
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
