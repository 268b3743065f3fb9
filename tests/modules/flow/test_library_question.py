"""Questions over a library: which pages are read, how often, what is said where nothing is found."""

from __future__ import annotations

import datetime as dt
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from finexpert.answers import replaying
from finexpert.answers.records import Record
from finexpert.embeddings.embedding import embedder
from finexpert.filings.companies.companies import Companies, Company
from finexpert.filings.library.library import Library
from finexpert.filings.records import FilingInfo, LibraryPage
from finexpert.modules.flow.library_difficulty import difficulty
from finexpert.signatures.library.planning import NOT_ON_ONE_PAGE
from finexpert.text.periods.in_question import resolve_periods

TODAY = dt.date(2021, 6, 1)
NAMES = {"BRK": "Brackwater Rail", "NOR": "Norfeld Foods", "SEL": "Selby Mining"}
# In millions but for Selby, which reports in thousands.
REVENUE = {("BRK", 2018): 900, ("BRK", 2019): 950, ("BRK", 2020): 1000, ("NOR", 2020): 1500, ("SEL", 2020): 700_000}


def page(ticker: str, year: int, revenue: int) -> LibraryPage:
    unit = "thousands" if ticker == "SEL" else "millions"
    table = (
        (f"( dollars in {unit} )", str(year), str(year - 1)),
        ("net revenue", f"$ {revenue:,}", f"$ {revenue - 50:,}"),
    )
    return LibraryPage(
        f"{ticker}/{year}/page_1", f"{ticker}/{year}", NAMES[ticker], ticker, year, None, "annual report", "results", 1,
        (f"the table shows what {NAMES[ticker]} earned in {year} .",), table, ("it is audited .",),
    )  # fmt: skip


@pytest.fixture
def library(tmp_path: Path, own_home: Path) -> Iterator[Library]:
    with Library.open(tmp_path / "library", embedder=embedder("words"), make=True) as made:
        for (ticker, year), revenue in REVENUE.items():
            one = page(ticker, year, revenue)
            info = FilingInfo(
                one.filing, one.company, ticker, year, None, one.kind, "", "", one.id, 1, dt.datetime.now(dt.UTC)
            )
            made.add([one], info)
        yield made


def found(desk: Any, row: str = "net revenue", column: str = "2020", **more: Any) -> str:
    steps = [{"kind": "cell", "id": 1, "row": row, "column": column}]
    return str(desk.fields(answers="true", entity="net revenue", **({"steps": steps, "answer": "step 1"} | more)))


def lacks(desk: Any, what: str = "no backlog is printed") -> str:
    return str(desk.fields(answers="false", entity=what, steps=[], answer=""))


def search(id: int, company: str, year: int, question: str = "What was net revenue?") -> dict[str, Any]:
    return {"kind": "search", "id": id, "company": company, "year": year, "quarter": None, "question": question}


def parts(desk: Any, *steps: dict[str, Any], answer: str) -> str:
    return str(desk.fields(interpretation="as asked", steps=list(steps), answer=answer))


def test_one_company_and_one_year_take_one_call(desk: Any, library: Library) -> None:
    desk.says("page", found(desk))
    answer = desk.session(library, as_of=TODAY).ask("What was Brackwater Rail's net revenue in 2020?")
    assert (answer.value, answer.format.unit) == (1000.0, "million USD")
    assert desk.layers == ["page"]
    (citation,) = answer.citations
    assert (citation.company, citation.period, citation.page) == ("Brackwater Rail", "FY 2020", "BRK/2020/page_1")


def test_relative_time_is_resolved_before_anything_is_searched(desk: Any, library: Library) -> None:
    desk.says("page", found(desk, column="2019"))
    answer = desk.session(library, as_of=TODAY).ask("What was Brackwater Rail's net revenue two years ago?")
    assert (answer.value, answer.citations[0].page) == (950.0, "BRK/2019/page_1")
    assert "in 2019" in desk.prompts[0]


def test_the_next_page_is_read_where_one_does_not_answer(desk: Any, library: Library) -> None:
    desk.says("page", lacks(desk), found(desk, column="2019"))
    answer = desk.session(library, as_of=TODAY).ask("What was Brackwater Rail's net revenue in 2019?")
    assert answer.status == "answered"
    assert desk.layers == ["page", "page"]
    assert list(answer.record.searches[0]["read"].values()) == ["no backlog is printed", "answers"]


