"""A number or a day that stands for none, among those that are averaged or added up.

avg(score) where 40 of 400 rows hold -1 and all others 300 and more             -1 says that there is no score
avg(reported - lost) where 40 of 400 rows hold 1900-01-01 and all others 2018   it says that nobody knows when

Read from the rows alone: one negative number, one of nines, or the first day of a calendar, that several rows hold and nothing else comes near.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from finexpert.warehouse.checks.reading.probing import SMALL, Probe
from finexpert.warehouse.checks.reading.select import Read, own_where, rows_of, text_of

_TAKEN = (exp.Avg, exp.Sum, exp.Min, exp.Max, exp.Median)
_BELOW = (-1, -9, -99, -999, -9999, -99999)
_ABOVE = (999, 9999, 99999, 999999, 9999999, 99999999, 999999999)
_FIRST_DAYS = (
    "0001-01-01",
    "1753-01-01",
    "1800-01-01",
    "1899-12-30",
    "1899-12-31",
    "1900-01-01",
    "1901-01-01",
    "1970-01-01",
)
_FAR = 3
_YEARS = 20
_MANY = 3


def stand_ins(one: Read, probe: Probe) -> list[str]:
    """Notes for the person; nothing is refused."""
    return list(dict.fromkeys(_found(one, probe)))


def _found(one: Read, probe: Probe) -> Iterator[str]:
    for scope in one.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or scope.external_columns or not select.args.get("from_"):
            continue
        rows = rows_of(one, scope, own_where(scope))
        for node in scope.find_all(*_TAKEN):
            if node.find_ancestor(exp.Select, exp.Filter) is not select:
                continue
            for column in node.find_all(exp.Column):
                origin = one.origin(column, scope)
                # What is compared with something may be left out by it.
                if column.find_ancestor(exp.Case, exp.Nullif, exp.If, type(node)) is not node:
                    continue
                if origin is None or origin.column.is_text or not origin.table.rows or origin.table.rows > SMALL:
                    continue
                rows.set("expressions", [column.copy().as_("v")])
                kind, found = _of_column(origin.column.type, rows, probe, alone=column is node.this)
                if found is not None:
                    yield f"{text_of(one, node)} takes {found} for a {kind}, which stands in several rows of {origin} far from all others: it may say that there is none"


def _of_column(type: str, rows: exp.Select, probe: Probe, *, alone: bool) -> tuple[str, int | str | None]:
    """What stands for none in a column: of numbers where they are added up as they are, of days also where a length is made of them."""
    if _is_number(type):
        return "number", _stand_in(rows, probe) if alone else None
    # SQLite keeps days as texts or numbers.
    is_day = type.upper().startswith(("DATE", "TIMESTAMP")) and probe.dialect != "sqlite"
    return "day", _first_day(rows, probe) if is_day else None


def _first_day(rows: exp.Select, probe: Probe) -> str | None:
    """The first day of a calendar, where several rows hold it and no other row a day of the years after it."""
    days = exp.select("CAST(v AS DATE) AS d").from_(rows.copy().subquery("r")).where("NOT v IS NULL").subquery("days")
    listed = " OR ".join(f"d = CAST('{day}' AS DATE)" for day in _FIRST_DAYS)
    held = probe.first(exp.select("d").distinct().from_(days.copy()).where(listed), 3)
    if len(held) != 1:
        return None
    day = str(held[0])[:10]
    after = f"{int(day[:4]) + _YEARS:04}{day[4:]}"
    same = f"SUM(CASE WHEN d = CAST('{day}' AS DATE) THEN 1 ELSE 0 END) >= {_MANY}"
    others = f"SUM(CASE WHEN d <> CAST('{day}' AS DATE) AND d < CAST('{after}' AS DATE) THEN 1 ELSE 0 END) = 0"
    spread = f"MAX(d) > CAST('{after}' AS DATE)"
    found = exp.select("1").from_(days).having(f"{same} AND {others} AND {spread}")
    return day if probe.any_row(found) is True else None


def _stand_in(rows: exp.Select, probe: Probe) -> int | None:
    """The number of several rows that is far from all others."""
    listed = ", ".join(map(str, (*_BELOW, *_ABOVE)))
    held = probe.first(exp.select("v").distinct().from_(rows.copy().subquery("r")).where(f"v IN ({listed})"), 3)
    # Two of them are an ordinary spread of numbers.
    if len(held) != 1:
        return None
    number = int(held[0])
    near = "v < 0" if number < 0 else f"v * {_FAR} > {number}"
    same = f"SUM(CASE WHEN v = {number} THEN 1 ELSE 0 END) >= {_MANY}"
    others = f"SUM(CASE WHEN v <> {number} AND {near} THEN 1 ELSE 0 END) = 0"
    # Beside 0 and 1 a -1 is one of three answers, and no stand-in.
    spread = f"MAX(CASE WHEN v <> {number} THEN v END) > 1"
    found = exp.select("1").from_(rows.subquery("r")).having(f"{same} AND {others} AND {spread}")
    return number if probe.any_row(found) is True else None


def _is_number(kind: str) -> bool:
    return any(name in kind.upper() for name in ("INT", "DEC", "NUM", "DOUBLE", "FLOAT", "REAL"))
