"""Which filings are meant: forms, years, amendments, and what is said of those that are not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finexpert.errors import DataError
from finexpert.filings.edgar.fetching import FilingServer
from finexpert.filings.edgar.submissions import Chosen, parse_forms, parse_years

Connect = Callable[..., FilingServer]


def ends(chosen: Chosen) -> list[tuple[str, str]]:
    return [(each.form, str(each.report_date or each.filed)) for each in chosen.filings]


def test_forms_and_years_choose_and_amendments_only_where_named(connect: Connect) -> None:
    server = connect()
    assert ends(server.find(["ALDR"], ["10-K"], [2022, 2023])) == [("10-K", "2022-09-24"), ("10-K", "2023-09-30")]
    assert ends(server.find(["ALDR"], ["10-K/A"], [2023])) == [("10-K/A", "2023-09-30")] * 2
    assert ends(server.find(["ALDR"], ["8-K"], [2023])) == [("8-K", "2023-11-02")]


def test_without_years_the_newest_of_each_form(connect: Connect) -> None:
    chosen = connect().find(["ALDR", "brc.b"], ["10-K", "10-Q"], [])
    assert ends(chosen) == [
        ("10-K", "2023-09-30"),
        ("10-Q", "2023-12-30"),
        ("10-K", "2016-01-30"),
        ("10-Q", "2016-10-29"),
    ]
    assert (chosen.missing, chosen.notes) == ((), ())


def test_a_quarter_is_found_by_its_calendar_year_and_by_its_fiscal_year(connect: Connect) -> None:
    server = connect()
    for year in (2023, 2024):
        assert ends(server.find(["ALDR"], ["10-Q"], [year])) == [("10-Q", "2023-12-30")]


def test_older_lists_are_read_where_years_ask_for_them(connect: Connect, here: Any) -> None:
    server = connect()
    server.find(["ALDR"], ["10-K"], [2022])
    assert here.requests["CIK0000001001-submissions-001.json"] == 0
    assert ends(server.find(["ALDR"], ["10-K"], [2001])) == [("10-K", "2001-09-29")]


def test_what_is_not_there_is_said_with_what_is(connect: Connect) -> None:
    chosen = connect().find(["ALDR"], ["10-K", "20-F"], [2030])
    assert chosen.missing == (
        "ALDR has no 10-K for 2030; EDGAR lists it for 2001, 2022-2023",
        "ALDR has no 20-F; EDGAR lists 10-K, 10-K/A, 10-Q, 8-K: name one with --forms",
    )
    assert connect().find(["ALDR"], ["10-K"], [2021, 2022, 2030]).notes == ("ALDR has no 10-K for 2021, 2030",)


def test_a_filing_without_period_is_asked_for_by_the_year_in_which_it_was_filed(connect: Connect) -> None:
    (filing,) = connect().find(["BRC-B"], ["10-K"], [1997]).filings
    assert filing.report_date is None
    assert filing.period == (None, None)
    assert filing.path == "2002/000000200297000001/0000002002-97-000001.txt"


@pytest.mark.parametrize(
    ("text", "said"), [("2024-2021", "no years"), ("", "no years"), ("21", "no years"), ("2021..2023", "no years")]
)
def test_years_that_are_none(text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        parse_years(text)


def test_forms_that_are_none() -> None:
    with pytest.raises(DataError, match="names no forms"):
        parse_forms(" , ")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("accessionNumber", "../0001"),
        ("filingDate", "yesterday"),
        ("form", None),
    ],
)
def test_a_list_that_is_none_is_refused(connect: Connect, here: Any, column: str, value: Any) -> None:
    path = "/submissions/CIK0000001001.json"
    listed = json.loads(here.content[path])
    listed["filings"]["recent"][column][0] = value
    here.content[path] = json.dumps(listed).encode()
    with pytest.raises(DataError, match=rf"CIK0000001001.json is no list of filings.*{column}.*--refresh"):
        connect().find(["ALDR"], ["10-K"], [])


def test_an_odd_day_among_many_is_none(connect: Connect, here: Any) -> None:
    path = "/submissions/CIK0000001001.json"
    listed = json.loads(here.content[path])
    listed["filings"]["recent"]["reportDate"][4] = "0001-01-01"
    here.content[path] = json.dumps(listed).encode()
    assert ends(connect().find(["ALDR"], ["10-K"], [])) == [("10-K", "2023-11-03")]


def test_columns_of_unlike_length_are_refused(connect: Connect, here: Any) -> None:
    path = "/submissions/CIK0000001001.json"
    listed = json.loads(here.content[path])
    listed["filings"]["recent"]["reportDate"].pop()
    here.content[path] = json.dumps(listed).encode()
    with pytest.raises(DataError, match="not of one length"):
        connect().find(["ALDR"], ["10-K"], [])


def test_an_unknown_symbol_is_told_the_nearest(connect: Connect, here: Any, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no company under 'ALDER'; near to ALDER is ALDR \(Alder Works Inc.\)"):
        connect().find(["ALDER"], ["10-K"], [])
    assert set(here.requests) == {"company_tickers.json"}
