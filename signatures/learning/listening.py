"""Listening: what a message teaches about the words and the habits of the person's house."""

from __future__ import annotations

import dspy
from pydantic import BaseModel, Field

from finexpert.core.offers import OfferKind
from finexpert.signatures import rules


class Lesson(BaseModel):
    """A definition, a correction or a convention."""

    kind: OfferKind = Field(
        description="definition of a term of theirs; correction of what a term or a rule means; convention, how they always do something"
    )
    term: str = Field(
        description="the term alone, as the person writes it; of a convention two to five of their words that name what it is about"
    )
    quotes: list[str] = Field(
        description="what it means, copied letter by letter from what the person wrote: the whole rule with every condition, unit, exception and "
        "list, in one piece wherever it stands in one piece; several only where other words stand between. Without the question that is asked"
    )
    taken_back: list[str] = Field(
        default_factory=list, description="words of it that the person took back, copied letter by letter; [] if none"
    )
    about: list[str] = Field(
        default_factory=list,
        description="of a convention: single words or names by which a question or a column that it concerns is known, such as weekly; [] for a definition",
    )
    known_as: int | None = Field(
        default=None, description="number of the known entry that it changes or replaces; null if it is new"
    )


class HearLessons(dspy.Signature):  # type: ignore[misc]
    """Find what a person's message teaches about the words and the habits of their house, to be kept for later questions.

    People explain in passing, ramble, correct themselves and each other: what they hold at the end of the message counts, whoever of the house
    it came from. A rule without a name that they always keep to is a convention; so is how they write or read something. A meaning may come
    before its name, as a list, as an equation, or as the reply to what was asked. A correction that gives only what changes is kept with the
    words of the earlier rule that still hold. Nothing is taught by reasons, facts, opinions and jokes; by a standard term or an abbreviation
    spelt out as any textbook would; by what holds for this answer only; by steps of one calculation without a name; by questions, suppositions
    and denials; by a typo put right; nor by what somebody outside or a document says, unless the person says that the house goes by it.
    """

    known: str = dspy.InputField(desc="what is kept already, numbered", default=rules.NONE)
    conversation: str = dspy.InputField(desc="what the person wrote before, oldest first", default=rules.NONE)
    asked: str = dspy.InputField(
        desc="the term whose meaning the person was asked just now; the message replies to that", default=rules.NONE
    )
    message: str = dspy.InputField()

    lessons: list[Lesson] = dspy.OutputField(desc="one entry a term or a convention; [] if the message teaches nothing")
    wants_answer: bool = dspy.OutputField(
        desc="true if the message asks for something, or corrects an answer; false if it only explains"
    )
