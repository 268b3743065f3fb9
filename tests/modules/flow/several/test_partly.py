"""A question of which one part can be answered and another not: what can be proved, with what is missing and from which source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from finexpert.answers.records import Record
from finexpert.answers.sources import parts
from finexpert.filings.library.library import Library

BOTH = "How many times Oakgate Water's net sales of 2020 was the sum of amounts in that year?"
TOGETHER = "SELECT amounts.amount / revenue.sales AS times FROM amounts JOIN revenue ON amounts.year = revenue.year"
BY_YEAR = "SELECT revenue.year, revenue.sales FROM revenue JOIN amounts USING (year)"
NOTHING_READ = {"numbers": [], "rows": [], "answers": "false", "missing": "net sales"}
Plan = Callable[..., str]
Rows = Callable[..., dict[str, Any]]
Part = dict[str, Any]
TOTAL = sum(918273645.5 + n for n in range(6))


@pytest.fixture
def asked(desk: Any, library: Library) -> Callable[..., Any]:
    """Ask of both, with what the planner and the reader say."""

    def ask(plan: str, read: dict[str, Any] | None = None, question: str = BOTH) -> Any:
        desk.says("source_planning", plan)
        if read is not None:
            desk.says("library_table", *[desk.fields(**read)] * 2)
        return desk.session([desk.warehouse, library]).ask(question)

    return ask


@pytest.mark.parametrize(
    ("read", "why"),
    [
        (NOTHING_READ, "not found in the library: net sales"),
        ({"rows": [["2020", "410"], ["2021", "{s21}"]]}, "must be {name} of a number"),
        ({"rows": [["2020", "{s21}"]]}, "read from the column of 2021"),
    ],
)
def test_what_one_source_gives_stands_where_the_other_gives_nothing(
    desk: Any, asked: Any, planned: Plan, amounts: Part, revenue: Part, rows: Rows, read: dict[str, Any], why: str
) -> None:
    """Also where pages print no such number, or print it under another year."""
    answer = asked(planned(amounts, revenue, combine=TOGETHER), rows(**read))
    assert answer.status == "partial", answer.failure
    assert answer.value.to_dict("list") == {"year": [2020], "amount": [TOTAL]}
    assert [each.source for each in answer.missing] == ["filings"]
    assert answer.missing[0].what.startswith(f"{revenue['question']} (")
    assert why in answer.missing[0].what
    assert answer.flags[0] == answer.missing[0].text
    assert "sql_extraction" not in desk.layers


def test_what_pages_print_stands_where_the_database_gives_nothing(
    desk: Any, asked: Any, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    wrong = amounts | {"select": "SELECT year(date) AS year, sum(price) AS amount FROM sales GROUP BY year(date)"}
    absent = desk.fields(absent="there are no prices", selects=[])
    desk.says("sql_extraction", absent)
    answer = asked(planned(wrong, revenue, combine=TOGETHER), rows())
    assert answer.status == "partial", answer.failure
    assert answer.value["sales"].tolist() == [400, 500]
    assert [(each.source, "there are no prices" in each.what) for each in answer.missing] == [("sales", True)]
    assert {citation.page for citation in answer.citations} >= {"oakgate/2021/page_1"}


def test_nothing_from_any_source_is_not_found(asked: Any, planned: Plan, revenue: Part, rows: Rows) -> None:
    other = revenue | {"name": "other"}
    answer = asked(planned(revenue, other, combine="SELECT sum(sales) FROM revenue, other"), rows(**NOTHING_READ))
    assert (answer.status, answer.value, answer.missing) == ("not_found", None, [])


def test_a_plan_that_says_what_is_missing_beside_its_parts_is_no_whole_answer(
    desk: Any, asked: Any, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    answer = asked(planned(amounts, revenue, combine=TOGETHER, missing="neither holds the weather"), rows())
    assert (answer.status, answer.value) == ("partial", TOTAL / 400)
    assert [each.text for each in answer.missing] == ["missing from sales, filings: neither holds the weather"]
    assert answer.text.startswith("in part: ")


def test_also_where_one_part_is_the_answer(desk: Any, asked: Any, planned: Plan, amounts: Part) -> None:
    part = amounts | {"select": "SELECT count(*) AS n FROM sales", "columns": []}
    answer = asked(planned(part, kind="integer", missing="the weather"), question="How many did they have?")
    assert (answer.status, answer.value, answer.record.status) == ("partial", 6, "partial")
    assert [each.what for each in answer.missing] == ["the weather"]


@pytest.mark.parametrize("nothing", ["", "none", "Nothing is missing.", "no data missing"])
def test_who_says_that_nothing_is_missing_is_believed(
    asked: Any, planned: Plan, amounts: Part, revenue: Part, rows: Rows, nothing: str
) -> None:
    answer = asked(planned(amounts, revenue, combine=TOGETHER, missing=nothing), rows(missing=nothing))
    assert (answer.status, answer.missing) == ("answered", [])


def test_rows_that_are_right_by_themselves_stand_beside_what_the_pages_lack(
    asked: Any, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    question = "How did Oakgate Water's sales compare with amounts in each year from 2019 to 2021?"
    plan = planned(amounts, revenue, combine=BY_YEAR, kind="table")
    answer = asked(plan, rows(missing="the sales of 2019"), question)
    assert (answer.status, answer.value["year"].tolist()) == ("partial", [2020])
    assert [(each.source, each.what) for each in answer.missing] == [
        ("filings", "the pages lack: the sales of 2019"),
        ("sales", "amounts of 2019, 2021"),
        ("filings", "revenue of 2019"),
    ]
    assert "there is no row for 2019, 2021" in answer.flags
    assert answer.confidence == 60


@pytest.mark.parametrize(
    "combine",
    [
        "SELECT sum(sales) AS total FROM revenue",
        "SELECT year, sales - lag(sales) OVER (ORDER BY year) AS grew FROM revenue",
        "SELECT year FROM revenue ORDER BY sales DESC LIMIT 1",
        "SELECT coalesce(sales, 0) AS sales FROM amounts LEFT JOIN revenue USING (year)",
        "SELECT year FROM amounts WHERE year NOT IN (SELECT year FROM revenue)",
    ],
)
def test_what_is_computed_over_rows_is_not_given_where_one_is_missing(
    asked: Any, planned: Plan, amounts: Part, revenue: Part, rows: Rows, combine: str
) -> None:
    """A sum, a difference to the row before or a rank over fewer rows is another number: the tables of the parts stand instead."""
    answer = asked(planned(amounts, revenue, combine=combine, kind="table"), rows(missing="the sales of 2019"))
    assert answer.status == "partial"
    assert answer.value["part"].tolist() == ["amounts", "revenue", "revenue"]
    assert answer.value["sales"].dropna().tolist() == [400, 500]


def test_a_year_that_filings_have_no_row_for_is_missing(
    asked: Any, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    part = revenue | {"question": "What were Oakgate Water's net sales from 2019 to 2021?"}
    answer = asked(planned(amounts, part, combine="SELECT max(sales) FROM revenue, amounts"), rows())
    assert (answer.status, answer.value["sales"].dropna().tolist()) == ("partial", [400, 500])
    assert [each.text for each in answer.missing] == ["missing from filings: revenue of 2019"]


def test_years_that_a_condition_chooses_are_not_missing(
    asked: Any, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    part = amounts | {"question": "Which years from 2018 to 2022 had much?"}
    part["select"] = "SELECT y AS year, 1.0 AS amount FROM (VALUES (2018), (2020)) AS t(y)"
    answer = asked(
        planned(part, revenue, combine="SELECT max(sales) AS most FROM revenue JOIN amounts USING (year)"), rows()
    )
    assert (answer.status, answer.value) == ("answered", 400)
    assert "there is no row of amounts for 2019, 2021, 2022" in answer.flags


def test_an_empty_cell_is_missing(asked: Any, planned: Plan, amounts: Part, revenue: Part, rows: Rows) -> None:
    read = rows(rows=[["2020", "{s20}"], ["2021", "-"]])
    answer = asked(planned(amounts, revenue, combine=TOGETHER), read)
    assert (answer.status, answer.value) == ("partial", TOTAL / 400)
    assert [each.what for each in answer.missing] == ["a row has no sales: it is left empty"]
    # The number that was asked for is the one that is missing: no SELECT is written again.
    read = rows(rows=[["2020", "-"], ["2021", "{s21}"]])
    answer = asked(planned(amounts, revenue, combine=TOGETHER), read)
    assert (answer.status, answer.value["part"].tolist()) == ("partial", ["amounts", "revenue", "revenue"])


@pytest.mark.parametrize("cell", ["{c}", "c", "Leverage was 7.9 times."])
def test_words_that_stand_on_no_page_are_left_out(
    asked: Any, planned: Plan, amounts: Part, revenue: Part, cell: str
) -> None:
    part = revenue | {
        "name": "words",
        "columns": [{"name": "company", "kind": "text"}, {"name": "says", "kind": "text"}],
    }
    part["searches"] = ["covenant", "limits total leverage"]
    statements = [
        {"name": "k", "says": "Leverage is limited.", "page": "P1", "quote": "limits total leverage to 3.5 times"},
        {"name": "c", "says": "Leverage is free.", "page": "P1", "quote": "does not limit total leverage"},
    ]
    read = {"missing": "", "numbers": [], "computed": [], "statements": statements, "answers": "true", "searches": []}
    combine = "SELECT words.company, words.says FROM words, amounts"
    answer = asked(
        planned(amounts, part, combine=combine, kind="table"),
        read | {"rows": [["Oakgate Water", "{k}"], ["Oakgate Water", cell]]},
        "What do the covenants of Oakgate Water say, beside our largest amount?",
    )
    assert answer.status == "partial", answer.failure
    assert answer.value["says"].dropna().tolist() == ["Leverage is limited."]
    assert "a row has no says: it is left empty" in [each.what for each in answer.missing]


def test_values_that_are_not_published_are_searched_for_nowhere(
    desk: Any, asked: Any, planned: Plan, amounts: Part, revenue: Part
) -> None:
    top = amounts | {"select": "SELECT note FROM sales", "columns": [{"name": "note", "kind": "text"}]}
    later = revenue | {"question": "What are the covenants of {amounts.note}?", "companies": ["{amounts.note}"]}
    answer = asked(planned(top, later, combine="SELECT count(*) FROM amounts"))
    assert (answer.status, len(answer.value)) == ("partial", 6)
    assert "not published" in answer.missing[0].what
    assert desk.layers == ["source_planning"]
    assert desk.canaries[0] not in "\n".join(desk.prompts)


def test_a_part_that_needs_one_that_is_missing_is_missing_too(
    asked: Any, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    second = revenue | {"name": "second", "question": "What did the company of {revenue.sales} say?"}
    plan = planned(amounts, revenue, second, combine="SELECT count(*) FROM amounts, revenue, second")
    answer = asked(plan, rows(**NOTHING_READ))
    assert (answer.status, [each.source for each in answer.missing]) == ("partial", ["filings", "filings"])
    assert answer.value["amount"].tolist() == [TOTAL]


def test_a_part_of_an_answer_is_computed_again_without_a_model(
    desk: Any, library: Library, asked: Any, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    answer = asked(planned(amounts, revenue, combine=TOGETHER), rows(**NOTHING_READ))
    kept = Record.read(answer.record.sealed().encode(), "here")
    assert (kept.status, kept.missing, kept.flags) == ("partial", answer.missing, answer.flags)
    again = parts.replay(kept, {"sales": desk.warehouse, "filings": library}, desk.sandbox)
    assert (again.same, again.differences) == (True, [])
    assert again.text(kept).startswith("in part: ")


def test_a_table_that_leaves_the_program_says_what_it_lacks(
    asked: Any, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    answer = asked(planned(amounts, revenue, combine=TOGETHER), rows(**NOTHING_READ))
    assert answer.to_frame()["missing"].tolist() == [answer.missing[0].text]
    assert "missing from filings" in str(answer.to_csv())
    for shown in (answer._repr_markdown_(), answer._repr_html_()):
        assert "missing from filings" in shown


def test_a_follow_up_may_rest_on_a_part(
    desk: Any, library: Library, planned: Plan, amounts: Part, revenue: Part, rows: Rows
) -> None:
    desk.says("source_planning", planned(amounts, revenue, combine=TOGETHER))
    desk.says("library_table", *[desk.fields(**rows(**NOTHING_READ))] * 2)
    session = desk.session([desk.warehouse, library])
    assert session.ask(BOTH).status == "partial"
    desk.says("planning", desk.plan())
    assert session.ask("How many months of sales were there?").status == "answered"
    assert desk.canaries[0] not in "\n".join(desk.prompts)
