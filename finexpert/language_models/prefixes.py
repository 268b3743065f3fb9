"""How much of a prompt stood at the beginning of the one before it: what a provider's prefix cache can serve.

    share_of_prefix("planning", "schema ... question one")   ->   None, the first of its layer
    share_of_prefix("planning", "schema ... question two")   ->   0.9

Counted in characters, a model and layer at a time, in the order in which calls end. What does not change between questions
stands first in every prompt, so that the share is high.
"""

from __future__ import annotations

import threading

_last: dict[tuple[str, str | None], str] = {}
_lock = threading.Lock()
# Providers that keep a prefix only where they are told to, as LiteLLM names them.
_TOLD = (
    "anthropic/",
    "claude",
    "bedrock/anthropic",
    "bedrock/us.anthropic",
    "vertex_ai/claude",
    "openrouter/anthropic",
)


def share_of_prefix(model: str, layer: str | None, prompt: str) -> float | None:
    """The share of a prompt, from its beginning, that it has in common with the last one of its layer; None for a first one.

    >>> share_of_prefix("m", "doctest", "one schema, question a"), share_of_prefix("m", "doctest", "one schema, question bb")
    (None, 0.9130434782608695)
    """
    with _lock:
        before = _last.get((model, layer))
        _last[model, layer] = prompt
    if before is None or not prompt:
        return None
    same = next((place for place, pair in enumerate(zip(before, prompt, strict=False)) if pair[0] != pair[1]), None)
    return (min(len(before), len(prompt)) if same is None else same) / len(prompt)


def cache_control(model: str) -> dict[str, object]:
    """What LiteLLM has to be told so that a provider keeps the instructions, which stand first, in its cache.

    >>> cache_control("openai/gpt-5.1")
    {}
    """
    if not model.startswith(_TOLD):
        return {}
    return {"cache_control_injection_points": [{"location": "message", "role": "system"}]}
