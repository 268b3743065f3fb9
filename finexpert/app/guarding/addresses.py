"""Which addresses of data a person may have the server connect to.

    >>> checked_address("postgresql+psycopg://desk:pw@db.example.com/markets?schema=macro", Rules(("*.example.com",), resolve=lambda host: ["203.0.113.7"]))
    'postgresql+psycopg://desk:pw@db.example.com/markets?schema=macro'
    >>> checked_address("postgresql+psycopg://desk@169.254.169.254/x", Rules((), local=True))
    Traceback (most recent call last):
        ...
    finexpert.errors.Refused: the host '169.254.169.254' is not one that data may be connected at

A server sees hosts and files that the person does not. So a host has to be named by the owner of the server, unless nobody but its
user reaches the server; a file has to lie in a folder that the owner named; and an address may hold no option that leads elsewhere.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa

from finexpert.core import hosts as network
from finexpert.errors import Refused
from finexpert.trust import OPTIONS
from finexpert.warehouse.database_address import address_in
from finexpert.warehouse.engines.kinds import KINDS

_SEVERAL_DRIVERS = frozenset({"postgresql", "mysql", "mariadb"})
_LONGEST = 2_000
_FORMS = ", ".join(dict.fromkeys(kind.form for kind in KINDS.values()))


@dataclass(frozen=True)
class Rules:
    """What the owner of a server allows. `local` is a server that only its user reaches."""

    hosts: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    local: bool = False
    resolve: Callable[[str], Iterable[str]] = field(default=network.looked_up, compare=False)


def checked_address(place: str, rules: Rules) -> str:
    """The address or path of data as it may be opened; Refused says what is not allowed, and never repeats a password."""
    place = place.strip()
    if not place or len(place) > _LONGEST or any(ord(char) < 32 for char in place):
        raise Refused("the address is empty, longer than 2,000 characters, or holds control characters")
    address = address_in(place)
    if address is None:
        if "://" in place:
            raise Refused(f"this is no address of data: write {_FORMS}")
        return str(_checked_path(Path(place), rules))
    try:
        url = sa.make_url(address)
    except (sa.exc.ArgumentError, ValueError):
        raise Refused("the address of the database is no URL: write postgresql+psycopg://user@host/database") from None
    kind = url.get_backend_name()
    if kind == "sqlite":
        if url.query:
            raise Refused("the address of a SQLite file may have no options")
        return f"sqlite:///{_checked_path(Path(url.database or ''), rules)}"
    # Another driver of the same engine reads other options and other files.
    if kind not in OPTIONS or (kind not in _SEVERAL_DRIVERS and url.drivername not in (kind, KINDS[kind].driver)):
        raise Refused(f"data cannot be connected by {url.drivername[:40]!r}: write {_FORMS}")
    _check_server(url, kind, rules)
    return address


def _check_server(url: sa.URL, kind: str, rules: Rules) -> None:
    options = OPTIONS[kind] | {"schema"}
    if more := sorted(set(url.query) - options):
        raise Refused(f"the address holds the option {more[0][:40]!r}, and may hold {', '.join(sorted(options))}")
    host = (url.host or "").strip("[]")
    if not host or any(char in host for char in ",;/\\@ %"):
        raise Refused(f"the address names no host, or several: write {KINDS[kind].form}")
    host = _reached(url, kind, host)
    named = any(fnmatch.fnmatchcase(host.lower(), pattern.lower()) for pattern in rules.hosts)
    if not named and not rules.local:
        raise Refused(
            f"the host {host!r} is not one that data may be connected at: the owner of the server names hosts "
            "with FINEXPERT_SERVE_DATA_HOSTS"
        )
    for number in _addresses(host, rules):
        if _is_forbidden(number, named):
            raise Refused(f"the host {host!r} is not one that data may be connected at")


def _reached(url: sa.URL, kind: str, host: str) -> str:
    """The host that a driver connects to: two clouds are named by an account or a project in its place."""
    if kind == "bigquery":
        return "bigquery.googleapis.com"
    if kind == "snowflake" and not url.port and ".snowflakecomputing.com" not in host:
        return f"{host}.snowflakecomputing.com"
    return host


def _addresses(host: str, rules: Rules) -> list[network.Number]:
    try:
        return network.resolved(host, rules.resolve)
    except (OSError, UnicodeError, ValueError):
        raise Refused(f"the host {host!r} is not known here") from None


def _is_forbidden(number: network.Number, named: bool) -> bool:
    """Whether nobody may connect there: where a cloud hands out keys, whatever the owner named."""
    if network.hands_out_keys(number):
        return True
    return not named and number.is_reserved and not number.is_loopback and getattr(number, "ipv4_mapped", None) is None


def _checked_path(path: Path, rules: Rules) -> Path:
    """A path with its links followed, inside an allowed folder; on a local server any path of the user's."""
    full = path.expanduser().resolve()
    if rules.local:
        return full
    if any(full.is_relative_to(folder.expanduser().resolve()) for folder in rules.folders):
        return full
    raise Refused(
        "this path is in no folder whose files may be connected: the owner of the server names folders with "
        "FINEXPERT_SERVE_DATA_FOLDERS; send the file instead"
    )
