"""Every option in one object. Each is also an environment variable: `retries` is FINEXPERT_RETRIES.

    >>> Settings(retries=1).retries
    1

The order: what is given in code or on the command line, then the environment, then `finexpert.toml` in the
current folder, then the defaults here.
"""

from __future__ import annotations

import datetime as dt
import getpass
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_data_path
from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from finexpert import modes, trust
from finexpert.errors import ConfigurationError

Privacy = Literal["schema", "samples"]
# What else may hold an address: LiteLLM takes one behind the name of some providers, and among further arguments.
_MODEL = re.compile(r"(?!.*://).*", re.DOTALL)
_WORDS = re.compile(r"[\w -]*")
_SENT = {"trace": "traces", "tracking_uri": "runs", "store": "what is taught"}
_OPTION = "finexpert.toml of the current folder names {name} with the option {option!r}, which may lead elsewhere, whoever gave you the folder: leave it out, or set the address in the environment"


class Settings(BaseSettings):
    """What a user may set. Units stand in the descriptions."""

    model_config = SettingsConfigDict(env_prefix="FINEXPERT_", toml_file="finexpert.toml", extra="forbid")

    home: Path = Field(default_factory=lambda: user_data_path("finexpert"), description="data, caches and stores")

    # language models
    lm: str | None = Field(
        default=None, description="model as LiteLLM names it, or 'recorded'; found by itself if unset"
    )
    api_base: str | None = Field(default=None, description="address of an OpenAI-compatible server")
    api_key: SecretStr | None = None
    fallback_lm: str | None = Field(
        default=None, description="model that is asked where the other cannot be reached, or is left alone for a while"
    )
    fallback_api_base: str | None = Field(default=None, description="its address, if it is a server of one's own")
    fallback_api_key: SecretStr | None = Field(
        default=None, description="its key; the provider's own variable if unset"
    )
    strong_lm: str | None = Field(
        default=None, description="model that the mode cheap-first asks where the other leaves a doubt"
    )
    strong_api_base: str | None = Field(default=None, description="its address, if it is a server of one's own")
    strong_api_key: SecretStr | None = Field(default=None, description="its key; the provider's own variable if unset")
    temperature: float | None = 0.0
    max_tokens: int | None = None
    timeout: float = Field(default=600.0, gt=0, description="seconds a model may take for one try of a call")
    layers: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="other model, temperature, api_base or max_tokens for a layer, by its name"
    )
    cache: bool = Field(default=True, description="keep completions on disk, as DSPy does")
    record: Path | None = Field(default=None, description="file to which new completions are appended")
    recordings: list[Path] = Field(
        default_factory=list, description="files of recorded completions, beside the packaged ones"
    )
    budget_calls: int | None = Field(default=None, ge=0, description="model calls an answer may take")
    budget_usd: float | None = Field(default=None, ge=0)
    budget_seconds: float | None = Field(default=None, ge=0)
    budget_tokens: int | None = Field(default=None, ge=0)
    budget_conversation_calls: int | None = Field(
        default=None, ge=0, description="model calls that all answers of a conversation may take"
    )
    budget_conversation_usd: float | None = Field(default=None, ge=0)
    budget_conversation_seconds: float | None = Field(default=None, ge=0)
    budget_conversation_tokens: int | None = Field(default=None, ge=0)
    budget_run_calls: int | None = Field(default=None, ge=0, description="model calls that an evaluation may take")
    budget_run_usd: float | None = Field(default=None, ge=0)
    budget_run_seconds: float | None = Field(default=None, ge=0)
    budget_run_tokens: int | None = Field(default=None, ge=0)

    trusted_hosts: list[str] = Field(
        default_factory=list,
        description="other machines that a finexpert.toml may name, such as *.example.com; of the environment alone",
    )

    # how a question is answered
    drafts: bool = Field(default=True, description="the plan may carry the SELECTs and the script")
    mode: str = Field(
        default="checked",
        description="how much is done for an answer: direct, checked, cheap-first, reviewed, panel, single-call",
    )
    retries: int = Field(default=2, ge=0, le=10, description="repairs of one step by its own layer")
    revisions: int = Field(
        default=1,
        ge=0,
        le=5,
        description="how often an answer that critics doubt is planned again, where a mode has them",
    )
    privacy: Privacy = Field(default="schema", description="what of the data a prompt may hold")
    cache_answers: bool = Field(
        default=False, description="keep answers at home, and give them again to the same question, word for word"
    )
    review: bool = Field(
        default=False, description="a model looks at every script and SELECT over a warehouse before it is run"
    )
    ask_below: int = Field(default=50, ge=0, le=100, description="confidence below which a conversation asks back")
    as_of: dt.date | None = Field(default=None, description="the day that counts as today; later data are hidden")

    # memory and glossary
    memory: bool = Field(default=True, description="use, and keep, what an expert teaches")
    verified: bool = Field(
        default=True, description="answer a question by its verified query, where there is one, without a model"
    )
    store: str | None = Field(
        default=None, description="file or postgresql:// address of what was taught; a file in `home` if unset"
    )
    embedder: str | None = Field(
        default=None, description="'words', or a model as LiteLLM names it; the packaged sentence model if unset"
    )
    clarify: bool = Field(default=True, description="ask what an unknown term means, instead of assuming it")
    constrained: bool = Field(
        default=False,
        description="a small model that writes one SELECT can write no name that is not there: for servers that keep to a JSON schema "
        "with patterns (llama.cpp, Ollama, vLLM)",
    )
    judge: bool = Field(
        default=True, description="ask the model whether a known term or process that a question names is meant"
    )
    learn: bool = Field(
        default=True,
        description="look in messages for what they explain, and offer to keep it; a model is asked on a cue",
    )
    by: str | None = Field(default=None, description="who teaches; the login name if unset")

    # library
    library_tokens: int = Field(
        default=8_000, ge=1_000, le=200_000, description="how much of the best pages of filings is read at once"
    )

    # data
    data: str | None = Field(
        default=None, description="what is asked where a command names neither --data nor --filing nor --library"
    )
    library: Path | None = Field(default=None, description="folder of the library that is asked in its place")
    sources: list[str] = Field(
        default_factory=list,
        description="data and folders of libraries that ask, chat and batch ask together, and doors offer, where no option names a source",
    )
    semantic_model: Path | None = Field(
        default=None,
        description="semantic model of the data, see `finexpert model`; the one beside the data file if unset",
    )
    edgar_user_agent: str | None = Field(
        default=None, description="name and address of mail that the SEC asks for, see `finexpert data edgar`"
    )

    # limits
    row_cap: int = Field(default=200_000, ge=1, description="rows a SELECT may return")
    sql_seconds: float = Field(default=30.0, gt=0, description="seconds that a SELECT may take")
    sql_memory_mb: int = Field(
        default=2048, ge=256, description="memory that a process may take for a SELECT, above what it starts with"
    )
    remote_mb: int = Field(
        default=4096, ge=1, description="MB of files at s3://, gs:// or https:// that are copied for one source"
    )
    script_seconds: float = Field(default=10.0, gt=0, le=60)
    workers: int = Field(default=1, ge=1, le=64, description="sandbox processes kept warm")
    sandbox_image: str | None = Field(
        default=None, description="image of the container boundary by its digest, see `finexpert sandbox image`"
    )

    # evaluation
    tracking_uri: str | None = Field(default=None, description="MLflow store; runs/mlflow.db if unset")
    trace: str | None = Field(
        default=None,
        description="where every question's spans go, without values: 'mlflow', or the address of an OpenTelemetry collector",
    )

    # server
    serve: dict[str, Any] = Field(
        default_factory=dict, description="the table [serve] of finexpert.toml, read by `finexpert serve`"
    )

    @field_validator("mode")
    @classmethod
    def _known_mode(cls, value: str) -> str:
        return modes.mode(value).name

    @property
    def teacher(self) -> str:
        """Who teaches: the setting `by`, else the login name."""
        if self.by:
            return self.by
        try:
            return getpass.getuser()
        except (KeyError, OSError, ImportError):  # a user that the system has no name for
            return "unknown"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, FolderFile(settings_cls)


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
            _check_file(f"layers.{name}.", _table(layers[name]), _table(others.get(name)), trusted)
        return told


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _check_file(place: str, told: Mapping[str, Any], before: Mapping[str, Any], trusted: Sequence[str]) -> None:
    """Raises ConfigurationError for an address of another machine that nobody trusted."""
    for name in [each for each in told if each not in before]:
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


def _holds_only(pattern: re.Pattern[str], value: Any) -> bool:
    """Whether every text in it is of this form."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return all(_holds_only(pattern, each) for each in inside) and (
        not isinstance(value, str) or bool(pattern.fullmatch(value))
    )


def with_options(settings: Settings, options: Mapping[str, Any]) -> Settings:
    """The settings with the options that compiling chose, where a user has not set them.

    >>> with_options(Settings(retries=1), {"drafts": False, "retries": 5, "judge": True}).model_dump(
    ...     include={"drafts", "retries"})
    {'drafts': False, 'retries': 1}
    """
    free = set(type(settings).model_fields) - settings.model_fields_set
    return settings.model_copy(update={name: value for name, value in options.items() if name in free})
