"""A provider's embeddings, asked through DSPy.

    ProviderEmbedder("openai/text-embedding-3-small").embed(["the jobless rate"])  ->  one row of 1536 numbers

The keys are those of the provider's own environment variables. Texts leave the machine here, so it is used only when
it is named. The calls are not metered: DSPy does not say what they took.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from finexpert.core.deadline import run_within
from finexpert.embeddings.vectors import Vectors
from finexpert.errors import ConfigurationError, FinexpertError, ModelUnreachable
from finexpert.language_models.providers import key_variables
from finexpert.language_models.quiet import quiet
from finexpert.language_models.secrets import known_secrets, redacted

LONGEST = 8_000
TOGETHER = 200  # texts in one request
_REFUSED = {"AuthenticationError", "PermissionDeniedError", "NotFoundError", "BadRequestError"}


class ProviderEmbedder:
    """Embeddings of a model as LiteLLM names it; `options` go to `litellm.embedding`. A text is cut after 8000 characters.

    `timeout` is for one try of a request, however slowly its answer drips in; all tries together have their sum.
    """

    def __init__(self, model: str, **options: Any) -> None:
        self.model = model
        self._options = {"timeout": 60.0, "max_retries": 2} | options
        # The client's own timeout, which it counts anew with every byte, says more and comes first.
        self._latest = float(self._options["timeout"]) * (1 + int(self._options["max_retries"])) + 1.0

    @property
    def name(self) -> str:
        return f"{self.model}-{self.dimensions}"

    @cached_property
    def dimensions(self) -> int:
        """Asked of the model, once."""
        return int(self._ask(["dimensions"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        asked = [text[:LONGEST] or " " for text in texts]
        rows = np.vstack([self._ask(asked[start : start + TOGETHER]) for start in range(0, len(asked), TOGETHER)])
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    def _ask(self, texts: list[str]) -> Vectors:
        keys = key_variables(self.model)
        if keys and not {"api_key", "api_base"} & self._options.keys() and not any(map(os.environ.get, keys)):
            raise ConfigurationError(
                f"there is no key for the embedder {self.model}: set {' or '.join(keys)}, "
                "or name another with FINEXPERT_EMBEDDER ('words' asks nobody)"
            )
        quiet()
        import dspy
        from openai import OpenAIError  # what LiteLLM's errors derive from

        asking = partial(dspy.Embedder(self.model, **self._options), texts)
        try:
            rows = np.asarray(run_within(self._latest, asking, lambda: None), dtype=np.float32)
        except TimeoutError:
            raise ModelUnreachable(
                f"the embedder {self.model} gave no whole answer within {self._latest:g} s. Try again, or name another "
                "with FINEXPERT_EMBEDDER ('words' asks nobody)."
            ) from None
        except OpenAIError as error:
            # Without its cause: it may quote the request, and the provider's words stand in ours.
            raise self._translated(error) from None
        if rows.shape[0] != len(texts) or rows.ndim != 2 or not np.linalg.norm(rows, axis=1).all():
            raise ModelUnreachable(
                f"the embedder {self.model} gave vectors of shape {rows.shape} for {len(texts)} texts: "
                "name another with FINEXPERT_EMBEDDER"
            )
        return rows

    def _translated(self, error: Exception) -> FinexpertError:
        status = getattr(error, "status_code", None)
        words = " ".join(str(getattr(error, "message", None) or error).split())
        detail = words.removeprefix("litellm.")[:300].rstrip(". ")
        said = f"{f' (HTTP {status})' if status else ''}: {redacted(detail, known_secrets())}"
        if _REFUSED & {kind.__name__ for kind in type(error).__mro__}:
            keys = " or ".join(key_variables(self.model)) or "its key"
            return ConfigurationError(
                f"the embedder {self.model} refused{said}. Set {keys}, or name another with FINEXPERT_EMBEDDER "
                "('words' asks nobody)."
            )
        return ModelUnreachable(
            f"the embedder {self.model} cannot be reached{said}. Try again, or name another with FINEXPERT_EMBEDDER "
            "('words' asks nobody)."
        )
