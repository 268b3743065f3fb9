"""Every option in one object. Each is also an environment variable: `retries` is FINEXPERT_RETRIES.

    >>> Settings(retries=1).retries
    1

The order: what is given in code or on the command line, then the environment, then `finexpert.toml` in the
current folder, then the defaults here.
"""

from __future__ import annotations

import datetime as dt
import getpass
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_data_path
from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from finexpert import modes
from finexpert.folder_file import FolderFile

Privacy = Literal["schema", "samples"]


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


def with_options(settings: Settings, options: Mapping[str, Any]) -> Settings:
    """The settings with the options that compiling chose, where a user has not set them.

    >>> with_options(Settings(retries=1), {"drafts": False, "retries": 5, "judge": True}).model_dump(
    ...     include={"drafts", "retries"})
    {'drafts': False, 'retries': 1}
    """
    free = set(type(settings).model_fields) - settings.model_fields_set
    return settings.model_copy(update={name: value for name, value in options.items() if name in free})
