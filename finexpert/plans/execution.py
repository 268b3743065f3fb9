"""Running a plan, step by step, over a workspace.

A plan knows nothing of language models, and neither does this file: whoever can write what a plan leaves open (a
SELECT, a script) is handed in as a plain function, so a plan runs in a test without a model:

    >>> from finexpert.core.plans import Compute
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
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import pandas as pd

from finexpert.core import progress
from finexpert.core.answers import AnswerFormat, Citation
from finexpert.core.plans import Cell, Compute, Extract, Lookup, Plan, Quote, Reference, Script, Search, Step, reference
from finexpert.core.syntax import parse
from finexpert.core.workspace import NamedFrame, Value, Workspace
from finexpert.errors import CutFrame, PlanError, QueryError, SandboxFailure, ScriptError, StepError, UnknownValue
from finexpert.filings.page.filing import Filing
from finexpert.plans import operations, unit_rules
from finexpert.sandbox import Sandbox
from finexpert.warehouse.checks.checked import Checked, Checks
from finexpert.warehouse.frame_values import value_of
from finexpert.warehouse.suggestions import of_a_frame
from finexpert.warehouse.warehouse import Warehouse

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
    checks: Checks | None = None
    filing: Filing | None = None
    find_page: PageFinder | None = None
    companies: Warehouse | None = None
    sandbox: Sandbox | None = None
    write_selects: SelectWriter | None = None
    write_script: ScriptWriter | None = None
    code_review: CodeReviewer | None = None
    answer_format: AnswerFormat = field(default_factory=AnswerFormat)
    format_fixed: bool = True  # nobody fixed it where the model chose it: the shape of a frame may then change it
    as_of: dt.date | None = None
    retries: int = 0
    someone_there: bool = False  # a person who can be asked what a text means is asked before a model guesses again


class StepFailed(Exception):
    """A layer has used up its retries, or the sandbox broke; `error` is the last one. Never leaves the program."""

    def __init__(self, layer: str, error: StepError | SandboxFailure, attempts: int) -> None:
        super().__init__(f"{layer}: {error}")
        self.layer, self.error, self.attempts = layer, error, attempts


class NeedsAnotherPlan(Exception):
    """What a layer alone cannot mend, since script and SELECT change together; `feedback` is for the planner. Never leaves the program."""

    def __init__(self, error: StepError, feedback: str) -> None:
        super().__init__(str(error))
        self.error, self.feedback = error, feedback


@dataclass
class Outcome:
    """What running a plan gave: the answer's value, and the plan as it was in the end run."""

    value: Value
    plan: Plan
    registers: dict[int, Value] = field(default_factory=dict)
    figures: list[bytes] = field(default_factory=list)
    repairs: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    answer_format: AnswerFormat | None = None  # of a frame that is the answer itself


