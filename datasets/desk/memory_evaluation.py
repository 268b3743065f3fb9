"""Following a long process: does it matter who wrote it down?

The same lesson on recessions in three forms: as the program summarised it after being taught (with SQL and code), as
the expert said it (the messages, one a step), and the same with a reminder to do exactly that. Each is given for the
same questions over other spans of time, so what is measured is whether the steps are followed to the letter.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field

from finexpert.core.answers import Answer, AnswerFormat
from finexpert.datasets.desk.transcripts import Line
from finexpert.datasets.fred.evaluation import QuestionBench
from finexpert.datasets.fred.questions import Question
from finexpert.datasets.fred.tables import FredTables
from finexpert.knowledge.process import Process, ProcessStep
from finexpert.modules.financial_expert import Options
from finexpert.warehouse.warehouse import Warehouse

MODEL, HUMAN, NUDGED = "model-summarised", "human-summarised", "human with nudging"
FORMS = (MODEL, HUMAN, NUDGED)

_NUDGE = (
    "Go through these steps one after the other, leave none out and add none. Keep the running count as a column of its "
    "own, and derive the starts and the ends from that column alone."
)
_SPANS = (
    (1948, 1970), (1950, 1985), (1955, 1976), (1960, 1984), (1965, 1999), (1970, 1993),
    (1972, 2011), (1978, 2003), (1980, 2015), (1985, 2022), (1990, 2019), (1947, 2023),
)  # fmt: skip


def forms(summarised: Process, lines: list[Line]) -> dict[str, Process]:
    """The three forms of a lesson: the process that was learned, and the messages that taught it."""
    said = [ProcessStep(text=line.message) for line in lines if line.message]
    human = Process(heading=summarised.heading, steps=said)
    return {
        MODEL: summarised,
        HUMAN: human,
        NUDGED: human.model_copy(update={"steps": [ProcessStep(text=_NUDGE), *said]}),
    }


def questions(warehouse: Warehouse, as_of: dt.date) -> list[Question]:
    """One question a span of years, with its gold from the reference: every recession with start, end and length."""
    recessions = FredTables(warehouse, as_of).recessions
    asked = []
    for first, last in _SPANS:
        inside = [r for r in recessions if first <= r.start.year and r.end.year <= last]
        gold = [number for r in inside for number in (r.start.year, r.start.month, r.months)]
        asked.append(
            Question(
                id=f"recessions_{first}_{last}",
                question=(
                    f"Which recessions started and ended in the years {first} to {last}, and how long was each? Give "
                    "three integers for each, oldest first, all in one list."
                ),
                as_of=as_of,
                category="complex",
                needs=("recession",),
                answer_format=AnswerFormat(
                    kind="list",
                    items="integer",
                    description="for each recession the year and the month of the first day of its first quarter, and "
                    "its length in months, three for every quarter from the first to the last",
                ),
                gold=gold,
            )
        )
    return asked


@dataclass
class MemoryBench(QuestionBench):
    """Asks with one form of the process as the only knowledge; the forms are the rungs."""

    processes: dict[str, Process] = field(default_factory=dict)

    def given(self) -> list[str]:
        return [process.recipe() for process in self.processes.values()]

    def answer(self, rung: str, question: Question, repeat: int = 1) -> Answer:
        return self.ask(
            question,
            self.models.repeat(repeat),
            knowledge=self.processes[rung].recipe(),
            options=Options.of(self.settings),
        )
