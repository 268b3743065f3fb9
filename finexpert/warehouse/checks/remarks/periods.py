"""Periods of which these data hold only a part.

sold_on in 2024, of rows to October                  the year is not over in these data
GROUP BY date_trunc('month', sold_on)                the last month has two days
calendar.year = 2024, of sales to October            the same, by the day that a calendar says
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.warehouse.checks.reading.grouping import group_columns, group_keys
from finexpert.warehouse.checks.reading.period import SORTED, Ends, ends_of, span_of
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, own_where, rows_of
from finexpert.warehouse.dates import kind_of_type
from finexpert.warehouse.profile import from_named
from finexpert.warehouse.schema import TableSchema

_MOST = 1_000_000
_SPARE = 3  # days, as of a weekend
# Of fewer days nobody can tell how far they are apart.
_DAYS = 10
# A bound that is further off says only that there is none.
_FAR = 3660
_YEAR = 366
_LONG = len("2024-12-31")
_BOUNDS = (exp.EQ, exp.In, exp.Between)
_UNITS = ("year", "quarter", "month", "week")


@dataclass(frozen=True)
class _Held:
    """The days that a table holds."""

    first: dt.date
    last: dt.date
    spare: int

    def ends_before(self, day: dt.date) -> bool:
        return self.spare < (day - self.last).days < _FAR

    def begins_after(self, day: dt.date) -> bool:
        """By a year at most: who asks of more time asks for all there is."""
        return self.spare < (self.first - day).days < _YEAR


def periods(one: Read, probe: Probe, as_of: dt.date | None = None) -> list[str]:
    """Notes for the person; nothing is refused. What lies after `as_of` is not missed."""
    found: list[str] = []
    for scope in one.scopes:
        if isinstance(scope.expression, exp.Select) and scope.expression.args.get("from_"):
            found += [*_of_columns(one, scope, probe, as_of), *_of_calendars(one, scope, probe, as_of)]
    return list(dict.fromkeys(found))


def _of_columns(one: Read, scope: Scope, probe: Probe, as_of: dt.date | None) -> Iterator[str]:
    """Columns of days that conditions bound, or by whose months or years a SELECT groups."""
    units = _units(one, scope)
    bounds: dict[str, tuple[Origin, list[dt.date], list[dt.date]]] = {}
    for node in scope.walk():
        columns = list(node.find_all(exp.Column)) if isinstance(node, exp.Predicate) else []
        origin = one.origin(columns[0], scope) if len(columns) == 1 else None
        if origin is None or not _is_dated(origin):
            continue
        for first, last in ends_of(one, node, scope):
            _, firsts, lasts = bounds.setdefault(str(origin), (origin, [], []))
            firsts.extend([first] if first else [])
            lasts.extend([last] if last else [])
    for origin, firsts, lasts in bounds.values():
        held = _held(origin, probe) if firsts and lasts else None
        last = min(max(lasts), as_of or dt.date.max) if lasts else None
        if held is None or last is None or last < held.first or held.last < min(firsts):
            continue
        if held.ends_before(last):
            yield f"{origin} ends on {held.last} in these data, and the period goes on until {last}: it is not all there"
        if held.begins_after(min(firsts)):
            yield f"{origin} begins on {held.first} in these data, and the period on {min(firsts)}: it is not all there"
    for name, (origin, column, unit) in units.items():
        held = _held(origin, probe) if not bounds.get(name, (origin, [], []))[2] else None
        if held is None:
            continue
        # Whoever keeps other days only has no part of the last month.
        rows = rows_of(one, scope, own_where(scope))
        rows.set("expressions", [_day(origin, column.copy()).as_("d")])
        kept = _days(rows, probe, origin.column.dates)
        if kept is None:
            continue
        last = min(_bucket(kept.last, unit)[1], as_of or dt.date.max)
        if _bucket(held.last, unit) == _bucket(kept.last, unit) and held.ends_before(last):
            yield f"{origin} ends on {held.last} in these data: the last {unit} is not all there"


def _of_calendars(one: Read, scope: Scope, probe: Probe, as_of: dt.date | None) -> Iterator[str]:
    """Tables whose days stand in a table with a row a day, of which conditions or groups take years or months."""
    for name in scope.sources:
        calendar = one.base_of(scope, name)
        day = _day_of(calendar, probe) if calendar is not None else None
        if calendar is None or day is None:
            continue
        bound = [part for part in _conditions(scope) if _is_of(part, name)]
        grouped = [column for column in group_columns(scope.expression) if column.table == name]
        bounded = any(part.find(*_BOUNDS, exp.LT, exp.LTE) for part in bound)
        begun = any(part.find(*_BOUNDS, exp.GT, exp.GTE) for part in bound)
        for table in (one.base_of(scope, other) for other in scope.sources if other != name):
            key = next((key for key in table.foreign_keys if key.table == calendar.name), None) if table else None
            if table is None or key is None or len(key.columns) != 1 or not (bounded or grouped):
                continue
            own, refers = (exp.column(made[0], quoted=True) for made in (key.columns, key.referred))
            held = _of_table(calendar, day, refers.isin(query=exp.select(own).from_(from_named(table.name))), probe)
            if held is None or table.rows is None or table.rows > _MOST:
                continue
            asked = [_bare(part) for part in bound]
            whole = _of_table(calendar, day, exp.and_(*asked), probe) if begun else None
            if whole is not None and whole.last >= held.first and held.begins_after(whole.first):
                yield f"{table.name} begins on {held.first} in these data, and the period on {whole.first}: it is not all there"
            for column in grouped:
                shown = exp.column(column.name, quoted=True)
                last = exp.select(shown).from_(from_named(calendar.name)).where(_on(day, held.last)).subquery()
                asked.append(shown.copy().eq(last))
            found = _of_table(calendar, day, exp.and_(*asked), probe)
            if found is None or found.first > held.last or (grouped and (found.last - found.first).days > _YEAR):
                continue
            last_day = min(found.last, as_of or dt.date.max)
            if held.ends_before(last_day):
                yield f"{table.name} ends on {held.last} in these data, and the period goes on until {last_day}: it is not all there"


def _is_dated(origin: Origin) -> bool:
    return kind_of_type(origin.column.type) in ("date", "timestamp") or origin.column.dates in ("iso", *SORTED)


def _day(origin: Origin, column: exp.Expr) -> exp.Expr:
    if origin.column.dates in SORTED:
        return column
    if origin.column.dates == "iso":
        return exp.Substring(this=column, start=exp.Literal.number(1), length=exp.Literal.number(_LONG))
    return exp.cast(column, "date")


def _units(one: Read, scope: Scope) -> dict[str, tuple[Origin, exp.Column, str]]:
    """The shortest time by which a SELECT groups each of its columns of days: a month without a year is of every year."""
    found: dict[str, list[tuple[Origin, exp.Column, str]]] = {}
    for key in group_keys(scope.expression):
        columns = list(key.find_all(exp.Column))
        origin = one.origin(columns[0], scope) if len(columns) == 1 else None
        unit = _unit(key) or (_unit_of_number(key, origin) if origin is not None else None)
        if origin is not None and _is_dated(origin) and unit and not _is_bounded_outside(one, scope, key):
            found.setdefault(str(origin), []).append((origin, columns[0], unit))
    shortest = {name: max(of, key=lambda each: _UNITS.index(each[2].removeprefix("of "))) for name, of in found.items()}
    return {
        name: (origin, column, unit.removeprefix("of "))
        for name, (origin, column, unit) in shortest.items()
        if not unit.startswith("of ") or any(each[2] == "year" for each in found[name])
    }


def _unit(key: exp.Expr) -> str | None:
    """
    >>> import sqlglot
    >>> [_unit(sqlglot.parse_one(made, read="duckdb")) for made in ("date_trunc('month', d)", "year(d)", "month(d)", "substr(d, 1, 7)")]
    ['month', 'year', 'of month', 'month']
    """
    key = key.this if isinstance(key, exp.Cast | exp.Paren) else key
    if isinstance(key, exp.DateTrunc | exp.TimestampTrunc):
        unit = str(key.args.get("unit") or "").strip("'\"").lower()
        return unit if unit in _UNITS else None
    if isinstance(key, exp.TimeToStr):
        return {"%Y": "year", "%Y-%m": "month", "%Y%m": "month"}.get(key.args["format"].name)
    if isinstance(key, exp.Substring | exp.Left):
        length = key.args.get("length") or key.expression
        return (
            {"4": "year", "7": "month"}.get(length.name) if getattr(key.args.get("start"), "name", "1") == "1" else None
        )
    part = key.name.lower() if isinstance(key, exp.Extract) else type(key).__name__.lower()
    return part if part == "year" else f"of {part}" if part in ("quarter", "month") else None


def _unit_of_number(key: exp.Expr, origin: Origin) -> str | None:
    """What is left of a day that is written as a number: 20240718 // 100 is a month."""
    if not isinstance(key, exp.IntDiv | exp.Div) or origin.column.dates != "yyyymmdd":
        return None
    return {"100": "month", "10000": "year"}.get(key.expression.name)


