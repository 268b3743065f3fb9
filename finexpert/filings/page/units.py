"""In which currency and scale the numbers of a table are.

    >>> scale_of("( in millions , except per share amounts )"), currency_of("dollars in thousands")
    (1000000.0, 'USD')

Read from the words around a number: its cell, its header, the corner of the table, the sentence before it. Where nothing
is said the scale is 1 and the currency None.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from finexpert.filings.page.folding import fold
from finexpert.filings.page.numbers import SCALES, Number
from finexpert.filings.page.table import PageTable

_SENTENCES_NEAR_TABLE = 3
_YEARS = range(1900, 2101)
_LONGEST_NOTE = 90
_BRACKETS = re.compile(r"\([^()]*\)")

_SCALE = re.compile(
    r"(?:\b(?:in|of)\s+(?:[$\u20ac\u00a3]\s*|u\.?s\.?\s*)?|\(\s*(?:[$\u20ac\u00a3]\s*)?|^(?:[$\u20ac\u00a3]\s*)?|[$\u20ac\u00a3]\s*|dollars\s+)"
    r"(thousand|million|billion|mm\b|bn\b)(?:s\b(?!\s+of\s+(?!u\.?s\.?|dollars|euros|yen|pounds|shares|[$\u20ac\u00a3]))"
    r"|\b(?=\s*(?:\)|$|,|of\s+(?:u\.?s\.?\s*)?(?:dollars|euros|yen|pounds))))"
)
_SCALE_ALONE = re.compile(r"(?:thousand|million|billion|mm|bn)s?\b(?!\s+of\b)")
_THOUSANDS = re.compile(r"[$(]\s*000\s*'?s?\b|\bin\s+000\s*'?s\b")
_CURRENCIES = (
    ("USD", re.compile(r"\$|\bu\.?s\.?\s*dollars?\b|\bdollars?\b|\busd\b")),
    ("EUR", re.compile(r"\u20ac|\beuros?\b|\beur\b")),
    ("GBP", re.compile(r"\u00a3|\bpounds? sterling\b|\bgbp\b")),
    ("JPY", re.compile(r"\u00a5|\byen\b|\bjpy\b")),
)
_UNSCALED = re.compile(
    r"per\s+\w*\s*share|pershare|\bper (?:unit|day|barrel|gallon|ton|customer)\b|%|\bpercent|\bratio\b|\bvolatility\b|\byield\b"
    r"|\b(?:exercise|stock|share|average|closing|market|purchase) price\b(?! of)|\brates?\s*(?:$|of\b|\()|(?<!actual )\breturn on\b"
    r"|\b(?:expected|average|contractual|remaining|useful) (?:term|life|lives)\b|\bin years\b|(?<!\bto )(?<!\bfrom )\bemployees\b"
)
_COUNTED = re.compile(
    # What comes from customers or goes to employees is money.
    r"\bshares\b|\bnumber of\b|\bunits\b|\boptions\b|\bbarrels\b"
    r"|(?<!\bto )(?<!\bfrom )(?<!\bwith )(?<!\bby )(?<!\bdue )\b(?:employees|stores|customers)\b"
)
_KIND_OF_SHARE = r"(?:(?:common|ordinary|diluted|basic|preferred|depositary|american|class [a-c])\s+)*"
# The mark of a footnote may follow at once: "Adjusted EPS1,4".
_PER_SHARE = re.compile(rf"per\s*{_KIND_OF_SHARE}(?:share|ads|adr)\b|\b(?:eps|dps)(?![a-z])")
# What is excepted from a scale: amounts per share, and only where they are named, counts of shares too.
_PER_SHARE_DATA = re.compile(r"per[\s-]*(?:common\s*)?share(?:\s*(?:data|amounts?|information|figures))?")
_EXCEPTS_COUNTS = re.compile(r"\bexcept\b.*\bshares?\b")
# A row may be called by the rate of a loan, of which the amount stands in it.
_A_RATE = re.compile(r"[\d.,]+\s*%(?:\s*\(\s*\w\s*\))?")
_AMOUNT_IN_LABEL = re.compile(r"\([^()]*\d[^()]*\)")
_LARGEST_PER_SHARE = 1000
_MONEY = re.compile(r"value|price|proceeds|cost|expense|income|amount|revenue|sales|\$|dollar|dividends|paid")


def scale_of(text: str) -> float | None:
    """By how much the numbers under this header are to be multiplied; None where it does not say."""
    folded = fold(text)
    if found := _SCALE.search(folded):
        return SCALES[found[1]]
    return 1e3 if _THOUSANDS.search(folded) else None


def scale_of_label(text: str) -> float | None:
    """As `scale_of` of the label of a row: a word alone, "billion", is the rest of a broken line and says no scale.

    >>> scale_of_label("billion"), scale_of_label("net sales ( millions )"), scale_of_label("sales in thousands")
    (None, 1000000.0, 1000.0)
    """
    return None if _SCALE_ALONE.match(fold(text)) else scale_of(text)


def currency_of(text: str) -> str | None:
    folded = fold(text)
    return next((name for name, pattern in _CURRENCIES if pattern.search(folded)), None)


def is_per_share(*labels: str) -> bool:
    """Whether one of the labels speaks of an amount per share.

    >>> is_per_share("diluted earnings per share", "2017"), is_per_share("shares issued")
    (True, False)
    >>> is_per_share("Adjusted EPS (diluted)1,4"), is_per_share("loss per American depositary share"), is_per_share("steps")
    (True, True, False)
    >>> is_per_share("net sales ( in millions, except per share data )", "dividends ($0.88 per share)")
    False
    """
    return any(_PER_SHARE.search(_without_exceptions(label)) for label in labels)


def ignores_scale(*labels: str) -> bool:
    """Whether a number so labelled is not in the scale of its table: prices, rates, percentages, years.

    >>> ignores_scale("effective rate", "2017"), ignores_scale("4.65%", "principal")
    (True, False)
    """
    said = [_without_exceptions(label) for label in labels if not _A_RATE.fullmatch(fold(label))]
    return any(_UNSCALED.search(label) or _PER_SHARE.search(label) for label in said)


def _without_exceptions(label: str) -> str:
    """A folded label without what it excepts, "in millions, except per share data", an amount or a rate that it tells in passing."""
    return re.sub(r"\bexcept\b[^():;|]*|\bat\b[^():;|]*\brates?\b", "", _AMOUNT_IN_LABEL.sub("", fold(label)))


def is_count(*labels: str) -> bool:
    """Whether a number so labelled counts things and is no money."""
    return any(
        _COUNTED.search(folded := _AMOUNT_IN_LABEL.sub("", fold(label))) and not _MONEY.search(folded)
        for label in labels
    )


def first_scale(texts: Sequence[str]) -> float:
    """The scale that the first of the texts which names one names; else 1."""
    return next((scale for text in texts if (scale := scale_of(text))), 1.0)


class TableUnits:
    """Currency and scale of the cells of one table; what holds for the whole table is found once."""

    def __init__(self, table: PageTable, pre_text: Sequence[str]) -> None:
        self._table = table
        self._pre_text = pre_text

    def of(self, number: Number, column: int, labels: Sequence[str], own: str = "") -> tuple[str | None, float]:
        """Unit and scale of a number, from what its cell says, then its row and column, then the whole table.

        `labels` are the names of its row and its column, `own` is that of the row without its section.
        """
        if number.unit == "fraction":
            return "fraction", 1.0
        if (
            own
            and not is_per_share(own)
            and isinstance(number.value, float)
            and abs(number.value) >= _LARGEST_PER_SHARE
        ):
            # "Market and per common share data" heads amounts of both kinds.
            labels = [own, *labels[1:]] if is_per_share(labels[0]) else labels
        plain, count = ignores_scale(*labels), is_count(*labels)
        said = scale_of(labels[1]) or scale_of_label(labels[0]) or 1.0
        scale = number.scale if number.scale != 1.0 or plain else said
        if scale == 1.0 and not plain and not (self._scale_of_money and count):
            scale = self._scale
        unit = number.unit
        if unit is None and count:
            unit = "shares" if any("shares" in label.casefold() for label in labels) else None
        elif unit is None and not plain:
            unit = self._currencies[column]
        if is_per_share(*labels):
            money = unit if unit and unit != "shares" else self._currencies[column] or "USD"
            unit = f"{money} per share"
        return unit, scale

    def of_words(self, number: Number, words: str) -> float:
        """The scale of a number that is quoted from the table in words, with the row that it stands in."""
        label = re.split(r"\d", words, maxsplit=1)[0]
        year = number.unit is None and number.value in _YEARS
        if number.scale != 1.0 or number.unit == "fraction" or year or ignores_scale(label):
            return number.scale
        if said := scale_of_label(label):
            return said
        return 1.0 if self._scale_of_money and is_count(label) else self._scale

    @cached_property
    def _notes(self) -> list[str]:
        """The words that speak of the whole table: its corner, its headers, the sentences before it."""
        header = self._table.rows[: max(self._table.header_rows, 1)]
        corner = [row[0] for row in header if row]
        rest = [" ".join(row[1:]) for row in header] if self._table.header_rows else []
        return [note[-500:] for note in (*corner, *rest, *reversed(self._pre_text[-_SENTENCES_NEAR_TABLE:]))]

    @cached_property
    def scale_note(self) -> str:
        """The words that say the scale of the whole table, without those around them; empty where none do."""
        note = next((note for note in self._notes if scale_of(note)), "")
        inner = [found for found in _BRACKETS.findall(note) if scale_of(found)]
        return inner[0] if inner else note if len(note) <= _LONGEST_NOTE else ""

    @cached_property
    def _scale(self) -> float:
        return first_scale(self._notes)

    @cached_property
    def _scale_of_money(self) -> bool:
        """Whether the scale is that of amounts of money alone, and not of counts.

        So it is of "in millions, except share and per share data", and not of "in millions, except per share data".
        """
        notes = [_PER_SHARE_DATA.sub("", fold(note)) for note in self._notes if scale_of(note)]
        return any("dollar" in note or "$" in note or _EXCEPTS_COUNTS.search(note) for note in notes)

    @cached_property
    def _currencies(self) -> list[str | None]:
        """The currency of each column: that of a cell in it, else that of the header."""
        header = next((c for note in self._notes[:4] if (c := currency_of(note))), None)
        found: list[str | None] = []
        for column in range(self._table.width):
            cells = (row[column] for row in self._table.rows[self._table.header_rows :] if len(row) > column)
            found.append(next((c for cell in cells if (c := currency_of(cell[:40]))), header))
        return found