def test_what_no_page_answers_is_not_found_and_says_what_was_searched(desk: Any, library: Library) -> None:
    desk.says("page", lacks(desk))
    desk.says("planning", parts(desk, search(1, "BRK", 2020, "What was the backlog?"), answer="step 1"))
    desk.says("filing_search", desk.fields(phrases=["order backlog"], years=[]))
    answer = desk.session(library, as_of=TODAY).ask("What was Brackwater Rail's backlog in 2020?")
    assert (answer.status, answer.value) == ("not_found", None)
    assert "order backlog" in answer.text
    assert "nothing new found" in answer.text


def test_a_page_is_never_read_twice_for_one_part(desk: Any, library: Library) -> None:
    desk.says("page", lacks(desk))
    desk.says("planning", parts(desk, search(1, "BRK", 2020, "What was the backlog?"), answer="step 1"))
    desk.says("filing_search", desk.fields(phrases=["order backlog"], years=[]))
    desk.session(library, as_of=TODAY).ask("What was the backlog of Brackwater Rail?")
    parts_of = [prompt.split("PAGE: ")[1].split("\n")[0] for prompt in desk.of("page")]
    direct, standard = parts_of[: len(set(parts_of))], parts_of[len(set(parts_of)) :]
    assert len(set(direct)) == len(direct)
    assert len(set(standard)) == len(standard)


def test_a_company_that_the_library_has_no_filing_of_is_not_searched(desk: Any, library: Library) -> None:
    desk.says("planning", parts(desk, search(1, "Tesla", 2020), answer="step 1"))
    answer = desk.session(library, as_of=TODAY).ask("What was the revenue of Tesla?")
    assert answer.status == "not_found"
    assert "no filing of Tesla" in answer.text
    assert desk.layers == ["planning"]


def test_parts_are_joined_on_one_scale(desk: Any, library: Library) -> None:
    desk.says("page", found(desk))
    total = {"kind": "compute", "id": 3, "operation": "add", "arguments": ["step 1", "step 2"]}
    desk.says("planning", parts(desk, search(1, "Selby Mining", 2020), search(2, "NOR", 2020), total, answer="step 3"))
    answer = desk.session(library, as_of=TODAY).ask("What did Selby Mining and Norfeld Foods earn together in 2020?")
    assert (answer.value, answer.format.unit) == (700_000.0 + 1_500_000.0, "thousand USD")
    assert [citation.page for citation in answer.citations] == ["SEL/2020/page_1", "NOR/2020/page_1"]


def test_the_name_of_the_greatest(desk: Any, library: Library) -> None:
    desk.says("page", found(desk))
    steps = [search(n, ticker, 2020) for n, ticker in enumerate(NAMES, 1)]
    which = {"kind": "compute", "id": 4, "operation": "which_greatest", "arguments": ["step 1", "step 2", "step 3"]}
    desk.says("planning", parts(desk, *steps, which, answer="step 4"))
    answer = desk.session(library, as_of=TODAY).ask(
        "Which of Brackwater Rail, Norfeld Foods and Selby Mining earned most?"
    )
    assert (answer.value, answer.format.kind) == ("Norfeld Foods", "text")


def test_a_fact_about_companies_comes_from_their_table(desk: Any, library: Library, tmp_path: Path) -> None:
    rows = "Symbol,Security,Sector,Founded\nBRK,Brackwater Rail,Transportation,1870\nNOR,Norfeld Foods,Food,1920\n"
    (tmp_path / "companies.csv").write_text(rows)
    desk.says("page", found(desk))
    lookup = {"kind": "lookup", "id": 1, "select": "SELECT company FROM companies ORDER BY founded LIMIT 1"}
    desk.says("planning", parts(desk, lookup, search(2, "step 1", 2020), answer="step 2"))
    with Library.open(library.folder, embedder=embedder("words"), companies=tmp_path / "companies.csv") as known:
        answer = desk.session(known, as_of=TODAY).ask("What did the oldest company earn in 2020?")
    assert (answer.value, answer.citations[0].page) == (1000.0, "BRK/2020/page_1")
    assert "founded" in desk.of("planning")[0]
    # Recorded completions are found by the prompt: a key that is looked for in the rows would change it.
    assert "as of the day on which the table was made\n  ticker VARCHAR" in desk.of("planning")[0]


def test_parts_are_searched_side_by_side(desk: Any, library: Library) -> None:
    together = threading.Barrier(3, timeout=20)

    def waits(prompt: str) -> str:
        together.wait()
        return found(desk)

    desk.says("page", waits)
    steps = [search(n, ticker, 2020) for n, ticker in enumerate(NAMES, 1)]
    total = {"kind": "compute", "id": 4, "operation": "add", "arguments": ["step 1", "step 2", "step 3"]}
    desk.says("planning", parts(desk, *steps, total, answer="step 4"))
    started = time.monotonic()
    answer = desk.session(library, as_of=TODAY).ask("What did Brackwater Rail, Norfeld Foods and Selby Mining earn?")
    assert answer.status == "answered"
    assert time.monotonic() - started < 20


