"""The sign index: finds the few vectors worth comparing exactly, by one bit for each of 1,024 random directions.

    index.nearest(questions, {"active"}, 8, fetch)  ->  the best 8 of 100,000 after fetching 256 to 1,250 of them

Two vectors whose cosine is high lie on the same side of most directions, so few bits differ: that is counted for all in
memory, and only the nearest are fetched and compared as they are. 100,000 vectors take 15 MB instead of 150, and what
an exact search over sentences of filings found was found (1,200 of 1,200). It keeps no vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from finexpert.embeddings.vectors import Vectors

BITS = 1024
STATUSES = ("draft", "active", "retired")
FIRST = 256
_ROWS = 2048
_FAR = np.uint16(BITS + 1)

# number of the vector, number of the version that it belongs to, which phrase of it, its status, its code
Coded = tuple[int, int, int, str, bytes]
# number of the version, which phrase of it, cosine
Near = tuple[int, int, float]
# the vectors with these rising numbers, one a row
Fetch = Callable[[Sequence[int]], Vectors]


def codes(vectors: Vectors) -> list[bytes]:
    """One code a row; the same in every process and version, because codes are kept.

    >>> near, same, far = codes(np.array([[1, 0.1], [1, 0.1], [-1, -0.1]], dtype=np.float32))
    >>> near == same, sum((a ^ b).bit_count() for a, b in zip(near, far))
    (True, 1024)
    """
    if not len(vectors):
        return []
    if len(vectors) > _ROWS:  # all at once would take several times their size
        return [code for start in range(0, len(vectors), _ROWS) for code in codes(vectors[start : start + _ROWS])]
    width = max(BITS, 1 << (vectors.shape[1] - 1).bit_length())
    turned = np.pad(vectors, ((0, 0), (0, width - vectors.shape[1])))
    for flips in _flips(width):
        turned = _hadamard(turned * flips)
    return [row.tobytes() for row in np.packbits(turned[:, :BITS] > 0, axis=1)]


def _hadamard(rows: Vectors) -> Vectors:
    """Every sum of a row with signs in the pattern of Hadamard: directions at right angles, in n log n steps.

    With signs flipped by chance before, and done twice, they are as good as random ones. That they are at right angles
    halves the wrong guesses.
    """
    count, width = rows.shape
    half = 1
    while half < width:
        pairs = rows.reshape(count, -1, 2, half)
        rows = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
        half *= 2
    return rows.reshape(count, width)


@lru_cache(maxsize=4)
def _flips(width: int) -> Vectors:
    # RandomState, because its numbers are frozen for all versions of numpy; those of a Generator are not.
    return (np.random.RandomState(20).randint(0, 2, (2, width)) * 2 - 1).astype(np.float32)


class SignIndex:
    """The codes of one collection as of a stamp. Not safe for several threads: whoever has it must lock."""

    def __init__(self) -> None:
        self.stamp = 0
        self._owners: NDArray[np.int64] = np.empty((0, 3), np.int64)  # number, version, phrase
        self._statuses: NDArray[np.uint8] = np.empty(0, np.uint8)
        self._words: NDArray[np.uint64] = np.empty((BITS // 64, 0), np.uint64)

    def __len__(self) -> int:
        return len(self._statuses)

    def update(self, stamp: int, replaced: Sequence[int], rows: Sequence[Coded]) -> None:
        """Drop the vectors of the versions that were replaced, and add rows."""
        keep = ~np.isin(self._owners[:, 1], np.array(replaced, np.int64))
        owners = np.array([row[:3] for row in rows], np.int64).reshape(-1, 3)
        statuses = np.array([STATUSES.index(status) for *_, status, _ in rows], np.uint8)
        words = np.frombuffer(b"".join(row[4] for row in rows), np.uint64).reshape(-1, BITS // 64)
        self._owners = np.concatenate([self._owners[keep], owners])
        self._statuses = np.concatenate([self._statuses[keep], statuses])
        self._words = np.ascontiguousarray(np.concatenate([self._words[:, keep], words.T], axis=1))
        self.stamp = stamp

    def nearest(self, vectors: Vectors, statuses: Collection[str], limit: int, fetch: Fetch) -> list[Near]:
        """The versions nearest to any of the vectors, each once by its best phrase, the nearest first."""
        fits = np.array([status in statuses for status in STATUSES])[self._statuses]
        found = [near for vector in vectors for near in self._nearest(vector, fits, limit, fetch)]
        return best(found, limit)

    def _nearest(self, vector: Vectors, fits: NDArray[np.bool_], limit: int, fetch: Fetch) -> list[Near]:
        far = self._distances(np.frombuffer(codes(vector[None])[0], np.uint64))
        far[~fits] = _FAR
        total = int(np.count_nonzero(fits))
        size = min(total, 1000 + total // 400)
        while True:
            # The smallest distance within which there are enough: many are equally far, and none of them is left out.
            within = np.searchsorted(np.cumsum(np.bincount(far)), size)
            listed = np.flatnonzero(far <= within) if size < total else np.flatnonzero(fits)
            listed = listed[np.argsort(far[listed], kind="stable")]
            found = self._compared(listed[:FIRST], vector, fetch)
            rest = listed[FIRST:]
            if len(near := best(found, limit)) == limit:
                rest = rest[far[rest] <= _radius(near[-1][2])]
            near = best(found + self._compared(rest, vector, fetch), limit)
            if len(near) == limit or size == total:
                return near
            size = min(total, 8 * size)  # entries with so many phrases that too few entries were listed

    def _compared(self, places: NDArray[np.int64], vector: Vectors, fetch: Fetch) -> list[Near]:
        if not len(places):
            return []
        owners = self._owners[np.sort(places)]
        owners = owners[np.argsort(owners[:, 0])]
        # Not by @: its threads would wait for busy processors longer than the few numbers take.
        scores = np.einsum("ij,j->i", fetch(owners[:, 0].tolist()), vector)
        return list(zip(owners[:, 1].tolist(), owners[:, 2].tolist(), scores.tolist(), strict=True))

    def _distances(self, code: NDArray[np.uint64]) -> NDArray[np.uint16]:
        far = np.zeros(len(self), np.uint16)
        for word, wanted in zip(self._words, code, strict=True):
            far += np.bitwise_count(word ^ wanted)
        return far


def best(found: Sequence[Near], limit: int) -> list[Near]:
    """Each version once, by its best phrase, the nearest first; of equals, the one that was kept first.

    >>> best([(1, 0, 0.5), (2, 1, 0.9), (1, 3, 0.7)], 8)
    [(2, 1, 0.9), (1, 3, 0.7)]
    """
    chosen: dict[int, Near] = {}
    for near in sorted(found, key=lambda near: (-near[2], near[0], near[1])):
        if len(chosen) == limit:
            break
        chosen.setdefault(near[0], near)
    return list(chosen.values())


def _radius(cosine: float) -> float:
    """How many bits of a vector with this cosine, or a higher one, differ at most, but for one in 700.

    Each bit differs with the probability angle / 180 degrees; three standard deviations, fewer in truth, because the
    directions are at right angles.
    """
    share = math.acos(min(1.0, max(-1.0, cosine))) / math.pi
    return BITS * share + 3.0 * math.sqrt(BITS * share * (1.0 - share))
