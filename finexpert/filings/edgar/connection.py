"""A connection to EDGAR under the rules of the SEC, and the lists that are kept of it.

    connection = Connection("Ada Example ada@example.com", "load files with `finexpert data edgar --from FOLDER`")
    connection.object("https://data.sec.gov/submissions/CIK0000320193.json", "the filings of AAPL")    # bytes of JSON
    connection.save("https://www.sec.gov/Archives/edgar/data/...", path, "the 10-K of AAPL", print)    # a file, whole

The SEC asks every program to name a person with an address of mail, and to ask at most ten times a second. What may go away by itself
is tried again. Nothing is followed to another server.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import httpx
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from finexpert.errors import ConfigurationError, DataError, NotFetched
from finexpert.storage import foreign_json
from finexpert.storage.whole_files import write_whole, writing

MOST_A_SECOND = 10
MOST_BYTES = 256 << 20
DAY = 24 * 3600
LONGEST_WAIT = 60.0
_T = TypeVar("_T")

_FATAL = (400, 401, 403, 404, 410)
_GONE = (404, 410)
_MOST_REDIRECTS = 3
# What EDGAR answers in place of a file, at times with 200.
_TURNED_AWAY = (b"Request Rate Threshold Exceeded", b"Undeclared Automated Tool")
_HEAD = 8192
# Packed several times, or otherwise, one part of some kilobytes may unpack to any size at once.
_PACKED = ("identity", "gzip", "deflate", "")


class _Passing(Exception):
    """What may go away by itself: a server error, a cut connection, a page in place of the file."""

    def __init__(self, message: str, *, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.seconds = seconds


@dataclass(frozen=True)
class Saved:
    """A file as it was written."""

    sha256: str
    size: int


@dataclass
class Pace:
    """Lets at most so many requests a second through."""

    a_second: float = MOST_A_SECOND
    _next: float = field(default=0.0, init=False)

    def wait(self) -> None:
        """Sleeps until the next request may go out."""
        now = time.monotonic()
        if self._next > now:
            time.sleep(self._next - now)
        # A tenth more than asked for: the server's clock counts, and it may start a second anywhere.
        self._next = max(now, self._next) + 1.1 / self.a_second


def check_user_agent(text: str | None, instead: str) -> str:
    """The name and address of mail that the SEC asks for; ConfigurationError where there is none says what to do `instead`.

    >>> check_user_agent("Ada Example ada@example.com", "load files")
    'Ada Example ada@example.com'
    """
    if text is None or "@" not in text or not text.isascii() or not text.isprintable():
        given = "none is set" if text is None else f"{text!r} is none"
        raise ConfigurationError(
            f"EDGAR asks every program for a name and an address of mail, and {given}: set "
            f"FINEXPERT_EDGAR_USER_AGENT='Name name@example.com', or {instead}"
        )
    return text


class Connection:
    """Asks EDGAR, names its user, keeps the pace and tries again; `instead` is what a person can do where it fails.

    A file that is saved has at most `most_bytes`; a list may have as many as any file.
    """

    def __init__(
        self,
        user_agent: str | None,
        instead: str,
        *,
        attempts: int = 4,
        pause: float = 0.5,
        pace: Pace | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._next = f"What was fetched is kept, and the same command goes on; or {instead}"
        self._pace, self._attempts, self._most_bytes = pace or Pace(), attempts, most_bytes
        self._backoff = wait_exponential(multiplier=pause, max=20 * pause) + wait_random(0, pause)
        self._retrying = Retrying(
            stop=stop_after_attempt(attempts),
            wait=self._wait,
            retry=retry_if_exception_type(_Passing),
            reraise=True,
        )
        self._client = httpx.Client(
            timeout=httpx.Timeout(60.0, connect=10.0),
            headers={"User-Agent": check_user_agent(user_agent, instead), "Accept-Encoding": "gzip, deflate"},
        )

    def close(self) -> None:
        """Ends the connection."""
        self._client.close()

    def object(self, address: str, what: str) -> bytes:
        """The text of an object of JSON. Raises NotFetched where it is not there or too large, else DataError."""
        return self._tried(lambda: self._object(address, what), address, what)

    def save(self, address: str, path: Path, what: str, seal: Callable[[Saved], None]) -> None:
        """Writes a file whole or not at all; `seal` is called before it gets its name, and what it raises leaves no file.

        Raises NotFetched where the file is not there or too large, else DataError.
        """
        self._tried(lambda: self._save(address, path, what, seal), address, what)

    def _tried(self, act: Callable[[], _T], address: str, what: str) -> _T:
        try:
            return self._retrying(act)
        except _Passing as error:
            raise DataError(
                f"{what} could not be fetched from {address} in {self._attempts} attempts: {error}. {self._next}"
            ) from error

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.seconds if isinstance(error, _Passing) else 0.0
        return max(self._backoff(state), asked)

    def _object(self, address: str, what: str) -> bytes:
        with self._answer(address, what) as response:
            content = b"".join(_parts(response, what, MOST_BYTES))
        _check(content)
        return content

    def _save(self, address: str, path: Path, what: str, seal: Callable[[Saved], None]) -> None:
        try:
            with self._answer(address, what) as response, writing(path) as file:
                seal(self._copy(response, file, what))
        except OSError as error:
            raise DataError(
                f"{path} cannot be written: {error.strerror or error}. Make room or see to the rights of {path.parent}. {self._next}"
            ) from error

    def _copy(self, response: httpx.Response, file: BinaryIO, what: str) -> Saved:
        digest, size, head = hashlib.sha256(), 0, b""
        for part in _parts(response, what, self._most_bytes):
            digest.update(part)
            size += len(part)
            head += part[: max(0, _HEAD - len(head))]
            file.write(part)
        if not size:
            raise _Passing("the answer is empty")
        if any(words in head for words in _TURNED_AWAY):
            raise _Passing("the answer is a page that turns programs away")
        # A checksum is kept of it: after a power cut it must not be that of a file that the disk never got.
        file.flush()
        os.fsync(file.fileno())
        return Saved(digest.hexdigest(), size)

    @contextmanager
    def _answer(self, address: str, what: str) -> Iterator[httpx.Response]:
        try:
            with self._followed(self._client.build_request("GET", address), what) as response:
                self._check_status(response, what)
                yield response
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise _Passing(f"{type(error).__name__}: {error}") from error

    @contextmanager
    def _followed(self, request: httpx.Request, what: str) -> Iterator[httpx.Response]:
        """The answer to a request, after redirects within its server."""
        for _ in range(_MOST_REDIRECTS + 1):
            self._pace.wait()
            response = self._client.send(request, stream=True)
            try:
                if response.next_request is None:
                    yield response
                    return
                request = self._same_server(request, response.next_request, what)
            finally:
                response.close()
        raise DataError(f"{what} could not be fetched: {request.url} leads in a circle. {self._next}")

    def _same_server(self, request: httpx.Request, then: httpx.Request, what: str) -> httpx.Request:
        if _server(request.url) != _server(then.url):
            raise DataError(
                f"{what} could not be fetched: {request.url} leads to another server, {then.url}, and none but "
                f"{request.url.host} is asked. {self._next}"
            )
        return then

    def _check_status(self, response: httpx.Response, what: str) -> None:
        if response.headers.get("content-encoding", "identity").strip().lower() not in _PACKED:
            raise DataError(
                f"{what} could not be fetched: {response.url} answers packed in a way that was not asked for. {self._next}"
            )
        said = f"{response.status_code} {response.reason_phrase}"
        if response.status_code in _FATAL:
            why = f"{response.url} answered {said}"
            if response.status_code == 403:
                why += ", which is what EDGAR says to a user agent that it does not accept, or to too many requests"
            error = NotFetched if response.status_code in _GONE else DataError
            raise error(f"{what} could not be fetched: {why}. {self._next}")
        if not response.is_success:
            seconds = _asked_to_wait(response)
            if seconds > LONGEST_WAIT:
                raise DataError(
                    f"{what} could not be fetched: {response.url} answered {said} and asks to wait {seconds:,.0f} seconds. {self._next}"
                )
            raise _Passing(f"the answer was {said}", seconds=seconds)


class Lists:
    """Files of JSON that EDGAR changes daily, kept in a folder for a day, or fetched anew where `refresh` says so."""

    def __init__(self, connection: Connection, folder: Path, *, refresh: bool = False) -> None:
        self.folder = folder
        self._connection, self._refresh = connection, refresh
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(
                f"{folder} cannot be made: {error.strerror}. Set FINEXPERT_HOME to a folder of yours"
            ) from error

    def fetch(self, name: str, address: str, what: str) -> Path:
        """The file of this name, fetched where there is no young one; raises as `Connection.object`."""
        path = self.folder / name
        if self._refresh or not path.is_file() or time.time() - path.stat().st_mtime >= DAY:
            content = self._connection.object(address, what)
            try:
                write_whole(path, content)
            except OSError as error:
                raise DataError(
                    f"{path} cannot be written: {error.strerror}. Make room or see to the rights of {self.folder}"
                ) from error
        return path


def _parts(response: httpx.Response, what: str, most: int) -> Iterator[bytes]:
    """The content bit by bit; NotFetched as soon as there is too much of it, whatever its header said."""
    size = 0
    for part in response.iter_bytes():
        size += len(part)
        if size > most:
            raise NotFetched(
                f"{what} has more than the {most / (1 << 20):,.0f} MB that a file may have: {response.url}"
            )
        yield part


def _server(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _asked_to_wait(response: httpx.Response) -> float:
    """The seconds of the header Retry-After; 0 where it is missing or is a date."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0


def _check(content: bytes) -> None:
    """Refuses what is no object of JSON: a page that says to wait, or a file that was cut off."""
    try:
        value: Any = foreign_json.parse(content)
    except json.JSONDecodeError as error:
        raise _Passing(f"the answer is no JSON: {error}") from None
    if not isinstance(value, dict) or not value:
        raise _Passing("the answer is no object of JSON")
