r"""Folding: one spelling for text that is the same to a reader.

    >>> fold("Net\u00a0Sales \u2212 \u201cA\u201d\u200b ")
    'net sales - "a"'

Compatibility forms, case, kinds of dash, quote and space, superscripts (footnote marks) and characters that cannot
be seen (zero width, direction marks) are folded. Words, numbers and punctuation stay: what they mean is read elsewhere.
"""

from __future__ import annotations

import re
import unicodedata

_SUPERSCRIPTS = dict.fromkeys(map(ord, "\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079\u2020\u2021"), " ")
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d"), "-")
_QUOTES = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u00b4\u2032"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033"), '"'),
}
_TABLE = _SUPERSCRIPTS | _DASHES | _QUOTES
_SPACES = re.compile(r"\s+")


def visible(text: str) -> str:
    r"""The text without characters that cannot be seen or that turn the direction of what follows.

    >>> visible("1\u200b2 \u202eabc")
    '12 abc'
    """
    if text.isascii():
        return text
    return "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cs", "Co"))


def fold(text: str) -> str:
    """The text in one spelling: see the module."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", visible(text).translate(_TABLE)).translate(_TABLE)
    return _SPACES.sub(" ", text).strip().casefold()


def excerpt(text: str, length: int = 80) -> str:
    """The beginning of a text, for a message.

    >>> excerpt("abcdef", 3)
    'abc...'
    """
    text = _SPACES.sub(" ", visible(text)).strip()
    return text if len(text) <= length else text[:length] + "..."
