"""What stands over the columns of a table: spans without rules, blocks, rules, lines of one label, near columns, marks of footnotes."""

from __future__ import annotations

import pytest

from finexpert.filings.readers.aligned import regions_of
from finexpert.filings.readers.cells import Span
from finexpert.filings.readers.grid import as_table
from finexpert.filings.readers.pdf.columns import apart
from finexpert.filings.readers.pdf.lines import Char, Row, Rule, lowered, rows_of, whole_labels

FOUR = [Span("Sales", 0, 20), Span("5", 112, 116), Span("4", 152, 156), Span("3", 192, 196), Span("2", 232, 236)]
YEARS = [Span("(in millions)", 0, 40), *(Span(year, at, at + 16) for year, at in zip(("2022", "2021") * 2, (100, 140, 180, 220), strict=True))]  # fmt: skip


def centred(text: str, at: float, width: float = 40.0) -> Span:
    return Span(text, at - width / 2, at + width / 2)


@pytest.mark.parametrize(
    ("above", "heads"),
    [
        ([centred("Quarter", 128), centred("Year", 208)], ["Quarter 2022", "Quarter 2021", "Year 2022", "Year 2021"]),
        # Set at the right of what it heads.
        ([Span("Pension", 132, 156), Span("Health", 212, 236)], ["Pension 2022", "Pension 2021", "Health 2022", "Health 2021"]),
        # Of one column, in the line above that of the others.
        ([centred("Restated", 228, 20)], ["2022", "2021", "2022", "Restated 2021"]),
        ([centred("Year ended December 31,", 168, 90)], ["Year ended December 31, 2022", "Year ended December 31, 2021"] * 2),
        ([Span("Domestic", 100, 196, ruled=True)], ["Domestic 2022", "Domestic 2021", "Domestic 2022", "2021"]),
        # A note of units is of no column.
        ([Span("(dollars in millions, except per share)", 100, 236)], ["2022", "2021", "2022", "2021"]),
    ],
)  # fmt: skip
def test_a_heading_reaches_over_its_own_columns(above: list[Span], heads: list[str]) -> None:
    header, row = as_table([above, YEARS, FOUR])
    assert list(header[1:]) == heads
    assert row == ("Sales", "5", "4", "3", "2")


def test_a_heading_of_several_lines_is_one_text_a_column() -> None:
    rows = [
        [centred("Net", 154, 14)],
        [centred("Mark-to-", 114, 30), centred("income", 154, 20), centred("Total", 194, 20)],
        [centred("market", 114, 24), centred("(loss)", 154, 20), centred("equity", 194, 20), centred("Rate", 234, 14)],
        FOUR,
    ]
    assert as_table(rows)[0] == ("", "Mark-to-market", "Net income (loss)", "Total equity", "Rate")


def test_a_table_of_numbers_alone_has_no_label() -> None:
    rows = [[Span("2019", 0, 16), Span("2020", 40, 56), Span("Total", 80, 96)], [Span("$", 0, 4)],
            [Span("745", 4, 16), Span("1,330", 38, 56), Span("2,075", 78, 96)]]  # fmt: skip
    assert as_table(rows) == (("", "2019", "2020", "Total"), ("", "745", "1,330", "2,075"))


def test_a_label_in_two_parts_is_one_where_few_rows_have_it() -> None:
    rows = [
        YEARS[:3],
        [Span("Sales", 0, 20), Span("5", 112, 116), Span("4", 152, 156)],
        [Span("Net income:", 0, 44), Span("Basic", 60, 76), Span("1.1", 108, 116), Span("1.0", 148, 156)],
        [Span("Diluted", 60, 80), Span("0.9", 108, 116), Span("0.8", 148, 156)],
        [Span("Costs", 0, 20), Span("3", 112, 116), Span("2", 152, 156)],
    ]
    assert [row[0] for row in as_table(rows)[1:]] == ["Sales", "Net income: Basic", "Diluted", "Costs"]


def test_numbers_of_many_widths_are_one_column() -> None:
    rows = [[Span("a", 0, 8), Span("(196)", 83, 111)], [Span("b", 0, 8), Span("-", 91, 94)],
            [Span("c", 0, 8), Span("5", 101, 107)], [Span("d", 0, 8), Span("191", 89, 107)]]  # fmt: skip
    assert as_table(rows) == (("a", "(196)"), ("b", "-"), ("c", "5"), ("d", "191"))


def test_headings_below_numbers_begin_a_table_of_their_own() -> None:
    label = Span("Scheduled vesting as follows (in millions):", 0, 90)
    years = [Span("2019", 20, 36), Span("2020", 60, 76), Span("Thereafter", 100, 130), Span("Total", 150, 170)]
    vesting = [Span("Vesting", 0, 18), *(Span("7.3", at, at + 12) for at in (24, 64, 118, 158))]
    first = [
        [Span("Units", 140, 160), Span("Price", 200, 220)],
        [Span("Granted", 0, 30), Span("9", 156, 160), Span("6", 216, 220)],
    ]
    rows = [*first, [Span("Vested", 0, 24), Span("8", 156, 160), Span("5", 216, 220)], [label], years, vesting]
    assert list(regions_of(rows)) == [(0, 3), (4, 6)]
    spanning = [Span("Year Ended December 31, 2017", 150, 230)]
    body = [[Span("Americas", 0, 30), Span("3", 216, 220)], [Span("Asia", 0, 16), Span("2", 216, 220)]]
    assert list(regions_of([*first, first[1], spanning, *body])) == [(0, 3), (3, 6)]


