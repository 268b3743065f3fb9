"""What the texts of a column are: whole numbers, numbers, dates, times, yes or no; found over every value of it.

    5,350,380       BIGINT      thousands are set apart
    (1,204.50)      DOUBLE      negative, as accountants write it
    Sep 17, 2017    DATE
    03/04/2024      DATE only where other values of the file say whether the day or the month comes first

A column is converted where every value that is not missing can be; otherwise it stays text, and a note says where the first other
value stands. DuckDB tests and converts; nothing is guessed from a sample alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from finexpert.warehouse.files.csv_shape import MISSING, is_number
from finexpert.warehouse.files.date_forms import ALL_FORMS, DOUBTFUL_YEAR, FORMS, dates, is_date, matches
from finexpert.warehouse.files.number_forms import (
    CURRENCY,
    NUMBER_CELL,
    ONE_DOT,
    ONLY_COMMA,
    ONLY_DOT,
    ONLY_DOTTED,
    ONLY_GROUPED,
    PATTERNS,
    PERCENT,
    bare,
    is_given,
    trimmed,
)


@dataclass(frozen=True)
class Counted:
    """How many values of a column are given, and how many are of each kind; `forms` are the forms of dates that were tried.

    `dots` says that dots begin the decimals of its texts.
    """

    given: int
    kinds: Mapping[str, int]
    forms: Sequence[int] = ()
    dots: bool = False

    def all(self, kind: str) -> bool:
        return self.given > 0 and self.kinds.get(kind, 0) == self.given


@dataclass
class Column:
    """What was decided of a column: its SQL, and what people and models should know of it."""

    name: str
    source: str  # its name in the texts
    select: str
    kind: str = "text"
    comment: str = ""
    note: str = ""


@dataclass(frozen=True)
class Conventions:
    """What the columns of a file say together: does a comma begin the decimals, does the day or the month come first.

    `dotted` says that a dot may set thousands apart where commas begin decimals.
    """

    comma: bool | None
    order: str | None
    dotted: bool = True


class AmbiguousDates(Exception):
    """A column of dates can be read in two ways, or mixes both; `condition` is true of the value to look at."""

    def __init__(self, column: str, why: str, condition: str) -> None:
        super().__init__(why)
        self.column, self.why, self.condition = column, why, condition


def conditions_of(source: str, forms: Sequence[int]) -> dict[str, str]:
    """What can be counted of a column; its dates in these forms alone."""
    number, text, filled = bare(source), trimmed(source), is_given(source)
    cell = f"starts_with({source}, '{NUMBER_CELL}')"
    found = {kind: f"{filled} AND ({cell} OR {matches(number, pattern)})" for kind, pattern in PATTERNS.items()}
    found |= {kind: f"{filled} AND {matches(number, PATTERNS[kind])}" for kind in ("integer", "grouped integer")}
    found |= {
        "given": filled,
        "only grouped": f"{filled} AND {matches(number, ONLY_GROUPED)}",
        "only comma": f"{filled} AND {matches(number, ONLY_COMMA)}",
        "has comma": f"{filled} AND contains({text}, ',')",
        "only dot": f"{filled} AND NOT {cell} AND {matches(number, ONLY_DOT)}",
        "dotted": f"{filled} AND {matches(number, ONLY_DOTTED)}",
        "one dot": f"{filled} AND NOT {cell} AND {matches(number, ONE_DOT)}",
        "marked": f"{filled} AND {matches(text, f'.*({CURRENCY}|%).*')}",
        "percent": f"{filled} AND {matches(text, PERCENT)}",
        **{f"currency {mark}": f"{filled} AND contains({text}, '{mark}')" for mark in "$€£¥"},
        "boolean": f"{filled} AND lower({text}) IN ('true', 'false')",
        "plain integer": f"{filled} AND {matches(text, PATTERNS['integer'])}",
        "plain number": f"{filled} AND {matches(text, PATTERNS['number'])}",
        "timed": f"{filled} AND {matches(text, '.*:.*')}",
        "doubtful year": f"{filled} AND {matches(text, DOUBTFUL_YEAR)}",
        "date month": f"{filled} AND {dates(text, 'month', forms)} IS NOT NULL",
        "date day": f"{filled} AND {dates(text, 'day', forms)} IS NOT NULL",
        "date": f"{filled} AND ({dates(text, 'day', forms)} IS NOT NULL OR {dates(text, 'month', forms)} IS NOT NULL)",
        "date free": f"{filled} AND {dates(text, None, forms)} IS NOT NULL",
    }
    return found


_NUMBERS = [*PATTERNS, "only grouped", "only comma", "only dot", "one dot", "dotted", "has comma", "marked", "percent",
            *(f"currency {mark}" for mark in "$€£¥")]  # fmt: skip
_TIMES = ["timed", "doubtful year", "date month", "date day", "date free", "date"]


@dataclass(frozen=True)
class Wanted:
    """What is counted of a column over all rows; `quick` if that is only what its first rows look like."""

    kinds: Sequence[str]
    forms: Sequence[int] = ()
    quick: bool = False
    dots: bool = False

    def settled(self, counted: Counted) -> bool:
        """Whether the rows are what the first ones look like, or nothing was supposed of them."""
        return not self.quick or counted.all(self.kinds[-1])


def wanted_of(sample: Sequence[str | None]) -> Wanted:
    """What has to be counted over all rows, after a look at the first ones.

    >>> wanted_of(["x", "y"]).kinds, wanted_of(["1", "2"]).kinds, wanted_of(["2024-01-02"]).forms
    (['given'], ['given', 'plain integer'], [0])
    """
    given = [text for text in sample if text is not None and text.strip().lower() not in MISSING]
    if not given:
        return EVERYTHING
    texts = [text.strip().strip(NUMBER_CELL) for text in given]
    if all(map(_PLAIN_PATTERNS["integer"].fullmatch, texts)):
        return Wanted(["given", "plain integer"], quick=True)
    dots = any(map(_PLAIN_PATTERNS["only dot"].fullmatch, given))
    doubtful = not dots and any(map(_PLAIN_PATTERNS["one dot"].fullmatch, given))
    if not doubtful and all(map(_PLAIN_PATTERNS["number"].fullmatch, texts)):
        return Wanted(["given", "plain number"], quick=True, dots=dots)
    if forms := [form for form, pattern in enumerate(FORMS) if all(map(pattern.fullmatch, texts))]:
        return Wanted(["given", *_TIMES], forms, quick=True)
    kinds = ["given"]
    if sum(map(is_number, texts)) * 2 >= len(texts):
        kinds += _NUMBERS
    dated = sum(map(is_date, texts)) * 2 >= len(texts)
    if dated:
        kinds += _TIMES
    if {text.lower() for text in texts} <= {"true", "false"}:
        kinds.append("boolean")
    return Wanted(kinds, ALL_FORMS if dated else ())


EVERYTHING = Wanted(["given", *_NUMBERS, *_TIMES, "boolean"], ALL_FORMS)
_PLAIN_PATTERNS = {
    "integer": re.compile(PATTERNS["integer"]),
    "number": re.compile(PATTERNS["number"]),
    "only dot": re.compile(ONLY_DOT),
    "one dot": re.compile(ONE_DOT),
}


def conventions(columns: Sequence[Counted], delimiter: str) -> Conventions:
    """What the columns that can be read in one way alone say of the others."""
    commas = any(each.all("comma") and each.kinds.get("only comma") for each in columns)
    grouped = any(
        each.dots or (each.all("grouped") and (each.kinds.get("only grouped") or each.kinds.get("only dot")))
        for each in columns
    )
    orders = {
        order
        for each in columns
        for order, other in (("month", "day"), ("day", "month"))
        if each.all(f"date {order}") and not each.all(f"date {other}")
    }
    # Where fields are set apart by commas, a comma within a quoted number sets thousands apart.
    unsaid = False if delimiter == "," else None
    comma = unsaid if not (commas or grouped) else None if commas and grouped else commas
    # Cells and records come from several hands: there one of them has to show that dots are used so.
    dotted = bool(delimiter) or any(each.all("comma") and each.kinds.get("dotted") for each in columns)
    return Conventions(comma, orders.pop() if len(orders) == 1 else None, dotted)


def decided(name: str, source: str, counted: Counted, shared: Conventions) -> Column:
    """The column with its type. Raises AmbiguousDates where a date cannot be read safely."""
    column = Column(name, source, source)
    if not counted.given:
        return column
    if counted.all("boolean"):
        return _typed(column, "boolean", f"lower({trimmed(source)}) = 'true'")
    if counted.all("plain integer"):
        return _typed(column, "integer", f"CAST({trimmed(source)} AS BIGINT)")
    if counted.all("plain number"):
        return _typed(column, "number", f"CAST({trimmed(source)} AS DOUBLE)")
    if number := _number(column, counted, shared):
        return number
    if counted.all("date"):
        return _dated(column, counted, shared)
    most = max(counted.kinds.get(kind, 0) for kind in ("number", "grouped", "comma", "date"))
    if most * 2 >= counted.given:
        what = "dates" if counted.kinds.get("date", 0) == most else "numbers"
        column.comment = f"text; most values are {what}, and some are not"
        column.note = f"{counted.given - most:,} of {counted.given:,} values are no {what}: read as text"
    return column


def _typed(column: Column, kind: str, select: str) -> Column:
    column.kind, column.select = kind, f"CASE WHEN {is_given(column.source)} THEN {select} END"
    return column


def _number(column: Column, counted: Counted, shared: Conventions) -> Column | None:
    """The column as numbers, if all of its values are; with a note, as text, where they cannot be read safely."""
    kinds = counted.kinds
    marks = [mark for mark in "$€£¥" if kinds.get(f"currency {mark}")]
    if not any(counted.all(kind) for kind in PATTERNS):
        return None
    percent = kinds.get("percent", 0)
    if len(marks) > 1 or 0 < percent < counted.given or (marks and percent):
        column.comment = column.note = "numbers in several units, read as text"
        return column
    number = bare(column.source)
    comma = counted.all("comma") and (not counted.all("grouped") or bool(shared.comma))
    either = counted.all("comma") and counted.all("grouped") and shared.comma is None
    for kind, mark, untold in (
        ("has comma", "comma", either),
        ("one dot", "dot", either or (comma and not shared.dotted)),
    ):
        if kinds.get(kind) and untold:
            column.comment = column.note = (
                f"numbers with a {mark} that may begin decimals or set thousands apart, read as text"
            )
            return column
    if counted.all("integer"):
        _typed(column, "integer", f"CAST({number} AS BIGINT)")
    elif comma:
        plain = f"replace(replace({number}, '.', ''), ',', '.')"
        cell = f"starts_with({column.source}, '{NUMBER_CELL}')"
        _typed(column, "number", f"CAST(CASE WHEN {cell} THEN {number} ELSE {plain} END AS DOUBLE)")
    elif counted.all("grouped integer"):
        _typed(column, "integer", f"CAST(replace({number}, ',', '') AS BIGINT)")
    else:
        _typed(column, "number", f"CAST(replace({number}, ',', '') AS DOUBLE)")
    column.comment = "in percent" if percent else f"in {marks[0]}" if marks else ""
    return column


def _dated(column: Column, counted: Counted, shared: Conventions) -> Column:
    month, day = counted.all("date month"), counted.all("date day")
    order = "month" if month and not day else "day" if day and not month else shared.order
    text = trimmed(column.source)
    if month and day and not counted.all("date free") and order is None:
        raise AmbiguousDates(
            column.name,
            "may be day/month or month/day, and no date of the file says which; write dates as 2024-04-03",
            f"{is_given(column.source)} AND {dates(text, None, counted.forms)} IS NULL",
        )
    if not month and not day:
        raise AmbiguousDates(
            column.name,
            "stands among dates in the other order of day and month; write dates as 2024-04-03",
            f"{is_given(column.source)} AND {dates(text, 'month', counted.forms)} IS NULL",
        )
    read = dates(text, order, counted.forms)
    if counted.kinds.get("doubtful year"):
        column.comment = column.note = "years written as 30 to 68 are read as 2030 to 2068"
    if counted.kinds.get("timed"):
        return _typed(column, "timestamp", read)
    return _typed(column, "date", f"CAST({read} AS DATE)")
