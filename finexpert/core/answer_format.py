"""The type that an answer must have, and coercing a value to it.

    >>> AnswerFormat(kind="number", unit="percent", decimals=1).coerce(3.94)
    3.94

Coercing is the boundary between a script and an answer: it converts what is the same thing in another dress (a
numpy float, a midnight timestamp for a date, "2020" for a year) and refuses the rest. It never rounds: rounding belongs to showing and to scoring.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from finexpert.errors import AnswerFormatError

Kind = Literal["number", "integer", "date", "year", "boolean", "text", "list", "table"]
Scalar = float | int | bool | str | dt.date

_YEARS = range(1000, 3000)


class AnswerFormat(BaseModel):
    """The type that an answer must have.

    >>> AnswerFormat(kind="list", items="date").coerce(["2008-07-01"])
    [datetime.date(2008, 7, 1)]
    >>> AnswerFormat(kind="integer").coerce(2.5)
    Traceback (most recent call last):
        ...
    finexpert.errors.AnswerFormatError: the answer must be an integer, not the number with a fraction it is
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind = "number"
    unit: str | None = None
    decimals: int | None = Field(default=None, ge=0, le=12, description="digits that count when matched; 2 if not said")
    items: Literal["number", "integer", "date", "year", "boolean", "text"] | None = Field(
        default=None, description="the kind of each element of a list"
    )
    description: str | None = None

    def coerce(self, value: Any) -> Any:
        """The value as the Python type of this format: float, int, date, bool, str, list, or DataFrame."""
        if self.kind == "list":
            items = _elements(value)
            item_kind = self.items or _kind_of_items(items)
            return [_COERCE[item_kind](item) for item in items]
        return _COERCE[self.kind](value)

    def instruction(self) -> str:
        """What a script or a model is told about the answer's type.

        >>> AnswerFormat(kind="number", unit="percent", decimals=2).instruction()
        'a float, in percent (not rounded)'
        >>> AnswerFormat(kind="list", items="date").instruction()
        'a list, each element a datetime.date'
        """
        words = _TYPE_WORDS[self.kind]
        if self.kind == "list":
            words += f", each element {_TYPE_WORDS[self.items]}" if self.items else ""
        if self.unit:
            words += f", in {self.unit}"
        if self.kind == "number":
            words += " (not rounded)"
        return words + (f". {self.description}" if self.description else "")


def _refuse(expected: str, value: Any) -> AnswerFormatError:
    # The value itself stays out of the message: the message may be shown to a model.
    if isinstance(value, float) and math.isnan(value):
        is_ = "the missing value (NaN)"
    elif isinstance(value, Real) and expected == "an integer":
        is_ = "the number with a fraction"
    else:
        is_ = f"the {type(value).__name__}"
    return AnswerFormatError(f"the answer must be {expected}, not {is_} it is")


def _plain(value: Any) -> Any:
    """Numpy scalars, and Series or arrays of one element, as plain Python values."""
    if isinstance(value, pd.Series | pd.Index) and len(value) == 1:
        value = value.to_list()[0]
    elif hasattr(value, "ndim") and hasattr(value, "item") and getattr(value, "size", 0) == 1:
        value = value.item()
    return value


def _number(value: Any) -> float:
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise _refuse("a finite number", value)
    return float(value)


def _integer(value: Any) -> int:
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _refuse("an integer", value)
    if isinstance(value, Integral):
        return int(value)
    if not math.isfinite(value) or not float(value).is_integer():
        raise _refuse("an integer", value)
    return int(float(value))


def _date(value: Any) -> dt.date:
    value = _plain(value)
    if isinstance(value, pd.Period):
        value = value.start_time
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value.strip())
        except ValueError:
            raise _refuse("a date (YYYY-MM-DD)", value) from None
    if value is pd.NaT or value is None:
        raise AnswerFormatError("the answer must be a date, and is missing")
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, dt.date):
        return value
    raise _refuse("a date", value)


def _year(value: Any) -> int:
    value = _plain(value)
    if isinstance(value, pd.Period | dt.date):
        value = value.year
    elif isinstance(value, str) and value.strip().isdigit():
        value = int(value)
    year = _integer(value)
    if year not in _YEARS:
        raise AnswerFormatError("the answer must be a year of four digits")
    return year


def _boolean(value: Any) -> bool:
    value = _plain(value)
    if isinstance(value, bool):
        return value
    raise _refuse("True or False", value)


def _text(value: Any) -> str:
    value = _plain(value)
    if isinstance(value, str) and value.strip():
        return value
    raise _refuse("a text that is not empty", value)


def _table(value: Any) -> pd.DataFrame:
    if isinstance(value, pd.Series):
        value = value.reset_index()
    if isinstance(value, pd.DataFrame):
        return value
    raise _refuse("a DataFrame", value)


def kind_of(value: Any) -> Literal["number", "integer", "date", "boolean", "text"]:
    """The kind that a value is by itself; a midnight is a date.

    >>> kind_of(3), kind_of(3.5), kind_of(pd.Timestamp("2024-01-31")), kind_of("3")
    ('integer', 'number', 'date', 'text')
    """
    value = _plain(value)
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, Integral):
        return "integer"
    if isinstance(value, Real):
        return "number"
    if isinstance(value, dt.datetime):
        return "date" if value.time() == dt.time() else "text"
    return "date" if isinstance(value, dt.date | pd.Period) else "text"


def _kind_of_items(items: Sequence[Any]) -> str:
    """The kind that all items of a list have; whole numbers among others are numbers."""
    kinds = {kind_of(item) for item in items if item is not None}
    if kinds == {"integer", "number"}:
        return "number"
    return kinds.pop() if len(kinds) == 1 else "text"


def _elements(value: Any) -> list[Any]:
    if isinstance(value, pd.Series | pd.Index) or (hasattr(value, "tolist") and hasattr(value, "ndim")):
        value = list(value)
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        raise _refuse("a list", value)
    return list(value)


_COERCE = {
    "number": _number,
    "integer": _integer,
    "date": _date,
    "year": _year,
    "boolean": _boolean,
    "text": _text,
    "table": _table,
}

_TYPE_WORDS = {
    "number": "a float",
    "integer": "an int",
    "date": "a datetime.date",
    "year": "an int, the year in four digits",
    "boolean": "a bool",
    "text": "a str",
    "list": "a list",
    "table": "a pandas DataFrame",
}
