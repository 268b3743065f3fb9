"""What is shown of an answer, of its progress and of a cited page; and that nothing but text goes into a page."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from pathlib import Path

import pytest
from sqlglot import tokenize

from finexpert.app.page import answer_card, citations, progress
from finexpert.app.page.examples import examples_for
from finexpert.app.page.page import grouped
from finexpert.app.page.sql_layout import laid_out
from finexpert.app.page.templating import HERE, STATIC, render, static
from finexpert.app.page.turns import AskedOf
from finexpert.app.state.stored import (
    ColumnInfo,
    Conversation,
    FilingRow,
    SourceInfo,
    SourceSchema,
    StoredAnswer,
    TableInfo,
)
from finexpert.core.answers import AnswerFormat, Citation, Failure
from finexpert.core.progress import Event

ROOT = Path(__file__).parents[3]
NOW = dt.datetime(2024, 6, 1, 12, tzinfo=dt.UTC)
HOSTILE = '<img src=x onerror="alert(1)">\u202etxt'


def answer(**given: object) -> StoredAnswer:
    said = {
        "id": "a",
        "conversation": "c",
        "number": 1,
        "question": "q",
        "state": "finished",
        "asked": NOW,
        "status": "answered",
    }
    return StoredAnswer.model_validate(said | given)


def test_a_number_stands_without_its_unit_and_the_marks_of_its_pages() -> None:
    cited = [Citation(source="Entergy, FY 2016, p. 23", place="row / 2015", value=94, page="p23")]
    shown = answer_card.of(
        answer(text="94.00 million USD [1]", format=AnswerFormat(unit="million USD"), citations=cited, value=94.0)
    )
    assert (shown.number, shown.unit) == ("94.00", "million USD")
    assert [number for number, _ in shown.pages] == [1]


def test_all_notes_are_on_the_page_and_those_after_five_unfold() -> None:
    turn = answer(text="3", value=3, flags=[f"note {number}" for number in range(1, 8)])
    given = {"turn": turn, "shown": answer_card.of(turn), "table": None, "chart": None, "may_teach": False}
    shown, folded = render("card.html", asked_of=AskedOf("trades", "Trades"), **given).split(
        '<summary class="small">and 2 more</summary>'
    )
    assert re.findall(r"Note \d", shown) == [f"Note {number}" for number in range(1, 6)]
    assert re.findall(r"Note \d", folded.partition("</details>")[0]) == ["Note 6", "Note 7"]


def test_a_failure_says_why() -> None:
    failed = answer(status="failed", failure=Failure(layer="sql", kind="x", message="the frame was cut"))
    assert answer_card.of(failed).reason == "There is no answer. The frame was cut"


def test_every_kind_of_step_is_put_into_words() -> None:
    steps = [
        {"kind": "extract", "frame": "f", "purpose": "rows"},
        {"kind": "script", "task": "compute"},
        {"kind": "cell", "row": "sales", "column": "2017"},
        {"kind": "quote", "quote": "rose 4%", "value": "4%"},
        {"kind": "compute", "operation": "divide", "arguments": ["step 1", 2.0]},
        {"kind": "search", "question": "revenue?", "company": "UNP", "year": 2017},
        {"kind": "lookup", "select": "SELECT 1"},
    ]
    shown = answer_card.of(answer(plan={"steps": steps}))
    assert [step.what for step in shown.steps] == [
        "Extract f", "Script", "Read a cell", "Quote", "Divide", "Search", "Look up",
    ]  # fmt: skip
    assert shown.steps[4].about == "step 1, 2"


def test_a_stage_within_another_ends_on_its_own() -> None:
    steps = progress.of(
        [Event("extracting", "started", note="2 SELECTs"), Event("checking", "started"), Event("checking", "ended", 0.2),
         Event("extracting", "ended", 1.0), Event("planning", "started"), Event("planning", "ended", 2.0, 2, None)]
    )  # fmt: skip
    assert [(step.words, step.ended, step.cost) for step in steps] == [
        ("Running 2 SELECTs", True, "1.0 s"),
        ("Checking", True, "0.2 s"),
        ("Planning", True, "2.0 s, 2 calls"),
    ]


def test_a_step_that_took_nothing_is_not_told_twice() -> None:
    planned = [Event("planning", "started"), Event("planning", "ended", 0.001)]
    steps = progress.of([*planned, *planned, Event("reading", "started", note="pages are searched"), *planned])
    assert [(step.words, step.cost) for step in steps] == [("Planning", ""), ("Searching filings", "")]


def test_a_quote_and_a_cell_are_marked() -> None:
    marks = citations.marks_for(Citation(source="p", place="net sales / 2017", value=-1234.0))
    assert marks["is_cited"](["Net sales", "$ (1,234)", "1,181"], 1)
    assert not marks["is_cited"](["Net sales", "$ (1,234)", "1,181"], 2)
    assert not marks["is_cited"](["Gross sales", "1,234"], 1)
    assert citations.marked("It ROSE\n by <4%>.", "rose by <4%>") == "It <mark>ROSE\n by &lt;4%&gt;</mark>."
    assert citations.marked("nothing", "a") == "nothing"


def test_examples_come_from_names() -> None:
    source = SourceInfo(id="s", name="S", kind="data", shared=True, mine=False, removable=False)
    columns = [ColumnInfo(name=name, type=kind) for name, kind in
               (("trade_id", "BIGINT"), ("day", "DATE"), ("desk", "VARCHAR"), ("fee_usd", "DOUBLE"))]  # fmt: skip
    table = TableInfo(name="main.trades", columns=columns)
    assert examples_for(SourceSchema(source=source, card="", tables=[table])) == [
        "What is the total fee usd of trades by desk?",
        "Show the total fee usd of trades by month, as a table.",
    ]
    columns = [ColumnInfo(name=name, type=kind) for name, kind in
               (("sku", "BIGINT"), ("order_ref", "VARCHAR"), ("region", "VARCHAR"), ("discount_pct", "DOUBLE"))]  # fmt: skip
    offers = TableInfo(name="offers", columns=columns)
    assert examples_for(SourceSchema(source=source, card="", tables=[offers])) == [
        "What is the average discount pct of offers by region?"
    ]
    columns = [ColumnInfo(name=name, type="BIGINT") for name in ("customer_id", "zip", "year")]
    customers = TableInfo(name="customers", columns=columns)
    assert examples_for(SourceSchema(source=source, card="", tables=[customers])) == ["How many customers are there?"]
    filing = FilingRow(
        id="f", company="Oakgate Water", ticker="", fiscal_year=2022, quarter=None, kind="10-K", title="", pages=3
    )
    assert examples_for(SourceSchema(source=source, card="", filings=[filing])) == [
        "What was the revenue of Oakgate Water in 2022?"
    ]


def test_conversations_lie_under_their_age() -> None:
    talks = [
        Conversation(id=str(days), name="n", source="s", made=NOW, changed=NOW - dt.timedelta(days=days), answers=1)
        for days in (40, 0, 1, 3)
    ]
    assert [(name, [talk.id for talk in group]) for name, group in grouped(talks, NOW.date())] == [
        ("Today", ["0"]), ("Yesterday", ["1"]), ("Last 7 days", ["3"]), ("Earlier", ["40"]),
    ]  # fmt: skip


def test_what_is_put_into_a_page_is_text() -> None:
    shown = render("talks.html", groups=[("Today", [Conversation(id="c", name=HOSTILE, source="s", made=NOW, changed=NOW, answers=0)])],
                   open_talk="", search="")  # fmt: skip
    assert "<img" not in shown
    assert "\u202e" not in shown
    assert "&lt;img" in shown
    assert "\\u202e" in shown


def test_no_template_trusts_what_it_is_given() -> None:
    templates = sorted((HERE / "templates").glob("*.html"))
    assert len(templates) > 20
    for path in templates:
        text = path.read_text()
        assert not re.search(r"\|\s*safe|autoescape\s+false|Markup", text), path.name
        assert not re.search(r"\son\w+\s*=|\sstyle\s*=|javascript:|hx-on|hx-vals\s*=\s*.js", text), path.name
        assert not re.search(r"(src|href)=\"?https?:", text), path.name


def test_the_files_of_others_are_as_they_were_fetched() -> None:
    vendor = STATIC / "vendor"
    said = dict(re.findall(r"^\| `([^`]+)` .* `([0-9a-f]{64})` \|$", (vendor / "README.md").read_text(), re.MULTILINE))
    kept = {path.name for path in vendor.iterdir() if not path.name.startswith(("LICENSE", "README"))}
    assert set(said) == kept
    for name, digest in said.items():
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == digest, name


def test_lines_of_a_select_change_nothing_but_white_space() -> None:
    recorded = "\n".join(path.read_text() for path in sorted((ROOT / "datasets" / "recorded").glob("*.jsonl")))
    written = set(re.findall(r'\\"select_query\\": \\"((?:[^"\\]|\\\\[^"])*)\\"', recorded))
    selects = [json.loads(f'"{json.loads(chr(34) + text + chr(34))}"') for text in written]
    odd = [
        "SELECT 'a  FROM b' AS x, \"c  WHERE\" FROM t /* one  SELECT */ WHERE EXTRACT(YEAR FROM d) = 1 AND a IS DISTINCT FROM b -- end  here"
    ]
    assert len(selects) > 100
    for select in [*selects, *odd]:
        before, after = (tokenize(text, read="duckdb") for text in (select, laid_out(select)))
        assert [(each.token_type, each.text) for each in before] == [(each.token_type, each.text) for each in after]
    assert sum(laid_out(select).count("\n") > 1 for select in selects) > 50


@pytest.mark.parametrize(
    "text",
    [r"'it\'s  FROM WHERE x' AND b = 'c'", r"E'it\'s  FROM WHERE x'", "$$one  FROM two$$", "$q$it's  FROM $$ two$q$"],
)
def test_a_text_of_an_engine_of_its_own_keeps_its_white_space(text: str) -> None:
    select = f"SELECT count(*) AS n, sum(amount) AS total FROM orders WHERE note = {text} GROUP BY region"
    assert text in laid_out(select)


@pytest.mark.parametrize("sheet", sorted(STATIC.glob("*.css")), ids=lambda path: path.name)
def test_no_rule_of_a_sheet_stands_twice(sheet: Path) -> None:
    rules = [" ".join(rule.split()) for rule in re.findall(r"[^{}]+\{[^{}]*\}", sheet.read_text())]
    assert [rule for rule in rules if rules.count(rule) > 1] == []


@pytest.mark.parametrize("name", ["tokens.css", "js/main.js", "vendor/htmx.min.js"])
def test_an_address_changes_with_its_file(name: str) -> None:
    assert re.fullmatch(rf"/static/{re.escape(name)}\?v=[0-9a-f]{{12}}", static(name))
