"""The official program language: running, comparing, and writing plans in it."""

from __future__ import annotations

import pytest

from finexpert.core.plans import Plan
from finexpert.core.workspace import Turn, Value, Workspace
from finexpert.datasets.convfinqa.conversations import load
from finexpert.datasets.convfinqa.plans import from_official_program, to_official_program
from finexpert.datasets.convfinqa.programs import equal_programs, execute, steps_of, tokenize
from finexpert.errors import PlanError
from finexpert.filings.page.filing import Filing

TABLE = [["", "2017", "2016"], ["net sales ( a )", "$ 1,234", "$ 1,181"], ["loss", "-26 ( 26 )", "-4 ( 4 )"],
         ["margin", "27% ( 27 % )", "25% ( 25 % )"], ["note", "x", "5"]]  # fmt: skip
PAGE = Filing("a", [], TABLE, ["cash rose to $ 80 million , of which 12.5% ( 12.5 % ) is restricted ."])


@pytest.mark.parametrize(
    ("program", "value"),
    [
        ("60.94", 60.94),
        ("1,127", 1127.0),
        ("13.4%", 0.134),
        ("subtract(60.94, 25.14), divide(#0, 25.14)", 1.42403),
        ("multiply(0.5, const_1000)", 500.0),
        ("multiply(2, const_m1)", -2.0),
        ("exp(2, 10)", 1024.0),
        ("greater(2, 1)", "yes"),
        ("subtract(2, 1), greater(#0, 5)", "no"),
        ("table_sum(loss, none)", -30.0),
        ("table_average(margin, none)", 0.26),
        ("table_max(net sales ( a ), none)", 1234.0),
        ("table_min(net sales ( a ), none), divide(#0, const_100)", 11.81),
        ("table_sum(note, none)", None),
        ("table_sum(profit, none)", None),
        ("divide(1, 0)", None),
        ("exp(-8, 0.5)", None),
        ("exp(9999, 9999)", None),
        ("median(1, 2)", None),
        ("add(#0, 1)", None),
        ("add(1, 2), add(#1, 1)", None),
        ("greater(1, 2), add(#0, 1)", None),
        ("add(a, 1)", None),
        ("nan", None),
        ("", None),
    ],
)
def test_the_value_of_a_program(program: str, value: float | str | None) -> None:
    assert execute(program, TABLE) == value


@pytest.mark.parametrize(
    "tokens", [[], ["EOF"], ["add(", "1", "EOF"], ["add(", "1", "2", ")", "3", "EOF"], ["add", "1", "2", ")", "EOF"], ["5"],
               ["add(", "1", "2", "(", "EOF"]]
)  # fmt: skip
def test_tokens_of_another_form_have_no_value(tokens: list[str]) -> None:
    assert execute(tokens) is None


def test_tokens_and_steps() -> None:
    program = "subtract(60.94, 25.14), divide(#0, 25.14)"
    assert tokenize(program) == ["subtract(", "60.94", "25.14", ")", "divide(", "#0", "25.14", ")", "EOF"]
    assert tokenize("table_max(sales , total ( a ), none)")[1:3] == ["sales , total ( a )", "none"]
    assert (steps_of(program), steps_of("60.94")) == (2, 0)


@pytest.mark.parametrize(
    ("gold", "predicted", "equal"),
    [
        ("5", "5", True),
        ("5", "5.0", False),
        ("add(1, 2)", "add(2, 1)", True),
        ("subtract(1, 2)", "subtract(2, 1)", False),
        ("subtract(5, 3), divide(#0, 3)", "divide(5, 3), subtract(#0, const_1)", False),
        ("multiply(2, 3), divide(#0, 3)", "divide(3, 3), multiply(2, #0)", True),
        ("add(1, 2), add(#0, 3), divide(#1, const_3)", "add(3, 2), add(1, #0), divide(#1, const_3)", True),
        ("add(1, 2)", "add(1, 3)", False),
        ("greater(1, 2)", "greater(2, 1)", False),
        ("add(1, 2), greater(#0, 3)", "add(2, 1), greater(#0, 3)", True),
        ("add(1, 2), greater(#0, 3)", "add(1, 2), add(#0, 3)", False),
        ("table_max(sales, none)", "table_max(sales, none)", True),
        ("table_max(sales, none)", "table_min(sales, none)", False),
        ("add(1, 2)", "add(1, #5)", False),
    ],
)
def test_programs_that_are_the_same(gold: str, predicted: str, equal: bool) -> None:
    assert equal_programs(tokenize(gold), tokenize(predicted)) is equal


