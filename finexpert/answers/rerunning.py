"""A record over tables carried out again, with every check of a new answer and without a language model.

    answer = rerun(record, plan_of(record), warehouse, sandbox)

`finexpert.answers.replaying` compares with what a record says; here the data may have changed, and what comes out is an answer of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from finexpert.answers import recording
from finexpert.answers.records import Record
from finexpert.core import reviews
from finexpert.core.answers import Answer, Failure
from finexpert.core.plans import Extract, Plan, Step
from finexpert.core.workspace import Workspace
from finexpert.errors import FinexpertError, PlanError, RecordError, Refused, StepError
from finexpert.plans import execution
from finexpert.sandbox import Sandbox
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.warehouse import Warehouse

EDITED = "the SELECT was edited by hand"


def plan_of(record: Record, sql: str = "", frame: str = "") -> Plan:
    """The plan of a record as the SELECTs that ran and the script; with `sql` for one of its frames.

    Raises RecordError where nothing was computed with a SELECT, Refused for a frame that is none of the record's.
    """
    if record.status not in ("answered", "failed") or record.reading is not None:
        raise RecordError("this answer was not computed with a SELECT")
    kept = {each.name: (each.select, each.columns) for each in record.frames}
    edited = _edited(record, list(kept), frame) if sql else ""
    if edited:
        kept[edited] = (sql, [])
    purpose = "as the record says"
    steps: list[Step] = [
        Extract(id=number, frame=name, purpose=EDITED if name == edited else purpose, columns=columns, select=select)
        for number, (name, (select, columns)) in enumerate(kept.items(), 1)
    ]
    if (script := record.script) is not None:
        steps.append(script.model_copy(update={"id": len(steps) + 1}))
    said = record.plan.interpretation
    if edited:
        said = f"{said} ({EDITED})" if said else EDITED
    return Plan(steps=steps, answer=f"step {len(steps)}", unit=record.plan.unit, interpretation=said)


def _edited(record: Record, kept: Sequence[str], frame: str) -> str:
    """The frame that an edited SELECT is for."""
    names = kept or [step.frame for step in record.plan.steps if isinstance(step, Extract)]
    answering = record.plan.answering_extract
    wanted = frame or (answering.frame if answering else names[0] if len(names) == 1 else "")
    if wanted not in names:
        raise Refused(f"say which frame the SELECT is for: {', '.join(names) or 'this answer has none'}")
    return wanted


def rerun(
    record: Record, plan: Plan, warehouse: Warehouse, sandbox: Sandbox | None, notes: Sequence[str] = ()
) -> Answer:
    """The answer that a plan gives now, on the record's day; `notes` are said with it. One that fails says why."""
    workspace, hidden = Workspace(), not record.as_of_given
    around = execution.Surroundings(
        warehouse=warehouse,
        checks=Checks(warehouse, record.as_of, hidden, question=record.question),
        sandbox=sandbox,
        answer_format=record.answer_format,
        format_fixed=record.script is not None,
        as_of=record.as_of,
    )
    try:
        outcome = execution.run(plan, workspace, around)
    except execution.StepFailed as failed:
        return _failed(record, failed.layer, failed.error, notes)
    except (PlanError, StepError) as error:
        return _failed(record, execution.PLANNING, error, notes)
    answer = Answer(
        question=record.question,
        status="answered",
        value=outcome.value.value,
        format=outcome.answer_format or record.answer_format,
        period=outcome.value.period,
        explanation=plan.interpretation,
        citations=list(outcome.value.citations),
        figures=outcome.figures,
        flags=[*notes, *outcome.value.flags, *([warehouse.label] if warehouse.label else [])],
    )
    answer.confidence = reviews.unless_unchecked(answer.flags, None)
    answer.record = recording.of_answer(
        answer, outcome.plan, workspace, warehouse, record.as_of, record.knowledge, record.as_of_given
    )
    answer.record.follows, answer.record.flags = record.follows, list(answer.flags)
    return answer


def _failed(record: Record, layer: str, error: FinexpertError, notes: Sequence[str]) -> Answer:
    failure = Failure(layer=layer, kind=getattr(error, "kind", "select"), message=str(error))
    return Answer(question=record.question, status="failed", failure=failure, flags=list(notes))
