"""A question as it is compared with another: its time, its quantities, its words and their order.

    >>> day = dt.date(2024, 9, 30)
    >>> one = read("What was the unemployment rate in March 1995?", day)
    >>> one.words
    ('unemployment', '1995-03-01..1995-03-31')
    >>> difference(one, read("In March 1995, how high was the jobless rate?", day)) is None
    True
    >>> difference(one, read("What was the unemployment rate in May 1995?", day))
    "'1995-03-01..1995-03-31' against '1995-05-01..1995-05-31'"

Everything that could change an answer must be the same: each year, number, unit, name, negation, comparison and kind of
aggregate. So a word that nobody has listed (`question_words`) counts as a difference: another wording is then not
recognised, which costs a computation, and a wrong answer never comes of it. No model is asked.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import pairwise

from finexpert import question_words as listed
from finexpert.periods import PeriodMention, resolve_periods
from finexpert.stores.terms import words_of

_SIGN = re.compile("|".join(map(re.escape, sorted(listed.SIGNS, key=len, reverse=True))))
_MINUS = re.compile(r"(?<![\w)])-(?=[\d$.])")
_STRANGE = re.compile(r"[^\w\s.,;:?!'\"()\[\]\-\u2010-\u2015\u2018\u2019\u201c\u201d`]")
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b|(?<=[a-z] )A\b(?! [a-z])|(?<=Class )A\b|(?<=Series )A\b")
_NAME = re.compile(r"(?<=[\w,;:)'\u2019] )[A-Z][\w&'\u2019-]*")
_WHICH_IS = re.compile(r"\bwhich (?:is|was|are|were)\b")
_WHAT_CHOSEN = re.compile(rf"\bwhat (?=(?:{'|'.join(listed.CHOSEN.split())})\b)")
_HOW_MANY_OF_A_UNIT = re.compile(
    r"\b(?:by )?how many (?=(?:(?:thousand|million|billion|trillion) )?(?:percent|percentage|point|basis|dollar|euro|pound|yen)\b)"
)
# Of clauses that only tell which one: "the days on which the yield", "the recessions that have started".
_CLAUSE = re.compile(
    r"\b(?:(?:on|in) )?which (?=the\b)|\bthat (?=(?:have|has|had|is|are|was|were|began|started|ended|fell|rose)\b)"
    r"|\bat (?:which|what) (?=\w+ (?:\w+ )?rate\b)"
)
_BY_A_NAME = re.compile(r"\b(\w+ed|sold|made|paid|bought|spent) by (?=[A-Z])")
# "In the year 2019", but not "5 percent a year from 2010 to 2019".
_YEAR_OF_TIME = re.compile(r"(?<!\ba )(?<!per )(?<!each )(?<!every )(?<!\d )\b(?:the )?years? (?=timeq\d)")
_TIME = re.compile(r"timeq(\d+)z")
_NOT = re.compile(r"(?:n['\u2019]t|\bcannot)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_CALENDAR = re.compile(r"\bcal|\bcy", re.IGNORECASE)
_LONGEST_PHRASE = max(phrase.count(" ") for phrase in listed.PHRASES) + 1


@dataclass(frozen=True)
class Reading:
    """A question in compared words, in its order; `names` are those written as names, `times` how many it mentions."""

    words: tuple[str, ...]
    names: frozenset[str]
    times: frozenset[str]

    @property
    def bag(self) -> tuple[str, ...]:
        """The words without their order, by which questions that could be the same are found."""
        return tuple(sorted(self.words))

    @property
    def subjects(self) -> list[str]:
        """What it is about: the words that are no operation, no quantity and no time."""
        return [
            word
            for word in self.words
            if word not in self.times | listed.OPERATIONS | listed.ORDERED and not word[0].isdigit()
        ]


def read(question: str, as_of: dt.date) -> Reading:
    """The question as it is compared, on a day that counts as today."""
    question = unicodedata.normalize("NFKC", question)
    mentions = resolve_periods(question, as_of).mentions
    text = question
    for number in reversed(range(len(mentions))):
        mention = mentions[number]
        text = f"{text[: mention.start]} timeq{number}z {text[mention.end :]}"
    text, opening = _opened(_BY_A_NAME.sub(r"\1 ", _NOT.sub(" not", text)))
    names = frozenset(word for found in _NAME.findall(text) for word in words_of(found))
    words = [*opening, *_words(text)]
    times = {f"timeq{number}z": _time_words(mention) for number, mention in enumerate(mentions)}
    words = [times.get(word, word) for word in words]
    if opening == ["whether-is"]:
        words = [word for word in words if word != "latest"]
    return Reading(tuple(_joined(words, set(times.values()))), names, frozenset(times.values()))


def difference(one: Reading, other: Reading) -> str | None:
    """What of two questions is not the same, or None.

    >>> def told(a, b): return difference(read(a, dt.date(2024, 9, 30)), read(b, dt.date(2024, 9, 30)))
    >>> told("Is the 2-year yield above the 10-year yield?", "Is the 10-year yield above the 2-year yield?")
    'the order of the words'
    """
    if one.bag != other.bag:
        mine, its = Counter(one.words) - Counter(other.words), Counter(other.words) - Counter(one.words)
        return f"{_shown(mine)} against {_shown(its)}"
    first, second = (_in_order(reading, free=len(one.times) < 2) for reading in (one, other))
    if first == second:
        return None
    kept = (one.names | other.names, listed.OPERATIONS, one.times)
    if _parts(first, kept) != _parts(second, kept):
        return "the order of the words"
    if _led(first, second) != _led(second, first):
        return "which word another belongs to"
    return None


def _in_order(reading: Reading, free: bool) -> list[str]:
    """The words whose order counts: a time that is the only one may stand anywhere, and so may a unit."""
    loose = listed.UNITS | (reading.times if free else frozenset())
    kept = [word for word in reading.words if word not in loose]
    return [word for word in kept if not (free and any(word.endswith(f" {time}") for time in reading.times))]


def _parts(words: Sequence[str], kept: Sequence[Collection[str]]) -> list[tuple[object, ...]]:
    """The words that part a question, and of each part its words, and the order of those whose order counts."""
    parts: list[list[str]] = [[]]
    for word in words:
        parts[-1].append(word)
        if word in listed.ORDERED:
            parts.append([])
    return [
        (part[-1:] if part[-1:] and part[-1] in listed.ORDERED else [], sorted(part), *_orders(part, kept))
        for part in parts
    ]


def _orders(part: Sequence[str], kept: Sequence[Collection[str]]) -> list[list[str]]:
    return [[word for word in part if word in words] for words in kept]


def _led(words: Sequence[str], others: Sequence[str]) -> Counter[tuple[str, str]]:
    """Which word stands behind each that belongs to the next; one that ends a question belongs to all of it."""
    ends = {words[-1], others[-1]} & {"highest", "lowest", "rise", "fall", "grow", "change"}
    pairs = pairwise([*words, ""])
    return Counter((word, following) for word, following in pairs if word in listed.LEADING and word not in ends)


def _shown(words: Counter[str]) -> str:
    return ", ".join(repr(word) for word in sorted(words.elements())) or "nothing"


def _time_words(mention: PeriodMention) -> str:
    if mention.first is None or mention.last is None:
        return " ".join(words_of(mention.text))
    text = f"{mention.first}..{mention.last}"
    if mention.fiscal:
        text += " fiscal"
    if _CALENDAR.search(mention.text):
        text += " calendar"
    if mention.quarters:
        text += " q" + "".join(map(str, mention.quarters))
    # "The last three years" may also mean the 36 months before today; named years cannot.
    return text + (" counted" if mention.relative and len(mention.years) > 1 else "")


def _opened(text: str) -> tuple[str, list[str]]:
    """The text without what asks for nothing, and the kind of question that its beginning makes it."""
    text = listed.OPENINGS.sub("", text, count=1)
    if named := listed.NAMES_ONE.match(text):
        return text[named.end() :], ["which"]
    if match := listed.ASKS_WHETHER.match(text):
        return text, ["whether-is" if match[1] else "whether-was" if match[2] else "whether"]
    return text, []


def _words(text: str) -> list[str]:
    """Compared words: signs as words, phrases and synonyms folded, words that say nothing left out."""
    text = _CAPITALS.sub(lambda match: _kept_apart(match[0]), text)
    text = _SIGN.sub(lambda match: listed.SIGNS[match[0]], _MINUS.sub(" minus ", text))
    text = _STRANGE.sub(lambda match: f" sign{ord(match[0]):x} ", text)
    text = " ".join(words_of(text))
    text = _WHAT_CHOSEN.sub("which ", _WHICH_IS.sub("", _YEAR_OF_TIME.sub("", _CLAUSE.sub("", text))))
    words = _HOW_MANY_OF_A_UNIT.sub("", text).split()
    words = [listed.SAME.get(word, word) for word in _phrased(words)]
    if "correlation" in words:  # of one with another, between one and another
        words = ["and" if word == "with" else word for word in words if word != "between"]
    words = [listed.NUMBERS.get(word, word) for word in words if word not in listed.NOTHING]
    return list(_latest(words))


def _kept_apart(word: str) -> str:
    """A name in capitals that would be read as a word that says nothing: US, IT.

    >>> _kept_apart("US"), _kept_apart("GDP")
    ('xxus', 'GDP')
    """
    lower = word.lower()
    return f"xx{lower}" if lower in listed.NOTHING or lower in ("it", "all", "now", "a") else word


def _phrased(words: Sequence[str]) -> Iterator[str]:
    place = 0
    while place < len(words):
        for length in range(min(_LONGEST_PHRASE, len(words) - place), 0, -1):
            phrase, used = _phrase(words, place, length)
            if phrase in listed.PHRASES:
                yield from listed.PHRASES[phrase].split()
                place += used
                break
        else:
            yield words[place]
            place += 1


def _phrase(words: Sequence[str], place: int, length: int) -> tuple[str, int]:
    """So many words from a place on, without `the`, and how many they are with it."""
    taken: list[str] = []
    used = 0
    while len(taken) < length and place + used < len(words):
        word = words[place + used]
        if word != "the" or not used:
            taken.append(word)
        used += 1
    return " ".join(taken), used


def _latest(words: Sequence[str]) -> Iterator[str]:
    """The last recession is the latest one; the last month, and the last value of a year, are not."""
    for word, following in pairwise([*words, ""]):
        counted = following in listed.MEASURES or _NUMBER.fullmatch(following)
        yield "latest" if word == "last" and following in ("recession", "expansion") and not counted else word


def _joined(words: Sequence[str], times: set[str]) -> Iterator[str]:
    """Quantities as one word, with their unit; a time with the word that says on which side of it."""
    place = 0
    while place < len(words):
        word = words[place]
        start = place + (word == "dollar" and place + 1 < len(words) and bool(_NUMBER.fullmatch(words[place + 1])))
        if number := _NUMBER.fullmatch(words[start]):
            end = start + 1
            while end < len(words) and words[end] in (listed.SCALES if end == start + 1 else set()):
                end += 1
            units = list(words[start + 1 : end])
            if start > place:
                units.append("dollar")
            elif end < len(words) and words[end] in listed.MEASURES:
                units.append(words[end])
                end += 1
            yield " ".join([_plain(number[0]), *units])
            place = end
        elif word in listed.BEFORE_A_TIME and place + 1 < len(words) and words[place + 1] in times:
            yield f"{word} {words[place + 1]}"
            place += 2
        else:
            yield word
            place += 1


def _plain(number: str) -> str:
    """A number in one spelling.

    >>> _plain("2.50"), _plain("007"), _plain("100")
    ('2.5', '7', '100')
    """
    try:
        return f"{Decimal(number).normalize():f}"
    except InvalidOperation:
        return number
