"""What one line of an example set holds, layer by layer.

A line of `sql_extraction.jsonl`; `script_generation` has `answer_format`, `task` and `code` too, `planning` also an
`interpretation`, and an `answer_select` where one SELECT computes the answer:

    {"id": "trades_without_fee", "split": "train", "scenario": "fund", "question": "How many ...?",
     "today": "2024-06-28", "frames": [{"name": "open_trades", "columns": ["trade_date", "security_id"],
     "purpose": "trades without a fee", "select": "SELECT trade_date, security_id FROM trades WHERE fee_usd IS NULL"}]}

Neither rows nor answers of a warehouse stand in a record: they follow from running its references (`references`).
The scenario `own` is a database of the user's own, which has no second variant of its numbers. A planning record with a
`page` is one over a filing; one with `convfinqa` or `fred` points into the user's own copy.
"""

from __future__ import annotations

import ast
import datetime as dt
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator

from finexpert.core.answers import AnswerFormat
from finexpert.core.plans import Cell, Compute, Extract, Plan, Quote, Script, Step
from finexpert.core.workspace import Turn, Value, Workspace
from finexpert.datasets.layers.keyword_examples import KeywordExample
from finexpert.datasets.layers.lookup_examples import LookupExample
from finexpert.datasets.warehouses.examples import SCENARIOS
from finexpert.filings.page.filing import Filing
from finexpert.warehouse.warehouse import Warehouse

Split = Literal["train", "val", "holdout"]
FilingStep = Cell | Quote | Compute
OWN = "own"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Placed(_Strict):
    """Something that stands in a file: `place` says where, as in "planning.jsonl, line 3"."""

    _place: str = PrivateAttr(default="")

    @property
    def place(self) -> str:
        return self._place or "an example of no file"

    def at(self, place: str) -> None:
        self._place = place


class Record(Placed):
    """What every line has."""

    id: str = Field(min_length=1)
    split: Split


class Example(Record):
    """A record that is one example itself."""

    scenario: str
    question: str = Field(min_length=1)


class ReferenceFrame(_Strict):
    """A frame with the SELECT that fetches it rightly."""

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    columns: tuple[str, ...] = Field(min_length=1)
    purpose: str = Field(min_length=1)
    select: str = Field(min_length=1)


class WarehouseExample(Example):
    """A question over one of the example warehouses, or over a database of the user's own."""

    today: dt.date
    knowledge: str = ""
    frames: tuple[ReferenceFrame, ...] = Field(min_length=1)
    _warehouse: Warehouse | None = PrivateAttr(default=None)

    @field_validator("scenario")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in (*SCENARIOS, OWN):
            known = ", ".join(sorted(SCENARIOS))
            raise ValueError(f"there is no such scenario; there are {known}, and own for a database of yours")
        return value

    @property
    def is_own(self) -> bool:
        """Whether it asks a database of the user's own; of its numbers there is no second variant."""
        return self.scenario not in SCENARIOS

    def over(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse

    @property
    def warehouse(self) -> Warehouse:
        """The user's own database."""
        if self._warehouse is None:
            raise ValueError(f"{self.id}: its warehouse is not open yet; take examples from layer_examples.load")
        return self._warehouse

    @property
    def extracts(self) -> list[Extract]:
        """The frames as steps of a plan, without their SELECTs."""
        return [
            Extract(id=number, frame=frame.name, purpose=frame.purpose, columns=list(frame.columns))
            for number, frame in enumerate(self.frames, start=1)
        ]


class SqlExtractionExample(WarehouseExample):
    """Frames to fetch, each with its SELECT."""


class ScriptExample(WarehouseExample):
    """Frames at hand, what to compute from them, and a script that does."""

    answer_format: AnswerFormat
    task: str = Field(min_length=1)
    code: str = Field(min_length=1)

    @field_validator("code")
    @classmethod
    def _parses(cls, value: str) -> str:
        try:
            ast.parse(value)
        except SyntaxError as error:
            raise ValueError(f"it is not Python: {error.msg} in its line {error.lineno}") from error
        return value

    @property
    def plan(self) -> Plan:
        """The references as a plan that needs no language model."""
        extracts: list[Step] = [
            extract.model_copy(update={"select": frame.select})
            for extract, frame in zip(self.extracts, self.frames, strict=True)
        ]
        names = [frame.name for frame in self.frames]
        script = Script(id=len(extracts) + 1, frames=names, task=self.task, code=self.code or None)
        return Plan(steps=[*extracts, script])


class PlanningExample(ScriptExample):
    """A question with a plan: how it is understood, SELECTs, script; with an `answer_select`, also as one SELECT."""

    interpretation: str = Field(min_length=1)
    answer_select: str = ""


class FredExample(PlanningExample):
    """A FRED question over the user's warehouse: it has gold, but no reference plan."""

    scenario: str = "fred"
    fred: str
    frames: tuple[ReferenceFrame, ...] = ()
    task: str = ""
    code: str = ""
    interpretation: str = ""

    @field_validator("scenario")
    @classmethod
    def _known(cls, value: str) -> str:
        return value


class EarlierTurn(_Strict):
    """A question asked before on the same page, with its plan and its answer."""

    question: str
    steps: tuple[FilingStep, ...]
    answer: str
    value: float | str

    @property
    def plan(self) -> Plan:
        return Plan(steps=list(self.steps), answer=self.answer)


class FilingExample(Example):
    """One turn about a page, with the plan that answers it; `gold` is the answer."""

    scenario: str = ""
    page: str = Field(min_length=1)
    knowledge: str = ""
    earlier: tuple[EarlierTurn, ...] = ()
    entity: str
    steps: tuple[FilingStep, ...]
    answer: str = Field(pattern=r"^(step|turn) -?\d+$")
    gold: float | str
    _filing: Filing | None = PrivateAttr(default=None)

    @property
    def plan(self) -> Plan:
        return Plan(steps=list(self.steps), answer=self.answer, entity=self.entity, interpretation=self.entity)

    @property
    def filing(self) -> Filing:
        if self._filing is None:
            raise ValueError(f"{self.id}: its page is not read yet; take examples from layer_examples.load")
        return self._filing

    def on(self, filing: Filing) -> None:
        self._filing = filing


class LookupRecord(Placed, LookupExample):
    """A question, and the processes that should be recalled for it."""


class KeywordRecord(Placed, KeywordExample):
    """A question, the terms to use in it, those to ask about, and the words to keep."""


class ConvFinQAReference(Record):
    """A turn of a ConvFinQA conversation in the user's copy; turns count from 1."""

    convfinqa: str = Field(min_length=1)
    turn: int = Field(ge=1)


class FredReference(Record):
    """A packaged FRED question, asked of the user's FRED warehouse."""

    fred: str = Field(min_length=1)


def workspace_of(example: FilingExample) -> Workspace:
    """The conversation before the example's question."""
    workspace = Workspace()
    for turn in example.earlier:
        workspace.add_turn(Turn(turn.question, Value(turn.value), plan=turn.plan))
    return workspace
