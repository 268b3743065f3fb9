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
from typing import Any, Protocol

from pydantic import SecretStr, ValidationError

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
from finexpert.language_models.spec import ModelSpec

__all__ = ["LanguageModels", "ModelSpec", "build_lm"]

# The layers that have a language model; a setting for another name is a mistake.
LAYERS = (
    "keyword_rephrasing",
    "memory_lookup",
    "planning",
    "sql_extraction",
    "script_generation",
    "filing_search",
    "filing_reading",
    "critique",
    "extraction_critic",
    "calculation_critic",
    "manager",
    "extractor",
    "reasoner",
    "synthesiser",
    "memorization",
    "listening",
    "answer_from_rows",
    "single_call",
    "adversarial_review",
    "judge",
)

# What is set for a layer goes for its parts too, unless something else is set for them.
PART_OF = {"extraction_critic": "critique", "calculation_critic": "critique"}

_LEAST_TOKENS_TO_REASON = 16_000


class ModelSettings(Protocol):
    """The settings that are read here; `finexpert.settings.Settings` has them."""

    lm: str | None
    api_base: str | None
    api_key: SecretStr | None
    fallback_lm: str | None
    fallback_api_base: str | None
    fallback_api_key: SecretStr | None
    temperature: float | None
    max_tokens: int | None
    timeout: float
    layers: dict[str, dict[str, Any]]
    cache: bool
    record: Path | None
    recordings: list[Path]


class LanguageModels:
    """The model of each layer."""

    def __init__(
        self,
        default: LanguageModel,
        layers: Mapping[str, LanguageModel] | None = None,
        description: Mapping[str, Any] | None = None,
    ) -> None:
        self.default = default
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
        specs = {layer: _override(spec, layer, given) for layer, given in settings.layers.items()}
        last = _fallback_spec(settings)
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
        if last is not None:
            description["fallback"] = _describe(last)
        if isinstance(default.engine, RecordedModel):
            description["recordings"] = default.engine.describe()
        return cls(default, dict(zip(specs, others, strict=True)), description)

    def for_layer(self, layer: str) -> LanguageModel:
        """The model of a layer; that of the layer it is a part of, or the default, if it has none of its own."""
        return self._layers.get(layer) or self._layers.get(PART_OF.get(layer, ""), self.default)

    def repeat(self, number: int) -> LanguageModels:
        """The same models for the nth answer to the same questions; the second and later ones are asked anew."""
        if number == 1:
            return self
        again = {layer: lm.copy(rollout_id=number) for layer, lm in self._layers.items()}
        models = LanguageModels(self.default.copy(rollout_id=number), again, self._description)
        models._repeat = number
        return models

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


def _fallback_spec(settings: ModelSettings) -> ModelSpec | None:
    """The model asked where the other cannot be reached. It is given no address and no key but its own."""
    if settings.fallback_lm is None:
        if settings.fallback_api_base is not None or settings.fallback_api_key is not None:
            raise ConfigurationError(
                "an address or a key of a fallback is set, and no model: set FINEXPERT_FALLBACK_LM"
            )
        return None
    if settings.fallback_lm == RECORDED:
        raise ConfigurationError(
            "FINEXPERT_FALLBACK_LM is 'recorded': recordings know what was asked before; name a model"
        )
    key = settings.fallback_api_key
    if settings.fallback_api_base is not None and key is None:
        # A placeholder, or LiteLLM would send the key of another provider along.
        key = SecretStr("none")
    return ModelSpec(
        model=full_name(settings.fallback_lm, settings.fallback_api_base),
        api_base=settings.fallback_api_base,
        api_key=key,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        timeout=settings.timeout,
        found="by FINEXPERT_FALLBACK_LM",
    )


def _override(spec: ModelSpec, layer: str, given: Mapping[str, Any]) -> ModelSpec:
    """The spec of one layer: what is given for it, the rest as for the default model."""
    if layer not in LAYERS:
        raise ConfigurationError(f"FINEXPERT_LAYERS names the layer {layer!r}; the layers are {', '.join(LAYERS)}")
    base = spec.model_dump()
    model = given.get("model")
    if isinstance(model, str) and prefix(model) != prefix(spec.model):
        # An address or a key of one provider is never handed to another.
        base |= {"api_base": None, "api_key": None, "extra": {}}
    elif given.get("api_base", spec.api_base) != spec.api_base:
        base |= {"api_key": None}
    merged = base | dict(given) | {"found": f"by FINEXPERT_LAYERS for {layer}"}
    if merged["model"] != RECORDED and isinstance(merged["model"], str):
        merged["model"] = full_name(merged["model"], merged["api_base"])
    try:
        return ModelSpec.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(
            f"FINEXPERT_LAYERS: {layer}.{name}: {first['msg']}; it may hold {', '.join(ModelSpec.model_fields)}"
        ) from None


def _describe(spec: ModelSpec) -> dict[str, Any]:
    temperature, max_tokens = _sampling(spec)
    words = {
        "model": spec.model,
        "api_base": spec.api_base,
        "temperature": temperature,
        "max_tokens": max_tokens,
        "found": spec.found,
        "extra": sorted(spec.extra) or None,
    }
    return {name: value for name, value in words.items() if value is not None}
