"""Answers that were given before, found by the meaning of their question.

    cache.find(key, "How high was the jobless rate in March 1995?", day)
    ->  the answer to "What was the unemployment rate in March 1995?", if all else is as it was then

`key` (`answer_cache_key`) holds everything else that an answer rests on: data, day, format, what was taught, program,
model and settings. Two questions are the same when nothing that could change an answer differs (`question_reading`) and
the embedder finds them alike too. Of the two the first decides: embeddings alone cannot tell 2019 from 2018.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from pathlib import Path
from typing import Self

from finexpert.answer_cache_entry import Entry, dumped, restored
from finexpert.answer_cache_file import AnswerFile
from finexpert.answers import Answer
from finexpert.errors import StoreError
from finexpert.question_reading import Reading, difference, read
from finexpert.stores.embedding import Embedder, WordHashing
from finexpert.workspace import Turn

MOST = 1000
MOST_BYTES = 64 * 1024 * 1024
# The cosine below which questions of the same words are not the same. Counted words only repeat what the reading says.
ALIKE = 0.8
SURE = 50


class AnswerCache:
    """Kept answers. Raises StoreError where its file cannot be used. Close it, or use it as a context manager."""

    def __init__(self, path: Path, embedder: Embedder, *, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self.embedder = embedder
        self._file = AnswerFile(path, most=most, most_bytes=most_bytes)

    def find(self, key: str, question: str, as_of: dt.date) -> Entry | None:
        """The answer that was kept under this key for the question, however it was worded."""
        reading = read(question, as_of)
        for row in self._file.rows(key, bag(reading)):
            if same(question, row.question, as_of, self.embedder, reading):
                try:
                    entry = restored(row.body)
                except (KeyError, TypeError, ValueError) as error:
                    raise StoreError(
                        f"the answer cache {self._file.path} holds what it never wrote: delete the file"
                    ) from error
                self._file.touch(row.id)
                return entry
        return None

    def keep(self, key: str, question: str, as_of: dt.date, answer: Answer, turn: Turn) -> bool:
        """Keep an answer, in the place of an earlier one to the same question; whether it was kept.

        Failures, doubtful answers (a confidence below 50) and what JSON does not hold are not kept.
        """
        if answer.status != "answered" or (answer.confidence is not None and answer.confidence < SURE):
            return False
        body = dumped(answer, turn, dt.datetime.now(dt.UTC))
        if body is None:
            return False
        reading = read(question, as_of)
        self._file.put(key, bag(reading), question, body, lambda kept: difference(read(kept, as_of), reading) is None)
        return True

    def __len__(self) -> int:
        return self._file.count()

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def bag(reading: Reading) -> str:
    """The hash of a question's words without their order: what can be the same has the same."""
    return hashlib.sha256("\n".join(reading.bag).encode()).hexdigest()[:32]


def same(one: str, other: str, as_of: dt.date, embedder: Embedder, reading: Reading | None = None) -> bool:
    """Whether two questions ask for the same.

    >>> from finexpert.stores.embedding import embedder
    >>> day, words = dt.date(2024, 9, 30), embedder("words")
    >>> same("What was net revenue in 2015?", "How high was net revenue in 2015?", day, words)
    True
    >>> same("What was net revenue in 2015?", "What was gross revenue in 2015?", day, words)
    False
    """
    if one.strip() == other.strip():
        return True
    first, second = reading or read(one, as_of), read(other, as_of)
    if not first.words or difference(first, second) is not None:
        return False
    return isinstance(embedder, WordHashing) or likeness(one, other, embedder) >= ALIKE


def likeness(one: str, other: str, embedder: Embedder) -> float:
    """The cosine of two questions."""
    first, second = embedder.embed([one, other])
    return float(first @ second)
