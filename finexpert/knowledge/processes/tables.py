"""What a planner is offered who only fills in: SELECTs of processes under their names, as tables and as analyses.

    rungs (month, mean): one row a month that is a rung
    average_between('cpi', '2000-01-01', '2009-12-01') (value): the mean of a series; series: a name of monthly_series; from: the first month

An analysis has variables, and its call stands with examples of their values. The SELECTs themselves, the longest part of a process, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from finexpert.knowledge.memory import Memory
from finexpert.knowledge.process import Process
from finexpert.text.texts import beginning
from finexpert.warehouse.checks.reading.named import columns_given
from finexpert.warehouse.named_selects import NamedSelect
from finexpert.warehouse.warehouse import Warehouse

# So much of all analyses is told, in an order that no question changes: a prompt that begins like the one before is read faster.
MOST_CHARACTERS = 8_000
# So many tables are told beside those of what the question names.
TABLES, ANALYSES = 3, 12
_SHOWN = 200


def analyses(question: str, memory: Memory, warehouse: Warehouse) -> str:
    """The analyses of these data: all that there are, or the nearest to the question where they are many. Empty without any."""
    known = memory.named_selects()
    named = {name: one for name, (one, _) in known.items()}
    lines = {
        name: line
        for name, (one, process) in known.items()
        if one.variables and (line := _line(one, process, named, warehouse))
    }
    if sum(map(len, lines.values())) > MOST_CHARACTERS:
        nearest = [one.name for one in memory.nearest_selects(question, len(known)) if one.name in lines]
        lines = {name: lines[name] for name in sorted(nearest[:ANALYSES])}
    return "\n".join(lines.values())


def tables(question: str, memory: Memory, warehouse: Warehouse) -> str:
    """The tables of the processes that the question names, and those that are nearest to it in meaning; empty without any."""
    known = memory.named_selects()
    named = {name: one for name, (one, _) in known.items()}
    meant = {process.id for process in memory.named_in(question)}
    plain = [one for one in memory.nearest_selects(question, len(known)) if not one.variables]
    chosen = [one for one in plain if known[one.name][1].id in meant]
    chosen += [one for one in plain if one not in chosen][:TABLES]
    return "\n".join(filter(None, (_line(one, known[one.name][1], named, warehouse) for one in chosen)))


def _line(one: NamedSelect, process: Process, named: Mapping[str, NamedSelect], warehouse: Warehouse) -> str:
    """A named SELECT on one line; empty where it has no columns over these data."""
    columns = columns_given(one, named, warehouse.tables, warehouse.dialect)
    if not columns:
        return ""
    meanings = {variable.name: variable.meaning for variable in process.variables}
    values: Sequence[str] = [f"{name}: {_of_one_line(meanings[name])}" for name in one.variables if meanings[name]]
    return "; ".join([f"{one.call} ({', '.join(columns)}): {_of_one_line(one.says)}", *values])


def _of_one_line(text: str) -> str:
    return beginning(" ".join(text.split()), _SHOWN)
