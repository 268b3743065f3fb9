"""What dbt says of tables, taken over into a semantic model: its `models:` and its `semantic_models:` and `metrics:`.

    metrics: [{name: fill_rate, type: ratio, type_params: {numerator: filled, denominator: trade_count}}]
        ->  fill_rate = SUM(CASE WHEN trades.status = 'FILLED' THEN 1 ELSE 0 END) / NULLIF(COUNT(trades.trade_id), 0)

Descriptions, keys, relationships and metrics are taken over onto tables that are there. What has no place in the model (metrics over windows, filters by
time, snapshots) is listed with its reason, and so is every list of values: none is published. Jinja is not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.errors import ConfigurationError
from finexpert.warehouse.semantic_model.document import (
    ANSI,
    MOST_CHARACTERS,
    Dataset,
    Expression,
    Metric,
    Relationship,
    SemanticModel,
    Written,
    read_yaml,
)

_AGGREGATES: Mapping[str, str] = {
    "sum": "SUM({})", "count": "COUNT({})", "count_distinct": "COUNT(DISTINCT {})", "average": "AVG({})", "min": "MIN({})", "max": "MAX({})",
    "sum_boolean": "SUM(CASE WHEN {} THEN 1 ELSE 0 END)",
}  # fmt: skip
_REFERENCE = re.compile(r"(?:ref|source)\(.*?['\"](\w+)['\"]\s*\)\s*\}*\s*$")
_DIMENSION = re.compile(r"\{\{\s*Dimension\(\s*['\"](\w+)__(\w+)['\"]\s*\)\s*\}\}")
_CONDITIONS = {"where", "severity", "warn_if", "error_if", "limit", "enabled"}
_LONGEST_NAME = 300


class _NotTaken(Exception):
    """Raised within for what has no place in the model, with the reason."""


@dataclass
class Imported:
    """The model, and what was not taken over, each with its reason."""

    model: SemanticModel
    left_out: list[str] = field(default_factory=list)


@dataclass
class _Semantic:
    """A semantic model of dbt: its table, and by name the expressions of its dimensions and measures."""

    table: str
    dimensions: dict[str, str]
    measures: dict[str, Mapping[str, Any]]
    primary: str = ""


def take_over(draft: SemanticModel, place: Path) -> Imported:
    """A draft of the catalogue with what the YAML of a file or folder says; ConfigurationError where nothing of dbt stands in it."""
    documents = list(_documents(place))
    taken = Imported(draft.model_copy(deep=True))
    datasets = {dataset.table.lower(): dataset for dataset in taken.model.datasets}
    models = [one for content in documents for one in _listed(content, "models")]
    semantic = [one for content in documents for one in _listed(content, "semantic_models")]
    metrics = [one for content in documents for one in _listed(content, "metrics")]
    if not models and not semantic and not metrics:
        raise ConfigurationError(
            f"{place} holds no models, semantic_models or metrics of dbt: name its YAML file, or the folder of its models"
        )
    for one in models:
        _take_model(one, datasets, taken)
    known = [found for one in semantic if (found := _take_semantic(one, datasets, taken))]
    _take_metrics(metrics, known, taken)
    return taken


def _documents(place: Path) -> Iterator[Mapping[str, Any]]:
    files = sorted({*place.rglob("*.yml"), *place.rglob("*.yaml")}) if place.is_dir() else [place]
    for file in files:
        content = read_yaml(file)
        if isinstance(content, dict):
            yield content


def _listed(content: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = content.get(name)
    return [one for one in found if isinstance(one, dict) and _words(one, "name")] if isinstance(found, list) else []


def _words(given: Mapping[str, Any], name: str) -> str:
    said = given.get(name)
    return said if isinstance(said, str) else ""


def _part_of(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    said = given.get(name)
    return said if isinstance(said, dict) else {}


def _take_model(given: Mapping[str, Any], datasets: Mapping[str, Dataset], taken: Imported) -> None:
    dataset = datasets.get(str(given.get("alias") or given["name"]).lower())
    if dataset is None:
        taken.left_out.append(f"model {given['name']}: there is no such table in the data")
        return
    dataset.description = _words(given, "description") or dataset.description
    for column in _listed(given, "columns"):
        name = str(column["name"])
        found = next((each for each in dataset.fields if each.column.lower() == name.lower()), None)
        if found is None:
            taken.left_out.append(f"column {given['name']}.{name}: it is not in the table")
            continue
        found.description = _words(column, "description") or found.description
        tests = column.get("data_tests") or column.get("tests")
        for test in tests if isinstance(tests, list) else []:
            _take_test(test, dataset, found.column, datasets, taken)


def _take_test(test: Any, dataset: Dataset, column: str, datasets: Mapping[str, Dataset], taken: Imported) -> None:
    name, given = next(iter(test.items())) if isinstance(test, dict) and test else (test, {})
    if (
        name in ("unique", "relationships")
        and isinstance(given, dict)
        and _CONDITIONS & {*given, *_part_of(given, "config")}
    ):
        taken.left_out.append(f"test {name} of {dataset.name}.{column}: it holds under a condition, or need not hold")
    elif name == "unique" and [column] not in (dataset.primary_key, *dataset.unique_keys):
        dataset.unique_keys.append([column])
    elif name == "relationships" and isinstance(given, dict):
        said = _part_of(given, "arguments") or given
        found = _REFERENCE.search(_words(said, "to")[:_LONGEST_NAME])
        _relate(dataset, column, datasets.get(found[1].lower() if found else ""), _words(said, "field"), taken)
    elif name == "accepted_values":
        taken.left_out.append(
            f"values of {dataset.name}.{column}: not published; `finexpert model publish {dataset.table}.{column}` does"
        )


def _relate(dataset: Dataset, column: str, other: Dataset | None, key: str, taken: Imported) -> None:
    if other is None or not any(each.column.lower() == key.lower() for each in other.fields):
        taken.left_out.append(f"relationship of {dataset.name}.{column}: what it refers to is not in the data")
        return
    said = {"from": dataset.name, "to": other.name, "from_columns": [column], "to_columns": [key]}
    ends = [(each.from_, each.to, each.from_columns) for each in taken.model.relationships]
    if (dataset.name, other.name, [column]) not in ends:
        taken.model.relationships.append(Relationship.model_validate({"name": f"{dataset.name}_{column}", **said}))


def _take_semantic(given: Mapping[str, Any], datasets: Mapping[str, Dataset], taken: Imported) -> _Semantic | None:
    found = _REFERENCE.search(_words(given, "model")[:_LONGEST_NAME])
    dataset = datasets.get((found[1] if found else str(given["name"])).lower())
    if dataset is None:
        taken.left_out.append(f"semantic model {given['name']}: its table is not in the data")
        return None
    dataset.description = _words(given, "description") or dataset.description
    for dimension in _listed(given, "dimensions"):
        for each in dataset.fields:
            if each.column == (dimension.get("expr") or dimension["name"]):
                each.description = dimension.get("description") or each.description
    entities = _listed(given, "entities")
    primary = next(
        (str(one["name"]) for one in entities if one.get("type") == "primary"), str(given.get("primary_entity", ""))
    )
    return _Semantic(
        dataset.name,
        {str(one["name"]): str(one.get("expr") or one["name"]) for one in _listed(given, "dimensions")},
        {str(one["name"]): one for one in _listed(given, "measures")},
        primary,
    )


def _take_metrics(metrics: Sequence[Mapping[str, Any]], known: Sequence[_Semantic], taken: Imported) -> None:
    by_name = {str(one["name"]): one for one in metrics}
    for one in known:
        for name, measure in one.measures.items():
            if measure.get("create_metric"):
                by_name.setdefault(name, {"name": name, "type": "simple", "type_params": {"measure": name}})
    there = {each.name for each in taken.model.metrics}
    for name, metric in by_name.items():
        try:
            expression = _expression(metric, by_name, known, depth=0)
        except _NotTaken as reason:
            taken.left_out.append(f"metric {name}: {reason}")
            continue
        if name not in there:
            written = Expression(dialects=[Written(dialect=ANSI, expression=expression)])
            taken.model.metrics.append(Metric(name=name, description=_words(metric, "description"), expression=written))


_DEEPEST = 20


def _expression(
    metric: Mapping[str, Any], metrics: Mapping[str, Mapping[str, Any]], known: Sequence[_Semantic], depth: int
) -> str:
    kind, given = metric.get("type"), metric.get("type_params") or {}
    if not isinstance(given, dict):
        raise _NotTaken("its type_params are no mapping")
    if depth > _DEEPEST:
        raise _NotTaken("it refers to itself")
    if kind == "simple":
        return _measured(given.get("measure"), metric.get("filter"), known)
    if metric.get("filter"):
        raise _NotTaken(f"a filter on a metric of the type {kind}")
    if kind == "ratio":
        above, below = (_part(given.get(side), metrics, known, depth) for side in ("numerator", "denominator"))
        return f"1.0 * {above} / NULLIF({below}, 0)"
    if kind == "derived":
        tree = _parsed(str(given.get("expr")))
        parts = {str(one.get("alias") or one["name"]): one for one in _listed(given, "metrics")}
        for column in list(tree.find_all(exp.Column)):
            if column.name not in parts:
                raise _NotTaken(f"{column.name} in its expression is none of its metrics")
            made = exp.Paren(this=_parsed(_part(parts[column.name], metrics, known, depth)))
            tree = made if column is tree else tree
            column.replace(made)
        return tree.sql()
    raise _NotTaken(f"metrics of the type {kind} have no expression of their own")


def _part(given: Any, metrics: Mapping[str, Mapping[str, Any]], known: Sequence[_Semantic], depth: int) -> str:
    said = given if isinstance(given, dict) else {"name": given}
    if more := sorted(set(said) - {"name", "alias"}):
        raise _NotTaken(f"{more[0]} of a part")
    name = str(said.get("name"))
    if name in metrics:
        return f"({_expression(metrics[name], metrics, known, depth + 1)})"
    return _measured(name, None, known)


def _measured(given: Any, condition: Any, known: Sequence[_Semantic]) -> str:
    said = given if isinstance(given, dict) else {"name": given}
    if more := sorted(set(said) - {"name"}):
        raise _NotTaken(f"{more[0]} of its measure")
    owner = next((one for one in known if _words(said, "name") in one.measures), None)
    if owner is None:
        raise _NotTaken(f"there is no measure {said.get('name')} over a table of the data")
    measure = owner.measures[str(said["name"])]
    form = _AGGREGATES.get(str(measure.get("agg")).lower())
    if form is None or measure.get("non_additive_dimension"):
        raise _NotTaken(f"its measure is {'not additive' if form else 'the aggregate ' + str(measure.get('agg'))}")
    value = _of_table(str(measure.get("expr") or measure["name"]), owner)
    if condition:
        value = f"CASE WHEN {_condition(condition, owner)} THEN {value} END"
    return form.format(value)


def _condition(given: Any, owner: _Semantic) -> str:
    def dimension(match: re.Match[str]) -> str:
        if match[1] != owner.primary or match[2] not in owner.dimensions:
            raise _NotTaken(f"its filter is by {match[1]}__{match[2]}, which is of another table")
        return f"({owner.dimensions[match[2]]})"

    said = " AND ".join(f"({one})" for one in given) if isinstance(given, list) else str(given)
    plain = _DIMENSION.sub(dimension, said)
    if "{{" in plain or "{%" in plain:
        raise _NotTaken("its filter has a part in Jinja other than Dimension")
    return _of_table(plain, owner)


def _of_table(expression: str, owner: _Semantic) -> str:
    """An expression with its columns named by their table."""
    tree = _parsed(expression)
    for column in tree.find_all(exp.Column):
        if not column.table:
            column.set("table", exp.to_identifier(owner.table))
    return tree.sql()


def _parsed(expression: str) -> exp.Expr:
    if len(expression) > MOST_CHARACTERS:
        raise _NotTaken(f"an expression of more than {MOST_CHARACTERS:,} characters")
    try:
        tree: exp.Expr = sqlglot.parse_one(expression)
    except (SqlglotError, RecursionError):
        raise _NotTaken(f"{expression[:60]!r} cannot be read as SQL") from None
    return tree
