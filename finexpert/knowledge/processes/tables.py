"""A process as the tables that its SELECTs are read as: all that a planner needs who only fills in what to count, and for when.

    Rate Ladder
    table rungs (month, mean): one row a month that is a rung
    table thin_months(5) (month, cushion), with most = 5: the most that counts: months whose cushion is below <most>

The SELECTs themselves, the longest part of a process, are left out. One without a SELECT is told as a recipe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from finexpert.knowledge.process import Process
from finexpert.warehouse.checks.reading.named import columns_given
from finexpert.warehouse.named_selects import NamedSelect
from finexpert.warehouse.warehouse import Warehouse

Told = Callable[[Process], str]


def tables_of(named: Mapping[str, NamedSelect], warehouse: Warehouse) -> Told:
    """What tells a process by its tables, with the columns that they have over these data."""

    def told(process: Process) -> str:
        lines = [_line(process, one, named, warehouse) for one in process.named_selects]
        # A script has a part in what it computes, so that its SELECTs alone are not the process.
        if not lines or any(step.code for step in process.steps):
            return process.recipe()
        return "\n".join([process.heading, *lines])

    return told


def _line(process: Process, one: NamedSelect, named: Mapping[str, NamedSelect], warehouse: Warehouse) -> str:
    columns = ", ".join(columns_given(one, named, warehouse.tables, warehouse.dialect))
    meanings = {variable.name: variable.meaning for variable in process.variables}
    values = "".join(f", with {name} = {value}: {meanings[name]}" for name, value in one.variables.items())
    return f"table {one.call}{f' ({columns})' if columns else ''}{values}: {' '.join(one.says.split())}"
