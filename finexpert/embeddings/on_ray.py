"""Embedding on a Ray cluster, for libraries that take days: `finexpert library add filings/ --engine ray`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from finexpert.core.ray_cluster import connected
from finexpert.embeddings.embedding import Embedder, embedder
from finexpert.embeddings.vectors import Vectors
from finexpert.errors import ConfigurationError

# A text takes a twentieth of a second: a node that is lost loses a second or two, and Ray has another do it.
_TEXTS = 25


def _embedded(setting: str, name: str, texts: Sequence[str]) -> Vectors:
    """On a node, which has its own copy of the model."""
    made = embedder(setting)
    if made.name != name:
        raise ConfigurationError(f"a node of the cluster embeds with {made.name}, and this process with {name}")
    return made.embed(texts)


class OnRay:
    """An embedder whose texts are embedded by the nodes; its vectors are those of `inner`, the one that the setting names."""

    def __init__(self, ray: Any, setting: str) -> None:
        self._ray, self._setting = ray, setting
        self.inner: Embedder = embedder(setting)
        self.name, self.dimensions = self.inner.name, self.inner.dimensions
        self._task = ray.remote(_embedded).options(num_cpus=1, max_retries=3)
        # So many keep every core busy.
        self.at_once = 4 * _TEXTS * max(1, int(ray.cluster_resources().get("CPU", 1)))

    def embed(self, texts: Sequence[str]) -> Vectors:
        parts = [texts[start : start + _TEXTS] for start in range(0, len(texts), _TEXTS)]
        if not parts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        under_way = [self._task.remote(self._setting, self.name, part) for part in parts]
        try:
            return np.concatenate(self._ray.get(under_way))
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from error


@contextmanager
def on_ray(setting: str) -> Iterator[OnRay]:
    """The embedder of a setting, on the cluster at RAY_ADDRESS or on one of this machine."""
    with connected() as ray:
        yield OnRay(ray, setting)
