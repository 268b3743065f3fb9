"""From settings to the language models of the layers.

    >>> from finexpert.language_models.scripted import ScriptedModel
    >>> models = LanguageModels(ScriptedModel(["a plan"]))
    >>> models.for_layer("planning").model
    'scripted'

Each layer may have a model of its own, or the same model with another temperature, address or number of tokens.
Where no model is named and none is found, the recorded completions answer.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from finexpert.errors import ConfigurationError
from finexpert.language_models.circuit_breaker import Breakers
from finexpert.language_models.discovery import Probe, discover
from finexpert.language_models.litellm_engine import LiteLLM
from finexpert.language_models.model import LanguageModel
from finexpert.language_models.openai_server import OpenAIServer
from finexpert.language_models.providers import full_name, is_reasoning_model, prefix
from finexpert.language_models.quiet import quiet
from finexpert.language_models.recordings.recorded import RECORDED, RecordedModel
from finexpert.language_models.recordings.recorder import Recorder
from finexpert.language_models.secrets import shown
from finexpert.language_models.spec import ModelSettings, ModelSpec, further_spec, layer_spec

__all__ = ["LanguageModels", "ModelSpec", "build_lm"]

# What is set for a layer goes for its parts too, unless something else is set for them.
PART_OF = {"extraction_critic": "critique", "calculation_critic": "critique"}

_LEAST_TOKENS_TO_REASON = 16_000


class LanguageModels:
    """The model of each layer."""

    def __init__(
        self,
        default: LanguageModel,
        layers: Mapping[str, LanguageModel] | None = None,
        description: Mapping[str, Any] | None = None,
        strong: LanguageModel | None = None,
    ) -> None:
        self.default = default
        self.strong = strong
        self._layers = dict(layers or {})
        self._description = dict(description or {"model": default.model})
        self._repeat = 1

    @classmethod
    def from_settings(
        cls, settings: ModelSettings, *, environ: Mapping[str, str] | None = None, probe: Probe | None = None
    ) -> LanguageModels:
        """The models that the settings name, else the one that is found, else the recorded completions."""
        quiet()
        spec = _default_spec(settings, os.environ if environ is None else environ, probe)
        specs = {layer: layer_spec(spec, layer, given) for layer, given in settings.layers.items()}
        last, stronger = further_spec(settings, "fallback"), further_spec(settings, "strong")
        breakers = Breakers()

        def built(each: ModelSpec) -> LanguageModel:
            return build_lm(
                each,
                cache=settings.cache,
                recordings=settings.recordings,
                record=settings.record,
                breakers=breakers,
            )

        default, *others = map(built, (spec, *specs.values()))
        if last is not None:
            fallback = built(last)
            for model in (default, *others):
                model.fallback = fallback
        description = _describe(spec) | (
            {"layers": {layer: _describe(each) for layer, each in specs.items()}} if specs else {}
        )
        for name, spec_of in (("fallback", last), ("strong", stronger)):
            if spec_of is not None:
                description[name] = _describe(spec_of)
        if isinstance(default.engine, RecordedModel):
            description["recordings"] = default.engine.describe()
        strong = built(stronger) if stronger is not None else None
        return cls(default, dict(zip(specs, others, strict=True)), description, strong)

    def for_layer(self, layer: str) -> LanguageModel:
        """The model of a layer; that of the layer it is a part of, or the default, if it has none of its own."""
        return self._layers.get(layer) or self._layers.get(PART_OF.get(layer, ""), self.default)

    def repeat(self, number: int) -> LanguageModels:
        """The same models for the nth answer to the same questions; the second and later ones are asked anew."""
        if number == 1:
            return self
        again = {layer: lm.copy(rollout_id=number) for layer, lm in self._layers.items()}
        strong = self.strong and self.strong.copy(rollout_id=number)
        models = LanguageModels(self.default.copy(rollout_id=number), again, self._description, strong)
        models._repeat = number
        return models

    def stronger(self) -> LanguageModels:
        """The model that is asked in the mode cheap-first where these leave a doubt, for all layers."""
        if self.strong is None:
            raise ConfigurationError("the mode 'cheap-first' needs a second model: set FINEXPERT_STRONG_LM")
        return LanguageModels(self.strong)

    def drawn_again(self, temperature: float = 0.7) -> LanguageModels:
        """The same models for a second draw of the same prompt: warmer where a temperature can be set, and asked anew."""

        def warmer(model: LanguageModel) -> LanguageModel:
            change = {} if model.kwargs.get("temperature") is None else {"temperature": temperature}
            drawn: LanguageModel = model.copy(rollout_id=(model.kwargs.get("rollout_id") or 1) + 1000, **change)
            return drawn

        return LanguageModels(
            warmer(self.default), {layer: warmer(model) for layer, model in self._layers.items()}, self._description
        )

    @property
    def replaying(self) -> bool:
        """Whether the default model replays recorded completions."""
        return isinstance(self.default.engine, RecordedModel)

    def describe(self) -> dict[str, Any]:
        """Model, address, way of sampling, how it was found, and the layers that differ; never a key."""
        return {**self._description, "replaying": self.replaying} | (
            {"repeat": self._repeat} if self._repeat > 1 else {}
        )


def build_lm(
    spec: ModelSpec,
    *,
    cache: bool = True,
    recordings: Sequence[Path] = (),
    record: Path | Recorder | None = None,
    breakers: Breakers | None = None,
) -> LanguageModel:
    """The language model of a spec. `record` names a file to which its completions are appended.

    Models that are built with the same `breakers` know of each other when a provider keeps failing.
    """
    quiet()
    if spec.model == RECORDED:
        return LanguageModel(RECORDED, RecordedModel(recordings), cache=False, num_retries=0)
    spec = _with_base_of_environment(spec)
    key = spec.api_key.get_secret_value() if spec.api_key else None
    breaker = (breakers or Breakers()).of(spec.api_base or f"the provider {prefix(spec.model)}")
    kind = OpenAIServer if _is_plain_server(spec) else LiteLLM
    engine = kind(spec.api_base, key, spec.timeout, spec.extra, breaker)
    temperature, max_tokens = _sampling(spec)
    lm = LanguageModel(
        full_name(spec.model, spec.api_base),
        engine,
        temperature=temperature,
        max_tokens=max_tokens,
        cache=cache,
        num_retries=spec.retries,
    )
    if record is not None:
        lm.recorder = record if isinstance(record, Recorder) else Recorder(record)
    return lm


def _is_plain_server(spec: ModelSpec) -> bool:
    """Whether a spec names a server with an address of its own that is asked in OpenAI's protocol, and nothing that LiteLLM alone knows."""
    # The client takes a user and a password of an address for the name of a host, and shows them in its error.
    if spec.api_base is None or "@" in spec.api_base or spec.extra or is_reasoning_model(spec.model):
        return False
    return full_name(spec.model, spec.api_base).startswith("openai/")


