"""A number that stands for none, among those that are averaged or added up.

avg(score) where 40 of 400 rows hold -1 and all others 300 and more      -1 says that there is no score

Read from the rows alone: one negative number, or one of nines, that several rows hold and nothing else comes near.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from finexpert.warehouse.checks.reading.joined import SMALL
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, rows_of, text_of

_TAKEN = (exp.Avg, exp.Sum, exp.Min, exp.Max, exp.Median)
_BELOW = (-1, -9, -99, -999, -9999, -99999)
_ABOVE = (999, 9999, 99999, 999999, 9999999, 99999999, 999999999)
_FAR = 3
_MANY = 3


def stand_ins(one: Read, probe: Probe) -> list[str]:
    """Notes for the person; nothing is refused."""
    return list(dict.fromkeys(_found(one, probe)))


def _found(one: Read, probe: Probe) -> Iterator[str]:
    for scope in one.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or scope.external_columns or not select.args.get("from_"):
            continue
        for node in scope.find_all(*_TAKEN):
            column = node.this
            origin = one.origin(column, scope) if isinstance(column, exp.Column) else None
            if origin is None or origin.column.is_text or node.find_ancestor(exp.Select, exp.Filter) is not select:
                continue
            if origin.table.rows is None or origin.table.rows > SMALL or not _is_number(origin.column.type):
                continue
            where = select.args.get("where")
            rows = rows_of(one, scope, where.this if where is not None else None)
            rows.set("expressions", [column.copy().as_("v")])
            if (number := _stand_in(rows, probe)) is not None:
                yield f"{text_of(one, node)} takes {number} for a number, which stands in several rows of {origin} far from all others: it may say that there is none"


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
