"""Texts in a CSV file that a spreadsheet would run as formulas: an apostrophe stands before them, which people do not see there.

    >>> harmless("=HYPERLINK(...)"), harmless("-2.5 percent"), harmless("a month below 5")
    ("'=HYPERLINK(...)", '-2.5 percent', 'a month below 5')

What is written to be read again has one apostrophe more where it begins with some, so that nothing is lost.
"""

from __future__ import annotations

import re

# Spreadsheets take the wide forms for the same; what nobody sees may be lost before it, as the mark at a file's begin is.
_RUNS = re.compile(r"[\t\r\n]|[\s\x00-\x1f\ufeff\u200b-\u200f\u2060]*[-=+@\uff1d\uff0b\uff0d\uff20]")
# A number with its sign, and what it is of: no spreadsheet computes with it.
_NUMBER = re.compile(r"[-+][\d.,]+(?:[eE][-+]?\d+)?(?: ?%| [A-Za-z ]+)?")
# Where a comma is the decimal mark, spreadsheets take these for the end of a cell.
_ENDS = re.compile(r"([;\t])")


def harmless(text: str) -> str:
    """The text, and each part of it that some spreadsheet takes for a cell, begun as no formula is.

    >>> harmless("cmd;=1+1"), harmless("1; -2;-3")
    ("cmd;'=1+1", '1; -2;-3')
    """
    return "".join(map(_begun, _ENDS.split(_begun(text))))


def _begun(text: str) -> str:
    return f"'{text}" if _RUNS.match(text) and not _NUMBER.fullmatch(text.strip()) and text not in ";\t" else text


def kept_in_csv(text: str) -> str:
    """The text as `read_from_csv` reads it again.

    >>> [read_from_csv(kept_in_csv(text)) for text in ("=1+1", "'=1+1", "'a'", "-5")]
    ['=1+1', "'=1+1", "'a'", '-5']
    """
    return f"'{text}" if _marked(text) else _begun(text)


def read_from_csv(text: str) -> str:
    return text[1:] if _marked(text) else text


def _marked(text: str) -> bool:
    return text.startswith("'") and _RUNS.match(text.lstrip("'")) is not None
