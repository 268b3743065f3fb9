"""`finexpert.toml` of the current folder, which may be anybody's: it leads to no machine but this one and those that its user trusts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic_settings import TomlConfigSettingsSource

from finexpert import trust
from finexpert.errors import ConfigurationError

# What else may hold an address: LiteLLM takes one behind the name of some providers, and among further arguments.
_MODEL = re.compile(r"(?!.*://).*", re.DOTALL)
_WORDS = re.compile(r"[\w -]*")
# How a model answers; any other argument of LiteLLM may name a provider, an account, or who is told of the call.
_EXTRA = frozenset({
    "reasoning_effort", "verbosity", "seed", "stop", "top_k", "top_p", "min_p", "frequency_penalty", "presence_penalty", "repetition_penalty",
    "num_ctx", "num_predict", "keep_alive", "think", "thinking", "extra_body", "options", "chat_template_kwargs", "enable_thinking",
})  # fmt: skip
_SENT = {"trace": "traces", "tracking_uri": "runs", "store": "what is taught"}
_UNKNOWN = "finexpert.toml of the current folder names {name}, which may lead questions and a key elsewhere, whoever gave you the folder: set FINEXPERT_LAYERS in the environment"
_KEY = "finexpert.toml of the current folder names a key as {name}, whose owner may read the questions, whoever gave you the folder: set it in the environment"
_OPTION = "finexpert.toml of the current folder names {name} with the option {option!r}, which may lead elsewhere, whoever gave you the folder: leave it out, or set the address in the environment"


class FolderFile(TomlConfigSettingsSource):
    """`finexpert.toml` of the current folder, which may be anybody's: it leads to no machine but this one and those that its user trusts."""

    def __call__(self) -> dict[str, Any]:
        told, before = super().__call__(), self.current_state
        if "trusted_hosts" in told:
            raise ConfigurationError(
                "finexpert.toml of the current folder says itself whom to trust: set FINEXPERT_TRUSTED_HOSTS in the environment"
            )
        if "home" in told and "home" not in before:
            # What lies at home is the user's own: records name servers, and a server its keys and sources.
            raise ConfigurationError(
                "finexpert.toml of the current folder names the home, whose records, stores and keys are believed: set FINEXPERT_HOME in the environment"
            )
        trusted = before.get("trusted_hosts") or []
        _check_file("", told, before, trusted)
        layers, others = _table(told.get("layers")), _table(before.get("layers"))
        for name in layers:
            layer, other = _table(layers[name]), _table(others.get(name))
            _check_file(f"layers.{name}.", layer, other, trusted, above=told | before)
        return told


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _check_file(
    place: str,
    told: Mapping[str, Any],
    before: Mapping[str, Any],
    trusted: Sequence[str],
    above: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Raises ConfigurationError for what leads to another machine that nobody trusted; `above` holds where a layer without an address asks."""
    for name in [each for each in told if each not in before]:
        if name == "extra" and (unknown := _unknown(told[name], place + name)):
            raise ConfigurationError(_UNKNOWN.format(name=unknown))
        if name.endswith("api_key"):
            # A layer with a model of its own asks that model's provider, whatever the address of the others is.
            around = {} if "model" in told or "model" in before else above
            base = {**around, **told, **before}.get(f"{name.removesuffix('key')}base")
            if base is None or trust.elsewhere(str(base), trusted) is not None:
                raise ConfigurationError(_KEY.format(name=place + name))
        if name.endswith(("lm", "embedder", "model", "extra")):
            if not _holds_only(_WORDS if name == "extra" else _MODEL, told[name]):
                where = "and questions and a key of the environment would go there"
                raise ConfigurationError(trust.refusal(place + name, where))
        elif name.endswith("api_base") or name in _SENT:
            _check_address(place + name, told[name], trusted, f"and {_SENT.get(name, 'questions')} would go there")
        elif name in ("data", "sources"):
            _check_data(name, told[name], trusted)


def _check_address(name: str, told: Any, trusted: Sequence[str], where: str) -> None:
    for value in map(str, told if isinstance(told, list) else [told]):
        host = trust.elsewhere(value, trusted)
        if host is not None and (name.endswith("api_base") or not trust.is_file(value)):
            raise ConfigurationError(trust.refusal(name, where, host))


def _check_data(name: str, told: Any, trusted: Sequence[str]) -> None:
    for place in map(str, told if isinstance(told, list) else [told]):
        if (option := trust.foreign_option(place)) is not None:
            raise ConfigurationError(_OPTION.format(name=name, option=option))
        if trust.takes_password(place) and (host := trust.data_elsewhere(place, trusted)) is not None:
            where = "and a password of the environment (PGPASSWORD) or of ~/.pgpass would go there"
            raise ConfigurationError(trust.refusal(name, where, host))


def _unknown(extra: Any, place: str) -> str:
    """The first argument in it that is none of how a model answers; empty where there is none."""
    for name, value in _table(extra).items():
        if found := f"{place}.{name}" if name not in _EXTRA else _unknown(value, f"{place}.{name}"):
            return found
    return ""


def _holds_only(pattern: re.Pattern[str], value: Any) -> bool:
    """Whether every text in it is of this form."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return all(_holds_only(pattern, each) for each in inside) and (
        not isinstance(value, str) or bool(pattern.fullmatch(value))
    )
