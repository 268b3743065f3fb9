"""Files that people send: what they may be called, what they may be, and where they are kept.

>>> clean_name("../../etc/Q1 trades.CSV")
'Q1 trades.csv'
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import BinaryIO

from finexpert.errors import Refused, StoreError
from finexpert.storage.private_files import make_file, make_folder

_STARTS: dict[str, tuple[bytes, ...]] = {
    ".parquet": (b"PAR1",),
    ".xlsx": (b"PK\x03\x04",),
    ".ods": (b"PK\x03\x04",),
    ".xls": (b"\xd0\xcf\x11\xe0",),
}
_TEXTS = frozenset({".csv", ".tsv", ".json", ".jsonl", ".ndjson"})
SUFFIXES = tuple(sorted({*_STARTS, *_TEXTS}))
_LONGEST = 80
_MOST_BYTES = 200
_PIECE = 1 << 20


def clean_name(name: str) -> str:
    """The last part of a file's name, in characters that are harmless everywhere; Refused for a kind that is not read."""
    last = PureWindowsPath(unicodedata.normalize("NFKC", name).replace("\0", "")).name
    suffix = Path(last).suffix.lower()
    if suffix not in SUFFIXES:
        raise Refused(f"a file with the ending {suffix[:12]!r} is not read: send one of {', '.join(SUFFIXES)}")
    stem = re.sub(r"[^\w .()-]+", "_", Path(last).stem).strip(" .")[:_LONGEST]
    # A folder's names are limited in bytes, of which a character may have four.
    stem = stem.encode()[:_MOST_BYTES].decode(errors="ignore")
    return f"{stem or 'file'}{suffix}"


def keep(file: BinaryIO, folder: Path, name: str, most: int) -> Path:
    """Write what was sent into a folder of its own; Refused where it is too large or not what its name says, StoreError where there is no room."""
    target = folder / clean_name(name)
    try:
        make_folder(folder)
        make_file(target)
        with target.open("wb") as kept:
            for piece in _pieces(file, most):
                kept.write(piece)
        _check_content(target)
    except OSError as error:
        remove(folder)
        raise StoreError(
            f"the file could not be kept ({error.strerror or type(error).__name__}): the owner of the server makes room in "
            "FINEXPERT_HOME; send it again then"
        ) from error
    except BaseException:
        remove(folder)
        raise
    return target


def remove(folder: Path) -> None:
    """Remove a folder with the file in it."""
    for path in folder.glob("*"):
        path.unlink(missing_ok=True)
    if folder.is_dir():
        folder.rmdir()


def _pieces(file: BinaryIO, most: int) -> Iterator[bytes]:
    size = 0
    while piece := file.read(_PIECE):
        size += len(piece)
        if size > most:
            raise Refused(f"the file has more than {most / 1e6:,.0f} MB: FINEXPERT_SERVE_UPLOAD_MB is the limit")
        yield piece


def _check_content(path: Path) -> None:
    with path.open("rb") as file:
        start = file.read(4096)
    if not start:
        raise Refused("the file is empty")
    suffix = path.suffix.lower()
    if suffix in _TEXTS:
        if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise Refused(f"the file is no text, as {suffix} is")
    elif not start.startswith(_STARTS[suffix]):
        raise Refused(f"the file is not what its ending {suffix} says")
