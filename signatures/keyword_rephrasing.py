"""Keyword rephrasing: which words of a question have to be explained, and the question with their meanings put in."""

from __future__ import annotations

import dspy
from pydantic import BaseModel, Field

from finexpert.signatures import rules


class UnclearTerm(BaseModel):
    """A term that has to be explained."""

    term: str = Field(description="the term, in the words of the question")
    known_as: int | None = Field(
        default=None, description="number of the known term that is meant; null if none of them is"
    )


class RephraseKeywords(dspy.Signature):  # type: ignore[misc]
    """Find the terms of a question that only this house can explain, and rephrase the question with the known meanings.

    A term has to be explained when an able analyst from outside, who sees the schema and the conversation, could not
    compute it without being told this house's own definition: an own measure, period, rule, group or nickname. Not to
    be explained are ordinary words, standard terms of finance, economics and statistics, what the schema names, and
    what the question or the conversation explains itself. A known term counts only where the question means it: the
    same word in its ordinary sense is no term.
    """

    schema_card: str = dspy.InputField(desc=rules.SCHEMA)
    known_terms: str = dspy.InputField(desc="terms that this house has explained, numbered", default=rules.NONE)
    conversation: str = dspy.InputField(desc="earlier turns", default=rules.NONE)
    question: str = dspy.InputField()

    terms: list[UnclearTerm] = dspy.OutputField(desc="the terms that have to be explained; [] if there are none")
    rephrased: str = dspy.OutputField(
        desc="the question with the known meanings put in and nothing else changed; the question itself if none apply"
    )
