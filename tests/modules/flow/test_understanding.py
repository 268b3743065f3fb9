"""A question before it is planned: what planning is told, what is asked back, and what unusable text does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finexpert.core.answers import Clarification
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.process import Process, ProcessStep
from finexpert.modules.flow.understanding import Understood, named_only, still_open
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse, Table, build_warehouse

STRESS = Keyword(term="stress month", meaning="a month with sales below 918273650")
STEP = ProcessStep(text="Count the months with sales.", sql="SELECT date, amount FROM sales")
COUNT = Process(heading="Month count", steps=[STEP], status="active")


@pytest.fixture
def session(desk: Any) -> Any:
    desk.says("planning", desk.plan())
    return desk.session()


@pytest.fixture
def split(desk: Any) -> Any:
    """A session that leaves SELECTs and script to their own layers, as small models do, and has two layers asked before planning."""
    frame = {"df_name": "sales", "df_columns": ["date", "region", "amount"]}
    desk.says("planning", desk.fields(
        interpretation="as asked", frames=[{**frame, "purpose": "sales"}], task="1. Count.", answer_kind="integer", unit=""
    ))  # fmt: skip
    desk.says("sql_extraction", desk.fields(selects=[{**frame, "select_query": desk.good}]))
    desk.says("script_generation", desk.fields(code="answer = len(sales)"))
    return desk.session(drafts=False)


def test_what_is_taught_reaches_every_later_layer(desk: Any, split: Any) -> None:
    split.define("stress month", STRESS.meaning)
    split.stores.memory.add(COUNT, "anna")
    desk.says("keyword_rephrasing", desk.terms(("stress month", 1)))
    desk.says("judge", desk.judged(1))
    answer = split.ask("What is the month count of the stress months?")
    assert (answer.value, answer.flags) == (6, [])
    assert answer.meanings == {"stress month": STRESS.meaning}
    assert answer.processes == ["Month count"]
    for layer in ("planning", "sql_extraction", "script_generation"):
        assert f"By 'stress month' this house means: {STRESS.meaning}" in desk.of(layer)[0]
        assert "1. Count the months with sales.\n   SQL:\n   SELECT date, amount FROM sales" in desk.of(layer)[0]
    assert STRESS.meaning in answer.record.knowledge
    assert "understanding" in answer.usage.stages


def test_planning_is_given_the_rephrased_question(desk: Any, split: Any) -> None:
    split.define("stress month", STRESS.meaning)
    desk.says("keyword_rephrasing", desk.terms(("strained months", 1), rephrased="How many stress months in 2020?"))
    answer = split.ask("How many strained months in 2020?")
    assert answer.rephrased == "How many stress months in 2020?"
    assert answer.question == "How many strained months in 2020?"
    assert "How many stress months in 2020?" in desk.of("planning")[0]
    assert "strained" not in desk.of("planning")[0]


def test_an_unknown_term_is_asked_about_before_memory_is_searched(desk: Any, split: Any) -> None:
    split.stores.memory.add(COUNT, "anna")
    desk.says("keyword_rephrasing", desk.terms(("grubby months", None)))
    answer = split.ask("What is the month count of grubby months?", clarify=True)
    assert (answer.status, answer.clarification.term) == ("needs_clarification", "grubby months")
    assert desk.layers == ["keyword_rephrasing"]
    assert split.workspace.turns == []


@pytest.mark.parametrize("declined", [True, False])
def test_what_nobody_explained_is_flagged(desk: Any, session: Any, declined: bool) -> None:
    desk.says("planning", desk.plan(unclear="grubby months"))
    if declined:
        unclear = session.ask("How many grubby months?", clarify=True).clarification
        assert session.explain(unclear, "  ") is None
    answer = session.ask("How many grubby months?", clarify=declined)
    assert answer.status == "answered"
    assert answer.flags == ["rests on an assumption: nobody has explained 'grubby months'"]
    assert session.stores.glossary.empty


@pytest.mark.parametrize(("clarify", "status"), [(True, "needs_clarification"), (False, "not_found")])
def test_a_term_that_is_all_that_is_missing_is_asked_about(desk: Any, session: Any, clarify: bool, status: str) -> None:
    said = {"interpretation": "?", "unclear": "grubby months", "missing": "what a grubby month is"}
    desk.says("planning", desk.fields(**said, selects=[], code="", answer_kind="integer", unit=""))
    answer = session.ask("How many grubby months?", clarify=clarify)
    assert answer.status == status
    assert (answer.clarification.term if answer.clarification else None) == ("grubby months" if clarify else None)


def test_one_unknown_term_after_the_other_is_asked_about(desk: Any, session: Any) -> None:
    desk.says("planning", desk.plan(unclear="grubby, mucky, and what is not asked"))
    asked = []
    for _ in range(2):
        unclear = session.ask("How many grubby and mucky months?", clarify=True).clarification
        asked.append(unclear.term)
        session.explain(unclear, "")
    assert asked == ["grubby", "mucky"]
    assert session.ask("How many mucky months?", clarify=True).status == "answered"


@pytest.mark.parametrize(
    ("layer", "flag"),
    [("keyword_rephrasing", "its words were not checked"), ("judge", "memory was not searched")],
)
def test_unusable_text_of_a_layer_leaves_the_question_as_it_is(desk: Any, split: Any, layer: str, flag: str) -> None:
    split.define("stress month", STRESS.meaning)
    split.stores.memory.add(COUNT, "anna")
    desk.says("keyword_rephrasing", desk.terms(("stress months", 1), rephrased="x"))
    desk.says("judge", desk.judged(1))
    desk.says(layer, "I would rather not.")
    answer = split.ask("What is the month count of the stress months?", clarify=True)
    assert (answer.status, answer.value, answer.rephrased) == ("answered", 6, None)
    assert answer.flags == [flag]
    # What stands in the question in its very words is used all the same.
    assert answer.meanings == {"stress month": STRESS.meaning}
    assert answer.processes == ["Month count"]


def test_without_memory_nothing_is_looked_up(desk: Any) -> None:
    desk.says("planning", desk.plan())
    answer = desk.session(memory=False).ask("How many grubby months?", clarify=True)
    assert (answer.value, answer.flags, desk.layers) == (6, [], ["planning"])


def test_a_page_uses_only_what_it_is_named(desk: Any) -> None:
    from finexpert.filings.page.filing import Filing

    taught = desk.taught()
    taught.glossary.define(Keyword(term="core sales", meaning="sales of tools"), "anna")
    plan = desk.fields(
        entity="sales", steps=[{"kind": "cell", "id": 1, "row": "tools", "column": "2017"}], answer="step 1"
    )
    # The planner of a page has another first field.
    desk.reply = lambda messages: desk.calls.append(("page", messages[-1]["content"])) or plan
    page = Filing("p", ["in millions of dollars"], [["", "2017"], ["tools", "$ 26.5"]], [])
    answer = desk.session(page).ask("grubby core sales?", clarify=True)
    assert (answer.value, answer.meanings) == (26.5, {"core sales": "sales of tools"})
    assert "By 'core sales' this house means: sales of tools" in desk.prompts[0]
    assert len(desk.calls) == 1


def test_knowledge_is_what_was_given_then_meanings_then_processes() -> None:
    understood = Understood("?", [STRESS], [COUNT])
    text = understood.knowledge("Use real GDP.")
    assert text.startswith(f"Use real GDP.\n\nBy 'stress month' this house means: {STRESS.meaning}\n\nProcess: Month")
    assert Understood("?").knowledge("(none)") == Understood("?").knowledge("") == "(none)"


def test_a_term_is_passed_over_in_any_spelling() -> None:
    unknown = [Clarification(kind="term", term=term, question="?") for term in ("Grubby Months", "mucky")]
    assert still_open(unknown, ["the grubby-month"]) == unknown[1]
    assert still_open(unknown, ["grubby month", "MUCKY"]) is None


def test_by_name_only(desk: Any) -> None:
    taught = desk.taught()
    kept, term = taught.memory.add(COUNT, "anna"), taught.glossary.define(STRESS, "anna")
    assert named_only("the Month Count of stress months", taught) == Understood(
        "the Month Count of stress months", [term], [kept]
    )


@pytest.mark.parametrize(("key", "status"), [("fiscal.start_month", "answered"), ("fy_begin", "needs_clarification")])
def test_what_the_select_reads_out_of_settings_is_not_asked(desk: Any, tmp_path: Path, key: str, status: str) -> None:
    settings = pd.DataFrame({"skey": ["fiscal.start_month", "week.start"], "sval": ["2", "Monday"]})
    sales = pd.DataFrame({"month": [1, 2, 3], "amount": [1.0, 2.0, 4.0]})
    path = build_warehouse(tmp_path / "own.duckdb", [Table("settings", settings), Table("sales", sales)])
    begins = f"coalesce((SELECT CAST(sval AS INTEGER) FROM settings WHERE skey = '{key}'), 1)"
    select = f"SELECT sum(amount) AS total FROM sales WHERE month >= {begins}"
    desk.says("planning", desk.plan("", "number", select=select, columns=("total",), unclear="fiscal year"))
    with DuckDBWarehouse(path) as source:
        answer = desk.session(source).ask("What was the amount in the fiscal year?", clarify=True)
    assert answer.status == status
    if status == "needs_clarification":
        assert answer.clarification.question.endswith(
            "may stand in settings, whose rows no model sees until they are published: `finexpert model publish settings`"
        )
    if status == "answered":
        assert answer.value == 6.0
        assert answer.flags[-1] == "what 'fiscal year' means is read from the rows of settings"
