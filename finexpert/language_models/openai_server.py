"""The engine that asks a server with an address of its own in OpenAI's protocol, by the client that DSPy brings.

    OpenAIServer("http://127.0.0.1:8000/v1", timeout=60.0)

LiteLLM, which takes seconds and 180 MB to import, is not needed for it. What LiteLLM alone knows (other providers, prices,
`options` of a request, names of fields that models that reason want) is still asked through it, see `LiteLLM`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from dspy.lm15 import (
    InvalidRequestError,
    LM15Error,
    LMRouter,
    OpenAIChatCompat,
    ProviderError,
    RouterConfig,
    ServerError,
    Timeouts,
    TransportError,
    UnsupportedModelError,
)
from dspy.lm15 import TimeoutError as RequestTimeout

from finexpert.language_models.litellm_engine import LiteLLM
from finexpert.language_models.providers import key_variables

_PROVIDER = "openai-chat"
# Many servers know the old names alone.
_FIELDS = OpenAIChatCompat(max_tokens_field="max_tokens", instruction_role="system")


class Said(Exception):
    """What the client of a server said, as the cause of an error."""


class OpenAIServer(LiteLLM):
    """Asks a server of one's own, or a gateway, for a chat completion."""

    def prepare(self) -> None:
        """Nothing has to be imported."""

    def ask_once(self, request: Any) -> tuple[Any, float | None]:
        _, _, name = request.model.partition("/")
        client = LMRouter(
            RouterConfig(
                env={},
                api_keys={_PROVIDER: self._key(request.model)},
                base_urls={_PROVIDER: str(self.endpoint)},
                timeouts=Timeouts(read=self.timeout, write=self.timeout, pool=self.timeout),
            )
        ).lm(f"{_PROVIDER}:{name}")
        try:
            response = replace(client, compat=_FIELDS).complete(replace(request, model=name))
        except LM15Error as error:
            # Its own cause: else an error that it was raised beside, such as that of a first model, is taken for it.
            raise _named(error) from Said(f"{type(error).__name__}: {error}")
        finally:
            client.close()
        if "choices" not in (response.provider_data or {}):
            raise ServerError("the reply holds no choices") from Said("a reply that is no completion")
        return response, None

    def _key(self, model: str) -> str:
        found = (os.environ[name] for name in key_variables(model) if os.environ.get(name))
        return self._api_key or next(found, "none")


def _named(error: LM15Error) -> LM15Error:
    """The error by the name that says most: an unknown model, a server that does not speak the protocol, a time that ran out."""
    status = getattr(error, "status", None)
    if isinstance(error, InvalidRequestError) and status == 404:
        return UnsupportedModelError(str(error), status=status)
    if type(error) is ProviderError:
        return ServerError(str(error), status=status)
    if isinstance(error, TransportError) and "timed out waiting" in str(error):
        return RequestTimeout(str(error))
    return error
