"""What a company filed, from EDGAR's list of its filings, and which of them are meant by forms and years.

    https://data.sec.gov/submissions/CIK0000320193.json
    {"name": "Apple Inc.", "fiscalYearEnd": "0928", "filings": {
        "recent": {"form": ["10-K", ...], "reportDate": ["2023-09-30", ...], "accessionNumber": [...], ...},
        "files": [{"name": "CIK0000320193-submissions-001.json", "filingFrom": "1994-01-26", "filingTo": "2014-07-24"}]}}

The list holds columns, the newest filing first; older filings stand in further files, which hold columns alone.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from finexpert.errors import DataError
from finexpert.filings.edgar.symbols import Listed
from finexpert.storage import foreign_files, foreign_json

ARCHIVES_ENDPOINT = "https://www.sec.gov/Archives/edgar/data"
ANNUAL = ("10-K", "20-F", "40-F")
_READ, _MOST_FORMS = re.compile(r"\d+-[KQF]"), 12
# A year of 52 or 53 weeks may end some days into the next month.
_DAYS_LATE = 7
_ISO = r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_Model = TypeVar("_Model", bound=BaseModel)
# One odd day among thousands of filings makes no list unusable.
_Day = Annotated[dt.date | None, BeforeValidator(lambda text: text if re.fullmatch(_ISO, str(text)) else None)]
_Accession = Annotated[str, Field(pattern=r"^\d{10}-\d{2}-\d{6}$")]


@dataclass(frozen=True)
class Filed:
    """A filing as EDGAR lists it; `report_date` is the end of its period, None where the list has none."""

    company: Listed
    name: str
    form: str
    filed: dt.date
    report_date: dt.date | None
    accession: str
    document: str
    year_end: int | None = None

    @property
    def years(self) -> frozenset[int]:
        """The years by which it is asked for: that in which its period ends, or its filing's where the list has none, and the fiscal one."""
        fiscal, _ = self.period
        return frozenset({(self.report_date or self.filed).year, fiscal} - {None})  # type: ignore[arg-type]

    @property
    def path(self) -> str:
        """Where the document stands below the archive; filings without one have a text of all their parts."""
        return f"{self.company.cik}/{self.accession.replace('-', '')}/{quote(self.document) or f'{self.accession}.txt'}"

    @property
    def leads_away(self) -> bool:
        """Whether the name of its document, which is the server's, is one of another folder."""
        return any(part.strip(". ") == "" for part in self.document.split("/")) and self.document != ""

    @property
    def period(self) -> tuple[int | None, int | None]:
        """Fiscal year and quarter as the list tells them; None where it does not."""
        return fiscal_period(self.form, self.report_date, self.year_end)


class _Columns(BaseModel):
    form: list[str]
    filingDate: list[dt.date]
    reportDate: list[_Day]
    accessionNumber: list[_Accession]
    primaryDocument: list[str]


class _Older(BaseModel):
    name: Annotated[str, Field(pattern=r"^CIK\d{10}-submissions-\d+\.json$")]
    filingTo: dt.date


class _Filings(BaseModel):
    recent: _Columns
    files: list[_Older] = []


class _Submissions(BaseModel):
    name: str
    fiscalYearEnd: str | None = None
    filings: _Filings


def read_submissions(path: Path, company: Listed, older: Callable[[str], Path], since: int = 0) -> list[Filed]:
    """All filings of a company, the newest first; DataError where a file is no such list.

    `older` gives the further file of a name; those that hold nothing filed since the beginning of a year are left out.
    """
    listed = _validated(path, _Submissions)
    columns = [listed.filings.recent]
    columns += [_validated(older(each.name), _Columns) for each in listed.filings.files if each.filingTo.year >= since]
    month = _month_of(listed.fiscalYearEnd)
    found = [filed for each in columns for filed in _rows(each, company, listed.name, month, path)]
    return list({filed.accession: filed for filed in found}.values())


def _validated(path: Path, model: type[_Model]) -> _Model:
    try:
        return model.model_validate(foreign_json.parse(foreign_files.read_bytes(path)))
    except (OSError, json.JSONDecodeError, ValidationError) as error:
        raise _no_list(path, " ".join(str(error).splitlines()[:3])) from None


def _rows(columns: _Columns, company: Listed, name: str, month: int | None, path: Path) -> list[Filed]:
    each = (columns.form, columns.filingDate, columns.reportDate, columns.accessionNumber, columns.primaryDocument)
    if len({len(column) for column in each}) != 1:
        raise _no_list(path, "its columns are not of one length")
    return [Filed(company, name, *row, month) for row in zip(*each, strict=True)]


def _month_of(day: str | None) -> int | None:
    """The month at whose end a fiscal year ends, of a day such as 0930.

    >>> _month_of("0930"), _month_of("0103"), _month_of("9999"), _month_of(None)
    (9, 12, None, None)
    """
    if day is None or not re.fullmatch(r"(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])", day):
        return None
    return _month(int(day[:2]), int(day[2:]))


