"""SELECTs under a name, which others read like tables: those that a person's processes carry.

    rungs = NamedSelect("rungs", "SELECT ... AS month, avg(dff) AS mean FROM rates GROUP BY ALL", of="the process 'Rate Ladder'")
    written_out("SELECT count(*) FROM rungs WHERE mean > 5", {"rungs": rungs}, tables, "duckdb")
        WITH rungs AS (SELECT ...) SELECT count(*) FROM rungs WHERE mean > 5

One with variables is called with their values, as `thin_months(5)`. What runs, and what a record keeps, is the SELECT written out: nothing
of it depends on what is taught later. A table of the data always comes before a namesake.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.errors import QueryError
from finexpert.warehouse.schema import TableSchema, find_table

PLACEHOLDER = re.compile(r"<([A-Za-z_]\w*)>")
# What is read through others: more of them is a circle, or no question of a person.
_MOST = 60


@dataclass(frozen=True)
class NamedSelect:
    """A SELECT with its name; `variables` stand in it as `<name>`, with an example of each, in the order in which values are given.

    `beside` are the names that stand for it within `of`: what it calls without values there has its own. `also` has the same name elsewhere:
    then nobody reads either.
    """

    name: str
    select: str
    of: str
    variables: Mapping[str, str] = field(default_factory=dict)
    beside: frozenset[str] = frozenset()
    says: str = ""
    also: str = ""

    @property
    def call(self) -> str:
        """How it is read: by its name, or with what stands for its values.

        >>> NamedSelect("rungs", "SELECT 1", "").call, NamedSelect("rungs", "SELECT <a>", "", {"a": "5", "b": "x"}).call
        ('rungs', "rungs(5, 'x')")
        """
        return f"{self.name}({', '.join(map(literal, self.variables.values()))})" if self.variables else self.name


def literal(example: str) -> str:
    """An example of a variable as SQL and Python write it: numbers, lists and what is quoted or typed already stay as they are.

    >>> literal("5"), literal("2000-01-01"), literal("DATE '2000-01-01'")
    ('5', "'2000-01-01'", "DATE '2000-01-01'")
    """
    plain = re.fullmatch(r"-?[\d.]+|'.*'|\".*\"|\[.*\]|\(.*\)|[A-Za-z_][\w.]*\s*[('].*|True|False", example, re.DOTALL)
    return example if plain else f"'{example}'"


def filled_in(text: str, values: Mapping[str, str]) -> str:
    """SQL or code with literals in place of its variables; a variable without one stays.

    >>> filled_in("SELECT <n>, '<day>' FROM t WHERE day > <day> AND <other>", {"n": "5", "day": "'2000-01-01'"})
    "SELECT 5, '2000-01-01' FROM t WHERE day > '2000-01-01' AND <other>"
    """

    def value(found: re.Match[str]) -> str:
        given = values.get(found[1])
        if given is None:
            return found[0]
        quoted = found.start() > 0 and text[found.start() - 1] in "'\""
        return given.strip("'\"") if quoted else given

    return PLACEHOLDER.sub(value, text)


def written_out(
    select: str,
    named: Mapping[str, NamedSelect],
    tables: Sequence[TableSchema],
    dialect: str,
    on_read: Callable[[NamedSelect], None] = lambda read: None,
) -> str:
    """The SELECT with those that it reads by name before it, in a WITH; as it stands where it reads none.

    `on_read` is told of each that the SELECT itself names. QueryError for values that are missing or too many, and for a circle.

    >>> named = {"thin": NamedSelect("thin", "SELECT d FROM t WHERE c < <most>", "", {"most": "5"})}
    >>> written_out("SELECT count(*) FROM thin(7)", named, [], "duckdb")
    'WITH thin AS (SELECT d FROM t WHERE c < 7) SELECT COUNT(*) FROM thin'
    """
    lowered = select.lower()
    if not any(name in lowered for name in named):
        return select
    tree = _tree(select, dialect)
    if tree is None:
        return select
    writing = _Writing(named, tables, dialect)
    for each in writing.put_in(tree, {}, frozenset(), ()):
        on_read(each)
    if not writing.parts:
        return select
    own = tree.args.get("with_")
    parts = [exp.CTE(this=body, alias=exp.TableAlias(this=exp.to_identifier(name))) for name, body in writing.parts]
    recursive = bool(own and own.args.get("recursive"))
    tree.set("with_", exp.With(expressions=[*parts, *(own.expressions if own else ())], recursive=recursive))
    return tree.sql(dialect)


def folded(select: str, named: Mapping[str, NamedSelect], dialect: str) -> str:
    """A SELECT that was written out as it was before, where that can be told: for a prompt in which the names are known.

    >>> named = {"rungs": NamedSelect("rungs", "SELECT date AS month FROM rates", "")}
    >>> folded("WITH rungs AS (SELECT date AS month FROM rates), x AS (SELECT 1) SELECT * FROM rungs, x", named, "duckdb")
    'WITH x AS (SELECT 1) SELECT * FROM rungs, x'
    """
    tree = _tree(select, dialect)
    own = tree.args.get("with_") if tree is not None else None
    if tree is None or own is None:
        return select
    bodies = {name: _tree(each.select, dialect) for name, each in named.items() if not each.variables}
    left = [part for part in own.expressions if bodies.get(part.alias.lower()) != part.this]
    if len(left) == len(own.expressions):
        return select
    if left:
        own.set("expressions", left)
    else:
        tree.set("with_", None)
    return tree.sql(dialect)


@dataclass
class _Writing:
    """One SELECT on its way: what has to stand before it, in the order in which each is needed."""

    named: Mapping[str, NamedSelect]
    tables: Sequence[TableSchema]
    dialect: str
    parts: list[tuple[str, exp.Expr]] = field(default_factory=list)
    _made: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)

    def put_in(
        self, tree: exp.Expr, around: Mapping[str, str], beside: Collection[str], under: tuple[str, ...]
    ) -> Iterator[NamedSelect]:
        """Has a tree read the parts in place of the names; yields what it names. `around` are the values of the SELECT it stands in."""
        own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        for node in list(tree.find_all(exp.Table)):
            name = (node.this.name if isinstance(node.this, exp.Anonymous | exp.Identifier) else "").lower()
            one = self.named.get(name)
            if one is None or node.db or name in own or find_table(self.tables, name) is not None:
                continue
            if one.also:
                raise QueryError(f"{name} is the name of {one.of} and of {one.also}: one of them needs another")
            if name in under:
                raise QueryError(f"{one.of}: {' reads '.join([*under, name])}, which is a circle")
            values = self._values(one, node, around if name in beside else {})
            part = self._part(one, values, (*under, name))
            if not node.alias and part != name:
                node.set("alias", exp.TableAlias(this=exp.to_identifier(one.name)))
            node.set("this", exp.to_identifier(part))
            yield one

    def _part(self, one: NamedSelect, values: Mapping[str, str], under: tuple[str, ...]) -> str:
        key = (one.name, tuple(values.values()))
        if key in self._made:
            return self._made[key]
        body = _tree(filled_in(one.select, values), self.dialect)
        if body is None:
            raise QueryError(f"{one.of}: the SELECT of {one.name} cannot be read")
        for _ in self.put_in(body, values, one.beside, under):
            pass
        taken = {name for name, _ in self.parts}
        part = one.name if one.name not in taken else f"{one.name}_{len(taken) + 1}"
        if len(self.parts) >= _MOST:
            raise QueryError(f"it reads more than {_MOST} named SELECTs")
        self.parts.append((part, body))
        self._made[key] = part
        return part

    def _values(self, one: NamedSelect, node: exp.Table, around: Mapping[str, str]) -> dict[str, str]:
        """The values of a call, by the names of the variables."""
        if not isinstance(node.this, exp.Anonymous):
            given = {name: around[name] for name in one.variables if name in around}
        else:
            given, names = {}, list(one.variables)
            for place, argument in enumerate(node.this.expressions):
                said = isinstance(argument, exp.Kwarg | exp.PropertyEQ)
                name = argument.this.name if said else names[place] if place < len(names) else ""
                value = _value(argument.expression if said else argument, self.dialect)
                if value is None or name not in one.variables or name in given:
                    raise QueryError(f"{node.this.sql(self.dialect)}: {_asks(one)}")
                given[name] = value
        if given.keys() != one.variables.keys():
            raise QueryError(f"{one.name}: {_asks(one)}")
        return {name: given[name] for name in one.variables}


def _asks(one: NamedSelect) -> str:
    if not one.variables:
        return f"{one.name} takes no values: read it as {one.name}"
    return f"write it with a plain value of each of {', '.join(one.variables)}, as {one.call}"


def _value(node: exp.Expr, dialect: str) -> str | None:
    """A number, a text or a day as a literal; None for anything else: what stands in a call is a value, and no SQL."""
    if isinstance(node, exp.Cast):
        node = node.this
    number = isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string
    return node.sql(dialect) if number or isinstance(node, exp.Literal) else None


def _tree(select: str, dialect: str) -> exp.Expr | None:
    try:
        tree = sqlglot.parse_one(select, read=dialect)
    except (SqlglotError, RecursionError):
        return None
    return tree if isinstance(tree, exp.Query) else None
