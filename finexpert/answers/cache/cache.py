"""Answers that were given before, found again by their question.

    cache.find(key)  ->  the answer that was given to this question, if all else is as it was then

`key` (`finexpert.answers.cache.key`) holds everything that an answer rests on: question, data, day, format, what was taught,
program, model and settings. A question in other words is another question: over 1,152 turns of conversations, knowing
paraphrases saved 7 calls, and it needed a thousand lines to keep 2019 apart from 2018.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from finexpert.answers.cache.entry import Entry, dumped, restored
from finexpert.answers.cache.file import AnswerFile
from finexpert.core.answers import Answer
from finexpert.core.workspace import Turn
from finexpert.errors import StoreError
from finexpert.storage.closing import Closing

MOST = 1000
MOST_BYTES = 64 * 1024 * 1024
SURE = 50


class AnswerCache(Closing):
    """Kept answers. Raises StoreError where its file cannot be used. Close it, or use it as a context manager."""

    def __init__(self, path: Path, *, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self._file = AnswerFile(path, most=most, most_bytes=most_bytes)

    def find(self, key: str) -> Entry | None:
        """The answer that was kept under this key."""
        body = self._file.body(key)
        if body is None:
            return None
        try:
            return restored(body)
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"the answer cache {self._file.path} holds what it never wrote: delete the file"
            ) from error

    def keep(self, key: str, answer: Answer, turn: Turn) -> bool:
        """Keep an answer, in the place of an earlier one under its key; whether it was kept.

        Failures, doubtful answers (a confidence below 50) and what JSON does not hold are not kept.
        """
        if answer.status != "answered" or (answer.confidence is not None and answer.confidence < SURE):
            return False
        body = dumped(answer, turn, dt.datetime.now(dt.UTC))
        if body is None:
            return False
        self._file.put(key, body)
        return True

    def __len__(self) -> int:
        return self._file.count()

    def close(self) -> None:
        self._file.close()
