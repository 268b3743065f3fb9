"""How the questions of a batch are asked: one by one in a conversation of its own, and all of them by an engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Unpack

from finexpert.batch.questions import BatchQuestion
from finexpert.batch.surroundings import Shared
from finexpert.core.answers import Answer, Failure
from finexpert.datasets.evaluations.journal import side_by_side
from finexpert.errors import ModelError, ModelUnreachable, UnknownPrompt
from finexpert.language_models.budget import Budget
from finexpert.session import AskOptions, Session

Engine = Literal["threads", "ray"]


@dataclass(frozen=True)
class Run:
    """What all questions of a run are asked with; at most `threads` at once."""

    shared: Shared
    asked: Sequence[BatchQuestion]
    threads: int
    clarify: bool


Keep = Callable[[BatchQuestion, Answer], None]
# Asks some questions of a run, and hands each answer on as it comes.
AskEach = Callable[[Run, Sequence[BatchQuestion], Keep, Budget], None]


def in_threads(run: Run, questions: Sequence[BatchQuestion], keep: Keep, budget: Budget) -> None:
    """In this process, whose every call counts against the budget by itself."""

    def one(question: BatchQuestion) -> None:
        keep(question, in_session(run.shared, question, run.clarify))

    side_by_side(one, [(question,) for question in questions], run.threads)


def in_session(shared: Shared, question: BatchQuestion, clarify: bool) -> Answer:
    """The answer to one question, in a conversation of its own."""
    with Session(**shared) as session:
        return answer_to(
            question.question,
            session,
            answer_format=question.answer_format,
            knowledge=question.knowledge,
            as_of=question.as_of,
            clarify=clarify,
        )


def answer_to(question: str, session: Session, **options: Unpack[AskOptions]) -> Answer:
    """The answer to one question. A prompt that the model refuses fails this question; the others may still have answers."""
    try:
        return session.ask(question, **options)
    except ModelUnreachable:
        raise
    except ModelError as error:
        kind = "unknown prompt" if isinstance(error, UnknownPrompt) else "model"
        failure = Failure(layer="language_models", kind=kind, message=str(error).splitlines()[0])
        return Answer(question=question, status="failed", failure=failure)
