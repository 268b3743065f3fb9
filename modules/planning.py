"""Planning: turns a question into a `Plan`, one predictor per kind of source."""

from __future__ import annotations

from collections.abc import Sequence

import dspy
from pydantic import ValidationError

from finexpert.answers import AnswerFormat, Kind
from finexpert.errors import OutputError
from finexpert.modules.calling import ask
from finexpert.plans import Extract, Plan, Script, Step, reference
from finexpert.signatures import rules
from finexpert.signatures.planning import FrameRequest, MakeFilingPlan, MakePlan, MakePlanWithDrafts
from finexpert.signatures.sql_extraction import DataFrameFromSQL
from finexpert.signatures.text import without_fences


class Planning(dspy.Module):  # type: ignore[misc]
    """From a question to a plan: over a warehouse with or without drafts of the SELECTs and the script, or over a filing."""

    def __init__(self) -> None:
        super().__init__()
        self.warehouse = dspy.Predict(MakePlan)
        self.warehouse_with_drafts = dspy.Predict(MakePlanWithDrafts)
        self.filing = dspy.Predict(MakeFilingPlan)

    def forward(
        self,
        *,
        question: str,
        schema_card: str = "",
        page: str = "",
        today: str = "",
        answer_format: AnswerFormat | None = None,
        drafts: bool = True,
        knowledge: str = rules.NONE,
        conversation: str = rules.NONE,
        feedback: str = rules.NONE,
        demonstrations: Sequence[dspy.Example] = (),
    ) -> dspy.Prediction:
        """A prediction with `plan` and `answer_format`; raises OutputError for unusable text.

        A `page` makes it a plan over a filing, for which `demonstrations` may be added to the compiled ones; otherwise
        `schema_card` and `today` are needed.
        """
        if page:
            return self._over_filing(page, question, knowledge, conversation, feedback, demonstrations)
        made = ask(
            self.warehouse_with_drafts if drafts else self.warehouse,
            "planning",
            schema_card=schema_card,
            knowledge=knowledge,
            conversation=conversation,
            today=today,
            question=question,
            answer_type=answer_format.instruction() if answer_format else "decide from the question",
            feedback=feedback,
        )
        plan = _with_drafts(made) if drafts else _without_drafts(made)
        return dspy.Prediction(plan=plan, answer_format=answer_format or _format(made.answer_kind, made.unit))

    def _over_filing(
        self,
        page: str,
        question: str,
        knowledge: str,
        conversation: str,
        feedback: str,
        demonstrations: Sequence[dspy.Example],
    ) -> dspy.Prediction:
        made = ask(
            self.filing,
            "planning",
            page=page,
            knowledge=knowledge,
            conversation=conversation,
            question=question,
            feedback=feedback,
            **({"demos": [*self.filing.demos, *demonstrations]} if demonstrations else {}),
        )
        answer = made.answer.strip() or None
        if answer is not None and reference(answer) is None:
            raise OutputError(f"answer is {answer[:60]!r}, and must be 'step N' or 'turn N'")
        try:
            plan = Plan(steps=made.steps, answer=answer, entity=made.entity, interpretation=made.entity)
        except ValidationError as error:
            raise OutputError(f"the steps do not form a plan: {error.errors()[0]['msg']}") from error
        return dspy.Prediction(plan=plan, answer_format=None)


def _without_drafts(made: dspy.Prediction) -> Plan:
    frames: list[FrameRequest] = made.frames
    extracts: list[Step] = [
        Extract(id=i, frame=_identifier(f.df_name), purpose=f.purpose, columns=f.df_columns)
        for i, f in enumerate(frames, 1)
    ]
    script = Script(id=len(extracts) + 1, frames=[f.df_name for f in frames], task=made.task)
    return Plan(steps=[*extracts, script], interpretation=made.interpretation)


def _with_drafts(made: dspy.Prediction) -> Plan:
    selects: list[DataFrameFromSQL] = made.selects
    extracts: list[Step] = [
        Extract(id=i, frame=s.df_name, purpose=made.interpretation, columns=s.df_columns, select=s.select_query)
        for i, s in enumerate(selects, 1)
    ]
    script = Script(
        id=len(extracts) + 1,
        frames=[s.df_name for s in selects],
        task=made.interpretation,
        code=without_fences(made.code) or None,
    )
    return Plan(steps=[*extracts, script], interpretation=made.interpretation)


def _identifier(name: str) -> str:
    if not name.isidentifier():
        raise OutputError(f"{name!r} is not a Python identifier; name the frame with letters, digits and _")
    return name


_KINDS: dict[str, Kind] = {
    "number": "number", "float": "number", "percentage": "number", "percent": "number",
    "integer": "integer", "int": "integer", "count": "integer",
    "date": "date", "year": "year", "boolean": "boolean", "bool": "boolean",
    "text": "text", "str": "text", "string": "text", "list": "list", "table": "table", "dataframe": "table",
}  # fmt: skip


def _format(kind: str, unit: str) -> AnswerFormat:
    """The format that a model named, as well as it can be read.

    >>> _format("Integer", "")
    AnswerFormat(kind='integer', unit=None, decimals=None, items=None, description=None)
    """
    read = _KINDS.get(kind.strip().strip("`'\".").lower())
    if read is None:
        raise OutputError(
            f"answer_kind {kind[:40]!r} is none of number, integer, date, year, boolean, text, list, table"
        )
    unit = unit.strip().strip("'\"")
    return AnswerFormat(kind=read, unit=None if unit.lower() in ("", "none", "n/a", "(none)") else unit[:40])
