"""Offers: what a message of a conversation explained, as it would be kept. Nothing of an offer is kept before somebody agrees."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

OfferKind = Literal["definition", "correction", "convention"]


class Offer(BaseModel):
    """A term with its meaning, or a convention with the words that name it.

    >>> print(Offer(kind="definition", term="slow money", meaning="a month in which M2 grows by less than 2 percent"))
    slow money = a month in which M2 grows by less than 2 percent
    """

    model_config = ConfigDict(frozen=True)

    kind: OfferKind
    term: str = Field(description="the term; of a convention the first words of it")
    meaning: str = Field(
        description="the person's own words, to the letter; an ellipsis stands where words are left out"
    )
    about: list[str] = Field(
        default_factory=list, description="of a convention: words by which what it concerns is known"
    )
    before: str = Field(default="", description="the meaning that is kept now, and that this one would replace")
    scope: str = Field(default="", description="name of the source that it holds for; empty: everywhere")

    def __str__(self) -> str:
        said = self.meaning if self.kind == "convention" else f"{self.term} = {self.meaning}"
        return f"{said} (in place of: {self.before})" if self.before else said
