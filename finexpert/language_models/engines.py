"""What answers a call of a `LanguageModel`: LiteLLM, a recording or a script.

An engine is asked once for one completion (`complete(request) -> Response`, types in `dspy.lm15`); DSPy does the
retries and the cache around it. Ours put a stamp on each response: the prompt's hash, the seconds, the cost. DSPy's
cache stores the stamp with the response, so that a call it serves can be counted with what it took.

Completions are not streamed token by token: a stream yields the whole completion.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from dspy.lm15 import Message, Response, TextPart, Usage, response_to_events

_STAMP = "finexpert"


@dataclass
class Stamp:
    """What a call took when it was made. `source` is "model", "recording" or "script"."""

    prompt: str
    seconds: float = 0.0
    cost: float | None = None
    source: str = "model"


@dataclass
class Asking:
    """The call under way in this thread: what the engine tells the model that asks, and the other way round."""

    sample: int | None = None
    waited: float = 0.0
    failures: int = 0
    responses: list[Any] = field(default_factory=list)


asking: ContextVar[Asking | None] = ContextVar("finexpert_asking", default=None)


def stamp_of(response: Any) -> Stamp | None:
    """The stamp of a response, None if it has none."""
    data = getattr(response, "provider_data", None) or {}
    return Stamp(**data[_STAMP]) if _STAMP in data else None


class Engine:
    """Base of our engines: a subclass says what answers (`answer`), this class times and stamps it.

    `endpoint` is what an error names as the place; `timeout` is in seconds.
    """

    endpoint: str | None = None
    timeout: float | None = None

    def answer(self, request: Any) -> tuple[Any, Stamp]:
        """The response and its stamp; the seconds are filled in if they are 0."""
        raise NotImplementedError

    def prepare(self) -> None:
        """What is done once before the first call and is no time of the model's."""

    def complete(self, request: Any) -> Any:
        call = asking.get() or Asking()
        self.prepare()
        start = time.perf_counter()
        try:
            response, stamp = self.answer(request)
        finally:
            waited = time.perf_counter() - start
            call.waited += waited
        stamp = replace(stamp, seconds=stamp.seconds or waited)
        response = replace(response, provider_data={**(response.provider_data or {}), _STAMP: vars(stamp)})
        call.responses.append(response)
        return response

    def stream(self, request: Any) -> Iterator[Any]:
        yield from response_to_events(self.complete(request))

    def close(self) -> None:
        """Nothing is held open."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Engine:
        # A copied program goes on to ask the same place.
        return self

    def dump_state(self) -> dict[str, Any]:
        """What DSPy writes into a saved program; never a key."""
        return {}

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> Engine:
        return cls(**state)


def text_response(model: str, text: str, prompt_tokens: int, completion_tokens: int) -> Any:
    """A response that holds one text."""
    usage = Usage(input_tokens=prompt_tokens, output_tokens=completion_tokens)
    message = Message.assistant([TextPart(text)])
    return Response(id=None, model=model, message=message, finish_reason="stop", usage=usage)
