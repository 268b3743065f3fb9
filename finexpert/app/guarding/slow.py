"""HTTP that does not wait for ever: a client that sends a request slowly, or not at all, holds its connection for a bounded time.

    uvicorn.Config(app, http=patient(20.0, 640))

uvicorn waits without an end for the first request of a connection, for the rest of a head that has begun, and for a body that was
announced. A head that drips is given up as a whole; of a body the next piece is waited for, as a large file may take long on a thin line,
and the guard says how long the whole of it may take. Who does not read what it asked for is given up too.

Where many wait, the one that has waited longest goes: whoever opens connections without end keeps nobody else out.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Some tens of kilobytes are written at once: a thin line may take longer for them than for a head.
_READING = 3


def patient(seconds: float, most: int = 1_000) -> type[H11Protocol]:
    """The protocol that waits so long, and for so many at once."""
    return type("Patient", (_Patient,), {"seconds": seconds, "most": most, "those": {}})


class _Patient(H11Protocol):
    seconds: float
    most: int
    those: ClassVar[dict[_Patient, None]]  # who is waited for, the longest first
    _waiting: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        state = self.conn.their_state
        if state is h11.IDLE and self._waiting is not None:
            return  # more of a head, for which the time runs already
        self._stop()
        self._leave()
        if state in (h11.IDLE, h11.SEND_BODY):
            self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # What was refused before its body came; a client that just goes on hears the refusal first.
        self.loop.call_later(self.seconds, self._end_body, self.cycle)
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._enter()  # uvicorn says how long the next request is waited for

    def _end_body(self, cycle: object) -> None:
        if self.cycle is cycle and self.conn.their_state is h11.SEND_BODY:
            self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(_READING * self.seconds, self.transport.abort)
        self._enter()

    def resume_writing(self) -> None:
        self._read()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self._read()
        self._leave()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self.seconds, self._given_up)
        self._enter()

    def _enter(self) -> None:
        """One more is waited for."""
        self.those.pop(self, None)
        self.those[self] = None
        if len(self.those) > self.most:
            longest = next(iter(self.those))
            del self.those[longest]
            longest.transport.abort()

    def _stop(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
            self._leave()

    def _read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
            self._leave()

    def _leave(self) -> None:
        if self._waiting is None and self._unread is None:
            self.those.pop(self, None)

    def _given_up(self) -> None:
        self._waiting = None
        self._leave()
        if self.flow.read_paused:
            self._wait()  # it is the program that does not read on
        else:
            self.transport.close()