def test_a_plan_that_does_not_run_goes_back_once(desk: Any, library: Library) -> None:
    desk.says("page", found(desk, row="cost of sales"), found(desk))
    answer = desk.session(library, as_of=TODAY).ask("What was Brackwater Rail's net revenue in 2020?")
    assert answer.value == 1000.0
    assert "cost of sales" in desk.prompts[1]


def each_year_on_a_page_of_its_own(desk: Any) -> Callable[[str], str]:
    """What the planner of pages says where a page prints its own year only."""

    def said(prompt: str) -> str:
        asked = prompt.split("[[ ## question ## ]]")[-1].split("[[ ## ")[0]
        years = re.findall(r"20[12]\d", asked)
        label = prompt.split("PAGE: ")[-1].split("\n")[0]
        if len(set(years)) > 1 or years[-1] not in label:
            return lacks(desk, "the other year is missing")
        return found(desk, column=years[-1])

    return said


BOTH = "By how much did Brackwater Rail's net revenue change from 2018 to 2020?"
DIFFERENCE = {"kind": "compute", "id": 3, "operation": "subtract", "arguments": ["step 2", "step 1"]}


def by_year(desk: Any) -> str:
    first, second = (search(n, "BRK", year, f"What was net revenue in {year}?") for n, year in ((1, 2018), (2, 2020)))
    return parts(desk, first, second, DIFFERENCE, answer="step 3")


def test_a_part_of_several_years_that_no_page_answers_goes_back_to_the_planner(desk: Any, library: Library) -> None:
    desk.says("page", each_year_on_a_page_of_its_own(desk))
    desk.says("planning", parts(desk, search(1, "BRK", 2020, BOTH), answer="step 1"), by_year(desk))
    desk.says("filing_search", desk.fields(phrases=["revenue"], years=[]))
    answer = desk.session(library, as_of=TODAY).ask(BOTH)
    assert (answer.value, answer.format.unit) == (100.0, "million USD")
    assert [citation.page for citation in answer.citations] == ["BRK/2020/page_1", "BRK/2018/page_1"]
    first, second = desk.of("planning")
    assert NOT_ON_ONE_PAGE not in first
    assert NOT_ON_ONE_PAGE in second
    assert "BRK/2020/page_1: the other year is missing" in second
    assert answer.usage.calls == len(desk.calls)
    assert {"planning", "replanning"} <= answer.usage.stages.keys()
    assert [search["page"] for search in answer.record.searches] == [None, "BRK/2018/page_1", "BRK/2020/page_1"]


@pytest.mark.parametrize(
    ("question", "company", "year", "asked", "times"),
    [
        ("Did the backlog grow from 2018 to 2020?", "BRK", 2020, "the backlog in 2018 and in 2020", 2),
        ("Did the backlog grow against the year before?", "BRK", 2020, "the backlog against the year before", 2),
        ("What was the backlog of both?", "BRK", 2020, "the backlog of Brackwater Rail and Norfeld Foods", 2),
        ("What was the backlog in 2018 and 2020?", "BRK", 2020, "the backlog in 2020", 1),
        ("What was the backlog in 2018 and 2020?", "Tesla", 2020, "the backlog in 2018 and 2020", 1),
    ],
)
def test_what_the_planner_is_asked_a_second_time(
    desk: Any, library: Library, question: str, company: str, year: int, asked: str, times: int
) -> None:
    desk.says("page", lacks(desk))
    one, other = (
        parts(desk, search(1, company, year, f"What was {words}?"), answer="step 1") for words in (asked, "it")
    )
    desk.says("planning", one, other)
    desk.says("filing_search", desk.fields(phrases=["order backlog"], years=[]))
    answer = desk.session(library, as_of=TODAY).ask(question)
    assert (answer.status, len(desk.of("planning"))) == ("not_found", times)


@pytest.mark.parametrize(("second", "searches"), [("the same", 1), ("unusable", 1), ("not found either", 3)])
def test_it_goes_back_no_more_than_once(desk: Any, library: Library, second: str, searches: int) -> None:
    desk.says("page", lacks(desk))
    plan = parts(desk, search(1, "BRK", 2020, BOTH), answer="step 1")
    other = {"the same": plan, "unusable": "no idea", "not found either": by_year(desk)}[second]
    desk.says("planning", plan, other)
    desk.says("filing_search", desk.fields(phrases=["revenue"], years=[]))
    answer = desk.session(library, as_of=TODAY).ask(BOTH)
    assert answer.status == "not_found"
    assert ("searched BRK 2018" in answer.text) is (second == "not found either")
    assert sum(NOT_ON_ONE_PAGE in prompt for prompt in desk.of("planning")) == 1
    assert len(desk.of("filing_search")) == searches


