"""A value of a page as it is asked for: never in a unit that its page does not print."""

from __future__ import annotations

from typing import Any

import pytest

from finexpert.core.answers import AnswerFormat, show
from finexpert.core.workspace import Value
from finexpert.errors import AnswerFormatError
from finexpert.plans.pages.typed import typed
from finexpert.plans.pages.wording import unit_words

MILLIONS = Value(1234.0, unit="USD", scale=1e6)
SHARE = Value(0.134, unit="fraction")


@pytest.mark.parametrize(
    ("value", "wanted", "shown"),
    [
        (MILLIONS, None, "1,234.00 million USD"),
        (MILLIONS, AnswerFormat(), "1,234.00 million USD"),
        (MILLIONS, AnswerFormat(unit="USD"), "1,234,000,000.00 USD"),
        (MILLIONS, AnswerFormat(unit="million dollars"), "1,234.00 million dollars"),
        (MILLIONS, AnswerFormat(unit="$ billions"), "1.23 $ billions"),
        (MILLIONS, AnswerFormat(kind="integer"), "1,234 million USD"),
        (MILLIONS, AnswerFormat(kind="text"), "1,234.00 million USD"),
        (MILLIONS, AnswerFormat(kind="list"), "1,234.00 million USD"),
        (SHARE, None, "0.13400"),
        (SHARE, AnswerFormat(unit="percent"), "13.40 percent"),
        (SHARE, AnswerFormat(unit="bps"), "1,340.00 bps"),
        (Value(5.0), AnswerFormat(unit="USD"), "5.00 USD"),
        (Value(2017.0), AnswerFormat(kind="year"), "2017"),
        (Value("yes"), AnswerFormat(kind="boolean"), "yes"),
        (Value([1.0, 2.0], unit="USD", scale=1e3), AnswerFormat(kind="list", unit="USD"), "1,000.00, 2,000.00 USD"),
    ],
)
def test_a_value_is_shown_in_the_unit_that_it_has(value: Value, wanted: AnswerFormat | None, shown: str) -> None:
    made = typed(value, wanted)
    assert (show(made.value, made.format), made.notes) == (shown, [])
    # A record keeps the format: computed again, the same comes out.
    assert typed(value, made.format).value == made.value


@pytest.mark.parametrize(("value", "unit"), [(MILLIONS, "million USD"), (SHARE, None)], ids=["amount", "share"])
def test_another_unit_than_the_pages_is_said(value: Value, unit: str | None) -> None:
    made = typed(value, AnswerFormat(unit="tons"))
    assert (made.value, made.format.unit) == (value.value, unit)
    assert "asked for in tons" in made.notes[0]


@pytest.mark.parametrize("kind", ["date", "boolean", "table"])
def test_what_is_not_of_the_type_is_refused(kind: Any) -> None:
    with pytest.raises(AnswerFormatError):
        typed(MILLIONS, AnswerFormat(kind=kind))


def test_a_trillion_is_no_unit() -> None:
    assert unit_words(Value(2.3, unit="USD", scale=1e12)) == "trillion USD"
    assert typed(Value(2.3, unit="USD", scale=1e12), None).format.unit == "trillion USD"
