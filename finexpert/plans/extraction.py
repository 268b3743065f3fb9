"""Running the steps of a plan that fetch frames: SELECTs as they are drafted, written where there is none, and again where they fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from copy import copy
from dataclasses import replace

from finexpert.core import progress
from finexpert.core.answers import Citation
from finexpert.core.plans import Extract, Script
from finexpert.core.workspace import NamedFrame, Value
from finexpert.errors import CutFrame, NoRows, NotInSources, PlanError, QueryError, StepError, UnknownValue
from finexpert.plans.retries import SQL_EXTRACTION, NeedsAnotherPlan, StepFailed, feedback_on
from finexpert.plans.running import Running, counted, span
from finexpert.warehouse.checks.checked import Checked
from finexpert.warehouse.frame_values import value_of
from finexpert.warehouse.suggestions import of_a_frame


def extract(running: Running, steps: Sequence[Extract]) -> None:
    """Fetch the frames of one wave: drafts as they are, the rest written in one call, failures repaired in one."""
    if running.around.warehouse is None:
        raise PlanError("the plan fetches frames, but the question is asked of no warehouse")
    with progress.stage("extracting", counted(steps, "SELECT", "SELECTs")):
        _extract(running, steps)


def _extract(running: Running, steps: Sequence[Extract]) -> None:
    wanted = {step.frame: step for step in steps}
    selects = {step.frame: step.select for step in steps if step.select}
    feedback, used = "", 0
    first: StepError | None = None
    said: set[str] = set()
    while True:
        missing = [step for name, step in wanted.items() if name not in selects]
        try:
            failures = _write(running, missing, feedback, selects) if missing else {}
        except NotInSources as error:
            # What failed is for the person: its values say what the data hold instead.
            raise error from first
        failures |= _fetch(running, {name: selects[name] for name in wanted if name in selects}, wanted)
        if not failures:
            return
        told = next((error for error in failures.values() if _is_for_a_person(running, error)), None)
        first = told or next(iter(failures.values()))
        if told or used == running.around.retries or str(first) in said:
            raise StepFailed(SQL_EXTRACTION, first, used + 1)
        said.add(str(first))
        used += 1
        running.repairs += 1
        wanted = {name: wanted[name] for name in failures}
        feedback = "\n\n".join(feedback_on(selects.get(name), error) for name, error in failures.items())
        cut = any(isinstance(error, CutFrame) for error in failures.values())
        if cut and any(isinstance(step, Script) for step in running.plan.steps):
            raise NeedsAnotherPlan(first, feedback)
        selects = {}


def _is_for_a_person(running: Running, error: StepError) -> bool:
    """Whether another attempt is not worth a call: a person can tell, or the data end before."""
    if isinstance(error, UnknownValue):
        return bool(error.values and (running.around.someone_there or error.question))
    return isinstance(error, NoRows) and error.beyond


def _write(running: Running, steps: Sequence[Extract], feedback: str, selects: dict[str, str]) -> dict[str, StepError]:
    if running.around.write_selects is None:
        return {step.frame: QueryError(f"no SELECT for the frame {step.frame!r}") for step in steps}
    try:
        selects.update(running.around.write_selects(steps, feedback))
    except StepError as error:
        return {step.frame: error for step in steps}
    return {
        step.frame: QueryError(f"no SELECT was written for the frame {step.frame!r}")
        for step in steps
        if step.frame not in selects
    }


def _fetch(running: Running, selects: Mapping[str, str], steps: Mapping[str, Extract]) -> dict[str, StepError]:
    names = list(selects)
    with ThreadPoolExecutor(max(1, len(names))) as pool:
        jobs = [pool.submit(copy_context().run, _query, running, steps[name], selects[name]) for name in names]
        results = [job.result() for job in jobs]
    failures: dict[str, StepError] = {}
    for name, result in zip(names, results, strict=True):
        problem = result if isinstance(result, StepError) else _keep(running, steps[name], result)
        if problem is not None:
            failures[name] = problem
    return failures


def _query(running: Running, step: Extract, select: str) -> Checked | StepError:
    try:
        if running.around.code_review is not None:
            with progress.stage("checking", "a model looks at the SELECT"):
                running.around.code_review.select(select)
        checked = _rows(running, select, step)
        frame = checked.frame
        if step.columns and list(frame.data.columns) != step.columns:
            if len(step.columns) != len(frame.data.columns):
                raise QueryError(
                    f"the SELECT returns the columns {list(frame.data.columns)}, not {step.columns} as announced"
                )
            frame = replace(frame, data=frame.data.set_axis(step.columns, axis=1))
    except UnknownValue as error:
        return error
    except QueryError as error:
        named = copy(error)
        named.args = (of_a_frame(str(error), step.frame),)
        return named
    except StepError as error:
        return error
    return replace(checked, frame=frame)


def _rows(running: Running, select: str, step: Extract) -> Checked:
    if running.around.checks is not None:
        answers, unit = running.plan.answering_extract == step, running.around.answer_format.unit
        return running.around.checks.run(select, step.frame, answers=answers, unit=unit)
    if running.around.warehouse is None:
        raise PlanError("the plan fetches frames, but the question is asked of no warehouse")
    frame = running.around.warehouse.query(select, as_of=running.around.as_of)
    if frame.truncated:
        raise CutFrame(f"it gives more than {len(frame.data):,} rows, and a frame holds no more")
    return Checked(frame, select)


def _keep(running: Running, step: Extract, checked: Checked) -> StepError | None:
    """Keep a frame; the reason where it is meant for the answer and is none."""
    frame = checked.frame
    named = NamedFrame(
        *(step.frame, frame.data, frame.select, step.purpose, frame.truncated, frame.fingerprint),
        *(running.around.as_of, checked.notes, checked.period, checked.written),
    )
    answering = running.plan.answering_extract
    if answering is not None and answering.id == step.id:
        try:
            running.registers[step.id] = _answer_of(running, named)
        except QueryError as error:
            return error
    running.seconds["sql"] += frame.seconds
    running.workspace.add_frame(named)
    running.done[step.id] = step.model_copy(update={"select": checked.written, "columns": list(frame.data.columns)})
    return None


def _answer_of(running: Running, frame: NamedFrame) -> Value:
    value, running.answer_format = value_of(frame.data, running.around.answer_format, fixed=running.around.format_fixed)
    return Value(
        value,
        unit=running.answer_format.unit,
        period=frame.period or span([frame]),
        citations=(Citation(source=frame.name, place=frame.select),),
        flags=frame.notes,
    )
