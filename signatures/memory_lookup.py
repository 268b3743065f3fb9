"""Memory lookup: what to look for in memory, and which of the processes found a question needs."""

from __future__ import annotations

import dspy

from finexpert.signatures import rules


class GeneraliseQuestion(dspy.Signature):  # type: ignore[misc]
    """Say how the analysis that a question asks for would be headed in a book of processes.

    Leave out what is specific to the question: dates, numbers, names of single companies, the form of the answer.
    """

    conversation: str = dspy.InputField(desc="earlier turns", default=rules.NONE)
    question: str = dspy.InputField()

    variants: list[str] = dspy.OutputField(desc="two or three headings for the analysis as a whole")
    parts: list[str] = dspy.OutputField(
        desc='headings of the smaller processes that it is made of, such as "Determine recession periods"'
    )


class RecallProcesses(dspy.Signature):  # type: ignore[misc]
    """Decide which of the processes that an expert taught have to be followed to answer a question.

    A process has to be followed when it computes what the question asks for, or a part of it. It does not when the
    question only shares words or data with it, asks for another measure, or brings a definition of its own.
    """

    processes: str = dspy.InputField(desc="the processes found, numbered, with the words they are known by")
    conversation: str = dspy.InputField(desc="earlier turns", default=rules.NONE)
    question: str = dspy.InputField()

    chosen: list[int] = dspy.OutputField(
        desc="numbers of the processes to follow, the most important first; [] if none"
    )
    whole: bool = dspy.OutputField(desc="true if the first one answers the whole question, false if only a part of it")
