"""The words of a question as verified questions are compared: what cannot change the meaning is folded, everything else counts.

    "Please: what's the fee income above 1,000 USD?"  and  "What is fee income above 1000 USD"   are the same question
    "What is fee income above 1,000 EUR"   and   "What is IT spending" beside "What is it spending"   are others

Folded are: blanks, quotes around words, the mark at the end, "please", "what's", articles, commas before a preposition, how a number or a
day is written, and the case of words that are no names. A word that a literal of the SELECT holds is left as it is.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.knowledge.plain_words import plain_words
from finexpert.text.periods.words import COUNTS, MONTHS
from finexpert.text.terms import words_of

YEAR = re.compile(r"(?:19|20)\d\d")
ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TOKEN = re.compile(
    r"\d{4}-\d\d-\d\d(?![\w-])|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w,])|\d+(?:\.\d+)?(?!\w)|\w+(?:[.'&]\w+)*|\S",
    re.UNICODE,
)
_QUOTED = re.compile(r"(?<!\w)(['\"])(?=\S)(.*?\S)\1(?!\w)")
_SAME_MARKS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014", "-"),
    }
)
_IS = re.compile(r"(what|who|how|when|where|which)'s", re.IGNORECASE)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_NTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?", re.IGNORECASE)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NUMBERS = {word: count for word, count in COUNTS.items() if word not in ("a", "an", "the")}
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_TIMES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_BEFORE_COMMA_GOES = _set("by in for per during and please")
_NO_NAMES = _set("what how when where which why is usd eur gbp jpy chf cny")
# "The most" is not "most", "a few" not "few"; "a quarter of" is not "the quarter of", and "a share" is per share.
_KEEPS_THE = _set("most few fewest little least more less only")
_KEEPS_A = _KEEPS_THE | _set(
    "lot bit couple number half third quarter fifth tenth hour day week month year decade share dozen hundred thousand million"
    " billion trillion certain given"
)


@dataclass(frozen=True)
class Token:
    """A word, number or mark of a question as it is compared, and where it stands in the text."""

    said: str
    start: int
    end: int

    @property
    def folded(self) -> str:
        return self.said.casefold()


@dataclass(frozen=True)
class Wording:
    """What a SELECT says of the words of its question: those of its literals are left as they are, those of its names have no case."""

    literal: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()

    def same(self, one: Token, other: Token, first: bool) -> bool:
        """Whether two words say the same; a capital makes a name of a word, unless it begins the question."""
        if one.said == other.said:
            return True
        word = one.folded
        if word != other.folded or word in self.literal:
            return False
        if word in _NO_NAMES or word in plain_words().names or set(words_of(word)) <= self.named:
            return True
        return first and not any(len(each.said) > 1 and each.said.isupper() for each in (one, other))


@lru_cache(maxsize=4096)
def wording(select: str, dialect: str) -> Wording:
    """The words of a SELECT's literals and names; of one that cannot be read, none."""
    try:
        tree = sqlglot.parse_one(select, read=dialect)
    except (SqlglotError, RecursionError):
        return Wording()
    literals = [literal.name for literal in tree.find_all(exp.Literal) if literal.is_string]
    names = " ".join(each.name.replace("_", " ") for each in tree.find_all(exp.Identifier))
    said = {match[0].casefold() for text in literals for match in _TOKEN.finditer(text)}
    return Wording(frozenset(said), frozenset(words_of(names)))


def tokens(text: str, literal: frozenset[str] = frozenset()) -> list[Token]:
    """The words of a question as they are compared.

    >>> [each.said for each in tokens("Please, what's  the 'core' rate above 1,000 in twenty-five weeks?")]
    ['what', 'is', 'core', 'rate', 'above', '1000', 'in', '25', 'weeks']
    >>> [each.said for each in tokens("Fees on May 3rd, 2023, by region, of 5 per cent")]
    ['Fees', 'on', '2023-05-03', 'by', 'region', ',', 'of', '5', '%']
    """
    said = text.translate(_SAME_MARKS)
    said = _QUOTED.sub(lambda match: f" {match[2]} ", said)
    said = said[: len(said.rstrip(" ?!.\u2026"))]
    found = [Token(match[0], *match.span()) for match in _TOKEN.finditer(said)]
    for fold in (_single, _numbers, _days, _dropped):
        found = fold(found, literal)
    return found