def test_a_mode_without_repairs_does_not_go_back(desk: Any, library: Library) -> None:
    desk.says("page", lacks(desk))
    desk.says("planning", parts(desk, search(1, "BRK", 2020, BOTH), answer="step 1"))
    desk.says("filing_search", desk.fields(phrases=["revenue"], years=[]))
    answer = desk.session(library, as_of=TODAY, retries=0).ask(BOTH)
    assert (answer.status, len(desk.of("planning"))) == ("not_found", 1)


def test_the_fiscal_year_of_the_table_of_companies_is_counted_by(desk: Any, library: Library, tmp_path: Path) -> None:
    rows = "Symbol,Security,Fiscal year end\nBRK,Brackwater Rail,March\nNOR,Norfeld Foods,\n"
    (tmp_path / "companies.csv").write_text(rows)
    desk.says("page", found(desk))
    with Library.open(library.folder, embedder=embedder("words"), companies=tmp_path / "companies.csv") as known:
        session = desk.session(known, as_of=TODAY)
        session.ask("What was Brackwater Rail's net revenue in the last fiscal year?")
        session.ask("What was Norfeld Foods' net revenue in the last fiscal year?")
    asked = [prompt.split("[[ ## question ## ]]")[-1].split("[[ ## ")[0] for prompt in desk.of("page")]
    assert "fiscal 2021" in asked[0]
    assert "fiscal 2020" in asked[-1]


def test_a_record_runs_again_without_a_model(desk: Any, library: Library) -> None:
    desk.says("page", found(desk))
    total = {"kind": "compute", "id": 3, "operation": "add", "arguments": ["step 1", "step 2"]}
    desk.says("planning", parts(desk, search(1, "SEL", 2020), search(2, "NOR", 2020), total, answer="step 3"))
    answer = desk.session(library, as_of=TODAY).ask("What did Selby Mining and Norfeld Foods earn together?")
    kept = Record.model_validate_json(answer.record.model_dump_json())
    calls = len(desk.calls)
    again = replaying.replay_library(kept, library)
    assert (again.value, again.same, again.differences, len(desk.calls)) == (answer.value, True, [], calls)
    library.remove("BRK/2018")
    assert replaying.replay_library(kept, library).differences == ["the library holds other filings than then"]


def test_another_filing_that_prints_something_else_is_said(desk: Any, library: Library) -> None:
    other = page("BRK", 2021, 1100)
    info = FilingInfo(other.filing, other.company, "BRK", 2021, None, "", "", "", "x", 1, dt.datetime.now(dt.UTC))
    library.add([other], info)
    desk.says("page", found(desk))
    answer = desk.session(library, as_of=TODAY).ask("What was Brackwater Rail's net revenue in 2020?")
    assert answer.value == 1000.0
    assert any("Brackwater Rail, FY 2021, p. 1 prints 1,050 there" in flag for flag in answer.flags)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Brackwater Rail's revenue in 2019?", "direct"),
        ("What was Brackwater Rail's revenue?", "direct"),
        ("How did Brackwater Rail's revenue in 2019 compare with the year before?", "direct"),
        ("How did Brackwater Rail's revenue in 2019 compare with 2016?", "standard"),
        ("What was its revenue in 2019?", "standard"),
        ("Did Brackwater Rail or Norfeld Foods earn more in 2019?", "standard"),
        ("How did the revenue of Brackwater Rail change from 2015 to 2019?", "detailed"),
        ("Which of Brackwater Rail, Norfeld Foods and Selby Mining earned most in 2019?", "detailed"),
    ],
)
def test_difficulty(question: str, expected: str) -> None:
    companies = Companies([Company(ticker, name) for ticker, name in NAMES.items()])
    assert difficulty(resolve_periods(question, TODAY), companies.resolve(question)) == expected


@pytest.mark.parametrize(
    "said", ["", "no fields at all", "[[ ## plan ## ]]\n{", '[[ ## steps ## ]]\n[{"id": 1}]', "\ud83d\x00", "null"]
)
def test_unusable_text_of_the_planner_fails_the_answer(desk: Any, library: Library, said: str) -> None:
    desk.says("planning", said)
    answer = desk.session(library).ask("By how much did sales of Harbour and of its rival change from 2017 to 2018?")
    assert answer.status == "failed"
    assert answer.failure.layer
