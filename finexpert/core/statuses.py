"""How an answer ended: with all of what was asked, with a part of it, or without a value."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

Status = Literal["answered", "partial", "failed", "needs_clarification", "not_found", "noted"]
MISSING = "missing from "


class Missing(BaseModel):
    """What a question asked for and a source could not give.

    >>> Missing(source="filings", what="the sales of 2019").text
    'missing from filings: the sales of 2019'
    """

    source: str = Field(description="name of the source, or of all that were asked")
    what: str

    @property
    def text(self) -> str:
        return f"{MISSING}{self.source}: {self.what}"


def gives_value(status: str | None) -> bool:
    """Whether an answer of this status has a value: all of what was asked, or a part of it.

    >>> gives_value("answered"), gives_value("partial"), gives_value("not_found")
    (True, True, False)
    """
    return status in ("answered", "partial")