def composed(text: str) -> str:
    """The text in one form of its characters, so that places in it can be compared."""
    return unicodedata.normalize("NFC", text)


def _single(found: Sequence[Token], literal: frozenset[str]) -> list[Token]:
    """Each token by itself: "what's" as two words, numbers as digits."""
    made: list[Token] = []
    for token in found:
        if token.folded in literal:
            made.append(token)
        elif match := _IS.fullmatch(token.said):
            made += [_with(match[1], token), _with("is", token)]
        elif _NUMBER.fullmatch(token.said):
            made.append(_with(token.said.replace(",", ""), token))
        else:
            made.append(token)
    return made


def _with(said: str, first: Token, last: Token | None = None) -> Token:
    return Token(said, first.start, (last or first).end)


def _numbers(found: Sequence[Token], literal: frozenset[str]) -> list[Token]:
    """Numbers in words as digits, also with "million" after them; "percent" as its sign."""
    made: list[Token] = []
    for token in found:
        word = "" if token.folded in literal else token.folded
        before = made[-1] if made else None
        if word in _NUMBERS or word in _TENS:
            count = _NUMBERS.get(word, _TENS.get(word, 0))
            made.append(_with(str(count), token))
            _join_tens(made, found, token)
        elif word in _TIMES and before and _NUMBER.fullmatch(before.said) and not YEAR.fullmatch(before.said):
            made[-1] = _with(f"{(Decimal(before.said) * _TIMES[word]).normalize():f}", before, token)
        elif word in ("percent", "pct"):
            made.append(_with("%", token))
        elif word == "cent" and before and before.folded == "per":
            made[-1] = _with("%", before, token)
        else:
            made.append(token)
    return made


def _join_tens(made: list[Token], found: Sequence[Token], unit: Token) -> None:
    """Makes one number of twenty, a hyphen and five."""
    if len(made) < 3 or not 0 < int(made[-1].said) < 10 or made[-2].said != "-":
        return
    tens = next((each for each in found if each.start == made[-3].start), None)
    if tens is not None and tens.folded in _TENS:
        made[-3:] = [_with(str(int(made[-3].said) + int(made[-1].said)), tens, unit)]


def _days(found: Sequence[Token], literal: frozenset[str]) -> list[Token]:
    """Days that are written in words as 2023-05-03."""
    made: list[Token] = []
    place = 0
    while place < len(found):
        for length in (4, 3):
            part = found[place : place + length]
            if len(part) == length and (day := _day([each.folded for each in part])):
                made.append(_with(day, part[0], part[-1]))
                place += length
                break
        else:
            made.append(found[place])
            place += 1
    return made


def _day(words: list[str]) -> str | None:
    """The day that three words say, or four with a comma before the year."""
    if len(words) == 4:
        if words[2] != ",":
            return None
        words = [*words[:2], words[3]]
    day, month = (words[1], words[0]) if words[0] in MONTHS else (words[0], words[1])
    number = _NTH.fullmatch(day)
    if month not in MONTHS or number is None or not YEAR.fullmatch(words[2]):
        return None
    try:
        return dt.date(int(words[2]), MONTHS[month], int(number[1])).isoformat()
    except ValueError:
        return None


def _dropped(found: Sequence[Token], literal: frozenset[str]) -> list[Token]:
    """Without "please", articles, and commas that say nothing."""
    made = []
    for place, token in enumerate(found):
        after = found[place + 1].folded if place + 1 < len(found) else ""
        before = found[place - 1].folded if place else ""
        if token.folded in literal or not _says_nothing(token, before, after):
            made.append(token)
    return made


def _says_nothing(token: Token, before: str, after: str) -> bool:
    word = token.folded
    if word == "please":
        return True
    if word in (",", ":"):
        return before == "please" or (word == "," and after in _BEFORE_COMMA_GOES)
    # An "A" within a question is a name, as an article at its end is.
    if not after or (token.said == "A" and before):
        return False
    return (word == "the" and after not in _KEEPS_THE) or (word in ("a", "an") and after not in _KEEPS_A)
