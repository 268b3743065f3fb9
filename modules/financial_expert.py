"""The combined program: a question travels through the layers and comes back as an `Answer`.

A journey over pages or several sources is imported when it is made: a question over tables begins without them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import dspy

from finexpert.answers.sources.sources import Sources
from finexpert.core.answers import AnswerFormat
from finexpert.core.workspace import Workspace
from finexpert.errors import ConfigurationError, SandboxUnavailable
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.knowledge.taught import Taught
from finexpert.modes import SourceKind, fits
from finexpert.modules.adversarial_review import AdversarialReview
from finexpert.modules.critique import Critique
from finexpert.modules.filing_search import FilingSearch
from finexpert.modules.flow.answering import Answering
from finexpert.modules.flow.escalation import cheap_first
from finexpert.modules.flow.options import Options
from finexpert.modules.flow.reviewing.warehouse import WarehouseReviewing
from finexpert.modules.flow.warehouse_question import WarehouseQuestion
from finexpert.modules.keyword_rephrasing import KeywordRephrasing
from finexpert.modules.learning.listening import Listening
from finexpert.modules.learning.memorization import Memorization
from finexpert.modules.library.planning import LibraryPlanning
from finexpert.modules.library.reading import LibraryReading
from finexpert.modules.library.search import LibrarySearch
from finexpert.modules.library.table import LibraryTable
from finexpert.modules.memory_lookup import MemoryLookup
from finexpert.modules.panel import Panel
from finexpert.modules.planning import Planning
from finexpert.modules.script_generation import ScriptGeneration
from finexpert.modules.source_planning import SourcePlanning
from finexpert.modules.sql_extraction import SqlExtraction
from finexpert.sandbox import Sandbox
from finexpert.signatures import rules
from finexpert.warehouse.warehouse import Warehouse

__all__ = ["FinancialExpert", "Options"]


class FinancialExpert(dspy.Module):  # type: ignore[misc]
    """All capabilities as one program: rephrasing, memory lookup, planning, SQL extraction, script generation.

    Calling it returns a prediction whose `answer` is an `Answer`, and whose `review` says what critics did, in a mode that
    has them. A question that cannot be answered gives an answer
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
        self.listening = Listening()
        self.library_planning = LibraryPlanning()
        self.filing_search = FilingSearch()
        self.library_search = LibrarySearch()
        self.library_reading = LibraryReading()
        self.library_table = LibraryTable()
        self.source_planning = SourcePlanning()
        self.critique = Critique()
        self.panel = Panel()
        self.adversarial_review = AdversarialReview()

    def forward(
        self,
        *,
        question: str,
        source: Warehouse | Filing | Library | Sources,
        sandbox: Sandbox | None = None,
        workspace: Workspace | None = None,
        answer_format: AnswerFormat | None = None,
        as_of: dt.date | None = None,
        knowledge: str = "",
        taught: Taught | None = None,
        declined: Collection[str] = (),
        chosen: Mapping[str, str] | None = None,
        options: Options = Options(),  # noqa: B008  (frozen)
    ) -> dspy.Prediction:
        """Answer one question; frames and the turn are left in `workspace`.

        A warehouse needs a sandbox. With `as_of`, rows that are later are hidden, and a table of which that cannot be told is an error;
        without it today counts, and rows are hidden by declared dates alone. Without `taught`, words are not explained and
        nothing is recalled; `declined` are terms that the user was asked about and did not explain, and `chosen` what texts
        mean that a column does not hold, by "table.column=text".
        """
        common: dict[str, Any] = {
            "layers": self,
            "question": question,
            "workspace": Workspace() if workspace is None else workspace,
            "answer_format": answer_format,
            "as_of": as_of or dt.date.today(),
            "as_of_given": as_of is not None,
            "chosen": chosen or {},
            "knowledge": knowledge or rules.NONE,
            "taught": taught,
            "declined": declined,
            "options": options,
        }
        fits(options.mode, kind_of(source))
        if options.mode.has("single_call"):
            return _in_one_call(source, **common)
        if options.mode.has("escalation"):
            answer = cheap_first(
                lambda space: self._journey(source, sandbox, {**common, "workspace": space}).answer(),
                common["workspace"],
            )
            return dspy.Prediction(answer=answer, review=None)
        asked = self._journey(source, sandbox, common)
        return dspy.Prediction(answer=asked.answer(), review=asked.review)

    def _journey(
        self, source: Warehouse | Filing | Library | Sources, sandbox: Sandbox | None, common: Mapping[str, Any]
    ) -> Answering:
        """One question on its way over a source of its kind."""
        if isinstance(source, Library):
            return _over_library(source=source, **common)
        if isinstance(source, Filing):
            return _over_filing(source=source, **common)
        if isinstance(source, Sources):
            return self._over_several(source, _needed(sandbox), common)
        return self._over_warehouse(source, _needed(sandbox), common)

    def _over_warehouse(self, source: Warehouse, sandbox: Sandbox, common: Mapping[str, Any]) -> WarehouseQuestion:
        options: Options = common["options"]
        code_reviewer = self.adversarial_review if options.review else None
        asked = WarehouseQuestion(source=source, code_reviewer=code_reviewer, sandbox=sandbox, **common)
        asked.second_look = WarehouseReviewing(asked) if options.mode.reviews else None
        return asked

    def _over_several(self, source: Sources, sandbox: Sandbox, common: Mapping[str, Any]) -> Answering:
        from finexpert.modules.flow.several.question import SourcesQuestion

        def journey(source: Warehouse | Library, **changes: Any) -> Answering:
            given = {**common, **changes}
            if isinstance(source, Library):
                return _over_library(source=source, **given)
            return self._over_warehouse(source, sandbox, given)

        code_reviewer = self.adversarial_review if common["options"].review else None
        return SourcesQuestion(source=source, sandbox=sandbox, journey=journey, code_reviewer=code_reviewer, **common)


