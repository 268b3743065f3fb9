"""What dbt says of tables: its `models:` and its `semantic_models:` and `metrics:`.

    metrics: [{name: fill_rate, type: ratio, type_params: {numerator: filled, denominator: trade_count}}]
        ->  fill_rate = SUM(CASE WHEN trades.status = 'FILLED' THEN 1 ELSE 0 END) / NULLIF(COUNT(trades.trade_id), 0)

Descriptions, keys, relationships and metrics are taken over onto tables that are there. What has no place in the model (metrics over windows, filters by
time, snapshots) is listed with its reason, and so is every list of values: none is published. Jinja is not run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from finexpert.warehouse.semantic_model.document import MOST_CHARACTERS, Dataset
from finexpert.warehouse.semantic_model.importing.documents import FILE, Documents, listed, words
from finexpert.warehouse.semantic_model.importing.taken import (
    Named,
    NotTaken,
    Taken,
    describe,
    field_of,
    parsed,
    with_rows_counted,
)

_AGGREGATES: Mapping[str, str] = {
    "sum": "SUM({})", "count": "COUNT({})", "count_distinct": "COUNT(DISTINCT {})", "average": "AVG({})", "min": "MIN({})", "max": "MAX({})",
    "sum_boolean": "SUM(CASE WHEN {} THEN 1 ELSE 0 END)",
}  # fmt: skip
_REFERENCE = re.compile(r"(?:ref|source)\(.*?['\"](\w+)['\"]\s*\)\s*\}*\s*$")
_DIMENSION = re.compile(r"\{\{\s*Dimension\(\s*['\"](\w+)__(\w+)['\"]\s*\)\s*\}\}")
_CONDITIONS = {"where", "severity", "warn_if", "error_if", "limit", "enabled"}
_LONGEST_NAME = 300
_DEEPEST = 20


@dataclass
class _Semantic:
    """A semantic model of dbt: its table, and by name the expressions of its dimensions and measures."""

    dataset: Dataset
    dimensions: dict[str, str]
    measures: Mapping[str, Mapping[str, Any]]
    primary: str = ""


def take(documents: Documents, taken: Taken) -> bool:
    """Take over what is dbt's; whether anything is."""
    models, semantic, metrics = (listed(documents, name) for name in ("models", "semantic_models", "metrics"))
    for one in models:
        _take_model(one, taken)
    known = [found for one in semantic if (found := _take_semantic(one, taken))]
    _take_metrics(metrics, known, taken)
    return bool(models or semantic or metrics)


