"""Whether an answer equals the gold: the rule by which every question file is scored.

    >>> matches(3.948, 3.95, AnswerFormat(kind="number"))
    True
    >>> matches("  Lower", "lower", AnswerFormat(kind="text"))
    True

It compares one answer with one gold. It never forgives a unit or a sign: 0.04 is not 4 percent.
"""

from __future__ import annotations

import math
from typing import Any

from finexpert.core.answers import AnswerFormat
from finexpert.errors import AnswerFormatError, DataError

_DECIMALS = 2


def matches(value: Any, gold: Any, answer_format: AnswerFormat) -> bool:
    """True if `value` equals `gold` under the format: numbers after rounding to its decimals, the rest exactly.

    >>> matches([2020, 4], [2020, 4], AnswerFormat(kind="list", items="integer"))
    True
    >>> matches([4, 2020], [2020, 4], AnswerFormat(kind="list", items="integer"))
    False

    A value of another type is wrong, not an error; a gold of another type is one.

    >>> matches("about four", 4, AnswerFormat(kind="integer"))
    False
    """
    if answer_format.kind == "table":
        raise DataError("no rule matches answers of kind 'table': ask for a list or a single value")
    gold = answer_format.coerce(gold)
    try:
        value = answer_format.coerce(value)
    except AnswerFormatError:
        return False
    if answer_format.kind != "list":
        return _same(value, gold, answer_format.kind, answer_format.decimals)
    kind = answer_format.items or "text"
    return len(value) == len(gold) and all(
        _same(mine, theirs, kind, answer_format.decimals) for mine, theirs in zip(value, gold, strict=True)
    )


def _same(value: Any, gold: Any, kind: str, decimals: int | None) -> bool:
    if kind == "number":
        return same_number(value, gold, _DECIMALS if decimals is None else decimals)
    if kind == "text":
        return fold(value) == fold(gold)
    return bool(value == gold)


def same_number(value: float, gold: float, decimals: int) -> bool:
    """True if both round to the same number of `decimals` digits.

    A tie may be rounded either way, so it matches both of its neighbours.

    >>> same_number(2.675, 2.68, 2), same_number(2.675, 2.67, 2), same_number(2.674, 2.68, 2)
    (True, True, False)
    """
    half = 10.0**-decimals / 2
    return any(
        abs(mine - theirs) < half for mine in _roundings(value, decimals) for theirs in _roundings(gold, decimals)
    )


def _roundings(value: float, decimals: int) -> tuple[float, float]:
    # Two orders of summation differ in the last bits, which must not decide a tie.
    noise = min(1e-9 * max(1.0, abs(value)), 10.0**-decimals / 100)
    return round(value - noise, decimals), round(value + noise, decimals)


def fold(text: str) -> str:
    """The text in lower case with single spaces.

    >>> fold("  NASDAQ   Composite ")
    'nasdaq composite'
    """
    return " ".join(text.casefold().split())


def close(predicted: object, gold: float | str) -> bool:
    """Within 0.5 % of the gold, or within 0.0001 where the gold is below 1."""
    value = plain(predicted)
    if isinstance(gold, str) or isinstance(value, str) or value is None:
        return value == gold
    distance = abs(value - gold)
    return distance <= 0.005 * abs(gold) or (abs(gold) < 1 and distance <= 1e-4)


def plain(predicted: object) -> float | str | None:
    """A number, a folded text, or None for what is neither."""
    if isinstance(predicted, bool):
        return "yes" if predicted else "no"
    if isinstance(predicted, str):
        return predicted.strip().casefold()
    if isinstance(predicted, int | float) and math.isfinite(predicted):
        return float(predicted)
    return None
