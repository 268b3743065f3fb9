"""Which values of a column stand in the model, where a language model may see them."""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp

from finexpert.errors import ConfigurationError
from finexpert.warehouse.dates import words
from finexpert.warehouse.schema import Column, TableSchema, find_table
from finexpert.warehouse.semantic_model.document import VENDOR, Dataset, FieldModel, SemanticModel, extension
from finexpert.warehouse.warehouse import Warehouse

_split = str.split
_RULES = frozenset(
    _split("settings setting config configuration parameter parameters rules conventions policy policies")
)
_CODE = frozenset(_split("code cd codes key kode id val value"))
_MEANING = frozenset(_split("meaning text txt label descr desc description name nm title definition bezeichnung"))
_DOMAIN = frozenset(_split("domain dom set group type typ category field column kind list class area"))
SAYS_HOW = _CODE | _MEANING | _DOMAIN
WITH_DOMAIN = 3  # columns of a table of codes of several things
_MOST_CODES, _WIDEST = 5_000, 8
_FEW_ROWS, _FEW_COLUMNS = 50, 5
_A_LIST = 20
_NEARLY_EVERY = 0.9


def values_of(warehouse: Warehouse, name: str, most: int) -> list[str]:
    """The values of a column, the most frequent first: at most one more than `most`."""
    table, column = _found(warehouse.tables, name)
    named = exp.column(exp.to_identifier(column.name, quoted=True))
    select = (
        sqlglot.select(exp.alias_(named, "value"))
        .from_(exp.to_table(table.name))
        .where(named.is_(exp.null()).not_())
        .group_by(named)
        .order_by(exp.Count(this=exp.Star()).desc(), named)
        .limit(most + 1)
    )
    return [str(value) for value in warehouse.query(select.sql(warehouse.dialect)).data["value"]]


def house_rules(tables: Sequence[TableSchema]) -> list[TableSchema]:
    """The small tables that by their names or comments hold rules of the house, as when the fiscal year begins: a model sees no row of them.

    >>> settings = TableSchema("app_settings", "", (Column("skey", "VARCHAR"), Column("sval", "VARCHAR")), rows=7)
    >>> [table.name for table in house_rules([settings, TableSchema("trades", "", settings.columns, rows=7)])]
    ['app_settings']
    """
    return [
        table
        for table in tables
        if table.rows is not None
        and table.rows <= _FEW_ROWS
        and len(table.columns) <= _FEW_COLUMNS
        and _RULES & {*words(table.name), *words(table.comment)}
    ]


def code_columns(table: TableSchema) -> list[str]:
    """Of a table that says what codes mean the columns of what they are codes of, if there is one, of codes and of meanings; [] of any other.

    >>> texts = [Column(name, "VARCHAR") for name in ("code_set", "code", "label", "sort")]
    >>> code_columns(TableSchema("code_list", "", tuple(texts), rows=40)), code_columns(TableSchema("notes", "", tuple(texts[3:]), rows=40))
    (['code_set', 'code', 'label'], [])
    """
    if table.rows is None or not 1 < table.rows <= _MOST_CODES or len(table.columns) > _WIDEST:
        return []
    lasts = {column.name: words(column.name)[-1] for column in table.columns if column.is_text and words(column.name)}
    domain, code, meaning = (
        next((name for name, last in lasts.items() if last in kinds), None) for kinds in (_DOMAIN, _CODE, _MEANING)
    )
    return [name for name in (domain, code, meaning) if name] if code and meaning else []


def tells_rows_apart(warehouse: Warehouse, name: str) -> bool:
    """Whether a column holds another value in nearly every row, as ids and names of people do; a short list of names is none."""
    table, column = _found(warehouse.tables, name)
    named = exp.column(exp.to_identifier(column.name, quoted=True))
    counts = sqlglot.select(
        exp.alias_(exp.Count(this=named), "held"),
        exp.alias_(exp.Count(this=exp.Distinct(expressions=[named.copy()])), "different"),
    ).from_(exp.to_table(table.name))
    held, different = map(int, warehouse.query(counts.sql(warehouse.dialect)).data.iloc[0])
    return held > _A_LIST and different >= _NEARLY_EVERY * held


def published(
    model: SemanticModel, tables: Sequence[TableSchema], name: str, values: Sequence[str] | None, most: int
) -> SemanticModel:
    """The model with the values of a column, or without them if `values` is None."""
    table, column = _found(tables, name)
    changed = model.model_copy(deep=True)
    dataset = next((each for each in changed.datasets if find_table(tables, each.table) is table), None)
    if dataset is None:
        dataset = Dataset(name=table.name, source=table.name)
        changed.datasets.append(dataset)
    field = next((each for each in dataset.fields if each.column.lower() == column.name.lower()), None)
    if field is None:
        field = FieldModel(name=column.name)
        dataset.fields.append(field)
    own = {key: value for key, value in field.own.items() if key not in ("values", "more")}
    if values is not None:
        own |= {"values": list(values[:most])} | ({"more": True} if len(values) > most else {})
    others = [each for each in field.custom_extensions if each.vendor_name.upper() != VENDOR]
    field.custom_extensions = [*others, extension(own)] if own else others
    return changed


def _found(tables: Sequence[TableSchema], name: str) -> tuple[TableSchema, Column]:
    place, _, column_name = name.rpartition(".")
    table = find_table(tables, place)
    if table is None:
        raise ConfigurationError(
            f"{name!r} is no table.column of these data: there are {', '.join(t.name for t in tables[:20])}"
        )
    column = table.column(column_name)
    if column is None:
        names = ", ".join(each.name for each in table.columns)
        raise ConfigurationError(f"table {table.name!r} has no column {column_name!r}: it has {names}")
    return table, column
