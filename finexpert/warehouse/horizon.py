"""What a row must be to be seen as of a day, for each kind of dates, in functions that every engine has.

    trade_dt VARCHAR, '20230131'   ->   REGEXP_MATCHES(TRIM(trade_dt), '^...$') AND TRIM(trade_dt) < '20230201'

The kind was found in a sample: a value of another form is not compared, and its row is not seen.
"""

from __future__ import annotations

import datetime as dt

from sqlglot import exp

from finexpert.warehouse.dates import JULIAN

# The day before the last one of the calendar, after which there is no other.
_LAST = dt.date.max - dt.timedelta(days=1)
EPOCH_JULIAN = 2_440_587.5
# How a text of each kind is written: a pattern of GLOB, of LIKE in SQL Server, and of regular expressions but for its star.
_YEARS, _MONTH, _DAYS = "[12][0189][0-9][0-9]", "[01][0-9]", "[0-3][0-9]"
_WRITTEN = {
    "iso": f"{_YEARS}-{_MONTH}-{_DAYS}", "slashed": f"{_YEARS}/{_MONTH}/{_DAYS}", "compact": f"{_YEARS}{_MONTH}{_DAYS}",
    "month": f"{_YEARS}-{_MONTH}", "compact month": f"{_YEARS}{_MONTH}", "quarter": f"{_YEARS}Q[1-4]", "year text": _YEARS,
    "dmy": f"{_DAYS}[/.-]{_MONTH}[/.-]{_YEARS}", "mdy": f"{_MONTH}[/.-]{_DAYS}[/.-]{_YEARS}",
    "day Mon year": f"{_DAYS}[ -][A-Za-z][A-Za-z][A-Za-z][ -]{_YEARS}",
}  # fmt: skip
# After these the time of the day may stand.
_WITH_TIME = frozenset(("iso", "slashed", "compact", "dmy", "mdy"))
_HOURS = ("[01][0-9]", "2[0-3]", "[0-9]:")
_GLOBS: dict[str, tuple[type[exp.Glob | exp.Like], str]] = {"sqlite": (exp.Glob, "*"), "tsql": (exp.Like, "%")}
# The least number of each kind: what is below is of another one.
_LEAST = {"yyyymmdd": 18000101, "yyyymm": 180001, "year": 1800, "unix": 31_536_000, "unix ms": 31_536_000_000,
          "julian": JULIAN[0]}  # fmt: skip
NUMBERS = tuple(_LEAST)


def bound(kind: str, day: dt.date) -> tuple[type[exp.Expr], exp.Expr]:
    """What a comparable value of this kind must be to be known on a day: the comparison and its right side.

    A month, a quarter or a year is known from its last day on.

    >>> comparison, value = bound("month", dt.date(2022, 6, 29))
    >>> comparison.__name__, value.sql()
    ('LTE', "'2022-05'")
    """
    after = min(day, _LAST) + dt.timedelta(days=1)
    # By numbers: before the first month of the first year there is no day.
    of_month, month = divmod(after.year * 12 + after.month - 2, 12)
    year = day.year if after.year > day.year else day.year - 1
    quarter = after.year * 4 + (after.month - 1) // 3 - 1
    epoch = dt.datetime(after.year, after.month, after.day, tzinfo=dt.UTC).timestamp()
    text, number = exp.Literal.string, exp.Literal.number
    bounds: dict[str, tuple[type[exp.Expr], exp.Expr]] = {
        "date": (exp.LTE, exp.cast(text(day.isoformat()), "date")),
        "timestamp": (exp.LT, exp.cast(text(f"{after} 00:00:00"), "timestamp")),
        "month": (exp.LTE, text(f"{of_month:04}-{month + 1:02}")),
        "compact month": (exp.LTE, text(f"{of_month:04}{month + 1:02}")),
        "quarter": (exp.LTE, text(f"{quarter // 4}Q{quarter % 4 + 1}")),
        "year text": (exp.LTE, text(str(year))),
        "yyyymmdd": (exp.LTE, number(f"{day:%Y%m%d}")),
        "yyyymm": (exp.LTE, number(of_month * 100 + month + 1)),
        "year": (exp.LTE, number(year)),
        "unix": (exp.LT, number(int(epoch))),
        "unix ms": (exp.LT, number(int(epoch) * 1000)),
        "julian": (exp.LT, number(EPOCH_JULIAN + epoch / 86400)),
    }
    return bounds.get(kind) or (exp.LT, text(f"{after:{_FORMS[kind]}}"))


_FORMS = {"iso": "%Y-%m-%d", "slashed": "%Y/%m/%d"} | dict.fromkeys(("compact", "dmy", "mdy", "day Mon year"), "%Y%m%d")


