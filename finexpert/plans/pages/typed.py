"""A value of a page in the type and the unit that were asked for; the same at every replay.

    typed(Value(1234.0, unit="USD", scale=1e6), AnswerFormat(unit="USD"))      # 1234000000.0, in USD
    typed(Value(1234.0, unit="USD", scale=1e6), AnswerFormat())                # 1234.0, in million USD
    typed(Value(1234.0, unit="USD", scale=1e6), AnswerFormat(unit="shares"))   # 1234.0, in million USD, and a note

A number never leaves without the unit of its page: what is asked for in another one is converted, or stays as it is printed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from finexpert.core.answers import AnswerFormat, Kind, show
from finexpert.core.workspace import Value
from finexpert.filings.page.numbers import SCALES
from finexpert.plans.pages.wording import SHARES, unit_words

_SAME = {
    **dict.fromkeys(("$", "us$", "dollar", "us dollar", "u.s. dollar"), "usd"),
    **dict.fromkeys(("\u20ac", "euro"), "eur"),
    **dict.fromkeys(("%", "per cent", "percentage", "percentage point", "pp"), "percent"),
    **dict.fromkeys(("bp", "bps"), "basis point"),
    **dict.fromkeys(("x", "time"), "times"),
}
_OF_SHARES = {"percent": 100.0, "basis point": 10_000.0, "": 1.0, "fraction": 1.0, "ratio": 1.0, "share": 1.0, "times": 1.0}  # fmt: skip
NUMBERS = ("number", "integer")
_WORDS = {"yes": True, "no": False}


class Typed(NamedTuple):
    """A value, its format, and what to know where it could not be put into the unit that was asked for."""

    value: Any
    format: AnswerFormat
    notes: list[str]


def typed(value: Value, wanted: AnswerFormat | None) -> Typed:
    """The value as it is asked for; AnswerFormatError where it is not of that type.

    >>> typed(Value(0.134, unit="fraction"), AnswerFormat(unit="percent")).value
    13.4
    >>> typed(Value("yes"), AnswerFormat(kind="boolean")).value
    True
    """
    kind: Kind = "text" if isinstance(value.value, str) else "number"
    natural = AnswerFormat(kind=kind, unit=unit_words(value) or None, decimals=decimals(value))
    if wanted is None:
        return Typed(value.value, natural, [])
    found = value.value
    if wanted.kind in (*NUMBERS, "list"):
        found, unit, note = _converted(value, natural.unit, wanted.unit)
        digits = decimals(Value(found, unit=None if unit else value.unit)) if wanted.kind == "number" else None
        digits = digits if wanted.decimals is None else wanted.decimals
        wanted = wanted.model_copy(update={"unit": unit, "decimals": digits})
        found = [found] if wanted.kind == "list" and not isinstance(found, list) else found
        return Typed(wanted.coerce(found), wanted, [note] if note else [])
    if wanted.kind == "text" and not isinstance(found, str):
        found = show(found, natural)
    elif wanted.kind == "boolean":
        found = _WORDS.get(str(found), found)
    return Typed(wanted.coerce(found), wanted, [])


def converted(number: float, unit: str | None, wanted: str | None) -> tuple[float, str | None, str]:
    """A number in the unit asked for, the unit that it is in then, and a note where its own is another.

    >>> converted(900.0, "million USD", "billion dollars"), converted(34.6, "%", "percent"), converted(5.0, None, "USD")
    ((0.9, 'billion dollars', ''), (34.6, 'percent', ''), (5.0, 'USD', ''))
    >>> converted(900.0, "million USD", "shares")
    (900.0, 'million USD', 'asked for in shares, and printed in million USD')
    """
    if not wanted or not unit:
        return number, wanted or unit, ""
    (own_scale, own), (scale, asked) = _parts(unit), _parts(wanted)
    if own and asked and own != asked:
        return number, unit, f"asked for in {wanted}, and printed in {unit}"
    return (number if own_scale == scale else number * own_scale / scale), wanted, ""


def decimals(value: Value) -> int:
    """How many decimals a value is shown with: more of a share, and of what is less than one.

    >>> decimals(Value(486.2)), decimals(Value(0.134, unit="fraction")), decimals(Value(-0.02))
    (2, 5, 5)
    """
    small = isinstance(value.value, float) and abs(value.value) < 1
    return 5 if value.unit in SHARES or small else 2


def _converted(value: Value, printed: str | None, wanted: str | None) -> tuple[Any, str | None, str]:
    """As `converted`, of each number of a list too; a share is no number of its own unit."""
    factor = 1.0
    if value.unit in SHARES and wanted:
        scale, asked = _parts(wanted)
        if asked not in _OF_SHARES or scale != 1.0:
            return value.value, printed, f"asked for in {wanted}, and a plain share"
        factor, printed = _OF_SHARES[asked], None

    def one(each: Any) -> tuple[Any, str | None, str]:
        if isinstance(each, bool) or not isinstance(each, int | float):
            return each, wanted, ""
        return converted(each if factor == 1.0 else round(each * factor, 10), printed, wanted)

    if not isinstance(value.value, list):
        return one(value.value)
    made = [one(each) for each in value.value]
    unit, note = (made[0][1], made[0][2]) if made else (wanted or printed, "")
    return [each for each, *_ in made], unit, note


def _parts(unit: str) -> tuple[float, str]:
    """The scale of a unit, and what is left of it in one spelling.

    >>> _parts("millions of US dollars"), _parts("shares"), _parts("%")
    ((1000000.0, 'usd'), (1.0, 'share'), (1.0, 'percent'))
    """
    scale, words = 1.0, []
    for word in unit.casefold().split():
        if (found := SCALES.get(word.rstrip("s"))) and len(word) > 1:
            scale *= found
        elif word != "of":
            words.append(word)
    base = " ".join(words)
    base = base[:-1] if base.endswith("s") and base not in ("bps", "times") else base
    return scale, _SAME.get(base, base)
