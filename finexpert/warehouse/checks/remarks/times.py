"""What a person should know of the time that a SELECT asks about.

end_date > '2022-01-01'                   end_date is missing where something has no end yet: left out
month(closed_on) = 2                      February of every year
executed_at >= '2023-01-01', with a zone  the day begins at midnight in UTC
date_diff('year', born, day)              a year more on 1 January, on some engines
date_diff('hour', opened_at, closed_at)   0 from 10:01 to 10:59
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from finexpert.warehouse.checks.reading.probing import SMALL, Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, columns_of, rows_of, text_of
from finexpert.warehouse.checks.times.versions import spans
from finexpert.warehouse.dates import kind_of_type
from finexpert.warehouse.profile import from_named

_OF_DAYS = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ, exp.Between, exp.Cast, exp.Date, exp.DateTrunc, exp.TimestampTrunc,
            exp.Extract, exp.Year, exp.Month, exp.Quarter, exp.TsOrDsToDate)  # fmt: skip
_COUNT_TURNS = frozenset(("duckdb", "tsql", "snowflake", "redshift"))
_YEAR = re.compile(r"(?:19|20)\d\d")
_PERIODS = frozenset(("year", "quarter", "month"))
_PARTS_OF_DAYS = frozenset(("week", "day", "hour", "minute"))
_MONTHS = (exp.Month, exp.Extract, exp.TimeToStr, exp.Anonymous)


def times(one: Read, probe: Probe) -> list[str]:
    """Notes for the person; nothing is refused."""
    found = [*_open_ends(one, probe), *_months(one, probe), *_zones(one), *_turns(one)]
    return list(dict.fromkeys(found))


def _open_ends(one: Read, probe: Probe) -> Iterator[str]:
    """Ends that are missing, of rows that a time has to lie in: what has no end yet is left out."""
    tested = {node.this.sql() for node in (one.select or exp.Select()).find_all(exp.Is, exp.Coalesce)}
    for scope in one.scopes:
        if not isinstance(scope.expression, exp.Select) or not scope.expression.args.get("from_"):
            continue
        for span in spans(one, scope):
            table = one.base_of(scope, span.last.table)
            if table is None or table.rows is None or table.rows > SMALL or span.last.sql() in tested:
                continue
            first, last = (exp.column(end.name, quoted=True) for end in (span.first, span.last))
            rows = exp.select("1").from_(from_named(table.name))
            if probe.any_row(rows.where(last.is_(exp.null()), first.is_(exp.null()).not_())) is True:
                yield (
                    f"{table.name}.{span.last.name} is missing in some rows, which {text_of(one, span.node)} leaves out: they may have no end yet"
                )


def _months(one: Read, probe: Probe) -> Iterator[str]:
    """A month of every year, where no condition says of which."""
    for scope in one.scopes:
        where = scope.expression.args.get("where") if isinstance(scope.expression, exp.Select) else None
        if where is None or scope.external_columns or any(t.rows is None or t.rows > SMALL for t in one.used):
            continue
        for node in where.find_all(exp.EQ):
            column = _in_month(node)
            origin = one.origin(column, scope) if column is not None else None
            if column is None or origin is None or len(list(_mentions(one, origin))) > 1:
                continue
            year: exp.Expr = exp.Extract(this=exp.var("YEAR"), expression=column.copy())
            if one.dialect == "sqlite":
                year = exp.Anonymous(this="STRFTIME", expressions=[exp.Literal.string("%Y"), column.copy()])
            years = rows_of(one, scope, where.this)
            years.set("expressions", [year.as_("y")])
            several = exp.select("COUNT(DISTINCT y) AS n").from_(years.subquery("years"))
            if probe.any_row(exp.select("1").from_(several.subquery("counted")).where("n > 1")) is True:
                yield f"{text_of(one, node)} holds in several years, and no condition says which: all of them count"


def _in_month(node: exp.EQ) -> exp.Column | None:
    """The column of which a comparison takes the month."""
    made, other = (
        (node.this, node.expression) if isinstance(node.expression, exp.Literal) else (node.expression, node.this)
    )
    made = made.this if isinstance(made, exp.Cast) else made
    said = made.sql().upper()
    taken = isinstance(made, _MONTHS) and ("MONTH" in said or "'%M'" in said)
    columns = list(made.find_all(exp.Column))
    return columns[0] if taken and isinstance(other, exp.Literal) and len(columns) == 1 else None


def _mentions(one: Read, origin: Origin) -> Iterator[exp.Column]:
    return (column for column, scope in columns_of(one) if str(one.origin(column, scope)) == str(origin))


def _zones(one: Read) -> Iterator[str]:
    """Moments with a time zone of which days are made."""
    for column, scope in columns_of(one):
        origin = one.origin(column, scope)
        if origin is None or not _has_zone(origin) or column.find_ancestor(exp.AtTimeZone) is not None:
            continue
        above = column.parent
        if isinstance(above, _OF_DAYS) and (not isinstance(above, exp.Binary) or above.find(exp.Literal) is not None):
            yield f"{origin} is kept with a time zone: a day of it begins at midnight in UTC"


def _has_zone(origin: Origin) -> bool:
    kind = origin.column.type.upper()
    return kind_of_type(kind) == "timestamp" and ("WITH TIME ZONE" in kind or "TZ" in kind)


def _turns(one: Read) -> Iterator[str]:
    """Differences in years or months of engines that count the turns between two days."""
    for node in (one.select or exp.Select()).find_all(exp.DateDiff) if one.dialect in _COUNT_TURNS else ():
        unit = str(node.args.get("unit") or "").strip("'\"").lower()
        if unit in _PERIODS or (unit in _PARTS_OF_DAYS and _is_of_moments(one, node)):
            yield f"{text_of(one, node)} counts how often {'an' if unit == 'hour' else 'a'} {unit} begins between the two, and no whole {unit}s"
    for less in (one.select or exp.Select()).find_all(exp.Sub):
        sides = [less.this.unnest(), less.expression.unnest()]
        if any(map(_is_year, sides)) and all(_is_year(side) or _YEAR.fullmatch(side.name) for side in sides):
            yield f"{text_of(one, less)} counts how often a year begins between the two, and no whole years"


def _is_of_moments(one: Read, node: exp.DateDiff) -> bool:
    """Whether both ends of a difference are columns that hold a time of the day."""
    origins = [one.origin(column, scope) for column, scope in columns_of(one) if column.parent is node]
    return len(origins) == 2 and all(origin is not None and "TIME" in origin.column.type.upper() for origin in origins)


def _is_year(node: exp.Expr) -> bool:
    """Whether an expression takes the year of a day."""
    node = node.this if isinstance(node, exp.Cast) else node
    said = node.sql().upper()
    return isinstance(node, exp.Year) or (
        isinstance(node, exp.Extract | exp.TimeToStr) and ("YEAR" in said or "'%Y'" in said)
    )
