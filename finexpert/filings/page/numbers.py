"""Reading numbers as annual reports print them.

    >>> read_number("$ 1,234.5").value, read_number("-26 ( 26 )").value, read_number("27% ( 27 % )").value
    (1234.5, -26.0, 0.27)
    >>> read_number("$ ( 2.3 ) billion")
    Number(value=-2.3, unit='USD', scale=1000000000.0, flags=())

A percentage is a fraction here: 13.4% is 0.134. A number keeps the size it is printed in; `scale` says by how much to
multiply it for plain units. A dash is zero, with a flag; "n/a" and the like are missing, which is an error. What a
number means (its row, its year, the scale of its table) is not read here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from finexpert.errors import CellError
from finexpert.filings.page.folding import excerpt, fold

LONGEST_CELL = 2_000

_DIGITS = r"(?:[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?|\.[0-9]+)(?![0-9])"
_CURRENCY = r"us\s?\$|u\.s\.?\s?\$|c\s?\$|a\s?\$|hk\s?\$|[$\u20ac\u00a3\u00a5]|\b(?:usd|eur|gbp|jpy|chf|cad)"
_NUMBER = re.compile(
    rf"(?<![\w.,/])(?P<open>\(\s*)?(?:(?P<sign>^-\s*|(?<![\w%)])-\s?)|(?:(?<![\w%)])\+))?"
    rf"(?P<currency>(?:{_CURRENCY})\s*)?(?P<inner>\(\s*)?(?P<minus>-)?(?P<digits>(?<![\d.]){_DIGITS})"
    rf"(?P<percent>\s*%)?(?P<close>\s*\))?(?P<late>\s*(?:%|percent\b))?"
    rf"\s*(?P<scale>\b(?:thousand|million|billion|trillion)s?\b|\b(?:mm|bn)\b|(?(currency)(?<=\d)(?:m|mm|bn?|k|tn?)\b|(?!)))?"
    rf"(?P<unit>\s*-?\s*(?:years?|months?|days?|shares?|basis points|bps|points?|pts?|x)\b)?"
)
_TWICE = re.compile(rf"(?P<first>{_DIGITS})(?P<percent>\s*%)?\s*\(\s*(?P<second>{_DIGITS})\s*%?\s*\)")
_EMPTY_PERCENT = re.compile(r"(?<=%)\s*\(\s*%\s*\)")
FOOTNOTE = re.compile(
    r"(?<=[\w%)])\s*(?:\(\s*(?:[a-z]{1,2}|[0-9]{1,2})\s*\)|\[\s*\w{1,2}\s*\]|[*\u2020\u2021#]+)(?=\s|$|\))"
)
_MONTH = "jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec"
DATE = re.compile(
    rf"\b[0-9]{{1,2}}/[0-9]{{1,2}}(?:/[0-9]{{2,4}})?\b|\b(?:{_MONTH})[a-z]*\s*\.?\s*[0-9]{{1,2}}(?:\s*,?\s*[0-9]{{4}})?\b"
)
_BRACKET_REST = re.compile(r"\(.*\)")
ZERO = re.compile(r"[$\u20ac\u00a3\s(]*-{1,3}[\s)%]*")
MISSING = re.compile(
    r"[$\s]*-{4,}[\s%]*|[*#\u2020]+|[.\s]*|n\.?\s?/?\s?[am]\.?|nmnm|nan|none|not (?:applicable|meaningful|available)"
)
_MANGLED_CURRENCY = ((re.compile(r"\b20ac\s*(?=[0-9])"), "\u20ac"), (re.compile(r"\ba3\s*(?=[0-9])"), "\u00a3"))

_CURRENCIES = {"\u20ac": "EUR", "eur": "EUR", "\u00a3": "GBP", "gbp": "GBP", "\u00a5": "JPY", "jpy": "JPY", "chf": "CHF",
               "c$": "CAD", "cad": "CAD", "a$": "AUD", "hk$": "HKD"}  # fmt: skip
SCALES = {"mn": 1e6, "thousand": 1e3, "million": 1e6, "mm": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12,
          "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12, "tn": 1e12}  # fmt: skip
SCALE_WORDS = ("thousand", "million", "billion", "trillion")
_UNITS = {"year": "years", "month": "months", "day": "days", "share": "shares", "bp": "basis points",
          "basis points": "basis points", "point": "points", "pt": "points", "x": "times"}  # fmt: skip
_WORDS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
          "ten": 10, "eleven": 11, "twelve": 12}  # fmt: skip


@dataclass(frozen=True)
class Number:
    """A number that was read: `value` as printed (a percentage as a fraction), its unit and scale where printed."""

    value: float
    unit: str | None = None
    scale: float = 1.0
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Printed:
    """A number where it stands in a text: its digits, and the marks around it, not yet interpreted."""

    digits: float
    percent: bool
    minus: bool
    brackets: bool
    unit: str | None
    scale: float
    start: int
    end: int

    def number(self, *, brackets_negative: bool) -> Number:
        value = self.digits / 100 if self.percent else self.digits
        if self.minus or (brackets_negative and self.brackets):
            value = -value
        return Number(value + 0.0, "fraction" if self.percent else self.unit, self.scale)


def printed_numbers(text: str) -> Iterator[Printed]:
    """The numbers of a folded text, left to right; a number printed twice in a row ("-3 ( 3 )") comes once.

    >>> [p.digits for p in printed_numbers("$ 80 million , or 4.5% ( 4.5 % ) , in 2007")]
    [80.0, 4.5, 2007.0]
    """
    text = without_doubles(text)
    for found in _NUMBER.finditer(text):
        digits = float(found["digits"].replace(",", ""))
        if not math.isfinite(digits):
            continue
        opened = found["open"] or found["inner"]
        yield Printed(
            digits=digits,
            percent=bool(found["percent"] or found["late"]),
            minus=bool(found["sign"] or found["minus"]),
            brackets=bool(opened and found["close"]),
            unit=_unit(found["currency"], found["unit"]),
            scale=SCALES.get((found["scale"] or "").rstrip("s"), 1.0),
            start=found.start(),
            end=found.end(),
        )


def without_doubles(text: str) -> str:
    """A folded text in which a number printed twice stands once, and mangled currency signs are signs again.

    >>> without_doubles("$ -26 ( 26 ) and ( 9% ( 9 % ) )")
    '$ -26 and ( 9% )'
    """

    def once(found: re.Match[str]) -> str:
        same = float(found["first"].replace(",", "")) == float(found["second"].replace(",", ""))
        return found["first"] + (found["percent"] or "") if same else found[0]

    for pattern, sign in _MANGLED_CURRENCY:
        text = pattern.sub(sign, text)
    return _TWICE.sub(once, _EMPTY_PERCENT.sub("", text))


def read_number(text: str) -> Number:
    """The one number of a table cell.

    >>> read_number("( 14 ) % (  % )").value, read_number("1,234 ( a )").value, read_number("-").flags
    (-0.14, 1234.0, ('a dash, read as zero',))
    >>> read_number("n/a")
    Traceback (most recent call last):
        ...
    finexpert.errors.CellError: 'n/a' stands for a missing value
    """
    if len(text) > LONGEST_CELL:
        raise CellError(f"a cell of {len(text):,} characters is no number: {excerpt(text, 40)!r}")
    folded = fold(text)
    if ZERO.fullmatch(folded):
        return Number(0.0, flags=("a dash, read as zero",))
    if MISSING.fullmatch(folded):
        raise CellError(f"{excerpt(text)!r} stands for a missing value" if folded else "the cell is empty")
    plain = FOOTNOTE.sub("", without_doubles(DATE.sub(" ", folded))).strip()
    found = list(printed_numbers(plain))
    if not found:
        what = "is a date, not a number" if DATE.search(folded) else "holds no number"
        raise CellError(f"{excerpt(text)!r} {what}")
    flags = _remarks(plain, found, text)
    read = found[0].number(brackets_negative=True)
    return Number(read.value, read.unit, read.scale, flags)


def read_written(text: str) -> Printed | None:
    """The number that a person or a model wrote by itself, such as "13.4%", "$ 2.3 million" or "three"; else None.

    >>> read_written("three").digits, read_written("( 26 )").brackets, read_written("about")
    (3.0, True, None)
    """
    folded = fold(text[:LONGEST_CELL])
    found = list(printed_numbers(folded))
    if len(found) == 1:
        return found[0]
    if not found and folded in _WORDS:
        return Printed(float(_WORDS[folded]), False, False, False, None, 1.0, 0, len(folded))
    return None


def _remarks(plain: str, found: list[Printed], text: str) -> tuple[str, ...]:
    """Flags for what else stands in the cell; an error when it is a second number on the same footing."""
    rest = (plain[: found[0].start] + " " + plain[found[0].end :]).strip(" ,;:()")
    if len(found) > 1:
        if not _BRACKET_REST.fullmatch(plain[found[0].end :].strip()):
            numbers = ", ".join(plain[p.start : p.end].strip() for p in found[:4])
            raise CellError(f"{excerpt(text)!r} holds several numbers: {numbers}")
        return (f"the first number of {excerpt(text)!r}",)
    return (f"the number of {excerpt(text)!r}",) if re.search(r"[a-z]", rest) else ()


def _unit(currency: str | None, word: str | None) -> str | None:
    if currency:
        sign = re.sub(r"[\s.]", "", currency)
        return _CURRENCIES.get(sign, "USD")
    if word:
        word = word.strip(" -")
        return _UNITS.get(word, _UNITS.get(word.rstrip("s")))
    return None
