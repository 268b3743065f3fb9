"""Script generation: writes the script that computes the answer from frames."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from finexpert.core.answers import AnswerFormat
from finexpert.core.workspace import NamedFrame
from finexpert.modules.calling import ask
from finexpert.signatures import rules
from finexpert.signatures.script_generation import PythonScript, WriteScript
from finexpert.warehouse.schema_card import describe_frame


class ScriptGeneration(dspy.Module):  # type: ignore[misc]
    """From frames and a task to a `PythonScript`."""

    def __init__(self) -> None:
        super().__init__()
        self.write = dspy.Predict(WriteScript)

    def forward(
        self,
        *,
        question: str,
        frames: Sequence[NamedFrame],
        task: str,
        answer_format: AnswerFormat,
        today: str,
        knowledge: str = rules.NONE,
        feedback: str = rules.NONE,
    ) -> dspy.Prediction:
        """A prediction whose `script` is a PythonScript; raises OutputError for unusable text."""
        written = ask(
            self.write,
            "script_generation",
            knowledge=knowledge,
            today=today,
            question=question,
            frames=describe_frames(frames),
            task=task,
            answer_type=answer_format.instruction(),
            feedback=feedback,
        )
        script = PythonScript(code=written.code, df_names=[frame.name for frame in frames])
        return dspy.Prediction(script=script)


def describe_frames(frames: Sequence[NamedFrame]) -> str:
    """Frames as lines of a prompt: names, columns, types and the SELECT behind each, never rows."""
    lines = [f"{describe_frame(f.name, f.data)}: {' '.join(f.written.split())}" for f in frames]
    return "\n".join(lines) or rules.NONE
