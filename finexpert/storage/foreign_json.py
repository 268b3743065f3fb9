"""JSON that somebody else wrote, or that may have been changed.

    parse("[" * 100_000)   raises JSONDecodeError, as for any text that is no JSON

Python raises a RecursionError for what is nested too deep, and a plain ValueError for an integer of too many digits: whoever reads a file
line by line knows neither.
"""

from __future__ import annotations

import json
from typing import Any


def parse(text: str | bytes) -> Any:
    """The value of a JSON text; JSONDecodeError for every text that has none here.

    >>> parse('{"a": 1}')
    {'a': 1}
    >>> parse("9" * 5_000)
    Traceback (most recent call last):
    json.decoder.JSONDecodeError: an integer of too many digits: line 1 column 1 (char 0)
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError("it is nested too deep", "", 0) from None
    except UnicodeDecodeError:
        raise json.JSONDecodeError("it is not text in UTF-8", "", 0) from None
    except ValueError:
        raise json.JSONDecodeError("an integer of too many digits", "", 0) from None
