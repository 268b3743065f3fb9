"""The answer cache, measured apart: which of labelled pairs of questions does it take for the same?

`questions/cache_pairs.jsonl` holds one scenario a line: a question, the same in other words, and near misses, each
with what differs. Scenarios are split, so nothing that was tuned on has been seen when the holdout is measured:

    {"scenario": "durables_share", "split": "train", "source": "fred", "as_of": "2024-09-30", "question": "...",
     "same": ["..."], "near": [["year", "..."], ["negation", "..."]]}

A near miss that is taken for the same is a false hit: a wrong answer. One in other words that is not is a miss, which
costs a computation. No model but the embedder is asked.

`saved_on` counts what the cache would save on conversations whose answers are known, such as those of ConvFinQA.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from finexpert.answer_cache import AnswerCache, likeness, same
from finexpert.answer_cache_key import context
from finexpert.answers import Answer
from finexpert.datasets.convfinqa import Conversation
from finexpert.datasets.convfinqa_scoring import close
from finexpert.datasets.evaluation import Share, share
from finexpert.datasets.question_lines import records_of, text_of
from finexpert.question_reading import difference, read
from finexpert.stores.embedding import Embedder
from finexpert.workspace import Turn, Value

FILE = Path(__file__).parent / "questions" / "cache_pairs.jsonl"
Split = Literal["train", "holdout"]
Way = Literal["text", "meaning alone, 0.90", "meaning alone, 0.97", "reading alone", "cache"]


class Scenario(BaseModel):
    """One line of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scenario: str = Field(min_length=1)
    split: Split
    source: Literal["fred", "house", "convfinqa", "library"]
    as_of: dt.date
    question: str = Field(min_length=1)
    same: tuple[str, ...]
    near: tuple[tuple[str, str], ...]


class Pair(BaseModel):
    """Two questions; `differs` says in what, and is None where they ask for the same."""

    model_config = ConfigDict(frozen=True)

    scenario: str
    split: Split
    source: str
    as_of: dt.date
    one: str
    other: str
    differs: str | None = None


class PairResult(BaseModel):
    """What one way said of one pair; `why` is the difference that the reading names."""

    way: Way
    pair: Pair
    hit: bool
    why: str | None = None


class PairSummary(BaseModel):
    """One row: hits among pairs that ask for the same, and among near misses, as [right, n, share, low, high]."""

    way: Way
    split: Split
    hits: Share
    false_hits: Share


class Saved(BaseModel):
    """Turns of conversations that need no model, as one of an earlier turn's answers does; `right` of these hits are so."""

    conversations: int
    pages: int
    hits: Share
    right: int


def load_scenarios(path: Path = FILE) -> list[Scenario]:
    """The scenarios of a file; QuestionFileError names the line that is none."""
    text = text_of(path, "name another with --pairs, or none for the packaged ones")
    return [scenario for _, scenario in records_of(text, str(path), Scenario, "scenario")]


def pairs(scenarios: Sequence[Scenario]) -> Iterator[Pair]:
    """Each question with every other wording of it, and with every near miss."""
    for each in scenarios:
        known = each.model_dump(include={"scenario", "split", "source", "as_of"}) | {"one": each.question}
        for other in each.same:
            yield Pair(**known, other=other)
        for differs, other in each.near:
            yield Pair(**known, other=other, differs=differs)


def evaluate(chosen: Sequence[Pair], embedder: Embedder) -> list[PairResult]:
    """What every way says of every pair: the cache as it is, and what parts of it do alone."""
    results = []
    for pair in chosen:
        why = difference(read(pair.one, pair.as_of), read(pair.other, pair.as_of))
        cosine = likeness(pair.one, pair.other, embedder)
        said: dict[Way, bool] = {
            "text": pair.one.strip().casefold() == pair.other.strip().casefold(),
            "meaning alone, 0.90": cosine >= 0.90,
            "meaning alone, 0.97": cosine >= 0.97,
            "reading alone": why is None,
            "cache": same(pair.one, pair.other, pair.as_of, embedder),
        }
        results += [PairResult(way=way, pair=pair, hit=hit, why=why) for way, hit in said.items()]
    return results


def summarise(results: Sequence[PairResult]) -> list[PairSummary]:
    """One row for each way and split, in their order."""
    rows = []
    for way, split in product(get_args(Way), get_args(Split)):
        own = [result for result in results if (result.way, result.pair.split) == (way, split)]
        if not own:
            continue
        said = {near: [r.hit for r in own if (r.pair.differs is not None) is near] for near in (False, True)}
        hits, false = (share(sum(said[near]), len(said[near])) for near in (False, True))
        rows.append(PairSummary(way=way, split=split, hits=hits, false_hits=false))
    return rows


def saved_on(conversations: Sequence[Conversation], model: Embedder, as_of: dt.date) -> Saved:
    """What the cache saves when these conversations are held one after the other, each turn answered as gold has it.

    A page counts as one source, however many conversations are about it. Turns without a public answer are left out.
    """
    turns = hits = right = 0
    with TemporaryDirectory() as folder, AnswerCache(Path(folder) / "answers.sqlite", model) as cache:
        for conversation in conversations:
            earlier: list[str] = []
            for asked in conversation.turns:
                if asked.answer is not None:
                    said = context(asked.question, earlier, as_of)
                    key = repr((conversation.filing.fingerprint, said))
                    turns += 1
                    if found := cache.find(key, asked.question, as_of):
                        hits += 1
                        right += close(found.answer.value, asked.answer)
                    else:
                        answer = Answer(question=asked.question, status="answered", value=asked.answer)
                        cache.keep(key, asked.question, as_of, answer, Turn(asked.question, Value(asked.answer)))
                earlier.append(asked.question)
    pages = len({conversation.filing.fingerprint for conversation in conversations})
    return Saved(conversations=len(conversations), pages=pages, hits=share(hits, turns), right=right)
