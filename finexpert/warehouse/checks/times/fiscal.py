"""Fiscal years that a SELECT takes for calendar years.

"in fiscal year 2024", year(ordered_on) = 2024      a year that ends with June 2024 begins with July 2023

When it ends is read from what was taught and from the comments of tables and columns ("the fiscal year ends on 30 June"), or from a column that says the fiscal year of a day.
Where nothing tells, calendar years may be meant: that is said.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.text.periods.calendar import FiscalCalendar
from finexpert.warehouse.checks.reading.period import period_of
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, columns_of, text_of
from finexpert.warehouse.dates import kind_of_type, words
from finexpert.warehouse.profile import from_named
from finexpert.warehouse.schema import TableSchema

_FISCAL = re.compile(r"\b(?:fiscal|financial)\s+(?:years?|quarters?|q[1-4]|\d{4})|\bfy\s?'?\d\d|\bfy\b", re.IGNORECASE)
_QUARTER = re.compile(
    r"\bq(?P<q>[1-4])\s*(?:of\s+)?(?:fiscal(?:\s+year)?|financial\s+year|fy)\s*(?P<y>\d{4})"
    r"|\b(?:fiscal\s+|financial\s+|fy\s?)q(?P<q2>[1-4])\s*(?:of\s+)?(?P<y2>\d{4})"
    r"|\b(?:fiscal(?:\s+year)?|financial\s+year|fy)\s?(?P<y3>\d{4})[\s,-]*q(?P<q3>[1-4])",
    re.IGNORECASE,
)
_MONTHS = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in calendar.month_name[1:])
_ENDS = re.compile(
    r"(?:(?:fiscal|financial)[\s_]+year|\bFYE?\b)[^.;]{0,60}?\b(?:(?P<end>end(?:s|ed|ing)?|close[sd]?)|start(?:s|ing)?|begin(?:s|ning)?|from)\b"
    rf"[^.;]{{0,20}}?\b(?P<month>{_MONTHS})\b",
    re.IGNORECASE,
)
_YEARS = (exp.Year, exp.Extract, exp.DateTrunc, exp.TimestampTrunc, exp.TimeToStr)
# A SELECT that looks at months or quarters may make fiscal years of them.
_PARTS = re.compile(r"MONTH|QUARTER|%M|INTERVAL")


def check_fiscal(one: Read, probe: Probe, question: str, house: str = "") -> list[str]:
    """Notes for the person; raises QueryError where the question says fiscal years, and the SELECT takes calendar years of another end.

    `house` is what was taught or told beside the data.
    """
    if not _FISCAL.search(question) or "calendar" in question.lower() or any(map(_is_fiscal, _mentioned(one))):
        return []
    ends = last_month(house) or _declared(one)
    quarter = _calendar_quarter(one, question)
    taken = quarter or _calendar_years(one)
    if not taken or ends == 12:
        return []
    if ends is not None:
        first, last = FiscalCalendar(ends).year_days(2024)
        raise QueryError(
            f"{taken} are those of the calendar, and the question says fiscal: the fiscal year ends with {calendar.month_name[ends]} here, so that "
            f"the one that ends in {last.year} runs from {first} to {last}"
        )
    if told := next(_told_apart(one, probe), ""):
        raise QueryError(f"{taken} are those of the calendar, and the question says fiscal: {told} says which it is")
    return [f"fiscal years are taken for those of the calendar: nothing in these data says when one ends ({taken})"]


def fiscal_as_of(one: Read, as_of: dt.date | None, house: str = "") -> list[str]:
    """Notes on tables whose rows are seen as of a day by their fiscal year, as if it were one of the calendar."""
    if as_of is None or (last_month(house) or _declared(one)) == 12:
        return []
    return [
        f"{table.name}.{table.date.name} is taken for a year of the calendar: its rows are seen from 31 December on, whenever the fiscal year ends"
        for table in one.used
        if table.date is not None and table.date.kind in ("year", "year text") and _is_fiscal(table.date.name)
    ]


def last_month(text: str) -> int | None:
    """The month with which the fiscal year ends, as a text says it.

    >>> last_month("The fiscal year ends on 30 June."), last_month("FY starts 1 Apr"), last_month("fiscal year of the order")
    (6, 3, None)
    >>> last_month("By 'fiscal year' this house means: the twelve months that end in September")
    9
    """
    found = _ENDS.search(text)
    if found is None:
        return None
    short = [name.lower() for name in calendar.month_abbr]
    month = short.index(found["month"][:3].lower())
    return month if found["end"] else (month - 2) % 12 + 1


def _declared(one: Read) -> int | None:
    """The month with which the fiscal year ends by the comments of the tables that are read, else by those of all; None where they do not agree."""
    for tables in (one.used, one.tables):
        found = set(filter(None, map(last_month, _comments(tables))))
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def _comments(tables: Sequence[TableSchema]) -> Iterator[str]:
    for table in tables:
        yield table.comment or ""
        yield from (column.comment or "" for column in table.columns)


def _is_fiscal(name: str) -> bool:
    return bool({"fiscal", "fy"} & set(words(name))) or {"financial", "year"} <= set(words(name))


def _mentioned(one: Read) -> set[str]:
    return {column.name for column in (one.select or exp.Select()).find_all(exp.Column)}


def _calendar_years(one: Read) -> str:
    """Where a SELECT takes years of the calendar, as a model wrote it; nothing where it takes none."""
    period = period_of(one)
    first, _, last = (period or "").partition(" to ")
    if first.endswith("-01-01") and last.endswith("-12-31"):
        return f"the years from {first} to {last}"
    said = one.select.sql().upper() if one.select is not None else ""
    if _PARTS.search(said):
        return ""
    for column, scope in columns_of(one):
        made = _year_of(column)
        if made is not None and _is_day(one, column, scope):
            return f"the years of {text_of(one, made)}"
    return ""


def _year_of(column: exp.Column) -> exp.Expr | None:
    """What takes the year of a column as it is."""
    node = column.parent
    while isinstance(node, exp.Cast | exp.TsOrDsToDate | exp.Paren | exp.Var):
        node = node.parent
    said = node.sql().upper() if isinstance(node, _YEARS) else ""
    return node if isinstance(node, exp.Year) or "YEAR" in said or "'%Y'" in said else None


def _is_day(one: Read, column: exp.Column, scope: Scope) -> bool:
    origin = one.origin(column, scope)
    return origin is not None and bool(origin.column.dates or kind_of_type(origin.column.type))


def _calendar_quarter(one: Read, question: str) -> str:
    """The quarter of the calendar that a SELECT asks about, where the question says the fiscal one of that number."""
    found = _QUARTER.search(question)
    period = period_of(one)
    if found is None or period is None:
        return ""
    number, year = (int(found[a] or found[b] or found[c]) for a, b, c in (("q", "q2", "q3"), ("y", "y2", "y3")))
    days = FiscalCalendar().quarter_days(year, number)
    return f"the days of Q{number} from {days[0]} to {days[1]}" if period == f"{days[0]} to {days[1]}" else ""


def _told_apart(one: Read, probe: Probe) -> Iterator[str]:
    """The columns that say the fiscal year of a day, where it is another one than that of the calendar in some rows."""
    for table in [*one.used, *one.tables]:
        day = next((c.name for c in table.columns if kind_of_type(c.type) and not _is_fiscal(c.name)), None)
        years = [c for c in table.columns if _is_fiscal(c.name) and "year" in words(c.name) and "INT" in c.type.upper()]
        if day is None or not years or table.rows is None:
            continue
        year = exp.Extract(this=exp.var("YEAR"), expression=exp.column(day, quoted=True))
        other = exp.column(years[0].name, quoted=True).neq(year)
        if probe.any_row(exp.select("1").from_(from_named(table.name)).where(other)) is True:
            yield f"{table.name}.{years[0].name}"
