"""The options of a server. Each is an environment variable, and a line of the table [serve] in `finexpert.toml`.

    FINEXPERT_SERVE_PORT=9000           [serve]
                                        port = 9000

Options of answers, models and limits stay in `finexpert.settings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from finexpert import trust
from finexpert.errors import ConfigurationError
from finexpert.settings import Settings

LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
# What names a machine, and what that machine would be given.
_PLACES = {
    "state": "and conversations, and a password of the environment, would go there",
    "oidc_issuer": "and it would say who logs in, and be sent the client's secret",
    "url": "and who logs in would be sent there",
    "host": "and the server would be reached from there",
    "hosts": "and pages of that name could call the server",
    "proxies": "and it would be believed for whom it calls",
}
_HOSTS = frozenset({"host", "hosts", "proxies"})


class ServeOptions(BaseSettings):
    """What the owner of a server may set. Units stand in the descriptions."""

    model_config = SettingsConfigDict(
        env_prefix="FINEXPERT_SERVE_", env_ignore_empty=True, toml_file="finexpert.toml", extra="forbid"
    )

    host: str = Field(default="127.0.0.1", description="address to listen on")
    port: int = Field(default=8400, ge=0, le=65535)
    url: str | None = Field(
        default=None, description="address by which people reach the server, if a proxy is before it"
    )
    hosts: list[str] = Field(default_factory=list, description="further host names by which the server may be called")
    proxies: list[str] = Field(
        default_factory=list, description="addresses of proxies whose X-Forwarded-* are believed"
    )
    login: bool = Field(default=False, description="ask for a login on 127.0.0.1 too")
    state: str | None = Field(
        default=None, description="sqlite:/// or postgresql+psycopg:// address of the state; a file in `home` if unset"
    )
    secret: SecretStr | None = Field(
        default=None, description="seals addresses of data and cookies; several servers need the same one"
    )

    # login by OpenID Connect
    oidc_issuer: str | None = Field(default=None, description="address of the provider, without /.well-known/...")
    oidc_client_id: str | None = None
    oidc_client_secret: SecretStr | None = None
    oidc_scope: str = "openid profile email"
    oidc_groups_claim: str = Field(default="groups", description="claim that lists the groups of a person")
    oidc_team_claim: str | None = Field(
        default=None, description="claim that names the team; everyone is in `team` if unset"
    )
    oidc_allowed: list[str] = Field(default_factory=list, description="groups that may log in; everyone if empty")
    oidc_teachers: list[str] = Field(default_factory=list, description="groups with the role teacher")
    oidc_owners: list[str] = Field(default_factory=list, description="groups with the role owner")
    team: str = Field(default="local", description="the team of people of whom none is named")
    login_hours: float = Field(default=12.0, gt=0, le=24 * 30)

    # data
    data_hosts: list[str] = Field(
        default_factory=list,
        description="hosts of databases that may be connected, such as db.example.com or *.example.com",
    )
    data_folders: list[Path] = Field(default_factory=list, description="folders whose files may be connected by path")
    upload_mb: float = Field(default=100.0, gt=0, description="size that a file may have that is sent")
    uploads: int = Field(default=50, ge=0, description="files that a person may have sent and not removed")

    # limits
    questions_per_minute: int = Field(default=30, ge=1, description="questions of one person")
    requests_per_minute: int = Field(default=1200, ge=1, description="requests of one person")
    logins_per_minute: int = Field(default=10, ge=1, description="logins from one address")
    questions_at_once: int = Field(default=64, ge=1, le=1000, description="questions under way; further ones wait")
    questions_each: int = Field(
        default=4, ge=1, description="questions of one person under way, and as much that needs no model"
    )
    waiting: int = Field(default=256, ge=0, description="questions that may wait; further ones are refused")
    open_sessions: int = Field(default=200, ge=1, description="conversations whose frames are kept in memory")
    idle_minutes: float = Field(default=20.0, gt=0, description="when an idle conversation is closed")
    request_seconds: float = Field(
        default=20.0, gt=0, description="how long the head of a request, and each further piece of it, is waited for"
    )
    grace_seconds: float = Field(default=30.0, ge=0, description="how long a server that ends waits for its questions")

    @property
    def under_way(self) -> int:
        """How many questions may be there at once; a person has as many requests under way at most."""
        return self.questions_at_once + self.waiting

    @property
    def is_local(self) -> bool:
        """Whether nobody else can reach the server, so that no login is needed."""
        return self.host in LOCAL_HOSTS and not self.login and not self.url

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, _ServeTable(settings_cls)


class _ServeTable(TomlConfigSettingsSource):
    """The table [serve] of `finexpert.toml` of the current folder, which may be anybody's: its places are on this machine, or its user trusts them."""

    def _read_file(self, file_path: Any) -> dict[str, Any]:
        table = super()._read_file(file_path).get("serve", {})
        return table if isinstance(table, dict) else {}

    def __call__(self) -> dict[str, Any]:
        told = super().__call__()
        for name in [each for each in told if each in _PLACES and each not in self.current_state]:
            for place in map(str, told[name] if isinstance(told[name], list) else [told[name]]):
                # Only where it matters are the settings read, which may be wrong in something else.
                if (
                    _elsewhere(name, place, []) is not None
                    and _elsewhere(name, place, Settings().trusted_hosts) is not None
                ):
                    where = _PLACES[name]
                    raise ConfigurationError(trust.refusal(f"serve.{name}", where, _elsewhere(name, place, []) or ""))
        return told


def _elsewhere(name: str, place: str, trusted: Sequence[str]) -> str | None:
    """The host of a place that is neither this machine nor trusted."""
    if name in _HOSTS:
        return trust.host_elsewhere(place, trusted)
    return None if name == "state" and trust.is_file(place) else trust.elsewhere(place, trusted)