def kind_of(source: Warehouse | Filing | Library | Sources) -> SourceKind:
    if isinstance(source, Sources):
        return "sources"
    if isinstance(source, Library):
        return "library"
    return "filing" if isinstance(source, Filing) else "warehouse"


def _needed(sandbox: Sandbox | None) -> Sandbox:
    if sandbox is None:
        raise SandboxUnavailable("a question over a warehouse runs a script: pass sandbox=finexpert.sandbox.Sandbox()")
    return sandbox


def _over_library(source: Library, **given: Any) -> Answering:
    """Whole filings are read several pages at a time; a collection of single pages, whose pages say it all, page by page."""
    from finexpert.filings.readers.files import WHOLE
    from finexpert.modules.flow.library import LibraryJourney
    from finexpert.modules.flow.library_question import LibraryQuestion

    whole = any(filing.pages > 1 and Path(filing.path).suffix.lower() in WHOLE for filing in source.filings())
    return LibraryJourney(source=source, **given) if whole else LibraryQuestion(source=source, **given)


def _over_filing(**given: Any) -> Answering:
    from finexpert.modules.flow.filing_question import FilingQuestion
    from finexpert.modules.flow.panel_question import PanelQuestion, PanelReviewing
    from finexpert.modules.flow.reviewing.filing import FilingReviewing

    mode = given["options"].mode
    if mode.has("extractor"):
        panel = PanelQuestion(**given)
        panel.second_look = PanelReviewing(panel)
        return panel
    asked = FilingQuestion(**given)
    asked.second_look = FilingReviewing(asked) if mode.reviews else None
    return asked


def _in_one_call(
    source: Any,
    *,
    question: str,
    workspace: Workspace,
    answer_format: AnswerFormat | None,
    as_of: dt.date,
    as_of_given: bool,
    knowledge: str,
    **_: Any,
) -> dspy.Prediction:
    """The baseline, which explains no words and recalls nothing."""
    if isinstance(source, Filing):
        from finexpert.modules.baselines.page import PageInOneCall

        read = PageInOneCall()(question=question, source=source, workspace=workspace, knowledge=knowledge)
        return dspy.Prediction(answer=read.answer, review=None)
    if answer_format is None:
        raise ConfigurationError(
            "the mode 'single-call' over a warehouse needs the type of the answer, which only an evaluation or "
            "`answer_format` gives; ask in another mode (--mode)"
        )
    from finexpert.modules.baselines.select import SingleCall

    made = SingleCall()(
        question=question,
        source=source,
        answer_format=answer_format,
        as_of=as_of,
        as_of_given=as_of_given,
        knowledge=knowledge,
    )
    return dspy.Prediction(answer=made.answer, review=None)
