"""What similarities alone can tell memory lookup: the numbers that its thresholds are chosen by.

    scores = retrieval_scores(memory, load_examples("train") + load_examples("val"))
    lost_below(scores, 0.25)       questions that need a process and would be dropped without asking a model
    clear_from(scores, 0.7, 0.2)   whole matches that need no judge, and how many of them are false

Embeddings come from the memory; no model is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from finexpert.datasets.evaluations.evaluation import Share, share
from finexpert.datasets.layers.lookup_examples import LookupExample
from finexpert.knowledge.memory import Memory
from finexpert.text.terms import normalise

_NEVER = 0.0


@dataclass(frozen=True)
class RetrievalScore:
    """How near the processes of a memory are to one question: cosines, 0 where there is no such process.

    `needs` counts the processes needed, `rank` is the place of the one that is found last: None where one is not
    among the nearest, or none is needed. `named`: the name of an active process stands in the question, so that no
    threshold counts.
    """

    id: str
    split: str
    kind: str
    named: bool
    right: float
    wrong: float
    top: float
    second: float
    top_is_right: bool
    needs: int
    rank: int | None


class Clear(NamedTuple):
    """What needs no judge: the share of all whole matches, and how much of what is decided is false.

    `false` is what is no whole match of the process found, `wrong` where that is not exactly what is needed, be it for
    a part: the second does harm, the first only calls a part the whole.
    """

    clear: Share
    false: Share
    wrong: Share


def retrieval_scores(
    memory: Memory, examples: Sequence[LookupExample], *, limit: int = 12, follow_up: bool = True
) -> list[RetrievalScore]:
    """The similarity of the nearest right and of the nearest wrong process, for each question.

    A follow-up is looked for together with the turn before it, which says what it is about; not with
    `follow_up=False`.
    """
    return [_score(memory, example, limit, follow_up) for example in examples]


def search_texts(question: str, conversation: str) -> list[str]:
    """What is looked for: the question, and the turn before it.

    >>> search_texts("And in 2022?", "turn 1: How much did Borealis grow? - revenue")
    ['And in 2022?', 'turn 1: How much did Borealis grow? - revenue']
    """
    turns = [line for line in conversation.splitlines() if line.startswith("turn ")]
    return [question, *turns[-1:]]


def _score(memory: Memory, example: LookupExample, limit: int, follow_up: bool) -> RetrievalScore:
    texts = search_texts(example.question, example.conversation if follow_up else "")
    near = memory.search(texts, limit=limit)
    needed = {normalise(heading) for heading in example.expected}
    headings = [normalise(process.heading) for process, _ in near]
    scores = [score for _, score in near] + [_NEVER, _NEVER]
    places = [headings.index(heading) + 1 if heading in headings else None for heading in sorted(needed)]
    return RetrievalScore(
        id=example.id,
        split=example.split,
        kind=example.kind,
        named=bool(memory.named_in(example.question)),
        right=max((s for h, s in zip(headings, scores, strict=False) if h in needed), default=_NEVER),
        wrong=max((s for h, s in zip(headings, scores, strict=False) if h not in needed), default=_NEVER),
        top=scores[0],
        second=scores[1],
        top_is_right=bool(headings) and headings[0] in needed,
        needs=len(needed),
        rank=max((p for p in places if p is not None), default=None) if None not in places else None,
    )


def lost_below(scores: Sequence[RetrievalScore], floor: float) -> tuple[Share, Share]:
    """What a floor costs and saves: of the questions that need a process, those lost; of the others, those spared a call.

    >>> needs = RetrievalScore("a", "val", "whole", False, 0.3, 0.2, 0.3, 0.2, True, 1, 1)
    >>> [part.share for part in lost_below([needs], 0.25)], [part.share for part in lost_below([needs], 0.35)]
    ([0.0, 0.0], [1.0, 0.0])
    """
    needing = [score for score in scores if score.kind != "none"]
    free = [score for score in scores if score.kind == "none"]

    def below(chosen: Sequence[RetrievalScore]) -> Share:
        return share(sum(not s.named and s.top < floor for s in chosen), len(chosen))

    return below(needing), below(free)


def clear_from(scores: Sequence[RetrievalScore], clear: float, margin: float) -> Clear:
    """What is decided without a judge: similar enough, and by enough more than the second.

    >>> near_miss = RetrievalScore("a", "val", "none", False, 0.0, 0.8, 0.8, 0.5, False, 0, None)
    >>> clear_from([near_miss], 0.75, 0.2).false.share, clear_from([near_miss], 0.75, 0.4).false.n
    (1.0, 0)
    """
    decided = [s for s in scores if not s.named and s.top >= clear and s.top - s.second >= margin]
    exact = sum(s.top_is_right and s.needs == 1 for s in decided)
    right = sum(s.top_is_right and s.kind == "whole" for s in decided)
    whole = sum(s.kind == "whole" for s in scores)
    return Clear(
        clear=share(right, whole),
        false=share(len(decided) - right, len(decided)),
        wrong=share(len(decided) - exact, len(decided)),
    )


def found_within(scores: Sequence[RetrievalScore], places: int) -> Share:
    """Of the questions that need a process, those with all of theirs among so many nearest."""
    needing = [score for score in scores if score.kind != "none"]
    return share(sum(s.rank is not None and s.rank <= places for s in needing), len(needing))
