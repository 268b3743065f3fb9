"""A conversation in the terminal: its session, and what its commands look back to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from finexpert.cli import common

if TYPE_CHECKING:
    from finexpert.core.answers import Answer
    from finexpert.session import Session


@dataclass
class Chat:
    """The conversation, and what the commands look back to."""

    session: Session
    answers: list[Answer] = field(default_factory=list)
    figures: list[Path] = field(default_factory=list)
    yes: bool = False  # what is explained in passing is kept without asking
    pending: list[str] = field(default_factory=list)  # lines that were read for something else


def say(text: str, style: str = "dim") -> None:
    from finexpert.text.texts import visible

    common.console().print(visible(text), style=style, markup=False, soft_wrap=True)
