"""Takes everything out of an error message that may be a cell value, before a language model sees it.

    >>> scrub("could not convert string to float: 'Jane Doe, 48200 EUR'", ["answer = df['salary'].astype(float)"])
    "could not convert string to float: '<value>'"
    >>> scrub("KeyError: 'salary'", ["answer = df['salary']"])
    "KeyError: 'salary'"

What stays is an allow-list: words that the model has written or been shown (`known`), words that error messages are made
of (`error_words.txt`), and the names of types. A quoted span stays only as a whole. A cell that holds nothing but
such words, unquoted, is not recognised; numbers and names are.
"""

from __future__ import annotations

import builtins
import functools
import re
from collections.abc import Iterable
from importlib.resources import files

VALUE = "<value>"
_MOST_CHARS = 4000

# An apostrophe inside a word does not open a quote; one that is doubled or followed by a word does not close it.
_QUOTED = re.compile(r"(?<!\w)(?P<quote>['\"`])(?P<span>.*?)(?P=quote)(?!\w)", re.DOTALL)
_TOKEN = re.compile(r"\w+(?:[-.:/,+%&@~^$#]\w+)*(?:'[st]\b)?|[^\w\s]|\s+")
_WORD = re.compile(r"\w+|\W")
_PLAIN = frozenset("'\"`.,:;!?()[]{}<>=+-*/%|&^~@#\\_$ \t\n")
_RUN = re.compile(rf"{VALUE}(?:[\s.,:;/+_%$#&@|-]*{VALUE})+")
# A call as DuckDB quotes it: 'avg(VARCHAR)', '+(VARCHAR, INTEGER_LITERAL)'.
_CALL = re.compile(r"(?P<name>\w+|[-+*/<>=!|%]+)\((?P<types>[A-Z_]+(?:, [A-Z_]+)*)\)")
_STARTS = frozenset(".:;!?(")

_DTYPES = re.compile(
    r"(?:u?int(?:8|16|32|64)?|float(?:16|32|64)?|complex(?:64|128)?|(?:datetime|timedelta)64|date32|M8|m8)"
)
_words = str.split
_NAMES = frozenset(
    _words("""
    None True False NaN NaT NA nan inf NoneType ns us ms UTC s category string large_string double null
    boolean DataFrame Series Index RangeIndex MultiIndex DatetimeIndex PeriodIndex TimedeltaIndex
    CategoricalIndex Categorical IntervalIndex Interval Timestamp Timedelta Period DateOffset DataFrameGroupBy
    SeriesGroupBy GroupBy Resampler DatetimeIndexResampler Rolling Expanding Grouper Decimal Fraction ndarray
    DatetimeArray ArrowStringArray StringDtype ArrowInvalid ArrowTypeError ArrowNotImplementedError
    LinAlgError ParserError MergeError IndexingError InvalidIndexError OutOfBoundsDatetime
    OutOfBoundsTimedelta IntCastingNaNError UndefinedVariableError SpecificationError DataError
    UnsupportedFunctionCall EmptyDataError DateParseError ZoneInfoNotFoundError FrozenInstanceError
    UFuncTypeError DTypePromotionError AxisError VARCHAR DOUBLE FLOAT BIGINT INTEGER SMALLINT TINYINT HUGEINT
    UBIGINT UINTEGER BOOLEAN DATE TIMESTAMP TIME INTERVAL DECIMAL BLOB UUID STRUCT LIST MAP SELECT FROM WHERE
    GROUP BY ORDER HAVING JOIN ON USING WITH UNION LIMIT Error QUALIFY CAST TRY_CAST CASE DISTINCT LINE
    ANY_VALUE NULL AND OR NOT IN IS AS ZONE ANY Input
    INTEGER_LITERAL STRING_LITERAL BIGNUM UTINYINT USMALLINT UHUGEINT
""")
)
_CODES = frozenset("OUSMm")  # numpy's letters for types, as they stand in quotes
_TYPES = _NAMES | {name for name in dir(builtins) if isinstance(getattr(builtins, name), type)}


@functools.cache
def vocabulary() -> frozenset[str]:
    """The words of error messages, in lower case."""
    lines = (files("finexpert.text") / "error_words.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


class _Known:
    """What the model has written or been shown: its words, and whether a span stands in it as a whole."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(texts)
        self._words = frozenset(re.findall(r"\w+", self._text))

    def word(self, word: str) -> bool:
        return word in self._words

    def whole(self, span: str) -> bool:
        """Whether the span stands in a known text, not as part of a longer word or number."""
        if not span.strip() or span not in self._text:
            return False
        before = r"(?<!\w)(?<!\d[.,])" if re.match(r"\w", span) else ""
        after = r"(?!\w)(?![.,]\d)" if re.search(r"\w\Z", span) else ""
        return bool(re.search(before + re.escape(span) + after, self._text))


def is_type(word: str) -> bool:
    """Whether a word is the name of a type, of Python, of numpy and pandas, or of a database."""
    return word in _TYPES or bool(_DTYPES.fullmatch(word))


def _word(word: str, known: _Known, *, first: bool) -> str:
    if word in _PLAIN or known.word(word) or is_type(word):
        return word
    plain = word.isascii() and word.isalpha() and (word.islower() or (first and word.istitle()))
    return word if plain and word.lower() in vocabulary() else VALUE


def _token(token: str, known: _Known, *, first: bool) -> str:
    """A token as it may stand: compound numbers and dates as a whole, other compounds word by word."""
    if any(character.isdigit() for character in token) and not is_type(token):
        return token if known.whole(token) else VALUE
    ending = token[-2:] if token[-2:] in ("'s", "'t") else ""
    parts = _WORD.findall(token.removesuffix(ending))
    return "".join(_word(part, known, first=first and place == 0) for place, part in enumerate(parts)) + ending


def _unquoted(text: str, known: _Known, before: str) -> str:
    kept: list[str] = []
    last = before.rstrip()[-1:]
    for match in _TOKEN.finditer(text):
        if not match.group().isspace():
            kept.append(_token(match.group(), known, first=not last or last in _STARTS))
            last = match.group()[-1]
        else:
            kept.append(match.group())
    return "".join(kept)


def _is_call(span: str, known: _Known) -> bool:
    call = _CALL.fullmatch(span)
    if call is None or not all(is_type(name) for name in call["types"].split(", ")):
        return False
    return known.word(call["name"]) or not call["name"].isidentifier()


def _span(span: str, known: _Known) -> str:
    kept = not span.strip() or span in _CODES or is_type(span) or _is_call(span, known) or known.whole(span)
    return span if kept else VALUE


def scrub(message: str, known: Iterable[str]) -> str:
    """The message without anything that may be a cell value; runs of removed words become one `<value>`.

    `known` are the texts that the reader has written or been shown: the code, the SQL, the schema, column names.

    >>> scrub("Binder Error: Referenced column 'gdp_real' not found", ["SELECT gdp_real FROM gdp"])
    "Binder Error: Referenced column 'gdp_real' not found"
    >>> scrub("invalid date 2008-09-15 of Lehman", [])
    'invalid date <value> of <value>'
    """
    message = message[:_MOST_CHARS]
    seen = _Known(known)
    kept, end = [], 0
    for match in _QUOTED.finditer(message):
        kept.append(_unquoted(message[end : match.start()], seen, message[:end]))
        kept.append(match["quote"] + _span(match["span"], seen) + match["quote"])
        end = match.end()
    kept.append(_unquoted(message[end:], seen, message[:end]))
    return _RUN.sub(VALUE, "".join(kept))
