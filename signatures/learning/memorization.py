"""Memorization: from a conversation in which an expert showed how something is done, to a process."""

from __future__ import annotations

import dspy
from pydantic import BaseModel, Field

from finexpert.signatures import rules


class LearnedVariable(BaseModel):
    """What differs from case to case."""

    name: str = Field(description="a short Python identifier, written <name> in the steps")
    meaning: str = Field(description="what it stands for, and what it is if the question does not say")
    example: str = Field(description="its value in this conversation, as written in the SELECT or the script")


class LearnedStep(BaseModel):
    """One step."""

    text: str = Field(description="what to do, with exact rules")
    sql: str | None = Field(default=None, description="the SELECT that worked, with variables; null if there is none")
    code: str | None = Field(
        default=None, description="the lines of the script that worked, with variables; null if there are none"
    )


class SummariseProcess(dspy.Signature):  # type: ignore[misc]
    """Write down, for later use on other questions, the process that an expert taught in a conversation.

    Keep exactly the rules that the expert gave and the corrections, in their last form, and the SQL and code that
    carry them out; drop detours. Replace what is specific to this conversation, such as years, by variables. Somebody
    who has only your text must come to the same results. Add no rule that the conversation does not hold.
    """

    schema_card: str = dspy.InputField(desc=rules.SCHEMA)
    conversation: str = dspy.InputField(
        desc="what the expert said, turn by turn, and the SELECTs and scripts that answered"
    )
    given_heading: str = dspy.InputField(desc="heading that the expert wants", default=rules.NONE)

    heading: str = dspy.OutputField(desc="the given heading, or a short general one")
    aliases: list[str] = dspy.OutputField(
        desc="two to five other short names that a question may use for what this process computes"
    )
    variables: list[LearnedVariable] = dspy.OutputField(desc="[] if nothing varies")
    steps: list[LearnedStep] = dspy.OutputField(desc="the steps in order")
    case_question: str = dspy.OutputField(
        desc="the question that the last turn answered, complete in itself, with its specifics but without the rules"
    )
