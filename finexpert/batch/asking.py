"""One question of many: what fails it alone, and what ends them all."""

from __future__ import annotations

from typing import Unpack

from finexpert.core.answers import Answer, Failure
from finexpert.errors import ModelError, ModelUnreachable, UnknownPrompt
from finexpert.session import AskOptions, Session


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
