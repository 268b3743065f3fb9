"""Script generation: from frames and a task to a Python script that sets the typed answer."""

from __future__ import annotations

import dspy
from pydantic import BaseModel, Field, field_validator

from finexpert.signatures import rules
from finexpert.signatures.text import without_fences


class PythonScript(BaseModel):
    """A script and the frames that it reads."""

    code: str = Field(description=rules.SCRIPT)
    df_names: list[str] = Field(description="names of the frames that the code reads", default_factory=list)

    @field_validator("code")
    @classmethod
    def _bare(cls, value: str) -> str:
        """The script without packing.

        >>> PythonScript(code="```python\\nanswer = df.x.max()\\n```", df_names=["df"]).code
        'answer = df.x.max()'
        """
        return without_fences(value)


class WriteScript(dspy.Signature):  # type: ignore[misc]
    """Write a pandas script that computes the answer to a question from frames already loaded.

    You do not see the data. Follow the task; where it is silent, follow the question. Drop missing values before you
    compare or difference, sort by date, and mind where a window begins and ends.
    """

    knowledge: str = dspy.InputField(desc=rules.KNOWLEDGE, default=rules.NONE)
    today: str = dspy.InputField(desc=rules.TODAY)
    question: str = dspy.InputField()
    frames: str = dspy.InputField(desc="each frame with its columns, their types, and the SELECT that fetched it")
    task: str = dspy.InputField(desc="what the plan wants computed")
    answer_type: str = dspy.InputField(desc="type of the answer")
    feedback: str = dspy.InputField(desc=rules.FEEDBACK, default=rules.NONE)

    code: str = dspy.OutputField(desc=rules.SCRIPT)
