"""Forks children that write to a store and confirm each write on a pipe, for a test that kills them. Run as a program.

{"path": "knowledge.sqlite", "action": "edit", "round": 3}   a line in: fork a child that writes until it is killed
pid 4711  |  kept edit-1 7  |  done                          lines out
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from finexpert.embeddings.embedding import WordHashing
from finexpert.knowledge.entries.entries import Change, Entry
from finexpert.knowledge.entries.sqlite import SqliteEntries
from finexpert.knowledge.exchange import import_processes
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.process import Process, ProcessStep
from finexpert.knowledge.taught import Taught

Kept = Iterator[tuple[str, int]]


class OtherWords(WordHashing):
    """Counts words in fewer buckets."""

    dimensions = 512
    name = f"words-v1-{dimensions}"


def write(store: SqliteEntries, action: str, round: int, number: int) -> Entry:
    id = f"{action}-{round}-{number}"
    phrases: tuple[str, ...] = (f"{action} {round} {number}",)
    body: dict[str, Any] = {"number": number}
    if action == "import":
        phrases = tuple(f"{phrases[0]} {alias}" for alias in ("one", "two", "three", "four"))
    elif action == "edit":
        id, phrases = f"edit-{number % 3}", (f"edit {number % 3}", f"also {round} {number} edit")
    elif action == "revert":
        id = f"revert-{number % 2}"
        versions = store.history("memory", id)
        body, phrases = (dict(versions[-1].body), versions[-1].phrases) if versions else (body, phrases)
    return store.write_all("memory", [Change(body, phrases, phrases, "active", action, "anna", id)])[0]


def written(path: Path, action: str, round: int) -> Kept:
    """Through the store alone."""
    store = SqliteEntries(path, WordHashing())
    for number in count():
        entry = write(store, action, round, number)
        yield entry.id, entry.version


def taught(path: Path, action: str, round: int) -> Kept:
    """Through the memory and the glossary, as a session and the commands do."""
    store = Taught.open(path, WordHashing())
    for number in count():
        if action == "memory.add":
            steps = [ProcessStep(text=f"Get {round} {number}.", sql="SELECT 1")]
            kept: Any = store.memory.add(Process(heading=f"Rule {round} {number}", steps=steps), "anna")
        elif action == "memory.revert":
            kept = store.memory.revert("Slump", number % 2 + 1, "anna")
        elif action == "glossary.define":
            keyword = Keyword(
                term=f"term {number % 5}", meaning=f"meaning {round} {number}", aliases=[f"short term {number % 5}"]
            )
            kept = store.glossary.define(keyword, "anna")
        yield kept.id, kept.version


def imported(path: Path, action: str, round: int) -> Kept:
    """Files of a folder, three at a time."""
    store = Taught.open(path, WordHashing())
    files = sorted((path.parent / f"in-{round}").iterdir())
    for start in range(0, len(files), 3):
        for result in import_processes(store.memory, files[start : start + 3], "anna"):
            kept = store.memory.find(result.title)
            yield kept.id, kept.version


def reindexed(path: Path, action: str, round: int) -> Kept:
    """The vectors made anew with the one embedder and the other by turns."""
    store = SqliteEntries(path, WordHashing())
    which = store.made_with() == OtherWords.name
    for number in count():
        store.embedder = WordHashing() if which else OtherWords()
        store.reindex()
        which = not which
        yield store.embedder.name, number


def child(path: str, action: str, round: int) -> None:
    how = {"memory.import": imported, "reindex": reindexed}.get(action, taught if "." in action else written)
    for id, version in how(Path(path), action, round):
        os.write(1, f"kept {id} {version}\n".encode())
    signal.pause()  # until it is killed


def main() -> None:
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            child(**json.loads(line))
        os.write(1, f"pid {pid}\n".encode())
        os.waitpid(pid, 0)
        os.write(1, b"done\n")


if __name__ == "__main__":
    main()