def run(plan: Plan, workspace: Workspace, surroundings: Surroundings) -> Outcome:
    """Run all steps and return the value of the answer's step; frames are left in the workspace.

    Raises StepFailed when a step cannot be made to work, PlanError when the plan itself is malformed.
    """
    run_ = _Run(plan, workspace, surroundings)
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
    return Outcome(value, done, run_.registers, run_.figures, run_.repairs, run_.seconds, run_.answer_format)


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

    def __init__(self, plan: Plan, workspace: Workspace, surroundings: Surroundings) -> None:
        self.answering = plan.answering_extract
        self.has_script = any(isinstance(step, Script) for step in plan.steps)
        self.answer_format: AnswerFormat | None = None
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
        with progress.stage("reading", _counted(steps, "page search", "page searches")):
            self._search(steps, companies, find)

    def _search(self, steps: Sequence[Search], companies: Sequence[str], find: PageFinder) -> None:
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
        with progress.stage("extracting", _counted(steps, "SELECT", "SELECTs")):
            self._extract(steps)

    def _extract(self, steps: Sequence[Extract]) -> None:
        wanted = {step.frame: step for step in steps}
        selects = {step.frame: step.select for step in steps if step.select}
        feedback, used = "", 0
        said: set[str] = set()
        while True:
            missing = [step for name, step in wanted.items() if name not in selects]
            failures = self._write(missing, feedback, selects) if missing else {}
            failures |= self._fetch({name: selects[name] for name in wanted if name in selects}, wanted)
            if not failures:
                return
            first = next(iter(failures.values()))
            if used == self.around.retries or self._is_hopeless(first, said):
                raise StepFailed(SQL_EXTRACTION, first, used + 1)
            used += 1
            self.repairs += 1
            wanted = {name: wanted[name] for name in failures}
            feedback = "\n\n".join(_feedback(selects.get(name), error) for name, error in failures.items())
            if self.has_script and any(isinstance(error, CutFrame) for error in failures.values()):
                raise NeedsAnotherPlan(first, feedback)
            selects = {}

    def _is_hopeless(self, error: StepError, said: set[str]) -> bool:
        """Whether another attempt is not worth a call: a person can tell, or the same was said before."""
        if isinstance(error, UnknownValue) and error.values and self.around.someone_there:
            return True
        again = str(error) in said
        said.add(str(error))
        return again

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
            problem = result if isinstance(result, StepError) else self._keep(steps[name], result)
            if problem is not None:
                failures[name] = problem
        return failures

    def _query(self, step: Extract, select: str) -> Checked | StepError:
        try:
            if self.around.code_review is not None:
                with progress.stage("checking", "a model looks at the SELECT"):
                    self.around.code_review.select(select)
            checked = self._rows(select)
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

    def _rows(self, select: str) -> Checked:
        if self.around.checks is not None:
            return self.around.checks.run(select)
        if self.around.warehouse is None:
            raise PlanError("the plan fetches frames, but the question is asked of no warehouse")
        frame = self.around.warehouse.query(select, as_of=self.around.as_of)
        if frame.truncated:
            raise CutFrame(f"it gives more than {len(frame.data):,} rows, and a frame holds no more")
        return Checked(frame, select)

    def _keep(self, step: Extract, checked: Checked) -> StepError | None:
        """Keep a frame; the reason where it is meant for the answer and is none."""
        frame = checked.frame
        named = NamedFrame(
            *(step.frame, frame.data, frame.select, step.purpose, frame.truncated, frame.fingerprint),
            *(self.around.as_of, checked.notes, checked.period, checked.written),
        )
        if self.answering is not None and self.answering.id == step.id:
            try:
                self.registers[step.id] = self._answer_of(named)
            except QueryError as error:
                return error
        self.seconds["sql"] += frame.seconds
        self.workspace.add_frame(named)
        self.done[step.id] = step.model_copy(update={"select": checked.written, "columns": list(frame.data.columns)})
        return None

    def _answer_of(self, frame: NamedFrame) -> Value:
        value, self.answer_format = value_of(frame.data, self.around.answer_format, fixed=self.around.format_fixed)
        return Value(
            value,
            unit=self.answer_format.unit,
            period=frame.period or _span([frame]),
            citations=(Citation(source=frame.name, place=frame.select),),
            flags=frame.notes,
        )

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
                with progress.stage("checking", "a model looks at the script"):
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
            flags = tuple(dict.fromkeys(note for frame in used for note in frame.notes))
            self._check_period(outcome.period)
            return Value(
                outcome.value,
                unit=self.around.answer_format.unit,
                period=outcome.period or _span(used),
                citations=tuple(Citation(source=frame.name, place=frame.select) for frame in used),
                flags=flags,
            )

        with progress.stage("scripting"):
            value, repairs = with_retries(SCRIPT_GENERATION, step.code, write, attempt, self.around.retries)
        self.repairs += repairs
        self.registers[step.id] = value

    def _check_period(self, period: str | None) -> None:
        """What rests on days after the day that was asked for is no answer as of it."""
        checks = self.around.checks
        last = _iso_date((period or "").rpartition(" to ")[2])
        if checks is None or checks.as_of is None or checks.declared_only or last is None or last <= checks.as_of:
            return
        raise ScriptError(f"`period` ends on {last}, and the data end on {checks.as_of}: take the period from the data")

    def _frames(self, step: Script) -> dict[str, NamedFrame]:
        # All frames of the conversation are handed in: a script may use one that its plan forgot to name.
        usable = usable_frames(self.workspace, self.around.checks)
        if unknown := [name for name in step.frames if name not in usable]:
            raise PlanError(f"the script reads {unknown}, but there are only {sorted(usable)}")
        return usable


def usable_frames(workspace: Workspace, checks: Checks | None) -> dict[str, NamedFrame]:
    """The frames of a conversation that hold nothing later than the day that a question is asked as of."""
    day = checks.as_of if checks is not None and not checks.declared_only else None
    return {name: frame for name, frame in workspace.frames.items() if frame.known_by(day)}


def _counted(steps: Sequence[Step], one: str, several: str) -> str:
    return f"{len(steps)} {one if len(steps) == 1 else several}"


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