def _month(month: int, day: int) -> int:
    return (month - 2) % 12 + 1 if day <= _DAYS_LATE else month


def fiscal_period(form: str, end: dt.date | None, year_end: int | None) -> tuple[int | None, int | None]:
    """Fiscal year and quarter of a form, by the end of its period and the month in which the company's year ends.

    A fiscal year has the number of the calendar year in which it ends; some companies count otherwise, and say so in the filing.

    >>> fiscal_period("10-K", dt.date(2023, 9, 30), 9), fiscal_period("10-K/A", dt.date(2022, 1, 1), 12)
    ((2023, None), (2021, None))
    >>> fiscal_period("10-Q", dt.date(2023, 12, 30), 9), fiscal_period("10-Q", dt.date(2023, 7, 2), 12)
    ((2024, 1), (2023, 2))
    >>> fiscal_period("10-Q", dt.date(2023, 8, 31), 9), fiscal_period("8-K", dt.date(2023, 5, 4), 9)
    ((None, None), (2023, None))
    """
    if end is None:
        return None, None
    month = _month(end.month, end.day)
    year = end.year - (month > end.month)
    if not form.startswith("10-Q"):
        return (year if form.startswith(ANNUAL) else end.year), None
    months = (month - year_end) % 12 if year_end else 0
    return (year + (month > (year_end or 0)), months // 3) if months in (3, 6, 9) else (None, None)


@dataclass(frozen=True)
class Chosen:
    """The filings that are meant, the oldest first, and what is said of those that are not there."""

    filings: tuple[Filed, ...]
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def parse_forms(text: str) -> list[str]:
    """Forms in the way in which EDGAR writes them; DataError where there is none.

    >>> parse_forms("10k, 10-Q/a,10-k")
    ['10-K', '10-Q/A']
    """
    forms = [re.sub(r"^(\d+)([KQF])", r"\1-\2", each.strip().upper()) for each in text.split(",") if each.strip()]
    if not forms or not all(re.fullmatch(r"[A-Z0-9][A-Z0-9 /-]*", each) for each in forms):
        raise DataError(f"{text!r} names no forms: give some such as 10-K,10-Q")
    return list(dict.fromkeys(forms))


def parse_years(text: str) -> list[int]:
    """Years and spans of years; DataError where it is neither.

    >>> parse_years("2021-2023, 2019")
    [2019, 2021, 2022, 2023]
    """
    years: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*((?:19|20)\d\d)(?:\s*-\s*((?:19|20)\d\d))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise DataError(f"{text!r} names no years: give some such as 2023, 2021-2024 or 2019,2023")
        years.update(range(first, last + 1))
    return sorted(years)


def choose(filed: Sequence[Filed], company: Listed, forms: Sequence[str], years: Sequence[int]) -> Chosen:
    """The filings of these forms whose period ends in these years; without years the newest of each form."""
    chosen: list[Filed] = []
    missing, notes = [], []
    for form in forms:
        of_form = [each for each in filed if each.form == form]
        found = [each for each in of_form if each.years & set(years)] if years else of_form[:1]
        chosen += found
        if not found:
            missing.append(_missing(company, form, of_form, filed, years))
        elif lacking := sorted(set(years).difference(*(each.years for each in found))):
            notes.append(f"{company.ticker} has no {form} for {spans(lacking)}")
    chosen.sort(key=lambda each: (each.report_date or each.filed, each.filed, each.accession))
    return Chosen(tuple(chosen), tuple(missing), tuple(notes))


def _missing(company: Listed, form: str, of_form: Sequence[Filed], filed: Sequence[Filed], years: Sequence[int]) -> str:
    if of_form:
        there = spans((each.report_date or each.filed).year for each in of_form)
        return f"{company.ticker} has no {form} for {spans(years)}; EDGAR lists it for {there}"
    forms = sorted({each.form for each in filed})
    # Some companies have some sixty forms; those that people read come first.
    forms = ([each for each in forms if _READ.match(each)] or forms)[:_MOST_FORMS]
    if not forms:
        return f"{company.ticker} has no {form}, and EDGAR lists no filing of it"
    return f"{company.ticker} has no {form}; EDGAR lists {', '.join(forms)}: name one with --forms"


def spans(years: Iterable[int]) -> str:
    """
    >>> spans([2011, 2009, 2010, 2014])
    '2009-2011, 2014'
    """
    runs: list[list[int]] = []
    for year in sorted(set(years)):
        if runs and runs[-1][-1] == year - 1:
            runs[-1][1:] = [year]
        else:
            runs.append([year])
    return ", ".join("-".join(map(str, run)) for run in runs)


def _no_list(path: Path, why: str) -> DataError:
    return DataError(f"{path} is no list of filings in EDGAR's form: {why}. Fetch it anew with --refresh")
