"""Keys of a join that say the same and are spelled otherwise: 'de ' beside 'DE', whose rows an inner join leaves out without a word.

JOIN country k ON k.country_code = c.country_code     goes back where c holds 'de ' and k holds 'DE'
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, text_of
from finexpert.warehouse.profile import from_named

# Rows of the table whose keys are looked for in the other one, and of that one.
_MOST_ROWS, _MOST_KEYS = 5_000_000, 200_000


def check_spelled_keys(one: Read, probe: Probe) -> None:
    """Raises QueryError for a join of two columns of texts of which one holds a key of the other in another case or with blanks."""
    for test, left, right in _joined(one):
        # The larger one refers to the smaller.
        first, second = sorted((left, right), key=lambda each: -(each.table.rows or 0))
        for held, keys in ((first, second), (second, first)):
            if (held.table.rows or 0) > _MOST_ROWS or (keys.table.rows or 0) > _MOST_KEYS or held.table is keys.table:
                continue
            if probe.any_row(_lost(held, keys)):
                raise QueryError(
                    f"{text_of(one, test)} leaves out rows: {held} holds keys of {keys} in another case or with blanks; compare "
                    "upper(trim(...)) of both"
                )


def _joined(one: Read) -> Iterator[tuple[exp.EQ, Origin, Origin]]:
    """Every comparison of two bare columns of texts of different tables, as joins write it."""
    for scope in one.scopes:
        for test in scope.find_all(exp.EQ):
            if isinstance(test.this, exp.Column) and isinstance(test.expression, exp.Column):
                left, right = _origin(one, test.this, scope), _origin(one, test.expression, scope)
                if left and right and left.column.is_text and right.column.is_text and not (left.wraps or right.wraps):
                    yield test, left, right


def _origin(one: Read, column: exp.Column, scope: Scope) -> Origin | None:
    """The column of a table that a column is, also where a subquery takes one value of several, as any_value(code)."""
    source = scope.sources.get(column.table)
    if (origin := one.origin(column, scope)) is not None or not isinstance(source, Scope):
        return origin
    if not isinstance(source.expression, exp.Query):
        return None
    given = next((each.unalias() for each in source.expression.selects if each.alias_or_name == column.name), None)
    if isinstance(given, exp.IgnoreNulls):
        given = given.this
    if isinstance(given, exp.AnyValue | exp.Min | exp.Max | exp.First) and isinstance(given.this, exp.Column):
        return one.origin(given.this, source)
    return None


def _lost(held: Origin, keys: Origin) -> exp.Select:
    """The SELECT that finds a value that is no key as it stands, and one as upper(trim()) makes both."""
    values, known = (
        exp.select(exp.alias_(exp.column(each.column.name, quoted=True), "k"))
        .distinct()
        .from_(from_named(each.table.name))
        for each in (held, keys)
    )
    folded = [exp.Upper(this=exp.Trim(this=exp.column("k", table=name))) for name in ("h", "b")]
    same = exp.select("1").from_(known.subquery("b")).where(exp.column("k", table="b").eq(exp.column("k", table="h")))
    alike = exp.select("1").from_(known.copy().subquery("b")).where(folded[1].eq(folded[0]))
    given = exp.select("1").from_(values.subquery("h")).where(exp.column("k", table="h").is_(exp.null()).not_())
    return given.where(exp.Exists(this=same).not_()).where(exp.Exists(this=alike))
