"""A first semantic model of a warehouse, out of its catalogue: nothing is published in it."""

from __future__ import annotations

from collections.abc import Iterable

from finexpert.warehouse.schema import TableSchema
from finexpert.warehouse.semantic_model.document import (
    ANSI,
    Dataset,
    Expression,
    FieldModel,
    Relationship,
    SemanticModel,
    Written,
    extension,
)


def draft(tables: Iterable[TableSchema], name: str) -> SemanticModel:
    """A model with every table, column and key that is known, and the dates that were declared, for a person to go on from.

    >>> from finexpert.warehouse.schema import Column
    >>> model = draft([TableSchema("gdp", "", (Column("value", "DOUBLE", "USD"),))], "fred")
    >>> [(field.name, field.description) for field in model.datasets[0].fields]
    [('value', 'USD')]
    """
    known = list(tables)
    return SemanticModel(
        name=name,
        datasets=[_dataset(table) for table in known],
        relationships=[
            Relationship.model_validate(
                {
                    "name": f"{table.name}_{'_'.join(key.columns)}",
                    "from": table.name,
                    "to": key.table,
                    "from_columns": list(key.columns),
                    "to_columns": list(key.referred),
                }
            )
            for table in known
            for key in table.foreign_keys
        ],
    )


def _dataset(table: TableSchema) -> Dataset:
    return Dataset(
        name=table.name,
        source=table.name,
        description=table.comment,
        primary_key=list(table.primary_key),
        unique_keys=[list(key) for key in table.unique],
        fields=[
            FieldModel(
                name=column.name,
                expression=Expression(dialects=[Written(dialect=ANSI, expression=column.name)]),
                description=column.comment,
            )
            for column in table.columns
        ],
        # What was found is no declaration: rows after today would be left out of answers that nobody asked as of a day.
        custom_extensions=[extension({"date_column": table.date_column})] if table.date and table.date.declared else [],
    )
