"""One file of a web server.

    https://example.com/exports/2024.csv

A signature or a token in the address is sent, and shown and kept nowhere; a password is read from ~/.netrc. A redirect leads to https
again, never to an address at which a cloud hands out keys, and from the internet to no host that only this machine reaches.
"""

from __future__ import annotations

import netrc
import re
from collections.abc import Generator, Iterator, Mapping
from urllib.parse import unquote, urlsplit

import httpx

from finexpert.core import hosts
from finexpert.errors import DataError
from finexpert.warehouse.files.found import KINDS, READ
from finexpert.warehouse.files.remote.files import Remote, RemoteFile

_REDIRECTS = 5
_TIMEOUT = httpx.Timeout(60, connect=20)
_BY_TYPE = {
    "text/csv": ".csv", "text/tab-separated-values": ".tsv", "application/json": ".json", "application/x-ndjson": ".jsonl",
    "application/vnd.apache.parquet": ".parquet", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
}  # fmt: skip
_REFUSED = {
    401: "it wants to know who asks",
    403: "it does not allow it",
    404: "it has no such file",
    410: "it has no such file",
}


class WebFile(Remote):
    """The file of an address; asked once, and read from the answer."""

    def __init__(self, address: str, most: int) -> None:
        parts = urlsplit(address)
        if "@" in parts.netloc or not parts.hostname:
            raise DataError(
                "an address of a web server names a host, and holds no user or password: these are read from ~/.netrc"
            )
        super().__init__(f"{parts.scheme}://{parts.netloc}{parts.path}", most)
        if parts.scheme == "http" and not all(number.is_loopback for number in self._numbers(parts.hostname)):
            raise DataError(f"{self.place}: what comes over http:// may be changed on its way. Write https://")
        self._client = httpx.Client(timeout=_TIMEOUT, auth=_netrc(), headers={"User-Agent": "finexpert"})
        try:
            self._answer = self._asked(httpx.URL(address))
            self.files = [self._file(parts.netloc, unquote(parts.path))]
        except BaseException:
            self._client.close()
            raise

    def _asked(self, url: httpx.URL) -> httpx.Response:
        for _ in range(_REDIRECTS):
            try:
                answer = self._client.send(self._client.build_request("GET", url), stream=True)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise DataError(f"{self.place} cannot be fetched: {type(error).__name__}") from None
            if not answer.has_redirect_location:
                return self._checked(answer)
            answer.close()
            onward = url.join(answer.headers["location"])
            self._check_redirect(url, onward)
            url = onward
        raise DataError(f"{self.place} cannot be fetched: it leads on more than {_REDIRECTS} times")

    def _checked(self, answer: httpx.Response) -> httpx.Response:
        if answer.status_code != httpx.codes.OK:
            why = _REFUSED.get(answer.status_code, answer.reason_phrase.lower() or "no file")
            answer.close()
            raise DataError(f"{self.place} cannot be fetched: the server says {answer.status_code}, {why}")
        if answer.headers.get("content-type", "").startswith("text/html"):
            answer.close()
            raise DataError(f"{self.place} is a web page and no file of data: name the address of the file itself")
        return answer

    def _check_redirect(self, url: httpx.URL, onward: httpx.URL) -> None:
        here = self._numbers(url.host)
        is_local = all(number.is_loopback for number in here)
        there = here if onward.host == url.host else self._numbers(onward.host)
        if onward.scheme != "https" and not (is_local and all(number.is_loopback for number in there)):
            raise DataError(f"{self.place} leads on to an address that is not https://: it is not followed")
        if any(map(hosts.hands_out_keys, there)) or (
            all(map(hosts.is_public, here)) and not all(map(hosts.is_public, there))
        ):
            raise DataError(f"{self.place} leads on to a host within this network: it is not followed")

    def _numbers(self, host: str) -> list[hosts.Number]:
        try:
            return hosts.resolved(host)
        except (OSError, UnicodeError, ValueError):
            raise DataError(f"{self.place} cannot be fetched: a host of it is not known here") from None

    def _file(self, host: str, path: str) -> RemoteFile:
        headers = self._answer.headers
        name = re.sub(r"[^\w.()\- ]", "_", path.rpartition("/")[2]) or "data"
        if "." not in name or f".{name.rpartition('.')[2].lower()}" not in KINDS:
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind not in _BY_TYPE:
                raise DataError(f"{self.place} is of no kind that is read: {READ} are, by the suffix of their address")
            name += _BY_TYPE[kind]
        length = headers.get("content-length", "")
        # What comes packed is longer than it says.
        size = int(length) if length.isdigit() and "content-encoding" not in headers else -1
        # Nothing to tell one state from the next: it is read anew each time.
        state = headers.get("etag") or headers.get("last-modified") or ""
        return RemoteFile(f"{host}/{name}", size, state)

    def parts(self, file: RemoteFile) -> Iterator[bytes]:
        try:
            yield from self._answer.iter_bytes(1 << 20)
        except httpx.HTTPError as error:
            raise DataError(f"{self.place} cannot be fetched to its end: {type(error).__name__}") from None

    def close(self) -> None:
        self._answer.close()
        self._client.close()


class _ByName(httpx.Auth):
    """What ~/.netrc holds for a host by its name; its `default` would go to any host."""

    def __init__(self, hosts: Mapping[str, tuple[str, str | None, str | None]]) -> None:
        self._hosts = hosts

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        host = request.url.host
        login, _, password = self._hosts.get(host, ("", None, None)) if host != "default" else ("", None, None)
        if password:
            yield from httpx.BasicAuth(login, password).auth_flow(request)
        else:
            yield request


def _netrc() -> httpx.Auth | None:
    try:
        return _ByName(netrc.netrc().hosts)
    except (OSError, netrc.NetrcParseError):
        return None
