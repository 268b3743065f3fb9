"""One question over a warehouse and a library: how many calls, what the parts give together, and what stands in no prompt."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from finexpert.answers.records import Record
from finexpert.answers.sources import parts
from finexpert.filings.library.library import Library

BOTH = "How many times Oakgate Water's net sales of 2020 was the sum of amounts in that year?"
TOGETHER = "SELECT amounts.amount / revenue.sales AS times FROM amounts JOIN revenue ON amounts.year = revenue.year"
Plan = Callable[..., str]
Rows = Callable[..., dict[str, Any]]
Part = dict[str, Any]


def answered(desk: Any, library: Library, question: str = BOTH, **given: Any) -> Any:
    return desk.session([desk.warehouse, library]).ask(question, **given)


def test_two_calls_for_both_and_the_program_computes(
    desk: Any, library: Library, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    desk.says("source_planning", planned(amounts, revenue, combine=TOGETHER))
    desk.says("library_table", desk.fields(**rows()))
    answer = answered(desk, library)
    assert answer.status == "answered", answer.failure
    total = sum(918273645.5 + n for n in range(6))
    assert answer.value == total / 400
    assert desk.layers == ["source_planning", "library_table"]
    assert answer.usage.calls == 2
    assert answer.sources == ["sales", "filings"]


def test_citations_of_both_kinds_stand_in_one_answer(
    desk: Any, library: Library, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    desk.says("source_planning", planned(amounts, revenue, combine=TOGETHER))
    desk.says("library_table", desk.fields(**rows()))
    answer = answered(desk, library)
    of_pages = {(citation.library, citation.page) for citation in answer.citations if citation.page}
    assert of_pages == {("filings", "oakgate/2021/page_1")}
    places = [citation.place for citation in answer.citations]
    assert any("FROM sales" in place for place in places)
    assert any("FROM amounts" in place for place in places)


def test_no_row_of_the_warehouse_stands_in_a_prompt(
    desk: Any, library: Library, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    """Also where the SELECT over the parts is repaired, and where a later question rests on the answer."""
    notes = amounts | {"select": "SELECT 2020 AS year, amount, note FROM sales"}
    notes["columns"] = [*amounts["columns"], {"name": "note", "kind": "text"}]
    wrong = "SELECT CAST(note AS INTEGER) FROM amounts JOIN revenue USING (year)"
    desk.says("source_planning", planned(notes, revenue, combine=wrong))
    desk.says("library_table", desk.fields(**rows()))
    mended = "SELECT max(amount) AS most FROM amounts JOIN revenue USING (year)"
    desk.says("sql_extraction", desk.fields(selects=[{"df_name": "result", "select_query": mended}]))
    session = desk.session([desk.warehouse, library])
    assert session.ask(BOTH).status == "answered"
    assert "sql_extraction" in desk.layers
    found = desk.fields(companies=["Oakgate"], years=[2021], statements=[], searches=["net sales"])
    desk.says("library_search", found)
    desk.says("library_reading", desk.fields(numbers=[], answers="false", missing="all", answer=[], computed=[],
              statements=[], kind="text", result="", listed=[], searches=[]))  # fmt: skip
    session.ask("And what was Oakgate Water's revenue?")
    desk.says("planning", desk.plan(select="SELECT CAST(note AS INTEGER) AS n FROM sales", columns=("n",)))
    session.ask("And the note?")
    prompts = "\n".join(desk.prompts)
    assert not [canary for canary in desk.canaries if canary in prompts]


def test_what_no_source_holds_is_not_found_after_one_call(desk: Any, library: Library, planned: Plan) -> None:
    desk.says("source_planning", planned(missing="neither holds the weather"))
    answer = answered(desk, library, "What was the weather when Oakgate Water sold most amounts?")
    assert (answer.status, answer.usage.calls) == ("not_found", 1)
    assert "the weather" in answer.text


def test_a_record_is_computed_again_without_a_model(
    desk: Any, library: Library, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    desk.says("source_planning", planned(amounts, revenue, combine=TOGETHER))
    desk.says("library_table", desk.fields(**rows()))
    answer = answered(desk, library)
    kept = Record.read(answer.record.sealed().encode(), "here")
    calls = len(desk.calls)
    again = parts.replay(kept, {"sales": desk.warehouse, "filings": library}, desk.sandbox)
    assert (again.value, again.same, again.differences) == (answer.value, True, [])
    assert len(desk.calls) == calls
    assert kept.source.dialect == "sources"


def test_a_record_holds_no_rows_of_the_warehouse(
    desk: Any, library: Library, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    notes = amounts | {"select": "SELECT 2020 AS year, note FROM sales"}
    notes["columns"] = [{"name": "year", "kind": "year"}, {"name": "note", "kind": "text"}]
    desk.says("source_planning", planned(notes, revenue, combine="SELECT count(*) FROM amounts", kind="integer"))
    desk.says("library_table", desk.fields(**rows()))
    answer = answered(desk, library)
    assert answer.value == 6
    assert desk.canaries[0] not in answer.record.sealed()


def test_a_question_for_one_warehouse_goes_there_with_the_same_prompt(desk: Any, library: Library) -> None:
    desk.says("planning", desk.plan())
    alone = desk.session(desk.warehouse).ask("How many months of sales were there?")
    both = answered(desk, library, "How many months of sales were there?")
    assert both.value == alone.value == 6
    assert desk.layers == ["planning", "planning"]
    assert desk.prompts[0] == desk.prompts[1]
    assert both.sources == ["sales"]
    assert both.record.source.name == "sales"


def test_a_question_for_one_library_goes_there_with_the_same_prompts(desk: Any, library: Library) -> None:
    desk.says("library_search", desk.fields(companies=["Oakgate"], years=[2021], statements=[], searches=["income"]))
    number = {"name": "i", "page": "P1", "quote": "Operating income | 100", "number": "100"}
    said = {"computed": [], "statements": [], "listed": [], "missing": "", "searches": [], "answers": "true"}
    desk.says(
        "library_reading",
        desk.fields(numbers=[number], kind="number", result="i", answer=[{"says": "{i}", "rests_on": ["i"]}], **said),
    )
    question = "What was Oakgate Water's operating income in 2021?"
    alone = desk.session(library).ask(question)
    both = answered(desk, library, question)
    assert both.value == alone.value == 100
    assert desk.prompts[:2] == desk.prompts[2:]
    assert both.sources == ["filings"]


def test_a_plan_with_one_select_is_one_call(desk: Any, library: Library, planned: Plan, amounts: Part) -> None:
    part = amounts | {"select": "SELECT count(*) AS n FROM sales", "columns": []}
    desk.says("source_planning", planned(part, kind="integer"))
    answer = answered(desk, library, "How many did they have?")
    assert (answer.value, answer.usage.calls, answer.record.source.name) == (6, 1, "sales")
    assert answer.record.parts == []


def test_a_plan_with_one_part_of_filings_is_two_calls(
    desk: Any, library: Library, planned: Plan, revenue: Part
) -> None:
    desk.says("source_planning", planned(revenue | {"columns": []}, kind="text"))
    words = {"name": "w", "says": "leverage is limited", "page": "P1", "quote": "limits total leverage to 3.5 times"}
    said = {"numbers": [], "computed": [], "kind": "text", "result": "", "listed": [], "missing": "", "searches": []}
    answer = "Total leverage may be 3.5 times at most."
    desk.says(
        "library_reading",
        desk.fields(**said, statements=[words], answer=[{"says": answer, "rests_on": ["w"]}], answers="true"),
    )
    found = answered(desk, library, "Which covenants limit how sales are financed?")
    assert found.text == answer
    assert desk.layers == ["source_planning", "library_reading"]
    assert found.record.source.dialect == "library"


def test_published_values_reach_a_later_part(
    desk: Any, library: Library, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    select = "SELECT region FROM sales WHERE date = (SELECT max(date) FROM sales)"
    top = amounts | {"select": select, "columns": [{"name": "region", "kind": "text"}]}
    later = revenue | {"question": "What were net sales of Oakgate Water in {amounts.region}?"}
    desk.says("source_planning", planned(top, later, combine="SELECT max(sales) FROM revenue, amounts"))
    desk.says("library_table", desk.fields(**rows()))
    answer = answered(desk, library)
    assert answer.value == 500
    region = desk.warehouse.query(select).data["region"].iloc[0]
    assert f"Oakgate Water in {region}?" in desk.of("library_table")[0]


def test_words_of_a_page_with_their_quote(
    desk: Any, library: Library, planned: Plan, amounts: Part, revenue: Part
) -> None:
    part = revenue | {
        "name": "words",
        "columns": [{"name": "company", "kind": "text"}, {"name": "says", "kind": "text"}],
    }
    part["searches"] = ["covenant", "limits total leverage"]
    says = "Total leverage is limited to 3.5 times."
    quoted = {"name": "c", "says": says, "page": "P1", "quote": "limits total leverage to 3.5 times"}
    said = {"missing": "", "numbers": [], "computed": [], "statements": [quoted], "answers": "true", "searches": []}
    desk.says("library_table", desk.fields(**said, rows=[["Oakgate Water", "{c}"]]))
    combine = "SELECT words.company, words.says, max(amounts.amount) AS most FROM words, amounts GROUP BY ALL"
    desk.says("source_planning", planned(amounts, part, combine=combine, kind="table"))
    answer = answered(desk, library, "What do the covenants of Oakgate Water say, beside our largest amount?")
    assert answer.status == "answered", answer.failure
    assert answer.value["says"].tolist() == [says]
    assert {citation.page for citation in answer.citations} >= {"oakgate/2021/page_2"}


def test_a_library_is_told_no_value_of_tables_of_an_earlier_turn(desk: Any, library: Library) -> None:
    desk.says("planning", desk.plan(code="answer = float(sales.amount.max())", kind="number"))
    session = desk.session([desk.warehouse, library])
    assert session.ask("What was the largest amount of sales?").value == 918273650.5
    desk.says("library_search", desk.fields(companies=["Oakgate"], years=[2021], statements=[], searches=["income"]))
    number = {"name": "i", "page": "P1", "quote": "Operating income | 100", "number": "100"}
    said = {"computed": [], "statements": [], "listed": [], "missing": "", "searches": [], "answers": "true"}
    desk.says(
        "library_reading",
        desk.fields(numbers=[number], kind="number", result="i", answer=[{"says": "{i}", "rests_on": ["i"]}], **said),
    )
    assert session.ask("What was Oakgate Water's operating income in 2021?").value == 100
    assert len(session.workspace.turns) == 2
    assert "918273650" not in "\n".join(desk.prompts)
    assert session.save("desk").is_file()


def test_one_source_in_a_list_is_that_source(desk: Any) -> None:
    assert desk.session([desk.warehouse]).source is desk.warehouse


def test_the_day_is_kept_in_the_parts(
    desk: Any, library: Library, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    desk.says("source_planning", planned(amounts, revenue, combine=TOGETHER))
    desk.says("library_table", desk.fields(**rows()))
    answer = answered(desk, library, as_of=dt.date(2020, 2, 28))
    assert answer.value == (918273645.5 + 918273646.5) / 400
    assert answer.record.as_of_given
    again = parts.replay(answer.record, {"sales": desk.warehouse, "filings": library}, desk.sandbox)
    assert (again.same, again.differences) == (True, [])
    of_today = desk.session([desk.warehouse, library], as_of=None).ask(BOTH)
    assert not of_today.record.as_of_given


def test_a_plan_that_does_not_fit_together_is_written_again(
    desk: Any, library: Library, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    desk.says("source_planning", planned(amounts, revenue), planned(amounts, revenue, combine=TOGETHER))
    desk.says("library_table", desk.fields(**rows()))
    answer = answered(desk, library)
    assert answer.status == "answered"
    assert "no `combine`" in desk.of("source_planning")[1]


def test_a_select_of_a_part_is_repaired_with_the_tables_of_its_source(
    desk: Any, library: Library, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    wrong = amounts | {"select": "SELECT year(date) AS year, sum(amounts) AS amount FROM sales GROUP BY year(date)"}
    desk.says("source_planning", planned(wrong, revenue, combine=TOGETHER))
    desk.says("sql_extraction", desk.fields(selects=[{"df_name": "amounts", "select_query": amounts["select"]}]))
    desk.says("library_table", desk.fields(**rows()))
    assert answered(desk, library).status == "answered"
    (prompt,) = desk.of("sql_extraction")
    assert "table sales" in prompt
    assert "revenue" not in prompt.rsplit("[[ ## frames ## ]]", 1)[1]


@pytest.mark.parametrize(
    "combine",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT count(*) FROM sales.sales",
        "ATTACH 'other.duckdb'; SELECT 1",
        "COPY amounts TO 'rows.csv'",
        "SELECT getenv('HOME')",
    ],
)
def test_the_select_over_the_parts_reaches_nothing_else(
    desk: Any, library: Library, planned: Plan, amounts: Part, revenue: Part, rows: Rows, combine: str
) -> None:
    desk.says("source_planning", planned(amounts, revenue, combine=combine))
    desk.says("library_table", desk.fields(**rows()))
    desk.says("sql_extraction", desk.fields(selects=[{"df_name": "result", "select_query": combine}]))
    answer = answered(desk, library)
    assert (answer.status, answer.value) == ("failed", None)
    assert desk.canaries[0] not in "\n".join(desk.prompts)
