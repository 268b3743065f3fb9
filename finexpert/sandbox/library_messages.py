"""What a language model is told of a script's exception: words from this list alone, and names of columns and frames.

    said("KeyError", "'Jane Doe'", ["region"])                              ->  "KeyError"
    said("ValueError", "could not convert string to float: 'Jane'", [])     ->  "ValueError: could not convert string to float: <value>"

A script can raise whatever it likes, with a message that it made of rows. So no message is passed on: it is compared with the messages of
Python, pandas, numpy and scipy that are known here, and what is said is the one it equals. In a message `{v}` stands for what is never told,
`{n}` for names, told where they are names of columns or frames, `{t}` for a type, `{o}` for an operator, `{...}` for advice that is left out.
"""

from __future__ import annotations

import builtins
import functools
import re
from collections.abc import Collection
from pathlib import Path

from finexpert.text.scrubbing import VALUE, is_type

MESSAGES = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()

_split = str.split
_OPERATORS = frozenset(
    [
        *_split("+ - * / // % ** @ & | ^ << >> < > <= >= == != += -= *= /= //= %= **= divmod() or pow() ~ abs()"),
        "** or pow()",
    ]
)
_LIBRARIES = (
    "ArrowInvalid ArrowTypeError ArrowNotImplementedError ArrowKeyError LinAlgError AxisError ParserError MergeError IndexingError"
    " InvalidIndexError OutOfBoundsDatetime OutOfBoundsTimedelta IntCastingNaNError UndefinedVariableError SpecificationError DataError"
    " UnsupportedFunctionCall EmptyDataError DateParseError ZoneInfoNotFoundError FrozenInstanceError UFuncTypeError DTypePromotionError"
    " UnsortedIndexError InvalidOperation DivisionByZero DuplicateLabelError NumbaUtilError StatisticsError IncompatibleFrequency"
    " _UFuncNoLoopError _UFuncBinaryResolutionError PerformanceWarning SettingWithCopyError ChainedAssignmentError error JSONDecodeError"
)
KINDS = frozenset(
    name for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, BaseException)
) | frozenset(_LIBRARIES.split())
OWN = "an exception of the script's own"
_MOST = 2_000
_SLOT = re.compile(r"\{(v|n|t|o|\.\.\.)\}")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")


def said(kind: str, message: str, names: Collection[str]) -> str:
    """What may be told of an exception; `names` are those of columns and frames.

    >>> said("KeyError", "['region', 'Jane'] not in index", ["region", "amount"])
    "KeyError: 'region', <value> not in index"
    >>> said("ValueError", "4 8 2 1 3", [])
    'ValueError'
    >>> said("Jane", "", [])
    "an exception of the script's own"
    """
    shown = kind if kind in KINDS else OWN
    known = _key(message, names) if kind == "KeyError" else None
    known = known or _known(message[:_MOST], frozenset(names))
    return f"{shown}: {known}" if known else shown


def _key(message: str, names: Collection[str]) -> str | None:
    key = message[1:-1] if message[:1] == message[-1:] and message[:1] in ("'", '"') else None
    return f"'{key}'" if key is not None and key in names else None


def _known(message: str, names: frozenset[str]) -> str | None:
    for template, pattern in _patterns():
        if (match := pattern.fullmatch(message)) is not None:
            return _filled(template, match.groups(), names)
    return None


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (
            template,
            re.compile("".join(_part(part, place) for place, part in enumerate(_SLOT.split(template))), re.DOTALL),
        )
        for template in MESSAGES
    )


def _part(part: str, place: int) -> str:
    if place % 2 == 0:
        return re.escape(part)
    return {"t": r"([\w\[\], .<>=|-]{1,60}?)", "o": r"(\S.{0,15}?)"}.get(part, r"(.*?)")


def _filled(template: str, found: tuple[str, ...], names: frozenset[str]) -> str:
    values = iter(found)

    def fill(slot: re.Match[str]) -> str:
        text = next(values)
        match slot[1]:
            case "t":
                return text if is_type(text) else VALUE
            case "o":
                return text if text in _OPERATORS else VALUE
            case "n":
                return _names(text, names)
            case "v":
                return VALUE
        return ""

    return _SLOT.sub(fill, template).strip()


def _names(text: str, names: frozenset[str]) -> str:
    quoted = [one or other for one, other in _QUOTED.findall(text)] or [text]
    shown = list(dict.fromkeys(f"'{one}'" if one in names else VALUE for one in quoted))
    return ", ".join(shown)
