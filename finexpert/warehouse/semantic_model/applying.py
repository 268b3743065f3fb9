"""What a semantic model adds to the tables that the catalogue names; the model wins where both speak.

apply(model, tables, "brokerage.model.yaml")   ->   tables with descriptions, synonyms, published values, keys and date columns
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from finexpert.errors import ConfigurationError
from finexpert.warehouse.profile import date_of
from finexpert.warehouse.schema import MAX_CATEGORIES, Column, ForeignKey, TableSchema, find_table
from finexpert.warehouse.semantic_model.document import Dataset, FieldModel, SemanticModel


def apply(model: SemanticModel, tables: Sequence[TableSchema]) -> tuple[TableSchema, ...]:
    """The tables with what the model says of them. ConfigurationError names a table or column that is not there."""
    told: dict[str, TableSchema] = {}
    names: dict[str, str] = {}
    for dataset in model.datasets:
        table = find_table(tables, dataset.table)
        if table is None:
            raise ConfigurationError(
                f"the semantic model's dataset {dataset.name!r} is table {dataset.table!r}, which is not in these data: "
                "correct its `source`, or take it out; `finexpert model check` lists all that does not fit"
            )
        told[table.name] = _table(dataset, table)
        names[dataset.name.lower()] = table.name
    for key in model.relationships:
        ends = [names.get(end.lower()) for end in (key.from_, key.to)]
        if None in ends:
            missing = (key.from_, key.to)[ends.index(None)]
            raise ConfigurationError(
                f"the semantic model's relationship {key.name!r} names {missing!r}, which is no dataset of it"
            )
        first, second = told[str(ends[0])], told[str(ends[1])]
        columns = tuple(_column(first, name, key.name).name for name in key.from_columns)
        referred = tuple(_column(second, name, key.name).name for name in key.to_columns)
        # What was inferred for the same columns gives way to what was said.
        kept = tuple(each for each in first.foreign_keys if each.columns != columns)
        told[first.name] = replace(first, foreign_keys=(*kept, ForeignKey(columns, second.name, referred)))
    return tuple(told.get(table.name, table) for table in tables)


def _table(dataset: Dataset, table: TableSchema) -> TableSchema:
    columns = {column.name: column for column in table.columns}
    for field in dataset.fields:
        column = _column(table, field.column, dataset.name)
        columns[column.name] = _told(column, field)
    told = replace(
        table,
        comment=_words(dataset.description, dataset.ai_context.instructions) or table.comment,
        synonyms=tuple(dataset.ai_context.synonyms) or table.synonyms,
        columns=tuple(columns.values()),
        primary_key=_columns(table, dataset.primary_key, dataset.name) or table.primary_key,
        unique=tuple(_columns(table, key, dataset.name) for key in dataset.unique_keys) or table.unique,
        key_inferred=table.key_inferred and not dataset.primary_key,
        told=_rows(dataset, table),
    )
    if "date_column" in dataset.own:
        named = dataset.own["date_column"]
        if named is not None and not isinstance(named, str):
            raise ConfigurationError(
                f"the semantic model's dataset {dataset.name!r}: `date_column` has to be the name of a column, not {named!r}"
            )
        column_of_dates = _column(table, named, dataset.name).name if named else None
        told = replace(
            told, date=date_of(told, column_of_dates) if column_of_dates else None, timeless=column_of_dates is None
        )
    return told


def _rows(dataset: Dataset, table: TableSchema) -> tuple[tuple[str, ...], ...]:
    rows = dataset.own.get("rows", [])
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == len(table.columns) for row in rows):
        raise ConfigurationError(
            f"the semantic model's dataset {dataset.name!r}: `rows` has to be a list of lists of {len(table.columns)} texts, one a column of "
            f"{table.name}; `finexpert model publish {table.name}` writes them anew"
        )
    return tuple(tuple(map(str, row)) for row in rows)


def _told(column: Column, field: FieldModel) -> Column:
    values, not_counted = (_texts(field, name) for name in ("values", "not_counted"))
    stock = field.own.get("stock", column.stock)
    if not isinstance(stock, bool | None):
        raise ConfigurationError(
            f"the semantic model's field {field.name!r}: `stock` has to be true or false, not {stock!r}"
        )
    return replace(
        column,
        stock=stock,
        not_counted=tuple(map(str, not_counted or ())),
        comment=_words(field.description, field.ai_context.instructions) or column.comment,
        synonyms=tuple(field.ai_context.synonyms) or column.synonyms,
        categories=tuple(map(str, values[:MAX_CATEGORIES])) if values is not None else column.categories,
        more=len(values) > MAX_CATEGORIES or bool(field.own.get("more")) if values is not None else column.more,
    )


def _texts(field: FieldModel, name: str) -> list[str | int | float] | None:
    values = field.own.get(name)
    if values is None or (isinstance(values, list) and all(isinstance(value, str | int | float) for value in values)):
        return values
    raise ConfigurationError(
        f"the semantic model's field {field.name!r}: `{name}` has to be a list of texts, not {values!r}"
    )


def _words(*texts: str) -> str:
    return " ".join(text.strip() for text in texts if text.strip())


def _columns(table: TableSchema, names: Sequence[str], place: str) -> tuple[str, ...]:
    return tuple(_column(table, name, place).name for name in names)


def _column(table: TableSchema, name: str, place: str) -> Column:
    column = table.column(name)
    if column is None:
        raise ConfigurationError(
            f"the semantic model's {place!r} names column {name!r}, which table {table.name!r} does not have: "
            f"it has {', '.join(each.name for each in table.columns)}"
        )
    return column
