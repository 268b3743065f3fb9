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
from dataclasses import dataclass, field

from finexpert.warehouse.files.csv_shape import MISSING, is_number

_PLAIN = r"(0|[1-9]\d{0,17})"
_GROUPED = r"[1-9]\d{0,2}(,\d{3})+"
_DOTTED = r"[1-9]\d{0,2}(\.\d{3})+"
PATTERNS = {
    "integer": rf"[+-]?{_PLAIN}",
    "number": rf"[+-]?({_PLAIN}(\.\d*)?|\.\d+)([eE][+-]?\d{{1,3}})?",
    "grouped integer": rf"[+-]?({_PLAIN}|{_GROUPED})",
    "grouped": rf"[+-]?({_PLAIN}|{_GROUPED})(\.\d*)?|[+-]?\.\d+",
    "comma": rf"[+-]?({_PLAIN}|{_DOTTED})(,\d*)?|[+-]?,\d+",
}
# A number that can be read in one of both ways alone.
_ONLY_GROUPED = rf"[+-]?{_GROUPED}\.\d+|[+-]?[1-9]\d{{0,2}}(,\d{{3}}){{2,}}"
_ONLY_COMMA = rf"[+-]?{_DOTTED},\d+|[+-]?[1-9]\d{{0,2}}(\.\d{{3}}){{2,}}|[+-]?0?,\d+|[+-]?{_PLAIN},(\d{{1,2}}|\d{{4,}})|[+-]?\d{{4,}},\d*"
_CURRENCY = "[$€£¥]"
_TIME = r"( \d{1,2}:\d\d(:\d\d)?)"
# The form of a date, how DuckDB reads it, and whether day or month comes first, where that has to be known.
DATES = (
    (r"\d{4}-\d{1,2}-\d{1,2}", "%Y-%m-%d", ""),
    (r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d", ""),
    (r"\d{4}\.\d{1,2}\.\d{1,2}", "%Y.%m.%d", ""),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y", ""),
    (r"\d{1,2}-[A-Za-z]{3}-\d{4}", "%d-%b-%Y", ""),
    (r"\d{1,2}-[A-Za-z]{3}-\d{2}", "%d-%b-%y", ""),
    (r"\d{1,2} [A-Za-z]{3} \d{4}", "%d %b %Y", ""),
    (r"\d{1,2} [A-Za-z]{4,9} \d{4}", "%d %B %Y", ""),
    (r"[A-Za-z]{3} \d{1,2}, \d{4}", "%b %d, %Y", ""),
    (r"[A-Za-z]{4,9} \d{1,2}, \d{4}", "%B %d, %Y", ""),
    *(
        (rf"\d{{1,2}}{mark}\d{{1,2}}{mark}\d{{{digits}}}", f"{first}{mark}{second}{mark}{year}", order)
        # 20-01-02 may begin with its year.
        for mark, digits, year in (("/", 4, "%Y"), ("/", 2, "%y"), ("-", 4, "%Y"))
        for first, second, order in (("%m", "%d", "month"), ("%d", "%m", "day"))
    ),
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?Z?", "iso", ""),
    *(
        (rf"\d{{1,2}}/\d{{1,2}}/\d{{4}} \d{{1,2}}:\d\d{seconds}", f"{days} %H:%M{reading}", order)
        for seconds, reading in (("", ""), (r":\d\d", ":%S"))
        for days, order in (("%m/%d/%Y", "month"), ("%d/%m/%Y", "day"))
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Counted:
    """How many values of a column are given, and how many are of each kind; `forms` are the forms of dates that were tried."""

    given: int
    kinds: Mapping[str, int]
    forms: Sequence[int] = ()

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
    is_missing: str = field(default="", repr=False)


@dataclass(frozen=True)
class Conventions:
    """What the columns of a file say together: does a comma begin the decimals, does the day or the month come first."""

    comma: bool | None
    order: str | None


class AmbiguousDates(Exception):
    """A column of dates can be read in two ways, or mixes both; `condition` is true of the value to look at."""

    def __init__(self, column: str, why: str, condition: str) -> None:
        super().__init__(why)
        self.column, self.why, self.condition = column, why, condition


def _trimmed(source: str) -> str:
    return f"trim({source}, ' \t\u00a0')"


def _given(source: str) -> str:
    words = ", ".join(f"'{word}'" for word in sorted(MISSING))
    return f"({source} IS NOT NULL AND lower({_trimmed(source)}) NOT IN ({words}))"


def _bare(source: str) -> str:
    """Without currency, percent and blanks; brackets around a number are a minus."""
    unmarked = f"regexp_replace({_trimmed(source)}, '{_CURRENCY}|%|[\\s\u00a0\u202f]', '', 'g')"
    return f"regexp_replace({unmarked}, '^\\((.*)\\)$', '-\\1')"


def _is(text: str, pattern: str) -> str:
    return f"regexp_full_match({text}, '{pattern}')"


def _date(text: str, pattern: str, form: str) -> str:
    read = f"try_cast(rtrim({text}, 'Z') AS TIMESTAMP)" if form == "iso" else f"try_strptime({text}, '{form}')"
    return f"CASE WHEN {_is(text, pattern)} THEN {read} END"


def _dates(text: str, order: str | None, forms: Sequence[int]) -> str:
    """A text as a time, in those of the forms that need no order, and in those of this order."""
    used = [DATES[form] for form in forms]
    read = [_date(text, pattern, form) for pattern, form, needs in used if not needs or needs == order]
    return f"coalesce({', '.join([*read, 'NULL::TIMESTAMP'])})"


def conditions_of(source: str, forms: Sequence[int]) -> dict[str, str]:
    """What can be counted of a column; its dates in these forms alone."""
    bare, text, given = _bare(source), _trimmed(source), _given(source)
    found = {kind: f"{given} AND {_is(bare, pattern)}" for kind, pattern in PATTERNS.items()}
    found |= {
        "given": given,
        "only grouped": f"{given} AND {_is(bare, _ONLY_GROUPED)}",
        "only comma": f"{given} AND {_is(bare, _ONLY_COMMA)}",
        "has comma": f"{given} AND contains({text}, ',')",
        "has dot": f"{given} AND contains({text}, '.')",
        "marked": f"{given} AND {_is(text, f'.*({_CURRENCY}|%).*')}",
        "percent": f"{given} AND {_is(text, '[^%]+%')}",
        **{f"currency {mark}": f"{given} AND contains({text}, '{mark}')" for mark in "$€£¥"},
        "boolean": f"{given} AND lower({text}) IN ('true', 'false')",
        "plain integer": f"{given} AND {_is(text, PATTERNS['integer'])}",
        "plain number": f"{given} AND {_is(text, PATTERNS['number'])}",
        "timed": f"{given} AND {_is(text, '.*:.*')}",
        "date month": f"{given} AND {_dates(text, 'month', forms)} IS NOT NULL",
        "date day": f"{given} AND {_dates(text, 'day', forms)} IS NOT NULL",
        "date": f"{given} AND ({_dates(text, 'day', forms)} IS NOT NULL OR {_dates(text, 'month', forms)} IS NOT NULL)",
        "date free": f"{given} AND {_dates(text, None, forms)} IS NOT NULL",
    }
    return found


_NUMBERS = [*PATTERNS, "only grouped", "only comma", "has comma", "has dot", "marked", "percent",
            *(f"currency {mark}" for mark in "$€£¥")]  # fmt: skip
_TIMES = ["timed", "date month", "date day", "date free", "date"]


@dataclass(frozen=True)
class Wanted:
    """What is counted of a column over all rows; `quick` if that is only what its first rows look like."""

    kinds: Sequence[str]
    forms: Sequence[int] = ()
    quick: bool = False

    def settled(self, counted: Counted) -> bool:
        """Whether the rows are what the first ones look like, or nothing was supposed of them."""
        return not self.quick or counted.all(self.kinds[-1])


def wanted_of(sample: Sequence[str | None]) -> Wanted:
    """What has to be counted over all rows, after a look at the first ones.

    >>> wanted_of(["x", "y"]).kinds, wanted_of(["1", "2"]).kinds, wanted_of(["2024-01-02"]).forms
    (['given'], ['given', 'plain integer'], [0])
    """
    texts = [text.strip() for text in sample if text is not None and text.strip().lower() not in MISSING]
    if not texts:
        return EVERYTHING
    for kind in ("integer", "number"):
        if all(map(_PLAIN_PATTERNS[kind].fullmatch, texts)):
            return Wanted(["given", f"plain {kind}"], quick=True)
    if forms := [form for form, pattern in enumerate(_FORMS) if all(map(pattern.fullmatch, texts))]:
        return Wanted(["given", *_TIMES], forms, quick=True)
    kinds = ["given"]
    if sum(map(is_number, texts)) * 2 >= len(texts):
        kinds += _NUMBERS
    dates = sum(any(pattern.fullmatch(text) for pattern in _FORMS) for text in texts) * 2 >= len(texts)
    if dates:
        kinds += _TIMES
    if {text.lower() for text in texts} <= {"true", "false"}:
        kinds.append("boolean")
    return Wanted(kinds, ALL_FORMS if dates else ())


ALL_FORMS = range(len(DATES))
EVERYTHING = Wanted(["given", *_NUMBERS, *_TIMES, "boolean"], ALL_FORMS)
_PLAIN_PATTERNS = {kind: re.compile(PATTERNS[kind]) for kind in ("integer", "number")}
_FORMS = [re.compile(pattern) for pattern, _, _ in DATES]


def conventions(columns: Sequence[Counted], delimiter: str) -> Conventions:
    """What the columns that can be read in one way alone say of the others."""
    commas = any(each.all("comma") and each.kinds.get("only comma") for each in columns)
    grouped = any(each.all("grouped") and each.kinds.get("only grouped") for each in columns)
    orders = {
        order
        for each in columns
        for order, other in (("month", "day"), ("day", "month"))
        if each.all(f"date {order}") and not each.all(f"date {other}")
    }
    # Where fields are set apart by commas, a comma within a quoted number sets thousands apart.
    comma = (
        True if commas and not grouped else False if grouped and not commas else (False if delimiter == "," else None)
    )
    return Conventions(comma, orders.pop() if len(orders) == 1 else None)


def decided(name: str, source: str, counted: Counted, shared: Conventions) -> Column:
    """The column with its type. Raises AmbiguousDates where a date cannot be read safely."""
    column = Column(name, source, source, is_missing=f"NOT {_given(source)}")
    if not counted.given:
        return column
    if counted.all("boolean"):
        return _typed(column, "boolean", f"lower({_trimmed(source)}) = 'true'")
    if counted.all("plain integer"):
        return _typed(column, "integer", f"CAST({_trimmed(source)} AS BIGINT)")
    if counted.all("plain number"):
        return _typed(column, "number", f"CAST({_trimmed(source)} AS DOUBLE)")
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
    column.kind, column.select = kind, f"CASE WHEN {_given(column.source)} THEN {select} END"
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
    bare = _bare(column.source)
    comma = counted.all("comma") and (not counted.all("grouped") or bool(shared.comma))
    if kinds.get("has comma") and counted.all("comma") and counted.all("grouped") and shared.comma is None:
        column.comment = column.note = (
            "numbers with a comma that may begin decimals or set thousands apart, read as text"
        )
        return column
    if counted.all("integer"):
        _typed(column, "integer", f"CAST({bare} AS BIGINT)")
    elif comma:
        plain = f"replace(replace({bare}, '.', ''), ',', '.')"
        _typed(column, "number", f"CAST({plain} AS DOUBLE)")
    elif counted.all("grouped integer"):
        _typed(column, "integer", f"CAST(replace({bare}, ',', '') AS BIGINT)")
    else:
        _typed(column, "number", f"CAST(replace({bare}, ',', '') AS DOUBLE)")
    column.comment = "in percent" if percent else f"in {marks[0]}" if marks else ""
    return column


def _dated(column: Column, counted: Counted, shared: Conventions) -> Column:
    month, day = counted.all("date month"), counted.all("date day")
    order = "month" if month and not day else "day" if day and not month else shared.order
    text = _trimmed(column.source)
    if month and day and not counted.all("date free") and order is None:
        raise AmbiguousDates(
            column.name,
            "may be day/month or month/day, and no date of the file says which; write dates as 2024-04-03",
            f"{_given(column.source)} AND {_dates(text, None, counted.forms)} IS NULL",
        )
    if not month and not day:
        raise AmbiguousDates(
            column.name,
            "stands among dates in the other order of day and month; write dates as 2024-04-03",
            f"{_given(column.source)} AND {_dates(text, 'month', counted.forms)} IS NULL",
        )
    read = _dates(text, order, counted.forms)
    if counted.kinds.get("timed"):
        return _typed(column, "timestamp", read)
    return _typed(column, "date", f"CAST({read} AS DATE)")
