"""Forks children that write to a store and confirm each write on a pipe, for a test that kills them. Run as a program.

{"path": "knowledge.sqlite", "action": "edit", "round": 3}   a line in: fork a child that writes until it is killed
pid 4711  |  kept edit-1 7  |  done                          lines out
"""

from __future__ import annotations

import json
import os
import sys
from itertools import count
from pathlib import Path
from typing import Any

from finexpert.stores.embedding import WordHashing
from finexpert.stores.entries import Entry
from finexpert.stores.sqlite_entries import SqliteEntries


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
    return store.write(
        "memory", body=body, names=phrases, phrases=phrases, status="active", action=action, by="anna", id=id
    )


def child(path: str, action: str, round: int) -> None:
    store = SqliteEntries(Path(path), WordHashing())
    for number in count():
        entry = write(store, action, round, number)
        os.write(1, f"kept {entry.id} {entry.version}\n".encode())


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
