"""What a desk does by itself: it says that it lives, frees what another server left, closes what is idle, and ends in order."""

from __future__ import annotations

import datetime as dt
import fcntl
import logging
import os
import threading
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from finexpert.app.actions.answering import GIVEN_BACK
from finexpert.app.actions.pages import Pages
from finexpert.app.people import access
from finexpert.app.people.people import Person, Right, Role, local_person
from finexpert.app.state import tables
from finexpert.app.state.naming import now
from finexpert.app.state.stored import AuditEntry, TokenInfo
from finexpert.errors import FinexpertError, NotFound
from finexpert.filings.library.library import Library
from finexpert.filings.records import SearchRequest

log = logging.getLogger(__name__)

BEAT_SECONDS = 5.0
DEAD_AFTER = dt.timedelta(seconds=30)
_LOOK_SECONDS = 1.0
# How long questions that were given back have to end, all together: whoever ends the server waits no longer.
_END_SECONDS = 5.0
_MOST_ENTRIES = 1_000


class Keeping(Pages):
    """The desk's own thread, and what the owner of a server does."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        url = self.state.engine.url
        self._alone = _hold(Path(url.database)) if url.database and url.get_backend_name() == "sqlite" else None
        self._beaten = self._swept = self._wrote = 0.0
        self._seen: dict[str, tuple[dt.datetime, float]] = {}  # beats of other servers, and since when they stand there
        self._stopped = threading.Event()
        self.warming = False
        self._gauges()
        self._beat(first=True)
        self._keeper = threading.Thread(target=self._keep_up, name="finexpert-keeper", daemon=True)
        self._keeper.start()

    def tokens(self, person: Person) -> list[TokenInfo]:
        """The tokens of the person's team, without their secrets."""
        person.need("manage")
        return [token for token in access.tokens(self.state) if token.team == person.team]

    def make_token(
        self,
        person: Person,
        name: str,
        role: Role,
        days: float,
        scopes: tuple[Right, ...] = ("read", "ask", "teach", "manage"),
    ) -> tuple[TokenInfo, str]:
        """A token for the person's team; its secret is shown this once. It may do no more than who makes it."""
        person.need("manage")
        allowed = [scope for scope in scopes if scope in person.scopes]
        return access.make_token(
            self.state, name, role=role, team=person.team, days=days, scopes=allowed, made_by=person.name
        )

    def revoke_token(self, person: Person, id: str) -> TokenInfo:
        """End a token of the person's team at once."""
        person.need("manage")
        if id not in {token.id for token in self.tokens(person) if token.revoked is None}:
            raise NotFound(f"there is no token {id[:80]!r} in use")
        return access.revoke_token(self.state, id, person.name)

    def audit(self, person: Person, limit: int = 200) -> list[AuditEntry]:
        """What the people of a team did, the last first."""
        person.need("manage")
        c = tables.audit.c
        wanted = sa.select(tables.audit).where(c.team == person.team).order_by(c.id.desc())
        rows = self.state.rows(wanted.limit(max(1, min(limit, _MOST_ENTRIES))))
        return [AuditEntry(**{name: row[name] for name in AuditEntry.model_fields}) for row in rows]

    def warm(self) -> None:
        """Open what the first question would have to wait for. What cannot be opened is said at the first question."""
        self.warming = True
        try:
            if any(source.kind == "data" for source in self.given.values()):
                self.sandbox.warm()
            self.taught(self.options.team)
            for source in self.given:
                with self.source(local_person(), source) as opened:
                    if isinstance(opened, Library):
                        opened.search(SearchRequest(("revenue",), limit=1))
                    else:
                        opened.query("SELECT 1 AS one")
        except FinexpertError as error:
            log.warning("not everything could be opened: %s", self.said(error))
        finally:
            self.warming = False

    def ready(self) -> list[str]:
        """What keeps the server from taking questions; empty where nothing does."""
        problems = ["the server is about to end"] if self.draining else []
        problems += ["sources are being opened"] if self.warming else []
        try:
            self.state.row(sa.select(tables.meta.c.value))
        except FinexpertError as error:
            problems.append(str(error))
        if time.monotonic() - self._wrote > DEAD_AFTER.total_seconds():
            problems.append(f"the state was last written {time.monotonic() - self._wrote:.0f} s ago: see to the disk")
        if not self._keeper.is_alive():
            problems.append("the keeper of the desk has ended")
        return problems

    def drain(self, seconds: float | None = None) -> None:
        """Take no more questions, wait for those under way, and give back what takes longer."""
        self.draining = True
        until = time.monotonic() + (self.options.grace_seconds if seconds is None else seconds)
        for running in list(self._running.values()):
            running.done.wait(max(0.0, until - time.monotonic()))
        late = [running for running in list(self._running.values()) if not running.done.is_set()]
        for running in late:
            running.cancel(gives_back=True)
        until = time.monotonic() + _END_SECONDS
        for running in late:
            running.done.wait(max(0.0, until - time.monotonic()))

    def close(self) -> None:
        """End: what is under way is waited for or given back, and everything that is open is closed."""
        if self._stopped.is_set():
            return
        self.drain()
        self._stopped.set()
        self._keeper.join(10)
        self._pool.shutdown(wait=False, cancel_futures=True)
        try:
            self._free([self.server])
            with self.state.writing() as connection:
                connection.execute(tables.servers.delete().where(tables.servers.c.id == self.server))
        except FinexpertError:
            log.exception("the state could not be told that the server ends")
        self.sessions.close()
        self.opened.close()
        if self._alone is not None:
            os.close(self._alone)
        super().close()

    def _keep_up(self) -> None:
        while not self._stopped.wait(_LOOK_SECONDS):
            try:
                self._look()
            except Exception:
                # The state may be out of reach for a while; what is under way goes on.
                log.exception("the keeper of the desk goes on after an error")

    def _look(self) -> None:
        if self._running:
            self._hear_cancels()
        if time.monotonic() - self._beaten >= BEAT_SECONDS:
            self._beat()
            self._keep_what_waits()
        if time.monotonic() - self._swept >= 30:
            self._swept = time.monotonic()
            self.sessions.sweep()
            self.opened.sweep()

    def _hear_cancels(self) -> None:
        """Cancel what was cancelled at another server."""
        by_id = {running.id: running for running in list(self._running.values())}
        c = tables.answers.c
        for row in self.state.rows(sa.select(c.id).where(c.id.in_(list(by_id)), c.cancel)):
            by_id[row["id"]].cancel()

    def _beat(self, *, first: bool = False) -> None:
        """Say that this server lives, and free what servers left that do not."""
        self._beaten = time.monotonic()
        c = tables.servers.c
        with self.state.writing() as connection:
            if connection.execute(tables.servers.update().where(c.id == self.server).values(beat=now())).rowcount == 0:
                connection.execute(tables.servers.insert().values(id=self.server, beat=now()))
            connection.execute(tables.logins.delete().where(tables.logins.c.expires < now()))
            # Alone with a file, whatever else is written there is of a server that was killed.
            others = connection.execute(sa.select(tables.servers).where(c.id != self.server)).mappings().all()
            alone = first and self._alone is not None
            dead = [row["id"] for row in others if alone or self._is_still(row["id"], row["beat"])]
            self._seen = {
                row["id"]: self._seen[row["id"]] for row in others if row["id"] in self._seen and row["id"] not in dead
            }
            if dead:
                connection.execute(tables.servers.delete().where(c.id.in_(dead)))
        self._wrote = time.monotonic()
        if dead:
            self._free(dead)

    def _is_still(self, server: str, beat: dt.datetime) -> bool:
        """Whether a server has not beaten for long, by the steady clock of this one: their clocks may differ, or be set."""
        if self._seen.get(server, (None, 0.0))[0] != beat:
            self._seen[server] = (beat, time.monotonic())
        return time.monotonic() - self._seen[server][1] > DEAD_AFTER.total_seconds()

    def _free(self, servers: list[str]) -> None:
        """Give back what was under way at servers that have ended."""
        a, c = tables.answers.c, tables.conversations.c
        with self.state.writing() as connection:
            lost = sa.and_(a.state == "running", a.server.in_(servers))
            ids = list(connection.scalars(sa.select(a.id).where(lost)))
            given_back = {"state": "interrupted", "error": GIVEN_BACK, "ended": now()}
            connection.execute(tables.answers.update().where(lost).values(given_back))
            running = sa.select(a.id).where(a.state == "running")
            connection.execute(
                tables.conversations.update()
                .where(c.asking.is_not(None), c.asking.not_in(running), sa.or_(c.asking.in_(ids), *_held_by(servers)))
                .values(asking=None)
            )

    def _gauges(self) -> None:
        self.metrics.gauge("finexpert_questions_under_way", "Questions under way.", lambda: len(self._running))
        self.metrics.gauge("finexpert_open_sessions", "Conversations in memory.", lambda: len(self.sessions))
        self.metrics.gauge("finexpert_open_sources", "Sources that are open.", lambda: len(self.opened))


def _held_by(servers: list[str]) -> list[sa.ColumnElement[bool]]:
    """Conversations that were taken for something other than a question say which server took them."""
    return [tables.conversations.c.asking.like(f"{server}/%") for server in servers]


def _hold(database: Path) -> int | None:
    """A lock that one process at a time has on a state in a file; None where another has it."""
    # Beside the file, which may lie at another place than home: servers of several homes may share it.
    descriptor = os.open(database.with_name("server.lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
