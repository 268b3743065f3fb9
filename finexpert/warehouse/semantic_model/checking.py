"""Whether a semantic model fits the data: every metric and every verified query is run."""

from __future__ import annotations

from collections.abc import Iterator

import sqlglot
from sqlglot import exp

from finexpert.errors import ConfigurationError, DataError, QueryError
from finexpert.warehouse.schema import Metric
from finexpert.warehouse.semantic_model.document import SemanticModel
from finexpert.warehouse.semantic_model.metrics import CALL
from finexpert.warehouse.semantic_model.publishing import rows_of
from finexpert.warehouse.warehouse import Warehouse


def check(model: SemanticModel, warehouse: Warehouse) -> tuple[list[str], int]:
    """What does not fit, in words, and how many expressions and queries were tried. Names were checked when it was opened."""
    problems: list[str] = []
    tried = 0
    for metric in warehouse.metrics:
        tried += 1
        problems += _tried(warehouse, f"metric {metric.name!r}", _select_of(metric, warehouse.dialect))
    for number, query in enumerate(model.own.get("verified_queries", []), start=1):
        tried += 1
        select = query.get("select") if isinstance(query, dict) else None
        place = f"verified query {number}"
        problems += _tried(warehouse, place, select) if isinstance(select, str) else [f"{place} has no `select`"]
    return [*problems, *_other_rows(model, warehouse)], tried


def _other_rows(model: SemanticModel, warehouse: Warehouse) -> Iterator[str]:
    """The tables whose published rows are no longer those that they have."""
    for dataset in model.datasets:
        if "rows" not in dataset.own:
            continue
        try:
            same = rows_of(warehouse, dataset.table) == dataset.own["rows"]
        except ConfigurationError:
            same = False
        if not same:
            yield f"{dataset.table} has other rows now than models are told: `finexpert model publish {dataset.table}`"


def _select_of(metric: Metric, dialect: str) -> str | None:
    """A SELECT of the metric alone; None if it is about several tables, whose join is the question's."""
    tree = sqlglot.parse_one(metric.expression, dialect=dialect)
    tables = {column.table for column in tree.find_all(exp.Column)}
    if not tables:
        return f"SELECT {CALL}({metric.name}) AS value"
    if len(tables) != 1:
        return None
    name = exp.to_table(next(iter(tables))).sql(dialect)
    return f"SELECT {CALL}({metric.name}) AS value FROM {name} AS {exp.to_identifier(name.rpartition('.')[2]).sql(dialect)} LIMIT 1"


def _tried(warehouse: Warehouse, place: str, select: str | None) -> list[str]:
    if select is None:
        return []
    try:
        warehouse.query(select)
    except (QueryError, DataError) as error:
        return [f"{place}: {error}"]
    return []