def comparable(kind: str, column: exp.Expr) -> exp.Expr:
    """The column as a value that sorts by time, in functions that every engine has.

    >>> comparable("dmy", exp.column("d")).sql()
    'CONCAT(SUBSTRING(TRIM(d), 7, 4), SUBSTRING(TRIM(d), 4, 2), SUBSTRING(TRIM(d), 1, 2))'
    """
    if kind in ("date", "timestamp", "yyyymmdd", "yyyymm", "year", "unix", "unix ms", "julian"):
        return column
    trimmed = exp.Trim(this=column)

    def part(start: int, length: int) -> exp.Expr:
        return exp.Substring(this=trimmed.copy(), start=exp.Literal.number(start), length=exp.Literal.number(length))

    if kind == "dmy":
        return exp.func("CONCAT", part(7, 4), part(4, 2), part(1, 2))
    if kind == "mdy":
        return exp.func("CONCAT", part(7, 4), part(1, 2), part(4, 2))
    if kind == "day Mon year":
        return exp.func("CONCAT", part(8, 4), _month_number(exp.Lower(this=part(4, 3))), part(1, 2))
    if kind == "quarter":
        squeezed = exp.func("REPLACE", exp.func("REPLACE", trimmed, exp.Literal.string("-"), exp.Literal.string("")),
                            exp.Literal.string(" "), exp.Literal.string(""))  # fmt: skip
        return exp.Upper(this=squeezed)
    return trimmed


def _month_number(name: exp.Expr) -> exp.Expr:
    case = exp.Case(this=name)
    for number, month in enumerate(str.split("jan feb mar apr may jun jul aug sep oct nov dec"), 1):
        case = case.when(exp.Literal.string(month), exp.Literal.string(f"{number:02d}"))
    # A month of another language sorts after all others, so that its rows are hidden.
    return case.else_(exp.Literal.string("99"))


def known_by(column: exp.Expr, kind: str, day: dt.date) -> exp.Expr:
    """The condition that a row was known on a day.

    >>> known_by(exp.column("executed_at"), "timestamp", dt.date(2022, 6, 30)).sql("duckdb")
    "executed_at < CAST('2022-07-01 00:00:00' AS TIMESTAMP)"
    """
    comparison, value = bound(kind, day)
    return comparison(this=comparable(kind, column), expression=value)


def of_form(column: exp.Expr, kind: str, dialect: str, before: exp.Expr | None = None) -> exp.Expr | None:
    """The condition that a value is of its kind, which was found in a sample; None where its type says so.

    `before` is the day of `last_day`. A time that is none of UTC or east of it, such as 23:30-05:00, may be of the day after: it
    stands for a known row on a day before that one.

    >>> print(of_form(exp.column("d"), "day Mon year", "duckdb").sql("duckdb"))
    REGEXP_MATCHES(TRIM(d), '^[0-3][0-9][ -][A-Za-z][A-Za-z][A-Za-z][ -][12][0189][0-9][0-9]$')
    >>> of_form(exp.column("d"), "yyyymm", "duckdb").sql("duckdb")
    'd >= 180001'
    """
    if kind in _LEAST:
        return exp.GTE(this=column, expression=exp.Literal.number(_LEAST[kind]))
    if kind not in _WRITTEN:
        return None
    said = comparable(kind, column) if kind == "quarter" else exp.Trim(this=column)
    if kind not in _WITH_TIME:
        return _written(said, _WRITTEN[kind], dialect)
    at_any = _written(said, _WRITTEN[kind], dialect, "[ T]")
    length = exp.Literal.number(len(f"{_LAST:{_FORMS[kind]}}"))
    day = exp.Substring(this=comparable(kind, column.copy()), start=exp.Literal.number(1), length=length)
    earlier = exp.LT(this=day, expression=before.copy()) if before is not None else exp.true()
    return exp.or_(
        _written(said, _WRITTEN[kind], dialect), _at_its_day(said, _WRITTEN[kind], dialect), exp.and_(at_any, earlier)
    )


def last_day(kind: str, day: dt.date) -> exp.Expr | None:
    """A day as texts of a kind that may have a time are compared; None for other kinds."""
    return exp.Literal.string(f"{day:{_FORMS[kind]}}") if kind in _WITH_TIME else None


def _at_its_day(said: exp.Expr, day: str, dialect: str) -> exp.Expr:
    """Whether a time stands behind the day that is of no later day in UTC."""
    if dialect not in _GLOBS:
        return _written(said, f"{day}[ T]({'|'.join(_HOURS)})[0-9:.,]*( ?([Zz]|UTC|[AaPp][Mm]|[+][0-9:]+))*", dialect)
    hours = exp.or_(*(_written(said, f"{day}[ T]{hour}", dialect, "") for hour in _HOURS))
    # Zones such as PT and AMT are made of the letters of UTC, AM and PM.
    others = (f"{day}[ T]", "[^0-9:.,+ZzUTCAPMapm ]"), (f"{day}[ T]", "[ACMPacmp]T")
    _, star = _GLOBS[dialect]
    return exp.and_(hours, *(exp.not_(_written(said, first + star + then, dialect, "")) for first, then in others))


def _written(said: exp.Expr, pattern: str, dialect: str, ending: str | None = None) -> exp.Expr:
    """Whether a text is written so; with an ending, and anything after it."""
    if dialect in _GLOBS:
        like, star = _GLOBS[dialect]
        whole = pattern if ending is None else pattern + ending + star
        return like(this=said.copy(), expression=exp.Literal.string(whole))
    expected = exp.Literal.string(f"^{pattern}{'' if ending is None else ending + '.*'}$")
    if dialect == "mysql":
        # MariaDB has no REGEXP_LIKE, which sqlglot writes.
        place = exp.Anonymous(this="REGEXP_INSTR", expressions=[said.copy(), expected])
        return exp.GT(this=place, expression=exp.Literal.number(0))
    return exp.RegexpLike(this=said.copy(), expression=expected)
