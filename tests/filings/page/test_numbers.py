"""Reading numbers as they are printed in tables and sentences."""

from __future__ import annotations

import pytest

from finexpert.errors import CellError, QuoteError
from finexpert.filings.page.numbers import read_number, read_written
from finexpert.filings.page.quotes import number_in_quote
from finexpert.filings.page.units import currency_of, ignores_scale, is_count, is_per_share, scale_of

READ = [
    ("1,234", 1234.0, None, 1.0),
    ("$ 1,234.5", 1234.5, "USD", 1.0),
    ("$ .455", 0.455, "USD", 1.0),
    ("13.4%", 0.134, "fraction", 1.0),
    ("27% ( 27 % )", 0.27, "fraction", 1.0),
    (".9% ( .9 % )", 0.009, "fraction", 1.0),
    ("( 14 ) % (  % )", -0.14, "fraction", 1.0),
    ("( 9% ( 9 % ) )", -0.09, "fraction", 1.0),
    ("( 26 )", -26.0, None, 1.0),
    ("(1,234)", -1234.0, None, 1.0),
    ("$ -26.5 ( 26.5 )", -26.5, "USD", 1.0),
    ("$ ( 2.3 )", -2.3, "USD", 1.0),
    ("\u221226", -26.0, None, 1.0),
    ("\uff11\uff12", 12.0, None, 1.0),
    ("1\u200b2", 12.0, None, 1.0),
    ("1,234\u00b2", 1234.0, None, 1.0),
    ("1,234 ( a )", 1234.0, None, 1.0),
    ("512 ( 1 )", 512.0, None, 1.0),
    ("45 [b]", 45.0, None, 1.0),
    ("2.3 million", 2.3, None, 1e6),
    ("$ 9.9 billion", 9.9, "USD", 1e9),
    ("\u20ac 5", 5.0, "EUR", 1.0),
    ("20ac95 ( approximately $ 104 )", 95.0, "EUR", 1.0),
    ("chf 7", 7.0, "CHF", 1.0),
    ("6.5 years", 6.5, "years", 1.0),
    ("1.2x", 1.2, "times", 1.0),
    ("high $ 17.84", 17.84, "USD", 1.0),
    ("$1.2bn", 1.2, "USD", 1e9),
    ("\u00a33m", 3.0, "GBP", 1e6),
    ("$12 mm", 12.0, "USD", 1e6),
    ("12m", 12.0, None, 1.0),
    ("-", 0.0, None, 1.0),
    ("$ \u2014", 0.0, None, 1.0),
]


@pytest.mark.parametrize(("text", "value", "unit", "scale"), READ, ids=[text for text, *_ in READ])
def test_a_printed_number(text: str, value: float, unit: str | None, scale: float) -> None:
    number = read_number(text)
    assert number.value == pytest.approx(value)
    assert (number.unit, number.scale) == (unit, scale)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("n/a", "missing"),
        ("nm", "missing"),
        ("--------", "missing"),
        ("nan", "missing"),
        ("*", "missing"),
        ("office space", "holds no number"),
        ("( a )", "holds no number"),
        ("12/31/07", "is a date"),
        ("december 31 , 2007", "is a date"),
        ("5.0 - 6.1%", "several numbers"),
        ("$ ( 1.5 ) to $ 9.9", "several numbers"),
        ("2010-2012", "several numbers"),
        ("9" * 400, "holds no number"),
        ("9" * 3000, "3,000 characters"),
    ],
)
def test_what_is_no_number_says_why(text: str, reason: str) -> None:
    with pytest.raises(CellError, match=reason):
        read_number(text)


def test_a_dash_and_a_second_number_leave_a_flag() -> None:
    assert read_number("-").flags == ("a dash, read as zero",)
    assert read_number("95 ( approximately $ 104 )").flags == ("the first number of '95 ( approximately $ 104 )'",)
    assert read_number("95").flags == ()


@pytest.mark.parametrize(
    ("quote", "value", "read", "scale"),
    [
        ("cash was $ 27 million and $ 50 million", "50", 50.0, 1e6),
        ("a rate of 4.1% ( 4.1 % )", "4.1%", 0.041, 1.0),
        ("a rate of 4.1 percent", "4.1%", 0.041, 1.0),
        ("margins of 5.2 and 6.1 percent", "5.2%", 0.052, 1.0),
        ("a loss of ( 26 )", "( 26 )", -26.0, 1.0),
        ("a change of -26 ( 26 ) in all", "-26", -26.0, 1.0),
        ("over three years", "three", 3.0, 1.0),
        ("sales of 5829", "5,829", 5829.0, 1.0),
        ("in 2007 , 2006 and 2005", "2006", 2006.0, 1.0),
    ],
)
def test_a_number_in_a_quote(quote: str, value: str, read: float, scale: float) -> None:
    number = number_in_quote(quote, value)
    assert number.value == pytest.approx(read)
    assert number.scale == scale


@pytest.mark.parametrize(
    ("quote", "value", "reason"),
    [
        ("in 2005 sales rose", "5", "does not stand"),
        ("sales of 1,234", "234", "does not stand"),
        ("sales of 13.4", "13.4%", "no percent sign"),
        ("sales of 26", "-26", "without a sign"),
        ("sales of 2.3 million", "2.3 billion", "another scale"),
        ("sales of 5", "about five", "not one number"),
        ("sales of 5", "", "not one number"),
        ("13.4% of sales", "0.134", "does not stand"),
    ],
)
def test_a_value_must_stand_in_its_quote(quote: str, value: str, reason: str) -> None:
    with pytest.raises(QuoteError, match=reason):
        number_in_quote(quote, value)


def test_a_percentage_read_without_its_sign_is_flagged() -> None:
    number = number_in_quote("a ratio of 57.6%", "57.6")
    assert (number.value, number.flags) == (57.6, ("a percentage in the quote, read as the plain number",))
    assert read_written("57.6%") is not None


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("( in millions )", 1e6),
        ("millions", 1e6),
        ("$ in millions", 1e6),
        ("( dollars in thousands )", 1e3),
        ("millions of dollars", 1e6),
        ("in millions of u.s . dollars", 1e6),
        ("( billions )", 1e9),
        ("( $ 000s )", 1e3),
        ("a gain of $ 5 million", None),
        ("2017", None),
        ("we sell in thousands of stores", None),
        ("in thousands of dollars", 1e3),
        ("shares in millions of shares", 1e6),
    ],
)
def test_scale_words(text: str, scale: float | None) -> None:
    assert scale_of(text) == scale


def test_currency_and_kind_words() -> None:
    assert [currency_of(t) for t in ("$ 5", "in euros", "\u00a3 5", "5")] == ["USD", "EUR", "GBP", None]
    assert [is_per_share(t) for t in ("diluted earnings per common share", "shares issued")] == [True, False]
    assert [is_count(t) for t in ("number of shares granted", "value of shares granted")] == [True, False]


@pytest.mark.parametrize(
    ("label", "ignores"),
    [
        ("weighted average exercise price", True),
        ("discount rate", True),
        ("effective tax rate ( a )", True),
        ("expected life in years", True),
        ("return on equity", True),
        ("long-term debt", False),
        ("interest rate swaps", False),
        ("purchase price of businesses", False),
        ("life insurance premiums", False),
        ("gross margin", False),
        ("tax at the statutory rate", False),
        ("statutory rate", True),
    ],
)
def test_what_is_not_in_the_scale_of_its_table(label: str, ignores: bool) -> None:
    assert ignores_scale(label) is ignores
