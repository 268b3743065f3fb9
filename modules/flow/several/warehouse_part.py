"""A SELECT that a plan over several sources has already: run, checked and repaired as any other of its warehouse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.core.plans import Extract, Plan
from finexpert.modules.flow.warehouse_question import WarehouseQuestion
from finexpert.warehouse.checks.reading.select import Read, read
from finexpert.warehouse.warehouse import Warehouse


@dataclass(kw_only=True)
class WarehousePart(WarehouseQuestion):
    """One SELECT of a warehouse, or over the parts; what fails goes to the layer of SELECTs."""

    frame: str
    select: str
    columns: Sequence[str] = field(default_factory=tuple)
    interpretation: str = ""

    def plan(self, doubts: str = "", retries: int | None = None) -> Plan:
        """The SELECT as the one step of a plan; nothing is asked."""
        step = Extract(id=1, frame=self.frame, purpose=self.question, columns=list(self.columns), select=self.select)
        return Plan(steps=[step], interpretation=self.interpretation)


def published(select: str, columns: Sequence[str], warehouse: Warehouse) -> dict[str, frozenset[str]]:
    """The published values of each column of a SELECT that is a published column as it stands, or a CASE that names such values otherwise."""
    one = read(select, warehouse.dialect, warehouse.tables)
    if not one.scopes:
        return {}
    outermost = one.scopes[-1]
    found: dict[str, frozenset[str]] = {}
    if not isinstance(outermost.expression, exp.Select):
        return found
    for name, projection in zip(columns, outermost.expression.selects, strict=False):
        column = projection.unalias()
        origin = one.origin(column, outermost) if isinstance(column, exp.Column) else None
        if origin is not None and origin.column.categories is not None and not origin.wraps:
            found[name] = frozenset(origin.column.categories)
        elif isinstance(column, exp.Case) and _rests_on_published(one, column, outermost):
            given = [*(branch.args["true"] for branch in column.args["ifs"]), column.args.get("default")]
            found[name] = frozenset(each.name for each in given if isinstance(each, exp.Literal))
    return found


def _rests_on_published(one: Read, case: exp.Case, scope: Scope) -> bool:
    """Whether a CASE looks at published columns alone: what it gives then says nothing that they do not."""
    origins = [one.origin(column, scope) for column in case.find_all(exp.Column)]
    return not case.find(exp.Query) and all(each is not None and each.column.categories is not None for each in origins)
