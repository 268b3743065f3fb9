"""What names a language model and says how it is asked.

    >>> ModelSpec(model="openai/gpt-5.6", api_key="secret")
    ModelSpec(model='openai/gpt-5.6', api_base=None, api_key=SecretStr('**********'), temperature=0.0, ...)

`model` is a name as LiteLLM has it. Nothing is checked against the provider here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from finexpert.errors import ConfigurationError
from finexpert.language_models.providers import full_name, prefix
from finexpert.language_models.recordings.recorded import RECORDED

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


class ModelSpec(BaseModel):
    """A language model and how it is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1)
    api_base: str | None = Field(default=None, description="address of a server, such as http://127.0.0.1:8000/v1")
    api_key: SecretStr | None = None
    temperature: float | None = 0.0
    max_tokens: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=600.0, gt=0, description="seconds for one try")
    retries: int = Field(default=2, ge=0, description="tries after the first, for errors that may pass")
    extra: dict[str, Any] = Field(default_factory=dict, description="further arguments for litellm.completion")
    found: str = Field(default="", description="how it was found, in words")


class ModelSettings(Protocol):
    """The settings that are read here; `finexpert.settings.Settings` has them."""

    lm: str | None
    api_base: str | None
    api_key: SecretStr | None
    fallback_lm: str | None
    fallback_api_base: str | None
    fallback_api_key: SecretStr | None
    strong_lm: str | None
    strong_api_base: str | None
    strong_api_key: SecretStr | None
    temperature: float | None
    max_tokens: int | None
    timeout: float
    layers: dict[str, dict[str, Any]]
    cache: bool
    record: Path | None
    recordings: list[Path]


def further_spec(settings: ModelSettings, role: str) -> ModelSpec | None:
    """The model of a role beside the default: "fallback" where that cannot be reached, "strong" where it leaves a doubt.

    It is given no address and no key but its own.
    """
    lm, api_base, key = (getattr(settings, f"{role}_{name}") for name in ("lm", "api_base", "api_key"))
    setting = f"FINEXPERT_{role.upper()}_LM"
    if lm is None:
        if api_base is not None or key is not None:
            raise ConfigurationError(f"an address or a key of a {role} model is set, and no model: set {setting}")
        return None
    if lm == RECORDED and role == "fallback":
        raise ConfigurationError(f"{setting} is 'recorded': recordings know what was asked before; name a model")
    if api_base is not None and key is None:
        # A placeholder, or LiteLLM would send the key of another provider along.
        key = SecretStr("none")
    return ModelSpec(
        model=RECORDED if lm == RECORDED else full_name(lm, api_base),
        api_base=api_base,
        api_key=key,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        timeout=settings.timeout,
        found=f"by {setting}",
    )


def layer_spec(spec: ModelSpec, layer: str, given: Mapping[str, Any]) -> ModelSpec:
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
