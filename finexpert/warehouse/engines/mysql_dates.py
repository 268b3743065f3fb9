"""Sums and parts of dates in DuckDB SQL, rewritten for MySQL and MariaDB.

date_trunc('month', date)      ->   CAST(DATE_FORMAT(date, '%Y-%m-01') AS DATE)
date_diff('month', a, b)       ->   borders crossed, where TIMESTAMPDIFF would count whole months
date + 5, date - INTERVAL ...  ->   DATE_ADD(date, INTERVAL 5 DAY), where MySQL would add to the number 20240930
"""

from __future__ import annotations

from sqlglot import exp

from finexpert.errors import QueryError
from finexpert.warehouse.engines.rewriting import DATES, TEXTS, TIMES, WHOLE, Rule, is_a

UNITS = ("day", "week", "month", "quarter", "year")
ADDED = (*UNITS, "hour", "minute", "second")
PLAIN_PARTS = ("year", "month", "day", "quarter", "hour", "minute", "second")
PARTS: dict[type[exp.Expression], str] = {
    exp.Year: "year",
    exp.Month: "month",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.Quarter: "quarter",
    exp.Week: "week",
    exp.WeekOfYear: "week",
    exp.DayOfWeek: "dow",
    exp.DayOfWeekIso: "isodow",
    exp.DayOfYear: "doy",
    exp.Hour: "hour",
    exp.Minute: "minute",
    exp.Second: "second",
    exp.TimeToUnix: "epoch",
}


def refused(what: str, instead: str) -> QueryError:
    """The error of what MySQL lacks."""
    return QueryError(f"{what} has no translation to mysql: {instead}")


def number(value: int | str) -> exp.Expression:
    return exp.Literal.number(value)


def _call(name: str, *arguments: exp.Expression) -> exp.Expression:
    return exp.Anonymous(this=name, expressions=[one.copy() for one in arguments])


def _text(text: str) -> exp.Expression:
    return exp.Literal.string(text)


def _unit(node: exp.Expression | None, known: tuple[str, ...] = UNITS) -> str:
    unit = (node.name if node is not None else "day").lower().rstrip("s")
    if unit not in known:
        raise refused(f"the unit {unit or 'of this interval'}", f"use {', '.join(known)}")
    return unit


def _moved(date: exp.Expression, count: exp.Expression, unit: str, back: bool = False) -> exp.Expression:
    kind = exp.DateSub if back else exp.DateAdd
    if not isinstance(count, exp.Literal | exp.Paren):
        count = exp.Paren(this=count)
    return kind(this=date, expression=count, unit=exp.var(unit.upper()))


def _first_day(unit: str, date: exp.Expression) -> exp.Expression:
    if unit == "day":
        return exp.cast(date.copy(), "date")
    if unit == "week":
        return _moved(exp.cast(date.copy(), "date"), _call("WEEKDAY", date), "day", back=True)
    if unit == "quarter":
        quarters = exp.Sub(this=_call("QUARTER", date), expression=number(1))
        return _moved(_call("MAKEDATE", _call("YEAR", date), number(1)), quarters, "quarter")
    written = {"month": "%Y-%m-01", "year": "%Y-01-01"}[unit]
    return exp.cast(_call("DATE_FORMAT", date, _text(written)), "date")


def _trunc(node: exp.Expression) -> exp.Expression:
    return _first_day(_unit(node.args.get("unit")), node.this)


def _part_of(unit: str, date: exp.Expression) -> exp.Expression:
    if unit in PLAIN_PARTS:
        return _call(unit.upper(), date)
    if unit in ("dow", "dayofweek"):
        return exp.Paren(this=exp.Sub(this=_call("DAYOFWEEK", date), expression=number(1)))
    if unit == "isodow":
        return exp.Paren(this=exp.Add(this=_call("WEEKDAY", date), expression=number(1)))
    if unit in ("doy", "dayofyear"):
        return _call("DAYOFYEAR", date)
    if unit == "week":
        return _call("WEEK", date, number(3))
    if unit == "epoch":
        return _call("TIMESTAMPDIFF", exp.var("SECOND"), _text("1970-01-01"), date)
    raise refused(f"the part {unit} of a date", f"use {', '.join(PLAIN_PARTS)}, week, dow or doy")


