"""An answer in a notebook, a chat and a file: everything is there, and nothing of it is taken for HTML, Markdown or a formula."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from markdown_it import MarkdownIt

from finexpert.answers.records import FrameRecord, Record, SourceRecord
from finexpert.core.answers import Answer, AnswerFormat, Citation, Clarification, Failure, Usage
from finexpert.core.display import files, html, markdown, plain
from finexpert.core.display.parts import Code
from finexpert.core.plans import Cell, Compute, Extract, Lookup, Plan, Quote, Script, Search
from finexpert.core.workspace import NamedFrame
from finexpert.errors import DataError

HOSTILE = "<script>alert(1)</script>|![x](https://evil.example/?q=)\n# head `a` \x1b[2J \u202eabc"
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


def record(dialect: str = "duckdb") -> Record:
    steps: list[Extract | Script | Cell | Quote | Compute | Search | Lookup] = [
        Extract(id=1, frame="sales", columns=["region"], purpose="x", select="SELECT 1"),
        Script(id=2, task="x", frames=["sales"], code="answer = '</code><script>alert(2)</script>'"),
    ]
    return Record(
        id="20260101T000000-abcdef",
        created=dt.datetime.now(dt.UTC),
        question="?",
        as_of=dt.date(2024, 9, 30),
        status="answered",
        answer_format=AnswerFormat(),
        plan=Plan(steps=steps, answer="step 2"),
        frames=[FrameRecord(name="sales", select="SELECT '<b>'", columns=["region"], rows=1, fingerprint="x")],
        source=SourceRecord(name="sales", dialect=dialect),
        software={},
    )


def answered(value: Any, **given: Any) -> Answer:
    return Answer(question=HOSTILE, status="answered", value=value, **given)


class Tags(HTMLParser):
    """The tags and attributes of a page as a browser sees them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


HARMLESS = {
    "br",
    "div",
    "p",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "details",
    "summary",
    "pre",
    "code",
    "ol",
    "li",
    "img",
}


@pytest.mark.parametrize(
    "answer",
    [
        answered(HOSTILE, format=AnswerFormat(kind="text", unit=HOSTILE), flags=[HOSTILE], explanation=HOSTILE),
        answered(pd.DataFrame({HOSTILE: [HOSTILE], "n": [1.5]}), meanings={HOSTILE: HOSTILE}, figures=[PNG]),
        answered([HOSTILE], record=record(), period=HOSTILE, processes=[HOSTILE]),
        answered(1.0, record=record("library"), citations=[Citation(source=HOSTILE, place=HOSTILE, value=HOSTILE, page="a")]),
        Answer(question=HOSTILE, status="failed", failure=Failure(layer="planning", kind="sql", message=HOSTILE)),
        Answer(
            question=HOSTILE,
            status="needs_clarification",
            clarification=Clarification(term=HOSTILE, question=HOSTILE, candidates=[HOSTILE]),
        ),
    ],
    ids=["text", "table", "code", "citations", "failed", "question back"],
)  # fmt: skip
def test_nothing_of_an_answer_becomes_html(answer: Answer) -> None:
    page = answer._repr_html_()
    seen = Tags(page)
    assert set(seen.tags) <= HARMLESS
    assert {name for name, _ in seen.attributes} <= {"style", "class", "alt", "src"}
    assert all(str(value).startswith("data:image/png;base64,") for name, value in seen.attributes if name == "src")
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page


def test_nothing_of_an_answer_becomes_markdown() -> None:
    page = MarkdownIt("commonmark").enable("table")
    for answer in (
        answered(pd.DataFrame({HOSTILE: [HOSTILE], "n": [1.5]}), explanation=HOSTILE, flags=[HOSTILE]),
        answered(HOSTILE, format=AnswerFormat(kind="text")),
        answered(1.0, record=record("library"), citations=[Citation(source=HOSTILE, place="x", value=1, page="a")]),
    ):
        seen = Tags(page.render(answer._repr_markdown_()))
        assert set(seen.tags) <= {"p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ol", "li", "pre", "code"}
    table = Tags(page.render(markdown.of_table(pd.DataFrame({HOSTILE: [HOSTILE], "n": [1.5]}))))
    assert [table.tags.count(tag) for tag in ("th", "td")] == [2, 2]


def test_code_cannot_end_its_fence() -> None:
    code = markdown._fence(Code("Script", "python", "a = '''\n```\n# out\n````\n'''"))
    assert code.splitlines()[2] == "`````python"


def test_an_answer_is_shown_with_value_notes_citations_and_folded_code() -> None:
    answer = answered(
        3,
        format=AnswerFormat(kind="integer", unit="recessions"),
        confidence=80,
        period="2020",
        flags=["made up"],
        figures=[PNG],
        record=record(),
        usage=Usage(calls=1, by_layer={"planning": 1}),
    )
    page = answer._repr_html_()
    for part in ("3 recessions", "Confidence: 80 of 100", "Period: 2020", "Note: made up", "SQL → sales", "Script"):
        assert part in page
    assert "SELECT &#x27;&lt;b&gt;&#x27;" in page
    assert page.count("<details>") == 2
    assert "<img" in page
    assert "1 model call (planning 1)" in page
    assert "20260101T000000-abcdef" in page


def test_a_long_table_says_how_many_rows_there_are() -> None:
    answer = answered(pd.DataFrame({"n": range(1_000)}))
    page = answer._repr_html_()
    assert "1,000 rows, 20 of them shown" in page
    assert page.count("<tr>") == 1 + 20 + 1
    assert "The first 50 of 1,000 rows." in answer._repr_markdown_()


