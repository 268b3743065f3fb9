"""Stores to test with: a tiny embedder, a place for each engine, and a PostgreSQL server for the run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, cast

import numpy as np
import pytest

from finexpert.embeddings.embedding import Embedder
from finexpert.embeddings.vectors import Vectors
from finexpert.knowledge.entries.entries import EntryStore
from finexpert.knowledge.entries.opening import open_entries

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
def server(postgres_server: Callable[[], AbstractContextManager[Path]]) -> Iterator[str]:
    """The address of a PostgreSQL with pgvector that lives as long as the test run; skips where it cannot start."""
    with postgres_server() as folder:
        yield f"postgresql://postgres@/postgres?host={folder}"


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
