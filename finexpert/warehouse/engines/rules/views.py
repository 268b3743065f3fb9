"""What the views of a database read, and which of their columns are those of their tables.

    CREATE VIEW booked AS SELECT t.trade_date AS day, t.n FROM trades AS t   ->   reads ("trades",), columns {"day": "trade_date", "n": "n"}
    CREATE VIEW total AS SELECT sum(n) AS n FROM trades                      ->   reads ("trades",), no columns: a row rests on several

Through a view later rows are seen, as of a day, unless the view has them as they are, with their date (`engines/statements.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import sqlalchemy as sa
import sqlalchemy.exc
import sqlglot
from sqlalchemy.engine.reflection import Inspector
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.warehouse.engines.functions import FUNCTIONS
from finexpert.warehouse.engines.rules.statements import calls_only_known


def views_of(
    inspector: Inspector, schema: str | None, place: str, names: Collection[str], dialect: str
) -> dict[str, tuple[tuple[str, ...] | None, dict[str, str] | None]]:
    """The views of a schema with what each reads, and which columns are those of its tables."""
    try:
        views = set(inspector.get_view_names(schema))
        if dialect == "postgres":
            views |= set(inspector.get_materialized_view_names(schema))
    except NotImplementedError:
        return {}
    known = {name.lower() for name in names}
    found = {name: _definition(inspector, name, schema) for name in sorted(views & set(names))}
    return {name: _read(definition, place, dialect, known) for name, definition in found.items()}


def _definition(inspector: Inspector, name: str, schema: str | None) -> str:
    try:
        return inspector.get_view_definition(name, schema) or ""
    except (sa.exc.SQLAlchemyError, NotImplementedError):
        # Not everybody who may read a view may see how it is made.
        return ""


def _read(
    definition: str, place: str, dialect: str, known: Collection[str] = ()
) -> tuple[tuple[str, ...] | None, dict[str, str] | None]:
    """What a view reads, None where that cannot be told; and its columns where it gives the rows of its tables as they are.

    >>> _read("CREATE VIEW v AS SELECT t.day AS d, u.n FROM main.t JOIN u USING (a)", "main", "sqlite")
    (('t', 'u'), {'d': 'day', 'n': 'n'})
    >>> _read("SELECT max(n) AS n FROM t", "public", "postgres"), _read("SELECT * FROM rows_of('x')", "public", "postgres")
    ((('t',), None), (None, None))
    >>> _read("SELECT own.newest() AS n", "public", "postgres")
    (None, None)
    """
    try:
        tree = sqlglot.parse_one(definition, read=dialect)
    except (SqlglotError, RecursionError):
        return None, None
    query = tree.expression if isinstance(tree, exp.Create) else tree
    found = list(query.find_all(exp.Table)) if isinstance(query, exp.Query) else []
    if not isinstance(query, exp.Query) or not all(isinstance(table.this, exp.Identifier) for table in found):
        return None, None
    if dialect in FUNCTIONS and not calls_only_known(query, dialect):
        return None, None
    own = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    names = [t.name if t.db.lower() in ("", place.lower()) else f"{t.db}.{t.name}" for t in found]
    named = tree.this.expressions if isinstance(tree, exp.Create) and isinstance(tree.this, exp.Schema) else ()
    # A WITH may be called as the table that it reads.
    own -= set(known)
    return tuple(name for name in names if name.lower() not in own), _columns(query, [each.name for each in named])


_MIXING = (
    exp.AggFunc,
    exp.Window,
    exp.Group,
    exp.Limit,
    exp.Offset,
    exp.Fetch,
    exp.With,
    exp.SetOperation,
)


def _columns(query: exp.Query, names: Sequence[str]) -> dict[str, str] | None:
    """Which column of its tables each column of a view is; None where a row of it may rest on several."""
    if not isinstance(query, exp.Select) or query.find(*_MIXING) or len(list(query.find_all(exp.Select))) > 1:
        return None
    parts = query.selects
    called = names or ["*" if part.is_star else part.alias_or_name for part in parts]
    plain = [part.unalias() for part in parts]
    return {
        name: "*" if part.is_star else part.name
        for name, part in zip(called, plain, strict=False)
        if isinstance(part, exp.Column | exp.Star)
    }
