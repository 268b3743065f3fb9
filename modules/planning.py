"""Planning: turns a question into a `Plan`, one predictor per kind of source.

Over a warehouse a small model may be asked for one SELECT that computes the answer, where plans of SELECTs and a script
are too much for it. That way takes demonstrations: without any it is not used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import dspy
from pydantic import ValidationError

from finexpert.core.answers import AnswerFormat, Kind
from finexpert.core.plans import Extract, Plan, Script, Step, reference
from finexpert.errors import NotInSources, OutputError
from finexpert.modules.calling import ask, ask_within
from finexpert.signatures import rules
from finexpert.signatures.planning import (
    AnswerWithSelect,
    FrameRequest,
    MakeFilingPlan,
    MakePlan,
    MakePlanWithDrafts,
    following,
    of_known_type,
)
from finexpert.signatures.sql_extraction import DataFrameFromSQL
from finexpert.signatures.text import NOTHING, said_missing, without_fences
from finexpert.text.terms import normalise, phrases_in
from finexpert.warehouse.select_pattern import Readable, pattern


class Planning(dspy.Module):  # type: ignore[misc]
    """From a question to a plan: over a warehouse with or without drafts of the SELECTs and the script, or over a filing."""

    def __init__(self) -> None:
        super().__init__()
        self.warehouse = dspy.Predict(MakePlan)
        self.warehouse_with_drafts = dspy.Predict(MakePlanWithDrafts)
        self.warehouse_by_select = dspy.Predict(AnswerWithSelect)
        self.filing = dspy.Predict(MakeFilingPlan)

    @property
    def by_select(self) -> bool:
        """Whether the layer was compiled to answer from a warehouse with one SELECT, where drafts are allowed."""
        return bool(self.warehouse_by_select.demos)

    def forward(
        self,
        *,
        question: str,
        schema_card: str = "",
        dialect: str = "DuckDB",
        page: str = "",
        today: str = "",
        answer_format: AnswerFormat | None = None,
        drafts: bool = True,
        knowledge: str = rules.NONE,
        known_here: str = "",
        demonstrated: bool = False,
        readable: Sequence[Readable] = (),
        conversation: str = rules.NONE,
        feedback: str = rules.NONE,
    ) -> dspy.Prediction:
        """A prediction with `plan`, `answer_format`, `by_select`, and `unclear`, terms that the plan guesses the meaning of.

        Raises OutputError for unusable text, NotInSources where the tables cannot answer the question. A `page` makes it a plan
        over a filing; otherwise `schema_card` and `today` are needed. A planner that writes drafts may be shown `known_here`, numbered
        entries: `follows` has the numbers of those that the plan rests on. `demonstrated` says that `knowledge` holds questions with their SELECTs; with
        `readable` a small model that writes one SELECT can write none that reads something else.
        """
        if page:
            return self._over_filing(page, question, knowledge, conversation, feedback)
        # A chart takes a script.
        by_select = drafts and self.by_select and not _CHART.search(question)
        with_drafts = self.warehouse_by_select if by_select else self.warehouse_with_drafts
        more: dict[str, Any] = {}
        if by_select:
            more = {"signature": of_known_type(with_drafts.signature)} if answer_format else {}
            # Questions of the house itself show better how it is done than those of an example set.
            more |= {"demos": []} if demonstrated else {}
        elif known_here:
            more = {"known_here": known_here, "signature": following(with_drafts.signature)}
        how: Callable[..., dspy.Prediction] = ask
        if by_select and readable:
            how = partial(ask_within, _schema(more.get("signature", with_drafts.signature), readable))
        made = how(
            with_drafts if drafts else self.warehouse,
            "planning",
            **more,
            dialect=dialect,
            schema_card=schema_card,
            knowledge=knowledge,
            conversation=conversation,
            today=today,
            question=question,
            answer_type=answer_format.instruction() if answer_format else "decide from the question",
            feedback=feedback,
        )
        unclear = unclear_terms(made, question)
        _check_answerable(made, unclear)
        wanted = answer_format or format_of(made.answer_kind, made.unit)
        plan = of_one_select(made.select, "") if by_select else _with_drafts(made) if drafts else _without_drafts(made)
        return dspy.Prediction(
            plan=plan, answer_format=wanted, by_select=by_select, unclear=unclear, follows=made.get("follows") or []
        )

    def _over_filing(
        self,
        page: str,
        question: str,
        knowledge: str,
        conversation: str,
        feedback: str,
    ) -> dspy.Prediction:
        made = ask(
            self.filing,
            "planning",
            page=page,
            knowledge=knowledge,
            conversation=conversation,
            question=question,
            feedback=feedback,
        )
        answer = made.answer.strip() or None
        if answer is not None and reference(answer) is None:
            raise OutputError(f"answer is {answer[:60]!r}, and must be 'step N' or 'turn N'")
        try:
            plan = Plan(steps=made.steps, answer=answer, entity=made.entity, interpretation=made.entity)
        except ValidationError as error:
            raise OutputError(f"the steps do not form a plan: {error.errors()[0]['msg']}") from error
        return dspy.Prediction(plan=plan, answer_format=None, by_select=False, unclear=[])


def _schema(signature: type[dspy.Signature], readable: Sequence[Readable]) -> dict[str, Any]:
    """What a server is held to that writes one SELECT over what may be read."""
    properties: dict[str, Any] = {name: {"type": "string"} for name in signature.output_fields}
    properties["select"] = {"type": "string", "pattern": f"^{pattern(readable)}$"}
    return {"type": "object", "properties": properties, "required": list(properties)}


_CHART = re.compile(r"\b(plot|chart|graph|draw|diagram)(s|ted|ting|ed|n)?\b", re.IGNORECASE)
RESULT = "result"


def of_one_select(select: str, interpretation: str) -> Plan:
    """The plan of a SELECT that computes the answer.

    >>> of_one_select("SELECT max(unrate) FROM unemployment;", "its maximum").steps[0].select
    'SELECT max(unrate) FROM unemployment'
    """
    bare = DataFrameFromSQL(select_query=select, df_name=RESULT).select_query
    extract = Extract(id=1, frame=RESULT, purpose=interpretation, select=bare)
    return Plan(steps=[extract], interpretation=interpretation)


def _check_answerable(made: dspy.Prediction, unclear: list[str]) -> None:
    """Nothing is asked for, and something is said to be missing: there is no answer, or what is unclear is asked first."""
    missing = said_missing(made.get("missing"))
    wanted = made.get("selects") or made.get("frames") or str(made.get("code") or made.get("task") or "").strip()
    if missing and not wanted:
        raise NotInSources(missing, *unclear)


def unclear_terms(made: dspy.Prediction, question: str) -> list[str]:
    """The terms that the planner would have to be told, if they stand in the question."""
    said = [term.strip(" `'\".") for term in str(made.get("unclear") or "").split(",")]
    return [term for term in said if term and term.lower() not in NOTHING and phrases_in(question, [normalise(term)])]


def _one_frame(extracts: list[Step]) -> None:
    """Without a script, the answer is what one SELECT gives."""
    if len(extracts) != 1:
        raise OutputError(
            f"there is no script, and {len(extracts)} frames are asked for: write one SELECT that gives the answer, or a script"
        )


def _without_drafts(made: dspy.Prediction) -> Plan:
    frames: list[FrameRequest] = made.frames
    extracts: list[Step] = [
        Extract(id=i, frame=_identifier(f.df_name), purpose=f.purpose, columns=f.df_columns)
        for i, f in enumerate(frames, 1)
    ]
    if made.task.strip().lower() in ("", *NOTHING):
        _one_frame(extracts)
        return Plan(steps=extracts, interpretation=made.interpretation)
    script = Script(id=len(extracts) + 1, frames=[f.df_name for f in frames], task=made.task)
    return Plan(steps=[*extracts, script], interpretation=made.interpretation)


def _with_drafts(made: dspy.Prediction) -> Plan:
    selects: list[DataFrameFromSQL] = made.selects
    extracts: list[Step] = [
        Extract(id=i, frame=s.df_name, purpose=made.interpretation, columns=s.df_columns, select=s.select_query)
        for i, s in enumerate(selects, 1)
    ]
    code = without_fences(made.code).strip()
    if code.lower() in ("", *NOTHING):
        _one_frame(extracts)
        return Plan(steps=extracts, interpretation=made.interpretation)
    script = Script(
        id=len(extracts) + 1,
        frames=[s.df_name for s in selects],
        task=made.interpretation,
        code=without_fences(made.code),
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


def format_of(kind: str, unit: str) -> AnswerFormat:
    """The format that a model named, as well as it can be read.

    >>> format_of("Integer", "")
    AnswerFormat(kind='integer', unit=None, decimals=None, items=None, description=None)
    """
    read = _KINDS.get(kind.strip().strip("`'\".").lower())
    if read is None:
        raise OutputError(
            f"answer_kind {kind[:40]!r} is none of number, integer, date, year, boolean, text, list, table"
        )
    unit = unit.strip().strip("'\"")
    return AnswerFormat(kind=read, unit=None if unit.lower() in ("", "none", "n/a", "(none)") else unit[:40])