def test_the_unit_of_a_table_is_that_of_the_whole() -> None:
    fees = pd.DataFrame({"desk": ["A"], "fee": [2]})
    answer = Answer(question="Fees?", status="answered", value=fees, format=AnswerFormat(kind="table", unit="USD"))
    assert answer.text.splitlines()[0] == "in USD:"
    assert not answer.text.endswith("USD")
    assert "Unit: USD" in plain.of_answer(answer).splitlines()
    assert "Unit: USD" in answer._repr_markdown_()


def test_a_frame_of_the_conversation_shows_its_rows_and_its_select() -> None:
    frame = NamedFrame("sales", pd.DataFrame({"<i>": [1]}), "SELECT '<b>'")
    assert "&lt;i&gt;" in html.of_frame(frame)
    assert "SELECT &#x27;&lt;b&gt;&#x27;" in frame._repr_html_()
    # What is logged and traced holds no row.
    assert repr(frame) == "NamedFrame('sales', 1 rows of \"SELECT '<b>'\")"


@pytest.mark.parametrize(
    ("value", "rows"),
    [
        (3, [[3]]),
        ([dt.date(2020, 4, 1), dt.date(2008, 7, 1)], [[dt.date(2020, 4, 1)], [dt.date(2008, 7, 1)]]),
        (pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), [[1, "x"], [2, "y"]]),
    ],
)
def test_an_answer_is_a_frame(value: Any, rows: list[list[Any]]) -> None:
    assert answered(value).to_frame().to_numpy().tolist() == rows


def test_a_frame_of_an_answer_is_a_copy() -> None:
    table = pd.DataFrame({"a": [1]})
    mine = answered(table).to_frame()
    mine.loc[0, "a"] = 9
    assert table.loc[0, "a"] == 1


def test_no_answer_is_no_table(tmp_path: Path) -> None:
    answer = Answer(question="?", status="failed", failure=Failure(layer="planning", kind="sql", message="it broke"))
    for act in (answer.to_frame, answer.to_csv, lambda: answer.to_excel(tmp_path / "a.xlsx")):
        with pytest.raises(DataError, match="it broke"):
            act()
    assert not list(tmp_path.iterdir())


def test_csv_keeps_every_digit_and_row(tmp_path: Path) -> None:
    table = pd.DataFrame({"n": [0.1 + 0.2, 1e-12], "text": ["=1+1", 'a,"b"']})
    answered(table).to_csv(tmp_path / "a.csv")
    assert pd.read_csv(tmp_path / "a.csv").equals(table)
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o600
    assert answered(table).to_csv() == (tmp_path / "a.csv").read_text()


@pytest.mark.parametrize("cell", ["a\rb", "a\r=1+1", "\r", "a\r\nb", "a\nb", 'a"\r', "x;\r"])
def test_a_line_break_of_any_kind_stays_within_its_cell(cell: str) -> None:
    table = pd.DataFrame({"text": [cell, "plain"], "n": [1, 2]})
    assert pd.read_csv(io.StringIO(files.csv_text(table), newline="")).equals(table)
    assert [len(row) for row in csv.reader(io.StringIO(files.csv_text(table, safe=True), newline=""))] == [2, 2, 2]


@pytest.mark.parametrize(
    "cell", ["a;=1+1", "a;;@sum", "a\t=1+1", ";-cmd", "a; =1+1", "2;+a;3", "\ufeffa;=1"], ids=lambda cell: repr(cell)
)
def test_a_safe_csv_has_no_formula_where_semicolons_part_cells(cell: str) -> None:
    safe = files.csv_text(pd.DataFrame({"text": [cell]}), safe=True).splitlines()[1]
    for part in re.split("[;\t]", safe):
        assert not part.strip().startswith(("=", "+", "-", "@")), safe


def test_numbers_between_semicolons_stay_as_they_are() -> None:
    assert files.csv_text(pd.DataFrame({"a": ["1;-2.5;+3", "a - b; c"]}), safe=True) == "a\n1;-2.5;+3\na - b; c\n"


@pytest.mark.parametrize(
    "cell",
    ["=1+1", "+1+1", "-cmd", "@sum", "\t=1", "\r=1", " =1", "\ufeff=1", "\u200b=1", "\x00=1", "\x0b@sum", "\u2060+1+1"],
)
def test_a_safe_csv_has_no_formula(cell: str) -> None:
    assert files.csv_text(pd.DataFrame({cell: [cell, "plain"]}), safe=True).count("'" + cell[0]) == 2


def test_excel_holds_texts_as_texts_and_numbers_as_numbers(tmp_path: Path) -> None:
    zone = dt.timezone(dt.timedelta(hours=1))
    table = pd.DataFrame(
        {
            "=head": ["=1+1", "https://a.example", "12"],
            "n": [0.1, float("nan"), 3.0],
            "day": [dt.date(2020, 4, 1)] * 3,
            "at": pd.to_datetime(["2020-04-01 10:00"] * 3).tz_localize(zone),
            "long": [10**18 + 1] * 3,
        }
    )
    answered(table).to_excel(tmp_path / "a.xlsx")
    sheet = openpyxl.load_workbook(io.BytesIO((tmp_path / "a.xlsx").read_bytes())).active
    assert sheet is not None
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert rows[0] == ["=head", "n", "day", "at", "long"]
    assert rows[1][:2] == ["=1+1", 0.1]
    assert rows[1][3:] == ["2020-04-01 10:00:00+01:00", str(10**18 + 1)]
    assert [row[1] for row in rows[1:]] == [0.1, None, 3]
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "n", "d"}


def test_a_chart_is_shown_and_kept(tmp_path: Path) -> None:
    figure = answered(1, figures=[PNG]).figure
    assert figure is not None
    assert figure._repr_png_() == PNG
    assert figure.save(tmp_path / "a.png").read_bytes() == PNG
    assert PNG.decode("latin-1") not in repr(figure)
    assert answered(1).figure is None
