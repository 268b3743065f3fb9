"""What a conversation answers without a model: its last answer once more, and questions that were answered before.

    > What was the unemployment rate in March 1995?       > Sorry, what was that again?

The first kind needs nothing but the conversation. The second is looked up in the answer cache, where the setting
`cache_answers` is on; a cache that cannot be used is told in the log, and the question is answered without it.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from finexpert.answers.cache.cache import AnswerCache
from finexpert.answers.cache.key import AskedWith, context, of_source
from finexpert.core.answers import Answer, AnswerFormat, Sentence, Usage
from finexpert.core.workspace import Workspace
from finexpert.errors import StoreError
from finexpert.knowledge.taught import Taught
from finexpert.language_models.roles import LanguageModels
from finexpert.settings import Settings
from finexpert.text.texts import as_asked

log = logging.getLogger(__name__)
FILE = "cache/answers.sqlite"


@dataclass(frozen=True)
class Asked:
    """One question and what is said with it; `as_of_given` where somebody asked for the day, which hides more than today does."""

    question: str
    as_of: dt.date
    answer_format: AnswerFormat | None
    knowledge: str
    options: Any
    as_of_given: bool = False


class Conversation(Protocol):
    """What an earlier answer rests on, as the session has it."""

    workspace: Workspace
    settings: Settings
    models: LanguageModels
    taught: Taught | None
    declined: list[str]

    @property
    def source(self) -> Any: ...

    @property
    def expert(self) -> Any: ...


class EarlierAnswers:
    """The earlier answers of one session."""

    def __init__(self, conversation: Conversation) -> None:
        self._session = conversation
        self._last: tuple[int, Answer] | None = None
        self._cache: AnswerCache | None = None
        self._usable = True
        self._taught: tuple[int, str] = (-1, "")

    def last(self) -> Answer | None:
        """The last answer of the conversation, said again; None where there is none."""
        turns = self._session.workspace.turns
        if not turns:
            return None
        if self._last is not None and self._last[0] == len(turns) and self._last[1].question == turns[-1].question:
            answer = self._last[1]
        elif (value := turns[-1].value) is None:
            return None
        else:
            kind = turns[-1].answer_format or AnswerFormat(kind=_kind(value.value), unit=value.unit)
            said = [Sentence(says=turns[-1].words)] if turns[-1].words else []
            answer = Answer(question=turns[-1].question, status="answered", value=value.value, format=kind, sentences=said,
                            period=value.period, explanation=turns[-1].interpretation or None)  # fmt: skip
        flag = f"the last answer of this conversation, said again: {answer.question!r}"
        return answer.model_copy(update={"flags": [flag, *answer.flags], "usage": Usage(cost_usd=0.0)})

    def given(self, answer: Answer) -> None:
        """An answer was given; it is the last one if it became a turn."""
        turns = self._session.workspace.turns
        if turns and turns[-1].question == answer.question:
            self._last = (len(turns), answer)

    def key(self, asked: Asked, earlier: Sequence[str]) -> str | None:
        """The key of a question after these earlier ones; None where nothing is kept."""
        if not self._session.settings.cache_answers or not self._usable:
            return None
        session = self._session
        source = of_source(session.source)
        if source is None:
            return None
        model = {name: value for name, value in session.models.describe().items() if name != "found"}
        return AskedWith(
            question=as_asked(asked.question),
            source=source,
            as_of=(asked.as_of, asked.as_of_given),
            answer_format=asked.answer_format and asked.answer_format.model_dump(),
            knowledge=asked.knowledge,
            taught=self._taught_now(),
            declined=sorted(session.declined),
            program=_digest(session.expert.dump_state()),
            model=model,
            settings=session.settings,
            options=repr(asked.options),
            said=context(asked.question, earlier),
        ).key()

    def find(self, key: str | None, asked: Asked) -> Answer | None:
        """The answer that was given to the question before; it becomes a turn of this conversation."""
        started = time.perf_counter()
        cache = self._opened() if key else None
        if key is None or cache is None:
            return None
        try:
            entry = cache.find(key)
        except StoreError as error:
            self._gives_up(error)
            return None
        if entry is None:
            return None
        self._session.workspace.add_turn(replace(entry.turn, question=asked.question))
        flag = (
            f"answered before, on {entry.kept_at.astimezone():%Y-%m-%d %H:%M}: {entry.answer.question!r}; "
            "ask with --no-cached to have it computed again"
        )
        usage = Usage(cost_usd=0.0, seconds=time.perf_counter() - started)
        changes = {"question": asked.question, "flags": [flag, *entry.answer.flags], "usage": usage}
        return entry.answer.model_copy(update=changes)

    def keep(self, key: str | None, asked: Asked, earlier: Sequence[str], answer: Answer) -> None:
        """Keep an answer just given, unless what it rests on has changed since the question was asked."""
        turns = self._session.workspace.turns
        if key is None or answer.status != "answered" or len(turns) != len(earlier) + 1:
            return
        if self.key(asked, earlier) != key or (cache := self._opened()) is None:
            return
        try:
            cache.keep(key, answer, turns[-1])
        except StoreError as error:
            self._gives_up(error)

    def close(self) -> None:
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _opened(self) -> AnswerCache | None:
        settings = self._session.settings
        if self._cache is None and self._usable:
            try:
                self._cache = AnswerCache(settings.home / FILE)
            except StoreError as error:
                self._gives_up(error)
        return self._cache

    def _gives_up(self, error: StoreError) -> None:
        log.warning("%s; going on without it", error)
        self._usable = False
        self.close()

    def _taught_now(self) -> str:
        """What was taught, as a hash: read again only where something was written since."""
        taught = self._session.taught
        if taught is None:
            return ""
        stamp = taught.memory.entries.stamp()
        if self._taught[0] != stamp:
            self._taught = (stamp, taught.fingerprint())
        return self._taught[1]


def _kind(value: Any) -> Any:
    if isinstance(value, list):
        return "list"
    kinds = {bool: "boolean", int: "integer", float: "number", dt.date: "date"}
    return kinds.get(type(value), "text")


def _digest(state: Any) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True, default=str).encode()).hexdigest()
