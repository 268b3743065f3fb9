"""Turns the errors of DSPy and LiteLLM into ours: the one place where that is done.

    >>> import dspy
    >>> translate(dspy.LMAuthError("no", model="openai/gpt-5.6", status=401), endpoint="https://api.openai.com/v1")
    ConfigurationError('the key for openai/gpt-5.6 was refused by https://api.openai.com/v1 (HTTP 401): no. Set ...')

An error of ours that DSPy wrapped on its way comes out as it was raised.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from finexpert.errors import ConfigurationError, FinexpertError, ModelError, ModelUnreachable
from finexpert.language_models.providers import key_variables
from finexpert.language_models.secrets import known_secrets, redacted

_DETAIL = 300
_NO_CONNECTION = {"ConnectError", "ConnectTimeout", "APIConnectionError", "ConnectionError", "ConnectionRefusedError"}


# By the name of DSPy's class; the nearest in the order of its bases counts.
_RULES: dict[str, tuple[type[FinexpertError], str]] = {
    "LMAuthError": (
        ConfigurationError,
        "the key for {model} was refused by {endpoint}{http}: {detail}. Set {variables}.",
    ),
    "LMNotConfiguredError": (
        ConfigurationError,
        "{model} at {endpoint} lacks a setting: {detail}. Set {variables}.",
    ),
    "LMUnsupportedModelError": (
        ConfigurationError,
        (
            "{endpoint} does not know the model {model}{http}: {detail}. "
            "Name another with --lm or FINEXPERT_LM; `finexpert doctor` shows what is found."
        ),
    ),
    "LMInvalidRequestError": (
        ConfigurationError,
        (
            "{endpoint} refused the request for {model}{http}: {detail}. "
            "Check FINEXPERT_LM, FINEXPERT_TEMPERATURE and FINEXPERT_MAX_TOKENS."
        ),
    ),
    "LMConfigurationError": (
        ConfigurationError,
        "{model} cannot be asked like this: {detail}. Check FINEXPERT_LM and FINEXPERT_LAYERS.",
    ),
    "LMUnsupportedFeatureError": (
        ConfigurationError,
        "{model} cannot be asked like this: {detail}. Check FINEXPERT_LM and FINEXPERT_LAYERS.",
    ),
    "LMBillingError": (
        ModelUnreachable,
        "{endpoint} serves {model} no more{http}: {detail}. Check the account's credit and limits.",
    ),
    "LMRateLimitError": (
        ModelUnreachable,
        "{endpoint} keeps answering 'too many requests' for {model}{http}: {detail}. Wait, or run fewer threads.",
    ),
    "LMTimeoutError": (
        ModelUnreachable,
        "{model} at {endpoint} gave no answer{after}. Try again, or set a longer FINEXPERT_TIMEOUT.",
    ),
    "LMTransportError": (
        ModelUnreachable,
        (
            "no connection to {endpoint} for {model}: {detail}. "
            "Check that the server runs and FINEXPERT_API_BASE; see `finexpert doctor`."
        ),
    ),
    "LMServerError": (
        ModelUnreachable,
        "{endpoint} keeps failing for {model}{http}: {detail}. Try again later, or check FINEXPERT_API_BASE and --lm.",
    ),
    "ContextWindowExceededError": (
        ModelError,
        (
            "the prompt is longer than {model} at {endpoint} can read{http}: {detail}. "
            "Choose a model with a larger context with --lm or FINEXPERT_LM."
        ),
    ),
    "refused content": (
        ModelError,
        "{endpoint} refused the content of the prompt for {model}{http}: {detail}. Name another model with --lm.",
    ),
    "LMError": (
        ModelError,
        (
            "{model} at {endpoint} gave no usable completion{http}: {detail}. "
            "Check FINEXPERT_API_BASE; `finexpert doctor` shows what is found."
        ),
    ),
}


def translate(
    error: BaseException, *, model: str | None = None, endpoint: str | None = None, timeout: float | None = None
) -> FinexpertError:
    """Our error for one of DSPy's; the message names the model, the endpoint and the next step, and holds no key."""
    chain = list(_chain(error))
    ours = next((link for link in chain if isinstance(link, FinexpertError)), None)
    if ours is not None:
        return ours
    name = model or getattr(error, "model", None) or "the language model"
    kind, message = _explain(error, chain, name, endpoint or "its provider", timeout)
    return kind(redacted(message, known_secrets()))


@contextmanager
def translated(
    *, model: str | None = None, endpoint: str | None = None, timeout: float | None = None
) -> Iterator[None]:
    """Within it, what DSPy raises about a language model is raised as an error of ours."""
    from dspy.utils.exceptions import LMError

    try:
        yield
    except LMError as error:
        # Without its cause: the messages below may quote the request, and the provider's words stand in ours.
        raise translate(error, model=model, endpoint=endpoint, timeout=timeout) from None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _explain(
    error: Any, chain: list[BaseException], model: str, endpoint: str, timeout: float | None
) -> tuple[type[FinexpertError], str]:
    names = [cls.__name__ for cls in type(error).__mro__]
    if any(type(link).__name__ in _NO_CONNECTION for link in chain) and "LMTimeoutError" not in names:
        names.insert(0, "LMTransportError")
    elif "LMInvalidRequestError" in names and "content" in str(getattr(error, "provider_code", "")).partition("_")[0]:
        names.insert(0, "refused content")
    kind, words = next((_RULES[name] for name in names if name in _RULES), _RULES["LMError"])
    status = getattr(error, "status", None)
    facts = {
        "model": model,
        "endpoint": endpoint,
        "http": f" (HTTP {status})" if status else "",
        "detail": _detail(error),
        "after": f" within {timeout:g} s" if timeout else "",
        "variables": " or ".join(("FINEXPERT_API_KEY", *key_variables(model))),
    }
    return kind, words.format_map(facts)


def _detail(error: Any) -> str:
    """The provider's own words in one line, without the prefixes that libraries put before them."""
    text = " ".join(str(getattr(error, "message", None) or error).split())
    for _ in range(4):
        head, colon, rest = text.partition(": ")
        if not colon or not (head.startswith("litellm.") or head.endswith(("Error", "Exception"))) or " " in head:
            break
        text = rest
    return (text if len(text) <= _DETAIL else text[: _DETAIL - 1] + "…").rstrip(". ")
