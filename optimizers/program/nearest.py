"""Nearest-neighbour demonstrations: a predictor that shows the examples most like the question at hand.

    compiled = NearestFewShot(k=3).compile(SqlExtraction(), trainset=examples)

It does what `dspy.KNNFewShot` does with labelled examples, with two differences: what was compiled is plain state
that JSON holds (DSPy replaces `forward` by a closure), and only the fields named in `by` are compared, so a schema
card that is the same everywhere does not drown the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import dspy
import numpy as np

from finexpert.embeddings.embedding import embedder
from finexpert.embeddings.vectors import Vectors
from finexpert.errors import ConfigurationError


class NearestPredict(dspy.Predict):  # type: ignore[misc]
    """A predictor with a pool of examples, of which the `k` nearest are shown before the fixed demonstrations.

    `nearest` is its state beside that of `dspy.Predict`: {"k", "by", "embedder", "pool"}.
    """

    def __init__(self, signature: Any, *, pool: Sequence[Mapping[str, Any]] = (), **how: Any) -> None:
        self.nearest: dict[str, Any] = {"k": 3, "by": ["question"], "embedder": "words", **how}
        super().__init__(signature)
        self.nearest["pool"] = [dict(example) for example in pool]

    def reset(self) -> None:
        super().reset()
        self.nearest = {**self.nearest, "pool": []}

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        state: dict[str, Any] = super().dump_state(json_mode=json_mode)
        # A predictor of our own to dump the pool: DSPy knows how to turn every value into JSON.
        holder = dspy.Predict(self.signature)
        holder.demos = [dspy.Example(**example) for example in self.nearest["pool"]]
        return state | {"nearest": {**self.nearest, "pool": holder.dump_state(json_mode=json_mode)["demos"]}}

    def forward(self, **kwargs: Any) -> dspy.Prediction:
        fixed = kwargs.pop("demos", self.demos)
        return super().forward(demos=[*self.examples_like(kwargs), *fixed], **kwargs)

    def examples_like(self, inputs: Mapping[str, Any]) -> list[dspy.Example]:
        """The nearest examples, the nearest last: next to the question."""
        pool, how = self.nearest["pool"], self.nearest
        if not pool:
            return []
        texts = tuple(_text(example, how["by"]) for example in pool)
        asked = embedder(how["embedder"]).embed([_text(inputs, how["by"])])[0]
        scores = _vectors(how["embedder"], texts) @ asked
        best = np.argsort(-scores, kind="stable")[: how["k"]]
        return [dspy.Example(**pool[place]) for place in reversed(best.tolist())]


class NearestFewShot:
    """Has every predictor of a layer for which there are examples show the nearest of them.

    An example belongs to a predictor if it has all output fields that must be there, and one of those to compare by.
    """

    def __init__(self, k: int = 3, *, by: Sequence[str] = ("question",), embedder: str = "words") -> None:
        if k < 1:
            raise ValueError(f"k is {k}: at least one example must be shown")
        self.k, self.by, self.embedder = k, list(by), embedder

    def compile(self, student: dspy.Module, *, trainset: Sequence[dspy.Example]) -> dspy.Module:
        """A copy of the layer with such predictors; ConfigurationError where no example belongs to any."""
        layer = student.reset_copy()
        found = False
        for name, predictor in layer.named_predictors():
            needed = {name for name, field in predictor.signature.output_fields.items() if field.is_required()}
            pool = [e.toDict() for e in trainset if needed <= set(e.keys()) and set(self.by) & set(e.keys())]
            if not pool:
                continue
            found = True
            nearest = NearestPredict(predictor.signature, pool=pool, k=self.k, by=self.by, embedder=self.embedder)
            dspy.primitives.module.set_attribute_by_name(layer, name, nearest)
        if not found:
            raise ConfigurationError(
                f"no example has all the output fields of a predictor of {type(student).__name__} "
                f"and one of the fields to compare by: {', '.join(self.by)}"
            )
        return layer


def _text(fields: Mapping[str, Any], by: Sequence[str]) -> str:
    return "\n".join(str(fields[name]) for name in by if fields.get(name)) or "(empty)"


@lru_cache(maxsize=32)
def _vectors(setting: str, texts: tuple[str, ...]) -> Vectors:
    return embedder(setting).embed(texts)
