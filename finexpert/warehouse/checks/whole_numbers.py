"""A division of whole numbers, which gives a whole number in some engines.

100 * count(*) FILTER (WHERE status = 'FILLED') / count(*)      is 66, and not 66.7, in PostgreSQL and SQLite
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, text_of
from finexpert.warehouse.profile import from_named

_DIALECTS = frozenset(("postgres", "sqlite", "tsql", "trino", "redshift"))
# They add whole numbers of 8 bytes up to a decimal.
_SUMS_ARE_DECIMAL = frozenset(("postgres", "redshift"))
# Who writes these around a division means a whole number.
_MEANT = (exp.Floor, exp.Ceil, exp.Trunc)
_DECIMALS = ("decimal", "bigdecimal", "money")
_KEPT_WHOLE = ("DECIMAL", "NUMERIC", "NUMBER", "MONEY")
_DEEPEST = 40
_OF_FIRST = (exp.Max, exp.Min, exp.Nullif, exp.Filter, exp.Window, exp.Abs, exp.Neg, exp.Lag, exp.Lead, exp.AnyValue)
_OF_ALL = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Coalesce)


def check_whole_numbers(one: Read, probe: Probe) -> None:
    """Raises QueryError for a division of whole numbers where that gives a whole number."""
    if one.dialect not in _DIALECTS:
        return
    sizes = _Sizes(one, probe)
    for scope in one.scopes:
        for node in scope.walk():
            if not isinstance(node, exp.Div) or _is_meant(one, node, scope):
                continue
            if sizes.bytes_of(node.this, scope) and sizes.bytes_of(node.expression, scope):
                raise QueryError(
                    f"{text_of(one, node)} divides whole numbers, which gives a whole number here: multiply the first by 1.0"
                )


def _is_meant(one: Read, node: exp.Div, scope: Scope) -> bool:
    """Whether a whole number is what the division is for: it is rounded down or cast to one, takes the year of 202312, or numbers."""
    if _numbers(node):
        return True
    parent = node.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    if isinstance(parent, _MEANT) or (isinstance(parent, exp.Cast) and parent.to.is_type(*exp.DataType.INTEGER_TYPES)):
        return True
    origin = one.origin(node.this, scope) if isinstance(node.this, exp.Column) else None
    return (
        origin is not None
        and origin.column.dates in ("yyyymm", "yyyymmdd")
        and isinstance(node.expression, exp.Literal)
    )


def _numbers(node: exp.Div) -> bool:
    """Whether a division numbers quarters, decades or the places in the middle, by adding or taking away what its divisor has at most.

    >>> import sqlglot
    >>> [_numbers(sqlglot.parse_one(made)) for made in ("(month + 2) / 3", "(month - 1) / 3", "(n + 1) / 2", "(a + b) / 2", "n / 3")]
    [True, True, True, False, False]
    """
    made, divisor = node.this.unnest(), node.expression
    added = made.expression if isinstance(made, exp.Add | exp.Sub) else None
    if not all(
        isinstance(part, exp.Literal) and not part.is_string and part.name.isdigit() for part in (added, divisor)
    ):
        return False
    return added is not None and 0 < int(added.name) <= int(divisor.name)


@dataclass(frozen=True)
class _Sizes:
    """Of how many bytes the whole numbers are that parts of a SELECT give."""

    one: Read
    probe: Probe

    def bytes_of(self, node: exp.Expr | None, scope: Scope, depth: int = 0) -> int:
        """The bytes of the whole numbers that an expression gives, 4 or 8; 0 where they may be no whole numbers."""
        if node is None or depth > _DEEPEST:
            return 0
        node, deeper = node.unnest(), depth + 1
        if isinstance(node, exp.Count | exp.CountIf):
            return 8
        if isinstance(node, exp.Literal):
            return 4 if not node.is_string and node.name.isdigit() else 0
        if isinstance(node, exp.Cast) and self.one.dialect == "sqlite" and node.to.is_type(*_DECIMALS):
            # It keeps a decimal that is whole as a whole number.
            return self.bytes_of(node.this, scope, deeper)
        if isinstance(node, exp.Cast):
            return (8 if node.to.is_type("bigint") else 4) if node.to.is_type(*exp.DataType.INTEGER_TYPES) else 0
        if isinstance(node, exp.Sum):
            size = self.bytes_of(node.this, scope, deeper)
            return 0 if size == 8 and self.one.dialect in _SUMS_ARE_DECIMAL else min(size * 2, 8)
        if isinstance(node, exp.Case):
            return self._of_all(
                [*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default")], scope, deeper
            )
        if isinstance(node, exp.If):
            return self._of_all([node.args["true"], node.args.get("false")], scope, deeper)
        if isinstance(node, _OF_ALL):
            others = node.expressions if isinstance(node, exp.Coalesce) else [node.expression]
            return self._of_all([node.this, *others], scope, deeper)
        if isinstance(node, _OF_FIRST):
            return self.bytes_of(node.this, scope, deeper)
        if isinstance(node, exp.Column):
            return self._of_column(node, scope, deeper)
        if isinstance(node, exp.Subquery | exp.Select):
            inner = next((found for found in self.one.scopes if found.expression is node.unnest()), None)
            return self._of_projection(inner, None, deeper)
        return 0

    def _of_all(self, parts: list[exp.Expr | None], scope: Scope, depth: int) -> int:
        sizes = [
            self.bytes_of(part, scope, depth) for part in parts if part is not None and not isinstance(part, exp.Null)
        ]
        return max(sizes) if sizes and all(sizes) else 0

    def _of_column(self, node: exp.Column, scope: Scope, depth: int) -> int:
        source = scope.sources.get(node.table)
        if isinstance(source, Scope):
            return self._of_projection(source, node.name, depth)
        origin = self.one.origin(node, scope)
        type_ = origin.column.type.upper() if origin is not None else ""
        if origin is not None and self.one.dialect == "sqlite" and any(word in type_ for word in _KEPT_WHOLE):
            return 8 if self._holds_whole(origin) else 0
        if "INT" not in type_ or "INTERVAL" in type_:
            return 0
        return 8 if "BIG" in type_ or "8" in type_ else 4

    def _holds_whole(self, origin: Origin) -> bool:
        column = exp.column(origin.column.name, quoted=True)
        kind = exp.Anonymous(this="TYPEOF", expressions=[column])
        rows = exp.select("1").from_(from_named(origin.table.name))
        return self.probe.any_row(rows.where(kind.eq(exp.Literal.string("integer")))) is True

    def _of_projection(self, scope: Scope | None, name: str | None, depth: int) -> int:
        """The same for a column of a SELECT in between: the one of a name, or its only one."""
        select = scope.expression if scope is not None else None
        if scope is None or not isinstance(select, exp.Select):
            return 0
        made = [part for part in select.selects if name is None or part.alias_or_name.lower() == name.lower()]
        return self.bytes_of(made[0].unalias(), scope, depth) if len(made) == 1 else 0
