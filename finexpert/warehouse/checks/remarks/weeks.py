"""Weeks of ISO's calendar beside years of the common one.

week(day) = 52 AND year(day) = 2023       1 January 2023 is of week 52 of 2022
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.warehouse.checks.reading.probing import SMALL, Probe
from finexpert.warehouse.checks.reading.select import Read, own_where, rows_of, text_of

# MySQL and SQLite count weeks of a year within that year.
_ISO_WEEKS = frozenset(("duckdb", "postgres"))


def weeks(one: Read, probe: Probe) -> list[str]:
    """Notes on weeks whose days are of another year's week, where such days are among the rows."""
    return list(dict.fromkeys(_found(one, probe))) if one.dialect in _ISO_WEEKS else []


def _found(one: Read, probe: Probe) -> Iterator[str]:
    for scope in one.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or scope.external_columns or not select.args.get("from_"):
            continue
        if any(table.rows is None or table.rows > SMALL for table in one.used):
            continue
        weeks_of, years_of = _parts(scope, "WEEK"), _parts(scope, "YEAR")
        for day in (weeks_of[said][1] for said in set(weeks_of) & set(years_of)):
            rows = rows_of(one, scope, own_where(scope))
            made = (exp.Extract(this=exp.var(part), expression=day.copy()) for part in ("WEEK", "MONTH"))
            rows.set("expressions", [part.as_(name) for part, name in zip(made, ("w", "m"), strict=True)])
            turn = exp.select("1").from_(rows.subquery("r")).where("(w >= 52 AND m = 1) OR (w = 1 AND m = 12)")
            if probe.any_row(turn) is True:
                week, year = weeks_of[day.sql()][0], years_of[day.sql()][0]
                yield f"{text_of(one, week)} beside {text_of(one, year)}: days at the turn of a year may be of a week of the other year"


def _parts(scope: Scope, part: str) -> dict[str, tuple[exp.Expr, exp.Expr]]:
    """Where a SELECT takes a part of a date, and of which, by the text of the date."""
    kinds = (exp.Week, exp.WeekOfYear) if part == "WEEK" else (exp.Year,)
    found: dict[str, tuple[exp.Expr, exp.Expr]] = {}
    for node in scope.find_all(exp.Extract, exp.Anonymous, *kinds):
        if isinstance(node, exp.Extract):
            day = node.expression if node.name.upper() == part else None
        elif isinstance(node, exp.Anonymous):
            first, *rest = node.expressions or [None]
            is_part = node.name.lower() == "date_part" and first is not None and first.name.upper() == part
            day = rest[0] if is_part and rest else None
        else:
            day = node.this
        if day is not None:
            found[day.sql()] = (node, day)
    return found
