"""Which addresses may stand in what somebody else may have written: `finexpert.toml` of the current folder, the file of a report.

    elsewhere("http://127.0.0.1:8000/v1", [])                  None: this machine
    elsewhere("https://gateway.example/v1", ["*.example"])     None: its user trusts it
    elsewhere("https://gateway.example/v1", [])                'gateway.example'

An address that a user writes in a command or in the environment is the user's own, and is not looked at here.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

# Strict: what two programs could read as two hosts is none.
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]*://(?:[^@/?#\s\\]*@)?([\w.-]+|\[::1\])(?::\d+)?(?:/[\w./ -]*)?", re.ASCII | re.IGNORECASE
)
_THIS_MACHINE = ("127.0.0.1", "localhost", "[::1]", "::1")
_FILE = re.compile(r"(?!.*://).*|(sqlite|file):///.*", re.DOTALL)
# A server takes data as NAME=PLACE, and a path loses one of two slashes.
_NAMED = re.compile(r"[^/:=]*=")
_DATA = re.compile(r"([a-z][\w+.-]*):/+(.*)", re.DOTALL | re.IGNORECASE)
_OPTION = re.compile(r"(\w+)=[\w.,*/%+ -]*", re.ASCII)
_FILES = frozenset({"sqlite", "file"})
_STORES = frozenset({"s3", "s3a", "s3n", "gs", "gcs", "http", "https"})
# What drivers send to the server of an address that holds no password.
_PASSWORDS = {"postgresql": {"PGPASSWORD", "PGPASSFILE", "PGSERVICE"}, "sc": {"SPARK_CONNECT_AUTHENTICATE_TOKEN"}}

# What an address of data may say, by engine. Others lead to another place than its host (host, hostaddr, unix_socket, service), make a
# client read files (passfile, read_default_file) or run statements (init_command), or name an address that is asked for a token
# (credentials_base64, authenticator).
OPTIONS = {
    "postgresql": {"sslmode", "charset"}, "mysql": {"charset"}, "mariadb": {"charset"}, "clickhouse": {"secure"}, "sc": {"use_ssl"},
    "snowflake": {"warehouse", "role"}, "bigquery": {"location", "maximum_bytes_billed"}, "databricks": {"http_path", "catalog"},
    "mssql": set[str](), "trino": set[str](),
}  # fmt: skip


def elsewhere(address: str, trusted: Sequence[str]) -> str | None:
    """The host of an address that is neither this machine nor trusted, "" where it is not clear; None for all others."""
    said = _ADDRESS.fullmatch(address)
    return "" if said is None else host_elsewhere(said[1], trusted)


def host_elsewhere(host: str, trusted: Sequence[str]) -> str | None:
    """The host, where it is neither this machine nor trusted."""
    host = host.lower()
    return None if host in _THIS_MACHINE or any(fnmatchcase(host, each.lower()) for each in trusted if host) else host


def is_file(place: str) -> bool:
    """Whether a place is a path, or the address of a file on this machine.

    >>> is_file("taught.sqlite"), is_file("file:///srv/runs"), is_file("file://elsewhere.example/runs")
    (True, True, False)
    """
    return bool(_FILE.fullmatch(place))


def instead(host: str) -> str:
    """What to do where a host is the user's own, as the beginning of a sentence; nothing where no host is clear."""
    trusted = shlex.quote(json.dumps([host]))
    return f"if that host is yours, `export FINEXPERT_TRUSTED_HOSTS={trusted}`; else " if host else ""


def refusal(name: str, where: str, host: str = "") -> str:
    """What is said of an address in the file of a folder: its name, what would go there, what to do."""
    return (
        f"finexpert.toml of the current folder names an address as {name}, {where}, whoever gave you the folder: {instead(host)}set it in the"
        " environment"
    )


def is_address(place: str) -> bool:
    """Whether data lie on a server or in a store, and not in a file.

    >>> is_address("./postgresql://db.example/x"), is_address("sqlite:///x.db"), is_address("x.duckdb")
    (True, False, False)
    """
    return _parts(place) is not None


def data_elsewhere(place: str, trusted: Sequence[str]) -> str | None:
    """The same of data: a path is on this machine, and the options of an address are `foreign_option`'s.

    >>> data_elsewhere("trades.duckdb", []), data_elsewhere("postgresql:/ann@db.example/x?schema=a", [])
    (None, 'db.example')
    """
    if (parts := _parts(place)) is None:
        return None
    scheme, rest = parts
    return elsewhere(f"{scheme}://{rest.partition('?')[0]}", trusted)


def foreign_option(place: str) -> str | None:
    """The first option of an address of data that only its user may say, or what is no option at all.

    >>> foreign_option("postgresql://db.example/x?schema=a&hostaddr=10.0.0.1"), foreign_option("mysql+pymysql://db.example/x?charset=utf8mb4")
    ('hostaddr', None)
    """
    if (parts := _parts(place)) is None or parts[0] in _STORES:
        return None
    known = OPTIONS.get(_engine(parts[0]), set()) | {"schema"}
    _, asked, options = parts[1].partition("?")
    for each in options.split("&") if asked else ():
        found = _OPTION.fullmatch(each)
        if found is None or found[1] not in known:
            return each.partition("=")[0][:40]
    return None


def takes_password(place: str) -> bool:
    """Whether a password of the environment or of the home would go to the server of an address."""
    parts = _parts(place)
    engine = _engine(parts[0]) if parts else ""
    at_home = engine == "postgresql" and Path("~/.pgpass").expanduser().exists()
    return at_home or bool(os.environ.keys() & _PASSWORDS.get(engine, set()))


def _engine(scheme: str) -> str:
    engine = scheme.partition("+")[0]
    return "postgresql" if engine == "postgres" else engine


def _parts(place: str) -> tuple[str, str] | None:
    """The scheme of an address of data and what follows it; None for a file."""
    found = _DATA.fullmatch(str(Path(_NAMED.sub("", place, count=1) if _NAMED.match(place) else place)))
    if found is None or _engine(found[1].lower()) in _FILES:
        return None
    return found[1].lower(), found[2]
