"""Numbers in words: as a page prints them, as they were computed, and put into the sentence of an answer.

    printed_words(ProvedValue(printed="5,363", ...), Value(5363.0, unit="USD", scale=1e6))     # "5,363 million USD"
    filled("It rose to {a} billion.", {"a": "5,363 million USD"})                              # "It rose to 5,363 million."

The scale is that of the page: a word beside a number, of the model or of the sentence, neither takes it away nor adds to it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import replace

from finexpert.core.workspace import Value
from finexpert.filings.page.numbers import SCALES, read_written
from finexpert.plans.pages.formula import parsed
from finexpert.plans.pages.proved import Computation, ProvedValue

PLACEHOLDER = re.compile(r"\{\{?\s*([A-Za-z_]\w*)\s*\}?\}")
_SCALE_WORD = re.compile(r"\b(thousand|million|billion|trillion)s?\b|\b(mn|bn)\b", re.IGNORECASE)
_PLACE = re.compile(PLACEHOLDER.pattern + rf"(?P<said>\s*(?:{_SCALE_WORD.pattern}))?", re.IGNORECASE)
# A number as it is written, without the words of its scale: "12 million", "$1.2bn".
_WRITTEN_SCALE = re.compile(rf"\s*(?:{_SCALE_WORD.pattern}|(?<=\d)(?:mm|bn|tn|[mbkt])\b)", re.IGNORECASE)
_SCALE_AFTER = re.compile(r"^([A-Z]{3}) (thousand|million|billion|trillion)s?$")
_SCALE_NAMES = {1e3: "thousand", 1e6: "million", 1e9: "billion", 1e12: "trillion"}
SHARES = ("fraction", "ratio")
_POINTS = re.compile(r"%|percent|\bpp\b", re.IGNORECASE)
# What a sentence itself calls its number.
_OWN_UNIT = re.compile(r"\s*(?:USD|dollars|%|percent|times|x\b|days|(?:basis )?points?\b|bps?\b|pp\b)")
_BASIS_POINTS = re.compile(r"basis points|\bbps?\b", re.IGNORECASE)


def filled(text: str, shown: Mapping[str, str]) -> str:
    """A text with its numbers put in; a unit that the text itself has beside the place is not said twice.

    >>> filled("It rose to ${a} million, or {b}.", {"a": "5,363 million USD", "b": "34.6%"})
    'It rose to $5,363 million, or 34.6%.'
    >>> filled("Prices added {a} points.", {"a": "1.1 USD"})
    'Prices added 1.1 points.'
    """

    def put(found: re.Match[str]) -> str:
        words = shown.get(found[1])
        if words is None:
            return found[0]
        said = found["said"] or ""
        number, _, unit = words.partition(" ")
        own = _SCALE_WORD.search(unit)
        if said and own and _factor(own[0]) != _factor(said):
            # The page's scale stands, whatever the sentence says.
            return f"{number} {own[0]}"
        after = text[found.end() : found.end() + 24]
        before = text[max(0, found.start() - 5) : found.start()]
        if unit and said:
            return f"{number}{said}"
        if unit and _again(unit, after):
            return f"{number} {unit.rpartition(' ')[0]}".strip()
        if unit and _OWN_UNIT.match(after):
            return f"{number} {own[0]}" if own else number
        if unit and before.rstrip().endswith("$"):
            return " ".join(filter(None, [number, unit.replace("USD", "").strip()]))
        if number.endswith("%") and re.match(r"\s*(?:%|percent)", after):
            return number.removesuffix("%")
        return f"{words}{said}"

    return _PLACE.sub(put, text)


def unpaged_scales(text: str, shown: Mapping[str, str]) -> list[str]:
    """A doubt for each number that the sentence calls a million or so while no page says a scale for it.

    >>> unpaged_scales("{a} million and {b} million", {"a": "5 USD", "b": "6 million USD"})
    ["'million' of a is the answer's own word: its page names no scale"]
    """
    found = [(match[1], (match["said"] or "").strip()) for match in _PLACE.finditer(text)]
    return [
        f"{said!r} of {name} is the answer's own word: its page names no scale"
        for name, said in dict.fromkeys(found)
        if said and name in shown and not _SCALE_WORD.search(shown[name])
    ]


def printed_words(value: ProvedValue, found: Value) -> str:
    """A number as its page prints it, with the unit of its table."""
    number = value.printed.strip().strip("$").strip()
    if found.unit in SHARES or "%" in number:
        return number.replace(" ", "")
    if value.without_sign:
        number = number.strip("()- ")
    written = read_written(value.printed)
    if written is None or written.scale == 1.0 or written.scale == found.scale == 1.0:
        return " ".join(filter(None, [number, unit_words(found)]))
    if found.scale == 1.0:
        return number
    return " ".join([_WRITTEN_SCALE.sub("", number).strip(), unit_words(found)])


def other_scale(value: ProvedValue, found: Value) -> list[str]:
    """A doubt where a number was read with a scale in words, and its page has another one or none."""
    written = read_written(value.printed)
    if written is None or written.scale in (1.0, found.scale):
        return []
    own = f"in {unit_words(found)}" if found.scale != 1.0 else "without a scale"
    return [f"{value.name} was read as {value.printed.strip()}; its page has it {own}"]


def unit_words(value: Value) -> str:
    """
    >>> unit_words(Value(5.0, unit="USD", scale=1e6)), unit_words(Value(0.5, unit="ratio"))
    ('million USD', '')
    """
    unit = None if value.unit in SHARES else value.unit
    return " ".join(filter(None, [_SCALE_NAMES.get(value.scale), unit]))


def in_named_scale(value: Value) -> Value:
    """A computed number whose scale has no name, such as a millionth, in plain units."""
    if value.scale in (1.0, *_SCALE_NAMES) or not isinstance(value.value, int | float):
        return value
    return replace(value, value=value.value * value.scale, scale=1.0)


def computed_words(value: Value, computed: Computation) -> tuple[str, str]:
    """A computed number with its unit, and what to know of it where model and pages do not agree on its scale."""
    if isinstance(value.value, str | list):
        return str(value.value), ""
    number = in_unit(value, computed)
    words = f"{number + 0.0:,.{max(0, min(computed.decimals, 6))}f}"
    unit = computed.unit.strip()
    if unit in ("%", "percent") and value.unit in SHARES and _is_difference(computed.formula):
        return f"{words} percentage points", ""
    if _POINTS.search(unit):
        return words + ("%" if unit in ("%", "percent") else f" {unit}"), ""
    said = _SCALE_WORD.search(unit)
    if value.scale != 1.0 and value.scale != (_factor(said[0]) if said else 1.0):
        own = unit_words(value)
        return (
            f"{words} {own}",
            f"{computed.what or computed.name} is in {own} by the pages, not in {unit or 'plain units'}",
        )
    unit = _SCALE_AFTER.sub(r"\2 \1", unit)
    return f"{words} {unit}".strip(), ""


def _is_difference(formula: str) -> bool:
    """Whether one value is taken from another, and not 1 from it or it from 1."""
    tree = parsed(formula).body
    if not isinstance(tree, ast.BinOp) or not isinstance(tree.op, ast.Sub):
        return False
    return not any(isinstance(side, ast.Constant) for side in (tree.left, tree.right))


def _again(unit: str, after: str) -> bool:
    """Whether the text goes on with the last word of a unit: "13 months" before " months"."""
    word = re.match(r"\s*([A-Za-z]+)", after)
    return word is not None and word[1].casefold().rstrip("s") == unit.split()[-1].casefold().rstrip("s")


def _factor(word: str) -> float:
    """
    >>> _factor(" millions"), _factor("bn")
    (1000000.0, 1000000000.0)
    """
    return SCALES.get(word.strip().lower().rstrip("s"), 1.0)


def in_unit(value: Value, computed: Computation) -> float:
    """A computed number in the unit in which it is asked for: a share as a percentage, if it is one.

    >>> in_unit(Value(0.308, unit="ratio"), Computation(name="g", what="growth", formula="(a - b) / b", unit="%"))
    30.8
    >>> in_unit(Value(3.0), Computation(name="d", what="change of a rate printed as 23", formula="a - b", unit="%"))
    3.0
    """
    number = float(value.value)  # type: ignore[arg-type]
    if _BASIS_POINTS.search(computed.unit) and _is_share(value, computed.formula):
        return round(number * 10_000, 10)
    if _POINTS.search(computed.unit) and _is_share(value, computed.formula):
        return round(number * 100, 10)
    return number


def _is_share(value: Value, formula: str) -> bool:
    """Whether a number is a plain quotient, which 100 makes a percentage."""
    tree = parsed(formula)
    products = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)]
    if any(
        isinstance(side, ast.Constant) and side.value in (100, 10_000) for p in products for side in (p.left, p.right)
    ):
        return False
    quotients = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)]
    if any(isinstance(q.right, ast.Constant) and q.right.value in (100, 10_000) for q in quotients):
        return True
    # One value over another, and not the mean of two that are printed as percentages already.
    divides = any(isinstance(node, ast.Name) for quotient in quotients for node in ast.walk(quotient.right))
    return value.unit in SHARES or (divides and value.unit is None)
