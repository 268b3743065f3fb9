"""Which questions hold a word that has to be looked up: the packaged questions, and plain and invented ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from finexpert.datasets.fred.database import open_fred
from finexpert.knowledge.plain_words import FILE, plain_words, unfamiliar
from finexpert.text.terms import words_of

QUESTIONS = Path(__file__).with_name("plain_words_questions.txt")
FRED = Path(__file__).parents[2] / "datasets" / "questions" / "fred.jsonl"


def questions(section: str) -> list[str]:
    """The questions of a section; "list" ones were seen while the list was written, "measured" ones were not."""
    blocks = re.split(r"(?m)^\[(.+)\]\n", QUESTIONS.read_text("utf-8"))
    return dict(zip(blocks[1::2], blocks[2::2], strict=True))[section].splitlines()


@pytest.fixture(scope="module")
def schema_words(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The words of the schema card of the sample economy, as keyword rephrasing takes them."""
    from finexpert.settings import Settings

    with open_fred(settings=Settings(home=tmp_path_factory.mktemp("home"))) as warehouse:
        return frozenset(re.findall(r"[^\W\d_]+", warehouse.schema_card().casefold()))


def packaged() -> list[str]:
    return [json.loads(line)["question"] for line in FRED.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("question", packaged())
def test_packaged_questions_hold_nothing_to_look_up(question: str, schema_words: frozenset[str]) -> None:
    assert unfamiliar(question, schema_words) == []


@pytest.mark.parametrize("question", questions("plain, list"))
def test_plain_questions_hold_nothing_to_look_up(question: str, schema_words: frozenset[str]) -> None:
    assert unfamiliar(question, schema_words) == []


@pytest.mark.parametrize("question", questions("house, list"))
def test_invented_terms_are_noticed(question: str, schema_words: frozenset[str]) -> None:
    assert unfamiliar(question, schema_words)


def test_measured_questions_are_told_apart(schema_words: frozenset[str]) -> None:
    plain, house = questions("plain, measured"), questions("house, measured")
    assert len(plain) == len(house) == 30
    assert sum(not unfamiliar(question, schema_words) for question in plain) >= 28
    assert sum(bool(unfamiliar(question, schema_words)) for question in house) >= 29


@pytest.mark.parametrize(
    ("text", "known", "found"),
    [
        ("Is the stress-months' average up?", (), ["stress"]),
        ("Is the stress months' average up?", ("Stress Month",), []),
        ("How many STRESS months?", ("stress",), []),
        ("What is our inflation rate?", (), ["our inflation rate"]),
        ("What is our measure of inflation?", ("inflation",), ["our measure of"]),
        ("What were our stress months?", ("stress month",), []),
        ("Take it from our data.", (), []),
        ("What does the desk's spread say?", (), ["desk spread say", "desk"]),
        ('How many "rate months" were there?', (), ["rate month"]),
        ("How many \u201clong runs\u201d were there?", (), ["long run"]),
        ("What was the index 'Core CPI' in 2020?", ("core", "cpi"), []),
        ("What is the Blue Line now?", (), ["blue line", "blue"]),
        ("What is the Long Rate Index now?", (), ["long rate index"]),
        ("What Was The Average Unemployment Rate In 2009?", (), []),
        ("How did the Federal Reserve react to the Dow Jones?", (), ["react"]),
        ("What was inflation year over year?", (), []),
        ("What was inflation month by month?", (), []),
        ("How many inflation months were there?", (), ["inflation month"]),
        ("Were there turning points?", (), ["turning"]),
        ("Did it turn?", (), []),
        ("From Q2 2020, FY2021, 50bp, the 1990s, the 20th, 3m, M2, 2s10s, 20,000.5 and 10%", (), []),
        ("I'd say it didn't, what's yours?", (), []),
        ("", (), []),
        ("?!", (), []),
    ],
)
def test_cases(text: str, known: tuple[str, ...], found: list[str]) -> None:
    assert unfamiliar(text, known) == found


# What a house calls its own must never become plain by an entry that is added for another sense of the word.
@pytest.mark.parametrize(
    "word",
    [
        "stress", "desk", "regime", "alert", "hot", "cold", "calm", "quiet", "heavy", "trimmed", "core", "tight",
        "loose", "squeeze", "pressure", "turning", "momentum", "signal", "watch", "crunch", "cushion", "drift",
        "pulse", "shock", "soft", "hard", "flash", "amber", "red", "green", "good", "bad", "weak", "normal",
    ],
)  # fmt: skip
def test_words_that_houses_use_are_not_plain(word: str) -> None:
    assert unfamiliar(f"the {word} ones") == [word]


def test_the_list_is_well_formed() -> None:
    plain = plain_words()
    assert len(plain.words) > 1000
    assert plain.nouns <= plain.words
    assert plain.periods <= plain.words
    assert all(" " in phrase for phrase in plain.phrases)
    text = "".join(line for line in FILE.read_text("utf-8").splitlines(keepends=True) if not line.startswith("#"))
    assert text == text.lower()


def test_cost(schema_words: frozenset[str], soon: Any) -> None:
    asked = packaged()
    known = schema_words | {f"term{number}" for number in range(1000)}
    unfamiliar(asked[0], known)

    def look() -> None:
        for question in asked:
            unfamiliar(question, known)

    # A bound for a loaded machine; about a quarter of a millisecond on an idle one.
    soon(0.01 * len(asked), look)


def test_words_in_files_are_folded_as_questions_are() -> None:
    assert set(words_of("indices crises yields")) == {"index", "crisis", "yield"}
