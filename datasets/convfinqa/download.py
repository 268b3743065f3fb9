"""Fetching ConvFinQA from the archive of its official repository.

    https://github.com/czyssrs/ConvFinQA/raw/main/data.zip

The archive is fetched whole, its members are checked, and the conversation files are written atomically. What they say is
checked when they are loaded.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import httpx
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential, wait_random

from finexpert.errors import DataError
from finexpert.storage.whole_files import write_whole

ARCHIVE = "https://github.com/czyssrs/ConvFinQA/raw/main/data.zip"
WANTED = ("train.json", "dev.json")
OPTIONAL = ("test_private.json",)
LARGEST_ARCHIVE = 256 << 20
LARGEST_MEMBER = 512 << 20
_NEXT = "get the archive yourself and load it with `finexpert data convfinqa --from FILE|DIR`"

Progress = Callable[[int, int | None], None]


class _Passing(Exception):
    """What may go away by itself: a server error, a cut connection, an archive that came incomplete."""


def download(
    folder: Path,
    *,
    client: httpx.Client | None = None,
    address: str = ARCHIVE,
    attempts: int = 4,
    pause: float = 0.5,
    progress: Progress | None = None,
) -> list[Path]:
    """Fetch the archive and write its conversation files into `folder`; `progress` gets bytes so far and in all."""
    retrying = Retrying(
        stop=stop_after_attempt(attempts),
        wait=wait_exponential(multiplier=pause, max=20 * pause) + wait_random(0, pause),
        retry=retry_if_exception_type(_Passing),
        reraise=True,
    )
    timeout = httpx.Timeout(60.0, connect=10.0)
    owned = (
        httpx.Client(timeout=timeout, follow_redirects=True, headers={"User-Agent": "finexpert"})
        if not client
        else None
    )
    try:
        contents = retrying(_fetch, client or owned, address, progress)
    except _Passing as error:
        raise DataError(f"{address} was not fetched in {attempts} attempts: {error}; {_NEXT}") from error
    finally:
        if owned:
            owned.close()
    return write_members(contents, folder)


def unpack(archive: Path, folder: Path) -> list[Path]:
    """Write the conversation files of an archive at hand into `folder`."""
    try:
        content = archive.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {archive}: {error.strerror}") from error
    try:
        return write_members(_members(content), folder)
    except _Passing as error:
        raise DataError(f"{archive}: {error}; fetch it again from {ARCHIVE}") from error


def write_members(contents: dict[str, bytes], folder: Path) -> list[Path]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            write_whole(folder / name, content)
    except OSError as error:
        raise DataError(
            f"cannot write to {folder}: {error.strerror}; set FINEXPERT_HOME to a folder of yours"
        ) from error
    return [folder / name for name in contents]


def _fetch(client: httpx.Client, address: str, progress: Progress | None) -> dict[str, bytes]:
    received = bytearray()
    try:
        with client.stream("GET", address) as response:
            if response.status_code in (400, 401, 403, 404, 410):
                raise DataError(f"{address} answered {response.status_code}; {_NEXT}")
            if not response.is_success:
                raise _Passing(f"the answer was {response.status_code} {response.reason_phrase}")
            length = int(response.headers.get("content-length") or 0) or None
            for chunk in response.iter_bytes():
                received += chunk
                if len(received) > LARGEST_ARCHIVE:
                    raise DataError(f"{address} sends more than {LARGEST_ARCHIVE >> 20} MB: this is not the archive")
                if progress:
                    progress(len(received), length)
    except httpx.TransportError as error:
        raise _Passing(f"{type(error).__name__}: {error}") from error
    return _members(bytes(received))


def _members(content: bytes) -> dict[str, bytes]:
    """The wanted files of an archive by name; other members are left alone, their paths never used."""
    found: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist():
                name = PurePosixPath(member.filename).name
                if member.is_dir() or member.filename.startswith("__MACOSX") or name not in WANTED + OPTIONAL:
                    continue
                if member.file_size > LARGEST_MEMBER:
                    raise DataError(f"{member.filename} in the archive is larger than {LARGEST_MEMBER >> 20} MB")
                found[name] = archive.read(member)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise _Passing(f"what came is no complete zip archive: {error}") from error
    if missing := [name for name in WANTED if name not in found]:
        raise DataError(f"the archive holds no {' and no '.join(missing)}; {_NEXT}")
    return found
