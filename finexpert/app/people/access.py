"""Tokens and logins: who a request is from. A secret is kept as its SHA-256 alone, and shown once.

    info, secret = access.make_token(state, "nightly report", role="reader", team="rates", days=90, made_by="anna")
    access.person_of_token(state, secret)     ->  Person(id="token:...", name="nightly report", ...)

The secrets are random and long, so a plain hash keeps them: there is nothing to guess.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from finexpert.app.people.people import RIGHTS, ROLES, Person, Right, Role
from finexpert.app.state import tables
from finexpert.app.state.naming import named, new_id, now
from finexpert.app.state.state import State
from finexpert.app.state.stored import TokenInfo
from finexpert.errors import NotFound, Refused, StoreError

LONGEST_DAYS = 730
_TOKEN = re.compile(r"fx_([0-9]{14}-[0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_USED_EVERY = dt.timedelta(minutes=5)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def make_token(
    state: State,
    name: str,
    *,
    role: Role,
    team: str,
    days: float,
    made_by: str,
    scopes: Collection[Right] = RIGHTS,
) -> tuple[TokenInfo, str]:
    """Make a token; its secret is in no other place than in what this returns."""
    if role not in ROLES:
        raise Refused(f"the role {role!r} is not known: {', '.join(ROLES)} are")
    if unknown := sorted(set(scopes) - set(RIGHTS)):
        raise Refused(f"the scope {unknown[0]!r} is not known: {', '.join(RIGHTS)} are")
    _check_days(days)
    id, secret = new_id(), secrets.token_urlsafe(32)
    row = {"id": id, "name": named(name, "a token"), "hash": _hash(secret), "role": role, "team": named(team, "a team"),
           "scopes": sorted(scopes), "made_by": made_by, "made": now(),
           "expires": now() + dt.timedelta(days=days)}  # fmt: skip
    with state.writing() as connection:
        connection.execute(tables.tokens.insert().values(row))
        _log(connection, made_by, team, "make token", id, name)
    return _info(row), f"fx_{id}_{secret}"


def tokens(state: State) -> list[TokenInfo]:
    """All tokens, the last made first."""
    return [_info(row) for row in state.rows(sa.select(tables.tokens).order_by(tables.tokens.c.made.desc()))]


def renew_token(state: State, id: str, days: float, by: str) -> tuple[TokenInfo, str]:
    """Give a token another secret and more time. Who has it is the same person, with the same conversations."""
    _check_days(days)
    row = _in_use(state, id)
    secret, until = secrets.token_urlsafe(32), now() + dt.timedelta(days=days)
    with state.writing() as connection:
        changed = {"hash": _hash(secret), "expires": until}
        connection.execute(tables.tokens.update().where(tables.tokens.c.id == row["id"]).values(changed))
        connection.execute(tables.logins.delete().where(tables.logins.c.token == row["id"]))
        _log(connection, by, row["team"], "renew token", row["id"], row["name"])
    return _info({**row, "expires": until}), f"fx_{row['id']}_{secret}"


def revoke_token(state: State, id: str, by: str) -> TokenInfo:
    """End a token by its id, or by its name, and the logins that were made with it, at once."""
    row = _in_use(state, id)
    with state.writing() as connection:
        connection.execute(tables.tokens.update().where(tables.tokens.c.id == row["id"]).values(revoked=now()))
        connection.execute(tables.logins.delete().where(tables.logins.c.token == row["id"]))
        _log(connection, by, row["team"], "revoke token", row["id"], row["name"])
    return _info({**row, "revoked": now()})


def person_of_token(state: State, text: str) -> Person | None:
    """Who a token stands for; None for one that is not known, revoked or expired."""
    if (said := _TOKEN.fullmatch(text)) is None:
        return None
    row = state.row(sa.select(tables.tokens).where(tables.tokens.c.id == said[1]))
    if row is None or not hmac.compare_digest(row["hash"], _hash(said[2])):
        return None
    if row["revoked"] is not None or row["expires"] <= now():
        return None
    if row["used"] is None or now() - row["used"] > _USED_EVERY:
        # A disk that is full keeps nobody from reading.
        with contextlib.suppress(StoreError), state.writing() as connection:
            connection.execute(tables.tokens.update().where(tables.tokens.c.id == row["id"]).values(used=now()))
    return _person(row)


def _in_use(state: State, id: str) -> Any:
    """The row of a token that is not revoked, by its id or its name."""
    c = tables.tokens.c
    used = sa.select(tables.tokens).where(c.revoked.is_(None))
    # A name is whatever its owner wrote, and may be the id of another token.
    found = state.rows(used.where(c.id == id)) or state.rows(used.where(c.name == id))
    if not found:
        raise NotFound(f"there is no token {id[:80]!r} in use: `finexpert serve token list` shows them")
    if len(found) > 1:
        ids = ", ".join(row["id"] for row in found)
        raise Refused(f"several tokens are called {id!r}: give one of the ids {ids}")
    return found[0]


def _check_days(days: float) -> None:
    if not 0 < days <= LONGEST_DAYS:
        raise Refused(f"a token is good for more than 0 and at most {LONGEST_DAYS} days, and not for {days:g}")


def token_id(text: str) -> str | None:
    """The id in a token, which is no secret."""
    said = _TOKEN.fullmatch(text)
    return said[1] if said else None


def login(state: State, person: Person, hours: float, token: str | None = None) -> str:
    """Keep that a person is logged in; the value of the cookie that says so. `token` is the id of the token it was made with."""
    cookie = secrets.token_urlsafe(32)
    kept = {
        "id": person.id,
        "name": person.name,
        "role": person.role,
        "team": person.team,
        "scopes": sorted(person.scopes),
    }
    row = {"hash": _hash(cookie), "person": kept, "token": token, "made": now(),
           "expires": now() + dt.timedelta(hours=hours)}  # fmt: skip
    with state.writing() as connection:
        connection.execute(tables.logins.insert().values(row))
        _log(connection, person.name, person.team, "login", person.id)
    return cookie


def person_of_login(state: State, cookie: str) -> Person | None:
    """Who is logged in with a cookie; None where nobody is, or not any more."""
    row = state.row(sa.select(tables.logins).where(tables.logins.c.hash == _hash(cookie)))
    if row is None or row["expires"] <= now():
        return None
    if row["token"] is not None:
        found = state.row(sa.select(tables.tokens).where(tables.tokens.c.id == row["token"]))
        if found is None or found["revoked"] is not None or found["expires"] <= now():
            return None
    kept = row["person"]
    return Person(kept["id"], kept["name"], kept["role"], kept["team"], frozenset(kept["scopes"]))


def logout(state: State, cookie: str) -> None:
    with state.writing() as connection:
        connection.execute(tables.logins.delete().where(tables.logins.c.hash == _hash(cookie)))


def _person(row: Any) -> Person:
    return Person(f"token:{row['id']}", row["name"], row["role"], row["team"], frozenset(row["scopes"]))


def _info(row: Any) -> TokenInfo:
    return TokenInfo(**{name: row.get(name) for name in TokenInfo.model_fields})


def _log(connection: sa.Connection, name: str, team: str, action: str, object: str, note: str = "") -> None:
    row = {"at": now(), "person": "", "name": name, "team": team, "action": action, "object": object, "note": note}
    connection.execute(tables.audit.insert().values(row))
