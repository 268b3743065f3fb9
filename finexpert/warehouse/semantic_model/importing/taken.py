"""A semantic model into which something else is taken over, piece by piece: descriptions, keys, relationships, metrics.

    taken.metric(Named("revenue", "All sales"), parsed("SUM(orders.amount)", "duckdb"), "orders.yml: metric revenue")
    taken.left_out   ->   ["orders.yml: metric margin: it reads several tables: orders, products"]

A key has to hold on the data and a metric has to run on them, or they are left out with the reason: what is said elsewhere may be out of date.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.errors import DataError, QueryError
from finexpert.warehouse.profile import from_named
from finexpert.warehouse.schema import find_table
from finexpert.warehouse.semantic_model.document import (
    ANSI,
    MOST_CHARACTERS,
    Dataset,
    Expression,
    FieldModel,
    Metric,
    Relationship,
    SemanticModel,
    Written,
)
from finexpert.warehouse.warehouse import Warehouse

_TABLE = "imported"


class NotTaken(Exception):
    """Raised within for what has no place in the model, with the reason."""


@dataclass(frozen=True)
class Named:
    """What a thing is called and what is said of it."""

    name: str
    description: str = ""
    label: str = ""

    @property
    def synonyms(self) -> list[str]:
        """The label, where it says more than the name does.

        >>> Named("net_sales", label="Net Sales").synonyms, Named("net_sales", label="Revenue").synonyms
        ([], ['Revenue'])
        """
        words = re.sub(r"[\W_]+", " ", self.label).strip().lower()
        return [self.label] if words and words != self.name.replace("_", " ").lower() else []


@dataclass
class Taken:
    """The model as it grows, and what was not taken over, each with its reason."""

    model: SemanticModel
    warehouse: Warehouse
    left_out: list[str] = field(default_factory=list)
    qualifiers: set[str] = field(default_factory=set)

    @property
    def notes(self) -> list[str]:
        """What was taken over and may be meant otherwise."""
        shown = ", ".join(sorted(self.qualifiers))
        return [f"tables of {shown} are those of the same last name: in the data no schema is named"] if shown else []

    def leave_out(self, what: str, reason: object) -> None:
        self.left_out.append(f"{what}: {reason}")

    def dataset(self, written: str) -> Dataset | None:
        """The table that another tool calls so; what stands before its name may be missing in the data."""
        parts = [part for part in re.sub(r"[\"`\[\]\s]", "", written).split(".") if part]
        for start in range(max(1, len(parts) - 1)):
            if table := find_table(self.warehouse.tables, ".".join(parts[start:])):
                if "." not in table.name and len(parts) > 1:
                    self.qualifiers.add(".".join(parts[:-1]))
                return next((each for each in self.model.datasets if each.table == table.name), None)
        return None

    def key(self, dataset: Dataset, columns: Sequence[str], what: str, *, primary: bool) -> None:
        """Take a key over that no two rows share; a primary key has a value in each."""
        known = {tuple(key) for key in (dataset.primary_key, *dataset.unique_keys)}
        if tuple(columns) in known:
            return
        fault = self._fault(dataset, columns, primary)
        if fault:
            self.leave_out(what, fault)
        elif primary and not dataset.primary_key:
            dataset.primary_key = list(columns)
        else:
            dataset.unique_keys.append(list(columns))

    def _fault(self, dataset: Dataset, columns: Sequence[str], primary: bool) -> str:
        names = [exp.column(name, quoted=True) for name in columns]
        missing = exp.or_(*(name.copy().is_(exp.null()) for name in names))
        rows = exp.select("1").from_(from_named(dataset.table)).limit(1)
        if primary and self._holds(rows.copy().where(missing)):
            return "it has no value in some rows of the data, so it is no key"
        twice = rows.where(missing.not_()).group_by(*names).having("COUNT(*) > 1")
        return "it stands twice in the data, so it is no key" if self._holds(twice) else ""

    def _holds(self, select: exp.Select) -> bool:
        """Whether a SELECT gives a row; what cannot be tried does."""
        try:
            return len(self.warehouse.query(select.sql(self.warehouse.dialect)).data) > 0
        except (QueryError, DataError):
            return True

    def relate(self, dataset: Dataset, columns: Sequence[str], other: Dataset, referred: Sequence[str]) -> None:
        """Take a foreign key over, if none of these columns is there."""
        ends = [(each.from_, each.to, each.from_columns) for each in self.model.relationships]
        if (dataset.name, other.name, list(columns)) not in ends:
            said = {"from": dataset.name, "to": other.name, "from_columns": [*columns], "to_columns": [*referred]}
            name = f"{dataset.name}_{'_'.join(columns)}"
            self.model.relationships.append(Relationship.model_validate({"name": name, **said}))

    def metric(self, said: Named, tree: exp.Expr, what: str) -> None:
        """Take a metric over, if it is about one table and runs on it; else it is listed."""
        try:
            if not re.fullmatch(r"\w+", said.name):
                raise NotTaken("its name is not one word of letters, digits and _")
            if said.name.lower() in {each.name.lower() for each in self.model.metrics}:
                raise NotTaken("another metric has its name")
            dataset = self._table_of(tree)
            text = tree.sql(self.warehouse.dialect, comments=False)
            if len(text) > MOST_CHARACTERS:
                raise NotTaken(f"an expression of more than {MOST_CHARACTERS:,} characters")
            self._try(tree, dataset)
        except NotTaken as reason:
            self.leave_out(what, reason)
            return
        made = Metric(
            name=said.name,
            description=said.description,
            expression=Expression(dialects=[Written(dialect=ANSI, expression=text)]),
        )
        made.ai_context.synonyms = said.synonyms
        self.model.metrics.append(made)

    def _table_of(self, tree: exp.Expr) -> Dataset:
        for kind, name in (
            (exp.Query, "a SELECT of its own"),
            (exp.Window, "a window"),
            (exp.Placeholder, "a parameter"),
        ):
            if tree.find(kind):
                raise NotTaken(f"it has {name}")
        columns = list(tree.find_all(exp.Column))
        tables = sorted({column.table for column in columns})
        if not tables:
            raise NotTaken("it names no column, so nothing tells which rows it is about")
        if len(tables) > 1:
            raise NotTaken(f"it reads several tables: {', '.join(tables)}")
        bare = next((each for each in columns if not each.find_ancestor(exp.AggFunc, exp.WithinGroup)), None)
        if bare:
            raise NotTaken(f"{bare.name} stands in it without an aggregate that is known")
        found = next((each for each in self.model.datasets if each.name == tables[0]), None)
        if found is None:
            raise NotTaken(f"{tables[0]} is no table of the data")
        return found

    def _try(self, tree: exp.Expr, dataset: Dataset) -> None:
        tried = tree.copy()
        for column in tried.find_all(exp.Column):
            column.set("table", exp.to_identifier(_TABLE))
        select = exp.select(exp.alias_(tried, "value")).from_(from_named(dataset.table).as_(_TABLE))
        try:
            self.warehouse.query(select.sql(self.warehouse.dialect, comments=False))
        except (QueryError, DataError) as error:
            raise NotTaken(f"it does not run on the data: {error}") from None


def field_of(dataset: Dataset, column: str) -> FieldModel | None:
    """The field of a column, in whatever case."""
    return next((each for each in dataset.fields if each.column.lower() == column.lower()), None)


def describe(part: Dataset | FieldModel, said: Named) -> None:
    """What is said of a table or column; what nothing is said of keeps what it has."""
    part.description = said.description or part.description
    part.ai_context.synonyms = part.ai_context.synonyms or said.synonyms


def parsed(expression: str, dialect: str) -> exp.Expr:
    """SQL of somebody else as a tree."""
    if len(expression) > MOST_CHARACTERS:
        raise NotTaken(f"an expression of more than {MOST_CHARACTERS:,} characters")
    try:
        tree: exp.Expr = sqlglot.parse_one(expression, dialect=dialect)
    except (SqlglotError, RecursionError):
        raise NotTaken(f"{expression[:60]!r} cannot be read as SQL") from None
    return tree


def with_rows_counted(tree: exp.Expr, dataset: Dataset) -> exp.Expr:
    """COUNT(*), COUNT(1) and SUM(1) count the key of their table instead: in a join they would count the rows of the other table too."""
    tree = tree.copy()
    calls = [each for each in tree.find_all(exp.AggFunc) if not isinstance(each.parent, exp.WithinGroup)]
    for call in [each for each in calls if not each.find(exp.Column)]:
        one = isinstance(call.this, exp.Star) or (isinstance(call.this, exp.Literal) and call.this.name == "1")
        if not one or not isinstance(call, exp.Count | exp.Sum):
            raise NotTaken(f"{call.sql()} is about no column")
        if not dataset.primary_key:
            raise NotTaken(f"it counts the rows of {dataset.name}, of which no primary key is known")
        key = exp.column(dataset.primary_key[0], table=dataset.name, quoted=True)
        counted = exp.Count(this=key)
        tree = counted if call is tree else tree
        call.replace(counted)
    return tree