def cell(number: int, row: str, column: str) -> dict[str, object]:
    return {"kind": "cell", "id": number, "row": row, "column": column}


def compute(number: int, operation: str, *arguments: float | str) -> dict[str, object]:
    return {"kind": "compute", "id": number, "operation": operation, "arguments": list(arguments)}


NOW, BEFORE = cell(1, "net sales", "2017"), cell(2, "net sales", "2016")


@pytest.mark.parametrize(
    ("steps", "program"),
    [
        ([NOW], "1234"),
        ([cell(1, "margin", "2016")], "25%"),
        ([cell(1, "loss", "2017")], "-26"),
        ([{"kind": "quote", "id": 1, "quote": "12.5% is restricted", "value": "12.5%"}], "12.5%"),
        ([NOW, BEFORE, compute(3, "percent_change", "step 2", "step 1")], "subtract(1234, 1181), divide(#0, 1181)"),
        ([NOW, BEFORE, compute(3, "average", "step 1", "step 2")], "add(1234, 1181), divide(#0, const_2)"),
        ([NOW, compute(3, "multiply", "step 1", 1000.0)], "multiply(1234, const_1000)"),
        ([NOW, compute(3, "multiply", "step 1", -1.0)], "multiply(1234, const_m1)"),
        ([NOW, compute(3, "divide", "step 1", 365.0)], "divide(1234, 365)"),
        ([cell(1, "loss", "2017"), compute(2, "absolute", "step 1")], "26"),
        ([compute(1, "sum", "loss")], "table_sum(loss, none)"),
        ([BEFORE, NOW, compute(3, "cagr", "step 2", "step 1", 2.0)],
         "divide(1234, 1181), divide(const_1, const_2), exp(#0, #1), subtract(#2, const_1)"),
    ],
)  # fmt: skip
def test_a_plan_in_the_official_language(steps: list[dict[str, object]], program: str) -> None:
    plan = Plan.model_validate({"steps": steps})
    assert to_official_program(plan, PAGE, Workspace()) == tokenize(program)


def test_references_to_earlier_turns_are_written_out() -> None:
    change = Plan.model_validate({"steps": [NOW, BEFORE, compute(3, "subtract", "step 1", "step 2")]})
    workspace = Workspace(turns=[Turn("change ?", Value(53.0), plan=change)])
    share = Plan.model_validate({"steps": [BEFORE, compute(3, "divide", "turn -1", "step 2")]})
    assert to_official_program(share, PAGE, workspace) == tokenize("subtract(1234, 1181), divide(#0, 1181)")
    again = Plan(steps=[], answer="turn 1")
    assert to_official_program(again, PAGE, workspace) == tokenize("subtract(1234, 1181)")
    workspace.turns[0] = Turn("change ?", Value(53.0))
    assert to_official_program(share, PAGE, workspace) is None


@pytest.mark.parametrize(
    "steps",
    [
        [NOW, BEFORE, compute(3, "percentile", 50.0, "step 1", "step 2")],
        [cell(1, "profit", "2017")],
        [compute(1, "median", 1.0)],
        [NOW, compute(2, "add", "step 1", "turn 1")],
        [{"kind": "script", "id": 1, "task": "anything"}],
        [NOW, BEFORE, compute(3, "subtract", "step 1", "step 2"), compute(4, "absolute", "step 3")],
    ],
)
def test_what_the_language_cannot_say_is_none(steps: list[dict[str, object]]) -> None:
    assert to_official_program(Plan.model_validate({"steps": steps}), PAGE, Workspace()) is None


def test_every_sample_program_becomes_a_plan_and_comes_back() -> None:
    for conversation in load():
        for turn in conversation.turns:
            assert turn.program is not None
            plan = from_official_program(turn.program, conversation.filing, turn.question)
            program = to_official_program(plan, conversation.filing, Workspace())
            assert program is not None
            assert equal_programs(tokenize(turn.program), program), (conversation.id, turn, program)


def test_a_gold_number_is_read_where_it_stands_and_converted_where_it_must_be() -> None:
    assert [s.kind for s in from_official_program("80", PAGE).steps] == ["quote"]
    assert [s.kind for s in from_official_program("26", PAGE).steps] == ["cell", "compute"]
    assert [s.kind for s in from_official_program("subtract(27, 25)", PAGE).steps] == ["cell", "compute"] * 2 + [
        "compute"
    ]
    with pytest.raises(PlanError, match="1999 stands neither"):
        from_official_program("1999", PAGE)
