"""The answer of a reading that was carried out: a number with its unit, words, or a list; the same at every replay.

made = answer_of(reading, carried)
made.value, made.unit                            # 34.6, "%"
typed_answer(reading, carried, AnswerFormat(kind="boolean"))      # True, of an answer that begins with yes
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from finexpert.core.answers import AnswerFormat, Citation
from finexpert.core.workspace import Value
from finexpert.filings.records import LibraryPage
from finexpert.plans.pages.page import period_of
from finexpert.plans.pages.printed import words_of
from finexpert.plans.pages.proved import Reading
from finexpert.plans.pages.reading import CarriedOut, FindPage
from finexpert.plans.pages.typed import NUMBERS, converted
from finexpert.plans.pages.wording import in_unit, unit_words

_DECIMALS = re.compile(r"\.(\d+)")


@dataclass(frozen=True)
class Made:
    """A value with its unit, and what was left out of it."""

    value: Any
    unit: str | None = None
    notes: list[str] = field(default_factory=list)


def answer_of(reading: Reading, carried: CarriedOut) -> Made:
    """The number that the reading names as its result, the items of a list that stand in quotes, or the answer's words."""
    value = carried.values.get(reading.result)
    if reading.kind == "number" and value is not None and isinstance(value.value, int | float):
        return _number(reading, carried, value, float(value.value))
    if reading.kind == "list" and reading.items:
        return _items(reading, carried)
    return Made(carried.text)


def citations_of(reading: Reading, carried: CarriedOut, page: FindPage) -> tuple[Citation, ...]:
    """Where the reading's numbers and words stand, in the order of `Reading.cites`."""
    numbers = [
        _citation(page(each.page), each.quote, each.printed, _tag(carried.values.get(each.name)))
        for each in reading.values
    ]
    return *numbers, *(_citation(page(each.page), each.quote, each.says) for each in reading.statements)


def decimals_of(reading: Reading) -> int | None:
    """How many decimals the result has: those asked for where it is computed, its own where a page prints it."""
    computed = (each.decimals for each in reading.computed if each.name == reading.result)
    printed = (_DECIMALS.search(each.printed) for each in reading.values if each.name == reading.result)
    return next(computed, next((len(found[1]) if found else 0 for found in printed), None))


def typed_answer(reading: Reading, carried: CarriedOut, wanted: AnswerFormat) -> Any:
    """The answer as the type that is wanted; AnswerFormatError where it is none. A yes or no is its first word."""
    made = answer_of(reading, carried)
    value = made.value
    if wanted.kind in NUMBERS and isinstance(value, float):
        value = converted(value, made.unit, wanted.unit)[0]
    elif wanted.kind == "boolean":
        word = carried.text.strip().split(" ")[0].strip(".,:;").casefold()
        value = {"yes": True, "no": False}.get(word, value)
    elif wanted.kind == "text" and not isinstance(value, str):
        value = carried.text
    elif wanted.kind == "list" and isinstance(value, str):
        value = reading.items or [value]
    return wanted.coerce(value)


def printed_format(reading: Reading, carried: CarriedOut, wanted: AnswerFormat) -> tuple[AnswerFormat, list[str]]:
    """The format that was asked for, with the unit that its number is in; a note where that is another than the one asked for."""
    made = answer_of(reading, carried)
    if wanted.kind not in NUMBERS or not isinstance(made.value, float):
        return wanted, []
    _, unit, note = converted(made.value, made.unit, wanted.unit)
    return wanted.model_copy(update={"unit": unit}), [note] if note else []


def _tag(value: Value | None) -> str | None:
    return next((citation.tag for citation in value.citations), None) if value else None


def _citation(page: LibraryPage, quote: str, said: str, tag: str | None = None) -> Citation:
    return Citation(
        source=page.label,
        place=quote,
        value=said,
        company=page.company or page.ticker,
        period=period_of(page),
        page=page.id,
        tag=tag,
    )


def _number(reading: Reading, carried: CarriedOut, value: Value, number: float) -> Made:
    """The number in the unit asked for, and this unit."""
    computed = next((each for each in reading.computed if each.name == reading.result), None)
    if computed is not None:
        words = carried.shown[reading.result]
        unit = words.partition(" ")[2].strip() or ("%" if words.endswith("%") else "")
        return Made(in_unit(value, computed), unit or None)
    if value.unit == "fraction":
        return Made(round(number * 100, 10), "%")
    return Made(number, unit_words(value) or None)


def _items(reading: Reading, carried: CarriedOut) -> Made:
    """The items that stand in a quote; the others are dropped and said."""
    quoted = set(words_of(" ".join(quote for _, quote in reading.cited)))
    kept = [item for item in reading.items if set(words_of(item)) & quoted]
    left_out = [f"left out: {item!r} stands in no quote" for item in reading.items if item not in kept]
    return Made(kept or [carried.text], notes=left_out)
