"""A prompt in its canonical form: the roles and texts of its messages, which is what a recording is found by.

    >>> prompt = [("system", "Answer shortly."), ("user", "[[ ## question ## ]]\\nWhat was inflation in 1974?\\n\\n")]
    >>> prompt_hash(prompt)[:12]
    '584df7918723'
    >>> about(prompt)
    'What was inflation in 1974?'

The name of the model and the way of sampling are no part of it. Images and tool calls are not supported.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

Prompt = Sequence[tuple[str, str]]

_LENGTH = 200
# DSPy's adapters end the last message with it.
_REQUEST_FOR_FIELDS = re.compile(r"^Respond with (?:the corresponding output fields|a JSON object)", re.MULTILINE)
_FIELD = re.compile(r"^\[\[ ## (\w+) ## \]\]\s*$", re.MULTILINE)


# Sentences that were changed after completions were recorded: a prompt with the new one is answered by what the one before was
# answered with, until it is recorded again. docs/results.md says which numbers rest on it.
_SINCE_RECORDED = {
    "Keep to what the question asks: no rows, ties or zeros that it does not speak of.": "Think about NULLs, ties, different frequencies, and where a window begins and ends.",
}


def as_recorded(prompt: Prompt) -> Prompt:
    """The prompt with the sentences that it had when completions were recorded.

    >>> as_recorded([("system", "Keep to what the question asks: no rows, ties or zeros that it does not speak of.")])[0][1][:17]
    'Think about NULLs'
    """
    return [(role, _before(text) if role == "system" else text) for role, text in prompt]


def _before(text: str) -> str:
    for now, before in _SINCE_RECORDED.items():
        text = text.replace(now, before)
    return text


def from_request(request: Any) -> list[tuple[str, str]]:
    """The prompt of a `dspy.lm15.Request`."""
    prompt = []
    if request.system is not None:
        prompt.append(("system", _text(request.system)))
    prompt.extend((message.role, _text(message.parts)) for message in request.messages)
    return prompt


def _text(parts: Any) -> str:
    if isinstance(parts, str):
        return parts
    return "".join(getattr(part, "text", None) or f"<{part.type}>" for part in parts)


def prompt_hash(prompt: Prompt) -> str:
    """The sha256 of the roles and texts, in hex."""
    content = json.dumps([list(message) for message in prompt], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()


def about(prompt: Prompt) -> str:
    """What a person knows the prompt by: the question in its last user message, else that message's beginning.

    >>> about([("user", "Which   year?"), ("assistant", "1974")])
    'Which year?'
    """
    text = next((text for role, text in reversed(prompt) if role == "user"), "")
    pieces = _FIELD.split(_REQUEST_FOR_FIELDS.split(text)[0])
    fields = dict(zip(pieces[1::2], pieces[2::2], strict=False))
    words = " ".join((fields.get("question") or text).split())
    return words if len(words) <= _LENGTH else words[: _LENGTH - 1] + "…"
