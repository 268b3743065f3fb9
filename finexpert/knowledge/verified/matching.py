"""Whether a question is a verified one: the same words in the same order, and for each variable one value of its kind.

pattern = Pattern.of("What was the fee income in 2023", [Variable(name="year", kind="year", value="2023")], wording)
pattern.values_in("what was fee income in 2022?")    {'year': '2022'}
pattern.values_in("what was net fee income in 2022?")    None
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from finexpert.errors import NotKept
from finexpert.knowledge.verified.query import Variable, VerifiedQuery
from finexpert.knowledge.verified.words import ISO_DAY, YEAR, Token, Wording, composed, tokens, wording

_SLOTS = {
    "year": YEAR.pattern,
    "quarter": "[Qq][1-4]",
    "date": ISO_DAY.pattern,
    "number": r"\d+(?:\.\d+)?",
    "integer": r"\d+",
}
_TEXT = (r"\S+(?: \S+){0,19}", r"\S+?(?: \S+?){0,19}?")  # as long and as short as it may be
_LONGEST = 200  # tokens of a question that is compared


@dataclass(frozen=True)
class Pattern:
    """The words of a verified question, in which variables stand at places."""

    said: tuple[Token, ...]
    places: tuple[tuple[int, int, Variable], ...]
    words: Wording

    @classmethod
    def of(cls, question: str, variables: Sequence[Variable], words: Wording) -> Pattern:
        """NotKept for a variable whose value does not stand once in the question."""
        question = composed(question)
        said = tokens(question, words.literal)
        places = sorted(((*place_of(question, said, each), each) for each in variables), key=lambda place: place[:2])
        return cls(tuple(said), tuple(places), words)

    def values_in(self, question: str) -> dict[str, str] | None:
        """The values of the variables in a question asked in these words; None for other words, and where two readings are possible."""
        question = composed(question)
        asked = tokens(question, self.words.literal)
        if len(asked) > _LONGEST:
            return None
        line = " ".join(token.folded for token in asked)
        long, short = (each.fullmatch(line) for each in self._compiled)
        if long is None or short is None or long.groupdict() != short.groupdict():
            return None
        values, rest = {}, list(asked)
        for _, _, variable in reversed(self.places):
            start = line[: long.start(variable.name)].count(" ")
            end = start + long[variable.name].count(" ") + 1
            values[variable.name] = _value(variable, question, asked[start:end])
            del rest[start:end]
        fixed = [token for place, token in enumerate(self.said) if not any(a <= place < b for a, b, _ in self.places)]
        first = asked[0].start if asked else 0
        same = all(self.words.same(one, other, other.start == first) for one, other in zip(fixed, rest, strict=True))
        return dict(reversed(values.items())) if same else None

    @cached_property
    def _compiled(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(self._written(text)) for text in _TEXT)

    def _written(self, text: str) -> str:
        """The pattern as a regular expression over folded words with one blank between them."""
        parts, end = [], 0
        for start, stop, variable in self.places:
            whole = variable.kind == "number" and "." not in variable.value
            slot = text if variable.kind == "text" else _SLOTS["integer" if whole else variable.kind]
            parts += [re.escape(token.folded) for token in self.said[end:start]]
            parts.append(f"(?P<{variable.name}>{slot})")
            end = stop
        return " ".join([*parts, *(re.escape(token.folded) for token in self.said[end:])])


def place_of(question: str, said: Sequence[Token], variable: Variable) -> tuple[int, int]:
    """The tokens in which the value of a variable stands in its question; NotKept unless it does so once."""
    found = [
        (start, end)
        for start in range(len(said))
        for end in range(start + 1, len(said) + 1 if variable.kind == "text" else start + 2)
        if _value(variable, question, said[start:end]) == variable.value
    ]
    if variable.kind == "text" and len(re.findall(rf"(?<!\w){re.escape(variable.value)}(?!\w)", question)) > 1:
        found *= 2
    if len(found) != 1:
        raise NotKept(
            f"the variable {variable.name} is {variable.value!r}, which stands {len(found)} times in the question "
            f"{question[:200]!r}: give a value that stands there once, letter by letter"
        )
    return found[0]


def _value(variable: Variable, question: str, said: Sequence[Token]) -> str:
    """The value that tokens say: a text as it was written, the rest as it is compared."""
    if variable.kind == "text":
        return question[said[0].start : said[-1].end]
    return said[0].said.upper()


@lru_cache(maxsize=4096)
def _pattern(question: str, variables: tuple[Variable, ...], words: Wording) -> Pattern | None:
    try:
        return Pattern.of(question, variables, words)
    except NotKept:
        return None


def values_in(question: str, query: VerifiedQuery) -> dict[str, str] | None:
    """The values of a verified query's variables in a question; None where it is another question."""
    found = _pattern(query.question, tuple(query.variables), wording(query.sql, query.source.dialect))
    return None if found is None else found.values_in(question)
