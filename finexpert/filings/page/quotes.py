"""Quoted words: whether they stand in a page, and which number of them is meant.

    >>> page = QuotedPage(["in 2007 , cash received was $ 27 million and $ 50 million , a rise of 4.5% ( 4.5 % ) ."])
    >>> page.holds("Cash received was $27 million")
    True
    >>> number_in_quote("cash received was $ 27 million and $ 50 million", "$ 50")
    Number(value=50.0, unit='USD', scale=1000000.0, flags=())

White space, case, tokenisation, punctuation and mangled apostrophes and quotation marks do not count; words and digits do. An ellipsis
stands for left-out text. Nothing is compared by likeness: what is not there is an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from rapidfuzz import fuzz, process

from finexpert.errors import QuoteError
from finexpert.filings.page.folding import excerpt, fold
from finexpert.filings.page.numbers import Number, Printed, printed_numbers, read_written, without_doubles

LONGEST_QUOTE = 4_000
_GROUPED = re.compile(r"(?<=\d)\s*,\s*(?=\d{3}(?!\d))")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)(?!\.\d)[^\w]+(?=\d)")
_NOISE = re.compile(r"(?<!\d)\.|\.(?!\d)|[^\w.|]|_")
_MANGLED = re.compile(
    r"(?<=[a-z.])\s*2019(?=(?:s|t|re|ll|ve|d|m)\b)|(?<=[a-z])2019(?=\s|$)|201[cd]|(?<=s)\s2019(?=\s(?!,))"
)
_DASH_WORD = re.compile(r"(?<=[a-z)])\s*(?:\s-+\s|\b201[34]\b)\s*(?=[a-z(])")
_ROW_MARK = re.compile(r"(?:^|(?<=[\s|]))[rc]\d{1,5}\s*[:=]\s*|\s\|\s")
_ELLIPSIS = re.compile(r"\s*(?:\[\s*)?\.\s?\.\s?\.+(?:\s*\])?\s*")


class QuotedPage:
    """The text of a page, spelled so that quotes can be looked up in it."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = pieces

    @cached_property
    def _spellings(self) -> tuple[str, str]:
        folded = without_doubles(fold(" ".join(self.pieces)))
        return _squeeze(folded), _squeeze(_demangle(folded))

    def holds(self, quote: str) -> bool:
        return self.count(quote) > 0

    def count(self, quote: str) -> int:
        """How often the quoted words stand in the page; the least of the parts where the quote has an ellipsis."""
        folded = fold(quote[:LONGEST_QUOTE])
        return self._count(folded) or self._count(_ROW_MARK.sub(" ", folded))

    def _count(self, folded: str) -> int:
        parts = [part for part in _ELLIPSIS.split(without_doubles(folded).strip(" \"'")) if _squeeze(part)]
        if not parts:
            return 0
        plain, demangled = self._spellings
        found = _count_in_order(plain, [_squeeze(part) for part in parts])
        return found or _count_in_order(
            demangled, [squeezed for part in parts if (squeezed := _squeeze(_demangle(part)))]
        )

    def nearest(self, quote: str) -> str | None:
        """The sentence of the page that is most like a quote, for an error message."""
        wanted = fold(quote[:400])
        found = process.extractOne(wanted, [fold(p[:1_000]) for p in self.pieces[:400]], scorer=fuzz.partial_ratio)
        return excerpt(self.pieces[found[2]], 200) if found and found[1] >= 60 else None


def number_in_quote(quote: str, value: str) -> Number:
    """The number of a quote that was written as `value`; its scale and currency come from the quote.

    >>> number_in_quote("the charge was ( 26 )", "( 26 )").value, number_in_quote("a rate of 4.1% ( 4.1 % )", "4.1%").value
    (-26.0, 0.040999999999999995)
    >>> number_in_quote("sales rose to 5,829", "5,735")
    Traceback (most recent call last):
        ...
    finexpert.errors.QuoteError: the value '5,735' does not stand in the quote 'sales rose to 5,829'
    """
    wanted = read_written(value)
    if wanted is None:
        raise QuoteError(f"the value {excerpt(value, 40)!r} is not one number as written in the quote")
    folded = without_doubles(_ROW_MARK.sub(" ", fold(quote[:LONGEST_QUOTE])))
    same = [printed for printed in printed_numbers(folded) if printed.digits == wanted.digits]
    if not same:
        same = _as_word(folded, value)
    if not same:
        raise QuoteError(f"the value {excerpt(value, 40)!r} does not stand in the quote {excerpt(quote)!r}")
    printed = max(same, key=lambda p: _alike(p, wanted))
    return _read(printed, wanted, folded, value)


def _read(printed: Printed, wanted: Printed, folded: str, value: str) -> Number:
    """What the value says counts (sign, percent), as long as the quote bears it out."""
    flags = []
    if wanted.percent and not printed.percent and "%" not in folded and "percent" not in folded:
        raise QuoteError(f"the value {excerpt(value, 40)!r} is a percentage, but the quote has no percent sign")
    negative = wanted.minus or wanted.brackets
    if negative and not (printed.minus or printed.brackets):
        raise QuoteError(f"the value {excerpt(value, 40)!r} is negative, but it stands without a sign in the quote")
    if wanted.scale not in (1.0, printed.scale):
        raise QuoteError(f"the value {excerpt(value, 40)!r} names another scale than the quote")
    if printed.percent and not wanted.percent:
        flags.append("a percentage in the quote, read as the plain number")
    if printed.minus and not negative:
        flags.append("stands with a minus sign in the quote, read without")
    size = printed.digits / 100 if wanted.percent else printed.digits
    unit = "fraction" if wanted.percent else printed.unit or wanted.unit
    return Number((-size if negative else size) + 0.0, unit, printed.scale, tuple(flags))


def _alike(printed: Printed, wanted: Printed) -> tuple[bool, bool, bool]:
    negative = printed.minus or printed.brackets
    return (
        printed.percent == wanted.percent,
        negative == (wanted.minus or wanted.brackets),
        printed.scale == wanted.scale,
    )


def _as_word(folded: str, value: str) -> list[Printed]:
    word = fold(value)
    found = read_written(value) if word.isalpha() and re.search(rf"\b{re.escape(word)}\b", folded) else None
    return [found] if found else []


def _squeeze(folded: str) -> str:
    """Letters and digits alone; two numbers stay apart."""
    return _NOISE.sub("", _BETWEEN_DIGITS.sub("|", _GROUPED.sub("", folded)))


def _demangle(folded: str) -> str:
    return _DASH_WORD.sub(" ", _MANGLED.sub("", folded))


def _count_in_order(page: str, parts: Sequence[str]) -> int:
    """How often the first part stands in the page; 0 unless the others follow it in order."""
    start = 0
    for part in parts:
        place = _place(page, part, start)
        if place < 0:
            return 0
        start = place + len(part)
    count, place = 0, _place(page, parts[0], 0)
    while place >= 0 and count < 10:
        count += 1
        place = _place(page, parts[0], place + len(parts[0]))
    return count


def _place(page: str, part: str, start: int) -> int:
    """Where a part stands, never beginning or ending inside a number; -1 where it does not."""
    while (place := page.find(part, start)) >= 0:
        before, after = page[place - 1 : place], page[place + len(part) : place + len(part) + 2]
        begins_inside = part[0].isdigit() and (before.isdigit() or before == ".")
        ends_inside = part[-1].isdigit() and (after[:1].isdigit() or (after[:1] == "." and after[1:2].isdigit()))
        if not begins_inside and not ends_inside:
            return place
        start = place + 1
    return -1
