"""What a file says of itself: company, ticker, form, fiscal year and quarter.

    what is given (options)  >  facts of inline XBRL  >  what EDGAR's list says  >  the name of the file  >  the words of the cover  >  its folders

A folder says least: one called 2005 may be the year of filing, or no year at all.

A quarter that only the end of the period tells is the calendar's, which is another one where the fiscal year does not
end in December: a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

_FORM = re.compile(
    r"(?<![a-z0-9])(10|20|40|8|6)[ _-]?([kqf])(?:(405)|([/_ -]a(?:mended)?))?(?![a-z0-9])", re.IGNORECASE
)
_ANNUAL = re.compile(r"annual[ _-]?report", re.IGNORECASE)
_RELEASE = re.compile(
    r"earnings(?![ _-]?call)|(?:reports|announces)\s.{0,60}(?:results|quarter|earnings)|for immediate release",
    re.IGNORECASE,
)
_CALL = re.compile(r"transcript|earnings[ _-]?call|conference[ _-]?call", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:fy[ _-]?)?((?:19|20)\d\d)(?!\d)", re.IGNORECASE)
_SHORT_YEAR = re.compile(r"(?<![a-z0-9])fy[ _-]?(\d\d)(?!\d)", re.IGNORECASE)
_QUARTER = re.compile(r"(?<![a-z0-9])(?:q([1-4])|([1-4])q)(?=[^a-z0-9]|(?:19|20)?\d\d(?!\d)|$)", re.IGNORECASE)
_QUARTER_AND_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)[ _-]?q([1-4])(?![a-z0-9])", re.IGNORECASE)
_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)-?(0[1-9]|1[0-2])-?(?:[0-2]\d|3[01])(?!\d)")
_TICKER = re.compile(r"[A-Z][A-Z0-9]{0,5}(?:[.-][A-Z])?")
_LISTED = re.compile(
    r"\b([A-Z]{1,5}(?:\.[A-Z])?)\s+(?:The\s+)?(?i:new york stock exchange|nasdaq|nyse)|(?i:trading symbol)\W+([A-Z]{1,5})\b"
)
_NO_SYMBOLS = frozenset({"A", "AND", "B", "C", "LLC", "NYSE", "OF", "ON", "PAR", "SHARE", "THE", "VALUE"})
_TRADED = re.compile(r"\b(?:NYSE|NASDAQ|Nasdaq|AMEX)(?: ?[A-Z][a-z]+)?\s*:\s*([A-Z]{1,5}(?:\.[A-Z])?)\b")
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_PERIOD_END = re.compile(
    rf"(fiscal\s+year|year|quarter(?:ly)?(?:\s+period)?)\s+ended:?\s+({'|'.join(_MONTHS)})\s+(\d{{1,2}})\s*,?\s*(\d{{4}})",
    re.IGNORECASE,
)
_CALL_TITLE = re.compile(
    r"(?:(?:q([1-4])|(first|second|third|fourth)[ -]quarter)(?:\s+(?:of\s+)?(?:fiscal\s+)?(?:year\s+)?)?)\s*((?:19|20)\d\d)",
    re.IGNORECASE,
)
_ORDINALS = ("first", "second", "third", "fourth")
_REGISTRANT = re.compile(r"\(?\s*exact\s+name\s+of\s+(?:the\s+)?registrant", re.IGNORECASE)
_COVER_CHARACTERS = 8000
_DAYS_LATE = 7


@dataclass(frozen=True)
class Given:
    """What is known of a filing; empty where it is not."""

    company: str = ""
    ticker: str = ""
    fiscal_year: int | None = None
    quarter: int | None = None
    kind: str = ""
    notes: tuple[str, ...] = ()

    def filled(self, other: Given) -> Given:
        """What is known here, completed by the other.

        >>> Given(ticker="AAL").filled(Given(ticker="X", fiscal_year=2010)).fiscal_year
        2010
        """
        # A year and a quarter belong together: a quarter is not taken from elsewhere for a year that was known.
        known = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "notes"}
        added = {name: getattr(other, name) for name, value in known.items() if value in ("", None)}
        if self.fiscal_year is not None and added.get("quarter") and other.fiscal_year != self.fiscal_year:
            added["quarter"] = None
        used = "quarter" in added or "fiscal_year" in added
        return replace(self, **added, notes=(*self.notes, *(other.notes if used else ())))


NOTHING = Given()


def named(path: Path, known: Given, words: Given, text: str) -> Given:
    """What is known, with company and symbol set right by the cover: a file is often called by the company's name.

    >>> words = Given(company="ADOBE INC.", ticker="ADBE")
    >>> made = named(Path("ADOBE_2022_10K.pdf"), Given(company="ADOBE INC.", ticker="ADOBE"), words, "")
    >>> made.ticker, named(Path("AMCOR_2023.pdf"), Given(ticker="AMCOR"), Given(), "Amcor reports").company
    ('ADBE', 'Amcor')
    >>> named(Path("3M_2018_10K.pdf"), Given(), Given(), "3M COMPANY").company
    '3M'
    """
    prefix = name_in(path)
    if known.ticker and known.ticker == prefix.upper().replace(" ", ""):
        printed = re.search(rf"\b(?=[A-Z][a-z]){re.escape(prefix)}\b", text, re.IGNORECASE)
        if words.ticker:
            known = replace(known, ticker=words.ticker)
        elif printed and not known.company:
            known = replace(known, ticker="", company=printed[0])
    if not known.company and not known.ticker:
        known = replace(known, company=prefix)
    return known


def name_in(path: Path) -> str:
    """The words of a file's name before its year or its form; "" where it begins with neither a name nor a symbol.

    >>> name_in(Path("JOHNSON_JOHNSON_2022Q4_EARNINGS.pdf")), name_in(Path("2022 10-K.pdf")), name_in(Path("scan.pdf"))
    ('JOHNSON JOHNSON', '', '')
    """
    stem = re.sub(r"[_\s]+", " ", path.stem)
    ends = [found.start() for pattern in (_FORM, _YEAR, _RELEASE) if (found := pattern.search(stem))]
    return stem[: min(ends, default=0)].strip(" -.") if ends else ""


def from_facts(facts: Mapping[str, str]) -> Given:
    """What inline XBRL says: `DocumentType`, `EntityRegistrantName`, `DocumentFiscalYearFocus` and so on."""
    year, quarter = facts.get("DocumentFiscalYearFocus", ""), facts.get("DocumentFiscalPeriodFocus", "")
    ticker = facts.get("TradingSymbol", "").upper()
    return Given(
        company=facts.get("EntityRegistrantName", ""),
        ticker=ticker if _TICKER.fullmatch(ticker) else "",
        fiscal_year=int(year) if re.fullmatch(r"[12]\d{3}", year) else None,
        quarter=int(quarter[1]) if re.fullmatch(r"Q[1-4]", quarter) else None,
        kind=facts.get("DocumentType", "").upper(),
    )


def from_name(path: Path) -> Given:
    """What the name of a file says.

    >>> from_name(Path("filings/MSFT_10-Q_Q3_2024.html"))
    Given(company='', ticker='MSFT', fiscal_year=2024, quarter=3, kind='10-Q', notes=())
    >>> from_name(Path("Oakgate_Water_2023Q4_EARNINGS.pdf"))
    Given(company='', ticker='', fiscal_year=2023, quarter=4, kind='earnings release', notes=())
    """
    stem = path.stem
    day, quarter, both = _DAY.search(stem), _QUARTER.search(stem), _QUARTER_AND_YEAR.search(stem)
    year = _YEAR.search(_DAY.sub(" ", stem))
    short = _SHORT_YEAR.search(stem)
    kind = _kind(stem)
    found = int(year[1]) if year else 2000 + int(short[1]) if short else None
    ticker = re.match(r"([A-Z]{1,5}|[a-z]{1,5}(?=-\d{8}))(?=[ _-])", stem)
    if found is None and day and quarter is None and kind in ("10-K", "annual report"):
        found = int(day[1])
    return Given(
        ticker=ticker[1].upper() if ticker and _kind(ticker[1]) == "" else "",
        fiscal_year=int(both[1]) if both else found,
        quarter=int(both[2]) if both else int(quarter[1] or quarter[2]) if quarter else None,
        kind=kind,
    )


def from_folders(path: Path) -> Given:
    """What the two folders say that a file lies in.

    >>> from_folders(Path("AAL/2010/annual-report.pdf"))
    Given(company='', ticker='AAL', fiscal_year=2010, quarter=None, kind='', notes=())
    """
    folders = path.parts[-3:-1]
    years = [part for part in folders if re.fullmatch(r"(?:19|20)\d\d", part)]
    symbols = [part for part in folders if _TICKER.fullmatch(part) and len(part) <= 5]
    return Given(ticker=symbols[-1] if symbols else "", fiscal_year=int(years[-1]) if years else None)


def from_words(text: str) -> Given:
    """What the cover says in words.

    >>> from_words("FORM 10-Q\\nFor the quarterly period ended June 30, 2018\\nHarbour Mills, Inc.\\n"
    ...     "(Exact name of registrant as specified in its charter)").company
    'Harbour Mills, Inc.'
    """
    text = text[:_COVER_CHARACTERS]
    form = re.search(r"form\s+(?:10|20|40|8|6)\s?-?\s?[kqf](?:405)?(?:/a)?", text[:3000], re.IGNORECASE)
    kind = (
        _kind(form[0].split(None, 1)[1]) if form else "transcript" if _CALL.search(text[:2000]) else _kind(text[:2000])
    )
    known = Given(company=_registrant(text), ticker=_symbol(text), kind=kind)
    if kind == "transcript" and (call := _CALL_TITLE.search(text)):
        quarter = int(call[1]) if call[1] else _ORDINALS.index(call[2].lower()) + 1
        return replace(known, fiscal_year=int(call[3]), quarter=quarter)
    if (end := _PERIOD_END.search(text)) is None:
        return known
    year, month = int(end[4]), _MONTHS.index(end[2].lower()) + 1
    if "quarter" not in end[1].lower():
        return replace(known, fiscal_year=year)
    # Quarters of 13 weeks end a few days into the next month: July 2 ends the second.
    if int(end[3]) <= _DAYS_LATE and month > 1:
        month -= 1
    note = f"quarter {(month + 2) // 3} of {year} was told by the end of its period; give --year and --quarter if it is another"
    return replace(known, fiscal_year=year, quarter=(month + 2) // 3, notes=(note,))


def _kind(text: str) -> str:
    """
    >>> [_kind(text) for text in ("aapl_10k_2023", "Form 10-Q/A", "annual_report", "report10kg", "earnings call")]
    ['10-K', '10-Q/A', 'annual report', '', 'transcript']
    """
    if match := _FORM.search(text.replace("_", " ")):
        return f"{match[1]}-{match[2].upper()}{match[3] or ''}" + ("/A" if match[4] else "")
    if _CALL.search(text):
        return "transcript"
    if _ANNUAL.search(text):
        return "annual report"
    return "earnings release" if _RELEASE.search(text.replace("_", " ")) else ""


def _symbol(text: str) -> str:
    """The symbol that the cover names with its exchange; "" where it names none, or words in capitals alone.

    >>> _symbol("Common Stock, $0.05 par value PFE New York Stock Exchange"), _symbol("Name of Each Exchange on NASDAQ")
    ('PFE', '')
    """
    if traded := _TRADED.search(text):
        return traded[1]
    found = [match[1] or match[2] for match in _LISTED.finditer(text)]
    return next((symbol for symbol in found if len(symbol) > 1 and symbol not in _NO_SYMBOLS), "")


def _registrant(text: str) -> str:
    """The line above "(Exact name of registrant ...)", which is the company's name."""
    if (match := _REGISTRANT.search(text)) is None:
        return ""
    above = [line.strip() for line in text[: match.start()].splitlines() if re.search(r"[A-Za-z]{2}", line)]
    return above[-1] if above and len(above[-1]) <= 100 else ""