def _part_of(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    said = given.get(name)
    return said if isinstance(said, dict) else {}


def _take_model(given: Mapping[str, Any], taken: Taken) -> None:
    file, name = given[FILE], given["name"]
    dataset = taken.dataset(str(given.get("alias") or name))
    if dataset is None:
        taken.leave_out(f"{file}: model {name}", "there is no such table in the data")
        return
    describe(dataset, Named(dataset.name, words(given, "description")))
    for column in listed([given], "columns"):
        found = field_of(dataset, str(column["name"]))
        if found is None:
            taken.leave_out(f"{file}: column {name}.{column['name']}", "it is not in the table")
            continue
        describe(found, Named(found.name, words(column, "description")))
        tests = column.get("data_tests") or column.get("tests")
        for test in tests if isinstance(tests, list) else []:
            _take_test(test, dataset, found.column, file, taken)


def _take_test(test: Any, dataset: Dataset, column: str, file: str, taken: Taken) -> None:
    name, given = next(iter(test.items())) if isinstance(test, dict) and test else (test, {})
    place = f"{dataset.name}.{column}"
    if (
        name in ("unique", "relationships")
        and isinstance(given, dict)
        and _CONDITIONS & {*given, *_part_of(given, "config")}
    ):
        taken.leave_out(f"{file}: test {name} of {place}", "it holds under a condition, or need not hold")
    elif name == "unique":
        taken.key(dataset, [column], f"{file}: test unique of {place}", primary=False)
    elif name == "relationships" and isinstance(given, dict):
        said = _part_of(given, "arguments") or given
        found = _REFERENCE.search(words(said, "to")[:_LONGEST_NAME])
        other = taken.dataset(found[1]) if found else None
        key = field_of(other, words(said, "field")) if other else None
        if other and key:
            taken.relate(dataset, [column], other, [key.column])
        else:
            taken.leave_out(f"{file}: relationship of {place}", "what it refers to is not in the data")
    elif name == "accepted_values":
        taken.leave_out(
            f"{file}: values of {place}",
            f"not published; `finexpert model publish {dataset.table}.{column}` does",
        )


def _take_semantic(given: Mapping[str, Any], taken: Taken) -> _Semantic | None:
    found = _REFERENCE.search(words(given, "model")[:_LONGEST_NAME])
    dataset = taken.dataset(found[1] if found else str(given["name"]))
    if dataset is None:
        taken.leave_out(f"{given[FILE]}: semantic model {given['name']}", "its table is not in the data")
        return None
    describe(dataset, Named(dataset.name, words(given, "description")))
    dimensions = {str(one["name"]): str(one.get("expr") or one["name"]) for one in listed([given], "dimensions")}
    for dimension in listed([given], "dimensions"):
        if column := field_of(dataset, dimensions[dimension["name"]]):
            describe(column, Named(column.name, words(dimension, "description")))
    entities = listed([given], "entities")
    primary = next(
        (str(one["name"]) for one in entities if one.get("type") == "primary"), str(given.get("primary_entity", ""))
    )
    measures = {str(one["name"]): one for one in listed([given], "measures")}
    return _Semantic(dataset, dimensions, measures, primary)


def _take_metrics(metrics: Sequence[Mapping[str, Any]], semantics: Sequence[_Semantic], taken: Taken) -> None:
    by_name = {str(one["name"]): one for one in metrics}
    for one in semantics:
        for name, measure in one.measures.items():
            if measure.get("create_metric"):
                simple = {"name": name, "type": "simple", "type_params": {"measure": name}, FILE: measure[FILE]}
                by_name.setdefault(name, simple)
    known = _Known(by_name, semantics, taken.warehouse.dialect)
    for name, metric in by_name.items():
        what = f"{metric[FILE]}: metric {name}"
        try:
            expression = _expression(metric, known, depth=0)
        except NotTaken as reason:
            taken.leave_out(what, reason)
            continue
        taken.metric(Named(name, words(metric, "description"), words(metric, "label")), expression, what)


@dataclass
class _Known:
    """All metrics by name, the semantic models over tables that are there, and the SQL of the data."""

    metrics: Mapping[str, Mapping[str, Any]]
    semantics: Sequence[_Semantic]
    dialect: str


def _expression(metric: Mapping[str, Any], known: _Known, depth: int) -> exp.Expr:
    kind, given = metric.get("type"), metric.get("type_params") or {}
    if not isinstance(given, dict):
        raise NotTaken("its type_params are no mapping")
    if depth > _DEEPEST:
        raise NotTaken("it refers to itself")
    if kind == "simple":
        return _measured(given.get("measure"), metric.get("filter"), known)
    if metric.get("filter"):
        raise NotTaken(f"a filter on a metric of the type {kind}")
    if kind == "ratio":
        above, below = (
            _part(given.get(side), known, depth).sql(known.dialect) for side in ("numerator", "denominator")
        )
        return parsed(f"1.0 * {above} / NULLIF({below}, 0)", known.dialect)
    if kind == "derived":
        return _derived(given, known, depth)
    raise NotTaken(f"metrics of the type {kind} have no expression of their own")


def _derived(given: Mapping[str, Any], known: _Known, depth: int) -> exp.Expr:
    tree = parsed(str(given.get("expr")), known.dialect)
    parts = {str(one.get("alias") or one["name"]): one for one in listed([given], "metrics")}
    for column in list(tree.find_all(exp.Column)):
        if column.name not in parts:
            raise NotTaken(f"{column.name} in its expression is none of its metrics")
        said = {name: value for name, value in parts[column.name].items() if name != FILE}
        made = _part(said, known, depth)
        tree = made if column is tree else tree
        column.replace(made)
        if len(tree.sql(known.dialect)) > MOST_CHARACTERS:
            raise NotTaken(f"an expression of more than {MOST_CHARACTERS:,} characters")
    return tree


def _part(given: Any, known: _Known, depth: int) -> exp.Expr:
    said = given if isinstance(given, dict) else {"name": given}
    if more := sorted(set(said) - {"name", "alias"}):
        raise NotTaken(f"{more[0]} of a part")
    name = str(said.get("name"))
    if name in known.metrics:
        return exp.paren(_expression(known.metrics[name], known, depth + 1), copy=False)
    return _measured(name, None, known)


def _measured(given: Any, condition: Any, known: _Known) -> exp.Expr:
    said = given if isinstance(given, dict) else {"name": given}
    if more := sorted(set(said) - {"name"}):
        raise NotTaken(f"{more[0]} of its measure")
    owner = next((one for one in known.semantics if words(said, "name") in one.measures), None)
    if owner is None:
        raise NotTaken(f"there is no measure {said.get('name')} over a table of the data")
    measure = owner.measures[str(said["name"])]
    form = _AGGREGATES.get(str(measure.get("agg")).lower())
    if form is None or measure.get("non_additive_dimension"):
        raise NotTaken(f"its measure is {'not additive' if form else 'the aggregate ' + str(measure.get('agg'))}")
    value = _of_table(str(measure.get("expr") or measure["name"]), owner, known)
    if condition:
        value = f"CASE WHEN {_condition(condition, owner, known)} THEN {value} END"
    return with_rows_counted(parsed(form.format(value), known.dialect), owner.dataset)


def _condition(given: Any, owner: _Semantic, known: _Known) -> str:
    def dimension(match: re.Match[str]) -> str:
        if match[1] != owner.primary or match[2] not in owner.dimensions:
            raise NotTaken(f"its filter is by {match[1]}__{match[2]}, which is of another table")
        return f"({owner.dimensions[match[2]]})"

    said = " AND ".join(f"({one})" for one in given) if isinstance(given, list) else str(given)
    plain = _DIMENSION.sub(dimension, said)
    if "{{" in plain or "{%" in plain:
        raise NotTaken("its filter has a part in Jinja other than Dimension")
    return _of_table(plain, owner, known)


def _of_table(expression: str, owner: _Semantic, known: _Known) -> str:
    """An expression with its columns named by their table."""
    tree = parsed(expression, known.dialect)
    for column in tree.find_all(exp.Column):
        if not column.table:
            column.set("table", exp.to_identifier(owner.dataset.name))
    return tree.sql(known.dialect)
