"""Keeps keys out of messages: providers like to repeat the key that they refuse.

>>> redacted("Incorrect API key: sk-12345678abcdef", ["sk-12345678abcdef"])
'Incorrect API key: ***'
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from types import TracebackType
from typing import Any

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)(_ID)?$|_KEY_|_TOKEN_")
_SHORTEST = 6
# Keys by their look, where the value is not known here: "Bearer ...", "sk-...", "AIza...", the user and
# password of an address, and the like.
_LOOKS_LIKE_A_KEY = re.compile(
    r"\bBearer\s+\S+|\b(?:sk|pk|gsk|xai|hf|AIza|AKIA|ASIA)[-_A-Za-z0-9*]{12,}|(?<=://)[^\s/@:]*:\S+(?=@)"
    r"|(?<=[?&;])[\w-]*(?i:key|token|secret|passw|pwd|signature|sig|credential)[\w-]*=[^\s&;#'\"]+"
)


def known_secrets(*given: str | None) -> list[str]:
    """The secrets given and those in the environment, the longest first."""
    found = {value for name, value in os.environ.items() if _SECRET_NAME.search(name.upper())}
    found.update(value for value in given if value)
    return sorted((value for value in found if len(value) >= _SHORTEST), key=len, reverse=True)


def redacted(text: str, secrets: Iterable[str]) -> str:
    """The text with each secret, and what looks like a key, as `***`."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return _LOOKS_LIKE_A_KEY.sub("***", text)


def shown(address: str) -> str:
    """The address of a server as it may be shown and kept: no user, no password, and nothing behind a question mark.

    >>> shown("https://desk:s3cret@models.example/v1?api_key=s3cret"), shown("http://127.0.0.1:8000/v1")
    ('https://models.example/v1', 'http://127.0.0.1:8000/v1')
    """
    scheme, between, rest = address.partition("://")
    plain = re.split(r"[?#]", rest)[0]
    # A password may hold a question mark too: then nobody can say where the host begins.
    return f"{scheme}{between}{'***' if '@' in rest[len(plain) :] else plain.rpartition('@')[2]}"


class Redacting:
    """Within it, an error on its way out has its secrets taken out, and so have its causes.

    The errors are changed in place, so that their classes, causes and tracebacks stay for those who handle them.
    """

    def __init__(self, *given: str | None) -> None:
        self._given = given

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        secrets = known_secrets(*self._given) if value is not None else []
        seen: set[int] = set()
        while value is not None and id(value) not in seen:
            seen.add(id(value))
            value.args = _cleaned(value.args, secrets)
            for name, held in list(vars(value).items()):
                if isinstance(held, str | dict | list | tuple):
                    setattr(value, name, _cleaned(held, secrets))
            value = value.__cause__ or value.__context__


def _cleaned(held: Any, secrets: list[str]) -> Any:
    if isinstance(held, str):
        return redacted(held, secrets)
    if isinstance(held, dict):
        return {name: _cleaned(value, secrets) for name, value in held.items()}
    if type(held) in (list, tuple):
        return type(held)(_cleaned(value, secrets) for value in held)
    return held
