"""A question over whole filings: which pages are read, what is proved, what is dropped, what is not found."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from finexpert.answers import replaying
from finexpert.answers.cache import entry
from finexpert.answers.records import Record
from finexpert.answers.saved_session import SavedSession, restore, saved_turn
from finexpert.app.markdown import markdown
from finexpert.app.mcp.local import facts
from finexpert.app.state.answers import body_of
from finexpert.app.state.stored import StoredAnswer
from finexpert.batch.answer_rows import row_of
from finexpert.core.answers import AnswerFormat
from finexpert.core.display.parts import Parts
from finexpert.embeddings.embedding import embedder
from finexpert.filings.library.library import Library
from finexpert.filings.records import FilingInfo, LibraryPage
from finexpert.plans.pages.searching import Wanted, best_pages

TODAY = dt.date(2024, 1, 1)
QUESTION = "Has Oakgate Water's operating margin improved in FY2022?"


def page(number: int, table: tuple[tuple[str, ...], ...], *text: str) -> LibraryPage:
    return LibraryPage(
        f"oakgate/2022/page_{number}", "oakgate/2022", "Oakgate Water Inc.", "", 2022, None, "10-K", "", number, text, table, ()
    )  # fmt: skip


PAGES = [
    page(1, (), "Oakgate Water Inc. sells water to towns in Vermont. Its largest customers are Marlow and Delmont."),
    page(
        2,
        (
            ("(in millions)", "2022", "2021"),
            ("Net sales", "$ 500", "$ 400"),
            ("Cost of sales", "300", "250"),
            ("Operating income", "100", "60"),
            ("Net loss", "(20)", "(10)"),
        ),
        "Oakgate Water Inc. Consolidated Statements of Operations",
    ),
    page(3, (), "Operating income rose because of higher prices, which the regulator allowed in March."),
]


@pytest.fixture
def library(tmp_path: Path, own_home: Path) -> Iterator[Library]:
    with Library.open(tmp_path / "library", embedder=embedder("words"), make=True) as made:
        info = FilingInfo(
            "oakgate/2022", "Oakgate Water Inc.", "", 2022, None, "10-K", "", "OAKGATE_2022_10K.pdf", "1", 3, dt.datetime.now(dt.UTC)
        )  # fmt: skip
        made.add(PAGES, info)
        yield made


def plan(desk: Any, *companies: str, years: tuple[int, ...] = (2022,)) -> str:
    return str(
        desk.fields(companies=companies, years=years, statements=["income statement"], searches=["operating income"])
    )


def number(name: str, row: str, printed: str, page: str = "P1") -> dict[str, str]:
    return {"name": name, "page": page, "quote": f"{row} | {printed}", "number": printed}


def read(desk: Any, **given: Any) -> str:
    said: dict[str, Any] = {
        "numbers": [],
        "computed": [],
        "statements": [],
        "kind": "text",
        "result": "",
        "listed": [],
        "answer": "",
        "answers": "true",
        "missing": "",
        "searches": [],
    }
    said |= given
    said["statements"] = [{"name": f"s{n}"} | each for n, each in enumerate(said["statements"], 1)]
    if isinstance(said["answer"], str):
        names = [each["name"] for part in ("numbers", "computed", "statements") for each in said[part]]
        said["answer"] = [{"says": said["answer"], "rests_on": names}]
    return str(desk.fields(**said))


def margins(desk: Any, **given: Any) -> str:
    numbers = [
        number("i22", "Operating income", "100"),
        number("i21", "Operating income", "60"),
        number("s22", "Net sales", "$ 500"),
        number("s21", "Net sales", "$ 400"),
    ]
    computed = [
        {
            "name": f"m{year}",
            "what": f"operating margin 20{year}",
            "formula": f"i{year} / s{year}",
            "unit": "%",
            "decimals": 1,
        }
        for year in (22, 21)
    ]
    said = {"numbers": numbers, "computed": computed, "kind": "yes/no", "answer": "Yes: it rose from {m21} to {m22}."}
    return read(desk, **said | given)


def ask(desk: Any, library: Library, question: str = QUESTION, **given: Any) -> Any:
    return desk.session(library, as_of=TODAY).ask(question, **given)


def test_two_calls_and_the_program_computes(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", margins(desk))
    answer = ask(desk, library)
    assert answer.status == "answered", answer.failure
    assert answer.text == "Yes: it rose from 15.0% to 20.0%."
    assert desk.layers == ["library_search", "library_reading"]
    assert answer.flags == []
    assert {citation.page for citation in answer.citations} == {"oakgate/2022/page_2"}
    assert "operating margin 2022 = i22 / s22 = 100 / 500 = 20.0%" in answer.explanation


def test_a_statement_is_among_the_pages_read_and_a_measure_is_told_by_its_formula(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", margins(desk))
    ask(desk, library)
    assert "operating margin = operating income / revenue" in desk.of("library_search")[0]
    assert "Net sales | $ 500 | $ 400" in desk.of("library_reading")[0]


@pytest.mark.parametrize("name", ["OAKGATE", "the Oakgate Water Company", "Oakgat Water"])
def test_a_company_without_a_symbol_is_found_by_any_name(desk: Any, library: Library, name: str) -> None:
    desk.says("library_search", plan(desk, name))
    desk.says("library_reading", margins(desk))
    answer = ask(desk, library)
    assert answer.status == "answered"


def test_a_company_that_has_no_filing_is_said(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Nobody Ltd"))
    desk.says("library_reading", margins(desk))
    answer = ask(desk, library, "Has the operating margin improved in FY2022?")
    assert "there is no filing of Nobody Ltd: all filings were searched" in answer.flags
    both = ask(desk, library, "Has Oakgate Water's operating margin improved against Nobody's?")
    assert "there is no filing of Nobody Ltd" in both.flags


def test_a_number_with_its_unit_from_the_table_and_replay_from_quotes(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    loss = number("loss", "Net loss", "20")
    desk.says("library_reading", read(desk, numbers=[loss], kind="number", result="loss", answer="It lost {loss}."))
    answer = ask(desk, library, "How much did Oakgate Water lose in 2022?")
    assert (answer.value, answer.text) == (20.0, "It lost 20 million USD.")
    kept = Record.model_validate_json(answer.record.model_dump_json())
    again = replaying.replay_library(kept, library)
    assert (again.value, again.same, again.differences) == (20.0, True, [])
    changed = kept.model_copy(update={"value": 21.0})
    assert replaying.replay_library(changed, library).differences == ["the answer was 21.0"]
    reworded = kept.model_copy(update={"plan": kept.plan.model_copy(update={"interpretation": "It lost 21."})})
    assert not replaying.replay_library(reworded, library).same
    other = [PAGES[0], page(2, (("(in millions)", "2022"), ("Net loss", "(21)"))), PAGES[2]]
    info = library.filing("oakgate/2022")
    library.add(other, FilingInfo(**{**vars(info), "sha256": "2"}))
    assert not replaying.replay_library(kept, library).same


GOOD = {"name": "up", "says": "Prices rose.", "page": "P2", "quote": "Operating income rose because of higher prices"}
BAD = {"name": "down", "says": "Costs fell.", "page": "P2", "quote": "costs fell by half"}


def said(says: str, *rests_on: str) -> dict[str, Any]:
    return {"says": says, "rests_on": rests_on}


def test_a_statement_whose_words_do_not_stand_on_its_page_is_dropped_and_said(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    answer = [said("Because prices rose.", "up")]
    desk.says("library_reading", read(desk, statements=[GOOD, BAD], answer=answer))
    answer = ask(desk, library, "What drove Oakgate Water's operating income?")
    assert answer.text == "Because prices rose."
    assert [citation.value for citation in answer.citations] == ["Prices rose."]
    assert any("Costs fell." in flag for flag in answer.flags)
    assert desk.layers == ["library_search", "library_reading"]


@pytest.mark.parametrize(
    ("answer", "kind", "shown"),
    [
        ([said("Prices rose.", "up"), said("Costs fell.", "down")], "text", "Prices rose."),
        ([said("Costs fell.", "down"), said("Prices rose.", "up")], "text", "Prices rose."),
        ([said("Prices rose.", "up"), said("It came to {made_up}.")], "text", "Prices rose."),
        ([said("Prices rose.", "up", "P2"), said("Nobody said why it rained so much.")], "text", "Prices rose."),
        ([said("Yes."), said("Prices rose.", "up"), said("Costs fell.", "down")], "yes/no", "Yes. Prices rose."),
        ([said("Yes, costs fell.", "down"), said("Prices rose.", "up")], "yes/no", None),
        ([said("Prices rose, and costs fell.", "up", "down")], "text", None),
        ([said("Yes.")], "yes/no", None),
    ],
)
def test_the_sentence_that_rests_on_a_dropped_statement_goes_and_no_other(
    desk: Any, library: Library, answer: list[dict[str, Any]], kind: str, shown: str | None
) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", read(desk, statements=[GOOD, BAD], answer=answer, kind=kind))
    found = ask(desk, library, "What drove Oakgate Water's operating income?")
    assert desk.layers == ["library_search", "library_reading", "library_reading"]
    if shown is None:
        assert found.status == "not_found"
        return
    assert (found.text, "cost" in str(found.explanation).lower()) == (shown, False)
    assert any("Costs fell." in flag for flag in found.flags)
    assert replaying.replay_library(found.record, library).same


BOTH = "What was Oakgate Water's operating margin in FY2022, and what drove operating income?"


def both(desk: Any, **given: Any) -> str:
    answer = [said("It was {m22}.", "m22"), said("Higher prices drove it.", "up")]
    return margins(desk, statements=[GOOD], kind="number", result="m22", answer=answer, **given)


def test_both_parts_of_a_question_are_answered_each_with_its_citations(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", both(desk))
    session = desk.session(library, as_of=TODAY)
    answer = session.ask(BOTH)
    assert (answer.value, answer.format.unit) == (20.0, "%")
    assert answer.text == "It was 20.0%. Higher prices drove it."
    # The margin of 2022 rests on two of the four numbers, the reason on the words behind them.
    assert answer.cited_text == "It was 20.0% [1] [3]. Higher prices drove it [5]."
    assert answer.explanation.startswith("operating margin 2022 = ")
    kept = Record.model_validate_json(answer.record.model_dump_json())
    again = replaying.replay_library(kept, library)
    assert (again.same, again.text(kept)) == (True, answer.text)
    other = kept.model_copy(update={"sentences": kept.sentences[:1]})
    assert "the answer was 'It was 20.0%.'" in replaying.replay_library(other, library).differences
    desk.says("library_search", plan(desk, "Oakgate Water"))
    session.ask("And the year before?")
    assert "-> 20.0 (It was 20.0%. Higher prices drove it.)" in desk.of("library_search")[1]


def test_every_door_shows_both_parts(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", both(desk))
    session = desk.session(library, as_of=TODAY)
    answer = session.ask(BOTH)
    whole = answer.cited_text
    turn = session.workspace.turns[-1]
    kept = entry.restored(entry.dumped(answer, turn, dt.datetime.now(dt.UTC)) or "").answer
    stored = StoredAnswer.model_validate(
        body_of(answer)
        | {
            "id": "1",
            "conversation": "1",
            "number": 1,
            "question": BOTH,
            "state": "finished",
            "asked": "2024-01-01T00:00:00Z",
        }
    )
    shown = [
        row_of(answer).text,
        Parts.of(answer).text,
        facts(answer, "", "").text,
        kept.cited_text,
        stored.text,
        session.ask("Sorry, what was that again?").cited_text,
    ]
    assert shown == [whole] * len(shown)
    assert "Higher prices drove it" in markdown(stored, lambda answer, what: what)
    space, notes = restore(
        SavedSession(name="a", saved_at=stored.asked, source="l", turns=[saved_turn(turn)], frames=[]), None, None
    )
    assert (space.turns[-1].words, notes) == (answer.text, [])


def test_a_type_that_is_asked_for_is_answered_in_it_and_its_words_stay_in_the_explanation(
    desk: Any, library: Library
) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", both(desk))
    answer = ask(desk, library, BOTH, answer_format=AnswerFormat(kind="number", unit="%"))
    assert (answer.text, answer.sentences) == ("20.00 %", [])
    assert "Higher prices drove it." in answer.explanation
    assert replaying.replay_library(answer.record, library).differences == []


def test_a_record_of_an_answer_in_one_text_still_replays(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", margins(desk))
    answer = ask(desk, library, answer_format=AnswerFormat(kind="text"))
    kept = json.loads(answer.record.model_dump_json())
    (sentence,) = kept["reading"].pop("sentences")
    kept["reading"]["answer"] = sentence["says"]
    assert replaying.replay_library(Record.model_validate(kept), library).same


def test_what_rests_on_nothing_is_read_again_once_and_then_not_found(desk: Any, library: Library) -> None:
    made_up = number("x", "Operating income", "999")
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", read(desk, numbers=[made_up], kind="number", result="x", answer="It was {x}."))
    answer = ask(desk, library)
    assert (answer.status, answer.value) == ("not_found", None)
    assert desk.layers == ["library_search", "library_reading", "library_reading"]
    assert "'999'" in desk.of("library_reading")[1]


def test_pages_that_lack_it_cost_one_more_round_with_other_searches(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    lacks = read(desk, answers="false", missing="no backlog is printed", searches=["order backlog"])
    desk.says("library_reading", lacks)
    answer = ask(desk, library, "What was Oakgate Water's backlog in 2022?")
    assert answer.status == "not_found"
    assert len(desk.calls) == 3
    assert "no backlog is printed" in answer.text
    assert "order backlog" in answer.text


def test_a_refusal_says_how_many_companies_were_searched(desk: Any, library: Library) -> None:
    names = ["Ashby", "Birch", "Cedar", "Delmont", "Elmwood", "Fairfax"]
    for name in names:
        id = f"{name.lower()}/2022"
        own = replace(PAGES[0], id=f"{id}/page_1", filing=id, company=name, pre_text=(f"{name} mills flour.",))
        info = replace(library.filing("oakgate/2022"), id=id, company=name, path=f"{name}.pdf", sha256=name, pages=1)
        library.add([own], info)
    desk.says("library_search", plan(desk, *names))
    desk.says("library_reading", read(desk, answers="false", missing="no backlog is printed"))
    answer = ask(desk, library, "Who has a backlog in 2022?")
    assert "(searched Ashby, Birch, Cedar, Delmont, Elmwood and 1 more 2022 for" in answer.text


def test_a_number_of_the_models_own_is_flagged(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", margins(desk, answer="Yes: it rose by 33.3% to {m22}."))
    answer = ask(desk, library)
    assert "stands in no quote: 33.3" in answer.flags
    assert answer.confidence < 90


def test_the_scale_of_the_pages_goes_before_that_of_the_model(desk: Any, library: Library) -> None:
    computed = [
        {"name": "sum", "what": "sales of two years", "formula": "a + b", "unit": "USD billions", "decimals": 0}
    ]
    numbers = [number("a", "Net sales", "$ 500"), number("b", "Net sales", "$ 400")]
    desk.says("library_search", plan(desk, "Oakgate Water"))
    made = read(desk, numbers=numbers, computed=computed, kind="number", result="sum", answer="{sum}")
    desk.says("library_reading", made)
    answer = ask(desk, library, "What were Oakgate Water's sales in 2021 and 2022 together?")
    assert (answer.value, answer.format.unit) == (900.0, "million USD")
    assert any("not in USD billions" in flag for flag in answer.flags)


def test_a_value_called_by_another_year_than_its_columns_is_doubted(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    wrong = number("sales_2021", "Net sales", "$ 500")
    desk.says("library_reading", read(desk, numbers=[wrong], kind="number", result="sales_2021", answer="{sales_2021}"))
    answer = ask(desk, library, "What were Oakgate Water's sales in 2021?")
    assert any("sales_2021 is read from the column of 2022" in flag for flag in answer.flags)


def test_a_list_holds_what_stands_in_quotes(desk: Any, library: Library) -> None:
    said = {"says": "Two customers.", "page": "P1", "quote": "Its largest customers are Marlow and Delmont."}
    desk.says("library_search", plan(desk, "Oakgate Water"))
    made = read(desk, statements=[said], kind="list", listed=["Marlow", "Delmont", "Ashby"], answer="Marlow, Delmont")
    desk.says("library_reading", made)
    answer = ask(desk, library, "Who are Oakgate Water's largest customers?")
    assert answer.value == ["Marlow", "Delmont"]
    assert any("'Ashby'" in flag for flag in answer.flags)


def test_the_type_that_is_asked_for(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", margins(desk))
    assert ask(desk, library, answer_format=AnswerFormat(kind="boolean")).value is True
    wrong = ask(desk, library, answer_format=AnswerFormat(kind="date"))
    assert (wrong.status, wrong.failure.kind) == ("failed", "answer_format")


@pytest.mark.parametrize(
    ("unit", "text", "noted"),
    [
        (None, "900 million USD", False),
        ("USD", "900,000,000 USD", False),
        ("billion dollars", "1 billion dollars", False),
        ("tons", "900 million USD", True),
    ],
)
def test_a_number_is_in_the_unit_that_is_asked_for(
    desk: Any, library: Library, unit: str | None, text: str, noted: bool
) -> None:
    computed = [{"name": "sum", "what": "sales of both", "formula": "a + b", "unit": "million USD", "decimals": 0}]
    numbers = [number("a", "Net sales", "$ 500"), number("b", "Net sales", "$ 400")]
    desk.says("library_search", plan(desk, "Oakgate Water"))
    made = read(desk, numbers=numbers, computed=computed, kind="number", result="sum", answer="{sum}")
    desk.says("library_reading", made)
    wanted = AnswerFormat(kind="number", unit=unit, decimals=0)
    answer = ask(desk, library, "What were Oakgate Water's sales in 2021 and 2022 together?", answer_format=wanted)
    assert answer.text == text
    assert any("asked for in tons" in flag for flag in answer.flags) is noted
    kept = Record.model_validate_json(answer.record.model_dump_json())
    assert replaying.replay_library(kept, library).differences == []


def test_relative_time_is_made_absolute_first(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", margins(desk))
    ask(desk, library, "How did Oakgate Water's operating margin change two years ago?")
    assert all("change in 2022?" in prompt for prompt in desk.prompts)


def test_text_of_no_use_is_asked_for_again(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", "[[ ## numbers ## ]]\nnone\n\n[[ ## completed ## ]]", margins(desk))
    answer = ask(desk, library)
    assert answer.status == "answered"
    assert len(desk.of("library_reading")) == 2


def test_a_record_is_plain_json(desk: Any, library: Library, tmp_path: Path) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", margins(desk))
    kept = json.loads(ask(desk, library).record.save(tmp_path).read_text())
    assert kept["reading"]["computed"][0]["formula"] == "i22 / s22"
    assert kept["searches"][0]["pages"]


@pytest.fixture
def with_quarter(library: Library) -> Library:
    text = "Operating income is expected to be 30 in all, of which 12 was earned in the first two quarters."
    later = LibraryPage(
        "oakgate/2023q2/page_1", "oakgate/2023q2", "Oakgate Water Inc.", "", 2023, 2, "10-Q", "", 1, (text,), (), ()
    )
    info = FilingInfo(
        "oakgate/2023q2", "Oakgate Water Inc.", "", 2023, 2, "10-Q", "", "OAKGATE_2023Q2_10Q.pdf", "2", 1, dt.datetime.now(dt.UTC)
    )  # fmt: skip
    library.add([later], info)
    return library


@pytest.mark.parametrize(
    ("question", "read_too"),
    [
        ("What operating income does Oakgate Water expect?", True),
        ("What operating income did Oakgate Water have in FY2022?", False),
    ],
)
def test_the_last_filing_is_read_where_no_year_is_named(
    desk: Any, with_quarter: Library, question: str, read_too: bool
) -> None:
    wanted = desk.fields(companies=["Oakgate Water"], years=[2022], statements=[], searches=["operating income"])
    desk.says("library_search", wanted)
    desk.says("library_reading", margins(desk))
    answer = ask(desk, with_quarter, question, answer_format=None)
    pages = desk.of("library_reading")[0]
    assert pages.index("10-Q Q2 2023") < pages.index("sells water to towns") if read_too else True
    assert any("10-Q Q2 2023 of Oakgate Water Inc. is later" in flag for flag in answer.flags) == read_too


def test_a_form_that_the_question_names_is_no_earlier_one(desk: Any, with_quarter: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", margins(desk))
    assert ask(desk, with_quarter, "Has Oakgate Water's operating margin improved, as its 10K says?").flags == []


def test_the_year_before_that_of_a_filing_is_none_of_todays(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    desk.says("library_reading", margins(desk))
    ask(
        desk,
        library,
        "What was Oakgate Water's operating margin in the fiscal year of its 10-K and in the year before?",
    )
    (asked,) = desk.of("library_search")
    assert "in the fiscal year of its 10-K and in the year before?" in asked


def test_a_part_of_an_answer_is_searched_for_once_more(desk: Any, library: Library) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    partly = margins(desk, missing="the dividends of 2022", searches=["dividends paid"])
    desk.says("library_reading", partly, partly)
    answer = ask(desk, library)
    assert answer.status == "answered"
    assert desk.layers == ["library_search", "library_reading", "library_reading"]


@pytest.mark.parametrize("second", ["nothing", "unusable"])
def test_a_part_of_an_answer_is_not_lost_where_the_next_round_finds_less(
    desk: Any, library: Library, second: str
) -> None:
    desk.says("library_search", plan(desk, "Oakgate Water"))
    partly = margins(desk, missing="the dividends of 2022", searches=["dividends paid"])
    desk.says("library_reading", partly, read(desk, answers="false") if second == "nothing" else "I cannot say.")
    answer = ask(desk, library)
    assert answer.text == "Yes: it rose from 15.0% to 20.0%."
    assert "the pages lack: the dividends of 2022" in answer.flags


def test_the_pages_of_one_company_leave_room_for_anothers(library: Library) -> None:
    other = LibraryPage(
        "brook/2022/page_1", "brook/2022", "Brook Inc.", "", 2022, None, "10-K", "", 1, ("It paid for water.",), (), ()
    )
    info = FilingInfo(
        "brook/2022", "Brook Inc.", "", 2022, None, "10-K", "", "BROOK_2022_10K.pdf", "3", 1, dt.datetime.now(dt.UTC)
    )
    library.add([other], info)
    question = "operating income, net sales and cost of sales"
    one = best_pages(library, question, Wanted(years=(2022,), searches=(question, "water")))
    shared = best_pages(library, question, Wanted(("Oakgate Water", "Brook"), (2022,), (question, "water")))
    assert [page.id for page in shared.pages[:2]] == ["oakgate/2022/page_2", "brook/2022/page_1"]
    assert [page.id for page in one.pages].index("brook/2022/page_1") > 1


def test_the_last_filing_has_a_page_among_the_first_where_the_question_names_no_year(library: Library) -> None:
    words = ("It expects to pay for water.",)
    page = LibraryPage("oak/2023/page_1", "oak/2023", "Oakgate Water", "", 2023, 2, "10-Q", "", 1, words, (), ())
    made = dt.datetime.now(dt.UTC)
    info = FilingInfo("oak/2023", "Oakgate Water", "", 2023, 2, "10-Q", "", "OAK_2023Q2_10Q.pdf", "4", 1, made)
    library.add([page], info)
    searches = ("operating income, net sales and cost of sales",)
    planned = Wanted(("Oakgate Water",), (2022,), searches)
    today = best_pages(library, "What does Oakgate expect to pay?", planned)
    then = best_pages(library, "What did Oakgate expect to pay in 2022?", planned)
    assert today.pages[0].id == "oak/2023/page_1"
    assert then.pages[0].id != "oak/2023/page_1"
