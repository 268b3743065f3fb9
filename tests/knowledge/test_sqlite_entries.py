"""What is particular to the store in a file: the file itself, its rights, and what happens when it is not as expected."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from finexpert.embeddings.embedding import Embedder
from finexpert.errors import StoreError
from finexpert.knowledge.entries import sqlite_file
from finexpert.knowledge.entries.entries import Change
from finexpert.knowledge.entries.sqlite import SqliteEntries


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "stores" / "knowledge.sqlite"


def put(store: SqliteEntries, name: str = "stress month") -> None:
    store.write_all("glossary", [Change({}, [name], [name], "active", "add", "anna")])


def kept(path: Path, embedder: Embedder, name: str = "stress month") -> Path:
    with closing(SqliteEntries(path, embedder)) as store:
        put(store, name)
    return path


def test_reading_makes_no_file(path: Path, word_embedder: Embedder) -> None:
    store = SqliteEntries(path, word_embedder)
    assert (store.stamp(), store.entries("glossary")) == (0, [])
    assert not path.parent.exists()
    kept(path, word_embedder)
    assert store.count("glossary") == 1


def test_only_the_owner_may_read_it(path: Path, word_embedder: Embedder) -> None:
    store = SqliteEntries(path, word_embedder)
    put(store)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == ["knowledge.sqlite", "knowledge.sqlite-shm", "knowledge.sqlite-wal"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    store.close()
    assert list(path.parent.iterdir()) == [path]


def test_a_commit_is_on_the_disk(path: Path, word_embedder: Embedder) -> None:
    store = SqliteEntries(path, word_embedder)
    put(store)
    assert store._connection is not None
    settings = {
        name: store._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
    }
    assert settings == {"journal_mode": "wal", "synchronous": 2}
    # What a machine that loses its power now finds again: the file and its log, as they are.
    copy = path.with_name("copy.sqlite")
    shutil.copy(path, copy)
    shutil.copy(f"{path}-wal", f"{copy}-wal")
    assert SqliteEntries(copy, word_embedder).count("glossary") == 1


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda path: path.write_text("no database, but a text of some length\n" * 200), "damaged or no store"),
        (lambda path: path.write_bytes(path.read_bytes()[:6000]), "damaged or no store"),
        (
            lambda path: path.write_bytes(path.read_bytes()[:4096] + os.urandom(len(path.read_bytes()) - 4096)),
            "damaged",
        ),
    ],
)
def test_a_damaged_file_is_named_and_left(path: Path, word_embedder: Embedder, spoil: Any, says: str) -> None:
    spoil(kept(path, word_embedder))
    content = path.read_bytes()
    with pytest.raises(StoreError, match=f"(?s){path}.*{says}.*finexpert memory import"):
        put(SqliteEntries(path, word_embedder))
    assert path.read_bytes() == content


def test_a_newer_schema_is_refused(path: Path, word_embedder: Embedder) -> None:
    with closing(sqlite3.connect(kept(path, word_embedder))) as connection:
        connection.execute("PRAGMA user_version = 9")
    with pytest.raises(StoreError, match=r"has schema 9, and this finexpert reads 1.*pip install"):
        SqliteEntries(path, word_embedder)


def test_the_file_of_another_program_is_refused(tmp_path: Path, word_embedder: Embedder) -> None:
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    with pytest.raises(StoreError, match="not a store of finexpert"):
        SqliteEntries(path, word_embedder)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("songs",)]


def test_a_file_moved_away_is_noticed(path: Path, word_embedder: Embedder) -> None:
    store = SqliteEntries(kept(path, word_embedder), word_embedder)
    assert store.count("glossary") == 1
    path.rename(path.with_name("away.sqlite"))
    with pytest.raises(StoreError, match="moved or replaced"):
        put(store, "calm month")


def test_a_lock_that_stays_is_told(path: Path, word_embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.1)
    store = SqliteEntries(kept(path, word_embedder), word_embedder)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"locked.*another process"):
            put(store, "calm month")
        assert store.count("glossary") == 1
    put(store, "calm month")


def test_a_place_that_cannot_be_made_is_told(tmp_path: Path, word_embedder: Embedder) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot use the store .*name another place with --store"):
        put(SqliteEntries(tmp_path / "file" / "knowledge.sqlite", word_embedder))


def test_a_file_made_by_many_at_once_is_one(path: Path, word_embedder: Embedder) -> None:
    stores = [SqliteEntries(path, word_embedder) for _ in range(8)]
    threads = [threading.Thread(target=put, args=(store, f"term {n}")) for n, store in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {store.count("glossary") for store in stores} == {8}


def test_folders_that_are_made_are_for_their_owner(tmp_path: Path, word_embedder: Embedder) -> None:
    kept(tmp_path / "home" / "stores" / "knowledge.sqlite", word_embedder)
    made = [tmp_path / "home", tmp_path / "home" / "stores"]
    assert [oct(folder.stat().st_mode & 0o777) for folder in made] == ["0o700", "0o700"]
