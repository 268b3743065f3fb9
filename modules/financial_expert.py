"""The combined program: a question travels through the layers and comes back as an `Answer`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from typing import Any

import dspy

from finexpert.answers import AnswerFormat
from finexpert.errors import SandboxUnavailable
from finexpert.modules.answering import Answering, Options
from finexpert.modules.filing_question import FilingQuestion
from finexpert.modules.keyword_rephrasing import KeywordRephrasing
from finexpert.modules.memorization import Memorization
from finexpert.modules.memory_lookup import MemoryLookup
from finexpert.modules.planning import Planning
from finexpert.modules.script_generation import ScriptGeneration
from finexpert.modules.sql_extraction import SqlExtraction
from finexpert.modules.warehouse_question import WarehouseQuestion
from finexpert.sandbox import Sandbox
from finexpert.signatures import rules
from finexpert.sources.filing import Filing
from finexpert.sources.warehouse import Warehouse
from finexpert.stores.taught import Taught
from finexpert.workspace import Workspace

__all__ = ["FinancialExpert", "Options"]


class FinancialExpert(dspy.Module):  # type: ignore[misc]
    """All capabilities as one program: rephrasing, memory lookup, planning, SQL extraction, script generation.

    Calling it returns a prediction whose `answer` is an `Answer`. A question that cannot be answered gives an answer
    with status "failed" and the reason; a model that cannot be used, or a missing sandbox, raises.
    """

    def __init__(self) -> None:
        super().__init__()
        self.keyword_rephrasing = KeywordRephrasing()
        self.memory_lookup = MemoryLookup()
        self.planning = Planning()
        self.sql_extraction = SqlExtraction()
        self.script_generation = ScriptGeneration()
        self.memorization = Memorization()

    def forward(
        self,
        *,
        question: str,
        source: Warehouse | Filing,
        sandbox: Sandbox | None = None,
        workspace: Workspace | None = None,
        answer_format: AnswerFormat | None = None,
        as_of: dt.date | None = None,
        knowledge: str = "",
        taught: Taught | None = None,
        declined: Collection[str] = (),
        options: Options = Options(),  # noqa: B008  (frozen)
        demonstrations: Sequence[dspy.Example] = (),
    ) -> dspy.Prediction:
        """Answer one question; frames and the turn are left in `workspace`.

        A warehouse needs a sandbox. Without `taught`, words are not explained and nothing is recalled; `declined` are
        terms that the user was asked about and did not explain. `demonstrations` are shown to the planner of a filing beside the compiled ones.
        """
        common: dict[str, Any] = {
            "expert": self,
            "question": question,
            "workspace": Workspace() if workspace is None else workspace,
            "answer_format": answer_format,
            "as_of": as_of or dt.date.today(),
            "knowledge": knowledge or rules.NONE,
            "taught": taught,
            "declined": declined,
            "options": options,
        }
        asked: Answering
        if isinstance(source, Filing):
            asked = FilingQuestion(source=source, demonstrations=demonstrations, **common)
        elif sandbox is None:
            raise SandboxUnavailable(
                "a question over a warehouse runs a script: pass sandbox=finexpert.sandbox.Sandbox()"
            )
        else:
            asked = WarehouseQuestion(source=source, sandbox=sandbox, **common)
        return dspy.Prediction(answer=asked.answer())
