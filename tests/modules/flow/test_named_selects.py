"""Processes whose SELECTs are read by name: what is told of them, what runs, what the answer rests on, and who cannot read them."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import dspy
import pytest

from finexpert.core.answers import AnswerFormat
from finexpert.errors import QueryError
from finexpert.knowledge.process import Process, ProcessStep, Variable
from finexpert.knowledge.processes.tables import MOST
from finexpert.knowledge.verified.files import rows_of
from finexpert.knowledge.verifying import Day, import_pairs
from finexpert.modules import calling
from finexpert.modules.financial_expert import FinancialExpert
from finexpert.warehouse.checks.checked import Checks
from finexpert.warehouse.named_selects import NamedSelect

ALL = "SELECT date AS month, region, amount FROM sales"
HIGH = "SELECT month, amount FROM all_months WHERE amount > <least>"
STEPS = [
    ProcessStep(text="Every month with its amount.", sql=ALL, name="all_months"),
    ProcessStep(text="The months above <least>.", sql=HIGH, name="high_months"),
]
LEAST = [Variable(name="least", meaning="what an amount has to be above", example="5")]
PROCESS = Process(heading="High Month", aliases=["strong month"], variables=LEAST, steps=STEPS, status="active")
READING = "SELECT count(*) FROM high_months(5)"
QUESTION = "How many high months were there?"


def by_select(select: str) -> str:
    return (
        f"[[ ## select ## ]]\n{select}\n\n[[ ## answer_kind ## ]]\ninteger\n\n[[ ## unit ## ]]\n\n[[ ## completed ## ]]"
    )


@pytest.fixture
def small(desk: Any) -> Any:
    """A session with a model that writes one SELECT and no more, which is shown what the stores find without a judge."""
    expert = FinancialExpert()
    expert.planning.warehouse_by_select.demos = [dspy.Example(question="How many wages?", select="SELECT 1")]

    def make(*selects: str, **given: Any) -> Any:
        desk.says("planning", *map(by_select, selects))
        session = desk.session(judge=False, retries=0, **given)
        session.expert = expert
        return session

    return make


def test_a_small_model_is_offered_what_it_may_read_and_no_select(desk: Any, small: Any) -> None:
    session = small(READING)
    session.stores.memory.restore(PROCESS, "anna", "add")
    answer = session.ask(QUESTION)
    assert (answer.value, answer.processes, answer.usage.calls) == (6, ["High Month"], 1)
    assert desk.layers == ["planning"]
    card = desk.of("planning")[0].rpartition("[[ ## schema_card ## ]]")[2].split("[[ ## question")[0]
    *tables, every, high = card.strip().split("\n\n")
    assert high == "high_months(5) (month, amount): The months above <least>.; least: what an amount has to be above"
    assert every == "all_months (month, region, amount): Every month with its amount."
    assert tables[0].startswith("table sales")
    assert HIGH not in card


def test_what_the_type_is_of_a_known_answer_is_not_asked(desk: Any, small: Any) -> None:
    session = small(READING)
    session.stores.memory.restore(PROCESS, "anna", "add")
    desk.says("planning", f"[[ ## select ## ]]\n{READING}\n\n[[ ## completed ## ]]")
    assert session.ask(QUESTION, answer_format=AnswerFormat(kind="integer")).value == 6
    assert "[[ ## unit ## ]]" not in desk.of("planning")[0].rpartition("Respond with")[2]


def test_of_many_the_nearest_are_offered(desk: Any, small: Any) -> None:
    session = small(READING)
    session.stores.memory.restore(PROCESS, "anna", "add")
    for number in range(40):
        step = ProcessStep(text="Something else.", sql="SELECT date FROM sales", name=f"other_{number}")
        session.stores.memory.restore(Process(heading=f"Other {number}", steps=[step], status="active"), "anna", "add")
    session.ask(QUESTION)
    card = desk.of("planning")[0].rpartition("[[ ## schema_card ## ]]")[2].split("[[ ## question")[0]
    lines = card.strip().split("\n\n")
    assert len(lines) == MOST
    assert [line.partition(" ")[0] for line in lines[-2:]] == ["all_months", "high_months(5)"]


def test_a_record_stands_by_itself(desk: Any, small: Any) -> None:
    session = small(READING)
    session.stores.memory.restore(PROCESS, "anna", "add")
    record = session.ask(QUESTION).record
    session.stores.memory.retire("High Month", "anna")
    assert "WITH all_months AS" in record.plan.steps[0].select
    assert record.plan.steps[0].select == record.frames[0].select
    assert desk.warehouse.query(record.frames[0].select).data.iloc[0, 0] == 6


def test_what_was_read_is_what_the_answer_rests_on_whether_the_plan_says_so_or_not(desk: Any) -> None:
    session = desk.session()
    session.stores.memory.restore(PROCESS, "anna", "add")
    desk.says("planning", desk.plan("", "integer", READING, ("n",)))
    answer = session.ask(QUESTION)
    assert (answer.value, answer.processes) == (6, ["High Month"])
    assert "read like a table by the name high_months" in desk.of("planning")[0]


@pytest.mark.parametrize("status", ["draft", "retired"])
def test_what_is_not_in_use_is_read_by_nobody(desk: Any, small: Any, status: Any) -> None:
    session = small(READING)
    session.stores.memory.restore(PROCESS.model_copy(update={"status": status}), "anna", "add")
    answer = session.ask(QUESTION)
    assert answer.status == "failed"
    assert 'no table "high_months"' in answer.failure.message or "high_months" in answer.failure.message


def test_what_holds_for_another_source_is_read_by_nobody_here(small: Any) -> None:
    session = small(READING)
    session.stores.memory.restore(PROCESS.model_copy(update={"scope": "trades"}), "anna", "add")
    assert session.ask(QUESTION).status == "failed"


def test_a_name_of_the_data_is_never_taken(desk: Any) -> None:
    session = desk.session()
    evil = ProcessStep(
        text="Sales.", sql="SELECT DATE '2020-01-01' AS date, 'x' AS region, 42.0 AS amount", name="sales"
    )
    session.stores.memory.restore(Process(heading="Evil", steps=[evil], status="active"), "mallory", "add")
    desk.says("planning", desk.plan("", "number", "SELECT min(amount) AS n FROM sales", ("n",)))
    answer = session.ask("What is the least amount?")
    assert answer.value == 918273645.5
    assert answer.processes == []


@pytest.mark.parametrize("scope", ["", "sales"])
def test_of_two_names_that_of_the_source_is_read_and_of_two_of_a_scope_none(desk: Any, scope: str) -> None:
    session = desk.session()
    session.stores.memory.restore(PROCESS, "anna", "add")
    step = ProcessStep(text="Months.", sql="SELECT 1 AS month, 2.0 AS amount", name="high_months")
    session.stores.memory.restore(Process(heading="Other", steps=[step], status="active", scope=scope), "ben", "add")
    desk.says("planning", desk.plan("", "integer", "SELECT count(*) AS n FROM high_months", ("n",)))
    answer = desk.session(retries=0).ask(QUESTION)
    if scope:
        assert (answer.value, answer.processes) == (1, ["Other"])
    else:
        assert "high_months is the name of step 2 of the process 'High Month' and of step 1 of the process 'Other'" in (
            answer.failure.message
        )


def test_a_pair_that_reads_a_name_rests_on_its_process(desk: Any, tmp_path: Path) -> None:
    taught = desk.taught()
    taught.memory.restore(PROCESS, "anna", "add")
    file = tmp_path / "pairs.json"
    file.write_text(json.dumps([{"question": QUESTION, "sql": READING}]))
    day = Day(dt.date(2020, 12, 31), given=True)
    (result,) = import_pairs(list(rows_of(file)), desk.warehouse, taught, day, "anna", trust=True)
    assert result.outcome == "added", result.message
    (query,) = taught.verified.items()
    assert list(query.meanings) == ["process high month"]
    assert "WITH all_months AS" in query.sql
    answer = desk.session().ask(QUESTION)
    assert (answer.value, answer.usage.calls) == (6, 0)
    process = taught.memory.find("High Month")
    taught.memory.edit(
        process.model_copy(update={"aliases": [], "variables": [LEAST[0].model_copy(update={"meaning": "other"})]}),
        "anna",
    )
    desk.says("planning", desk.plan("", "integer", "SELECT 7 AS n", ("n",)))
    changed = desk.session().ask(QUESTION)
    assert changed.value == 7
    assert any("'high month' was changed since" in flag for flag in changed.flags)


def test_examples_name_what_they_read_where_it_is_told_by_name(desk: Any, small: Any, tmp_path: Path) -> None:
    taught = desk.taught()
    taught.memory.restore(PROCESS, "anna", "add")
    plain = "SELECT count(*) FROM all_months WHERE region = 'north'"
    file = tmp_path / "pairs.json"
    file.write_text(
        json.dumps([{"question": "How many months of the north are there among all months?", "sql": plain}])
    )
    day = Day(dt.date(2020, 12, 31), given=True)
    import_pairs(list(rows_of(file)), desk.warehouse, taught, day, "anna", trust=True)
    session = small(READING)
    session.ask("How many high months of the south are there among all months?")
    assert "```sql\nSELECT COUNT(*) FROM all_months WHERE region = " in desk.of("planning")[0]
    assert "WITH all_months" not in desk.of("planning")[0]


def test_a_column_that_is_missing_is_told_by_the_columns_of_what_was_read(desk: Any) -> None:
    months = NamedSelect("months", "SELECT date AS month, amount AS total FROM sales", "P")
    checks = Checks(desk.warehouse, named={"months": months})
    with pytest.raises(QueryError, match='there is no column "date" at this point; months has month, total'):
        checks.run("SELECT max(total) FROM months WHERE date > DATE '2020-01-01'")
    assert checks.sent_back[0].select == "SELECT max(total) FROM months WHERE date > DATE '2020-01-01'"
    assert checks.read_by_name == {}
    with pytest.raises(QueryError, match='there is no column "dat" in sales'):
        checks.run("SELECT max(dat) FROM sales")


def test_a_server_that_keeps_to_a_schema_is_told_what_may_be_written(desk: Any, small: Any) -> None:
    session = small(READING, constrained=True)
    session.stores.memory.restore(PROCESS, "anna", "add")
    asked: list[Any] = []
    real = calling._asked

    def spy(predictor: Any, layer: str, adapter: Any, inputs: Any) -> Any:
        asked.append(inputs["config"]["response_format"])
        return real(predictor, layer, adapter, inputs)

    desk.says("planning", json.dumps({"select": READING, "answer_kind": "integer", "unit": ""}))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(calling, "_asked", spy)
        answer = session.ask(QUESTION)
    assert (answer.value, answer.processes) == (6, ["High Month"])
    assert asked[0]["type"] == "json_schema"
    select = asked[0]["json_schema"]["schema"]["properties"]["select"]["pattern"]
    assert re.fullmatch(select, READING)
    assert re.fullmatch(select, "SELECT sum(amount) FROM sales WHERE region = 'north'")
    assert not re.fullmatch(select, "SELECT wages FROM sales")
    assert "Respond with a JSON object with the fields select, answer_kind, unit." in desk.of("planning")[0]


@pytest.mark.parametrize("text", ['{"select": 5}', '["select"]', "no JSON", '{"answer_kind": "integer"}'])
def test_what_is_no_object_of_the_schema_is_unusable_text(desk: Any, small: Any, text: str) -> None:
    session = small(READING, constrained=True)
    session.stores.memory.restore(PROCESS, "anna", "add")
    desk.says("planning", text)
    failure = session.ask(QUESTION, answer_format=AnswerFormat(kind="integer")).failure
    assert failure is not None
    assert failure.layer == "planning"
