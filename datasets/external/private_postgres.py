"""A PostgreSQL server of one's own for as long as an evaluation takes: in a temporary folder, reached by a socket in it.

    with private_postgres() as server:
        server.url("broker")      # 'postgresql+psycopg://postgres@/broker?host=/run/pg1x2y3z'

It listens on no network address, is not durable, and is gone afterwards. As root it is run by the user nobody, since PostgreSQL
refuses to run as root.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from finexpert.errors import ConfigurationError

# Where packages of Debian, Fedora and Homebrew put the programs that are not on the path.
PLACES = (
    "usr/lib/postgresql/*/bin",
    "usr/pgsql-*/bin",
    "opt/homebrew/opt/postgresql*/bin",
    "usr/local/opt/postgresql*/bin",
)
START_SECONDS = 60.0
INSTALL = (
    "there is no PostgreSQL to load the tables into: install the server (Debian: `apt-get install postgresql`, macOS: "
    "`brew install postgresql`), so that `initdb` and `postgres` are found"
)


@dataclass(frozen=True)
class Server:
    """A running server; its user `postgres` may do everything, without a password."""

    folder: Path

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@/{database}?host={self.folder}"


@contextmanager
def private_postgres(programs: Path | None = None) -> Iterator[Server]:
    """A server that runs within the block; `programs` is the folder of initdb and postgres, found if not given.

    Raises ConfigurationError, which says what to install, where there is none or it does not start.
    """
    if find_spec("psycopg") is None:
        raise ConfigurationError("psycopg is not installed: `pip install 'finexpert[postgres]'`")
    programs = programs or installed()
    # Not a folder of the user's: a socket's path is short, and nobody must reach it.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    process: subprocess.Popen[bytes] | None = None
    try:
        process = _started(programs, folder)
        yield Server(folder)
    finally:
        if process is not None:
            process.send_signal(signal.SIGINT)
            process.wait(START_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)


def installed() -> Path:
    """The folder that holds initdb and postgres, of the newest version; ConfigurationError where there is none."""
    on_path = shutil.which("initdb")
    places = [Path(on_path).resolve().parent] if on_path else []
    for pattern in PLACES:
        places += sorted(Path("/").glob(pattern), key=_version, reverse=True)
    for place in places:
        if (place / "initdb").is_file() and (place / "postgres").is_file():
            return place
    raise ConfigurationError(INSTALL)


def _version(place: Path) -> int:
    digits = "".join(character for character in place.parent.name if character.isdigit())
    return int(digits or 0)


def _started(programs: Path, folder: Path) -> subprocess.Popen[bytes]:
    common: dict[str, Any] = {"cwd": "/", "env": {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}}
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")
        common |= {"user": "nobody", "extra_groups": []}
    data = folder / "data"
    make: list[str | Path] = [
        programs / "initdb",
        "-D",
        data,
        "-U",
        "postgres",
        "--auth=trust",
        "--encoding=utf8",
        "--no-sync",
    ]
    # The days of the tables and of the questions are those of UTC, as in a warehouse.
    options = ["listen_addresses=", "fsync=off", "timezone=UTC", "log_timezone=UTC"]
    serve: list[str | Path] = [
        programs / "postgres",
        "-D",
        data,
        "-k",
        folder,
        *(word for one in options for word in ("-c", one)),
    ]
    try:
        made = subprocess.run(make, capture_output=True, text=True, timeout=START_SECONDS, check=False, **common)
        if made.returncode:
            raise ConfigurationError(f"{make[0]} failed: {made.stderr.strip()[-300:]}")
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(serve, stdout=log, stderr=log, start_new_session=True, **common)
    except (OSError, LookupError, subprocess.SubprocessError) as error:
        raise ConfigurationError(f"PostgreSQL in {programs} cannot be started: {error}") from error
    _wait(process, folder)
    return process


def _wait(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Until the server takes connections; ConfigurationError with its last words where it does not."""
    ready = folder / "data" / "postmaster.pid"
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        if ready.is_file() and "ready" in ready.read_text():
            return
        time.sleep(0.05)
    process.kill()
    process.wait()
    said = (folder / "log").read_text(errors="replace").strip()[-300:]
    raise ConfigurationError(f"PostgreSQL did not come up: {said}")
