"""The engine that asks a provider or a server through LiteLLM.

    LiteLLM("http://127.0.0.1:8000/v1", timeout=60.0, options={"reasoning_effort": "low"})

Which model is asked stands in the request. Errors leave it without keys; `errors` turns them into ours. `timeout` is for
the whole of one try: a server that sends a byte now and then is left too. A place that keeps failing is not asked for a
while, see `circuit_breaker`.
"""

from __future__ import annotations

import os
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Any

from dspy.clients.engines import LiteLLMEngine
from dspy.lm15 import LM15Error, RateLimitError, Usage
from dspy.lm15 import TimeoutError as RequestTimeout

from finexpert.core.deadline import run_within
from finexpert.errors import ConfigurationError
from finexpert.language_models.circuit_breaker import CircuitBreaker, kind_of
from finexpert.language_models.engines import Asking, Engine, Stamp, asking
from finexpert.language_models.prefixes import cache_control
from finexpert.language_models.providers import key_variables
from finexpert.language_models.recordings.prompts import from_request, prompt_hash
from finexpert.language_models.secrets import Redacting

_CHARACTERS_PER_TOKEN = 4
# The client's own timeout says more, so it comes first.
_AFTER_THE_CLIENT = 1.0


class LiteLLM(Engine):
    """Asks a provider or a server through LiteLLM.

    `options` go to `litellm.completion` as they are (`reasoning_effort`, `extra_body`, `api_version` ...).
    """

    def __init__(
        self,
        api_base: str | None = None,
        api_key: str | None = None,
        timeout: float = 600.0,
        options: dict[str, Any] | None = None,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        self.endpoint, self.timeout = api_base, timeout
        self._latest = timeout + _AFTER_THE_CLIENT
        self.breaker = breaker or CircuitBreaker(api_base or "the provider")
        self._api_key = api_key
        self._options = dict(options or {})

    def prepare(self) -> None:
        import litellm  # noqa: F401  (takes seconds)

    def complete(self, request: Any) -> Any:
        try:
            with self.breaker.guarded():
                return super().complete(request)
        except LM15Error as error:
            if error.retry_after is None and kind_of(error) != "answered":
                call = asking.get() or Asking()
                call.failures += 1
                error.retry_after = self.breaker.back_off(call.failures)
            raise

    def answer(self, request: Any) -> tuple[Any, Stamp]:
        prompt = from_request(request)
        with Redacting(self._api_key):
            try:
                response, cost = self._within_timeout(request)
            except RateLimitError as error:
                error.retry_after = _wait_asked_for(error)
                raise
        return with_usage(response, prompt), Stamp(prompt_hash(prompt), cost=cost)

    def _within_timeout(self, request: Any) -> tuple[Any, float | None]:
        """The client counts its timeout anew with every byte that comes; here it is for all of them."""
        asked = partial(copy_context().run, self.ask_once, request)
        try:
            return run_within(self._latest, asked, lambda: None)
        except LM15Error:
            raise
        except TimeoutError:
            raise RequestTimeout(f"the answer was not complete after {self.timeout:g} s") from None

    def ask_once(self, request: Any) -> tuple[Any, float | None]:
        """The response, and what it cost where that is known."""
        return _Completion(self).ask(request)

    def arguments(self, model: str) -> dict[str, Any]:
        """Keyword arguments for `litellm.completion` beside the request's own."""
        key = self._api_key or self._placeholder(model)
        given = {"api_base": self.endpoint, "api_key": key, "timeout": self.timeout, "max_retries": 0}
        # A model that knows no temperature is asked without one.
        known = {name: value for name, value in given.items() if value is not None}
        return known | {"drop_params": True} | cache_control(model) | self._options

    def _placeholder(self, model: str) -> str | None:
        """Without a key at hand: what stands for it at a server of one's own, an error for a provider."""
        variables = key_variables(model)
        if len(variables) == 0 or any(os.environ.get(name) for name in variables):
            return None
        if self.endpoint is not None:
            return "none"
        raise ConfigurationError(
            f"there is no key for {model}: set {' or '.join(('FINEXPERT_API_KEY', *variables))}, "
            "or name another model with --lm; `finexpert doctor` shows what is found"
        )

    def price_is_known(self) -> bool:
        """Whether LiteLLM's price list applies: a server with its own address has prices of its own, if any."""
        return self.endpoint is None or "input_cost_per_token" in self._options

    def dump_state(self) -> dict[str, Any]:
        secret = {"headers", "extra_headers", "azure_ad_token", "aws_access_key_id", "aws_secret_access_key"}
        options = {
            name: value
            for name, value in self._options.items()
            if name not in secret and not name.endswith(("_key", "_token", "_secret", "_password"))
        }
        return {"api_base": self.endpoint, "timeout": self.timeout, "options": options}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_api_key": None}


class _Completion(LiteLLMEngine):  # type: ignore[misc]
    """DSPy's LiteLLM engine for one call, with our options and the price that LiteLLM computes."""

    def __init__(self, settings: LiteLLM) -> None:
        super().__init__()
        self._settings = settings
        self._cost: float | None = None

    def ask(self, request: Any) -> tuple[Any, float | None]:
        return self.complete(request), self._cost

    def _arguments(self, request: Any, *, streaming: bool = False) -> dict[str, Any]:
        data: dict[str, Any] = super()._arguments(request, streaming=streaming)
        if "max_completion_tokens" in data:
            # Many servers know the old name alone; LiteLLM translates it for the models that want the new one.
            data["max_tokens"] = data.pop("max_completion_tokens")
        return data | self._settings.arguments(request.model)

    def _response(self, raw: Any, request: Any) -> Any:
        cost = getattr(raw, "_hidden_params", {}).get("response_cost")
        self._cost = float(cost) if cost is not None and self._settings.price_is_known() else None
        return super()._response(raw, request)


def _wait_asked_for(error: Any) -> float | None:
    """Seconds until the next try as the provider asks; None if it does not say."""
    asked: float | None = error.retry_after
    cause: Any = error
    while asked is None and cause is not None:
        headers = getattr(getattr(cause, "response", None), "headers", None) or {}
        value = str(headers.get("retry-after", ""))
        asked = float(value) if value.replace(".", "", 1).isdigit() else None
        cause = cause.__cause__ or cause.__context__
    return asked


def with_usage(response: Any, prompt: list[tuple[str, str]]) -> Any:
    """The response; tokens that the server did not report are estimated from the characters."""
    if response.usage.input_tokens and response.usage.output_tokens is not None:
        return response
    asked = sum(len(text) for _, text in prompt) // _CHARACTERS_PER_TOKEN
    said = len(response.text or "") // _CHARACTERS_PER_TOKEN
    return replace(response, usage=Usage(input_tokens=asked, output_tokens=said))