def test_a_title_over_the_middle_of_a_page_heads_no_column() -> None:
    title = [Span("Oakgate Water, Inc. and Subsidiaries", 78, 158)]
    rows = [title, YEARS, FOUR, FOUR]
    assert list(regions_of(rows)) == [(1, 4)]


def chars(text: str, left: float, base: float, size: float = 10.0, width: float = 5.0) -> list[Char]:
    return [
        Char(char, left + width * n, left + width * (n + 1), base, size) for n, char in enumerate(text) if char != " "
    ]


def test_a_rule_says_what_a_heading_reaches_over_and_parts_near_ones() -> None:
    line = [*chars("Transaction", 100, 700), *chars("charges", 158, 700)]
    (row,) = rows_of(line, [Rule(698, 90, 155.5), Rule(698, 157, 215)])
    assert [(cell.text, cell.start, cell.end, cell.ruled) for cell in row.cells] == [
        ("Transaction", 90, 155.5, True),
        ("charges", 157, 215, True),
    ]
    (row,) = rows_of(line, [Rule(698, 90, 215)])
    assert [(cell.text, cell.ruled) for cell in row.cells] == [("Transaction charges", True)]
    # What is underlined, and the edge of the next line's box.
    (row,) = rows_of(chars("2022", 100, 700), [Rule(698, 100, 120)])
    assert not row.cells[0].ruled
    (row,) = rows_of(chars("Twelve months", 100, 700), [Rule(698, 95, 280)])
    assert not row.cells[0].ruled


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ([*chars("5.95%", 100, 700), *chars("$", 126, 700), *chars("31", 170, 700)], ["5.95%", "$ 31"]),
        ([*chars("429", 100, 700), *chars("4,291,434", 123, 700)], ["429", "4,291,434"]),
        ([*chars("2019", 100, 700), *chars("Change", 128, 700)], ["2019", "Change"]),
        ([*chars("2022", 100, 700), *chars("$ million", 123, 700)], ["2022 $ million"]),
        ([*chars("Costs", 0, 700), *chars("$", 30, 700), *chars("5", 80, 700)], ["Costs", "$ 5"]),
    ],
)
def test_columns_that_stand_near_each_other_are_parted(line: list[Char], cells: list[str]) -> None:
    (row,) = rows_of(line, [])
    assert [cell.text for cell in row.cells] == cells


def test_the_mark_of_a_footnote_stays_on_the_line_of_its_word() -> None:
    line = lowered([*chars("Receivables", 0, 700), *chars("(a)", 56, 705, 6.0, 3.0), *chars("12", 100, 700)])
    (row,) = rows_of(line, [])
    assert [cell.text for cell in row.cells] == ["Receivables(a)", "12"]


def test_lines_of_one_label_are_one_row_where_they_stand_nearer_than_the_rows() -> None:
    def row(base: float, *cells: Span) -> Row:
        return Row(list(cells), base, 10.0)

    five = (Span("5", 100, 105), Span("4", 140, 145))
    rows = [
        row(100, Span("Flour", 0, 20), *five),
        row(86, Span("Feed", 0, 20), *five),
        row(72, Span("PepsiCo Beverages North", 0, 60)),
        row(63, Span("America", 5, 30), *five),
        row(49, Span("Assets", 0, 24)),
        row(35, Span("Cash", 5, 20), *five),
        row(21, Span("Comparable Currency", 0, 60), *five),
        row(12, Span("Growth %", 0, 30)),
    ]
    labels = [cells[0].text for cells in whole_labels(rows)]
    assert labels == [
        "Flour",
        "Feed",
        "PepsiCo Beverages North America",
        "Assets",
        "Cash",
        "Comparable Currency Growth %",
    ]


PROSE = [
    "The decrease was driven by lower",
    "net interest income on lower rates, and",
    "limited opportunities to deploy funds in",
    "response to the growth of deposits, in",
    "part offset by gains on certain legacy",
    "investments, compared with net losses in",
    "the year before, and by an expense that",
    "was up by half on higher contributions to",
    "the foundation.",
]


def two_columns(prose: list[str]) -> list[Char]:
    """A table on the left, of which the lines stand a little lower than those of the words beside it."""
    table = [("Revenue", "272", "113"), *((f"Item {n} of costs", f"{n}01", f"{n}02") for n in range(1, 9))]
    left = [each for n, (label, one, other) in enumerate(table) for each in
            [*chars(label, 40, 698 - 12 * n), *chars(one, 160, 698 - 12 * n), *chars(other, 200, 698 - 12 * n)]]  # fmt: skip
    right = [each for n, line in enumerate(prose) for each in chars(line, 300, 700 - 12 * n)]
    # A line over the whole page says how wide it is.
    return [*chars("Segment results of the quarter " * 3, 40, 760), *left, *right]


def test_a_column_of_prose_beside_a_table_is_read_apart() -> None:
    beside, column = apart(two_columns(PROSE), [])
    assert [" ".join(cell.text for cell in row.cells) for row in rows_of(column, [])] == PROSE
    assert [cell.text for cell in rows_of(beside, [])[-1].cells] == ["Item 8 of costs", "801", "802"]


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        (["Treatment of rare diseases of adults"] * 9, []),
        (PROSE, [Rule(690, 40, 520), Rule(654, 40, 520)]),
    ],
)
def test_words_of_a_table_stay_in_their_rows(words: list[str], rules: list[Rule]) -> None:
    assert len(apart(two_columns(words), rules)) == 1
