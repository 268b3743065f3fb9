"""What Cube calls cubes and LookML views: dimensions and measures over one table, in SQL that refers to one another.

    dimension net: ${TABLE}.price - ${discount}      measure revenue: sum of ${net}
        ->  SUM(orders.price - orders.discount_usd)

Both formats are read into these pieces. References are resolved in the tree of the SQL and not in its text, and only where one meaning is possible.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from finexpert.warehouse.semantic_model.document import MOST_CHARACTERS, Dataset
from finexpert.warehouse.semantic_model.importing.taken import Named, NotTaken, parsed, with_rows_counted

OWN = "(own)"
"""the reference to the table of the view itself"""
_HOLDER = "finexpert_reference_"
_DEEPEST = 20
_AGGREGATES: Mapping[str, type[exp.AggFunc]] = {
    "sum": exp.Sum, "average": exp.Avg, "min": exp.Min, "max": exp.Max, "median": exp.Median, "count": exp.Count,
}  # fmt: skip

Reference = tuple[str, ...]


@dataclass(frozen=True)
class Template:
    """SQL in which references stand: texts, and paths of names such as ("orders", "amount")."""

    parts: tuple[str | Reference, ...]

    @classmethod
    def of(cls, text: str, pattern: re.Pattern[str], own: str) -> Template:
        """The parts of a text; the pattern's one group is a reference, and `own` in it is the view's own table.

        >>> Template.of("${TABLE}.price * ${fx.rate}", re.compile(r"\\$\\{([^{}]*)\\}"), "TABLE").parts
        (('(own)',), '.price * ', ('fx', 'rate'))
        """
        parts: list[str | Reference] = list(pattern.split(text))
        for place, part in enumerate(parts):
            if place % 2 and isinstance(part, str):
                parts[place] = tuple(OWN if name == own else name for name in part.strip().split("."))
        return cls(tuple(part for part in parts if part))

    def around(self, before: str, after: str) -> Template:
        return Template((before, *self.parts, after))


@dataclass(frozen=True)
class Member:
    """A dimension or a measure. `kind` is the aggregate of a measure, `number` for one that is an expression of aggregates, else empty."""

    said: Named
    sql: Template | None
    kind: str = ""
    conditions: tuple[Template, ...] = ()
    is_key: bool = False
    is_hidden: bool = False
    refused: str = ""


@dataclass(frozen=True)
class Join:
    """Another view: how many rows of the one before stand for how many of it, and on what; `names` are what views are called there."""

    second: str
    relationship: str
    on: Template | None
    names: Mapping[str, str] = field(default_factory=dict)
    refused: str = ""


@dataclass
class View:
    """Dimensions and measures over a table. `refused` says why none is taken, `no_metrics` why no measure is."""

    said: Named
    file: str
    table: str = ""
    members: dict[str, Member] = field(default_factory=dict)
    joins: list[Join] = field(default_factory=list)
    refused: str = ""
    no_metrics: str = ""

    def what(self, kind: str, name: str) -> str:
        """How a thing of it is told in a list."""
        return f"{self.file}: {kind} {self.said.name}.{name}"


class Views:
    """All views with their tables in the data: what their SQL means there."""

    def __init__(self, views: Mapping[str, View], datasets: Mapping[str, Dataset], dialect: str) -> None:
        self._views, self._datasets, self._dialect = views, datasets, dialect
        self._known: dict[tuple[str, str], exp.Expr] = {}
        self._open: list[tuple[str, str]] = []

    def member(self, view: str, name: str) -> exp.Expr:
        """A dimension's expression, or a measure's aggregate; NotTaken says why there is none."""
        place = (view, name)
        if place not in self._known:
            if place in self._open or len(self._open) > _DEEPEST:
                raise NotTaken(f"{view}.{name} refers to itself")
            self._open.append(place)
            try:
                self._known[place] = self._made(view, name)
            finally:
                self._open.pop()
        return self._known[place].copy()

    def _made(self, view: str, name: str) -> exp.Expr:
        member = self._views[view].members.get(name)
        if member is None:
            raise NotTaken(f"there is no {view}.{name}, or it is a part of a time")
        if member.refused:
            raise NotTaken(member.refused if len(self._open) == 1 else f"{view}.{name}: {member.refused}")
        tree = self._measure(view, member) if member.kind else self.sql(view, _needed(member))
        if len(tree.sql(self._dialect)) > MOST_CHARACTERS:
            raise NotTaken(f"an expression of more than {MOST_CHARACTERS:,} characters")
        return tree

    def _measure(self, view: str, member: Member) -> exp.Expr:
        if member.kind == "number":
            if member.conditions:
                raise NotTaken("a filter on an expression of aggregates")
            return with_rows_counted(self.sql(view, _needed(member), measures=True), self._dataset(view))
        if member.kind not in ("count_distinct", *_AGGREGATES):
            raise NotTaken(f"measures of the type {member.kind} are no aggregate of rows")
        conditions = [exp.paren(self.sql(view, each), copy=False) for each in member.conditions]
        if member.kind == "count" and member.sql is None:
            if not conditions:
                return with_rows_counted(exp.Count(this=exp.Star()), self._dataset(view))
            value: exp.Expr = exp.Literal.number(1)
        else:
            value = self.sql(view, _needed(member))
        if conditions:
            value = exp.Case(ifs=[exp.If(this=exp.and_(*conditions), true=value)])
        if member.kind == "count_distinct":
            return exp.Count(this=exp.Distinct(expressions=[value]))
        return _AGGREGATES[member.kind](this=value)

    def sql(
        self, view: str, template: Template, names: Mapping[str, str] | None = None, *, measures: bool = False
    ) -> exp.Expr:
        """SQL of a view over the tables of the data. `names` are what other views are called in it; `measures` may stand in it if so said."""
        references = [part for part in template.parts if isinstance(part, tuple)]
        if any(_HOLDER in part for part in template.parts if isinstance(part, str)):
            raise NotTaken(f"it holds the name {_HOLDER}")
        numbers = iter(range(len(references)))
        text = "".join(part if isinstance(part, str) else f"{_HOLDER}{next(numbers)}" for part in template.parts)
        tree = exp.Paren(this=parsed(text, self._dialect))  # so that every column has a parent
        placed = 0
        for column in list(tree.find_all(exp.Column)):
            if column.args.get("db"):
                raise NotTaken(f"{column.sql(self._dialect)} in it is no column of a table")
            if (held := _held(column.name)) is not None and not column.table:
                made = self._referred(view, references[held], names or {}, measures)
                column.replace(made if isinstance(made, exp.Column) else exp.paren(made, copy=False))
                placed += 1
            elif (held := _held(column.table)) is not None:
                column.set("table", self._table(self._view_of(view, references[held], names or {})))
                placed += 1
            elif column.table in ("", self._views[view].said.name):
                column.set("table", self._table(view))
            else:
                raise NotTaken(f"{column.sql(self._dialect)} in it is of a table that it does not refer to")
        if placed != len(references):
            raise NotTaken("a reference in it stands where no column does")
        found: exp.Expr = tree.this.pop()
        return found

    def _referred(self, view: str, path: Reference, names: Mapping[str, str], measures: bool) -> exp.Expr:
        if len(path) > 2:
            raise NotTaken(f"{_shown(path)} in it is known only when a question is asked")
        owner, name = (view if len(path) == 1 else self._view_of(view, path[:1], names)), path[-1]
        member = self._views[owner].members.get(name)
        if member and member.kind and not measures:
            raise NotTaken(f"{name} in it is a measure, so it is an aggregate of aggregates")
        return self.member(owner, name)

    def _view_of(self, view: str, path: Reference, names: Mapping[str, str]) -> str:
        found = view if path == (OWN,) else names.get(path[0], path[0])
        if len(path) != 1 or found not in self._views:
            raise NotTaken(f"{_shown(path)} in it is known only when a question is asked")
        return found

    def table(self, view: str) -> str:
        """The name of a view's dataset; NotTaken where it has none."""
        return self._dataset(view).name

    def _dataset(self, view: str) -> Dataset:
        if view not in self._views:
            raise NotTaken(f"there is no {view}")
        if self._views[view].refused:
            raise NotTaken(f"{view}: {self._views[view].refused}")
        if view not in self._datasets:
            raise NotTaken(f"the table of {view} is not in the data")
        return self._datasets[view]

    def _table(self, view: str) -> exp.Identifier:
        return exp.to_identifier(self.table(view))


def _needed(member: Member) -> Template:
    if member.sql is None:
        raise NotTaken("it has no `sql`")
    return member.sql


def _shown(path: Reference) -> str:
    return repr(".".join(name for name in path if name != OWN))


def _held(name: str) -> int | None:
    """The number of a reference that a name stands for in the parsed text."""
    return int(name.removeprefix(_HOLDER)) if name.startswith(_HOLDER) else None
