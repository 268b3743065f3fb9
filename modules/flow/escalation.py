"""Cheap first: a cheap model answers twice, and a strong one is asked only where a check or the two leave a doubt.

    >>> doubt(Answer(question="Sales?", status="answered", value=4), Answer(question="Sales?", status="answered", value=5))
    'asked twice, the first model gave 4 and 5'

The two draws see the same conversation, and neither sees the other. What stands is left in the workspace as if it alone had been asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from finexpert.core.answers import Answer
from finexpert.core.reviews import CUT_SHORT, UNSURE, agree
from finexpert.core.workspace import Workspace
from finexpert.errors import ConfigurationError
from finexpert.language_models.usage import Meter
from finexpert.modules.calling import models_in_use, using
from finexpert.modules.flow.reviewing.base import in_short

# What two texts may not differ in: how they begin, and their numbers.
_WEIGHTY = re.compile(r"^\W*(?:yes|no)\b|\d+(?:[.,]\d+)*")
ESCALATED = "asked of the strong model: "
_ENOUGH = 50
"""A confidence below it is a doubt by itself."""


def cheap_first(ask: Callable[[Workspace], Answer], workspace: Workspace) -> Answer:
    """The answer of the model at hand where nothing speaks against it, else that of the strong one.

    `ask` answers the question, and keeps frames and the turn in the workspace that it is given.
    Raises ConfigurationError where no strong model is set, ModelError where one cannot be used.
    """
    models = models_in_use()
    if models is None:
        raise ConfigurationError("the mode 'cheap-first' asks the models of a session: ask by finexpert.Session")
    stronger = models.stronger()
    with Meter() as meter:
        first, kept = _in_a_copy(ask, workspace)
        why = doubt(first)
        if not why:
            with using(models.drawn_again()):
                second, _ = _in_a_copy(ask, workspace)
            why = doubt(first, second)
        answer = first
        if why:
            with using(stronger):
                strong, theirs = _in_a_copy(ask, workspace)
            answer, kept = _standing(first, strong, why, (kept, theirs))
    workspace.frames, workspace.turns = kept.frames, kept.turns
    answer.usage = meter.usage().model_copy(update={"stages": answer.usage.stages})
    if answer.record is not None:
        answer.record.usage, answer.record.flags = answer.usage, list(answer.flags)
    return answer


def doubt(first: Answer, second: Answer | None = None) -> str:
    """What speaks against an answer by itself, or against two of the same question, in words; empty if nothing does."""
    if first.status != "answered":
        return f"the first model gave no answer ({first.status.replace('_', ' ')})"
    if first.confidence is not None and first.confidence < _ENOUGH:
        return f"the first model's answer has a confidence of {first.confidence} of 100"
    if unsure := [flag for flag in first.flags if flag.startswith(UNSURE)]:
        return f"of the first model's answer, {unsure[0]}"
    if second is None:
        return ""
    if second.status != "answered":
        return "asked twice, the first model gave an answer only once"
    if not _same(first, second):
        return f"asked twice, the first model gave {in_short(first.value)} and {in_short(second.value)}"
    return ""


def _same(first: Answer, second: Answer) -> bool:
    """Whether two answers say the same: words from filings, where they rest on the same pages, and say the same numbers and yes or no."""
    if first.sentences and second.sentences and isinstance(first.value, str) and isinstance(second.value, str):
        return _said(first) == _said(second)
    return agree(first.value, second.value)


def _said(answer: Answer) -> tuple[set[str | None], list[str]]:
    numbers = sorted(_WEIGHTY.findall(str(answer.value).casefold()))
    return {cited.page for cited in answer.citations}, numbers


def _standing(first: Answer, strong: Answer, why: str, kept: tuple[Workspace, Workspace]) -> tuple[Answer, Workspace]:
    """The strong model's answer; the first one where the budget ended before there was another."""
    ended = strong.failure is not None and strong.failure.layer == "budget"
    if ended and first.status == "answered":
        first.flags.append(f"low confidence: the budget ended before the strong model was asked ({why})")
        first.confidence = min(CUT_SHORT, 100 if first.confidence is None else first.confidence)
        return first, kept[0]
    strong.flags.append(f"{ESCALATED}{why}")
    return strong, kept[1]


def _in_a_copy(ask: Callable[[Workspace], Answer], workspace: Workspace) -> tuple[Answer, Workspace]:
    copy = Workspace(dict(workspace.frames), list(workspace.turns))
    return ask(copy), copy
