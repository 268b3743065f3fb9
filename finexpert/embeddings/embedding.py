"""Embeddings: texts as vectors, so that what is alike in meaning is near.

    embedder().embed(["the jobless rate", "unemployment"])  ->  two rows of length 1, whose product is their cosine

Which embedder: the packaged sentence model where it is installed, else counted words, or a provider's by its name.
Vectors of different embedders are never compared: a store remembers the `name`. Nothing is loaded before the first
text is embedded.
"""

from __future__ import annotations

import logging
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from finexpert.embeddings.minilm import MiniLM, missing
from finexpert.embeddings.vectors import Vectors
from finexpert.text.terms import words_of

log = logging.getLogger(__name__)


class Embedder(Protocol):
    """Turns texts into vectors.

    Must give one float32 row of length 1 a text, also for an empty one; the same for the same text, whatever else
    is embedded in the call. May cut long texts. May be called by several threads.
    """

    @property
    def name(self) -> str:
        """What makes vectors comparable: model, variant and dimensions."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors: ...


class WordHashing:
    """Counts words and parts of words in hashed buckets: it knows spelling, not meaning.

    >>> rate, rates, gold = WordHashing().embed(["unemployment rate", "the unemployment rates", "gold price"])
    >>> bool(rate @ rates > 0.9), bool(rate @ gold < 0.1)
    (True, True)
    """

    dimensions = 1024
    name = f"words-v1-{dimensions}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for feature, weight in _features(text):
                code = zlib.crc32(feature.encode())
                row[code % self.dimensions] += weight if code >> 31 else -weight
            row[0] += not row.any()
            row /= np.linalg.norm(row)
        return vectors


class Remembering:
    """An embedder that keeps the vectors of the latest texts, and embeds with one thread at a time."""

    def __init__(self, inner: Embedder, texts: int = 1024) -> None:
        self.inner, self._limit = inner, texts
        self._lock = threading.Lock()
        self._rows: OrderedDict[str, Vectors] = OrderedDict()

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def dimensions(self) -> int:
        return self.inner.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            found = {text: self._rows[text] for text in texts if text in self._rows}
            new = [text for text in dict.fromkeys(texts) if text not in found]
            found |= dict(zip(new, self.inner.embed(new), strict=True)) if new else {}
            for text, row in found.items():
                self._rows[text] = row
                self._rows.move_to_end(text)
            while len(self._rows) > self._limit:
                self._rows.popitem(last=False)
        return np.stack([found[text] for text in texts]) if texts else self.inner.embed(())


def embedder(setting: str | None = None) -> Embedder:
    """The embedder of a setting; the same object for the same setting.

    None or "auto" is the packaged sentence model, or counted words where it is not installed; "minilm" and "words"
    are the one and the other; anything else is a model as LiteLLM names it, such as `openai/text-embedding-3-small`.
    Raises ConfigurationError where "minilm" is asked for and is not installed.

    >>> embedder("words").name
    'words-v1-1024'
    """
    key = setting or "auto"
    with _lock:
        if key not in _made:
            _made[key] = _make(key)
        return _made[key]


_lock = threading.Lock()
_made: dict[str, Embedder] = {}


def _make(setting: str) -> Embedder:
    if setting == "words":
        return WordHashing()
    if setting == "minilm":
        return Remembering(MiniLM())
    if setting == "auto":
        if lacking := missing():
            log.warning(
                "%s not installed: what was taught is found by its words, not by its meaning; "
                "install them with pip, or set FINEXPERT_EMBEDDER",
                ", ".join(lacking),
            )
            return WordHashing()
        return Remembering(MiniLM())
    from finexpert.embeddings.provider import ProviderEmbedder

    return Remembering(ProviderEmbedder(setting))


# Words of questions in general say little of what is asked.
_COMMON = frozenset(
    (
        "a", "an", "the", "of", "in", "on", "at", "to", "for", "and", "or", "is", "are", "was", "were", "be",
        "been", "do", "did", "doe", "does", "has", "have", "had", "how", "what", "which", "when", "who", "where",
        "why", "by", "from", "with", "over", "per", "than", "then", "that", "this", "these", "those", "it", "its",
        "as", "many", "much", "often", "long",
    )
)  # fmt: skip


def _features(text: str) -> Iterator[tuple[str, float]]:
    words = words_of(text)
    for word in words:
        weight = 0.2 if word in _COMMON else 1.0
        yield f"w {word}", weight
        padded = f"<{word}>"
        grams = [padded[start : start + 3] for start in range(len(padded) - 2)]
        for gram in grams:
            yield f"c {gram}", 0.5 * weight / len(grams) ** 0.5
    for first, second in pairwise(words):
        yield f"b {first} {second}", 0.3
