"""Groups of what has one name and is not one thing, and of what is one thing under two names.

GROUP BY full_name      two holders of one name become one
GROUP BY topic          billing and Billing become two, of which a SELECT around it or a LIMIT keeps the larger
count(DISTINCT topic)   billing and Billing are counted as two
full_name = 'A. Schmidt'  two people are called so, and both count
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.warehouse.checks.reading.grouping import group_columns
from finexpert.warehouse.checks.reading.probing import MOST_VALUES, SMALL, Probe
from finexpert.warehouse.checks.reading.select import Origin, Read
from finexpert.warehouse.checks.results import alike
from finexpert.warehouse.dates import words
from finexpert.warehouse.profile import from_named

_NAMES = frozenset(("name", "title", "label", "description"))


def names(one: Read, probe: Probe) -> list[str]:
    """Notes on names by which alone a SELECT groups: several rows of their table have one, or one is written in two ways."""
    found = [
        note
        for scope in one.scopes
        for look in (_of_select, _written_twice, _counted_twice, _called_alike)
        for note in look(one, scope, probe)
    ]
    return list(dict.fromkeys(found))


def _of_select(one: Read, scope: Scope, probe: Probe) -> Iterator[str]:
    origins = [origin for column in group_columns(scope.expression) if (origin := one.origin(column, scope))]
    for origin in origins:
        keys = [key for key in origin.table.keys if len(key) == 1]
        grouped = {other.column.name for other in origins if other.table is origin.table}
        if not keys or not set(words(origin.column.name)) & _NAMES or grouped != {origin.column.name}:
            continue
        if (origin.column.name,) in keys or origin.table.rows is None or origin.table.rows > SMALL:
            continue
        if _is_nearly_unique(origin, probe):
            yield f"several rows of {origin.table.name} have one {origin.column.name}: they are one group"


def _written_twice(one: Read, scope: Scope, probe: Probe) -> Iterator[str]:
    """Groups that are written alike, where the result need not show both: see `results.alike` for those that it shows."""
    select = scope.expression
    if select is one.select and select.args.get("limit") is None and select.args.get("qualify") is None:
        return
    origins = [origin for column in group_columns(select) if (origin := one.origin(column, scope))]
    for origin in origins:
        others = [other for other in origins if other.table is origin.table and other is not origin]
        if others or origin.wraps or not origin.column.is_text or origin.column.dates:
            continue
        yield from _alike_among(origin, probe)


def _counted_twice(one: Read, scope: Scope, probe: Probe) -> Iterator[str]:
    """Values that a count of different ones takes for two, though they are written alike."""
    for node in scope.find_all(exp.Count):
        counted = node.this.expressions if isinstance(node.this, exp.Distinct) else []
        origin = one.origin(counted[0], scope) if len(counted) == 1 else None
        if origin is None or origin.wraps or not origin.column.is_text or origin.column.dates:
            continue
        for note in _alike_among(origin, probe):
            yield note.replace("groups of", "values counted of", 1)


def _called_alike(one: Read, scope: Scope, probe: Probe) -> Iterator[str]:
    """Several rows of a table that has a key of its own, with the very name that a condition looks for."""
    made = one.select.selects if isinstance(one.select, exp.Select) else []
    shown = {column.name for each in made for column in each.find_all(exp.Column)}
    for test in scope.find_all(exp.EQ, exp.In):
        columns = list(test.this.find_all(exp.Column))
        origin = one.origin(columns[0], scope) if len(columns) == 1 else None
        if origin is None or not set(words(origin.column.name)) & _NAMES or test.find(exp.Query, exp.Not):
            continue
        keys = [key for key in origin.table.keys if len(key) == 1]
        named = (origin.column.name,) in keys or {key for (key,) in keys} & shown
        if not keys or named or (origin.table.rows or SMALL + 1) > SMALL or not _is_nearly_unique(origin, probe):
            continue
        name = exp.column(origin.column.name, quoted=True)
        holds = test.copy().transform(lambda node, name=name: name.copy() if isinstance(node, exp.Column) else node)
        rows = exp.select(name, "COUNT(*) AS n").from_(from_named(origin.table.name)).where(holds).group_by(name.copy())
        for value, number in probe.rows(rows.having("COUNT(*) > 1").limit(1)):
            yield f"{number} rows of {origin.table.name} have the {origin.column.name} {value!r}: all of them count"


def _alike_among(origin: Origin, probe: Probe) -> list[str]:
    """A note on two values that are written alike; of too many values to list nothing is said."""
    values, complete = probe.first_values(origin)
    listed = values if complete or len(values) < MOST_VALUES else ()
    return alike(pd.DataFrame({origin.column.name: sorted(listed)})) if listed else []


def _is_nearly_unique(origin: Origin, probe: Probe) -> bool:
    """Whether most names are of one row and some of several: a name that most rows share is what groups are made of."""
    name = exp.column(origin.column.name, quoted=True)
    rows = exp.select(name.as_("n")).from_(from_named(origin.table.name)).where(name.copy().is_(exp.null()).not_())
    sizes = exp.select("COUNT(*) AS n", "COUNT(DISTINCT n) AS d").from_(rows.subquery("named")).subquery("sizes")
    return probe.any_row(exp.select("1").from_(sizes).where("d < n AND 2 * d > n")) is True
