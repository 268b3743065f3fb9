"""Company facts as a warehouse: a DuckDB file with the facts of EDGAR, and its semantic model beside it.

    fact    AAPL  us-gaap:Assets  USD  (NULL)  2023-09-30  352583000000  FY 2023  10-K  filed 2023-11-03  0000320193-23-000106

One row a filing and figure: what was filed again, or otherwise, stands there again. The views (`views.py`) give what was known.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from finexpert.datasets.edgar.calendar import FiscalCalendar
from finexpert.datasets.edgar.facts import CompanyFacts, Concept, Filing, read_facts
from finexpert.datasets.edgar.measures import lines
from finexpert.datasets.edgar.model import semantic_model
from finexpert.datasets.edgar.symbols import facts_file
from finexpert.datasets.edgar.views import views
from finexpert.datasets.edgar.vintages import with_basis
from finexpert.errors import DataError
from finexpert.filings.edgar.symbols import Listed
from finexpert.warehouse.local.building import UNWRITABLE, Table, build_warehouse
from finexpert.warehouse.semantic_model.document import save
from finexpert.warehouse.semantic_model.finding import beside

ARCHIVE = "https://www.sec.gov/Archives/edgar/data"


@dataclass(frozen=True)
class Built:
    """A warehouse that was built: its file, its model, and by company how many facts it has, and were left out by the reason."""

    path: Path
    model: Path
    facts: dict[str, int]
    left_out: dict[str, Counter[str]]
    years: dict[str, list[int]]


@dataclass(frozen=True)
class _Rows:
    company: dict[str, Any]
    concepts: list[Concept]
    facts: pd.DataFrame
    filings: pd.DataFrame
    periods: pd.DataFrame
    left_out: Counter[str]
    years: list[int]


def build(folder: Path, companies: Sequence[Listed], path: Path, *, since: int | None = None) -> Built:
    """Writes the facts of companies, from their files in a folder, of periods that end in the year `since` or later.

    The semantic model is written beside the file. DataError names a company without a fact, and a file that cannot be read or written.
    """
    each = [_rows(read_facts(folder / facts_file(one.cik)), one, since) for one in companies]
    model = beside(path)
    if model is None or not path.suffix:
        raise DataError(f"{path} is no name of a file: give one such as edgar.duckdb with --out")
    try:
        build_warehouse(path, _tables(each), views=views())
        save(semantic_model({rows.company["ticker"]: rows.company["name"] for rows in each}), model)
    except UNWRITABLE as error:
        raise DataError(
            f"{path} cannot be written: {error}. Name another file with --out, or another home with FINEXPERT_HOME"
        ) from error
    tickers = [one.ticker for one in companies]
    return Built(
        path,
        model,
        {ticker: len(rows.facts) for ticker, rows in zip(tickers, each, strict=True)},
        {ticker: rows.left_out for ticker, rows in zip(tickers, each, strict=True)},
        {ticker: rows.years for ticker, rows in zip(tickers, each, strict=True)},
    )


def filing_page(cik: int, accession: str) -> str:
    """The address of a filing's own page.

    >>> filing_page(320193, "0000320193-23-000106")
    'https://www.sec.gov/Archives/edgar/data/320193/000032019323000106/0000320193-23-000106-index.htm'
    """
    return f"{ARCHIVE}/{cik}/{accession.replace('-', '')}/{accession}-index.htm"


def _rows(company: CompanyFacts, listed: Listed, since: int | None) -> _Rows:
    if company.cik != listed.cik:
        raise DataError(
            f"{facts_file(listed.cik)} holds the facts of CIK {company.cik}: fetch it with "
            f"`finexpert data edgar {listed.ticker} --refresh`"
        )
    calendar = FiscalCalendar.of(company.facts)
    first = dt.date(since, 1, 1) if since else dt.date.min
    order = {filing: place for place, filing in enumerate(sorted({f.filing for f in company.facts}, key=_order), 1)}
    stated = list(with_basis(company.facts))
    left_out = Counter(company.left_out)
    left_out["rounded, of a figure filed before"] += len(company.facts) - len(stated)
    facts = []
    for fact, basis, restates in stated:
        figure, filing = fact.figure, fact.filing
        if figure.end < first:
            continue
        year, period = calendar.name_of(figure) or (None, None)
        known = (filing.form, filing.filed, filing.accession, order[filing], basis, figure.is_additive)
        facts.append((listed.ticker, *figure, year, period, fact.value, restates, *known))
    if not facts:
        since_then = f" of periods that end in {since} or later" if since else ""
        raise DataError(f"EDGAR has no facts of {listed.ticker} ({company.name}){since_then}: leave it out")
    row = {"ticker": listed.ticker, "cik": company.cik, "name": company.name, "currency": company.currency}
    frame = _frame(facts, _FACT)
    used = set(frame["concept"])
    return _Rows(
        row | {"fiscal_year_end": f"{calendar.years[-2].end:%m-%d}" if len(calendar.years) > 1 else None},
        [concept for concept in company.concepts if concept.name in used],
        frame,
        _filings(company, listed, set(frame["accession"])),
        _frame([(listed.ticker, *_plain(one)) for one in calendar.periods if one.end >= first], _PERIOD),
        +left_out,
        sorted({int(year) for year in frame["fiscal_year"].dropna()}),
    )


def _order(filing: Filing) -> tuple[dt.date, bool, str]:
    return filing[:3]


def _plain(period: Any) -> tuple[Any, ...]:
    return period.year, period.period, period.start, period.end, period.filed


def _filings(company: CompanyFacts, listed: Listed, used: set[str]) -> pd.DataFrame:
    filings = sorted({fact.filing for fact in company.facts if fact.filing.accession in used}, key=_order)
    rows = [
        (one.accession, listed.ticker, one.form, one.filed, one.fiscal_year, one.fiscal_period, page)
        for one, page in ((one, filing_page(company.cik, one.accession)) for one in filings)
    ]
    return _frame(rows, _FILING)


_FACT = ("ticker", "concept", "unit", "period_start", "period_end", "fiscal_year", "fiscal_period", "value", "restates",
         "form", "filed", "accession", "sequence", "basis", "additive")  # fmt: skip
_FILING = ("accession", "ticker", "form", "filed", "filing_fiscal_year", "filing_fiscal_period", "page")
_PERIOD = ("ticker", "fiscal_year", "fiscal_period", "period_start", "period_end", "filed")


def _frame(rows: Iterable[tuple[Any, ...]], columns: Sequence[str]) -> pd.DataFrame:
    frame = pd.DataFrame(list(rows), columns=list(columns))
    for name in columns:
        if name in ("filed", "period_start", "period_end"):
            frame[name] = pd.to_datetime(frame[name])
        elif name.endswith("fiscal_year"):
            frame[name] = frame[name].astype("Int64")
        elif name not in ("value", "restates", "sequence", "basis", "additive"):
            frame[name] = frame[name].astype("string")
    return frame


def _tables(each: Sequence[_Rows]) -> list[Table]:
    concepts = {concept.name: concept for rows in each for concept in rows.concepts}
    chains = [
        (name, place, concept, line.unit)
        for name, line in lines().items()
        for place, concept in enumerate(line.concepts, 1)
    ]
    return [
        Table("company", _frame([tuple(rows.company.values()) for rows in each], tuple(each[0].company))
              .astype({"cik": "int64"}), "Companies"),
        Table("concept", _frame([(one.name, one.label, one.definition) for one in concepts.values()],
              ("concept", "label", "definition")), "What companies tag their figures with"),
        Table("line_concept", pd.DataFrame(chains, columns=["line", "place", "concept", "unit"]),
              "Which concepts stand for a line of a statement, the first that a company filed"),
        Table("filing", pd.concat([rows.filings for rows in each]), "Filings and their pages", date_column="filed"),
        Table("fiscal_calendar", pd.concat([rows.periods for rows in each]),
              "Fiscal years (FY), quarters and months so far (6M, 9M) with their days", date_column="filed"),
        Table("fact", pd.concat([rows.facts for rows in each]),
              "All facts as filed: one row a filing, the same figure again in each that repeats or restates it", date_column="filed"),
    ]  # fmt: skip
