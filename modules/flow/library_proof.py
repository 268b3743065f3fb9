"""What a model has read on pages, as far as the pages bear it out: every number and every quote is looked up.

A sentence of the answer names what it rests on. One that names what does not stand on its page, or nothing, is left out, and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from finexpert.filings.page.numbers import read_written
from finexpert.plans.pages import evidence
from finexpert.plans.pages.printed import Printed, words_of
from finexpert.plans.pages.proved import Computation, ProvedSentence, ProvedValue, ProvedWords, Reading
from finexpert.plans.pages.reading import CarriedOut
from finexpert.plans.pages.wording import PLACEHOLDER, filled

PagesOf = Callable[[str], Sequence[Printed]]
# "Yes." needs no ground of its own where the sentence after it has one.
_BARE = 3
# Of these the first sentence is the answer: what is left without it answers something else.
_DIRECT = ("yes/no", "name")


def proved(made: Any, pages_of: PagesOf) -> tuple[Reading, list[str]]:
    """What of a reading stands on its pages, and what does not, in words; its sentences are cut once all is computed."""
    doubts: list[str] = []
    reading = Reading(
        values=[value for each in made.numbers if (value := _value(each, pages_of, doubts))],
        computed=[Computation.model_validate(each.model_dump()) for each in made.computed],
        statements=[words for each in made.statements if (words := _words(each, pages_of, doubts))],
        kind=made.kind,
        result=made.result.strip().strip("{}"),
        items=made.listed,
    )
    told = {each.name for each in (*made.numbers, *made.computed, *made.statements)}
    reading.sentences = [_sentence(each, told) for each in made.answer]
    return reading, doubts


def cut(reading: Reading, carried: CarriedOut) -> tuple[Reading, list[str]]:
    """The reading without the sentences that name what does not stand, or nothing; and these, in words."""
    standing = set(carried.values) | {each.name for each in reading.statements}
    kept: list[ProvedSentence] = []
    left_out: list[str] = []
    for sentence in reading.sentences:
        fallen = [name for name in sentence.rests_on if name not in standing]
        if not fallen and (sentence.rests_on or len(words_of(sentence.says)) <= _BARE):
            kept.append(sentence)
            continue
        why = f"{', '.join(fallen)} does not stand on a page" if fallen else "it names nothing that it rests on"
        left_out.append(f"left out: {filled(sentence.says, carried.shown)!r}, for {why}")
    direct = reading.kind not in _DIRECT or kept[:1] == reading.sentences[:1]
    if not direct or not any(sentence.rests_on for sentence in kept):
        rest = [filled(sentence.says, carried.shown) for sentence in kept]
        kept, left_out = [], [*left_out, *(f"left out: {says!r}, for it is no answer by itself" for says in rest)]
    return reading.model_copy(update={"sentences": kept}), left_out


def _sentence(said: Any, told: Collection[str]) -> ProvedSentence:
    """A sentence with the names that it gives, and those of the numbers in it; what is no name at all is nothing."""
    given = [name for each in said.rests_on if (name := each.strip().strip("{}").strip()) in told]
    return ProvedSentence(
        says=said.says.strip(), rests_on=list(dict.fromkeys([*given, *PLACEHOLDER.findall(said.says)]))
    )


def _value(value: Any, pages_of: PagesOf, doubts: list[str]) -> ProvedValue | None:
    proofs = (evidence.prove(page, value.quote, value.number) for page in pages_of(value.page))
    proof = next(filter(None, proofs), None)
    written = read_written(value.number)
    if proof is None or written is None:
        doubts.append(f"left out: {value.number!r} in {value.quote[:120]!r} does not stand on {value.page}")
        return None
    meant = written.minus or written.brackets
    return ProvedValue(
        name=value.name,
        page=proof.page.id,
        step=proof.step,
        printed=value.number,
        quote=value.quote,
        without_sign=proof.negative and not meant,
    )


def _words(said: Any, pages_of: PagesOf, doubts: list[str]) -> ProvedWords | None:
    parts = (evidence.holds(page, said.quote) for page in pages_of(said.page))
    part = next(filter(None, parts), None)
    if part is None:
        doubts.append(f"left out: {said.says!r}, for its words {said.quote[:120]!r} do not stand on {said.page}")
        return None
    return ProvedWords(says=said.says, page=part.id, quote=said.quote, name=said.name)
