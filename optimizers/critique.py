"""Compiling critique: an objection counts if it stands on the page and mends the value, a plan if it gives the right answer.

Three kinds of examples, one for each predictor: what was read from a page is audited, a turn about a page is derived
anew, a question over a warehouse is computed anew. Plans of one's own are judged as those of planning are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from finexpert.core.plans import Plan
from finexpert.core.reviews import Correction
from finexpert.datasets.layers.critique_records import AuditExample, CritiqueExample, RecomputeExample
from finexpert.datasets.layers.critique_references import corrected, mends, readings_of, standing_of
from finexpert.datasets.layers.inputs import to_dspy
from finexpert.datasets.layers.records import workspace_of
from finexpert.datasets.layers.references import schema_card_of
from finexpert.modules.flow.filing_question import conversation
from finexpert.optimizers.compiling.metrics import DONE, Judged
from finexpert.optimizers.compiling.tasks import CompileBench, Task
from finexpert.optimizers.planning import Carried, PlanningTask, quoted_only
from finexpert.signatures import rules
from finexpert.signatures.critique import Objection

_OUTPUTS = {
    "extraction": ("objections",),
    "calculation": ("asked", "formula", "steps", "answer"),
    "recomputation": ("reading", "selects", "code"),
}


class CritiqueTask(Task):
    """One look of a critic at an example."""

    layer = "critique"

    def __init__(self, bench: CompileBench) -> None:
        super().__init__(bench)
        self.planning = PlanningTask(bench)

    def ask(self, layer: dspy.Module, record: CritiqueExample) -> Plan | list[Objection]:
        """What a critic says: objections, or a plan."""
        made = layer(question=record.question, knowledge=record.knowledge or rules.NONE, **_shown(record))
        said: Plan | list[Objection] = made.objections if isinstance(record, AuditExample) else made.plan
        return said

    def run(self, record: CritiqueExample, asked: Plan | list[Objection]) -> Carried | list[Correction]:
        """The objections that stand, or the plan as it was carried out."""
        if isinstance(record, AuditExample):
            return standing_of(record, asked if isinstance(asked, list) else [])
        if not isinstance(asked, Plan):
            raise TypeError(f"{record.id}: a {type(asked).__name__} is no plan")
        return self.planning.run(record, asked)

    def judge(self, record: CritiqueExample, result: Carried | list[Correction]) -> Judged:
        if isinstance(result, list) and isinstance(record, AuditExample):
            return audit_verdict(record, result)
        if not isinstance(result, Carried):
            raise TypeError(f"{record.id}: a {type(result).__name__} is nothing that was carried out")
        return self.planning.judge(record, result)

    def right(self, record: CritiqueExample, place: str, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
        told = to_dspy(record, drafts=True)
        return {name: told[name] for name in _OUTPUTS[place]}

    def demonstrations(self, layer: dspy.Module, record: Any) -> dict[str, dspy.Example]:
        found = super().demonstrations(layer, record)
        for place in ("extraction", "calculation"):
            if place in found:
                steps = [*record.steps, *(record.readings if isinstance(record, AuditExample) else ())]
                found[place]["page"] = quoted_only(record, steps)
        return found


def audit_verdict(record: AuditExample, corrections: Sequence[Correction]) -> Judged:
    """Whether the objections that stand are the one that is due: with them the plan must give the right value."""
    if record.wrong is None:
        if not corrections:
            return DONE
        return Judged(0.0, f"{_named(corrections)} is objected to, and every reading is one that may be meant")
    if mends(record, corrections):
        return DONE
    if not corrections:
        what = "a reading is wrong" if record.wrong in {step.id for step in record.readings} else "a reading is missing"
        return Judged(
            0.0, f"{what}, and no objection stands: compare row, column and year of each with what the question asks"
        )
    ran = "gives another value" if corrected(record, corrections) is not None else "does not run"
    return Judged(0.0, f"{_named(corrections)} is objected to, and the plan {ran} with what is named instead")


def _named(corrections: Sequence[Correction]) -> str:
    return " and ".join(f"step {each.step}" if each.step else "what was not read" for each in corrections)


def _shown(record: CritiqueExample) -> dict[str, Any]:
    """What a critic is shown of an example, beside the question."""
    if isinstance(record, RecomputeExample):
        return {
            "schema_card": schema_card_of(record),
            "today": record.today.isoformat(),
            "answer_type": record.answer_format.instruction(),
        }
    shown = {"page": record.filing.page_text(), "conversation": conversation(workspace_of(record))}
    return shown | ({"readings": readings_of(record)} if isinstance(record, AuditExample) else {})


TASK = CritiqueTask
