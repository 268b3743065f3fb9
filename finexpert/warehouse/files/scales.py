"""What the lines above a table say of its numbers: that they are in thousands, and of which currency.

A title is a stranger's text, and does not go to a model; what it says of the scale does, in words of this file.
"""

from __future__ import annotations

import re

_CURRENCIES = "USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|BRL|KRW|SGD|HKD|ZAR|MXN"
_SIGN = rf"({_CURRENCIES}|US\$|Rs\.?|[$€£¥₹])"
_WORDS = {
    "thousands": r"['\u2019\u2018]?000s?|thousands?|tsd|tausend|milliers|k",
    "millions": r"millions?|mio|mill|mn|mm|m|millionen",
    "billions": r"billions?|mrd|bn|milliarden|milliards",
    "lakhs": r"lakhs?|lacs?",
    "crores": r"crores?|cr",
}
_SCALES = {
    scale: re.compile(rf"\b(in|en)\s+({_SIGN}\s*)?({words})\b|{_SIGN}\s*({words})\b|\b({words})\.?\s+(of\s+)?{_SIGN}", re.IGNORECASE)
    for scale, words in _WORDS.items()
}  # fmt: skip
_IN_SHORT = re.compile(r"\b[Tk](EUR|€|CHF|USD|\$)")
_CODE = re.compile(rf"\b({_CURRENCIES})\b")


def scale_of(text: str) -> str:
    """What a text says of the numbers below it, or nothing.

    >>> scale_of("Balance sheet (in thousands of USD)"), scale_of("Angaben in Mio. EUR"), scale_of("Report of May")
    ('a line above the table says: in thousands, USD', 'a line above the table says: in millions, EUR', '')
    >>> scale_of("\\u20ac\\u2019000")
    'a line above the table says: in thousands'
    """
    found = [scale for scale, pattern in _SCALES.items() if pattern.search(text)]
    if _IN_SHORT.search(text) and "thousands" not in found:
        found.append("thousands")
    if not found:
        return ""
    codes = sorted(set(_CODE.findall(text)))
    return f"a line above the table says: in {' and '.join(found)}{''.join(f', {code}' for code in codes)}"
