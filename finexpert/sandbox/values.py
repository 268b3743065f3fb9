"""Values as typed JSON: a pair of tag and value, so that a date stays a date and NaN stays NaN.

    >>> encode(pd.Timestamp("2020-01-31")), decode(["date", "2020-01-31"])
    (['date', '2020-01-31'], datetime.date(2020, 1, 31))
    >>> encode([1, 2.5, None])
    ['list', [['int', '1'], ['float', '2.5'], ['none', '']]]

The worker encodes, the parent decodes and believes nothing: `decode` takes the known tags only. Whether the value fits
the answer format is decided afterwards, in the parent. Tables and figures travel as blobs.
"""

from __future__ import annotations

import datetime as dt
import decimal
from numbers import Integral, Real
from typing import Any

import pandas as pd

_words = str.split

Encoded = list[Any]
_DIGITS = 400
# A script can call a type as it likes, and so smuggle a cell value into an error: only these names are said.
_NAMED = frozenset(
    _words("""
    dict set frozenset tuple list bytes complex function method builtin_function_or_method type module
    generator DataFrame Series Index DatetimeIndex MultiIndex RangeIndex ndarray Timedelta timedelta Interval
    Categorical DataFrameGroupBy SeriesGroupBy Figure Axes AxesSubplot Resampler Rolling defaultdict Counter
    map filter range zip dict_keys dict_values dict_items slice time method-wrapper property
""")
)


class NotAValue(Exception):
    """What was received is not an encoded value."""


def _plain(value: Any) -> Any:
    """Numpy scalars and containers of one element as the Python value inside."""
    if isinstance(value, pd.Series | pd.Index) and len(value) == 1:
        return value.to_list()[0]
    if hasattr(value, "ndim") and hasattr(value, "item") and getattr(value, "size", 0) == 1:
        if type(value).__name__ == "datetime64":
            return pd.Timestamp(value)
        return value.item()
    return value


def _items(value: Any) -> list[Any] | None:
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        return list(value)
    if hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1:
        return list(value)
    return None


def _moment(value: dt.date) -> Encoded:
    if isinstance(value, dt.datetime) and value.time() != dt.time():
        return ["datetime", value.replace(tzinfo=None).isoformat()]
    return ["date", dt.date(value.year, value.month, value.day).isoformat()]


def _scalar(value: Any) -> Encoded:
    value = _plain(value)
    if value is None or value is pd.NaT or value is pd.NA:
        return ["none", ""]
    if isinstance(value, bool):
        return ["bool", value]
    if isinstance(value, str):
        return ["text", value]
    if isinstance(value, pd.Period):
        value = value.start_time
    if isinstance(value, dt.date):
        return _moment(value)
    if isinstance(value, Integral):
        text = str(int(value)) if abs(int(value)) < 10**18 else ""
        return ["int", text] if text else ["float", repr(float(value))]
    if isinstance(value, Real | decimal.Decimal):
        return ["float", repr(float(value))]
    return ["other", type(value).__name__[:100]]


def encode(value: Any, *, as_list: bool = False) -> Encoded:
    """A value of a script; `as_list` if a list is asked for: then columns and arrays are lists, too."""
    items = _items(value) if as_list or isinstance(value, list | tuple) else None
    return _scalar(value) if items is None else ["list", [_scalar(item) for item in items]]


def _number(text: Any) -> float:
    if not isinstance(text, str) or len(text) > _DIGITS:
        raise NotAValue("a number that is not a short text")
    return float(text)


def _integer(text: Any) -> int:
    if not isinstance(text, str) or len(text) > 20:
        raise NotAValue("an integer that is not a short text")
    return int(text)


def _is(kind: type) -> Any:
    def checked(value: Any) -> Any:
        if type(value) is not kind:
            raise NotAValue(f"a {kind.__name__} that is none")
        return value

    return checked


def _date(text: Any) -> dt.date:
    return dt.date.fromisoformat(_is(str)(text))


def _datetime(text: Any) -> dt.datetime:
    return dt.datetime.fromisoformat(_is(str)(text)).replace(tzinfo=None)


def _foreign(type_name: str) -> Any:
    """An object that has no use but the name of its type, which an error may say."""
    return type(type_name if type_name in _NAMED else "object", (), {})()


_DECODE = {
    "none": lambda value: None,
    "bool": _is(bool),
    "text": _is(str),
    "int": _integer,
    "float": _number,
    "date": _date,
    "datetime": _datetime,
    "other": lambda value: _foreign(_is(str)(value)),
}


def decode(encoded: Any, *, text_bytes: int = 64 << 10) -> Any:
    """The value of what a worker sent.

    Raises NotAValue for anything but a known pair. A value of a type that is not
    returned gives an empty object whose type has the same name.

    >>> decode(["float", "nan"])
    nan
    >>> decode(["pickle", "gASV"])
    Traceback (most recent call last):
        ...
    finexpert.sandbox.values.NotAValue: an unknown tag
    """
    if not isinstance(encoded, list) or len(encoded) != 2 or not isinstance(encoded[0], str):
        raise NotAValue("not a pair of tag and value")
    tag, value = encoded
    if tag == "list":
        items = _is(list)(value)
        if any(isinstance(item, list) and item[:1] == ["list"] for item in items):
            raise NotAValue("a list within a list")
        return [decode(item, text_bytes=text_bytes) for item in items]
    if tag not in _DECODE:
        raise NotAValue("an unknown tag")
    if isinstance(value, str) and len(value.encode(errors="replace")) > text_bytes:
        raise NotAValue("a text that is too long")
    try:
        return _DECODE[tag](value)
    except ValueError as error:
        raise NotAValue(f"a {tag} that is none ({type(error).__name__})") from None
