"""The process that reads LookML, seen from its parent; what it sends is trusted in nothing.

    read_lookml([Path("models/orders.view.lkml")], Path("models"), taken)   ->   [{"views": [...], "file": "orders.view.lkml"}]

One process reads all files and ends. Where no process can be locked in, they are read in this one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from finexpert.errors import ConfigurationError, SandboxUnavailable
from finexpert.isolation import wire
from finexpert.isolation.guests.reading import denials, guest
from finexpert.isolation.guests.zygote import START_SECONDS, problem
from finexpert.storage import foreign_json
from finexpert.warehouse.semantic_model.importing.documents import FILE
from finexpert.warehouse.semantic_model.importing.lookml_child import MOST_TOLD, read
from finexpert.warehouse.semantic_model.importing.taken import Taken

GUEST = "finexpert.warehouse.semantic_model.importing.lookml_child"
MEMORY_BYTES = 1 << 30
SECONDS = 120.0

Outcome = Mapping[str, Any] | str
"""what a file holds, or why it cannot be read"""


def read_lookml(files: Sequence[Path], place: Path, taken: Taken) -> list[Mapping[str, Any]]:
    """What the files hold, each with its name; what cannot be read is listed, or raises ConfigurationError where it is the only file."""
    if not files:
        return []
    if not files[0].is_file():
        raise ConfigurationError(f"{files[0]} cannot be read: it is no file")
    if find_spec("lkml") is None:
        raise ConfigurationError("files of LookML need a package: `pip install 'finexpert[lookml]'`")
    documents: list[Mapping[str, Any]] = []
    for file, outcome in zip(files, _outcomes(files), strict=True):
        name = file.relative_to(place).as_posix() if place.is_dir() else file.name
        if not isinstance(outcome, str):
            documents.append({**outcome, FILE: name})
        elif place.is_dir():
            taken.leave_out(name, outcome)
        else:
            raise ConfigurationError(f"{place} cannot be read: {outcome}")
    return documents


def _outcomes(files: Sequence[Path]) -> Iterator[Outcome]:
    return _read_here(files) if problem() is not None else _read_locked(files)


def _read_here(files: Sequence[Path]) -> Iterator[Outcome]:
    for file in files:
        try:
            yield read(file)
        except ValueError as error:
            yield str(error)


def _read_locked(files: Sequence[Path]) -> Iterator[Outcome]:
    told = 0
    try:
        with guest(GUEST, files[0]) as channel:
            setup = {"files": [str(file.absolute()) for file in files], "bytes": MEMORY_BYTES}
            wire.send(channel, wire.pack(setup), time.monotonic() + START_SECONDS)
            header, _ = wire.receive(channel, time.monotonic() + START_SECONDS, 0)
            if "failed" in header:
                raise SandboxUnavailable(f"no LookML can be read: {str(header['failed'])[:2_000]}")
            denials(header, "no LookML can be read")
            deadline = time.monotonic() + SECONDS
            for _ in files:
                header, body = wire.receive(channel, deadline, MOST_TOLD)
                yield str(header["refused"])[:500] if "refused" in header else _held(body)
                told += 1
    except TimeoutError:
        raise ConfigurationError(
            f"{files[told]}: the files take more than {SECONDS:.0f} seconds to read: name fewer of them at once"
        ) from None
    except (EOFError, OSError, wire.WireError, ValueError) as error:
        raise ConfigurationError(
            f"{files[told]}: the process that reads it broke ({type(error).__name__}), or needs more memory than {MEMORY_BYTES >> 20:,} MB"
        ) from None


def _held(body: bytearray) -> Mapping[str, Any]:
    held = foreign_json.parse(bytes(body))
    return held if isinstance(held, dict) else {}
