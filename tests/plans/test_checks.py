"""What is found wrong with a plan before it runs, and with a result after."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.core.plans import Plan
from finexpert.core.workspace import Turn, Value, Workspace
from finexpert.filings.page.filing import Filing
from finexpert.plans import checks, execution
from finexpert.plans.result_checks import START, UNKNOWN_FLAG, WEIGHTS, weight_of

PAGE = Filing(
    "a",
    ["net sales for 2017 were $ 999 million , of which 13.4% ( 13.4 % ) abroad , and 3 stores closed ."],
    [
        ["( in millions )", "2017", "2016"],
        ["net sales", "$ 1,234", "$ 1,181"],
        ["net costs", "$ 1,000", "$ -"],
        ["margin", "27% ( 27 % )", "25% ( 25 % )"],
        ["shares issued ( in thousands )", "500", "400"],
    ],
    [],
)
SALES_2017 = {"kind": "cell", "id": 1, "row": "net sales", "column": "2017"}
SALES_2016 = {"kind": "cell", "id": 2, "row": "net sales", "column": "2016"}
MARGIN = {"kind": "cell", "id": 3, "row": "margin", "column": "2017"}


def plan_of(*steps: dict[str, Any], **more: Any) -> Plan:
    return Plan.model_validate({"steps": list(steps), **more})


def compute(number: int, operation: str, *arguments: float | str) -> dict[str, Any]:
    return {"kind": "compute", "id": number, "operation": operation, "arguments": list(arguments)}


def run(plan: Plan, workspace: Workspace | None = None) -> tuple[list[str], int]:
    space = workspace or Workspace()
    outcome = execution.run(plan, space, execution.Surroundings(filing=PAGE))
    return checks.after(plan, outcome.registers, outcome.value, workspace=space, filing=PAGE)


@pytest.mark.parametrize(
    "steps",
    [
        [SALES_2017],
        [
            SALES_2017,
            SALES_2016,
            compute(3, "percent_change", "step 2", "step 1"),
            compute(4, "multiply", "step 3", 100.0),
        ],
        [compute(1, "average", "net sales")],
        [SALES_2017, compute(2, "divide", "step 1", 3.0)],
        [MARGIN, SALES_2017, compute(4, "multiply", "step 3", "step 1")],
        [SALES_2017, compute(2, "subtract", "turn -1", "step 1")],
    ],
)
def test_a_sound_plan_has_no_problem(steps: list[dict[str, Any]]) -> None:
    workspace = Workspace(turns=[Turn("before", Value(5.0))])
    assert checks.before(plan_of(*steps), PAGE, workspace) == []


@pytest.mark.parametrize(
    ("steps", "problems"),
    [
        ([compute(1, "add", "step 2", 1.0), compute(2, "add", "step 1", 1.0)], ["steps [1, 2] refer to each other in a circle"]),
        ([compute(1, "add", "step 9", 1.0)], ["step 1 refers to step 9, which does not exist"]),
        ([SALES_2017, SALES_2017], ["two steps have the same id: [1, 1]"]),
        ([], ["the plan has no steps and names no earlier answer"]),
        ([SALES_2017, compute(2, "add", "step 1", "turn -2")], ["step 2: there is no turn -2; the conversation has 1 so far"]),
        ([compute(1, "add", "turn 1", 1.0)], ["step 1: turn 1 has no answer to refer to"]),
        ([SALES_2017, compute(2, "divde", "step 1", 2.0)], ["step 2: there is no operation 'divde'; the nearest are divide"]),
        ([SALES_2017, compute(2, "divide", "step 1")], ["step 2: divide(a, b) takes 2 arguments, not 1"]),
        ([compute(1, "divide", "turn 1")], ["step 1: turn 1 has no answer to refer to", "step 1: divide(a, b) got 1 arguments"]),
        ([SALES_2017, compute(2, "divide", "step 1", 0.0)], ["step 2: divide divides by zero"]),
        ([SALES_2017, compute(2, "subtract", "step 1", 5829.0)], ["step 2: 5829 is no constant; read it with a cell or a quote"]),
        ([SALES_2017, MARGIN, compute(4, "add", "step 1", "step 3")], ["step 4: add of a percentage and USD"]),
    ],
)  # fmt: skip
def test_a_problem_is_named_before_anything_runs(steps: list[dict[str, Any]], problems: list[str]) -> None:
    assert checks.before(plan_of(*steps), PAGE, Workspace(turns=[Turn("q")])) == problems


def test_all_problems_come_at_once_and_none_without_a_page_hides() -> None:
    plan = plan_of({**SALES_2017, "row": "net profits"}, {"kind": "quote", "id": 2, "quote": "sales were 5", "value": "5"},
                   compute(3, "subtract", "step 1", "step 2"), compute(4, "median", "a row"))  # fmt: skip
    problems = checks.before(plan, PAGE, Workspace())
    assert [problem.split(":")[0] for problem in problems] == ["step 1", "step 2", "step 4", "step 4"]
    assert checks.before(plan_of(SALES_2017), None, Workspace()) == [
        "step 1: it reads a filing, but the question is asked of none"
    ]
    assert "neither 'step N'" in checks.before(plan_of(compute(1, "sum", "a row")), None, Workspace())[0]


def test_an_answer_that_refers_to_a_frame_or_a_missing_turn() -> None:
    frame = {"kind": "extract", "id": 1, "frame": "a", "purpose": "b"}
    assert checks.before(plan_of(frame), None, Workspace()) == ["answer: step 1 is a frame, not a value"]
    assert checks.before(Plan(steps=[], answer="turn 3"), None, Workspace())[0].startswith("answer: there is no turn 3")


@pytest.mark.parametrize(
    ("steps", "flag"),
    [
        ([SALES_2017, SALES_2016, compute(3, "subtract", "step 2", "step 1")], "direction: step 3 takes 2017 from the earlier 2016"),
        ([SALES_2017, SALES_2016, compute(3, "percent_change", "step 1", "step 2")], "direction: step 3 goes from 2017 back to 2016"),
        ([SALES_2017, SALES_2016, compute(3, "percent", "step 1", "step 2")], "range: step 3, a part of 1.04488 of the whole"),
        ([SALES_2017, {**MARGIN, "row": "shares issued ( in thousands )"}, compute(4, "subtract", "step 1", "step 3")],
         "different units: USD and shares"),
        ([compute(1, "add", 1.0, 2.0)], "the answer rests on no number of the page"),
        ([{"kind": "quote", "id": 1, "quote": "net sales for 2017 were $ 999 million", "value": "999"}],
         "text and table: the table has another number for 'net sales' in 2017"),
        ([{"kind": "cell", "id": 1, "row": "net costs", "column": "2016"}], "a dash, read as zero"),
        ([SALES_2017, compute(2, "subtract", "step 1", 1181.0)], "constant: 1181 stands on the page, but was not read there"),
        ([{**SALES_2017, "row": "net sale"}], "fuzzy 94: 'net sale' for r1 'net sales'"),
    ],
)  # fmt: skip
def test_a_flag_lowers_the_confidence(steps: list[dict[str, Any]], flag: str) -> None:
    plan = plan_of(*steps)
    flags, confidence = run(plan)
    assert flag in flags
    assert 0 <= confidence <= START - weight_of(flag)


def test_a_plain_reading_has_no_flag() -> None:
    assert run(plan_of(SALES_2017)) == ([], START)
    change = plan_of(SALES_2017, SALES_2016, compute(3, "subtract", "step 1", "step 2"))
    flags, confidence = run(change)
    assert flags == []
    assert START - 10 < confidence < START


def test_a_unit_that_the_plan_did_not_expect() -> None:
    assert run(plan_of(MARGIN, unit="USD million"))[0] == ["unit: the plan says USD million, the page gives a fraction"]
    assert run(plan_of(SALES_2017, unit="percent"))[0] == ["unit: the plan says percent, the page gives USD"]
    assert run(plan_of(SALES_2017, unit="USD million"))[0] == []


def test_a_contradiction_with_an_earlier_turn() -> None:
    change = plan_of(SALES_2017, SALES_2016, compute(3, "subtract", "step 1", "step 2"))
    back = plan_of(SALES_2017, SALES_2016, compute(3, "subtract", "step 2", "step 1"))
    outcome = execution.run(change, Workspace(), execution.Surroundings(filing=PAGE))
    workspace = Workspace(turns=[Turn("how much more ?", outcome.value, plan=change)])
    assert "earlier turn: turn 1 has the same amount with the other sign" in run(back, workspace)[0]
    assert run(change, workspace)[0] == []
    read = Value(7.0, entity="net sales", period="2017")
    workspace = Workspace(turns=[Turn("sales ?", read, plan=plan_of(SALES_2017))])
    assert run(plan_of(SALES_2017), workspace)[0] == [
        "earlier turn: turn 1 read another number for 'net sales' in 2017"
    ]


def test_weights_are_found_by_the_beginning_of_a_flag() -> None:
    assert all(weight_of(beginning + " and more") == points for beginning, points in WEIGHTS)
    assert weight_of("something new") == UNKNOWN_FLAG
