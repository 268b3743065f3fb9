"""Which label a name means."""

from __future__ import annotations

import pytest

from finexpert.filings.page.labels import Label, find

YEARS = ["december 31 2017", "december 31 , 2016", "december 31 2015"]


@pytest.mark.parametrize(
    "name", ["2016", "12/31/16", "12/31/2016", "december 31 2016", "Dec. 31, 2016", "FY2016", "fy16", "fiscal 2016",
             "fiscal year 2016", "year ended december 31 , 2016", "31 december 2016", "2016-12-31", "as of 2016"]
)  # fmt: skip
def test_a_year_in_every_usual_form(name: str) -> None:
    assert [match.place for match in find([Label(text) for text in YEARS], name)] == [1]


@pytest.mark.parametrize(
    "header", ["2016 ( 1 )", "fiscal 2016", "12/31/16", "year ended dec . 312016", "2016*", "fy 2016 ( a )"]
)
def test_a_header_in_every_usual_form(header: str) -> None:
    labels = [Label("2015"), Label(header), Label("2017")]
    assert [match.place for match in find(labels, "2016")] == [1]


def test_quarters_of_one_year_tie_under_the_year_and_part_under_the_day() -> None:
    labels = [Label(text) for text in ("march 31 2016", "june 30 2016", "march 31 2015")]
    assert [match.place for match in find(labels, "2016")] == [0, 1]
    assert [match.place for match in find(labels, "6/30/16")] == [1]


@pytest.mark.parametrize(
    ("name", "kind", "place"),
    [
        ("net sales", "exact", 0),
        ("Net Sales", "exact", 0),
        ("cost-of-sales", "normalised", 1),
        ("weighted average grant date fair value", "normalised", 2),
        ("operating profit margins", "fuzzy", 3),
        ("revenues from contracts with customers ( a )", "normalised", 4),
    ],
)
def test_a_row_by_its_label(name: str, kind: str, place: int) -> None:
    labels = ["net sales", "cost of sales", "weighted-averagegrant datefair value", "operating profit margin",
              "revenues from contracts with customers"]  # fmt: skip
    found = find([Label(text) for text in labels], name)
    assert [(match.place, match.kind) for match in found] == [(place, kind)]


def test_a_fuzzy_match_keeps_its_score_and_never_crosses_years() -> None:
    labels = [Label("granted during 2015"), Label("granted during 2016")]
    (match,) = find(labels, "grants during 2016")
    assert match.place == 1
    assert 85 <= match.score < 100
    assert find(labels, "grants during 2017") == []


def test_equally_good_fuzzy_matches_all_come_back() -> None:
    labels = [Label("net sales - north"), Label("net sales - south"), Label("other")]
    assert [match.place for match in find(labels, "net sales", threshold=70)] == [0, 1]


def test_a_name_without_letters_finds_nothing() -> None:
    assert find([Label(""), Label("( 1 )")], "") == []
    assert find([Label("")], "---") == []
