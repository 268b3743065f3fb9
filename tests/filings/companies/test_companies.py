"""Companies: whom a text names (companies.jsonl), what their table must look like, and its attributes in SQL."""

from __future__ import annotations

import datetime as dt
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finexpert.errors import DataError, LibraryError
from finexpert.filings.companies.companies import Companies, Company
from finexpert.filings.companies.known import KNOWN
from finexpert.filings.companies.words import LOOK_ALIKES, ORDINARY
from finexpert.filings.library.index.question import request_for
from finexpert.filings.records import FilingInfo

CASES = [json.loads(s) for s in Path(__file__).with_name("companies.jsonl").read_text(encoding="utf-8").splitlines()]
NAMES = {
    "AAPL": "Apple Inc.", "ALL": "Allstate", "BALL": "Ball Corporation", "BLK": "BlackRock", "ETR": "Entergy", "F": "Ford Motor Company",
    "EL": "Est\u00e9e Lauder Companies (The)", "GAP": "Gap", "GOOG": "Alphabet Inc. (Class C)", "GOOGL": "Alphabet Inc. (Class A)",
    "GS": "Goldman Sachs", "HBAN": "Huntington Bancshares", "HII": "Huntington Ingalls Industries", "IT": "Gartner",
    "JKHY": "Jack Henry & Associates", "JPM": "JPMorgan Chase", "KEY": "KeyCorp", "LLY": "Lilly (Eli)", "LMT": "Lockheed Martin",
    "MCD": "McDonald's", "MPC": "Marathon Petroleum", "MRO": "MRO", "NDAQ": "Nasdaq, Inc.", "NOW": "ServiceNow", "NWS": "News Corp (Class B)",
    "NWSA": "News Corp (Class A)", "ORLY": "O\u2019Reilly Automotive", "PG": "Procter & Gamble", "PFG": "Principal Financial Group",
    "MRNA": "Moderna", "ALLE": "Allegion", "PODD": "Insulet Corporation", "T": "AT&T", "TGT": "Target Corporation", "C": "Citigroup",
    "V": "Visa Inc.", "POOL": "Pool Corporation", "A": "Agilent Technologies", "AAL": "AAL", "BLL": "BLL",
}  # fmt: skip
HEADER = "Symbol,Security,Market cap,Price,Volume,Rel Volume,P/E,Sector,Headquarters Location,Founded,Aliases\n"
ROWS = (
    'OLDR,Older Lines Inc.,1.5 B USD,"1,908.69 USD",1.77 M,0.55,23.55,Transportation,"Ham, Ohio",1862,Old One|Elder Co\n'
    'NEWR,Newer Lines,900 M USD,8 USD,651.94 K,1,\u2014,Transportation,"Ham, Ohio",2013 (1888),\n'
)


@pytest.fixture(scope="module")
def companies() -> Companies:
    return Companies(Company(ticker, name) for ticker, name in NAMES.items())


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "companies.csv"
    path.write_text(HEADER + ROWS, encoding="utf-8")
    return path


def filing(ticker: str, company: str) -> FilingInfo:
    return FilingInfo("id", company, ticker, 2020, None, "10-K", "", "", "", 1, dt.datetime(2024, 1, 1, tzinfo=dt.UTC))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["text"])[:40])
def test_a_text_names(companies: Companies, case: dict[str, Any]) -> None:
    found: dict[str, set[str]] = {}
    for mention in companies.resolve(case["text"]):
        found.setdefault(case["text"][mention.start : mention.end], set()).add(mention.ticker)
    assert {place: sorted(tickers) for place, tickers in found.items()} == case["found"]


def test_a_slip_scores_less_than_the_name(companies: Companies) -> None:
    assert companies.resolve("Entergy")[0].score == 1 > companies.resolve("Entegy corp")[0].score


def test_the_table_is_read(table: Path) -> None:
    older, newer = Companies.read(table)
    assert older == Company(
        "OLDR", "Older Lines Inc.", ("Old One", "Elder Co"), 1.5e9, 1908.69, 1.77e6, 0.55, 23.55, "Transportation",
        "Ham, Ohio", 1862, 1862,
    )  # fmt: skip
    assert (newer.pe, newer.founded, newer.roots, newer.volume) == (None, 2013, 1888, 651940)


