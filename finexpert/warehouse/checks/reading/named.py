"""SELECTs that are read by name, as whoever reads them sees them: their columns, and an error that names these and no table behind them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sqlglot import exp

from finexpert.errors import QueryError, StepError
from finexpert.warehouse.checks.reading.select import read
from finexpert.warehouse.named_selects import NamedSelect, written_out
from finexpert.warehouse.schema import TableSchema

_NO_COLUMN = re.compile(r'there is no column ("[^"]*")')


def columns_given(
    one: NamedSelect, named: Mapping[str, NamedSelect], tables: Sequence[TableSchema], dialect: str
) -> list[str]:
    """The columns of what a named SELECT gives over these tables; empty where that cannot be told without running it."""
    try:
        whole = written_out(f"SELECT * FROM {one.call}", {**named, one.name: one}, tables, dialect)
    except QueryError:
        return []
    made = read(whole, dialect, tables).select
    names = list(made.named_selects) if isinstance(made, exp.Query) else []
    return [] if "*" in names else names


def of_named(
    error: StepError,
    reads: Sequence[NamedSelect],
    named: Mapping[str, NamedSelect],
    tables: Sequence[TableSchema],
    dialect: str,
) -> StepError:
    """The error with the columns of what the SELECT reads by name, where one is missing: those of the tables behind them help nobody."""
    found = _NO_COLUMN.search(str(error))
    if found is None or type(error) is not QueryError:
        return error
    there = {each.name: columns_given(each, named, tables, dialect) for each in reads}
    said = "; ".join(f"{name} has {', '.join(columns)}" for name, columns in there.items() if columns)
    return QueryError(f"there is no column {found[1]} at this point; {said}") if said else error
