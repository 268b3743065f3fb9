"""One process that answers the SELECTs of one warehouse, one at a time; the parent's side.

    process = QueryProcess(opening, database)
    process.ready()
    process.ask(Request("SELECT max(date) AS last FROM cpi"))   ->   Rows(...)

It is killed, not interrupted, when a SELECT passes its time: DuckDB does not heed an interrupt within a batch of rows.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from finexpert.errors import DataError, QueryError, SandboxUnavailable
from finexpert.sandbox.lockdown import CANARY_NAMES
from finexpert.warehouse.isolated import wire as query_wire
from finexpert.warehouse.isolated.answer import MAX_RESULT_BYTES, Request, Rows
from finexpert.warehouse.isolated.errors import took_too_long
from finexpert.warehouse.isolated.gate import GateError, open_rows
from finexpert.warehouse.isolated.zygote import START_SECONDS, zygote
from finexpert.warehouse.local.locked_connection import View

# What an Arrow stream needs beside the rows themselves.
_FRAMING_BYTES = 16 << 20
_MAX_ERROR = 4_000
_BROKEN = (
    "it broke the database's process, or needs more memory than it may use: filter or aggregate earlier, in plainer SQL"
)


@dataclass(frozen=True)
class Opening:
    """What a process opens, and how much memory it may take above what it has when the file is open."""

    path: str
    memory: str
    threads: int
    views: Sequence[View]
    bytes: int
    columns: Mapping[str, Sequence[str]] = field(repr=False)
    card: str = field(repr=False)


class QueryProcess:
    """A process on its way up, answering, or dead. One thread at a time."""

    def __init__(self, opening: Opening, database: int) -> None:
        self._channel, theirs = socket.socketpair()
        self._deadline = time.monotonic() + START_SECONDS
        self.alive = True
        self.denied: list[list[str]] = []
        try:
            self._handle = zygote().fork(theirs.fileno(), database)
        except BaseException:
            self._channel.close()
            raise
        finally:
            theirs.close()
        self._opening: bytes | None = query_wire.pack(asdict(opening))

    def ready(self) -> None:
        """Wait until it has opened the file and locked itself in.

        Raises DataError if it cannot open the file, SandboxUnavailable if it is not locked as it should be.
        """
        if self._opening is None:
            return
        try:
            query_wire.send(self._channel, self._opening, self._deadline)
            header, _ = query_wire.receive(self._channel, self._deadline, 0)
        except (OSError, EOFError, query_wire.WireError) as error:
            self.kill()
            why = f"{type(error).__name__}: {zygote().last_words()}"
            raise SandboxUnavailable(
                f"no SELECT can be run: its process did not come up ({why}); see `finexpert doctor`"
            ) from None
        except BaseException:
            self.kill()
            raise
        self._opening = None
        denied = header.get("denied")
        if "failed" in header:
            self.kill()
            raise DataError(f"no SELECT can be run: {header['failed']}")
        if not isinstance(denied, list) or tuple(name for name, _ in denied) != CANARY_NAMES:
            self.kill()
            raise SandboxUnavailable("no SELECT can be run: its process did not prove that everything is denied")
        self.denied = denied

    def ask(self, request: Request) -> Rows:
        """The rows of a SELECT; raises QueryError. The process is dead after one that broke it or took too long."""
        deadline = time.monotonic() + request.seconds
        try:
            query_wire.send(self._channel, query_wire.pack(asdict(request)), deadline)
            header, body = query_wire.receive(self._channel, deadline, MAX_RESULT_BYTES + _FRAMING_BYTES)
            return self._opened(header, body, request)
        except TimeoutError:
            self.kill()
            raise QueryError(took_too_long(request.seconds)) from None
        except (EOFError, OSError, query_wire.WireError, GateError):
            self.kill()
            raise QueryError(_BROKEN) from None
        except QueryError:
            raise
        except BaseException:
            self.kill()
            raise

    def _opened(self, header: dict[str, Any], body: Any, request: Request) -> Rows:
        if header.get("worn") is not False:
            self.kill()
        if "error" in header:
            raise QueryError(str(header["error"])[:_MAX_ERROR])
        return open_rows(header, body, request.row_cap)

    @property
    def lost(self) -> bool:
        """Whether it has ended by itself since it was last asked."""
        if not self.alive or self._opening is not None:
            return not self.alive
        return bool(select.select([self._channel], [], [], 0)[0])

    def end(self) -> None:
        """Kill the process and nothing more: the thread that waits for it cleans up."""
        if self.alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def kill(self) -> None:
        """End it at once; may be called again."""
        if self.alive:
            self.end()
            self.alive = False
            os.close(self._handle)
            self._channel.close()
