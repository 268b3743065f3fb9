"""What earlier questions of a conversation gave, used in one that is asked as of another day."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd
import pytest

from finexpert.core.plans import Plan, Reference, Script
from finexpert.core.workspace import NamedFrame, Turn, Value, Workspace
from finexpert.errors import PlanError
from finexpert.plans import execution
from finexpert.plans.running import Running
from finexpert.plans.surroundings import Surroundings
from finexpert.sandbox import ScriptOutcome
from finexpert.warehouse.checks.checked import Checks

JUNE, DECEMBER = dt.date(2023, 6, 30), dt.date(2023, 12, 31)


class Inline:
    """A sandbox that runs nothing: the code is the name of a frame to sum."""

    def run(self, code: str, frames: dict[str, pd.DataFrame], answer_format: Any) -> ScriptOutcome:
        return ScriptOutcome(float(frames[code]["x"].sum()), None, [], "", 0.001)


def running(then: dt.date | None, now: dt.date | None) -> Running:
    workspace = Workspace(turns=[Turn("Fees?", Value(26.0), as_of=then)])
    checks = Checks(None, now or DECEMBER, declared_only=now is None)  # type: ignore[arg-type]
    return Running(Plan(steps=[]), workspace, Surroundings(checks=checks))


@pytest.mark.parametrize("then", [DECEMBER, None])
def test_a_value_of_a_later_day_is_not_used(then: dt.date | None) -> None:
    with pytest.raises(PlanError, match=r"turn 1 was answered .*, and this question is asked as of 2023-06-30"):
        running(then, JUNE).look_up(Reference(kind="turn", number=1))


@pytest.mark.parametrize(
    ("then", "now", "said"), [(JUNE, DECEMBER, True), (JUNE, None, True), (JUNE, JUNE, False), (None, None, False)]
)
def test_a_value_of_an_earlier_day_is_said(then: dt.date | None, now: dt.date | None, said: bool) -> None:
    value = running(then, now).look_up(Reference(kind="turn", number=1))
    assert value.value == 26.0
    assert any("what came later is not in its value" in flag for flag in value.flags) is said


@pytest.mark.parametrize(("now", "said"), [(DECEMBER, True), (JUNE, False), (None, False)])
def test_a_frame_of_an_earlier_day_is_said(now: dt.date | None, said: bool) -> None:
    frame = NamedFrame("t", pd.DataFrame({"x": [1.0, 2.0]}), "SELECT x FROM t", as_of=JUNE)
    around = Surroundings(sandbox=Inline(), as_of=now)  # type: ignore[arg-type]
    plan = Plan(steps=[Script(id=1, frames=["t"], task="", code="t")])
    outcome = execution.run(plan, Workspace({"t": frame}), around)
    assert outcome.value.value == 3.0
    assert any("rows that came after it are not in it" in flag for flag in outcome.value.flags) is said
