"""Fetching the series from FRED's public CSV endpoint, one file a series, without a key.

    https://fred.stlouisfed.org/graph/fredgraph.csv?id=UNRATE

A file is written whole or not at all, and kept for a day: an interrupted download goes on where it stopped. It
does not read the values, it only refuses what is not a CSV of the series.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential, wait_random

from finexpert.datasets.fred.series import SERIES
from finexpert.errors import DataError
from finexpert.storage.whole_files import write_whole

ENDPOINT = "https://fred.stlouisfed.org/graph/fredgraph.csv"
DAY = 24 * 3600
Progress = Callable[[str, int, int], None]

_NEXT = "Load a folder of CSV files with `finexpert data fred --from DIR`, or go on with the sample economy"
_FATAL = (400, 401, 403, 404, 410)


class _Passing(Exception):
    """What may go away by itself: a server error, a cut connection, a page in place of the file."""


def download(
    folder: Path,
    *,
    client: httpx.Client | None = None,
    progress: Progress | None = None,
    refresh: bool = False,
    endpoint: str = ENDPOINT,
    attempts: int = 4,
    pause: float = 0.5,
) -> list[Path]:
    """Fetch the 31 series into `folder` and give the files back.

    `progress` is called with the series, how many are done and how many there are. `pause` is the first wait
    between attempts in seconds; it doubles, with jitter. A file younger than a day is kept unless `refresh`.
    """
    _make(folder)
    retrying = Retrying(
        stop=stop_after_attempt(attempts),
        wait=wait_exponential(multiplier=pause, max=20 * pause) + wait_random(0, pause),
        retry=retry_if_exception_type(_Passing),
        reraise=True,
    )
    paths = []
    with contextlib.ExitStack() as stack:
        if client is None:
            client = stack.enter_context(_client())
        for done, series in enumerate(SERIES, start=1):
            path = folder / f"{series}.csv"
            if refresh or not _fresh(path):
                try:
                    content = retrying(_fetch, client, endpoint, series)
                except _Passing as error:
                    raise DataError(
                        f"{series} was not fetched from {endpoint} in {attempts} attempts: {error}. {_NEXT}"
                    ) from error
                write_whole(path, content)
            paths.append(path)
            if progress:
                progress(series, done, len(SERIES))
    return paths


def _client() -> httpx.Client:
    return httpx.Client(
        timeout=httpx.Timeout(30.0, connect=10.0), follow_redirects=True, headers={"User-Agent": "finexpert"}
    )


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder} cannot be made: {error}. Set FINEXPERT_HOME to a folder of yours") from error


def _fresh(path: Path) -> bool:
    return path.is_file() and time.time() - path.stat().st_mtime < DAY


def _fetch(client: httpx.Client, endpoint: str, series: str) -> bytes:
    try:
        response = client.get(endpoint, params={"id": series})
    except httpx.TransportError as error:
        raise _Passing(f"{type(error).__name__}: {error}") from error
    if response.status_code in _FATAL:
        raise DataError(f"{response.url} answered {response.status_code} {response.reason_phrase}. {_NEXT}")
    if not response.is_success:
        raise _Passing(f"the answer was {response.status_code} {response.reason_phrase}")
    _check(response.content, series)
    return response.content


def _check(content: bytes, series: str) -> None:
    header, _, rest = content.partition(b"\n")
    first = header.strip().lower()
    if first not in (f"observation_date,{series}".lower().encode(), b"date,value"):
        raise _Passing(f"{header[:60]!r} is not the first line of a CSV of {series}")
    lines = rest.rstrip().rsplit(b"\n", 1)
    if not rest.strip() or lines[-1].count(b",") != 1 or len(lines[-1].partition(b",")[0]) != len("2024-09-30"):
        raise _Passing(f"the CSV of {series} is cut off")