def _is_bounded_outside(one: Read, scope: Scope, key: exp.Expr) -> bool:
    """Whether a SELECT around this one compares what it calls the key."""
    select = scope.expression
    made = select.selects if isinstance(select, exp.Select) else []
    named = {shown.alias_or_name.lower() for shown in made if shown.unalias().sql() == key.sql()}
    outside = (node for other in one.scopes if other is not scope for node in other.walk())
    return any(
        column.name.lower() in named
        for node in outside
        if isinstance(node, exp.Predicate)
        for column in node.find_all(exp.Column)
    )


def _bucket(day: dt.date, unit: str) -> tuple[dt.date, dt.date]:
    """
    >>> [[str(day) for day in _bucket(dt.date(2024, 11, 7), unit)] for unit in ("year", "quarter", "week")]
    [['2024-01-01', '2024-12-31'], ['2024-10-01', '2024-12-31'], ['2024-11-04', '2024-11-10']]
    """
    if unit == "week":
        first = day - dt.timedelta(days=day.weekday())
        return first, first + dt.timedelta(days=6)
    months = {"year": 12, "quarter": 3, "month": 1}[unit]
    first = dt.date(day.year, (day.month - 1) // months * months + 1, 1)
    after = first.month - 1 + months
    return first, dt.date(first.year + after // 12, after % 12 + 1, 1) - dt.timedelta(days=1)


def _held(origin: Origin, probe: Probe) -> _Held | None:
    if origin.table.rows is None or origin.table.rows > _MOST:
        return None
    day = _day(origin, exp.column(origin.column.name, quoted=True))
    return _days(exp.select(day.as_("d")).from_(from_named(origin.table.name)), probe, origin.column.dates)


def _of_table(table: TableSchema, day: str, condition: exp.Expr, probe: Probe) -> _Held | None:
    column = exp.cast(exp.column(day, quoted=True), "date")
    return _days(exp.select(column.as_("d")).from_(from_named(table.name)).where(condition), probe)


def _days(rows: exp.Select, probe: Probe, kind: str = "") -> _Held | None:
    """The first and the last day of rows, and how many days after the last one nothing is missed; None of too few days."""
    made = rows.subquery("r")
    ends = [probe.first(exp.select(end).from_(made.copy()), 1) for end in ("MIN(d)", "MAX(d)", "COUNT(DISTINCT d)")]
    if not all(ends) or int(ends[2][0]) < _DAYS:
        return None
    first, last = (_read(end[0], kind) for end in ends[:2])
    if first[0] is None or last[1] is None:
        # Among dates as texts stand others.
        return None
    apart = 2 * (last[1] - first[0]).days // (int(ends[2][0]) - 1) if last[0] == last[1] else 0
    return _Held(first[0], last[1], apart + _SPARE)


def _read(value: object, kind: str) -> Ends:
    """The first and the last day of a value."""
    if kind in SORTED:
        return span_of(int(value) if isinstance(value, float) else value, kind)
    try:
        day = dt.date.fromisoformat(str(value)[:_LONG])
    except ValueError:
        return None, None
    return day, day


def _day_of(table: TableSchema, probe: Probe) -> str | None:
    """The column of days of a table that has one row a day."""
    days = [column.name for column in table.columns if kind_of_type(column.type) == "date"]
    if len(days) != 1 or table.rows is None or table.rows > _MOST:
        return None
    day = exp.column(days[0], quoted=True)
    counted = exp.select("COUNT(*) AS n", exp.Count(this=exp.Distinct(expressions=[day])).as_("d"))
    sizes = counted.from_(from_named(table.name)).subquery("sizes")
    return days[0] if probe.any_row(exp.select("1").from_(sizes).where(f"n = d AND n > {_YEAR}")) is True else None


def _conditions(scope: Scope) -> list[exp.Expr]:
    where = scope.expression.args.get("where")
    if where is None:
        return []
    return list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]


def _is_of(part: exp.Expr, name: str) -> bool:
    columns = list(part.find_all(exp.Column))
    return bool(columns) and all(column.table == name for column in columns) and part.find(exp.Select) is None


def _bare(part: exp.Expr) -> exp.Expr:
    part = part.copy()
    for column in part.find_all(exp.Column):
        column.replace(exp.column(column.name, quoted=True))
    return part


def _on(day: str, date: dt.date) -> exp.Expr:
    return exp.column(day, quoted=True).eq(exp.cast(exp.Literal.string(str(date)), "date"))