def test_aliases_name_their_company(table: Path) -> None:
    assert [m.ticker for m in Companies.read(table).resolve("did Elder earn more than Old One, or Newer Lines?")] == [
        "OLDR",
        "OLDR",
        "NEWR",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Name,City\nA,B\n", "line 1: there is no column Symbol"),
        (HEADER, "holds no company"),
        (HEADER + "X,,1,1,1,1,1,S,H,1900,\n", "line 2: a company needs a symbol and a name"),
        (HEADER + "X,Ex,much,1,1,1,1,S,H,1900,\n", "line 2: Market cap: 'much' is no amount"),
        (
            "Symbol,Security,Fiscal year end\nX,Ex,13\n",
            "line 2: Fiscal year end: '13' is no month such as September or 9",
        ),
        (HEADER + "X,Ex,1,1,1,1,1,S,H,1900,\nX,Ex,1,1,1,1,1,S,H,1900,\n", "company 2: the symbol 'X'"),
    ],
)
def test_a_bad_table_is_refused_by_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LibraryError, match=message):
        Companies.read(path)


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        LibraryError, match=r"none\.csv cannot be read .*\(No such file or directory\): .*library companies"
    ):
        Companies.read(tmp_path / "none.csv")


def test_attributes_are_sql(table: Path) -> None:
    with Companies.read(table).warehouse() as warehouse:
        oldest = "SELECT company FROM companies WHERE sector = 'Transportation' ORDER BY founded LIMIT 1"
        assert warehouse.query(oldest).data["company"].item() == "Older Lines Inc."
        assert warehouse.query("SELECT count(*) AS n FROM companies WHERE pe IS NULL").data["n"].item() == 1
        card = warehouse.schema_card()
    assert "founded BIGINT" in card
    assert "market capitalisation, USD" in card
    assert "Transportation" in card


def test_the_warehouse_is_made_once_and_follows_the_table(table: Path, own_home: Path) -> None:
    Companies.read(table).warehouse().close()
    Companies.read(table).warehouse().close()
    table.write_text(HEADER + ROWS.replace("1862", "1863"), encoding="utf-8")
    with Companies.read(table).warehouse() as warehouse:
        assert warehouse.query("SELECT min(founded) AS f FROM companies").data["f"].item() == 1863
    assert len(list(own_home.rglob("companies-*.duckdb"))) == 2


def test_the_end_of_the_fiscal_year_is_a_column_where_the_table_has_it(table: Path, tmp_path: Path) -> None:
    with Companies.read(table).warehouse(tmp_path / "without.duckdb") as warehouse:
        assert "fiscal_year_end" not in warehouse.schema_card()
    header, *rows = table.read_text(encoding="utf-8").splitlines()
    months = tmp_path / "months.csv"
    months.write_text(f"{header},Fiscal year end\n{rows[0]},September\n{rows[1]},\n", encoding="utf-8")
    companies = Companies.read(months)
    assert [company.fiscal_year_end for company in companies] == [9, None]
    with companies.warehouse(tmp_path / "with.duckdb") as warehouse:
        found = warehouse.query("SELECT ticker, fiscal_year_end FROM companies WHERE fiscal_year_end IS NOT NULL").data
    assert found.to_numpy().tolist() == [["OLDR", 9]]
    request = request_for("What were Older Lines' sales in the last fiscal year?", companies, dt.date(2024, 11, 1))
    assert request.years == {2024}
    assert request_for("Sales in the last fiscal year?", companies, dt.date(2024, 11, 1)).years == {2023}
    assert request_for("Sales last fiscal year?", companies, dt.date(2024, 11, 1), about={"OLDR"}).years == {2024}


def test_nothing_to_ask_about() -> None:
    with pytest.raises(LibraryError, match="library companies FILE"):
        Companies([]).warehouse()


def test_the_companies_of_filings(table: Path) -> None:
    known = Companies.of_filings(
        [filing("UNP", ""), filing("ZZZZ", "Zed Works"), filing("OLDR", "Old Ferry"), filing("", "")], table
    )
    assert [(m.ticker, m.company) for m in known.resolve("Union Pacific, Zed Works and Old Ferry")] == [
        ("UNP", "Union Pacific"),
        ("ZZZZ", "Zed Works"),
        ("OLDR", "Older Lines Inc."),
    ]
    assert known.find("OLDR") == next(company for company in known if company.ticker == "OLDR")
    with known.warehouse() as warehouse:
        assert warehouse.query("SELECT founded FROM companies WHERE ticker = 'OLDR'").data["founded"].item() == 1862


def test_known_names_are_in_order() -> None:
    assert all(ticker in known.tickers for ticker, known in KNOWN.items())
    assert {word.lower() for word in ORDINARY} == ORDINARY
    assert {word.upper() for word in LOOK_ALIKES} == LOOK_ALIKES


@given(st.text(max_size=120))
def test_mentions_stand_where_they_say(text: str) -> None:
    found = _SOME.resolve(text)
    assert found == _SOME.resolve(text)
    places = sorted({(mention.start, mention.end) for mention in found})
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(one[1] <= other[0] for one, other in pairwise(places))


_SOME = Companies(Company(ticker, name) for ticker, name in NAMES.items())


def test_errors_of_amounts_are_data_errors() -> None:
    from finexpert.filings.companies.table import amount

    with pytest.raises(DataError, match="is no amount"):
        amount("29 quadrillion")
