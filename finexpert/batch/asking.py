"""How the questions of a batch are asked: one by one in a conversation of its own, and all of them by an engine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Unpack

from finexpert.batch.questions import BatchQuestion
from finexpert.batch.surroundings import Shared
from finexpert.core.answers import Answer, Failure
from finexpert.datasets.evaluations.journal import side_by_side
from finexpert.errors import FinexpertError, ModelError, ModelUnreachable, UnknownPrompt
from finexpert.language_models.budget import Budget, RunEnded
from finexpert.session import AskOptions, Session

log = logging.getLogger(__name__)

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
    """The answer to one question. A prompt that the model refuses, or a fault of this program, fails it; the others may have answers."""
    try:
        return session.ask(question, **options)
    except ModelUnreachable:
        raise
    except ModelError as error:
        kind = "unknown prompt" if isinstance(error, UnknownPrompt) else "model"
        failure = Failure(layer="language_models", kind=kind, message=str(error).splitlines()[0])
    except (FinexpertError, RunEnded):
        raise
    except Exception as error:
        # It would end a batch at the same row each time.
        log.exception("a fault at the question %r", question)
        told = (
            f"a fault of this program ({type(error).__name__}): please report the question; its traceback is in the log"
        )
        failure = Failure(layer="program", kind=type(error).__name__, message=told)
    return Answer(question=question, status="failed", failure=failure)
