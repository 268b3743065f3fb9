"""Keyword rephrasing: the terms of a question that only this house can explain, their meanings, and what is unknown.

    KeywordRephrasing()(question="How many stress months were there in 2020?", schema_card=..., glossary=..., memory=...)
    # Prediction(question=..., meanings=[Keyword(term="stress month", ...)], processes=[], unknown=[])

What can be looked up is looked up: a model is asked only when a known term stands in the question, which may be meant
in its ordinary sense, or when a word is left that neither plain language, nor the schema, nor the conversation, nor
the stores know. It never makes up a meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import dspy

from finexpert.core.answers import Clarification
from finexpert.knowledge.cues import without_sentences
from finexpert.knowledge.glossary import Glossary, Keyword
from finexpert.knowledge.memory import Memory
from finexpert.knowledge.offering import GAP
from finexpert.knowledge.plain_words import unfamiliar
from finexpert.knowledge.process import Process
from finexpert.modules.calling import ask, compiled
from finexpert.signatures import rules
from finexpert.signatures.keyword_rephrasing import RephraseKeywords, UnclearTerm
from finexpert.text.terms import normalise, phrases_in

LAYER = "keyword_rephrasing"

# So many known terms are offered, the nearest first. No similarity is asked for: of terms meant in other words, a
# third are less than 0.3 near to the question.
LIMIT = 12
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class KeywordRephrasing(dspy.Module):  # type: ignore[misc]
    """From a question to the same question with nothing in it that has still to be explained, or to questions back."""

    def __init__(self) -> None:
        super().__init__()
        self.rephrase = dspy.Predict(RephraseKeywords)

    @property
    def compiled(self) -> bool:
        """Whether a compiled program brought instructions or demonstrations for it."""
        return compiled(self.rephrase, RephraseKeywords)

    def forward(
        self,
        *,
        question: str,
        schema_card: str,
        glossary: Glossary | None = None,
        memory: Memory | None = None,
        conversation: str = rules.NONE,
        judge: bool = True,
    ) -> dspy.Prediction:
        """Without `judge`, a known term that stands in the question is taken to be meant.

        A prediction with `question`, `meanings` (keywords used), `processes` (meant by a term of the question) and
        `unknown` (clarifications). Raises OutputError for unusable text.
        """
        if (glossary is None or glossary.empty) and (memory is None or memory.empty):
            # Nothing was taught: planning itself says which words it would have to guess.
            return dspy.Prediction(question=question, meanings=[], processes=[], unknown=[])
        keywords = glossary.named_in(question) if glossary else []
        named = memory.named_in(question) if memory else []
        doubted = [keyword for keyword in keywords if keyword.id]  # what was just said, and is not kept, is meant
        if not (doubted and judge) and not has_unfamiliar_words(
            question, [*keywords, *named], schema_card, conversation
        ):
            return dspy.Prediction(question=question, meanings=keywords, processes=[], unknown=[])
        candidates = _candidates(question, keywords, named, glossary, memory)
        found = ask(
            self.rephrase,
            LAYER,
            schema_card=schema_card,
            known_terms=_numbered(candidates),
            conversation=conversation,
            question=question,
        )
        return _understood(question, found, candidates, [each for each in keywords if not (judge and each.id)])


Known = Keyword | Process


def has_unfamiliar_words(question: str, named: Sequence[Known], *texts: str) -> bool:
    """Whether a word of the question may be a term: neither plain language, nor `named`, nor a word of the texts.

    Sentences in which the question explains a term itself are left out.
    """
    said = [each.meaning for each in named if isinstance(each, Keyword) and not each.id]
    rest = without_sentences(question, [piece for meaning in said for piece in meaning.split(GAP)])
    return bool(unfamiliar(rest, _words(*texts) | {name for each in named for name in each.names}))


def _words(*texts: str) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text.casefold())}


def _candidates(
    question: str,
    keywords: Sequence[Keyword],
    named: Sequence[Process],
    glossary: Glossary | None,
    memory: Memory | None,
) -> list[Known]:
    """What the question may mean: what it names, then what is near to it in meaning."""
    candidates: list[Known] = [*keywords, *named]
    near: list[tuple[Known, float]] = []
    if glossary is not None and not glossary.empty:
        near += glossary.search([question], limit=LIMIT)
    if memory is not None and not memory.empty:
        near += memory.search([question], limit=LIMIT)
    ids = {entry.id for entry in candidates}
    near.sort(key=lambda hit: -hit[1])
    return [*candidates, *(entry for entry, _ in near if entry.id not in ids)][:LIMIT]


def _numbered(candidates: Sequence[Known]) -> str:
    return "\n".join(f"{number}. {_line(entry)}" for number, entry in enumerate(candidates, 1)) or rules.NONE


def _line(entry: Known) -> str:
    if isinstance(entry, Keyword):
        also = f" (also {', '.join(entry.aliases)})" if entry.aliases else ""
        return f"{entry.term}{also}: {entry.meaning}"
    return (
        f"{' / '.join([entry.heading, *entry.aliases])}: a process that is known, to be named and not to be explained"
    )


def _understood(
    question: str, found: dspy.Prediction, candidates: Sequence[Known], taken: Sequence[Keyword]
) -> dspy.Prediction:
    """What the model found, less what it made up. A known term that it does not list is meant in its ordinary sense."""
    terms: list[UnclearTerm] = found.terms
    meant: list[Known] = list(taken)
    unknown: list[Clarification] = []
    for term in terms:
        name = normalise(term.term)
        # A term that does not stand in the question was made up.
        if not phrases_in(question, [name]):
            continue
        number = term.known_as or 0
        same = list(candidates[number - 1 : number]) if number > 0 else []
        same = same or [known for known in candidates if name in known.names]
        if not same and name not in {normalise(other.term) for other in unknown}:
            unknown.append(_clarification(term.term, candidates))
        elif same and same[0] not in meant:
            meant.append(same[0])
    meanings = [entry for entry in meant if isinstance(entry, Keyword)]
    named = phrases_in(question, [name for keyword in meanings for name in keyword.names])
    in_other_words = [keyword for keyword in meanings if not set(keyword.names) & set(named)]
    return dspy.Prediction(
        # Where the question has the terms themselves, their meanings beside it say all, in the expert's own words.
        question=_kept(question, found.rephrased) if in_other_words else question,
        meanings=meanings,
        processes=[entry for entry in meant if isinstance(entry, Process)],
        unknown=unknown,
    )


def _clarification(term: str, candidates: Sequence[Known]) -> Clarification:
    near = [entry.term if isinstance(entry, Keyword) else entry.heading for entry in candidates]
    return Clarification(kind="term", term=term, question=f"What do you mean by {term!r}?", candidates=near[:3])


def _kept(question: str, rephrased: str) -> str:
    """The rephrased question, or the question itself where a number of it was lost.

    >>> _kept("Stress months since 2005?", "Months with a spread below 0 since 2005?")
    'Months with a spread below 0 since 2005?'
    >>> _kept("Stress months since 2005?", "Months with a spread below 0?")
    'Stress months since 2005?'
    """
    lost = set(_NUMBER.findall(question)) - set(_NUMBER.findall(rephrased))
    return question if lost or not rephrased.strip() else rephrased.strip()
