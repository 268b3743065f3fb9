"""One value of a table as text: every digit before the point, six significant digits, nothing that moves a cursor.

>>> shown(1234567.891), shown(0.000123456789), shown(None), shown(True)
('1,234,567.89', '0.000123457', '', 'yes')
"""

from __future__ import annotations

import datetime as dt
import math
from numbers import Integral, Real
from typing import Any

import pandas as pd

from finexpert.text.texts import visible

_DIGITS = 6
# Smaller than this, a number is written with its exponent.
_SMALL = 1e-9


def shown(value: Any) -> str:
    """A value as a person reads it; what is missing is empty, a midnight is a date.

    >>> shown(pd.Timestamp("2024-01-31")), shown(float("nan")), shown(3), shown(-0.5), shown("red \\x1b[31m")
    ('2024-01-31', '', '3', '-0.5', 'red \\\\u001b[31m')
    """
    if isinstance(value, list | tuple | dict):
        return visible(str(value))
    if value is None or bool(pd.isna(value)):
        return ""
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if isinstance(value, Real):
        return number(float(value))
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    return visible(str(value))


def number(value: float) -> str:
    """A number without a digit lost before the point.

    >>> number(98765432.126), number(3.0), number(3.9444444), number(2.5e-12), number(float("inf"))
    ('98,765,432.13', '3', '3.94444', '2.5e-12', 'inf')
    """
    if not math.isfinite(value) or 0 < abs(value) < _SMALL:
        return f"{value:g}"
    if value == int(value):
        return f"{int(value):,}"
    before = math.floor(math.log10(abs(value))) + 1
    # Below 1 the zeros after the point do not count as digits.
    text = f"{value:,.{max(2, _DIGITS - before)}f}"
    return text.rstrip("0").rstrip(".")


def is_number(kind: Any) -> bool:
    """Whether a column of this dtype stands to the right."""
    return bool(pd.api.types.is_numeric_dtype(kind)) and not pd.api.types.is_bool_dtype(kind)


def lines(text: str) -> str:
    """A text of several lines with every unseen character but their ends written out.

    >>> lines("one\\r\\ntwo \\u202e")
    'one\\ntwo \\\\u202e'
    """
    return "\n".join(visible(line) for line in text.splitlines())
