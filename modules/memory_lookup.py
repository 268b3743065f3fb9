"""Memory lookup: which of the processes that an expert taught a question needs, as a whole or for a part of it.

    MemoryLookup()(question="What was unemployment at the start of the latest recession?", memory=...)
    # Prediction(processes=[Process(heading="Recession Calculation", ...)], tier="part")

Nothing is asked of a model while memory is empty, while nothing in it is near, or when one heading is clearly meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import dspy

from finexpert.knowledge.cues import once_only
from finexpert.knowledge.items import Item
from finexpert.knowledge.memory import Memory
from finexpert.knowledge.plain_words import everyday
from finexpert.knowledge.process import Process
from finexpert.modules.calling import ask, compiled
from finexpert.signatures import rules
from finexpert.signatures.memory_lookup import GeneraliseQuestion, RecallProcesses
from finexpert.text.terms import phrases_in

LAYER = "memory_lookup"

Tier = Literal["none", "whole", "part"]

# So many processes are judged at once; a memory that holds no more of them needs no search for the judge.
LIMIT = 12

# Below it nothing in memory has to do with the question, and no model is asked; by the beginning of the embedder's
# name. Chosen on the 133 questions of train and val: none of the 87 that need a process is lost
# (`tests/datasets/layers/test_lookup_evaluation.py`). An embedder that was not measured has no floor.
FLOORS = {"minilm": 0.28, "words": 0.08}

# One heading is clearly meant, and no judge is asked. On the same questions no lower pair is safe: what repeats a
# heading is often only a part of what is asked.
CLEAR, MARGIN = 0.9, 0.15

# A process that is named by several words of its own is meant, and no judge is asked while no other is as near as this. Chosen on train
# and val, where questions that name one and need another have it, or a third, at 0.43 or more; of 10 such of the holdout none is lost.
OTHERS = {"minilm": 0.4}

# Without a judge: from here on the nearest process is needed by 23 of 28 questions of train and val.
LIKELY = 0.6


class MemoryLookup(dspy.Module):  # type: ignore[misc]
    """From a question to the processes that have to be followed."""

    def __init__(self) -> None:
        super().__init__()
        self.generalise = dspy.Predict(GeneraliseQuestion)
        self.judge = dspy.Predict(RecallProcesses)

    @property
    def compiled(self) -> bool:
        """Whether a compiled program brought instructions or demonstrations for it."""
        return compiled(self.generalise, GeneraliseQuestion) or compiled(self.judge, RecallProcesses)

    def forward(
        self,
        *,
        question: str,
        memory: Memory,
        conversation: str = rules.NONE,
        meant: Sequence[Process] = (),
        judge: bool = True,
    ) -> dspy.Prediction:
        """Without `judge`, what the question names is recalled, else what is near enough.

        A prediction with `processes` and `tier`: "whole" when the first process answers the question, "part" when
        processes answer a part of it, "none" without any. `meant` are processes that a term of the question stands for.
        """
        if memory.empty:
            return _recalled([], "none")
        near = memory.search(searched(question, conversation), limit=LIMIT)
        named = _unique([*meant, *memory.named_in(question)])
        if not named and not is_near(near, memory):
            return _recalled([], "none")
        if not judge:
            likely = [near[0][0]] if near and near[0][1] >= LIKELY else []
            return _recalled(named or likely, "part" if named or likely else "none")
        if self._sure(named, near, question, _of_embedder(OTHERS, memory.embedder.name)):
            nearest = [process.id for process, _ in near]
            first = sorted(named, key=lambda each: nearest.index(each.id) if each.id in nearest else len(nearest))
            return _recalled(first, "part")
        if not named and _is_clear(near):
            return _recalled([near[0][0]], "whole")
        candidates = _unique([*named, *(process for process, _ in near)])[:LIMIT]
        if memory.size <= LIMIT:
            return self._judged(question, candidates, conversation)
        return self._in_tiers(question, memory, candidates, conversation)

    @staticmethod
    def _sure(named: Sequence[Process], near: Sequence[tuple[Process, float]], question: str, most: float) -> bool:
        """Whether what the question names is all that it needs."""
        others = [score for process, score in near if process.id not in {each.id for each in named}]
        return (
            bool(named) and max(others, default=0.0) < most and all(by_its_own_words(each, question) for each in named)
        )

    def _in_tiers(self, question: str, memory: Memory, first: Sequence[Process], conversation: str) -> dspy.Prediction:
        """Match the question as a whole under general headings; if nothing fits, match the parts that it is made of."""
        general = ask(self.generalise, LAYER, question=question, conversation=conversation)
        whole = [process for process, _ in memory.search(general.variants, limit=LIMIT)] if general.variants else []
        parts = [process for process, _ in memory.search(general.parts, limit=LIMIT)] if general.parts else []
        # Whole matches stand first; parts fill what is left, so that one judgement sees both tiers.
        candidates = _unique([*first[:4], *_alternating(whole, parts), *first])[:LIMIT]
        return self._judged(question, candidates, conversation)

    def _judged(self, question: str, candidates: Sequence[Process], conversation: str) -> dspy.Prediction:
        judged = ask(
            self.judge,
            LAYER,
            processes="\n".join(f"{number}. {_line(process)}" for number, process in enumerate(candidates, 1)),
            conversation=conversation,
            question=question,
        )
        numbers = [number for number in judged.chosen if 1 <= number <= len(candidates)]
        chosen = _unique([candidates[number - 1] for number in numbers])
        if not chosen:
            return _recalled([], "none")
        return _recalled(chosen, "whole" if judged.whole else "part")


def searched(question: str, conversation: str) -> list[str]:
    """What is looked for: the question, and the turn before it, which says what a follow-up is about."""
    turns = [line for line in conversation.splitlines() if line.startswith("turn ")]
    return [question, *turns[-1:]]


def is_near(found: Sequence[tuple[Process, float]], memory: Memory) -> bool:
    """Whether the nearest processes found may have to do with the question."""
    return bool(found) and found[0][1] >= _of_embedder(FLOORS, memory.embedder.name)


def by_its_own_words(item: Item, question: str) -> bool:
    """Whether a question names an item by several words that nobody uses by chance, and explains no word itself."""
    names = phrases_in(question, item.names)
    return bool(names) and all(" " in name and not everyday(name) for name in names) and not once_only(question)


def _of_embedder(measured: Mapping[str, float], embedder: str) -> float:
    return next((value for name, value in measured.items() if embedder.startswith(name)), -1.0)


def _recalled(processes: list[Process], tier: Tier) -> dspy.Prediction:
    return dspy.Prediction(processes=processes, tier=tier)


def _is_clear(near: Sequence[tuple[Process, float]]) -> bool:
    second = near[1][1] if len(near) > 1 else 0.0
    return near[0][1] >= CLEAR and near[0][1] - second >= MARGIN


def _unique(processes: Sequence[Process]) -> list[Process]:
    return list({process.id: process for process in processes}.values())


def _alternating(first: Sequence[Process], second: Sequence[Process]) -> list[Process]:
    longest = max(len(first), len(second))
    return [process for index in range(longest) for row in (first, second) for process in row[index : index + 1]]


def _line(process: Process) -> str:
    """A process as the judge sees it: its names, and what it does in a line."""
    also = f" (also {', '.join(process.aliases)})" if process.aliases else ""
    steps = "; ".join(" ".join(step.text.split()) for step in process.steps)
    return f"{process.heading}{also}: {steps[:300]}"
