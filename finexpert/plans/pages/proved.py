"""What was read on several pages and proved, as the record of an answer keeps it.

    said = ProvedSentence(says="The margin fell from {m21} to {m22}.", rests_on=["m21", "m22"])
    Reading(values=[ProvedValue(name="m21", ...)], computed=[...], sentences=[said], kind="text")

Nothing is computed here: `finexpert.plans.pages.reading` carries it out.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

from finexpert.core.plans import Cell, Quote

NAMES = re.compile(r"[A-Za-z_]\w*")
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
    name: str = ""


class ProvedSentence(BaseModel):
    """A sentence of the answer, and the names of what it rests on."""

    says: str
    rests_on: list[str] = Field(default_factory=list)


class Reading(BaseModel):
    """All that an answer rests on; kept in its record."""

    values: list[ProvedValue] = Field(default_factory=list)
    computed: list[Computation] = Field(default_factory=list)
    statements: list[ProvedWords] = Field(default_factory=list)
    kind: Kind = "text"
    result: str = ""
    items: list[str] = Field(default_factory=list)
    sentences: list[ProvedSentence] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _in_one(cls, kept: Any) -> Any:
        """Records had the answer as one text."""
        if isinstance(kept, dict) and isinstance(said := kept.get("answer"), str) and "sentences" not in kept:
            return kept | {"sentences": [{"says": said}] if said else []}
        return kept

    @property
    def answer(self) -> str:
        """The sentences as one text, names in place of numbers."""
        return " ".join(sentence.says for sentence in self.sentences)

    def cites(self, sentence: ProvedSentence) -> list[int]:
        """The places in `cited`, from 1, of all that a sentence rests on."""
        names = self._bearing(sentence.rests_on)
        cited = [value.name for value in self.values] + [words.name for words in self.statements]
        return [number for number, name in enumerate(cited, 1) if name in names]

    def _bearing(self, names: list[str]) -> set[str]:
        """The names, and those of the values that computed ones among them are computed from."""
        formulas = {each.name: each.formula for each in self.computed}
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            if (name := waiting.pop()) not in found:
                found.add(name)
                waiting += NAMES.findall(formulas.get(name, ""))
        return found

    @property
    def cited(self) -> list[tuple[str, str]]:
        """The pages with the words quoted from them."""
        values = [(value.page, value.quote) for value in self.values]
        return values + [(words.page, words.quote) for words in self.statements]
