"""`kill -9` while something is taught, defined, imported, taken back, or its vectors are made anew."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from finexpert.embeddings.embedding import Embedder, WordHashing
from finexpert.knowledge.collection import EVERY
from finexpert.knowledge.entries.entries import Change
from finexpert.knowledge.entries.sqlite import SqliteEntries
from finexpert.knowledge.exchange import import_processes
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.process import Process
from finexpert.knowledge.processes.files import to_markdown
from finexpert.knowledge.taught import Taught

KILLS = 20

Kill = Callable[..., dict[str, int]]


def process(heading: str, *aliases: str, text: str = "Get it.") -> Process:
    steps = [{"text": text, "sql": "SELECT 1"}, {"text": "Compare.", "code": "answer = 1"}]
    return Process.model_validate({"heading": heading, "aliases": aliases, "steps": steps, "status": "active"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with a process in two versions and a term."""
    path = tmp_path / "knowledge.sqlite"
    with Taught.open(path, WordHashing()) as taught:
        first = taught.memory.add(process("Slump", "Dip"), "anna")
        taught.memory.edit(first.model_copy(update={"aliases": ["Trough"]}), "anna")
        taught.glossary.define(Keyword(term="stress month", meaning="a month"), "anna")
    return path


def sound(path: Path, confirmed: dict[str, int], chance: random.Random) -> dict[str, Any]:
    """By id what is kept: all of it readable, found by its names and its meaning, and nothing confirmed is missing."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
    with Taught.open(path, WordHashing()) as taught:
        kept: dict[str, Any] = {}
        for collection in (taught.memory, taught.glossary):
            items: list[Any] = collection.items(EVERY)
            kept |= {item.id: item for item in items}
            for item in chance.sample(items, min(4, len(items))):
                assert collection.get(item.title) == item
                versions = [entry.version for entry, _ in collection.history(item.title)]
                assert versions == list(range(item.version, 0, -1))
                if item.status == "active":
                    assert item in [found for found, _ in collection.search([item.title], limit=8)]
                    assert item in collection.named_in(item.title)
    assert {id: version for id, version in confirmed.items() if id not in kept or kept[id].version < version} == {}
    return kept


@pytest.mark.parametrize("action", ["memory.add", "memory.revert", "glossary.define"])
def test_what_was_taught_is_there_after_a_kill(write_and_kill: Kill, path: Path, action: str) -> None:
    confirmed, chance = dict[str, int](), random.Random(action)
    for round in range(KILLS):
        confirmed |= write_and_kill(path, action, round, chance.uniform(0.0, 0.02))
        sound(path, confirmed, chance)
    assert sum(confirmed.values()) >= KILLS


def test_an_import_that_is_killed_is_whole_file_by_file(write_and_kill: Kill, path: Path) -> None:
    confirmed, chance, files = dict[str, int](), random.Random(4), dict[str, Process]()
    cut = 0
    for round in range(KILLS):
        folder = path.parent / f"in-{round}"
        folder.mkdir()
        for number in range(12):
            made = process(f"Rule {round} {number}", f"Also {round} {number}", text=f"Get {round} {number}. " * 40)
            files[made.heading] = made
            (folder / f"{number:02}.md").write_text(to_markdown(made))
        confirmed |= write_and_kill(path, "memory.import", round, chance.uniform(0.0, 0.02))
        taken = [item for item in sound(path, confirmed, chance).values() if item.title in files]
        assert all(item.same_as(files[item.title]) and item.status == "draft" for item in taken)
        of_round = [item.title for item in taken if item.title.startswith(f"Rule {round} ")]
        assert sorted(of_round) == sorted(f"Rule {round} {number}" for number in range(len(of_round)))
        cut += len(of_round) < 12
    assert cut
    # Whoever was interrupted begins again: what is there already is skipped.
    with Taught.open(path, WordHashing()) as taught:
        folders = [path.parent / f"in-{round}" for round in range(KILLS)]
        assert {result.outcome for result in import_processes(taught.memory, folders, "anna")} == {"added", "skipped"}
        assert {item.title for item in taught.memory.processes()} == {*files, "Slump"}


class OtherWords(WordHashing):
    """The one of `crash_writer.py`."""

    dimensions = 512
    name = f"words-v1-{dimensions}"


def test_vectors_are_those_of_one_embedder_after_a_kill(write_and_kill: Kill, path: Path) -> None:
    embedders: dict[str, Embedder] = {each.name: each for each in (WordHashing(), OtherWords())}
    with closing(SqliteEntries(path, WordHashing())) as store:
        names = [f"rule {number}" for number in range(60)]
        store.write_all(
            "memory", [Change({}, (name,), (name, f"{name} too"), "draft", "add", "anna") for name in names]
        )
        history = store.history("memory", limit=1_000)
    chance, seen = random.Random(5), set[str]()
    for round in range(KILLS):
        write_and_kill(path, "reindex", round, chance.uniform(0.0, 0.05))
        with closing(SqliteEntries(path, WordHashing())) as store:
            made_with = store.made_with() or ""
            assert store.history("memory", limit=1_000) == history
        seen.add(made_with)
        embedder = embedders[made_with]
        with closing(SqliteEntries(path, embedder)) as store:
            for name in chance.sample(names, 5):
                hit, *_ = store.search("memory", embedder.embed([name]), statuses=("draft",))
                assert (hit.phrase, round) == (name, round)
                assert hit.score > 0.9999
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
            sizes = connection.execute("SELECT DISTINCT length(vector) FROM vectors").fetchall()
            assert sizes == [(4 * embedder.dimensions,)]
            # Two phrases a rule, three of the process, one of the term.
            assert connection.execute("SELECT count(*) FROM vectors JOIN codes USING (number)").fetchone() == (124,)
    assert seen == set(embedders)