def _part(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.Extract):
        return _part_of(node.this.name.lower(), node.expression)
    return _part_of(next(unit for kind, unit in PARTS.items() if isinstance(node, kind)), node.this)


def _named(node: exp.Expression) -> exp.Expression:
    if str(node.this).lower() in ("date_part", "datepart") and len(node.expressions) == 2:
        return _part_of(node.expressions[0].name.lower(), node.expressions[1])
    return node


def _diff(node: exp.Expression) -> exp.Expression:
    """How many borders of the unit lie between two dates, as in DuckDB."""
    unit, start, end = _unit(node.args.get("unit")), node.expression, node.this
    if unit == "day":
        return _call("DATEDIFF", end, start)
    if unit == "week":
        days = _call("DATEDIFF", _first_day("week", end), _first_day("week", start))
        return exp.Paren(this=exp.IntDiv(this=days, expression=number(7)))
    counts = [_count(unit, one) for one in (end, start)]
    return exp.Paren(this=exp.Sub(this=counts[0], expression=counts[1]))


def _count(unit: str, date: exp.Expression) -> exp.Expression:
    """The years, quarters or months since the year 0."""
    years = _call("YEAR", date)
    if unit == "year":
        return years
    many = exp.Mul(this=years, expression=number({"quarter": 4, "month": 12}[unit]))
    return exp.Paren(this=exp.Add(this=many, expression=_call(unit.upper(), date)))


def _plus(node: exp.Expression) -> exp.Expression:
    this, other, back = node.this, node.expression, isinstance(node, exp.Sub | exp.DateSub)
    if isinstance(other, exp.Interval):
        count = other.this
        if isinstance(count, exp.Literal):
            if not count.name.lstrip("-").isdigit():
                raise refused("such an interval", "write a whole number of days or months, as INTERVAL 1 MONTH")
            count = exp.Paren(this=number(count.name))
        elif not is_a(count, WHOLE):
            count = exp.cast(count, "bigint")
        return _moved(this, count, _unit(other.args.get("unit"), ADDED), back)
    if is_a(this, DATES) and is_a(other, DATES) and back:
        return _call("DATEDIFF", this, other)
    if is_a(this, DATES) and is_a(other, WHOLE):
        return _moved(this, other, "day", back)
    if any(is_a(one, DATES + TIMES) or isinstance(one, exp.Interval) for one in (this, other)):
        raise refused("this sum of dates", "write date + INTERVAL 1 MONTH, or date_diff")
    return node


def _interval(node: exp.Expression) -> exp.Expression:
    if not isinstance(node.parent, exp.Add | exp.Sub | exp.DateAdd | exp.DateSub):
        raise refused("an interval alone", "add it to a date")
    return node


def _from_parts(node: exp.Expression) -> exp.Expression:
    """Parts that make no date give NULL and a warning, which is refused when the rows are read."""
    parts = [node.args["year"], _text("-"), node.args["month"], _text("-"), node.args["day"]]
    return exp.cast(exp.Concat(expressions=parts, safe=False, coalesce=False), "date")


def compared(node: exp.Expression) -> exp.Expression:
    """A text beside a date is cast as DuckDB casts it; beside a computed date, MySQL would compare both as texts."""
    named = (node.this, node.expression, node.args.get("low"), node.args.get("high"))
    sides = [side for side in (*named, *node.expressions) if side is not None]
    for kinds, kind in ((DATES, "date"), (TIMES, "datetime(6)")):
        if any(is_a(side, kinds) for side in sides):
            for side in sides:
                if is_a(side, TEXTS):
                    side.replace(exp.Cast(this=side.copy(), to=exp.DataType.build(kind, dialect="mysql")))
    return node


DATE_RULES: tuple[tuple[tuple[type, ...], Rule], ...] = (
    ((exp.TimestampTrunc, exp.DateTrunc), _trunc),
    ((exp.Extract, *PARTS), _part),
    ((exp.Anonymous,), _named),
    ((exp.DateDiff,), _diff),
    ((exp.Add, exp.Sub, exp.DateAdd, exp.DateSub), _plus),
    ((exp.Interval,), _interval),
    ((exp.DateFromParts,), _from_parts),
    ((exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between), compared),
)
