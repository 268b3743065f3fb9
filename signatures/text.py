"""Reading text that a model wrote: what is code, and what is packing around it."""

from __future__ import annotations

import re

_NOTHING_LACKS = re.compile(r"(?:nothing|none|no \w+)(?: (?:is|are))? missing\.?|nothing\.|none\.", re.IGNORECASE)
NOTHING = ("none", "(none)", "n/a", "nothing", "-", "empty")
_FENCED = re.compile(r"```[A-Za-z0-9_+-]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)


def without_fences(text: str) -> str:
    """The code inside a Markdown fence, or the text itself; of several fences the longest.

    >>> without_fences("Here it is:\\n```python\\nanswer = 1\\n```\\nDone.")
    'answer = 1'
    >>> without_fences("answer = 1")
    'answer = 1'
    """
    blocks = _FENCED.findall(text)
    return (max(blocks, key=len) if blocks else text).strip("\n").rstrip()


def said_missing(text: object) -> str:
    """What a model says that the data do not hold; nothing where it only says that nothing is missing.

    >>> said_missing(" no column has interest rates. "), said_missing("'None'"), said_missing(None)
    ('no column has interest rates.', '', '')
    >>> said_missing("Nothing is missing."), said_missing("None of them holds prices.")
    ('', 'None of them holds prices.')
    """
    said = str(text or "").strip().strip("`'\"")
    return "" if said.lower() in NOTHING or _NOTHING_LACKS.fullmatch(said) else said