def _sampling(spec: ModelSpec) -> tuple[float | None, int | None]:
    """Temperature and number of tokens as the model takes them: models that reason take neither a low one nor few."""
    if not is_reasoning_model(spec.model):
        return spec.temperature, spec.max_tokens
    enough = spec.max_tokens is not None and spec.max_tokens >= _LEAST_TOKENS_TO_REASON
    return None, spec.max_tokens if enough else None


def _with_base_of_environment(spec: ModelSpec) -> ModelSpec:
    """LiteLLM reads OPENAI_BASE_URL by itself; known here, errors name the place and no wrong price is reported."""
    base = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    if spec.api_base is None and base and prefix(spec.model) == "openai" and "api.openai.com" not in base:
        return spec.model_copy(update={"api_base": base})
    return spec


def _default_spec(settings: ModelSettings, environ: Mapping[str, str], probe: Probe | None) -> ModelSpec:
    asked: dict[str, Any] = {
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "timeout": settings.timeout,
    }
    if settings.lm is not None:
        asked |= {"api_base": settings.api_base, "api_key": settings.api_key, "found": "by --lm or FINEXPERT_LM"}
        name = full_name(settings.lm, settings.api_base)
        return ModelSpec(model=RECORDED if settings.lm == RECORDED else name, **asked)
    if settings.api_base is not None:
        environ = {**environ, "FINEXPERT_API_BASE": settings.api_base}
        if settings.api_key is not None:
            environ = {**environ, "FINEXPERT_API_KEY": settings.api_key.get_secret_value()}
    found = discover(environ, probe)
    if found is None:
        return ModelSpec(model=RECORDED, found="no language model was found: recorded completions answer", **asked)
    return found.model_copy(update=asked)


def _describe(spec: ModelSpec) -> dict[str, Any]:
    temperature, max_tokens = _sampling(spec)
    words = {
        "model": spec.model,
        "api_base": shown(spec.api_base) if spec.api_base else None,
        "temperature": temperature,
        "max_tokens": max_tokens,
        "found": spec.found,
        "extra": sorted(spec.extra) or None,
    }
    return {name: value for name, value in words.items() if value is not None}
