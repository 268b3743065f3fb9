"""Nothing of a cell survives in an error message, and what helps to repair stays."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finexpert.text.scrubbing import VALUE, is_type, scrub, vocabulary

_CODE = "growth = gdp.groupby('region')['Total Value'].pct_change(4)\nanswer = growth[growth.index.year == 2008].mean() * 100.0"


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("KeyError: 'Total Value'", "KeyError: 'Total Value'"),
        ("KeyError: 'Jane Doe'", "KeyError: '<value>'"),
        ("KeyError: \"['region', 'Jane'] not in index\"", 'KeyError: "<value>"'),
        ("['region', 'Jane'] not in index", "['region', '<value>'] not in index"),
        ("could not convert string to float: '48,213.75'", "could not convert string to float: '<value>'"),
        ("invalid literal for int() with base 10: 'x 7'", "invalid literal for int() with base <value>: '<value>'"),
        (
            "'>' not supported between instances of 'str' and 'int'",
            "'<value>' not supported between instances of 'str' and 'int'",
        ),
        ("'DataFrame' object has no attribute 'growth'", "'DataFrame' object has no attribute 'growth'"),
        ("cannot convert float NaN to integer", "cannot convert float NaN to integer"),
        ("division by zero", "division by zero"),
        (
            "Invalid comparison between dtype=datetime64[us] and int",
            "Invalid comparison between dtype=datetime64[us] and int",
        ),
        (
            "unsupported operand type(s) for +: 'float' and 'str'",
            "unsupported operand type(s) for +: 'float' and 'str'",
        ),
        ("can't multiply sequence by non-int of type 'float'", "can't multiply sequence by non-int of type 'float'"),
        ("Length of values (3) does not match length of index (12)", None),
        (
            'Binder Error: Referenced column "valeu" not found in FROM clause!',
            'Binder Error: Referenced column "<value>" not found in FROM clause!',
        ),
        (
            'Conversion Error: Could not convert string "Jane" to DOUBLE',
            'Conversion Error: Could not convert string "<value>" to DOUBLE',
        ),
        ("argument types 'sum(VARCHAR)'", "argument types '<value>'"),
        ("argument types 'groupby(VARCHAR, DATE)'", "argument types 'groupby(VARCHAR, DATE)'"),
        ("argument types '+(VARCHAR, JANE)'", "argument types '<value>'"),
        ("time data 2008-09-15 does not match format", "time data <value> does not match format"),
        ("index 2008 is out of bounds", "index 2008 is out of bounds"),
        ("index 2009 is out of bounds", "index <value> is out of bounds"),
        ("the value 100.0 of 100.05", "the value 100.0 of <value>"),
        ("O'Brien paid 'no'", "<value>'<value> '<value>'"),
        ("\u00dcnal \U0001f600 paid \u20ac5", "<value>"),
        ("", ""),
    ],
)
def test_messages(message: str, kept: str | None) -> None:
    scrubbed = scrub(message, [_CODE])
    if kept is None:
        assert not re.search(r"\d", scrubbed)
    else:
        assert scrubbed == kept


def test_a_part_of_a_known_number_is_not_known() -> None:
    assert scrub("row 200", ["x = 2008 + 1.200 + 200.5"]) == f"row {VALUE}"
    assert scrub("row 2008", ["x = 2008, 1"]) == "row 2008"


def test_a_quoted_span_is_known_only_as_a_whole() -> None:
    assert scrub("'Total'", ["df['Total Assets']"]) == "'Total'"
    assert scrub("'Total Debt'", ["df['Total Assets']"]) == f"'{VALUE}'"
    assert scrub("'value error'", []) == f"'{VALUE}'"


_CANARY = st.from_regex(r"\A(?:Qz[a-z]{4}|[0-9]{3,6}(?:\.[0-9]+)?|xq[A-Z]{3}_[0-9])\Z")
_AROUND = st.sampled_from(
    ["{}", "'{}'", '"{}"', "[{}, {}]", "value {}", "({})", "`{}`", "{}:{}", "not '{}' in", "can't {}"]
)


@given(st.lists(st.tuples(_CANARY, _AROUND), min_size=1, max_size=6), st.sampled_from([" ", ", ", "\n", ": "]))
def test_no_canary_survives(parts: list[tuple[str, str]], joint: str) -> None:
    message = joint.join(around.format(*[canary] * around.count("{}")) for canary, around in parts)
    scrubbed = scrub(message, [_CODE])
    for canary, _ in parts:
        if canary not in ("2008", "100", "100.0"):
            assert not re.search(rf"(?<!\w){re.escape(canary)}(?!\w)", scrubbed)


@given(st.text(max_size=200), st.lists(st.text(max_size=30), max_size=3))
def test_what_stays_is_known_a_word_of_errors_or_a_type(message: str, known: list[str]) -> None:
    """The property itself: each token that is left over is on one of the lists."""
    words = set(re.findall(r"\w+", "\n".join(known)))
    for word in re.findall(r"\w*[^\W_]\w*", scrub(message, known).replace(VALUE, " ")):
        assert word in words or word.lower() in vocabulary() or is_type(word) or word in "st OUSMm"


def test_many_quotes_take_no_time() -> None:
    for message in ("'" * 4000, "'a " * 2000, "a" * 4000, "1," * 2000, '"' + "'" * 3999):
        scrub(message, [_CODE])


def test_the_vocabulary_is_small_and_plain() -> None:
    path = files("finexpert.text") / "error_words.txt"
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert len(path.read_bytes()) < 60_000
    assert lines == sorted(set(lines))
    assert all(re.fullmatch(r"[a-z]+", line) for line in lines)
    assert {"cannot", "convert", "column", "not", "found", "index"} <= vocabulary()
    assert not vocabulary() & {"apple", "smith", "germany", "january", "revenue"}
