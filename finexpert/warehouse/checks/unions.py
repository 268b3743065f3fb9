"""Rows that a UNION takes twice, or once too few, before they are added up.

    SELECT sum(amount) FROM (SELECT amount FROM fees WHERE kind = 'A' UNION ALL SELECT amount FROM fees WHERE year = 2023)
        -> a fee of both kinds is counted twice
    SELECT sum(amount) FROM (SELECT DISTINCT account_id, amount FROM fees)
        -> two equal fees of one account are counted once

The rows tell: whether one meets the conditions of two parts, and whether equal ones are lost that nothing tells apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, runnable, text_of, withs

_ADDED = (exp.Sum, exp.Avg, exp.Count, exp.CountIf)
_WEIGHED = (exp.Sum, exp.Avg)
_FIRST = 200_000
_BY_PLACE = ("limit", "offset", "qualify", "having", "distinct", "laterals")


def check_unions(one: Read, probe: Probe) -> list[str]:
    """Notes on equal rows that count once; raises QueryError for rows that count twice, or are lost, before they are added up."""
    notes: list[str] = []
    for scope in one.scopes:
        if not isinstance(scope.expression, exp.Select):
            continue
        for node in scope.walk():
            if not isinstance(node, _ADDED) or isinstance(node.this, exp.Distinct):
                continue
            for name, source in _sources(node, scope):
                columns = [column.name for column in node.find_all(exp.Column) if column.table == name]
                parts = _parts(source)
                if len(parts) > 1 and not _has_distinct(source.expression):
                    _check_overlap(one, scope, node, name, parts, probe)
                if isinstance(node, _WEIGHED) and (rows := _without_distinct(source.expression)) is not None:
                    notes += _Equal(one, source, parts, rows, columns, probe).lost(node)
    return list(dict.fromkeys(notes))


def _sources(node: exp.Expr, scope: Scope) -> Iterator[tuple[str, Scope]]:
    """The SELECTs in FROM whose rows an aggregate adds up: those of its columns, and for count(*) the only one."""
    named = {column.table for column in node.find_all(exp.Column)}
    names = named or (set(scope.sources) if len(scope.sources) == 1 else set())
    for name in sorted(names):
        if isinstance(source := scope.sources.get(name), Scope):
            yield name, source


def _parts(scope: Scope) -> list[Scope]:
    """The SELECTs of a UNION, the first one first; a plain SELECT is its own only part."""
    if not isinstance(scope.expression, exp.Union):
        return [scope]
    return [part for inner in scope.set_operation_scopes for part in _parts(inner)]


def _has_distinct(body: exp.Expr) -> bool:
    return any(union.args.get("distinct") for union in body.find_all(exp.Union))


# rows that are taken twice


def _check_overlap(one: Read, scope: Scope, node: exp.Expr, name: str, parts: list[Scope], probe: Probe) -> None:
    selects = [part.expression for part in parts if isinstance(part.expression, exp.Select)]
    if len(selects) < len(parts):
        return
    used = {column.name for column in scope.expression.find_all(exp.Column) if column.table == name}
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Star):
        used = {projected.alias_or_name for projected in selects[0].selects}
    for first, second in combinations(parts, 2):
        one_side, other = _renamed(first.expression), _renamed(second.expression)
        if not _gives_the_same(one_side, other, used, node):
            continue
        rows = exp.Select(expressions=[exp.Literal.number(1)], from_=one_side.args["from_"].copy())
        rows.set("joins", [join.copy() for join in one_side.args.get("joins") or []])
        conditions = [where.this.copy() for side in (one_side, other) if (where := side.args.get("where")) is not None]
        for with_ in withs(one, first):
            rows.set("with_", with_.copy())
        if probe.any_row(runnable(rows.where(*conditions))) is True:
            raise QueryError(
                f"{text_of(one, node)} adds up rows twice: some of them meet the conditions of several parts of the UNION ALL; write one SELECT "
                "with OR between the conditions, or conditions that exclude each other"
            )


def _renamed(select: exp.Expr) -> exp.Select:
    """A copy of a SELECT in which the sources are called by their place, so that the same SELECT is the same text."""
    made = select.copy()
    if not isinstance(made, exp.Select) or made.args.get("from_") is None:
        return exp.Select()
    sources = [made.args["from_"].this, *(join.this for join in made.args.get("joins") or [])]
    names = {source.alias_or_name: f"source_{number}" for number, source in enumerate(sources)}
    for column in made.find_all(exp.Column):
        if column.table in names:
            column.set("table", exp.to_identifier(names[column.table]))
    for source in sources:
        source.set("alias", exp.TableAlias(this=exp.to_identifier(names[source.alias_or_name])))
    return made


def _gives_the_same(one: exp.Select, other: exp.Select, used: set[str], node: exp.Expr) -> bool:
    """Whether two parts read the same sources and give the same of each row, as far as the SELECT around them looks at it."""
    for part in ("from_", "joins", "group"):
        if _text(one, part) != _text(other, part):
            return False
    if not one.args.get("from_") or any(side.args.get(part) for side in (one, other) for part in _BY_PLACE):
        return False
    if one.find(exp.Window) or not _may_be_added(one, node):
        return False
    for mine, its in zip(one.selects, other.selects, strict=False):
        seen, plain = mine.alias_or_name in used, isinstance(mine.unalias(), exp.Literal)
        if (seen or not plain) and mine.unalias() != its.unalias():
            return False
    return True


def _may_be_added(part: exp.Select, node: exp.Expr) -> bool:
    """Whether what a part gives is of its rows alone: the rows, or their sum or number, which is added up."""
    aggregates = [found for projected in part.selects for found in projected.find_all(exp.AggFunc)]
    added = isinstance(node, exp.Sum) and all(isinstance(found, exp.Sum | exp.Count) for found in aggregates)
    grouped = part.args.get("group") is not None
    return added if aggregates else not grouped


def _text(select: exp.Select, part: str) -> str:
    found = select.args.get(part)
    return " ".join(one.sql() for one in found) if isinstance(found, list) else found.sql() if found else ""


# rows that are lost


def _without_distinct(body: exp.Expr) -> exp.Query | None:
    """A SELECT that gives equal rows once, without what makes it do so; None for any other."""
    made = body.copy()
    if isinstance(made, exp.Union):
        if not made.args.get("distinct") or made.args.get("limit"):
            return None
        for union in made.find_all(exp.Union):
            union.set("distinct", False)
        return made
    if not isinstance(made, exp.Select) or not made.args.get("from_") or made.args.get("limit"):
        return None
    distinct, group = made.args.get("distinct"), made.args.get("group")
    plain = not made.find(exp.AggFunc, exp.Window) and made.args.get("having") is None
    if (distinct is None or distinct.args.get("on") is not None) and not (group is not None and plain):
        return None
    if distinct is not None and group is not None:
        return None
    made.set("distinct", None)
    made.set("group", None)
    return made


@dataclass(frozen=True)
class _Equal:
    """A source that gives equal rows once: `rows` are all of them, and `columns` those that are added up."""

    one: Read
    source: Scope
    parts: list[Scope]
    rows: exp.Query
    columns: list[str]
    probe: Probe

    def lost(self, node: exp.Expr) -> list[str]:
        """Notes on equal rows; raises QueryError where they are lost and nothing beside tells them apart."""
        names = [projected.alias_or_name for projected in self.rows.selects]
        others = [name for name in names if name not in self.columns]
        if len(set(names)) < len(names) or "*" in names or self._has_key() or not self._drops(names):
            return []
        if not others or self._has_several(names, others):
            raise QueryError(
                f"{text_of(self.one, node)} counts equal rows once: DISTINCT, UNION and GROUP BY without an aggregate drop them though they "
                "are different rows; leave it out or write UNION ALL, or select a key beside"
            )
        return [f"rows that are equal in {', '.join(names)} count once in {text_of(self.one, node)}"]

    def _has_key(self) -> bool:
        """Whether each part gives a key of every table whose amounts are added up."""
        return all(self._part_has_key(part) for part in self.parts)

    def _part_has_key(self, part: Scope) -> bool:
        given = [self._origin(projected, part) for projected in getattr(part.expression, "selects", [])]
        places = [name.alias_or_name for name in self.rows.selects]
        added = [origin for origin, name in zip(given, places, strict=False) if name in self.columns]
        tables = {origin.table.name: origin.table for origin in added if origin is not None}
        told = {(origin.table.name, origin.column.name.lower()) for origin in given if origin is not None}
        return bool(tables) and all(
            any(all((table.name, column.lower()) in told for column in key) for key in table.keys)
            for table in tables.values()
        )

    def _origin(self, projected: exp.Expr, part: Scope) -> Origin | None:
        column = projected.unalias()
        return self.one.origin(column, part) if isinstance(column, exp.Column) else None

    def _drops(self, names: list[str]) -> bool:
        """Whether there are equal rows; those that a join makes of one row are the same one."""
        body = self.source.expression
        if isinstance(body, exp.Select) and body.args.get("joins"):
            return self._are_of_several(names)
        return self._found(self._first(), names)

    def _are_of_several(self, names: list[str]) -> bool:
        rows = self.rows.copy()
        part = self.parts[0]
        for projected in self.rows.selects:
            origin, column = self._origin(projected, part), projected.unalias()
            if origin is None or not origin.table.keys or projected.alias_or_name not in self.columns:
                continue
            if not isinstance(column, exp.Column) or self.one.base_of(part, column.table) is None:
                continue
            keys = [exp.column(key, table=column.table) for key in origin.table.keys[0]]
            aliased = [key.as_(f"own_key_{number}") for number, key in enumerate(keys)]
            rows.set("expressions", [*rows.expressions, *aliased])
            kept = [*names, *(key.alias for key in aliased)]
            different = exp.select(*map(exp.column, kept)).distinct().from_(rows.limit(_FIRST).subquery("all_rows"))
            return self._found(different, names)
        return False

    def _has_several(self, names: list[str], others: list[str]) -> bool:
        """Whether several rows are left that agree in all that is not added up: else it is one row of a key, and meant so."""
        return self._found(exp.select(*map(exp.column, names)).distinct().from_(self._first().subquery("some")), others)

    def _first(self) -> exp.Select:
        return exp.select("*").from_(self.rows.copy().subquery("all_rows")).limit(_FIRST)

    def _found(self, rows: exp.Select, names: list[str]) -> bool:
        """Whether several of these rows agree in some columns."""
        found = exp.select("1").from_(rows.subquery("some_rows")).group_by(*map(exp.column, names))
        for with_ in withs(self.one, self.source):
            found.set("with_", with_.copy())
        return self.probe.any_row(runnable(found.having("COUNT(*) > 1"))) is True
