"""One process that holds the file of one warehouse and answers its SELECTs, one at a time; the parent's side.

    process = QueryProcess(opening, database)
    process.ready()
    process.catalogue([], {})                                   ->   Catalogue(...)
    process.lock(Known(columns, card, views))
    process.ask(Request("SELECT max(date) AS last FROM cpi"))   ->   Rows(...)

It is killed, not interrupted, when a SELECT passes its time: DuckDB does not heed an interrupt within a batch of rows.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from finexpert.core import progress
from finexpert.errors import ConfigurationError, DataError, QueryError, SandboxUnavailable
from finexpert.isolation import wire
from finexpert.isolation.arrow import GateError
from finexpert.isolation.ending import Ending, strike, wait_ended
from finexpert.isolation.guests.reading import denials
from finexpert.isolation.guests.zygote import START_SECONDS, zygote
from finexpert.warehouse.isolated import SELECTS
from finexpert.warehouse.isolated.answer import MAX_RESULT_BYTES, MOST_LOOKED_AT, Known, Request, Rows
from finexpert.warehouse.isolated.catalogue import Catalogue
from finexpert.warehouse.isolated.errors import BROKEN, took_too_long
from finexpert.warehouse.isolated.gate import open_rows
from finexpert.warehouse.isolated.locked_connection import View

# What an Arrow stream needs beside the rows themselves.
_FRAMING_BYTES = 16 << 20
_MAX_ERROR = 4_000
_T = TypeVar("_T")
# The catalogue of some hundred thousand columns, each with its comment.
_CATALOGUE_BYTES = 256 << 20


@dataclass(frozen=True)
class Opening:
    """What a process opens, and how much memory it may take above what it has when the file is open."""

    path: str
    memory: str
    threads: int
    bytes: int


class QueryProcess(Ending):
    """A process on its way up, answering, or dead. One thread at a time."""

    guest = SELECTS

    def __init__(self, opening: Opening, database: int) -> None:
        super().__init__()
        self._channel, theirs = socket.socketpair()
        self._deadline = time.monotonic() + START_SECONDS
        self.locked = False
        self._path = opening.path
        self.denied: list[list[str]] = []
        try:
            self._handle = zygote(self.guest).fork(theirs.fileno(), database)
        except BaseException:
            self._channel.close()
            raise
        finally:
            theirs.close()
        self._opening: bytes | None = wire.pack(asdict(opening))

    def ready(self) -> None:
        """Wait until it has opened the file and locked itself in.

        Raises DataError if it cannot open the file, SandboxUnavailable if it is not locked as it should be.
        """
        if self._opening is None:
            return
        try:
            wire.send(self._channel, self._opening, self._deadline)
            header, _ = wire.receive(self._channel, self._deadline, 0)
        except (OSError, EOFError, wire.WireError) as error:
            self.kill()
            why = f"{type(error).__name__}: {zygote(self.guest).last_words()}"
            raise SandboxUnavailable(
                f"no SELECT can be run: its process did not come up ({why}); see `finexpert doctor`"
            ) from None
        except BaseException:
            self.kill()
            raise
        self._opening = None
        if "failed" in header:
            self.kill()
            raise _failure(header)
        try:
            self.denied = denials(header, "no SELECT can be run")
        except SandboxUnavailable:
            self.kill()
            raise

    def catalogue(self, categories: Collection[str], date_columns: Mapping[str, str]) -> Catalogue:
        """What the file says of itself, checked by type; raises DataError."""
        wanted = {"categories": list(categories), "date_columns": dict(date_columns)}
        _, body = self._exchange({"catalogue": wanted})
        return self._checked(TypeAdapter(Catalogue), body)

    def lock(self, known: Known) -> Known:
        """Let it make the views and answer from them alone, from now on; the views as they were made."""
        _, body = self._exchange({"views": list(known.views), "columns": dict(known.columns), "card": known.card})
        self.locked = True
        return replace(known, views=self._checked(TypeAdapter(list[View]), body))

    def look(self, select: str, seconds: float) -> Rows | None:
        """The rows of a SELECT of the program's own; None where it fails or takes too long."""
        request = Request(select, row_cap=MOST_LOOKED_AT, seconds=seconds)
        try:
            return self._ask({"look": select}, request)
        except QueryError:
            return None

    def _exchange(self, message: Mapping[str, Any]) -> tuple[dict[str, Any], bytearray]:
        deadline = time.monotonic() + START_SECONDS
        try:
            wire.send(self._channel, wire.pack(message), deadline)
            header, body = wire.receive(self._channel, deadline, _CATALOGUE_BYTES)
        except (OSError, EOFError, wire.WireError) as error:
            self.kill()
            raise DataError(self._broke(type(error).__name__)) from None
        except BaseException:
            self.kill()
            raise
        if "failed" in header:
            self.kill()
            header["failed"] = f"{self._path} cannot be read: {header['failed']}"
            raise _failure(header)
        return header, body

    def _checked(self, kind: TypeAdapter[_T], body: bytearray) -> _T:
        try:
            return kind.validate_json(body)
        except ValidationError:
            self.kill()
            raise DataError(self._broke("an answer of another form")) from None

    def _broke(self, why: str) -> str:
        return (
            f"{self._path} cannot be read: the process that reads it broke ({why}), or needs more memory than"
            " FINEXPERT_SQL_MEMORY_MB allows; see `finexpert doctor`"
        )

    def ask(self, request: Request) -> Rows:
        """The rows of a SELECT; raises QueryError, and Cancelled where its question is.

        The process is dead after one that broke it or took too long.
        """
        return self._ask(asdict(request), request)

    def _ask(self, message: Mapping[str, Any], request: Request) -> Rows:
        with progress.watch().interrupting(self.end):
            return self._exchanged(message, request)

    def _exchanged(self, message: Mapping[str, Any], request: Request) -> Rows:
        started = time.monotonic()
        deadline = started + request.seconds
        try:
            wire.send(self._channel, wire.pack(message), deadline)
            header, body = wire.receive(self._channel, deadline, MAX_RESULT_BYTES + _FRAMING_BYTES)
            return replace(self._opened(header, body, request), seconds=time.monotonic() - started)
        except TimeoutError:
            self.kill()
            raise QueryError(took_too_long(request.seconds)) from None
        except (EOFError, OSError, wire.WireError, GateError):
            self.kill()
            raise QueryError(BROKEN) from None
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
        # select() takes no descriptor above 1023, which a busy server has.
        watched = select.poll()
        watched.register(self._channel, select.POLLIN)
        return bool(watched.poll(0))

    def _strike(self) -> None:
        strike(self._handle)

    def _clean(self) -> None:
        # A program that writes to the file next, a test as much as a loader, would meet its lock.
        wait_ended(self._handle)
        os.close(self._handle)
        self._channel.close()


def _failure(header: Mapping[str, Any]) -> DataError | ConfigurationError:
    said = str(header["failed"])[:_MAX_ERROR]
    return ConfigurationError(said) if header.get("kind") == "ConfigurationError" else DataError(said)
