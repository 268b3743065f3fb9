"""Running a plan, step by step, over a workspace.

A plan knows nothing of language models, and neither does this file: whoever can write what a plan leaves open (a
SELECT, a script) is handed in as a plain function, so a plan runs in a test without a model:

    >>> from finexpert.plans import Compute
    >>> plan = Plan(steps=[Compute(id=1, operation="divide", arguments=[1.0, 4.0])])
    >>> run(plan, Workspace(), Surroundings()).value.value
    0.25

What fails goes back to its own layer with the error, at most `retries` times; the loop for that stands here once.
"""

from __future__ import annotations

import ast
import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import pandas as pd

from finexpert import operations, unit_rules
from finexpert.answers import AnswerFormat, Citation
from finexpert.errors import PlanError, QueryError, SandboxFailure, ScriptError, StepError
from finexpert.plans import Cell, Compute, Extract, Lookup, Plan, Quote, Reference, Script, Search, Step, reference
from finexpert.sandbox import Sandbox
from finexpert.sources.filing import Filing
from finexpert.sources.suggestions import of_a_frame
from finexpert.sources.warehouse import Frame, Warehouse
from finexpert.syntax import parse
from finexpert.workspace import NamedFrame, Value, Workspace

T = TypeVar("T")
R = TypeVar("R")

SQL_EXTRACTION, SCRIPT_GENERATION, PLANNING = "sql_extraction", "script_generation", "planning"
FILING_SEARCH, SANDBOX = "filing_search", "sandbox"


class SelectWriter(Protocol):
    """Writes SELECTs.

    Must return a mapping from the names of frames to SELECTs; may leave a frame out, which then counts as failed.
    Must raise StepError, nothing else, when the model's text is unusable. Must not look at data.
    """

    def __call__(self, requests: Sequence[Extract], feedback: str) -> Mapping[str, str]: ...


class ScriptWriter(Protocol):
    """Writes the code of one script step over the frames named, under the same rules as a `SelectWriter`."""

    def __call__(self, step: Script, frames: Sequence[NamedFrame], feedback: str) -> str: ...


class PageFinder(Protocol):
    """Finds the page of a library that answers a step, and reads the value there.

    Must return the value with its citations, and the step with the `page` and the `plan` that gave it. `company` is the
    step's company by name. Must raise SearchError where no page answers. Called from several threads at once.
    """

    def __call__(self, step: Search, company: str) -> tuple[Value, Search]: ...


class CodeReviewer(Protocol):
    """Looks at code right before it is run.

    Must raise ScriptError for a script, QueryError for a SELECT, where it finds a violation or cannot tell: the code is
    not run and goes back to its layer. May never stand for a boundary. Called from several threads at once.
    """

    def script(self, code: str) -> None: ...

    def select(self, select: str) -> None: ...


@dataclass(frozen=True)
class Surroundings:
    """What a plan is run with. What a plan does not use may be missing."""

    warehouse: Warehouse | None = None
    filing: Filing | None = None
    find_page: PageFinder | None = None
    companies: Warehouse | None = None
    sandbox: Sandbox | None = None
    write_selects: SelectWriter | None = None
    write_script: ScriptWriter | None = None
    code_review: CodeReviewer | None = None
    answer_format: AnswerFormat = field(default_factory=AnswerFormat)
    as_of: dt.date | None = None
    retries: int = 0


class StepFailed(Exception):
    """A layer has used up its retries, or the sandbox broke; `error` is the last one. Never leaves the program."""

    def __init__(self, layer: str, error: StepError | SandboxFailure, attempts: int) -> None:
        super().__init__(f"{layer}: {error}")
        self.layer, self.error, self.attempts = layer, error, attempts


@dataclass
class Outcome:
    """What running a plan gave: the answer's value, and the plan as it was in the end run."""

    value: Value
    plan: Plan
    registers: dict[int, Value] = field(default_factory=dict)
    figures: list[bytes] = field(default_factory=list)
    repairs: int = 0
    seconds: dict[str, float] = field(default_factory=dict)


