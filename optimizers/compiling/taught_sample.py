"""House questions for the combined program, and a store that knows what they need, filled without asking a model.

    taught_by_file(taught, house_transcripts())      # keywords as they are defined, processes as the expert said them
    [q.id for q in house_sample(8, seed=0)]          # one of each kind from both halves

How well a model learns from the lessons is the matter of `finexpert eval house`; here it is only how it uses what is known.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable
from pathlib import Path

from finexpert.datasets.desk.house import HALVES, KINDS, house_questions
from finexpert.datasets.desk.transcripts import Line, read_transcript
from finexpert.datasets.fred.questions import Question
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.process import Process, ProcessStep
from finexpert.knowledge.taught import Taught

BY = "lesson"


def taught_by_file(taught: Taught, transcripts: Iterable[Path]) -> None:
    """Put what transcripts teach into a store: a process has the messages before its `remember` as its steps."""
    for path in transcripts:
        steps: list[ProcessStep] = []
        for line in read_transcript(path):
            steps = _learned(taught, line, steps)


def _learned(taught: Taught, line: Line, steps: list[ProcessStep]) -> list[ProcessStep]:
    if line.define is not None:
        told = line.define
        now = dt.datetime.now(dt.UTC)
        keyword = Keyword(term=told.term, meaning=told.meaning, aliases=list(told.aliases), taught_by=BY, taught_at=now)
        taught.glossary.define(keyword, BY)
        return []
    if line.action == "remember":
        if line.remember and steps:
            taught.memory.restore(Process(heading=line.remember, steps=steps, status="active"), BY, "add")
        return []
    return [*steps, ProcessStep(text=line.message)] if line.message else steps


def house_sample(most: int, seed: int) -> list[Question]:
    """So many house questions, of the kinds and the halves in turn.

    >>> from finexpert.datasets.desk.house import kind_of
    >>> sorted({kind_of(question) for question in house_sample(8, seed=1)})
    ['alone', 'near_miss', 'part', 'together']
    """
    groups = [house_questions(kind, half) for kind in KINDS for half in HALVES]
    for number, group in enumerate(groups):
        random.Random(f"{seed} house {number}").shuffle(group)
    longest = max(map(len, groups))
    return [group[place] for place in range(longest) for group in groups if place < len(group)][:most]
