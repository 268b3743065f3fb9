"""A disk that is full or read-only: an error that names the place and what to do, nothing half written, and it goes on.

A row a thing that is written: how, where it stands, and the words that the error must hold.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from finexpert.embeddings.embedding import embedder
from finexpert.errors import DataError, FinexpertError, StoreError
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.taught import Taught
from finexpert.language_models.recordings.recorded import RecordedModel
from finexpert.language_models.recordings.recorder import Recorder
from finexpert.language_models.scripted import ScriptedModel
from finexpert.settings import Settings
from finexpert.warehouse.files.files_warehouse import open_files

LONG = "a word and another " * 2000
Write = Callable[[Any, Path, int], None]


def define(desk: Any, folder: Path, number: int) -> None:
    with closing(Taught.open(folder / "knowledge.sqlite", embedder("words"))) as taught:
        taught.glossary.define(Keyword(term=f"stress {number}", meaning=LONG[:1900]), "anna")


def kept_terms(folder: Path) -> int:
    with closing(Taught.open(folder / "knowledge.sqlite", embedder("words"))) as taught:
        return sum(taught.glossary.get(f"stress {number}") is not None for number in range(100))


def record(desk: Any, folder: Path, number: int) -> None:
    lm = Recorder(folder / "new.jsonl").wrap(ScriptedModel([LONG]))
    lm(f"question {number}")


def kept_completions(folder: Path) -> int:
    path = folder / "new.jsonl"
    lines = path.read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert all(json.loads(line)["completion"] == LONG for line in lines)
    return sum(RecordedModel([path], packaged=False).counts.values())


def save_talk(desk: Any, folder: Path, number: int) -> None:
    desk.says("planning", desk.plan(about=LONG))
    session = desk.session(home=folder)
    session.resume("desk")
    session.ask(f"How many months have sales? ({number})")
    session.save("desk")


def kept_turns(folder: Path) -> int:
    left = [path.name for path in (folder / "sessions").iterdir()]
    assert left == ["desk.json"]
    return len(json.loads((folder / "sessions" / "desk.json").read_bytes())["turns"])


WRITES = {
    "what is taught": (define, kept_terms, StoreError, "make room"),
    "a recorded completion": (
        record,
        kept_completions,
        DataError,
        "make room, or name another file with --save-completions",
    ),
    "a conversation": (save_talk, kept_turns, DataError, "make room there, or name another place with FINEXPERT_HOME"),
}


@pytest.mark.parametrize(("write", "kept", "kind", "words"), WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("left", [0, 20480])
def test_a_full_disk(
    desk: Any, disk: Any, write: Write, kept: Callable[[Path], int], kind: type[FinexpertError], words: str, left: int
) -> None:
    write(desk, disk.folder, 0)
    before = kept(disk.folder)
    disk.fill(left)
    done = 0
    with pytest.raises(kind) as caught:  # noqa: PT012  (what there was room for is written)
        for number in range(1, 20):
            write(desk, disk.folder, number)
            done += 1
    assert words in str(caught.value)
    assert str(disk.folder) in str(caught.value)
    disk.make_room()
    assert kept(disk.folder) == before + done
    write(desk, disk.folder, 50)
    assert kept(disk.folder) == before + done + 1


READ_ONLY = {
    "what is taught": (define, StoreError, "see to its rights and those of its folder"),
    "a recorded completion": (record, DataError, "name another file with --save-completions"),
    "a conversation": (save_talk, DataError, "name another place with FINEXPERT_HOME"),
}


@pytest.mark.parametrize(("write", "kind", "words"), READ_ONLY.values(), ids=READ_ONLY)
def test_a_read_only_disk(desk: Any, disk: Any, write: Write, kind: type[FinexpertError], words: str) -> None:
    write(desk, disk.folder, 0)
    disk.remount("ro")
    with pytest.raises(kind) as caught:
        write(desk, disk.folder, 1)
    assert words in str(caught.value)
    assert str(disk.folder) in str(caught.value)
    disk.remount("rw")
    write(desk, disk.folder, 2)


@pytest.mark.parametrize("left", [0, 20480, 200_000, 400_000, 600_000, 800_000])
def test_files_are_read_whole_or_not_at_all(disk: Any, tmp_path: Path, left: int) -> None:
    rows = random.Random(0)
    (tmp_path / "large.csv").write_text("n\n" + "".join(f"{rows.random()}\n" for _ in range(200_000)))
    (tmp_path / "small.csv").write_text("n\n1\n")
    settings = Settings(home=disk.folder)
    (disk.folder / "cache").mkdir()
    disk.fill(left)
    with pytest.raises(DataError, match="cannot be written") as caught:
        open_files(tmp_path / "large.csv", settings=settings)
    assert "Name another home with FINEXPERT_HOME" in str(caught.value)
    assert not [*(disk.folder / "cache").iterdir()]
    disk.make_room()
    with open_files(tmp_path / "small.csv", settings=settings) as warehouse:
        assert warehouse.query("SELECT sum(n) AS s FROM small").data["s"].tolist() == [1]
