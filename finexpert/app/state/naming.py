"""Ids, names and moments of what the server keeps."""

from __future__ import annotations

import datetime as dt
import uuid

from finexpert.errors import Refused

_LONGEST_NAME = 120


def now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def new_id() -> str:
    """An id that cannot be guessed, with the time first so that rows lie in their order."""
    return f"{now():%Y%m%d%H%M%S}-{uuid.uuid4().hex[:16]}"


def named(text: str, what: str) -> str:
    """A name that a person gave, without blanks around it; Refused for one that cannot be shown."""
    text = " ".join(text.split())
    if not text or len(text) > _LONGEST_NAME or not text.isprintable():
        raise Refused(f"{what} needs a name of 1 to {_LONGEST_NAME} visible characters")
    return text
