"""What was read on several pages and proved, as the record of an answer keeps it.

    Reading(values=[ProvedValue(name="m21", ...)], computed=[...], answer="The margin fell from {m21} to {m22}.", kind="text")

Nothing is computed here: `finexpert.plans.pages.reading` carries it out.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from finexpert.core.plans import Cell, Quote

Kind = Literal["number", "text", "yes/no", "name", "list", "table"]


class ProvedValue(BaseModel):
    """A number that stands on a page, with the step that reads it there."""

    name: str
    page: str
    step: Cell | Quote
    printed: str
    quote: str
    without_sign: bool = Field(default=False, description="printed in brackets, and meant as an amount")


class Computation(BaseModel):
    """A number that is computed from others."""

    name: str
    what: str
    formula: str
    unit: str = ""
    decimals: int = 2


class ProvedWords(BaseModel):
    """A claim, and the words of a page that it rests on."""

    says: str
    page: str
    quote: str


class Reading(BaseModel):
    """All that an answer rests on; kept in its record."""

    values: list[ProvedValue] = Field(default_factory=list)
    computed: list[Computation] = Field(default_factory=list)
    statements: list[ProvedWords] = Field(default_factory=list)
    kind: Kind = "text"
    result: str = ""
    items: list[str] = Field(default_factory=list)
    answer: str = ""

    @property
    def cited(self) -> list[tuple[str, str]]:
        """The pages with the words quoted from them."""
        values = [(value.page, value.quote) for value in self.values]
        return values + [(words.page, words.quote) for words in self.statements]
