"""SQL extraction: writes the SELECTs for the frames that a plan needs, in one call, or in one call a frame.

Who writes SELECTs again after some failed may say instead what these data do not hold.

One call a frame is for small models. It takes demonstrations: without any all frames are asked for at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import dspy
from pydantic import ValidationError

from finexpert.core.plans import Extract
from finexpert.errors import NotInSources, OutputError
from finexpert.modules.calling import ask
from finexpert.signatures import rules
from finexpert.signatures.sql_extraction import DataFrameFromSQL, WriteSelect, WriteSelects, mending
from finexpert.signatures.text import said_missing


class SqlExtraction(dspy.Module):  # type: ignore[misc]
    """From frames asked for to `DataFrameFromSQL` objects."""

    def __init__(self) -> None:
        super().__init__()
        self.write = dspy.Predict(WriteSelects)
        self.write_one = dspy.Predict(WriteSelect)

    @property
    def one_by_one(self) -> bool:
        """Whether the layer was compiled to ask for one frame at a time."""
        return bool(self.write_one.demos)

    def forward(
        self,
        *,
        question: str,
        schema_card: str,
        frames: Sequence[Extract],
        today: str,
        dialect: str = "DuckDB",
        knowledge: str = rules.NONE,
        feedback: str = rules.NONE,
    ) -> dspy.Prediction:
        """A prediction whose `selects` is a list of DataFrameFromSQL.

        Raises OutputError for unusable text, NotInSources where SELECTs failed and no other one would find what they were to fetch.
        """
        if self.one_by_one:
            told = {"dialect": dialect, "schema_card": schema_card, "knowledge": knowledge}
            told |= {"today": today, "feedback": feedback}
            return dspy.Prediction(selects=[self._one(frame, told) for frame in frames])
        again = feedback != rules.NONE
        written = ask(
            self.write,
            "sql_extraction",
            **({"signature": mending(self.write.signature)} if again else {}),
            dialect=dialect,
            schema_card=schema_card,
            knowledge=knowledge,
            today=today,
            question=question,
            frames="\n".join(describe_request(frame) for frame in frames),
            feedback=feedback,
        )
        absent = said_missing(written.get("absent")) if again else ""
        if absent and len(written.selects) < len(frames):
            raise NotInSources(absent)
        return written

    def _one(self, frame: Extract, told: dict[str, str]) -> DataFrameFromSQL:
        written = ask(self.write_one, "sql_extraction", **told, **asked_for(frame)).select
        try:
            return DataFrameFromSQL(select_query=written, df_columns=frame.columns, df_name=frame.frame)
        except ValidationError as error:
            raise OutputError(f"the frame {frame.frame!r} cannot be made: {error.errors()[0]['msg']}") from error


def asked_for(frame: Extract) -> dict[str, str]:
    """A frame asked for on its own, as inputs of `WriteSelect`.

    >>> asked_for(Extract(id=1, frame="gdp", purpose="real GDP", columns=["date", "value"]))
    {'wanted': 'real GDP', 'columns': 'date, value'}
    """
    return {"wanted": frame.purpose, "columns": ", ".join(frame.columns) or rules.NONE}


def describe_request(step: Extract) -> str:
    """A frame asked for, as one line of a prompt.

    >>> describe_request(Extract(id=1, frame="gdp", purpose="real GDP", columns=["date", "value"]))
    'gdp (date, value): real GDP'
    """
    columns = f" ({', '.join(step.columns)})" if step.columns else ""
    return f"{step.frame}{columns}: {step.purpose}"


def by_name(selects: Sequence[DataFrameFromSQL], frames: Sequence[Extract]) -> dict[str, str]:
    """SELECTs by the names of the frames asked for; what the model called otherwise counts in the order asked.

    >>> asked = [Extract(id=1, frame="gdp", purpose=""), Extract(id=2, frame="cpi", purpose="")]
    >>> written = [DataFrameFromSQL(df_name="prices", select_query="SELECT 1"), DataFrameFromSQL(df_name="gdp", select_query="SELECT 2")]
    >>> by_name(written, asked)
    {'gdp': 'SELECT 2', 'cpi': 'SELECT 1'}
    """
    wanted = [frame.frame for frame in frames]
    named = {select.df_name: select.select_query for select in selects if select.df_name in wanted}
    missing = [name for name in wanted if name not in named]
    others = [select.select_query for select in selects if select.df_name not in wanted]
    return named | (dict(zip(missing, others, strict=True)) if len(missing) == len(others) else {})
