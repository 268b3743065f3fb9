"""What records of an example set need of the user's own: a copy of ConvFinQA, of FRED, or a database.

    {"id": "mine-1", "split": "train", "convfinqa": "Single_HRBR/2015/page_41.pdf-1", "turn": 3}
    {"id": "mine-2", "split": "val", "fred": "latest_recession"}
    {"id": "mine-3", "split": "holdout", "scenario": "own", "question": "Which desk is over its limit?", ...}

A ConvFinQA turn becomes an example of planning over a filing, with the plan that its gold program is; a FRED question
one over a warehouse, with gold but no reference plan; a record of the scenario `own` asks the database of `--data`.
Nothing of any of them is kept here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from finexpert.core.plans import Cell, Compute, Plan, Quote
from finexpert.datasets.convfinqa.conversations import Conversation, GoldTurn
from finexpert.datasets.convfinqa.conversations import load as load_conversations
from finexpert.datasets.convfinqa.plans import from_official_program
from finexpert.datasets.fred.database import open_data
from finexpert.datasets.fred.questions import load_questions
from finexpert.datasets.layers.records import (
    ConvFinQAReference,
    EarlierTurn,
    FilingExample,
    FilingStep,
    FredExample,
    FredReference,
    WarehouseExample,
)
from finexpert.errors import ConfigurationError, DataError, FinexpertError, QuestionFileError
from finexpert.settings import Settings
from finexpert.storage.closing import Closing
from finexpert.warehouse.warehouse import Warehouse

_FILES = ("train.json", "dev.json")


@dataclass(frozen=True)
class Copies(Closing):
    """Where the user's copies are: a file or folder of ConvFinQA, what `open_data` takes; else those of the home.

    The database is opened once, read-only, when an example asks it, and stays open until `close`.
    """

    convfinqa: Path | None = None
    data: Path | None = None
    settings: Settings | None = None

    @cached_property
    def warehouse(self) -> Warehouse:
        """The database of `data`. Raises DataError or ConfigurationError."""
        return open_data(self.data, settings=self.settings)

    def close(self) -> None:
        if "warehouse" in vars(self):
            self.warehouse.close()

    def over_own(self, example: WarehouseExample) -> WarehouseExample:
        """An example of the scenario `own`, over the database of `data`; ConfigurationError where none is named."""
        if self.data is None:
            raise ConfigurationError(
                f"{example.place}: scenario: own is a database of yours, and none was named: name it with --data"
            )
        try:
            example.over(self.warehouse)
        except DataError as error:
            # It is the same for all lines: told once, and not line by line.
            raise ConfigurationError(f"{example.place}: scenario: own: {error}") from error
        return example

    def filing_example(self, record: ConvFinQAReference) -> FilingExample:
        """The turn that a record names, with its gold program as a plan."""
        place = self.convfinqa or Settings().home / "convfinqa"
        conversation = _conversations(place).get(record.convfinqa)
        if conversation is None:
            raise QuestionFileError(
                f"{record.place}: convfinqa: there is no conversation {record.convfinqa!r} in {place}; "
                f"get them with `finexpert data convfinqa`"
            )
        if record.turn > len(conversation.turns):
            raise QuestionFileError(f"{record.place}: turn: {record.convfinqa} has {len(conversation.turns)} turns")
        example = _example(record, conversation)
        example.at(record.place)
        example.on(conversation.filing)
        return example

    def fred_example(self, record: FredReference) -> FredExample:
        """The packaged question that a record names, over the user's warehouse."""
        question = next((each for each in load_questions() if each.id == record.fred), None)
        if question is None:
            known = ", ".join(each.id for each in load_questions()[:3])
            raise QuestionFileError(
                f"{record.place}: fred: there is no question {record.fred!r}; there are {known}, ..."
            )
        if question.as_of is None:
            raise QuestionFileError(f"{record.place}: fred: the question {record.fred!r} has no day")
        example = FredExample(
            id=record.id,
            split=record.split,
            question=question.question,
            today=question.as_of,
            answer_format=question.answer_format,
            fred=record.fred,
        )
        example.at(record.place)
        example.over(self.warehouse)
        return example


def _example(record: ConvFinQAReference, conversation: Conversation) -> FilingExample:
    turns = conversation.turns[: record.turn]
    plans = [_plan(record, conversation, turn) for turn in turns]
    gold = [turn.answer for turn in turns if turn.answer is not None]
    return FilingExample(
        id=record.id,
        split=record.split,
        scenario=conversation.page,
        page=conversation.page,
        question=turns[-1].question,
        earlier=tuple(
            EarlierTurn(question=turn.question, steps=_steps(plan), answer=_answer(plan), value=value)
            for turn, plan, value in zip(turns[:-1], plans[:-1], gold[:-1], strict=True)
        ),
        entity=turns[-1].question.strip(" ?"),
        steps=_steps(plans[-1]),
        answer=_answer(plans[-1]),
        gold=gold[-1],
    )


def _plan(record: ConvFinQAReference, conversation: Conversation, turn: GoldTurn) -> Plan:
    if turn.program is None or turn.answer is None:
        raise QuestionFileError(f"{record.place}: convfinqa: {record.convfinqa} has no public programs and answers")
    try:
        return from_official_program(turn.program, conversation.filing, turn.question)
    except FinexpertError as error:
        raise QuestionFileError(
            f"{record.place}: convfinqa: the program {turn.program!r} has no plan: {error}"
        ) from error


def _steps(plan: Plan) -> tuple[FilingStep, ...]:
    return tuple(step for step in plan.steps if isinstance(step, Cell | Quote | Compute))


def _answer(plan: Plan) -> str:
    found = plan.answer_reference
    return f"{found.kind} {found.number}"


@cache
def _conversations(place: Path) -> dict[str, Conversation]:
    paths: Sequence[Path] = [place / name for name in _FILES if (place / name).is_file()] if place.is_dir() else [place]
    if not paths or not paths[0].is_file():
        raise QuestionFileError(f"there is no ConvFinQA in {place}; get it with `finexpert data convfinqa`")
    return {conversation.id: conversation for path in paths for conversation in load_conversations(path)}
