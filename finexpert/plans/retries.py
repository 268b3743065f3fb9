"""The loop that has a layer write its part again, with the reason why it failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from finexpert.errors import SandboxFailure, StepError

T = TypeVar("T")
R = TypeVar("R")

SQL_EXTRACTION, SCRIPT_GENERATION, PLANNING = "sql_extraction", "script_generation", "planning"
FILING_SEARCH, SANDBOX = "filing_search", "sandbox"
# What stands between a draft and why it failed.
FAILED = "\n\nfailed: "


class StepFailed(Exception):
    """A layer has used up its retries, or the sandbox broke; `error` is the last one. Never leaves the program."""

    def __init__(self, layer: str, error: StepError | SandboxFailure, attempts: int) -> None:
        super().__init__(f"{layer}: {error}")
        self.layer, self.error, self.attempts = layer, error, attempts


class NeedsAnotherPlan(Exception):
    """What a layer alone cannot mend, since script and SELECT change together; `feedback` is for the planner. Never leaves the program."""

    def __init__(self, error: StepError, feedback: str) -> None:
        super().__init__(str(error))
        self.error, self.feedback = error, feedback


def with_retries(
    layer: str,
    draft: T | None,
    write: Callable[[str], T],
    attempt: Callable[[T], R],
    retries: int,
    show: Callable[[T], str] = str,
) -> tuple[R, int]:
    """Attempt a draft; while it fails, have it written again with the error, at most `retries` times.

    Writing where there is no draft is not a retry.

    >>> with_retries("planning", None, lambda feedback: "ab", str.upper, retries=0)
    ('AB', 0)
    """
    feedback = ""
    for used in range(retries + 1):
        try:
            if draft is None:
                draft = write(feedback)
            return attempt(draft), used
        except StepError as error:
            if used == retries:
                raise StepFailed(layer, error, used + 1) from error
            feedback = feedback_on(None if draft is None else show(draft), error)
            draft = None
    raise AssertionError("unreachable")


def feedback_on(draft: str | None, error: StepError) -> str:
    """What a layer is told of its failed draft."""
    return f"{draft}{FAILED}{error}" if draft else str(error)
