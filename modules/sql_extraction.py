"""SQL extraction: writes the SELECTs for all frames that a plan needs, in one call."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from finexpert.modules.calling import ask
from finexpert.plans import Extract
from finexpert.signatures import rules
from finexpert.signatures.sql_extraction import DataFrameFromSQL, WriteSelects


class SqlExtraction(dspy.Module):  # type: ignore[misc]
    """From frames asked for to `DataFrameFromSQL` objects."""

    def __init__(self) -> None:
        super().__init__()
        self.write = dspy.Predict(WriteSelects)

    def forward(
        self,
        *,
        question: str,
        schema_card: str,
        frames: Sequence[Extract],
        today: str,
        knowledge: str = rules.NONE,
        feedback: str = rules.NONE,
    ) -> dspy.Prediction:
        """A prediction whose `selects` is a list of DataFrameFromSQL; raises OutputError for unusable text."""
        return ask(
            self.write,
            "sql_extraction",
            schema_card=schema_card,
            knowledge=knowledge,
            today=today,
            question=question,
            frames="\n".join(describe_request(frame) for frame in frames),
            feedback=feedback,
        )


def describe_request(step: Extract) -> str:
    """A frame asked for, as one line of a prompt.

    >>> describe_request(Extract(id=1, frame="gdp", purpose="real GDP", columns=["date", "value"]))
    'gdp (date, value): real GDP'
    """
    columns = f" ({', '.join(step.columns)})" if step.columns else ""
    return f"{step.frame}{columns}: {step.purpose}"


def by_name(selects: Sequence[DataFrameFromSQL], frames: Sequence[Extract]) -> dict[str, str]:
    """SELECTs by the names of the frames asked for; a single one counts whatever the model called it."""
    if len(frames) == 1 and len(selects) == 1:
        return {frames[0].frame: selects[0].select_query}
    return {select.df_name: select.select_query for select in selects}
