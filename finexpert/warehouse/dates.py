"""Which column says when a row became known, and how its values are dates.

    DateColumn("trade_dt", "compact")      values such as '20230131', compared as texts

By type first: DATE and TIMESTAMP need no look at a row. Texts and numbers are dates only where their name says so and a sample of
their values agrees. Of several the one is taken that records an event (`trade_date`) and none that plans one (`maturity_date`).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

# Names that leave no doubt, the best first.
PLAIN_NAMES = ("date", "observation_date", "obs_date", "as_of", "as_of_date", "day", "datetime", "timestamp", "month")
_split = str.split
_RECORDS = frozenset(
    _split(
        "trade traded transaction txn tx booking booked posting posted execution executed event period sale sold order ordered"
        " invoice payment paid snapshot price priced quote filed filing reported report reporting observation obs value valuation"
        " issue issued billed invoiced entry run statement position deal fill filled flow accounting business session published publication date day trading pay reading measured measurement"
    )
)
_ENTERED = frozenset(
    _split(
        "created inserted loaded load ingested recorded entered opened open joined join signup registered start started hired hire listed listing"
    )
)
_PLANS = frozenset(
    _split(
        "maturity mature matures due expiry expiration expires expire end ended ends until to settle settled settlement delivery"
        " deliver birth birthday dob born updated update modified changed closed close closing next planned plan target deleted"
        " last valid call callable reset renewal review scheduled promised"
    )
)
# When a figure became known, whatever period it is of; and when it was looked at, whatever it is of.
_PUBLISHED = frozenset(
    _split(
        "filed filing published publication released release announced announcement vintage realtime available disclosed"
    )
)
_LOOKED_AT = frozenset(_split("snapshot valuation position observation obs asof report reported reporting"))
_PERIODS = frozenset(_split("period quarter month week year fiscal reporting report"))
_LIKE_A_DATE = re.compile(
    r"date|dt\b|day|month|year|yr\b|period|quarter|time|_ts\b|\bts\b|epoch|stamp|asof|_at\b|_on\b|dated|fy\b"
    r"|(?:^|_)(?:ym|ymd|yyyymm|yyyymmdd|mth)(?:$|_)",
    re.IGNORECASE,
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MONTHS = frozenset(_split("jan feb mar apr may jun jul aug sep oct nov dec"))
SAMPLE = 200
# Kinds that a type says, which need no look at a form; and kinds of more than a day.
TYPED = ("date", "timestamp")
_LONG = frozenset(("month", "compact month", "yyyymm", "quarter", "year text", "year"))
_UNIX = (dt.datetime(1980, 1, 1).timestamp(), dt.datetime(2200, 1, 1).timestamp())
JULIAN = (2_378_496.5, 2_524_593.5)  # 1800 to 2200


@dataclass(frozen=True)
class DateColumn:
    """The column by which `as_of` hides rows, and the form of its dates: see `KINDS`.

    `declared` says that an owner named it; `others` are further columns of dates that were not taken.
    """

    name: str
    kind: str = "date"
    declared: bool = False
    others: tuple[str, ...] = ()


def words(name: str) -> list[str]:
    """The words of a column's name.

    >>> words("sbTxDateTime"), words("trade_dt")
    (['sb', 'tx', 'date', 'time'], ['trade', 'dt'])
    """
    return [word.lower() for word in re.findall(r"[A-Za-z]+|\d+", _HUMP.sub(" ", name).replace("_", " "))]


def rank(name: str) -> int:
    """How surely a column of dates says when a row became known: 4 by its plain name, 0 where it plans something.

    >>> [rank(name) for name in ("filed", "snapshot_date", "date", "trade_date", "period_end", "created_at", "end_date")]
    [6, 5, 4, 3, 3, 2, 0]
    """
    parts = set(words(name))
    if name.lower() in PLAIN_NAMES and not parts & _LOOKED_AT:
        return 4
    # The end of a period is when its figures are of; the end of a contract is a plan.
    ends = {"end", "ended", "ending"} if parts & _PERIODS else set()
    if parts & _PLANS - ends:
        return 0
    if found := next((high for high, known in ((6, _PUBLISHED), (5, _LOOKED_AT)) if parts & known), 0):
        return found
    if parts & _ENTERED:
        return 2
    return 3 if parts & _RECORDS - {"date", "day"} or parts <= {"date", "day", "dt", "time", "datetime"} else 1


def choose(columns: Iterable[tuple[str, str]]) -> DateColumn | None:
    """Of columns of dates with their kinds, the one by which `as_of` hides rows; None where none records an event.

    >>> choose([("settlement_date", "date"), ("trade_date", "date")])
    DateColumn(name='trade_date', kind='date', declared=False, others=('settlement_date',))
    >>> choose([("maturity_date", "date")]) is None
    True
    >>> choose([("paid_on", "date"), ("issued_on", "date")]).name
    'issued_on'
    """
    found = list(columns)
    by_name = {name.lower(): place for place, name in enumerate(PLAIN_NAMES)}
    ordered = sorted(found, key=lambda one: (-_surely(*one), one[1] not in TYPED, by_name.get(one[0].lower(), 0)))
    if not ordered or rank(ordered[0][0]) == 0:
        return None
    name, kind = ordered[0]
    return DateColumn(name, kind, others=tuple(other for other, _ in found if other != name))


def _surely(name: str, kind: str) -> float:
    """Its rank; a month or a year says it less well than the day of an event, and better than that of a beginning.

    What was paid was known before: rows that are not paid yet have no such day.
    """
    first = min(rank(name), 2.9) if "paid" in words(name) else rank(name)
    return min(first, 2.5) if kind in _LONG else first


def kind_of_type(type_: str) -> str | None:
    """The kind of a column by its type alone.

    >>> kind_of_type("TIMESTAMP WITH TIME ZONE"), kind_of_type("VARCHAR")
    ('timestamp', None)
    """
    name = type_.upper().partition("(")[0].strip()
    if name in ("DATE", "DATE32"):
        return "date"
    return "timestamp" if name.startswith(("TIMESTAMP", "DATETIME", "SMALLDATETIME")) else None


def may_be_date(name: str) -> bool:
    """Whether the name of a text or a number says that it is a date.

    >>> may_be_date("trade_dt"), may_be_date("fiscalYear"), may_be_date("fx_ym"), may_be_date("status"), may_be_date("updates")
    (True, True, True, False, False)
    """
    return bool(_LIKE_A_DATE.search(_HUMP.sub("_", name))) and not re.fullmatch(
        r"\w*(update|candidate|mandate)s?", name.lower()
    )


def kind_of_values(values: Sequence[object]) -> str | None:
    """The kind that all of a sample of values has; None where they have none in common, or it cannot be told.

    >>> kind_of_values(["20230131", "20230228"]), kind_of_values(["31/01/2023"]), kind_of_values(["01/02/2023"])
    ('compact', 'dmy', None)
    >>> kind_of_values([2019, 2020]), kind_of_values([1700000000]), kind_of_values([7, 8]), kind_of_values([2019, float("inf")])
    ('year', 'unix', None, None)
    """
    known = [
        value
        for value in values
        if value is not None and str(value).lower() not in ("nan", "nat") and str(value).strip()
    ]
    if not known:
        return None
    if all(isinstance(value, str) for value in known):
        # As TRIM of every engine does: no more than blanks.
        return _kind_of_texts([str(value).strip(" ") for value in known])
    try:
        numbers = [float(value) for value in known]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return next((kind for kind, fits in _NUMBERS if all(fits(number) for number in numbers)), None)


def _kind_of_texts(texts: Sequence[str]) -> str | None:
    fitting = [kind for kind, fits in _TEXTS if all(fits(text) for text in texts)]
    # Days before months or months before days: only a sample with a part above 12 tells.
    return None if not fitting or {"dmy", "mdy"} <= set(fitting) else fitting[0]


def _matches(pattern: str, check: Callable[[re.Match[str]], bool] = lambda match: True) -> Callable[[str], bool]:
    compiled = re.compile(pattern)

    def fits(text: str) -> bool:
        match = compiled.fullmatch(text)
        return match is not None and check(match)

    return fits


def _is_day(year: str, month: str, day: str) -> bool:
    try:
        return 1800 <= dt.date(int(year), int(month), int(day)).year <= 2200
    except ValueError:
        return False


_YEAR = r"(1[89]\d\d|2[01]\d\d)"
_TEXTS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("iso", _matches(_YEAR + r"-(\d\d)-(\d\d)([ T].*)?", lambda m: _is_day(m[1], m[2], m[3]))),
    ("slashed", _matches(_YEAR + r"/(\d\d)/(\d\d)([ T].*)?", lambda m: _is_day(m[1], m[2], m[3]))),
    ("compact", _matches(_YEAR + r"(\d\d)(\d\d)([ T].*)?", lambda m: _is_day(m[1], m[2], m[3]))),
    ("month", _matches(_YEAR + r"-(0[1-9]|1[0-2])")),
    ("compact month", _matches(_YEAR + r"(0[1-9]|1[0-2])")),
    ("quarter", _matches(_YEAR + r"[- ]?Q[1-4]")),
    ("year text", _matches(_YEAR)),
    ("dmy", _matches(r"(\d\d)[/.-](\d\d)[/.-]" + _YEAR + r"([ T].*)?", lambda m: _is_day(m[3], m[2], m[1]))),
    ("mdy", _matches(r"(\d\d)[/.-](\d\d)[/.-]" + _YEAR + r"([ T].*)?", lambda m: _is_day(m[3], m[1], m[2]))),
    ("day Mon year", _matches(r"(\d\d)[ -]([A-Za-z]{3})[ -]" + _YEAR, lambda m: m[2].lower() in _MONTHS)),
)


def _digits(length: int, check: Callable[[str], bool]) -> Callable[[float], bool]:
    return lambda number: number.is_integer() and len(str(int(number))) == length and check(str(int(number)))


_NUMBERS: tuple[tuple[str, Callable[[float], bool]], ...] = (
    ("yyyymmdd", _digits(8, lambda text: _is_day(text[:4], text[4:6], text[6:]))),
    ("yyyymm", _digits(6, lambda text: _is_day(text[:4], text[4:], "01"))),
    ("year", _digits(4, lambda text: 1800 <= int(text) <= 2200)),
    ("unix", lambda number: _UNIX[0] <= number <= _UNIX[1]),
    ("unix ms", lambda number: _UNIX[0] * 1000 <= number <= _UNIX[1] * 1000),
    ("julian", lambda number: JULIAN[0] <= number <= JULIAN[1]),
)

# What each kind is called in a schema card.
KINDS = {
    "date": "", "timestamp": "", "iso": "dates as texts YYYY-MM-DD", "slashed": "dates as texts YYYY/MM/DD",
    "compact": "dates as texts YYYYMMDD", "month": "months as texts YYYY-MM", "compact month": "months as texts YYYYMM",
    "quarter": "quarters as texts YYYYQn", "year text": "years as texts", "dmy": "dates as texts DD/MM/YYYY",
    "mdy": "dates as texts MM/DD/YYYY", "day Mon year": "dates as texts DD-Mon-YYYY", "yyyymmdd": "dates as numbers YYYYMMDD",
    "yyyymm": "months as numbers YYYYMM", "year": "years", "unix": "unix seconds", "unix ms": "unix milliseconds",
    "julian": "Julian days",
}  # fmt: skip
