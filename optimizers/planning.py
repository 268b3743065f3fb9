"""Compiling planning: the plan is carried out, and its answer must be the reference's.

Over a warehouse a plan without drafts is carried out by the program's other layers as they are at that time; with drafts
it runs as it stands, and again on other numbers, which a database of the user's own does not have. Over a filing
execution takes no model at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import dspy

from finexpert.core.plans import Extract, Plan, Quote, Script
from finexpert.core.workspace import NamedFrame, Workspace
from finexpert.datasets.evaluations.answer_matching import close, matches
from finexpert.datasets.layers.inputs import to_dspy
from finexpert.datasets.layers.records import FilingExample, PlanningExample, workspace_of
from finexpert.datasets.layers.references import (
    answer_of,
    dialect_of,
    schema_card_of,
    variants_of,
    warehouse_of,
)
from finexpert.errors import FinexpertError, PlanError, StepError
from finexpert.filings.page.filing import Filing
from finexpert.modules.flow.filing_question import conversation
from finexpert.modules.sql_extraction import by_name
from finexpert.optimizers.compiling.metrics import DONE, Judged
from finexpert.optimizers.compiling.tasks import CompileBench, Task
from finexpert.plans import checks, execution
from finexpert.plans.execution import Surroundings
from finexpert.signatures import rules

# A plan that is one, whose SELECTs ran, and whose answer has the right type, is worth so much.
A_PLAN, FETCHED, TYPED = 0.1, 0.2, 0.3
_HIDDEN = 1


class Carried(NamedTuple):
    """A plan as it was carried out: with its SELECTs and script, its answer, or the layer and the error that ended it."""

    plan: Plan
    value: Any = None
    layer: str = ""
    error: FinexpertError | None = None


class PlanningTask(Task):
    """One plan for an example."""

    layer = "planning"

    def __init__(self, bench: CompileBench) -> None:
        super().__init__(bench)
        if bench.settings.drafts:  # without them no SELECT may be written here
            self.ways = (frozenset({"warehouse", "warehouse_with_drafts"}), frozenset({"warehouse_by_select"}))

    def ask(self, layer: dspy.Module, record: PlanningExample | FilingExample) -> Plan:
        plan: Plan
        if isinstance(record, FilingExample):
            plan = layer(
                question=record.question,
                page=record.filing.page_text(),
                knowledge=record.knowledge or rules.NONE,
                conversation=conversation(workspace_of(record)),
            ).plan
            return plan
        plan = layer(
            question=record.question,
            dialect=dialect_of(record),
            schema_card=schema_card_of(record),
            today=record.today.isoformat(),
            answer_format=record.answer_format,
            drafts=self.bench.settings.drafts,
            knowledge=record.knowledge or rules.NONE,
        ).plan
        return plan

    def run(self, record: PlanningExample | FilingExample, asked: Plan) -> Carried:
        if isinstance(record, FilingExample):
            workspace = workspace_of(record)
            if problems := checks.before(asked, record.filing, workspace):
                return Carried(asked, layer="planning", error=PlanError("; ".join(problems)))
            return _carried(asked, workspace, Surroundings(filing=record.filing))
        return _carried(asked, Workspace(), self._surroundings(record))

    def _surroundings(self, record: PlanningExample, variant: int = 0, *, models: bool = True) -> Surroundings:
        drafts, expert = self.bench.settings.drafts, self.bench.expert
        common: dict[str, Any] = {
            "question": record.question,
            "dialect": dialect_of(record),
            "today": record.today.isoformat(),
            "knowledge": record.knowledge or rules.NONE,
        }

        def selects(requests: Sequence[Extract], feedback: str) -> Mapping[str, str]:
            written = expert.sql_extraction(schema_card=schema_card_of(record, variant), frames=requests, **common)
            return by_name(written.selects, requests)

        def script(step: Script, frames: Sequence[NamedFrame], feedback: str) -> str:
            told = {name: value for name, value in common.items() if name != "dialect"}
            written = expert.script_generation(
                frames=frames, task=step.task, answer_format=record.answer_format, **told
            )
            return str(written.script.code)

        return Surroundings(
            warehouse=warehouse_of(record, variant),
            sandbox=self.bench.sandbox,
            write_selects=selects if models and not drafts else None,
            write_script=script if models and not drafts else None,
            answer_format=record.answer_format,
            as_of=record.today,
        )

    def judge(self, record: PlanningExample | FilingExample, result: Carried) -> Judged:
        if result.error is not None:
            score = FETCHED if result.layer == execution.SCRIPT_GENERATION else A_PLAN
            return Judged(score, f"the plan fails at {result.layer.replace('_', ' ')}: {result.error}")
        if isinstance(record, FilingExample):
            if close(result.value, record.gold):
                return DONE
            return Judged(TYPED, "the plan runs, and its value is not what the question asks for")
        if not matches(result.value, answer_of(record, self.bench.sandbox), record.answer_format):
            return Judged(
                TYPED,
                f"the plan runs and gives another value; understood right, the question is: {record.interpretation}",
            )
        if _HIDDEN in variants_of(record):
            hidden = _carried(result.plan, Workspace(), self._surroundings(record, _HIDDEN, models=False))
            right = answer_of(record, self.bench.sandbox, _HIDDEN)
            if hidden.error is not None or not matches(hidden.value, right, record.answer_format):
                return Judged(TYPED, "the value is right by luck: on other numbers the same plan gives a wrong one")
        return DONE

    def right(self, record: Any, place: str, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
        told = to_dspy(record, drafts=self.bench.settings.drafts)
        if isinstance(record, PlanningExample) and not record.frames:
            return None
        if place == "warehouse_by_select":
            return _right_by_select(told, record) if record.answer_select else None
        outputs = (
            ("entity", "steps", "answer")
            if place == "filing"
            else ("interpretation", "unclear", "missing", "answer_kind", "unit")
        )
        more = () if place == "filing" else ("selects", "code") if place.endswith("drafts") else ("frames", "task")
        return {name: told[name] for name in (*outputs, *more)}

    def demonstrations(self, layer: dspy.Module, record: Any) -> dict[str, dspy.Example]:
        found = super().demonstrations(layer, record)
        if "filing" in found:
            found["filing"]["page"] = quoted_only(record, record.steps)
        if self.ways and isinstance(record, PlanningExample) and record.answer_select:
            told = to_dspy(record)
            demo = {**told.inputs(), **_right_by_select(told, record)}
            found["warehouse_by_select"] = self.shortened(demo)
        return found


def _right_by_select(told: Mapping[str, Any], record: PlanningExample) -> dict[str, Any]:
    return {"select": record.answer_select, **{name: told[name] for name in ("answer_kind", "unit")}}


def quoted_only(record: FilingExample, steps: Iterable[object]) -> str:
    """The page of an example for a demonstration: its table, and of its text only what these steps quote."""
    quoted = list(dict.fromkeys(step.quote for step in steps if isinstance(step, Quote)))
    return Filing(record.filing.id, quoted, record.filing.table, []).page_text()


def _carried(plan: Plan, workspace: Workspace, surroundings: Surroundings) -> Carried:
    try:
        outcome = execution.run(plan, workspace, surroundings)
    except execution.StepFailed as failed:
        return Carried(plan, layer=failed.layer, error=failed.error)
    except StepError as error:
        return Carried(plan, layer="planning", error=error)
    return Carried(outcome.plan, outcome.value.value)


TASK = PlanningTask
