"""When two spellings are the same term, and which terms stand in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finexpert.text.terms import normalise, phrases_in, spans_in, words_of

TEXT = st.text(max_size=60)
WORD = st.sampled_from(
    ["stress", "month", "Months", "oil", "turmoil", "the", "a", "of", "Core", "CPI", "10-year", "desk's", "indices"]
)
PHRASE = st.lists(WORD, min_size=1, max_size=4).map(" ".join)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Stress Months'", "stress month"),
        ("stress-month", "stress month"),
        ("stress_month", "stress month"),
        ("  The  STRESS month ", "stress month"),
        ("the month's stress", "month stress"),
        ("the months\u2019 stress", "month stress"),
        ("share of the months", "share of month"),
        ("U.S. yields", "us yield"),
        ("G.D.P.", "gdp"),
        ("S&P 500", "s p 500"),
        ("20,000 boxes", "20000 box"),
        ("2.5% moves", "2.5 move"),
        ("recoveries, crises and indices", "recovery crisis and index"),
        ("zombies", "zomby"),
        ("zombie", "zomby"),
        ("losses", "loss"),
        ("news series basis surplus", "news series basis surplus"),
        ("Series A", "series a"),
        ("the", "the"),
        ("Stra\u00dfe", "strasse"),
        ("\uff23\uff30\uff29", "cpi"),
        ("", ""),
        ("?! - '", ""),
    ],
)
def test_normalise(text: str, term: str) -> None:
    assert normalise(text) == term


@pytest.mark.parametrize(
    ("text", "names", "found"),
    [
        ("How deep were the stress months?", ["stress month"], ["stress month"]),
        ("How deep was the stress-month?", ["stress month"], ["stress month"]),
        ("the Stress Months' mean", ["stress month"], ["stress month"]),
        ("turmoil boils in the soil", ["oil"], []),
        ("Oil, that is: crude oil", ["oil", "crude oil"], ["crude oil", "oil"]),
        ("crude oil only", ["oil", "crude oil"], ["crude oil"]),
        ("real GDP growth rate", ["real gdp growth", "growth rate"], ["real gdp growth"]),
        ("the growth of the real GDP", ["growth of real gdp"], ["growth of real gdp"]),
        ("a series A round", ["series a"], ["series a"]),
        ("stressmonth", ["stress month"], []),
        ("month of stress", ["stress month"], []),
        ("stress month", [], []),
        ("", ["stress"], []),
        ("stress stress stress", ["stress"], ["stress"]),
    ],
)
def test_phrases_in(text: str, names: list[str], found: list[str]) -> None:
    assert phrases_in(text, names) == found
    assert phrases_in(text, frozenset(names)) == found


@given(TEXT | PHRASE)
def test_a_key_is_its_own_key(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(PHRASE, PHRASE, PHRASE)
def test_a_name_that_stands_in_a_text_is_found(before: str, name: str, after: str) -> None:
    key = normalise(name)
    assert phrases_in(f"{before} {name} {after}", {key}) == [key]


@given(st.lists(PHRASE, max_size=6), st.lists(PHRASE, max_size=6).map(" ".join))
def test_what_is_found_stands_in_the_text_and_overlaps_nothing(names: list[str], text: str) -> None:
    words = words_of(text)
    spans = spans_in(words, {normalise(name) for name in names})
    assert all(normalise(" ".join(words[start:end])) == name for start, end, name in spans)
    places = [place for start, end, _ in spans for place in range(start, end)]
    assert len(places) == len(set(places))
    assert phrases_in(text, {normalise(name) for name in names}) == list(dict.fromkeys(name for _, _, name in spans))


@given(TEXT, st.text(alphabet="-_ ,;\u2019'", max_size=5))
def test_punctuation_around_a_text_changes_nothing(text: str, around: str) -> None:
    assert normalise(f"{around} {text} {around}") == normalise(text)
