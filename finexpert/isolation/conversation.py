"""One exchange with a child, as the parent has it: the request out, one frame and what is printed in.

It counts bytes and seconds, and gives up at the first that is too many. It does not kill: who called it does.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import time

from finexpert.isolation.limits import Limits
from finexpert.isolation.watchdog import POLL_SECONDS, Watchdog
from finexpert.isolation.wire import Frame, FrameReader, WireError

_CHUNK = 1 << 18


class Overrun(Exception):
    """A script passed the limit that is named."""


class Conversation:
    """Sends the request and collects the answer and what is printed, within the limits."""

    def __init__(self, channel: socket.socket, output: int, limits: Limits, watchdog: Watchdog | None = None) -> None:
        self._channel, self._output, self._limits = channel, output, limits
        self._watchdog = watchdog
        self._reader = FrameReader(
            header_bytes=limits.json_bytes + 4096,
            blob_bytes=limits.result_bytes + limits.figures * limits.figure_bytes,
            blobs=limits.figures + 1,
        )
        self._frame: Frame | None = None
        self._overflow = 0
        self.printed = bytearray()

    def run(self, request: bytes, deadline: float) -> Frame | None:
        """The one frame that the child sent before it ended; None if it sent none."""
        self._rest = memoryview(request)
        self._channel.setblocking(False)
        os.set_blocking(self._output, False)
        with selectors.DefaultSelector() as selector:
            selector.register(self._channel, selectors.EVENT_READ | selectors.EVENT_WRITE, self._talk)
            selector.register(self._output, selectors.EVENT_READ, self._listen)
            while selector.get_map():
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise Overrun(f"the script ran longer than {self._limits.wall_seconds:g} s")
                if self._watchdog and self._watchdog.passed():
                    most = self._limits.resident_bytes >> 20
                    raise Overrun(f"the script held more than {most} MB of memory; use smaller frames or fewer copies")
                for key, events in selector.select(min(remaining, POLL_SECONDS)):
                    key.data(selector, events)
        if self._frame is None and self._reader.pending:
            raise WireError("a frame that was cut off")
        return self._frame

    def _talk(self, selector: selectors.BaseSelector, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
                self._rest = self._rest[self._channel.send(self._rest[:_CHUNK]) :]
            if not self._rest:
                selector.modify(self._channel, selectors.EVENT_READ, self._talk)
        if events & selectors.EVENT_READ:
            self._receive(selector)

    def _receive(self, selector: selectors.BaseSelector) -> None:
        try:
            data = self._channel.recv(_CHUNK)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        if not data:
            selector.unregister(self._channel)
        elif self._frame is not None:
            raise WireError("bytes after the one frame")
        else:
            self._frame = self._reader.feed(data)
            if self._frame is not None and self._reader.pending:
                raise WireError("bytes after the one frame")

    def _listen(self, selector: selectors.BaseSelector, events: int) -> None:
        data = os.read(self._output, _CHUNK)
        if not data:
            selector.unregister(self._output)
            return
        room = self._limits.stdout_bytes - len(self.printed)
        self.printed += data[: max(room, 0)]
        self._overflow += max(0, len(data) - max(room, 0))
        if self._overflow > 3 * self._limits.stdout_bytes:
            raise Overrun(f"the script printed more than {4 * self._limits.stdout_bytes} bytes")
