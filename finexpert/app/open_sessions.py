"""The sessions of conversations that somebody asks in: kept for follow-ups, closed when idle, opened again from the state.

A session holds the frames of its conversation in memory. Source, model, sandbox and memory are shared by all.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from finexpert.session import Session

log = logging.getLogger(__name__)


@dataclass
class OpenSession:
    """A session, and what of the state it is at: `revision` counts the changes of its conversation.

    `held` keeps its sources open until the session is closed.
    """

    session: Session
    source_key: str
    sources: Mapping[str, str]  # ids, by their names in plans
    revision: int
    turns: list[str]  # ids of the answers whose turns the workspace holds
    held: ExitStack
    notes: list[str] = field(default_factory=list)
    used: float = field(default_factory=time.monotonic)


class OpenSessions:
    """Sessions by conversation. The state sees to it that one question of a conversation is under way at a time."""

    def __init__(self, most: int, idle_seconds: float) -> None:
        self._most, self._idle = most, idle_seconds
        self._open: dict[str, OpenSession] = {}
        self._lock = threading.Lock()

    def take(self, conversation: str, revision: int, source_key: str) -> OpenSession | None:
        """The session, which is the caller's until `keep`; None where there is none, or it is behind the state."""
        with self._lock:
            found = self._open.pop(conversation, None)
        if found is not None and (found.revision, found.source_key) != (revision, source_key):
            self._close(found)
            return None
        return found

    def keep(self, conversation: str, session: OpenSession) -> None:
        """Keep a session for the next question; the one that was longest idle goes where there are too many."""
        session.used = time.monotonic()
        gone = []
        with self._lock:
            if (other := self._open.pop(conversation, None)) is not None:
                gone.append(other)
            self._open[conversation] = session
            while len(self._open) > self._most:
                gone.append(self._open.pop(next(iter(self._open))))
        for each in gone:
            self._close(each)

    def drop(self, session: OpenSession) -> None:
        """Close a session that is not to be used again."""
        self._close(session)

    def forget(self, conversation: str) -> None:
        """Close the session of a conversation, if there is one."""
        with self._lock:
            found = self._open.pop(conversation, None)
        if found is not None:
            self._close(found)

    def sweep(self) -> None:
        """Close what is idle."""
        oldest = time.monotonic() - self._idle
        with self._lock:
            idle = [name for name, each in self._open.items() if each.used < oldest]
            gone = [self._open.pop(name) for name in idle]
        for each in gone:
            self._close(each)

    def close(self) -> None:
        with self._lock:
            gone, self._open = list(self._open.values()), {}
        for each in gone:
            self._close(each)

    def __len__(self) -> int:
        return len(self._open)

    def _close(self, session: OpenSession) -> None:
        try:
            session.session.close()
        except Exception:
            # Nobody asks in it any more: the question that closes it is another one's.
            log.exception("a session could not be closed")
        finally:
            session.held.close()
