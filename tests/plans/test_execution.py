"""Running plans with plain functions in place of models."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.core.plans import Compute, Extract, Plan, Script, Step
from finexpert.core.workspace import NamedFrame, Turn, Value, Workspace
from finexpert.errors import PlanError, QueryError, ScriptError
from finexpert.plans import execution
from finexpert.plans.execution import StepFailed, Surroundings
from finexpert.sandbox import ScriptOutcome
from finexpert.warehouse.checks.checked import Checked, Checks
from finexpert.warehouse.frames import Frame


class Tables:
    """A warehouse of one table that fails on any SELECT with 'bad' in it."""

    name, dialect, label = "tables", "duckdb", None

    def __init__(self) -> None:
        self.asked: list[str] = []

    def schema_card(self, privacy: str = "schema", question: str = "") -> str:
        return "table t"

    def query(self, select: str, *, as_of: dt.date | None = None) -> Frame:
        self.asked.append(select)
        if "bad" in select:
            raise QueryError("no such column")
        return Frame(pd.DataFrame({"x": [1.0, 2.0]}), "cut" in select, select, 0.001)

    def fingerprint(self) -> str:
        return "0"

    def columns(self) -> Mapping[str, Sequence[str]]:
        return {"t": ["x"]}

    def python_source(self, as_of: dt.date) -> str:
        return ""

    def close(self) -> None: ...


class Inline:
    """A sandbox that runs nothing: the code is the name of a frame to sum, or 'boom'."""

    def run(self, code: str, frames: Mapping[str, pd.DataFrame], answer_format: AnswerFormat) -> ScriptOutcome:
        if code not in frames:
            raise ScriptError("NameError")
        return ScriptOutcome(float(frames[code]["x"].sum()), None, [], "", 0.001)


def around(**given: object) -> Surroundings:
    return replace(Surroundings(warehouse=Tables(), sandbox=Inline(), retries=1), **given)  # type: ignore[arg-type]


def plan(select: str | None = "SELECT x FROM t", code: str | None = "t") -> Plan:
    return Plan(
        steps=[Extract(id=1, frame="t", purpose="x", select=select), Script(id=2, frames=["t"], task="", code=code)]
    )


def test_drafts_run_without_any_writer() -> None:
    space = Workspace()
    outcome = execution.run(plan(), space, around())
    assert outcome.value.value == 3.0
    assert outcome.value.citations[0].place == "SELECT x FROM t"
    assert list(space.frames) == ["t"]


def test_what_is_missing_is_written_in_one_call() -> None:
    calls = []

    def write(requests: Sequence[Extract], feedback: str) -> Mapping[str, str]:
        calls.append([r.frame for r in requests])
        return {r.frame: f"SELECT x FROM {r.frame}" for r in requests}

    two = Plan(
        steps=[
            Extract(id=1, frame="a", purpose=""),
            Extract(id=2, frame="b", purpose=""),
            Script(id=3, task="", code="b"),
        ]
    )
    assert execution.run(two, Workspace(), around(write_selects=write)).value.value == 3.0
    assert calls == [["a", "b"]]


def test_a_failed_draft_goes_back_with_its_error() -> None:
    seen = []

    def write(requests: Sequence[Extract], feedback: str) -> Mapping[str, str]:
        seen.append(feedback)
        return {"t": "SELECT x FROM t"}

    outcome = execution.run(plan(select="SELECT bad FROM t"), Workspace(), around(write_selects=write))
    assert outcome.repairs == 1
    assert "SELECT bad FROM t" in seen[0]
    assert "no such column" in seen[0]
    assert outcome.plan.steps[0].select == "SELECT x FROM t"  # type: ignore[union-attr]


def test_a_frame_taken_for_a_table_is_said_to_be_none() -> None:
    class Strict(Tables):
        def query(self, select: str, *, as_of: dt.date | None = None) -> Frame:
            if "FROM quarters" in select:
                raise QueryError('there is no table "quarters"; tables: t')
            return super().query(select, as_of=as_of)

    seen = []

    def write(requests: Sequence[Extract], feedback: str) -> Mapping[str, str]:
        seen.append(feedback)
        return {"quarters": "SELECT x FROM t" if feedback else "SELECT x FROM quarters"}

    steps: list[Step] = [Extract(id=1, frame="quarters", purpose=""), Script(id=2, task="", code="quarters")]
    execution.run(Plan(steps=steps), Workspace(), around(warehouse=Strict(), write_selects=write))
    assert "quarters is the name that the result gets" in seen[1]


def test_only_the_failed_frame_is_written_again() -> None:
    asked: list[list[str]] = []

    def write(requests: Sequence[Extract], feedback: str) -> Mapping[str, str]:
        asked.append([r.frame for r in requests])
        return {r.frame: "SELECT x FROM t" for r in requests}

    steps = [
        Extract(id=1, frame="a", purpose="", select="SELECT bad"),
        Extract(id=2, frame="b", purpose="", select="SELECT x"),
    ]
    execution.run(Plan(steps=[*steps, Script(id=3, task="", code="a")]), Workspace(), around(write_selects=write))
    assert asked == [["a"]]


def test_the_checks_are_told_which_frame_a_select_is_for() -> None:
    told: list[tuple[str, str, bool]] = []

    class Noted(Checks):
        def run(self, select: str, frame: str = "", *, answers: bool = False, unit: str | None = None) -> Checked:
            told.append((frame, select, answers))
            return Checked(Tables().query(select), select)

    execution.run(plan(), Workspace(), around(checks=Noted(Tables())))  # type: ignore[arg-type]
    assert told == [("t", "SELECT x FROM t", False)]


def test_retries_end() -> None:
    tables = Tables()
    with pytest.raises(StepFailed) as failed:
        execution.run(
            plan(select="SELECT bad"),
            Workspace(),
            around(warehouse=tables, write_selects=lambda r, f: {"t": "SELECT bad 2"}),
        )
    assert failed.value.layer == "sql_extraction"
    assert tables.asked == ["SELECT bad", "SELECT bad 2"]


def test_a_script_is_repaired_and_its_failures_are_counted() -> None:
    outcome = execution.run(
        plan(code="boom"), Workspace(), around(write_script=lambda s, f, b: "t" if "NameError" in b else "no")
    )
    assert (outcome.value.value, outcome.repairs) == (3.0, 1)


def test_a_test_of_two_means_says_what_it_takes_of_variances() -> None:
    told: list[str] = []

    def write(step: Script, frames: object, feedback: str) -> str:
        told.append(feedback.partition("failed: ")[2])
        return "t"

    execution.run(plan(code="answer = stats.ttest_ind(t.x, t.x)[1]"), Workspace(), around(write_script=write))
    assert [text[:52] for text in told] == ["line 1: ttest_ind() takes the variances of both samp"]


def test_a_script_may_use_a_frame_of_an_earlier_turn() -> None:
    space = Workspace()
    space.add_frame(NamedFrame("old", pd.DataFrame({"x": [5.0]}), "SELECT 5 AS x"))
    outcome = execution.run(Plan(steps=[Script(id=1, frames=["old"], task="", code="old")]), space, around())
    assert outcome.value.value == 5.0


def test_columns_take_the_announced_names() -> None:
    step = Extract(id=1, frame="t", purpose="", columns=["level"], select="SELECT x FROM t")
    space = Workspace()
    with pytest.raises(StepFailed):
        execution.run(Plan(steps=[step, Script(id=2, task="", code="nothing")]), space, around(retries=0))
    assert list(space.frames["t"].data.columns) == ["level"]


def test_a_cut_frame_is_no_ground_for_a_script() -> None:
    with pytest.raises(execution.NeedsAnotherPlan, match="more than 2 rows"):
        execution.run(plan(select="SELECT x FROM cut"), Workspace(), around())
    with pytest.raises(execution.StepFailed, match="more than 2 rows"):
        execution.run(plan(select="SELECT x FROM cut"), Workspace(), around(retries=0))


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([Compute(id=1, operation="add", arguments=["step 9", 1.0])], "step 9, which does not exist"),
        ([Compute(id=1, operation="add", arguments=["turn -1", 1.0])], "no turn -1"),
        ([Compute(id=1, operation="add", arguments=["nonsense", 1.0])], "neither"),
        ([Script(id=1, frames=["gone"], task="", code="gone")], "gone"),
        ([Compute(id=1, operation="add", arguments=[1.0, 1.0])] * 2, "same id"),
    ],
)
def test_a_malformed_plan_is_a_plan_error(steps: list[Step], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        execution.run(Plan(steps=steps), Workspace(), around())


def test_earlier_turns_are_used_at_full_precision() -> None:
    space = Workspace(turns=[Turn("q", Value(1 / 3))])
    outcome = execution.run(
        Plan(steps=[Compute(id=1, operation="multiply", arguments=["turn -1", 3.0])]), space, around()
    )
    assert outcome.value.value == 1.0
