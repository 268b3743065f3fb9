"""A small table of filings as a part of an answer: the pages are found as the plan says, one call reads the rows.

searches of the plan ─ ranked pages ─ values, formulas and rows (a call) ─ proved and computed ─ a frame, each value with its citation
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import dspy
import pandas as pd

from finexpert.answers import recording
from finexpert.core.answers import Answer, AnswerFormat
from finexpert.core.workspace import Value
from finexpert.modules.flow.layers import Layers
from finexpert.modules.flow.library import LibraryJourney
from finexpert.modules.library.search import phrases
from finexpert.plans import execution
from finexpert.plans.pages.answer import citations_of
from finexpert.plans.pages.proved import ProvedSentence, Reading
from finexpert.plans.pages.reading import CarriedOut, unsupported
from finexpert.plans.pages.tabled import TableColumn, Tabled, tabled
from finexpert.signatures.source_planning import SourcePart
from finexpert.signatures.text import said_missing

_ASKED_FOR_A_TABLE = ("pages", "operations", "measures", "knowledge", "question", "feedback")


class Planned:
    """The layers, of which that of searches says what the plan says already; with columns, pages are read into rows."""

    def __init__(self, layers: Layers, part: SourcePart, columns: Sequence[TableColumn] = ()) -> None:
        self._layers, self._part, self._columns = layers, part, columns

    def library_search(self, **asked: Any) -> dspy.Prediction:
        """The searches of the plan; those of the layer where the plan has none."""
        if not (searches := phrases(self._part.searches)):
            return self._layers.library_search(**asked)
        part = self._part
        return dspy.Prediction(
            companies=[name.strip() for name in part.companies if name.strip()],
            years=sorted({year for year in part.years if 1900 <= year <= 2100}),
            statements=list(dict.fromkeys(part.statements)),
            searches=searches,
        )

    def library_reading(self, **asked: Any) -> dspy.Prediction:
        """The rows of a table where one is asked for, else the usual answer."""
        if not self._columns:
            return self._layers.library_reading(**asked)
        wanted = {name: asked[name] for name in _ASKED_FOR_A_TABLE}
        return self._layers.library_table(columns=self._columns, **wanted)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._layers, name)


@dataclass(kw_only=True)
class LibraryPart(LibraryJourney):
    """One table that is read from filings."""

    columns: Sequence[TableColumn]
    rows: list[list[str]] = field(init=False, default_factory=list)
    lacks: str = field(init=False, default="")
    table: Tabled = field(init=False, default_factory=lambda: Tabled(pd.DataFrame()))

    def _proved(self, made: Any) -> tuple[Reading, list[str]]:
        reading, doubts = super()._proved(made)
        self.lacks = said_missing(made.missing)
        proved = {(words.says, words.quote) for words in reading.statements}
        said = {each.name: each.says if (each.says, each.quote) in proved else "" for each in made.statements}
        texts = [column.kind == "text" for column in self.columns]
        self.rows = [
            [self._quoted(_words(cell, said), reading) if is_text else cell for cell, is_text in _each(row, texts)]
            for row in made.rows
        ]
        return reading, doubts

    def _supported(self, carried: CarriedOut) -> bool:
        """Whether every cell is proved, computed or a label."""
        self.table = tabled(self.reading, carried, self.source.page, self.columns, self.rows)
        carried.notes += [*self.table.problems, *self.table.notes]
        rests = bool(self.reading.values or self.reading.statements)
        return rests and not self.table.problems

    def _quoted(self, cell: str, reading: Reading) -> str:
        """A cell; nothing where its words hold a number that stands in no quote."""
        said = reading.model_copy(update={"sentences": [ProvedSentence(says=cell)]})
        return "" if "{" not in cell and unsupported(said, self.question) else cell

    @property
    def lacking(self) -> list[str]:
        """What the table lacks: what the pages do not say, and the cells that are empty or that no page bears out."""
        return list(dict.fromkeys([*([f"the pages lack: {self.lacks}"] if self.lacks else []), *self.table.lacks]))

    def _outcome(self, carried: CarriedOut) -> execution.Outcome:
        self.carried, self.last_plan = carried, carried.plan
        cited = citations_of(self.reading, carried, self.source.page)
        value = Value(self.table.data, citations=cited)  # type: ignore[arg-type]
        return execution.Outcome(value=value, plan=carried.plan)

    def answered(self, outcome: execution.Outcome) -> Answer:
        """The table with its citations and its record, which holds quotes and formulas."""
        flags = list(dict.fromkeys([*self.notes, *self._later()]))
        answer = Answer(
            question=self.question,
            status="answered",
            value=self.table.data,
            format=AnswerFormat(kind="table"),
            explanation=outcome.plan.interpretation,
            citations=list(outcome.value.citations),
            flags=flags,
            confidence=max(20, 90 - 15 * len([*flags, *self.lacking])),
        )
        searches = [vars(each) for each in self.rounds]
        answer.record = recording.of_library_reading(
            answer, outcome.plan, self.workspace, self.source, self.as_of, self.knowledge, searches, self.reading
        )
        return answer


def _each(row: Sequence[str], texts: Sequence[bool]) -> list[tuple[str, bool]]:
    return [(cell, number < len(texts) and texts[number]) for number, cell in enumerate(row)]


def _words(cell: str, said: dict[str, str]) -> str:
    """A cell of words with the words that it names."""
    return said.get(cell.strip().strip("{} "), cell)
