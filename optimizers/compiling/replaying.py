"""What a compile has asked so far, on disk: an interrupted search is answered from it up to where it stopped.

    {"model": "openai/qwen", "prompt": "584df79187...", "sample": null, "text": "[[ ## selects ## ]] ...", "cost": 0.002}

DSPy's optimizers cannot be taken up in the middle: GEPA's own checkpoint is a pickle and does not hold its random
generator, MIPROv2 keeps no state at all. Begun again with the same seed they ask the same, and get here what they got
then, prompt by prompt: no model is asked twice, and each answer counts against the budget as it did when it was made.
A prompt that is asked several times gets its completions in the order in which they came.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from finexpert.datasets.evaluations import journal
from finexpert.language_models.engines import Engine, Stamp, asking, text_response
from finexpert.language_models.model import LanguageModel
from finexpert.language_models.recordings.prompts import from_request, prompt_hash
from finexpert.language_models.recordings.recorded import RecordedModel
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.spec import LAYERS

Key = tuple[str, str, int | None]


class Completion(BaseModel):
    """One completion and what it took."""

    model: str
    prompt: str
    sample: int | None = None
    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    source: str = "model"

    @property
    def key(self) -> Key:
        return self.model, self.prompt, self.sample


class Completions:
    """The completions in a file: those of an earlier run are handed out once each, new ones are appended."""

    def __init__(self, path: Path) -> None:
        self._file = journal.Journal(path, Completion)
        self._lock = threading.Lock()
        self._left: dict[Key, list[Completion]] = defaultdict(list)
        for found in self._file.results:
            self._left[found.key].append(found)

    def next(self, key: Key) -> Completion | None:
        """The next completion of this prompt that was not handed out yet."""
        with self._lock:
            return self._left[key].pop(0) if self._left.get(key) else None

    def add(self, completion: Completion) -> None:
        self._file.add(completion)

    def wrap(self, lm: LanguageModel) -> LanguageModel:
        """The same model, which is asked only for what is not here; recorded completions need no second copy."""
        if isinstance(lm.engine, RecordedModel):
            return lm
        return lm.copy(engine=Replaying(lm.engine, self))  # type: ignore[no-any-return]

    def wrap_all(self, models: LanguageModels) -> LanguageModels:
        """The models of all layers, wrapped."""
        own = {layer: models.for_layer(layer) for layer in LAYERS}
        layers = {layer: self.wrap(lm) for layer, lm in own.items() if lm is not models.default}
        return LanguageModels(self.wrap(models.default), layers, models.describe())


class Replaying(Engine):
    """Answers from `completions`, else has `engine` answer and keeps that."""

    def __init__(self, engine: Engine, completions: Completions) -> None:
        self.engine, self.completions = engine, completions
        self.endpoint, self.timeout = engine.endpoint, engine.timeout

    def prepare(self) -> None:
        self.engine.prepare()

    def answer(self, request: Any) -> tuple[Any, Stamp]:
        call = asking.get()
        prompt, sample = prompt_hash(from_request(request)), call.sample if call else None
        kept = self.completions.next((request.model, prompt, sample))
        if kept is not None:
            response = text_response(request.model, kept.text, kept.prompt_tokens, kept.completion_tokens)
            return response, Stamp(prompt, cost=kept.cost, source=kept.source)
        response, stamp = self.engine.answer(request)
        self.completions.add(
            Completion(
                model=request.model,
                prompt=prompt,
                sample=sample,
                text=response.text or "",
                prompt_tokens=response.usage.input_tokens or 0,
                completion_tokens=response.usage.output_tokens or 0,
                cost=stamp.cost,
                source=stamp.source,
            )
        )
        return response, stamp

    def close(self) -> None:
        self.engine.close()

    def dump_state(self) -> dict[str, Any]:
        return self.engine.dump_state()
