"""Running the steps of a plan that are scripts: in the sandbox, over the frames of the conversation."""

from __future__ import annotations

import ast
import datetime as dt
from collections.abc import Iterator, Sequence

from finexpert.core import progress
from finexpert.core.answers import Citation
from finexpert.core.plans import Script
from finexpert.core.syntax import parse
from finexpert.core.workspace import NamedFrame, Value, Workspace
from finexpert.errors import PlanError, SandboxFailure, ScriptError, UnknownValue
from finexpert.plans.guessed_texts import check_looked_for, is_for_a_person
from finexpert.plans.retries import SANDBOX, SCRIPT_GENERATION, StepFailed, with_retries
from finexpert.plans.running import Running, iso_date, span
from finexpert.plans.script_checks import check_script
from finexpert.warehouse.checks.checked import Checks


def script(running: Running, step: Script) -> None:
    sandbox = running.around.sandbox
    if sandbox is None:
        raise PlanError("the plan runs a script, but there is no sandbox")
    frames = _frames(running, step)
    writer = running.around.write_script

    def write(feedback: str) -> str:
        if writer is None:
            raise ScriptError("the plan has no script, and nothing is there to write one")
        return writer(step, list(frames.values()), feedback)

    def attempt(code: str) -> Value:
        check_script(code)
        if running.around.code_review is not None:
            with progress.stage("checking", "a model looks at the script"):
                running.around.code_review.script(code)
        try:
            outcome = sandbox.run(code, {n: f.data for n, f in frames.items()}, running.around.answer_format)
        except SandboxFailure as error:  # no other script would mend it
            raise StepFailed(SANDBOX, error, 1) from error
        try:
            check_looked_for(outcome.unmet, frames, _spoken_of(running))
        except UnknownValue as error:
            if is_for_a_person(error):
                raise StepFailed(SCRIPT_GENERATION, error, 1) from error
            raise
        running.figures = outcome.figures
        running.seconds["script"] += outcome.seconds
        names = names_in(code)
        used = [frame for frame in frames.values() if frame.name in names]
        running.done[step.id] = step.model_copy(update={"code": code, "frames": [frame.name for frame in used]})
        notes = [*(note for frame in used for note in frame.notes), *_of_earlier(used, running.around.as_of)]
        flags = tuple(dict.fromkeys(notes))
        _check_period(running, outcome.period)
        return Value(
            outcome.value,
            unit=running.around.answer_format.unit,
            period=outcome.period or span(used),
            citations=tuple(Citation(source=frame.name, place=frame.select) for frame in used),
            flags=flags,
        )

    with progress.stage("scripting"):
        value, repairs = with_retries(SCRIPT_GENERATION, step.code, write, attempt, running.around.retries)
    running.repairs += repairs
    running.registers[step.id] = value


def _spoken_of(running: Running) -> str:
    asked = running.around.checks.question if running.around.checks is not None else ""
    return f"{asked} {running.plan.interpretation}"


def _check_period(running: Running, period: str | None) -> None:
    """What rests on days after the day that was asked for is no answer as of it."""
    checks = running.around.checks
    last = iso_date((period or "").rpartition(" to ")[2])
    if checks is None or checks.as_of is None or checks.declared_only or last is None or last <= checks.as_of:
        return
    raise ScriptError(f"`period` ends on {last}, and the data end on {checks.as_of}: take the period from the data")


def _frames(running: Running, step: Script) -> dict[str, NamedFrame]:
    # All frames of the conversation are handed in: a script may use one that its plan forgot to name.
    usable = usable_frames(running.workspace, running.around.checks)
    if unknown := [name for name in step.frames if name not in usable]:
        raise PlanError(f"the script reads {unknown}, but there are only {sorted(usable)}")
    return usable


def usable_frames(workspace: Workspace, checks: Checks | None) -> dict[str, NamedFrame]:
    """The frames of a conversation that hold nothing later than the day that a question is asked as of."""
    day = checks.as_of if checks is not None and not checks.declared_only else None
    return {name: frame for name, frame in workspace.frames.items() if frame.known_by(day)}


def _of_earlier(used: Sequence[NamedFrame], day: dt.date | None) -> Iterator[str]:
    """What is said of frames of earlier questions that were asked as of an earlier day."""
    for frame in used:
        if day is not None and frame.as_of is not None and frame.as_of < day:
            yield f"{frame.name} was fetched as of {frame.as_of}: rows that came after it are not in it"


def names_in(code: str) -> set[str]:
    """The names that a script reads or sets.

    >>> sorted(names_in("answer = gdp.value.max()"))
    ['answer', 'gdp']
    """
    return {node.id for node in ast.walk(parse(code)) if isinstance(node, ast.Name)}
