"""What was taught that a question may mean, found at home: numbered in planning's own prompt, which says what it follows.

    known = find("How many stress months were there?", taught, schema_card)
    known.told()             "1. stress month: a month in which ..."
    known.followed([1])      [Keyword(term="stress month", ...)]

What the question names stands first, then what is near to it in meaning. A process may be long: what does not fit is shown in part,
and nobody follows a part; `opened` has it whole.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from finexpert.errors import OutputError
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.taught import Taught
from finexpert.modules.keyword_rephrasing import LIMIT, Known, has_unfamiliar_words
from finexpert.modules.memory_lookup import by_its_own_words, is_near, searched
from finexpert.signatures import rules
from finexpert.text.terms import normalise
from finexpert.text.texts import beginning

# Of the 87 questions of train and val that need processes, the 24 nearest of 49 hold all that is needed for 85, the 12 nearest for 81;
# of the 93 of the holdout 93 and 92. A call that makes up headings to search by (`generalise`) has one at most of these 93 to win.
MOST_PROCESSES = 24

# So many characters are shown whole, about 1,000 tokens, beside what the question names; of the rest the beginning.
WHOLE, EXCERPT = 4_000, 160
IN_PART = "[in part; whole once its number is listed]"


class CalledUnclear(OutputError):
    """A term that is known here is called unclear, and not followed."""

    def __init__(self, message: str, known: Known) -> None:
        super().__init__(message)
        self.known = known


@dataclass(frozen=True)
class KnownHere:
    """Terms and processes; `named` are the ids of those that the question names, `open` of those that are shown whole whatever fits."""

    entries: tuple[Known, ...] = ()
    named: frozenset[str] = frozenset()
    open: frozenset[str] = frozenset()

    def told(self) -> str:
        """All of it for a prompt, numbered from 1; empty where there is nothing."""
        parts = self._in_part()
        texts = (_excerpt(each) if each.id in parts else _whole(each) for each in self.entries)
        return "\n".join(_numbered(number, text) for number, text in enumerate(texts, 1))

    def opened(self, numbers: Sequence[int]) -> KnownHere:
        """The same with these shown whole; itself where they are."""
        missing = {each.id for each in self._at(numbers)} & self._in_part()
        return replace(self, open=self.open | missing) if missing else self

    def followed(self, numbers: Sequence[int], unclear: Collection[str] = ()) -> list[Known]:
        """What has these numbers; OutputError for a number that there is not and for a part, CalledUnclear for a term known here."""
        wrong = [number for number in numbers if not 1 <= number <= len(self.entries)]
        if wrong:
            raise OutputError(
                f"follows has {wrong[0]}, and what is known here has the numbers 1 to {len(self.entries)}"
            )
        chosen = self._at(numbers)
        if part := next((each for each in chosen if each.id in self._in_part()), None):
            raise OutputError(f"follows has {part.title!r}, which was shown in part only: leave it out")
        for number, each in enumerate(self.entries, 1):
            for term in unclear:
                if normalise(term) in each.names and each not in chosen:
                    raise CalledUnclear(
                        f"unclear has {term!r}, which is known here: list {number} in follows, or, where the question means "
                        "it in its ordinary sense, leave it out of unclear",
                        each,
                    )
        return chosen

    def without(self, known: Known) -> KnownHere:
        """The same without one of them."""
        return replace(self, entries=tuple(each for each in self.entries if each.id != known.id))

    def passed_over(self, followed: Collection[str], question: str) -> list[Known]:
        """What the question names by words that nobody uses by chance, and explains itself nowhere, and that was not followed."""
        return [
            each for each in self.entries if each.id in self.named - {*followed} and by_its_own_words(each, question)
        ]

    def alike(self, term: str) -> list[str]:
        """Titles of at most three that share a word with a term, for whoever is asked what it means."""
        words = {*normalise(term).split()}
        return [each.title for each in self.entries if any(words & {*name.split()} for name in each.names)][:3]

    def _at(self, numbers: Sequence[int]) -> list[Known]:
        return [self.entries[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(self.entries)]

    def _in_part(self) -> set[str]:
        left, parts = WHOLE, set()
        for each in self.entries:
            length = len(_whole(each))
            if each.id in self.named | self.open:
                continue
            if length > left:
                parts.add(each.id)
            else:
                left -= length
        return parts


NOTHING = KnownHere()


def find(question: str, taught: Taught, schema_card: str, conversation: str = rules.NONE) -> KnownHere:
    """What the question may mean; nothing where it names nothing, has no word that could be a term, and no process is near.

    The turn before counts as well: it says what a follow-up is about.
    """
    texts = searched(question, conversation)
    terms = [each for text in texts for each in taught.glossary.named_in(text) if each.id]
    processes = [each for text in texts for each in taught.memory.named_in(text)]
    near: list[tuple[Known, float]] = []
    if terms or has_unfamiliar_words(question, [*terms, *processes], schema_card, conversation):
        near += [hit for hit in taught.glossary.search([question], LIMIT) if hit[0].kind == "term"]
    found = taught.memory.search(texts, MOST_PROCESSES)
    if processes or is_near(found, taught.memory):
        near += found
    near.sort(key=lambda hit: -hit[1])
    entries = {each.id: each for each in (*terms, *processes, *(each for each, _ in near))}
    return KnownHere(tuple(entries.values()), frozenset(each.id for each in (*terms, *processes)))


def _whole(entry: Known) -> str:
    if isinstance(entry, Keyword):
        return f"{_names(entry)}: {entry.meaning}"
    return entry.recipe().replace(entry.heading, _names(entry), 1)


def _excerpt(entry: Known) -> str:
    """The names and the beginning."""
    if isinstance(entry, Keyword):
        return f"{_names(entry)}: {beginning(entry.meaning, EXCERPT)} {IN_PART}"
    steps = " ".join(" ".join(step.text.split()) for step in entry.steps)
    return f"Process: {_names(entry)}: {beginning(steps, EXCERPT)} {IN_PART}"


def _names(entry: Known) -> str:
    """What it is called, without spellings that are the same name."""
    by_name: dict[str, str] = {}
    for phrase in entry.phrases:
        by_name.setdefault(normalise(phrase), phrase)
    first, *others = by_name.values()
    return f"{first} (also {', '.join(others)})" if others else first


def _numbered(number: int, text: str) -> str:
    margin = " " * (len(str(number)) + 2)
    return f"{number}. " + text.replace("\n", f"\n{margin}")
