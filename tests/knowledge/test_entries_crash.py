"""`kill -9` at any moment loses nothing that was confirmed, and leaves a store that can be read and written."""

from __future__ import annotations

import random
import sqlite3
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from finexpert.embeddings.embedding import WordHashing
from finexpert.knowledge.entries.entries import Change, Entry
from finexpert.knowledge.entries.sqlite import SqliteEntries

KILLS = 25

Kill = Callable[..., dict[str, int]]


def check(path: Path, confirmed: dict[str, int]) -> None:
    """The file is sound, every confirmed version is there, histories have no gaps, and what is current is found."""
    embedder = WordHashing()
    with closing(SqliteEntries(path, embedder)) as store:
        histories: dict[str, list[Entry]] = defaultdict(list)
        for entry in store.history("memory", limit=100_000):
            histories[entry.id].insert(0, entry)
        for id, version in confirmed.items():
            assert histories[id][version - 1].version == version
        current = {entry.id: entry for entry in store.entries("memory")}
        assert current == {id: versions[-1] for id, versions in histories.items()}
        for versions in histories.values():
            assert [entry.version for entry in versions] == list(range(1, len(versions) + 1))
        for entry in random.Random(1).sample(list(current.values()), min(8, len(current))):
            assert all(store.named("memory", name) == entry for name in entry.names)
            for phrase in entry.phrases:
                assert phrase in {hit.phrase for hit in store.search("memory", embedder.embed([phrase]), limit=3)}
        phrases = sum(len(entry.phrases) for entry in current.values())
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        for table in ("codes", "vectors", "names"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (phrases,)


@pytest.mark.parametrize("action", ["add", "edit", "import", "revert"])
def test_a_kill_loses_nothing_that_was_confirmed(write_and_kill: Kill, tmp_path: Path, action: str) -> None:
    path, confirmed, chance = tmp_path / "knowledge.sqlite", dict[str, int](), random.Random(action)
    with closing(SqliteEntries(path, WordHashing())) as store:
        (first,) = store.write_all("memory", [Change({}, ["first"], ["first"], "active", "add", "anna")])
    confirmed[first.id] = 1
    for round in range(KILLS):
        confirmed |= write_and_kill(path, action, round, chance.uniform(0.0, 0.03))
        check(path, confirmed)
    assert sum(confirmed.values()) > KILLS


def test_a_kill_while_the_file_is_made_leaves_a_store(write_and_kill: Kill, tmp_path: Path) -> None:
    for round in range(10):
        path = tmp_path / f"new-{round}.sqlite"
        confirmed = write_and_kill(path, "add", round, 0.002 * round, after="pid")
        with closing(SqliteEntries(path, WordHashing())) as store:
            (entry,) = store.write_all("memory", [Change({}, ["last"], ["last"], "active", "add", "anna")])
        check(path, confirmed | {entry.id: 1})
