"""The value of an answer that one SELECT gives, typed at home.

    n                                   integer
    0  1794783        as integer  ->    1794783

No script and no model: the frame's shape and the format of the answer tell. Where nobody fixed a format, the shape wins.
"""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from finexpert.core.answers import AnswerFormat, kind_of
from finexpert.errors import AnswerFormatError, QueryError

_DECIMALS = re.compile(
    r"\b(?:rounded\s+(?:off\s+)?)?to\s+(?:the\s+nearest\s+)?(\d+|one|two|three|four|five|six|zero|no)\s+(?:decimals?|decimal\s+(?:places?|digits?|points?))",
    re.IGNORECASE,
)
_WORDS = {"zero": 0, "no": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


def value_of(data: pd.DataFrame, wanted: AnswerFormat, *, fixed: bool = True) -> tuple[Any, AnswerFormat]:
    """The value of a frame, and the format that it has; `fixed` says that the format must be kept.

    Raises QueryError for a frame of another shape or type, in words that the layer of SELECTs can act on.

    >>> value_of(pd.DataFrame({"n": [3]}), AnswerFormat(kind="number"))
    (3.0, AnswerFormat(kind='number', unit=None, decimals=None, items=None, description=None))
    >>> value_of(pd.DataFrame({"n": [3]}), AnswerFormat(kind="number"), fixed=False)[0]
    3
    """
    if not fixed:
        wanted = _by_shape(data, wanted)
    if wanted.kind == "table":
        return data, wanted
    if wanted.kind == "list":
        if len(data) == 1 and len(data.columns) > 1 and all(_fits(data[name], wanted) for name in data.columns):
            return _coerced(data.iloc[0].tolist(), wanted), wanted
        return _coerced(data[_column(data, wanted, "a list")].tolist(), wanted), wanted
    if len(data) != 1:
        raise QueryError(f"the SELECT gives {len(data):,} rows where one value is asked for: {wanted.instruction()}")
    return _coerced(data[_column(data, wanted, "one value")].iloc[0], wanted), wanted


def _by_shape(data: pd.DataFrame, wanted: AnswerFormat) -> AnswerFormat:
    """The format that a frame has by itself: a table, a list, or the kind of its one value."""
    rows, columns = data.shape
    if wanted.kind == "list":
        return wanted if columns == 1 else wanted.model_copy(update={"kind": "table"})
    if wanted.kind == "table" or rows != 1:
        # Several rows where one value was announced are no answer of another kind: the SELECT is not what was meant.
        return wanted
    if columns > 1:
        return wanted.model_copy(update={"kind": "table"})
    value = data.iat[0, 0]
    kind = kind_of(value)
    if wanted.kind == "year" and kind in ("integer", "date"):
        return wanted
    if wanted.kind == "date" and kind == "text":
        return wanted
    return wanted.model_copy(update={"kind": kind})


def _column(data: pd.DataFrame, wanted: AnswerFormat, what: str) -> str:
    """The column that holds the answer: the only one, or the only one of the right type."""
    if len(data.columns) == 1:
        return str(data.columns[0])
    fitting = [str(name) for name in data.columns if _fits(data[name], wanted)]
    if len(fitting) == 1:
        return fitting[0]
    raise QueryError(f"the SELECT gives {len(data.columns)} columns where {what} is asked for: select one column")


def _fits(column: pd.Series[Any], wanted: AnswerFormat) -> bool:
    kind = wanted.items if wanted.kind == "list" else wanted.kind
    kinds = {kind_of(value) for value in column.dropna().head(50)}
    allowed = {"number": {"number", "integer"}, "integer": {"integer"}, "year": {"integer", "date"}, "date": {"date"},
               "boolean": {"boolean"}, "text": {"text"}}.get(kind or "", set())  # fmt: skip
    return bool(kinds) and kinds <= allowed


def _coerced(value: Any, wanted: AnswerFormat) -> Any:
    try:
        return wanted.coerce(value)
    except AnswerFormatError as error:
        raise QueryError(f"the SELECT's value is of another type: {error}") from error


def decimals_asked(question: str) -> int | None:
    """How many decimals a question asks for; they are shown, and nothing is computed from a rounded value.

    >>> decimals_asked("What was the mean fee, rounded to two decimal places?"), decimals_asked("What was the mean fee?")
    (2, None)
    """
    found = _DECIMALS.search(question)
    if found is None:
        return None
    number = found[1].lower()
    return _WORDS[number] if number in _WORDS else min(int(number), 12)


def code_of(wanted: AnswerFormat, frame: str) -> str:
    """Python that takes the value out of a frame, for an exported answer.

    >>> code_of(AnswerFormat(kind="integer"), "trades")
    'answer = trades.iloc[0, 0]'
    """
    return f"answer = {frame}" + {"table": "", "list": ".iloc[:, 0].tolist()"}.get(wanted.kind, ".iloc[0, 0]")
