"""Which values of a column stand in the model, where a language model may see them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import sqlglot
from sqlglot import exp

from finexpert.errors import ConfigurationError
from finexpert.warehouse.dates import words
from finexpert.warehouse.profile import from_named
from finexpert.warehouse.schema import Column, TableSchema, find_table
from finexpert.warehouse.semantic_model.document import VENDOR, Dataset, FieldModel, SemanticModel, extension
from finexpert.warehouse.warehouse import Warehouse

_split = str.split
_RULES = frozenset(
    _split("settings setting config configuration parameter parameters param params sysparam rules conventions policy policies "
           "einstellung einstellungen konfiguration regeln parametre parametres parametri parametros")
)  # fmt: skip
_WORDS = frozenset(
    _split(
        "glossary glossar glossaire dictionary vocabulary definition definitions terms terminology begriffe kpi kpis notes legend legende"
    )
)
_CODE = frozenset(_split("code cd codes key kode id val value schluessel"))
_MEANING = frozenset(
    _split(
        "meaning text txt label descr desc description name nm title definition bez bezeichnung beschreibung klartext libelle"
    )
)
_DOMAIN = frozenset(
    _split("domain dom set group type typ category field column kind list class area feld bereich gruppe champ")
)
SAYS_HOW = _CODE | _MEANING | _DOMAIN
WITH_DOMAIN = 3  # columns of a table of codes of several things
_MOST_CODES, _WIDEST = 5_000, 8
_FEW_ROWS, _FEW_COLUMNS = 50, 5
_A_LIST = 20
_NEARLY_EVERY = 0.9
MOST_ROWS, _MOST_LETTERS = 100, 12_000


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
    """The small tables that by their names or comments hold rules or words of the house, as when the fiscal year begins, and of which
    models see no row.

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
        and not table.told
        and (_RULES | _WORDS) & {*words(table.name), *words(table.comment)}
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


def rows_of(warehouse: Warehouse, name: str) -> list[list[str]] | None:
    """All rows of a small table as texts, in the order of its columns; None where no table is called so. ConfigurationError where it is large."""
    table = find_table(warehouse.tables, name)
    if table is None:
        return None
    if table.date is not None:
        raise ConfigurationError(
            f"{name} has the dates {table.date_column}: its rows change with the day that is asked for; publish its columns, as {name}.COLUMN"
        )
    columns = [exp.column(exp.to_identifier(column.name, quoted=True)) for column in table.columns]
    select = sqlglot.select(*columns).from_(from_named(table.name)).order_by(*(column.copy() for column in columns))
    data = warehouse.query(select.limit(MOST_ROWS + 1).sql(warehouse.dialect)).data
    rows = [["" if pd.isna(cell) else str(cell) for cell in row] for row in data.itertuples(index=False, name=None)]
    letters = sum(len(cell) for row in rows for cell in row)
    if len(rows) > MOST_ROWS or letters > _MOST_LETTERS:
        raise ConfigurationError(
            f"{name} has {'more than ' if len(rows) > MOST_ROWS else ''}{min(len(rows), MOST_ROWS)} rows with {letters:,} letters: rows are for small "
            f"tables of rules and words (at most {MOST_ROWS} rows and {_MOST_LETTERS:,} letters); publish its columns, as {name}.COLUMN"
        )
    return rows


def told_of(
    model: SemanticModel, warehouse: Warehouse, name: str, most: int, on: bool
) -> tuple[SemanticModel, list[str], bool]:
    """The model with what `name` holds, the values of a column or the rows of a small table, or without it; what models see then; and
    whether there are more values than these."""
    if find_table(warehouse.tables, name) is not None:
        rows = rows_of(warehouse, name) if on else None
        return with_rows(model, warehouse.tables, name, rows), lines_of(rows or []), False
    values = values_of(warehouse, name, most) if on else None
    told = values or []
    return published(model, warehouse.tables, name, values, most), told[:most], len(told) > most


def lines_of(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines for a person."""
    return [" | ".join(row) for row in rows]


def with_rows(
    model: SemanticModel, tables: Sequence[TableSchema], name: str, rows: Sequence[Sequence[str]] | None
) -> SemanticModel:
    """The model with all rows of a table, or without them if `rows` is None."""
    table = find_table(tables, name)
    assert table is not None
    changed = model.model_copy(deep=True)
    dataset = _dataset(changed, tables, table)
    own = {key: value for key, value in dataset.own.items() if key != "rows"}
    own |= {"rows": [list(row) for row in rows]} if rows is not None else {}
    others = [each for each in dataset.custom_extensions if each.vendor_name.upper() != VENDOR]
    dataset.custom_extensions = [*others, extension(own)] if own else others
    return changed


def _dataset(model: SemanticModel, tables: Sequence[TableSchema], table: TableSchema) -> Dataset:
    """The dataset of a table in a model, put in where there is none."""
    dataset = next((each for each in model.datasets if find_table(tables, each.table) is table), None)
    if dataset is None:
        dataset = Dataset(name=table.name, source=table.name)
        model.datasets.append(dataset)
    return dataset


def published_as(table: TableSchema) -> str:
    """What a table of codes is published by: its name where it is small, else the columns that say what codes mean."""
    if table.rows is not None and table.rows <= MOST_ROWS:
        return table.name
    return " ".join(f"{table.name}.{column}" for column in code_columns(table))


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
    dataset = _dataset(changed, tables, table)
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
