"""Made-up numbers for the example warehouses: the same ones for the same name and variant.

    >>> float(generator("prices", 0).random()) == float(generator("prices", 0).random())
    True
    >>> float(generator("prices", 0).random()) == float(generator("prices", 1).random())
    False

One stream a name: a change to one column leaves the numbers of the others alone. Nothing here knows of any table.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def generator(name: str, variant: int) -> np.random.Generator:
    """The stream of random numbers of a name and a variant."""
    return np.random.Generator(np.random.PCG64(zlib.crc32(f"{variant}/{name}".encode())))


def growth(name: str, variant: int, size: int, start: float, drift: float, noise: float) -> Floats:
    """Levels that grow by `drift` a step on average, in logs, with normal noise.

    >>> growth("x", 0, 3, start=100.0, drift=0.0, noise=0.0).tolist()
    [100.0, 100.0, 100.0]
    """
    steps = drift + noise * generator(name, variant).standard_normal(size)
    steps[0] = 0.0
    return np.asarray(start * np.exp(np.cumsum(steps)), dtype=float)


def around(name: str, variant: int, size: int, mean: float, memory: float, noise: float) -> Floats:
    """A level that wanders around `mean` and keeps `memory` of its last distance from it."""
    shocks = noise * generator(name, variant).standard_normal(size)
    level, values = 0.0, np.empty(size)
    for place, shock in enumerate(shocks):
        level = memory * level + shock
        values[place] = mean + level
    return values


def with_gaps(name: str, variant: int, values: Floats, share: float) -> Floats:
    """The values with this share of them missing, never the first or the last."""
    gone = generator(f"{name} gaps", variant).random(len(values)) < share
    gone[[0, -1]] = False
    return np.where(gone, np.nan, values)


def dealt(name: str, variant: int, labels: Sequence[str]) -> list[str]:
    """The labels in another order for each variant: what a question names by label is another row each time."""
    order = generator(name, variant).permutation(len(labels))
    return [labels[place] for place in order]


def month_ends(first: str, last: str) -> pd.DatetimeIndex:
    return pd.date_range(first, last, freq="ME")
