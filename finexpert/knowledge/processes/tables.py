"""What a planner is offered who only fills in: the SELECTs of processes under their names that are nearest to a question, and few tables.

    rungs (month, mean): one row a month that is a rung
    average_between('cpi', '2000-01-01', '2009-12-01') (value): the mean of a series; series: a name of monthly_series; from: the first month

One with variables stands with examples of their values. The SELECTs themselves, the longest part of a process, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from finexpert.knowledge.memory import Memory
from finexpert.knowledge.process import Process
from finexpert.text.texts import beginning
from finexpert.warehouse.checks.reading.named import columns_given, kind_of_type
from finexpert.warehouse.named_selects import NamedSelect
from finexpert.warehouse.schema import TableSchema
from finexpert.warehouse.schema_card import describe_schema
from finexpert.warehouse.select_pattern import Readable
from finexpert.warehouse.table_selection import describe
from finexpert.warehouse.warehouse import Warehouse

# A small model loses its way among more of them.
MOST = 6
_SHOWN = 120


@dataclass(frozen=True)
class Offered:
    """What a planner is offered: told in place of a schema card, and as what a SELECT may read. Empty where nothing is read by name."""

    card: str = ""
    readable: tuple[Readable, ...] = ()


def offered(question: str, memory: Memory, warehouse: Warehouse) -> Offered:
    """The named SELECTs and the tables nearest in meaning to a question, the nearest last; those of processes that it names come before all others."""
    known = memory.named_selects()
    if not known:
        return Offered()
    named = {name: one for name, (one, _) in known.items()}
    meant = {process.id for process in memory.named_in(question)}
    order: list[tuple[bool, float, NamedSelect | TableSchema]] = [
        (known[one.name][1].id in meant, score, one) for one, score in memory.nearest_selects(question)
    ]
    texts = memory.embedder.embed([describe(table) for table in warehouse.tables])
    near = texts @ memory.embedder.embed([question])[0]
    order += [(False, float(score), table) for table, score in zip(warehouse.tables, near, strict=True)]
    found: list[tuple[str, Readable]] = []
    for _, _, one in sorted(order, key=lambda each: each[:2], reverse=True):
        if len(found) < MOST:
            found += (
                _of_table(one, warehouse) if isinstance(one, TableSchema) else _of_named(one, known, named, warehouse)
            )
    return Offered("\n\n".join(text for text, _ in reversed(found)), tuple(each for _, each in found))


def _of_named(
    one: NamedSelect,
    known: Mapping[str, tuple[NamedSelect, Process]],
    named: Mapping[str, NamedSelect],
    warehouse: Warehouse,
) -> list[tuple[str, Readable]]:
    """A named SELECT on one line; nothing where its columns over these data cannot be told."""
    columns = columns_given(one, named, warehouse.tables, warehouse.dialect)
    if not columns:
        return []
    meanings = {variable.name: variable.meaning for variable in known[one.name][1].variables}
    values = [f"{name}: {_of_one_line(meanings[name])}" for name in one.variables if meanings[name]]
    names = ", ".join(name for name, _ in columns)
    return [("; ".join([f"{one.call} ({names}): {_of_one_line(one.says)}", *values]), Readable(one.call, columns))]


def _of_table(table: TableSchema, warehouse: Warehouse) -> list[tuple[str, Readable]]:
    columns = [(column.name, kind_of_type(column.type, warehouse.dialect)) for column in table.columns]
    texts = [(column.name, column.categories) for column in table.columns if column.categories]
    return [(describe_schema([table]), Readable(table.name, columns, texts))]


def _of_one_line(text: str) -> str:
    return beginning(" ".join(text.split()), _SHOWN)
