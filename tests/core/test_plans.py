"""Plans as models write them: thousands of random and mutated ones give a value or a typed error, and never hang."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from finexpert.core.plans import Plan, reference
from finexpert.core.workspace import Turn, Value, Workspace
from finexpert.errors import PlanError, StepError
from finexpert.filings.page.filing import Filing
from finexpert.plans import checks, execution

PAGE = Filing(
    "p-1",
    ["revenue rose by 12.5% to $ 1,234.5 million , against 1,097.3 million in 2016 ."],
    [
        ["( in millions )", "2017", "2016", "2016"],
        ["revenue", "1234.5", "1097.3", "1"],
        ["loss", "-26 ( 26 )", "( 7 )", "-"],
    ],
    ["see note 4 ."],
)
EARLIER = Workspace(turns=[Turn("a", Value(2.0)), Turn("b", None), Turn("c", Value("yes"))])

labels = st.sampled_from(
    ["revenue", "loss", "2017", "2016", "nothing", "", "r1", "c2", "\u200brevenue", "(", "🙂" * 50]
)
numbers = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.integers(-(10**30), 10**30))
arguments = st.one_of(
    numbers, labels, st.sampled_from(["step 1", "step 2", "step 9", "turn -1", "turn 1", "turn 0", "#1", "1e999"])
)
operations = st.sampled_from(
    [
        "add",
        "subtract",
        "divide",
        "exp",
        "greater",
        "percent_change",
        "average",
        "sum",
        "cagr",
        "npv",
        "irr",
        "xirr",
        "eps",
        "absolute",
        "nonsense",
        "",
    ]
)
steps = st.one_of(
    st.fixed_dictionaries(
        {"kind": st.just("cell"), "id": st.integers(0, 4), "row": labels, "column": labels},
        optional={"row_number": st.integers(-5, 9), "column_number": st.integers(-5, 9)},
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("quote"),
            "id": st.integers(1, 4),
            "quote": st.sampled_from(["rose by 12.5%", "to $ 1,234.5 million", "", "not there", "note 4 ."]),
            "value": st.sampled_from(["12.5%", "1,234.5", "4", "", "x", "-"]),
        }
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("compute"),
            "id": st.integers(1, 4),
            "operation": operations,
            "arguments": st.lists(arguments, max_size=4),
        }
    ),
    st.fixed_dictionaries({"kind": st.sampled_from(["extract", "script", "search", "", None])}),
)
plans = st.fixed_dictionaries(
    {"steps": st.lists(steps, max_size=4)},
    optional={"answer": st.sampled_from(["step 1", "step 2", "step 7", "turn -1", "turn 1", "turn 2", "4", "", None])},
)


def _run(written: dict[str, Any]) -> object:
    try:
        plan = Plan.model_validate(json.loads(json.dumps(written)))
    except ValidationError:
        return None
    assert all(isinstance(problem, str) and problem for problem in checks.before(plan, PAGE, EARLIER))
    try:
        outcome = execution.run(plan, EARLIER, execution.Surroundings(filing=PAGE))
    except (StepError, execution.StepFailed):
        return None
    _, confidence = checks.after(plan, outcome.registers, outcome.value, workspace=EARLIER, filing=PAGE)
    assert 0 <= confidence <= 100
    return outcome.value.value


# 10,000 were run once; a few hundred each time keep watch.
@settings(max_examples=400, deadline=2000)
@given(plans)
def test_random_plans_give_a_value_or_a_typed_error(written: dict[str, Any]) -> None:
    value = _run(written)
    assert value is None or isinstance(value, float | int | str | list)


def test_a_right_plan_is_among_them() -> None:
    steps = [
        {"kind": "cell", "id": 1, "row": "revenue", "column": "2017"},
        {"kind": "quote", "id": 2, "quote": "against 1,097.3 million", "value": "1,097.3"},
        {"kind": "compute", "id": 3, "operation": "percent_change", "arguments": ["step 2", "step 1"]},
    ]
    assert _run({"steps": steps}) == pytest.approx(0.125034, abs=1e-6)


def test_what_refers_in_a_circle_is_refused() -> None:
    circle = {
        "steps": [
            {"kind": "compute", "id": 1, "operation": "add", "arguments": ["step 2", 1]},
            {"kind": "compute", "id": 2, "operation": "add", "arguments": ["step 1", 1]},
        ]
    }
    with pytest.raises(PlanError, match="circle"):
        Plan.model_validate(circle).order()


def test_references() -> None:
    assert reference("Step 12") == ("step", 12)
    assert reference("turn -1") == ("turn", -1)
    assert [reference(text) for text in ("step", "step two", "turn 1.5", 4, None)] == [None] * 5
