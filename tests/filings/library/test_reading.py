"""Files as pages: what stands in `data/` and in PDFs that are written here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import finexpert.filings.readers
from finexpert.core.plans import Cell
from finexpert.errors import LibraryError
from finexpert.filings.readers.cells import Span, joined
from finexpert.filings.readers.cover import Given, from_folders, from_name, from_words
from finexpert.filings.readers.files import ReadFiling, checksum, found_files, read_file
from finexpert.filings.readers.grid import as_table
from finexpert.filings.readers.transcript import is_transcript

WritePdf = Callable[..., Path]


def read(path: Path, given: Given | None = None) -> ReadFiling:
    (outcome,) = read_file(path, checksum(path), given or Given())
    if isinstance(outcome, LibraryError):
        raise outcome
    return outcome


def right(edge: float, base: float, text: str) -> tuple[float, float, str]:
    """Words whose right edge is there: a digit of Helvetica is 5.56 points wide at 10."""
    return edge - sum(2.78 if char in ",.() " else 5.56 for char in text), base, text


REPORT = [
    (72, 720, "Harbour Mills, Inc. annual report for the fiscal year ended June 30, 2018"),
    (72, 690, "Flour sales grew in every region, and the board expects that to go on for"),
    (72, 678, "some years. We mill grain at three sites."),
    (72, 650, "The following table shows our results in each year:"),
    *(right(400, 630, "2018"), right(500, 630, "2017"), (72, 615, "Net sales")),
    *((350, 615, "$"), right(400, 615, "1,234.5"), (450, 615, "$"), right(500, 615, "1,181.0")),
    *((72, 600, "Other income:"), (72, 585, "Interest"), right(400, 585, "-"), right(500, 585, "2.5")),
    *((72, 570, "Cost of sales"), right(400, 570, "(803.2)"), right(500, 570, "(790.0)")),
    (72, 540, "Demand for feed stayed firm."),
    *((72, 500 - 12 * line, f"Words of the left column, line {line}") for line in range(3)),
    *((330, 500 - 12 * line, f"words of the right column, line {line}") for line in range(3)),
]


def test_an_html_filing_has_its_pages_parts_and_sections(data: Path) -> None:
    filing = read(data / "harbour-10k.html")
    info = filing.info
    assert (info.id, info.company, info.ticker) == ("HRBM/2018/10-K", "Harbour Mills, Inc.", "HRBM")
    assert (info.fiscal_year, info.quarter, info.kind) == (2018, None, "10-K")
    assert [(page.id.rpartition("/")[2], page.section) for page in filing.pages] == [
        ("page_1", ""),
        ("page_2", ""),  # the table of contents names items, and is in none
        ("page_3", "Item 7 Management\u2019s Discussion and Analysis"),
        ("page_3.2", "Item 7 Management\u2019s Discussion and Analysis"),
        ("page_4", "Item 8 Financial Statements, Note 5 INCOME TAXES"),
    ]


def test_an_html_table_is_read_as_it_is_printed(data: Path) -> None:
    first, second = read(data / "harbour-10k.html").pages[2:4]
    assert first.table == (
        ("", "Year ended June 30, 2018", "Year ended June 30, 2017"),
        ("Net sales", "$ 1,234.5", "$ 1,181.0"),
        ("Cost of sales", "(803.2)", "(790.0)"),
        ("Other income:", "", ""),
        ("Interest", "—", "2.5"),
        ("Gross margin", "34.9 %", "33.1 %"),
    )
    assert second.table[:2] == (
        ("Region", "2018 Flour", "2018 Feed", "2017 Flour", "2017 Feed"),
        ("North", "500", "200", "480", "190"),
    )
    assert first.as_filing().cell(Cell(id=1, row="cost of sales", column="2017")).value == -790.0
    assert second.as_filing().cell(Cell(id=1, row="south", column="2017 feed")).value == 121.0


def test_text_goes_with_the_table_that_it_introduces_and_footnotes_with_theirs(data: Path) -> None:
    first, second = read(data / "harbour-10k.html").pages[2:4]
    assert first.pre_text[1:3] == ("Flour sales grew in every region.", "We mill grain at three sites:")
    assert "• Saltmarsh" in first.pre_text
    assert first.post_text == ("(1) Cost of sales includes freight.",)
    assert second.pre_text == ("Sales by region were as follows (in millions):",)
    assert second.post_text == ("Demand for feed stayed firm.",)  # and no page number


def test_words_that_nobody_sees_are_not_read(data: Path) -> None:
    words = "".join(page.as_filing().page_text() for page in read(data / "harbour-10k.html").pages)
    assert "answer 42" not in words
    assert "0000000001" not in words


@pytest.mark.parametrize(
    ("html", "pages"),
    [
        ("<p>a b c</p><p style='page-break-before: always'>d</p>", [["a b c"], ["d"]]),
        ("<p>a</p><hr><p>b</p><hr><p>c</p><hr>", [["a"], ["b"], ["c"]]),
        ("<p>a</p><hr><p>b</p>", [["a", "b"]]),
        ("<p>caf\u00e9&nbsp;au<b>lait</b></p>", [["caf\u00e9 aulait"]]),
        ("<div>" * 400 + "deep" + "</div>" * 400, [["deep"]]),
        (f"<p>{'word ' * 700}</p>" * 2, [[("word " * 700).strip()]] * 2),
        ("<table><tr><td><table><tr><td>inner</td></tr></table></td></tr></table>", [["inner"]]),
        ("<p>one<br>line<br><br>two</p>", [["one line", "two"]]),
        ("<table><tr><td>alone</td></tr></table>", [["alone"]]),
    ],
)
def test_html_text(html: str, pages: list[list[str]], tmp_path: Path) -> None:
    path = tmp_path / "page.htm"
    path.write_text(f"<html><body>{html}</body></html>", encoding="utf-8")
    assert [list(page.pre_text) for page in read(path).pages] == pages


def test_a_text_filing_has_the_tables_that_line_up(data: Path) -> None:
    filing = read(data / "harbour-10q.txt")
    assert (filing.info.id, filing.info.quarter) == ("harbour-mills-inc/1998Q1/10-Q", 1)
    assert filing.notes == (
        "quarter 1 of 1998 was told by the end of its period; give --year and --quarter if it is another",
    )
    page = filing.pages[1]
    assert page.table == (
        ("", "Three months ended March 31, 1998", "Three months ended March 31, 1997"),
        ("Net sales", "$ 312,400", "$ 298,100"),
        ("Cost of sales", "(201,300)", "(195,000)"),
        ("Other income:", "", ""),
        ("Interest", "120", "-"),
        ("Net income", "$ 41,200", "$ 39,870"),
    )
    assert page.post_text[0].startswith(
        "The accompanying notes are part of these statements. Sales rose because the mill"
    )
    assert "exhibit" not in str(filing.pages)


def test_a_transcript_keeps_who_speaks(data: Path) -> None:
    filing = read(data / "HRBM_Q1_2025_call.txt")
    assert filing.info.id == "HRBM/2025Q1/transcript"
    remarks, questions = filing.pages
    assert (remarks.section, questions.section) == ("Prepared remarks", "Questions and answers")
    assert "Ann Lee: Feed was flat." in remarks.pre_text
    assert questions.pre_text[-1] == "Ann Lee: About 90 days of it."
    assert not is_transcript((data / "harbour-10q.txt").read_text())


def test_a_pdf_has_its_table_and_its_columns_of_text(write_pdf: WritePdf) -> None:
    filing = read(write_pdf([REPORT], "HRBM_annual_report.pdf"))
    assert filing.info.id == "HRBM/2018/annual-report"
    (page,) = filing.pages
    assert page.table == (
        ("", "2018", "2017"),
        ("Net sales", "$ 1,234.5", "$ 1,181.0"),
        ("Other income:", "", ""),
        ("Interest", "-", "2.5"),
        ("Cost of sales", "(803.2)", "(790.0)"),
    )
    assert page.pre_text[1].endswith("to go on for some years. We mill grain at three sites.")
    left, right_ = page.post_text[1:]
    assert left.count("left") == 3
    assert right_.count("right") == 3


def test_a_scanned_page_is_reported_and_a_scanned_file_refused(write_pdf: WritePdf) -> None:
    filing = read(write_pdf([REPORT, None, None, REPORT, None]))
    assert [page.number for page in filing.pages] == [1, 4]
    assert filing.notes[0] == "no text on page 2-3, 5: scanned? `ocrmypdf IN.pdf OUT.pdf` adds it"
    with pytest.raises(LibraryError, match=r"there is no text in .*scan\.pdf; no text on page 1-2: scanned\?"):
        read(write_pdf([None, None], "scan.pdf"))


@pytest.mark.parametrize(("package", "name"), [("lxml", "a.html"), ("pypdfium2", "a.pdf"), ("lxml", "a.txt")])
def test_a_package_that_is_not_installed_is_named(
    package: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # None in sys.modules is how Python itself remembers that there is no such module.
    for loaded in [*sys.modules, package]:
        if loaded.split(".")[0] == package:
            monkeypatch.setitem(sys.modules, loaded, None)
        elif loaded.startswith("finexpert.filings.readers."):
            monkeypatch.delitem(sys.modules, loaded)
            monkeypatch.delattr(finexpert.filings.readers, loaded.rpartition(".")[2], raising=False)
    (tmp_path / name).write_text("<html><body>Net sales</body></html>")
    with pytest.raises(
        LibraryError, match=rf"{name} needs the package {package}: `pip install 'finexpert\[library\]'`"
    ):
        read(tmp_path / name)


@pytest.mark.parametrize("content", [b"", b"%PDF-1.4\nbroken", b"<html>"])
def test_a_broken_pdf_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(content)
    with pytest.raises(
        LibraryError, match=r"cannot read .*broken\.pdf: it is broken or no PDF .*; fetch it again"
    ) as told:
        read(tmp_path / "broken.pdf")
    assert "`finexpert library add PATH`" in str(told.value)


def test_a_file_that_is_not_there_is_told_without_a_number(tmp_path: Path) -> None:
    with pytest.raises(
        LibraryError, match=r"none\.htm: No such file or directory; .*`finexpert library add PATH`"
    ) as told:
        checksum(tmp_path / "none.htm")
    assert "Errno" not in str(told.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.html", "<html><body><script>fill()</script></body></html>", r"there is no text in .*a\.html"),
        ("a.html", "", r"cannot read .*a\.html as HTML .*`finexpert library add PATH`"),
        ("a.txt", " \n\f\n", r"there is no text in .*a\.txt"),
        ("a.docx", "PK", r"a\.docx is of no kind that is read here: \.htm, "),
        ("a.jsonl", '{"table": []}\n{"table": []}', r'a\.jsonl: record 1 has no "filename"'),
        ("a.json", "{", r"a\.json is not JSON"),
        ("a.json", '{"filename": "A/2010/page_1.pdf", "table": 5}', "the table must be a list of rows, not int"),
        ("a.json", '{"filename": "A/x", "fiscal_year": "old"}', "fiscal_year of A/x is 'old', not a number"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(name: str, content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    outcomes = list(read_file(tmp_path / name, "1", Given()))
    with pytest.raises(LibraryError, match=message):
        raise next(outcome for outcome in outcomes if isinstance(outcome, LibraryError))


def test_folders_give_their_readable_files_once(tmp_path: Path) -> None:
    for name in ("b.pdf", "a/c.HTM", "a/notes.docx", ".hidden/d.txt", "e.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    found = found_files([tmp_path / "b.pdf", tmp_path, tmp_path / "missing.txt"])
    assert [str(path.relative_to(tmp_path)) for path in found] == ["b.pdf", "a/c.HTM", "e.jsonl", "missing.txt"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("AAL/2010/annual_report.pdf", ("AAL", 2010, None, "annual report")),
        ("filings/MSFT_10-Q_Q3_2024.html", ("MSFT", 2024, 3, "10-Q")),
        ("aapl-20241228.htm", ("AAPL", None, None, "")),
        ("aapl-20240928-10k.htm", ("AAPL", 2024, None, "10-K")),
        ("GS 10K FY19.pdf", ("GS", 2019, None, "10-K")),
        ("4Q2019 earnings call.txt", ("", 2019, 4, "transcript")),
        ("report.pdf", ("", None, None, "")),
    ],
)
def test_what_a_path_says(path: str, expected: tuple[str, int | None, int | None, str]) -> None:
    known = from_name(Path(path)).filled(from_folders(Path(path)))
    assert (known.ticker, known.fiscal_year, known.quarter, known.kind) == expected


@pytest.mark.parametrize(
    ("cover", "year", "ticker"),
    [
        ("FORM 10-K\nFor the fiscal year ended February 1, 1997\nALPHA CORP\n(Exact name of registrant)", 1997, ""),
        ("FORM 10-K\nALPHA CORP\n(Exact name of registrant)", 2005, ""),
        ("FORM 10-K\nFor the year ended June 30, 2004\nAlpha (NYSE: ALF)", 2004, "ALF"),
        ("Sales rose.", 2005, "DESK"),
    ],
)
def test_a_folder_called_like_a_year_or_a_symbol_says_less_than_the_cover(
    tmp_path: Path, cover: str, year: int, ticker: str
) -> None:
    path = tmp_path / "2005" / ("DESK" if ticker == "DESK" else "filings") / "full-submission.txt"
    path.parent.mkdir(parents=True)
    path.write_text(cover)
    (read,) = read_file(path, "1", Given())
    assert isinstance(read, ReadFiling)
    assert (read.info.fiscal_year, read.info.ticker) == (year, ticker)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FORM 10-K\nFor the fiscal year ended December 31, 2017", ("", 2017, None, "10-K")),
        ("FORM 10-K405 For the year ended June 30 , 1999", ("", 1999, None, "10-K405")),
        ("FORM 10-Q/A\nfor the quarterly period ended September 30, 2020", ("", 2020, 3, "10-Q/A")),
        ("Apple Inc. (NASDAQ: AAPL) Q1 2025 Earnings Call Transcript", ("AAPL", 2025, 1, "transcript")),
        ("Third-Quarter Fiscal 2024 earnings conference call", ("", 2024, 3, "transcript")),
        ("Nothing of that kind.", ("", None, None, "")),
    ],
)
def test_what_a_cover_says(text: str, expected: tuple[str, int | None, int | None, str]) -> None:
    known = from_words(text)
    assert (known.ticker, known.fiscal_year, known.quarter, known.kind) == expected


def test_what_is_given_goes_first_and_keeps_year_and_quarter_together() -> None:
    known = Given(fiscal_year=2025).filled(Given(company="X", fiscal_year=2024, quarter=4, notes=("guessed",)))
    assert (known.company, known.fiscal_year, known.quarter) == ("X", 2025, None)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["Sales", "$", "(1", ")", ""], ["Sales", "$ (1)"]),
        (["Rate", "5.5", "%", "(", "3.1", ")%"], ["Rate", "5.5 %", "(3.1)%"]),
        (["Loss", "-", "$", "7"], ["Loss", "-", "$ 7"]),
        (["US$", "12", "(a)"], ["US$ 12 (a)"]),
        (["Net sales", "(a)", "(1)"], ["Net sales (a)", "(1)"]),
    ],
)
def test_signs_join_their_number(cells: list[str], expected: list[str]) -> None:
    row = [Span(text, number, number + 1) for number, text in enumerate(cells)]
    assert [cell.text for cell in joined(row)] == expected


def test_a_table_of_words_alone_keeps_its_columns() -> None:
    rows = [[Span("Name", 0, 1), Span("Post", 1, 2)], [Span("Ann Lee", 0, 1), Span("Chief Executive", 1, 2)]]
    assert as_table(rows) == (("Name", "Post"), ("Ann Lee", "Chief Executive"))
