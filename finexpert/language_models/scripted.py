"""A language model that answers from a script: for tests, and for measuring the time outside the model.

    >>> model = ScriptedModel({"inflation": "it rose", "": "I do not know"})
    >>> model("What did inflation do?"), model("And rents?")
    (['it rose'], ['I do not know'])
    >>> model.prompts[0]
    [{'role': 'user', 'content': 'What did inflation do?'}]

It costs nothing, uses no network, and is not cached.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from finexpert.core import progress
from finexpert.errors import ModelError
from finexpert.language_models.engines import Engine, Stamp, text_response
from finexpert.language_models.model import LanguageModel
from finexpert.language_models.recordings.prompts import from_request, prompt_hash

Messages = list[dict[str, str]]
Answers = Callable[[Messages], str] | Sequence[str] | Mapping[str, str]


class ScriptedModel(LanguageModel):
    """Answers with what a function gives for the messages, with the texts of a sequence in turn, or with the value of
    the first key that stands in the last message.

    `latency` is in seconds a call. `prompts` holds the messages of every call, in order.
    """

    def __init__(self, answers: Answers = (), latency: float = 0.0, **kwargs: Any) -> None:
        kwargs.pop("engine", None)
        kwargs = {"model": "scripted", "cache": False, **kwargs}
        super().__init__(engine=ScriptedEngine(answers, latency), **kwargs)

    @property
    def prompts(self) -> list[Messages]:
        prompts: list[Messages] = self.engine.prompts
        return prompts


class ScriptedEngine(Engine):
    """The engine of a `ScriptedModel`."""

    endpoint = "a script"

    def __init__(self, answers: Answers = (), latency: float = 0.0) -> None:
        self._answers = answers
        self._latency = latency
        self._lock = threading.Lock()
        self.prompts: list[Messages] = []

    def answer(self, request: Any) -> tuple[Any, Stamp]:
        prompt = from_request(request)
        messages = [{"role": role, "content": text} for role, text in prompt]
        with self._lock:
            turn = len(self.prompts)
            self.prompts.append(messages)
        if self._latency:
            progress.watch().wait(self._latency)
        text = self._text(messages, turn)
        asked = sum(len(content) for _, content in prompt)
        response = text_response(request.model, text, asked // 4, len(text) // 4)
        return response, Stamp(prompt_hash(prompt), cost=0.0, source="script")

    def _text(self, messages: Messages, turn: int) -> str:
        if callable(self._answers):
            return self._answers(messages)
        if isinstance(self._answers, Mapping):
            last = messages[-1]["content"]
            found = next((key for key in self._answers if key in last), None)
            if found is None:
                raise ModelError(f"the script has no answer for {last[:80]!r}; its keys are {list(self._answers)}")
            return self._answers[found]
        if turn >= len(self._answers):
            raise ModelError(f"the script has {len(self._answers)} answers and was asked {turn + 1} times")
        return self._answers[turn]
