"""Texts in a CSV file that a spreadsheet would run as formulas: an apostrophe stands before them, which people do not see there.

    >>> harmless("=HYPERLINK(...)"), harmless("-2.5 percent"), harmless("a month below 5")
    ("'=HYPERLINK(...)", '-2.5 percent', 'a month below 5')

What is written to be read again has one apostrophe more where it begins with some, so that nothing is lost.
"""

from __future__ import annotations

import re

# Spreadsheets take the wide forms for the same.
_RUNS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# A number with its sign, and what it is of: no spreadsheet computes with it.
_NUMBER = re.compile(r"[-+][\d.,]+(?:[eE][-+]?\d+)?(?: ?%| [A-Za-z ]+)?")


def harmless(text: str) -> str:
    return f"'{text}" if text.startswith(_RUNS) and not _NUMBER.fullmatch(text) else text


def kept_in_csv(text: str) -> str:
    """The text as `read_from_csv` reads it again.

    >>> [read_from_csv(kept_in_csv(text)) for text in ("=1+1", "'=1+1", "'a'", "-5")]
    ['=1+1', "'=1+1", "'a'", '-5']
    """
    return f"'{text}" if _marked(text) else harmless(text)


def read_from_csv(text: str) -> str:
    return text[1:] if _marked(text) else text


def _marked(text: str) -> bool:
    return text.startswith("'") and text.lstrip("'").startswith(_RUNS)
