"""The `dspy.LM` that the program asks: it counts, keeps within budgets, records, and raises errors of ours.

    >>> from finexpert.language_models.scripted import ScriptedModel
    >>> from finexpert.language_models.usage import Meter
    >>> with Meter() as meter:
    ...     ScriptedModel(["the answer"])("a question")
    ['the answer']
    >>> meter.usage().calls
    1

Everything is hooked on the call itself, not on DSPy's callbacks, which others replace. What the provider is asked and
how often it is asked again is up to the engine and DSPy. Where it cannot be reached, its `fallback` is asked, if it has one.
"""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import dspy
from dspy.utils.caching import default_cache_dir

from finexpert.core import progress
from finexpert.errors import ModelUnreachable
from finexpert.language_models.budget import Ticket, admit
from finexpert.language_models.engines import Asking, Engine, asking, stamp_of
from finexpert.language_models.errors import translated
from finexpert.language_models.prefixes import share_of_prefix
from finexpert.language_models.scope import Scope, current
from finexpert.language_models.usage import Call, Meter
from finexpert.storage.private_files import make_folder


def keep_private() -> None:
    """Let nobody but its owner into the folder of completions, which DSPy makes with the usual mode.

    A folder that `DSPY_CACHEDIR` names keeps the mode that it has.
    """
    folder = Path(default_cache_dir())
    # Without a place to write, DSPy keeps completions in memory.
    with suppress(OSError):
        make_folder(folder)
        if not os.environ.get("DSPY_CACHEDIR"):
            folder.chmod(0o700)


class Keeps(Protocol):
    """Told of every completion of a model, as a recorder is."""

    def add(self, model: str, layer: str | None, sample: Any, shown: Any, messages: Any) -> None: ...


class LanguageModel(dspy.LM):  # type: ignore[misc]
    """A language model behind one of our engines."""

    def __init__(self, model: str, engine: Engine, **kwargs: Any) -> None:
        super().__init__(model, engine=engine, **kwargs)
        if self.cache:
            keep_private()
        self.recorder: Keeps | None = None
        self.fallback: LanguageModel | None = None

    def __call__(self, prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> Any:
        scope = current()
        try:
            with self._counted(scope, admit(scope.budgets), kwargs):
                return super().__call__(prompt, messages=messages, **kwargs)
        except ModelUnreachable as error:
            if self.fallback is None:
                raise
            with fallen_back(scope.meters, error):
                return self.fallback(prompt, messages=messages, **self._passed_on(kwargs))

    async def acall(self, prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> Any:
        """As a call, in a thread: our engines wait for an answer, and count, record and fall back there."""
        return await asyncio.to_thread(self, prompt, messages=messages, **kwargs)

    def _passed_on(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """What a call tells the model that is asked instead: which repeat it is, and what the call itself said."""
        repeat = self.kwargs.get("rollout_id")
        return kwargs if repeat is None else {"rollout_id": repeat, **kwargs}

    @contextmanager
    def _counted(self, scope: Scope, ticket: Ticket, kwargs: dict[str, Any]) -> Iterator[None]:
        state = _Asking(sample={**self.kwargs, **kwargs}.get("rollout_id"))
        token = asking.set(state)
        call: Call | None = None
        with ExitStack() as stack:
            stack.callback(lambda: ticket.close(call))
            stack.callback(asking.reset, token)
            stack.enter_context(
                translated(model=self.model, endpoint=self.engine.endpoint, timeout=self.engine.timeout)
            )
            if dspy.settings.disable_history:
                # What the cache serves is seen in the history alone.
                state.keep_history = False
                stack.enter_context(dspy.context(disable_history=False))
            try:
                yield
            finally:
                call = self._count(scope, state)
        if self.recorder is not None:
            self.recorder.add(self.model, scope.layer, state.sample, state.shown, state.messages)

    def _count(self, scope: Scope, state: _Asking) -> Call | None:
        call = _call(self.model, scope.layer, state)
        if call is not None:
            text = "".join(str(message.get("content") or "") for message in state.messages)
            call = replace(call, prefix=share_of_prefix(self.model, scope.layer, text))
        if call is not None:
            progress.called(call.cost)
        for meter in scope.meters:
            if call is None:
                meter.add_failure()
            else:
                meter.add(call)
        return call

    def update_history(self, entry: dict[str, Any]) -> None:
        """Called by DSPy at the end of a call, with the response, whether it was made or served by the cache."""
        state = asking.get()
        if isinstance(state, _Asking):
            found = entry["response"]
            state.shown = list(found) if isinstance(found, tuple) else [found]
            state.messages = entry["messages"] or [{"role": "user", "content": entry["prompt"]}]
            stamps = [stamp_of(response) for response in state.shown]
            entry["cost"] = next((stamp.cost for stamp in stamps if stamp), None)
            if not state.keep_history:
                return
        super().update_history(entry)

    def _warn_zero_temp_rollout(self, temperature: float | None, rollout_id: Any) -> None:
        """No warning: a repeat at temperature 0 is asked anew on purpose, to see how steady the provider is."""


class _Asking(Asking):
    """What is known of the call when it ends."""

    def __init__(self, sample: Any) -> None:
        super().__init__(sample=sample if isinstance(sample, int) else None)
        self.shown: list[Any] = []
        self.messages: list[dict[str, Any]] = []
        self.keep_history = True


@contextmanager
def fallen_back(meters: tuple[Meter, ...], error: ModelUnreachable) -> Iterator[None]:
    """Around the call of another model in place of one that cannot be reached; counts it, and names both if it fails too."""
    for meter in meters:
        meter.add_fallback()
    # DSPy 3.4 takes the messages of its own adapter for a user's where a model hands them on to another.
    warnings.filterwarnings("ignore", "Passing OpenAI-style message dictionaries", DeprecationWarning)
    try:
        yield
    except ModelUnreachable as second:
        raise type(second)(f"{second} It was asked in place of another: {error}") from None


def _call(model: str, layer: str | None, state: _Asking) -> Call | None:
    # Responses that the engine gave count even if DSPy could not use them: they were paid for.
    responses = state.responses or state.shown
    stamps = [stamp for response in responses if (stamp := stamp_of(response))]
    if not responses:
        return None
    costs = [stamp.cost for stamp in stamps]
    live = bool(state.responses) and all(stamp.source == "model" for stamp in stamps)
    return Call(
        layer=layer,
        model=model,
        prompt_tokens=sum(response.usage.input_tokens or 0 for response in responses),
        completion_tokens=sum(response.usage.output_tokens or 0 for response in responses),
        seconds=state.waited if live else sum(stamp.seconds for stamp in stamps),
        waited=state.waited,
        cost=None if None in costs or not costs else sum(cost for cost in costs if cost is not None),
        cached=not state.responses,
        replayed=any(stamp.source == "recording" for stamp in stamps),
    )
