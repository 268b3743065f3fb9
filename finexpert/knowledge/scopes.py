"""Scopes: what was taught holds for one source, by its name, or everywhere.

    >>> kept_under("slow money", "fred.duckdb") == kept_under("slow money", "trades.duckdb"), plain(kept_under("slow money", "a"))
    (False, 'slow money')

Two desks may teach the same name for their own sources: in the store the scope is a part of the name. So is the person of a draft
that only they use: two may try their own meanings of a name until one is accepted.
"""

from __future__ import annotations

import re

EVERYWHERE = ""
_HASH = re.compile(r"-[0-9a-f]{16}$")
_MARK = "\x1f"


def kept_under(name: str, scope: str, drafted_by: str = "") -> str:
    """The name as the store keeps it.

    >>> len({kept_under("slow money", "fred", by) for by in ("anna", "ben", "")}), plain(kept_under("slow money", "", "ben"))
    (3, 'slow money')
    """
    return _MARK.join((name, scope, drafted_by)).rstrip(_MARK)


def is_drafted(name: str) -> bool:
    """Whether a name of the store is one of a draft that only its author uses."""
    return name.count(_MARK) > 1


def of_source(name: str) -> str:
    """The scope of a source by its name: of a file in the cache without its hash, and everywhere for frames, which have no name.

    >>> of_source("trades"), of_source("sample-economy-ddd3895511e0cec9"), of_source("frames")
    ('trades', 'sample-economy', '')
    """
    return EVERYWHERE if name == "frames" else _HASH.sub("", name)


def plain(name: str) -> str:
    """A name of the store without its scope."""
    return name.partition(_MARK)[0]