def run(plan: Plan, workspace: Workspace, surroundings: Surroundings) -> Outcome:
    """Run all steps and return the value of the answer's step; frames are left in the workspace.

    Raises StepFailed when a step cannot be made to work, PlanError when the plan itself is malformed.
    """
    run_ = _Run(workspace, surroundings)
    for wave in plan.order():
        steps = [plan.step(number) for number in wave]
        if extracts := [step for step in steps if isinstance(step, Extract)]:
            run_.extract(extracts)
        run_.search([step for step in steps if isinstance(step, Search)])
        for step in steps:
            if not isinstance(step, Extract | Search):
                run_.one(step)
    value = run_.look_up(plan.answer_reference)
    done = plan.model_copy(update={"steps": [run_.done.get(step.id, step) for step in plan.steps]})
    return Outcome(value, done, run_.registers, run_.figures, run_.repairs, run_.seconds)


def with_retries(
    layer: str,
    draft: T | None,
    write: Callable[[str], T],
    attempt: Callable[[T], R],
    retries: int,
    show: Callable[[T], str] = str,
) -> tuple[R, int]:
    """Attempt a draft; while it fails, have it written again with the error, at most `retries` times.

    Writing where there is no draft is not a retry.

    >>> with_retries("planning", None, lambda feedback: "ab", str.upper, retries=0)
    ('AB', 0)
    """
    feedback = ""
    for used in range(retries + 1):
        try:
            if draft is None:
                draft = write(feedback)
            return attempt(draft), used
        except StepError as error:
            if used == retries:
                raise StepFailed(layer, error, used + 1) from error
            feedback = _feedback(None if draft is None else show(draft), error)
            draft = None
    raise AssertionError("unreachable")


def _feedback(draft: str | None, error: StepError) -> str:
    return f"{draft}\n\nfailed: {error}" if draft else str(error)


