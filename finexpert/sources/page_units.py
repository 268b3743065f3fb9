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

from finexpert.sources.folding import fold
from finexpert.sources.numbers import SCALES, Number
from finexpert.sources.page_table import PageTable

_SENTENCES_NEAR_TABLE = 3

_SCALE = re.compile(
    r"(?:\b(?:in|of)\s+(?:[$\u20ac\u00a3]\s*|u\.?s\.?\s*)?|\(\s*(?:[$\u20ac\u00a3]\s*)?|^(?:[$\u20ac\u00a3]\s*)?|[$\u20ac\u00a3]\s*|dollars\s+)"
    r"(thousand|million|billion|mm\b|bn\b)(?:s\b|\b(?=\s*(?:\)|$|of\s+(?:u\.?s\.?\s*)?(?:dollars|euros|yen|pounds))))"
)
_THOUSANDS = re.compile(r"[$(]\s*000\s*'?s?\b|\bin\s+000\s*'?s\b")
_CURRENCIES = (
    ("USD", re.compile(r"\$|\bu\.?s\.?\s*dollars?\b|\bdollars?\b|\busd\b")),
    ("EUR", re.compile(r"\u20ac|\beuros?\b|\beur\b")),
    ("GBP", re.compile(r"\u00a3|\bpounds? sterling\b|\bgbp\b")),
    ("JPY", re.compile(r"\u00a5|\byen\b|\bjpy\b")),
)
_UNSCALED = re.compile(
    r"per\s+\w*\s*share|pershare|\bper (?:unit|day|barrel|gallon|ton|customer)\b|%|\bpercent|\bratio\b|\bvolatility\b|\byield\b"
    r"|\b(?:exercise|stock|share|average|closing|market|purchase) price\b(?! of)|\brates?\s*(?:$|of\b|\()|\breturn on\b"
    r"|\b(?:expected|average|contractual|remaining|useful) (?:term|life|lives)\b|\bin years\b|\bemployees\b"
)
_COUNTED = re.compile(
    r"\bshares\b|\bnumber of\b|\bunits\b|\boptions\b|\bemployees\b|\bstores\b|\bbarrels\b|\bcustomers\b"
)
_MONEY = re.compile(r"value|price|proceeds|cost|expense|income|amount|revenue|sales|\$|dollar|dividends|paid")


def scale_of(text: str) -> float | None:
    """By how much the numbers under this header are to be multiplied; None where it does not say."""
    folded = fold(text)
    if found := _SCALE.search(folded):
        return SCALES[found[1]]
    return 1e3 if _THOUSANDS.search(folded) else None


def currency_of(text: str) -> str | None:
    folded = fold(text)
    return next((name for name, pattern in _CURRENCIES if pattern.search(folded)), None)


def is_per_share(*labels: str) -> bool:
    """Whether one of the labels speaks of an amount per share.

    >>> is_per_share("diluted earnings per share", "2017"), is_per_share("shares issued")
    (True, False)
    >>> is_per_share("net sales ( in millions, except per share data )", "2017")
    False
    """
    return any(
        re.search(r"per\s*(?:common |ordinary |diluted |basic )?share\b", _without_exceptions(label))
        for label in labels
    )


def ignores_scale(*labels: str) -> bool:
    """Whether a number so labelled is not in the scale of its table: prices, rates, percentages, years."""
    return any(_UNSCALED.search(_without_exceptions(label)) for label in labels)


def _without_exceptions(label: str) -> str:
    """A folded label without what it excepts: "in millions, except per share data" is no word about shares."""
    return re.sub(r"\bexcept\b[^():;|]*", "", fold(label))


def is_count(*labels: str) -> bool:
    """Whether a number so labelled counts things and is no money."""
    return any(_COUNTED.search(folded := fold(label)) and not _MONEY.search(folded) for label in labels)


def first_scale(texts: Sequence[str]) -> float:
    """The scale that the first of the texts which names one names; else 1."""
    return next((scale for text in texts if (scale := scale_of(text))), 1.0)


class TableUnits:
    """Currency and scale of the cells of one table; what holds for the whole table is found once."""

    def __init__(self, table: PageTable, pre_text: Sequence[str]) -> None:
        self._table = table
        self._pre_text = pre_text

    def of(self, number: Number, column: int, labels: Sequence[str]) -> tuple[str | None, float]:
        """Unit and scale of a number, from what its cell says, then its row and column, then the whole table.

        `labels` are the names of its row and its column.
        """
        if number.unit == "fraction":
            return "fraction", 1.0
        plain, count = ignores_scale(*labels), is_count(*labels)
        scale = number.scale if number.scale != 1.0 or plain else first_scale([labels[1], labels[0]])
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

    @cached_property
    def _notes(self) -> list[str]:
        """The words that speak of the whole table: its corner, its headers, the sentences before it."""
        header = self._table.rows[: max(self._table.header_rows, 1)]
        corner = [row[0] for row in header if row]
        rest = [" ".join(row[1:]) for row in header] if self._table.header_rows else []
        return [note[-500:] for note in (*corner, *rest, *reversed(self._pre_text[-_SENTENCES_NEAR_TABLE:]))]

    @cached_property
    def _scale(self) -> float:
        return first_scale(self._notes)

    @cached_property
    def _scale_of_money(self) -> bool:
        return any("except" in note or "dollar" in note or "$" in note for note in self._notes if scale_of(note))

    @cached_property
    def _currencies(self) -> list[str | None]:
        """The currency of each column: that of a cell in it, else that of the header."""
        header = next((c for note in self._notes[:4] if (c := currency_of(note))), None)
        found: list[str | None] = []
        for column in range(self._table.width):
            cells = (row[column] for row in self._table.rows[self._table.header_rows :] if len(row) > column)
            found.append(next((c for cell in cells if (c := currency_of(cell[:40]))), header))
        return found