class _Run:
    """The registers of one run."""

    def __init__(self, workspace: Workspace, surroundings: Surroundings) -> None:
        self.workspace = workspace
        self.around = surroundings
        self.registers: dict[int, Value] = {}
        self.done: dict[int, Step] = {}
        self.figures: list[bytes] = []
        self.repairs = 0
        self.seconds: dict[str, float] = {"sql": 0.0, "script": 0.0}

    def look_up(self, ref: Reference) -> Value:
        if ref.kind == "step":
            if ref.number not in self.registers:
                raise PlanError(f"step {ref.number} gives no value to use or to answer with")
            return self.registers[ref.number]
        turn = self.workspace.turn(ref.number)
        if turn.value is None:
            raise PlanError(f"turn {ref.number} ({turn.question!r}) has no answer to refer to")
        return turn.value

    def one(self, step: Step) -> None:
        if isinstance(step, Script):
            self.script(step)
        elif isinstance(step, Compute):
            values = [self._argument(a) for a in step.arguments]
            # Two filings may print the same thing in thousands and in millions.
            values = unit_rules.on_one_scale(values) if self.around.find_page else values
            self.registers[step.id] = operations.apply(step.operation, values)
        elif isinstance(step, Lookup):
            self.registers[step.id] = self._look_up_company(step)
        elif isinstance(step, Cell | Quote):
            if self.around.filing is None:
                raise PlanError(f"step {step.id} reads a filing, but the question is asked of none")
            read = self.around.filing.cell if isinstance(step, Cell) else self.around.filing.quote
            self.registers[step.id] = read(step)  # type: ignore[arg-type]

    def _argument(self, argument: float | str) -> Value:
        if isinstance(argument, float):
            return Value(argument)
        if ref := reference(argument):
            return self.look_up(ref)
        if (day := _iso_date(argument)) is not None:
            return Value(day)
        if self.around.filing is not None:
            return _row(self.around.filing.row(argument))
        raise PlanError(f"{argument!r} is neither 'step N', 'turn N' nor a number")

    # libraries

    def search(self, steps: Sequence[Search]) -> None:
        """Find the pages of one wave side by side; what was found stands in the steps."""
        find = self.around.find_page
        if not steps:
            return
        if find is None:
            raise PlanError(f"step {steps[0].id} searches a library, but the question is asked of none")
        companies = [self._company(step) for step in steps]
        with ThreadPoolExecutor(len(steps)) as pool:
            jobs = [
                pool.submit(copy_context().run, find, step, company)
                for step, company in zip(steps, companies, strict=True)
            ]
        failed: StepError | None = None
        for step, job in zip(steps, jobs, strict=True):
            try:
                self.registers[step.id], self.done[step.id] = job.result()
            except StepError as error:
                failed = failed or error
        if failed is not None:
            raise StepFailed(FILING_SEARCH, failed, 1) from failed

    def _company(self, step: Search) -> str:
        found = reference(step.company)
        if found is None:
            return step.company
        name = self.look_up(found).value
        if not isinstance(name, str):
            raise PlanError(
                f"step {step.id} takes {step.company} for a company, which gives the {type(name).__name__} {name}"
            )
        return name

    def _look_up_company(self, step: Lookup) -> Value:
        if self.around.companies is None:
            raise QueryError(
                "there is no table of companies to look this up in; `finexpert library companies FILE` adds one"
            )
        if self.around.code_review is not None:
            self.around.code_review.select(step.select)
        data = self.around.companies.query(step.select).data
        if data.shape != (1, 1):
            raise QueryError(
                f"the SELECT of step {step.id} must return one value, not {data.shape[0]} rows of {data.shape[1]} columns"
            )
        value: Any = data.iat[0, 0]
        value = value.item() if hasattr(value, "item") else value
        if pd.isna(value):
            raise QueryError(f"the SELECT of step {step.id} returns a missing value")
        return Value(value, citations=(Citation(source="table of companies", place=step.select, value=value),))

    # extraction

    def extract(self, steps: Sequence[Extract]) -> None:
        """Fetch the frames of one wave: drafts as they are, the rest written in one call, failures repaired in one."""
        if self.around.warehouse is None:
            raise PlanError("the plan fetches frames, but the question is asked of no warehouse")
        wanted = {step.frame: step for step in steps}
        selects = {step.frame: step.select for step in steps if step.select}
        feedback, used = "", 0
        while True:
            missing = [step for name, step in wanted.items() if name not in selects]
            failures = self._write(missing, feedback, selects) if missing else {}
            failures |= self._fetch({name: selects[name] for name in wanted if name in selects}, wanted)
            if not failures:
                return
            if used == self.around.retries:
                raise StepFailed(SQL_EXTRACTION, next(iter(failures.values())), used + 1)
            used += 1
            self.repairs += 1
            wanted = {name: wanted[name] for name in failures}
            feedback = "\n\n".join(_feedback(selects.get(name), error) for name, error in failures.items())
            selects = {}

    def _write(self, steps: Sequence[Extract], feedback: str, selects: dict[str, str]) -> dict[str, StepError]:
        if self.around.write_selects is None:
            return {step.frame: QueryError(f"no SELECT for the frame {step.frame!r}") for step in steps}
        try:
            selects.update(self.around.write_selects(steps, feedback))
        except StepError as error:
            return {step.frame: error for step in steps}
        return {
            step.frame: QueryError(f"no SELECT was written for the frame {step.frame!r}")
            for step in steps
            if step.frame not in selects
        }

    def _fetch(self, selects: Mapping[str, str], steps: Mapping[str, Extract]) -> dict[str, StepError]:
        names = list(selects)
        with ThreadPoolExecutor(max(1, len(names))) as pool:
            jobs = [pool.submit(copy_context().run, self._query, steps[name], selects[name]) for name in names]
            results = [job.result() for job in jobs]
        failures: dict[str, StepError] = {}
        for name, result in zip(names, results, strict=True):
            if isinstance(result, StepError):
                failures[name] = result
            else:
                self._keep(steps[name], result)
        return failures

    def _query(self, step: Extract, select: str) -> Frame | StepError:
        if self.around.warehouse is None:
            raise PlanError("the plan fetches frames, but the question is asked of no warehouse")
        try:
            if self.around.code_review is not None:
                self.around.code_review.select(select)
            frame = self.around.warehouse.query(select, as_of=self.around.as_of)
            if step.columns and list(frame.data.columns) != step.columns:
                if len(step.columns) != len(frame.data.columns):
                    raise QueryError(
                        f"the SELECT returns the columns {list(frame.data.columns)}, not {step.columns} as announced"
                    )
                frame = replace(frame, data=frame.data.set_axis(step.columns, axis=1))
            if step.rows is not None and len(frame.data) != step.rows:
                raise QueryError(f"the SELECT returns {len(frame.data):,} rows, and {step.rows:,} was asked for")
            if step.rows == 1 and frame.data.isna().all(axis=None):
                raise QueryError("the SELECT returns a missing value: no row meets its conditions, or none has a value")
        except QueryError as error:
            return QueryError(of_a_frame(str(error), step.frame))
        except StepError as error:
            return error
        return frame

    def _keep(self, step: Extract, frame: Frame) -> None:
        self.seconds["sql"] += frame.seconds
        self.workspace.add_frame(
            NamedFrame(step.frame, frame.data, frame.select, step.purpose, frame.truncated, frame.fingerprint)
        )
        self.done[step.id] = step.model_copy(update={"select": frame.select, "columns": list(frame.data.columns)})

    # scripts

    def script(self, step: Script) -> None:
        sandbox = self.around.sandbox
        if sandbox is None:
            raise PlanError("the plan runs a script, but there is no sandbox")
        frames = self._frames(step)
        writer = self.around.write_script

        def write(feedback: str) -> str:
            if writer is None:
                raise ScriptError("the plan has no script, and nothing is there to write one")
            return writer(step, list(frames.values()), feedback)

        def attempt(code: str) -> Value:
            if self.around.code_review is not None:
                self.around.code_review.script(code)
            try:
                outcome = sandbox.run(code, {n: f.data for n, f in frames.items()}, self.around.answer_format)
            except SandboxFailure as error:  # no other script would mend it
                raise StepFailed(SANDBOX, error, 1) from error
            self.figures = outcome.figures
            self.seconds["script"] += outcome.seconds
            names = names_in(code)
            used = [frame for frame in frames.values() if frame.name in names]
            self.done[step.id] = step.model_copy(update={"code": code, "frames": [frame.name for frame in used]})
            flags = tuple(f"{frame.name} was cut at {len(frame.data):,} rows" for frame in used if frame.truncated)
            return Value(
                outcome.value,
                unit=self.around.answer_format.unit,
                period=outcome.period or _span(used),
                citations=tuple(Citation(source=frame.name, place=frame.select) for frame in used),
                flags=flags,
            )

        value, repairs = with_retries(SCRIPT_GENERATION, step.code, write, attempt, self.around.retries)
        self.repairs += repairs
        self.registers[step.id] = value

    def _frames(self, step: Script) -> dict[str, NamedFrame]:
        # All frames of the conversation are handed in: a script may use one that its plan forgot to name.
        if unknown := [name for name in step.frames if name not in self.workspace.frames]:
            raise PlanError(f"the script reads {unknown}, but there are only {sorted(self.workspace.frames)}")
        return dict(self.workspace.frames)


def _iso_date(text: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text.strip())
    except ValueError:
        return None


def _row(cells: Sequence[Value]) -> Value:
    """The numbers of a table row as one value, with what the first of them says of unit and scale."""
    first = cells[0]
    return replace(
        first,
        value=[float(cell.value) for cell in cells if isinstance(cell.value, int | float)],
        period=None,
        citations=tuple(citation for cell in cells for citation in cell.citations),
        flags=tuple(dict.fromkeys(flag for cell in cells for flag in cell.flags)),
    )


def names_in(code: str) -> set[str]:
    """The names that a script reads or sets.

    >>> sorted(names_in("answer = gdp.value.max()"))
    ['answer', 'gdp']
    """
    return {node.id for node in ast.walk(parse(code)) if isinstance(node, ast.Name)}


def _span(frames: Sequence[NamedFrame]) -> str | None:
    """First and last date of the frames: the time that an answer rests on, where the script does not say it."""
    columns = [f.data[c].dropna() for f in frames for c in f.data.columns if f.data[c].dtype.kind == "M"]
    days = [day for column in columns if len(column) for day in (column.min(), column.max())]
    return f"{min(days).date()} to {max(days).date()}" if days else None
