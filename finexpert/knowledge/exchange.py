"""Processes out to a folder of files that people review, and in again.

    recession-calculation.md    added     Recession Calculation
    yield-curve.md              failed    the name 'Inversion' is taken by the process 'Curve inversion' ...

What comes in is a draft until its taught case is run, unless the files are trusted. A file is taken whole or not at all,
and a bad one does not keep the others out. Nothing that is in the store already is changed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from finexpert.errors import FinexpertError, StoreError
from finexpert.knowledge.collection import EVERY
from finexpert.knowledge.memory import Memory
from finexpert.knowledge.process import Process
from finexpert.knowledge.processes.files import from_markdown, id_in, to_markdown
from finexpert.storage import foreign_files
from finexpert.storage.private_files import make_folder, write_whole

NOT_CHECKED = "imported; not checked"


@dataclass(frozen=True)
class Imported:
    """What became of a file, or of a line of one. `title` is the heading or the term, as far as it could be read."""

    place: str
    title: str
    outcome: Literal["added", "skipped", "failed"]
    message: str = ""


def export_processes(memory: Memory, folder: Path) -> list[Path]:
    """One file a process. A file of the same process under an earlier heading is removed."""
    processes = sorted(memory.processes(EVERY), key=lambda process: process.id)
    names = file_names(processes)
    make_folder(folder)
    paths = [folder / name for name in names]
    for path, process in zip(paths, processes, strict=True):
        write_whole(path, to_markdown(process))
    known = {process.id for process in processes}
    for path in set(folder.glob("*.md")) - set(paths):
        if id_in(path) in known:
            path.unlink()
    return sorted(paths)


def file_names(processes: Sequence[Process]) -> list[str]:
    """A name for each: its heading, with a part of its id where several have the same.

    >>> step = {"text": "Get it."}
    >>> file_names([Process(heading=heading, id=id, steps=[step]) for heading, id in [("A/B", "1"), ("a b", "2"), ("C", "3")]])
    ['a-b--1.md', 'a-b--2.md', 'c.md']
    """
    stems = [_stem(process.heading) for process in processes]
    often = Counter(stems)
    return [
        f"{stem}.md" if often[stem] == 1 else f"{stem}--{process.id}.md"
        for stem, process in zip(stems, processes, strict=True)
    ]


def _stem(heading: str) -> str:
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:80] or "process"


def import_processes(memory: Memory, paths: Sequence[Path], by: str, *, trust: bool = False) -> list[Imported]:
    """Read files and folders; StoreError where a path is not there or a folder holds none."""
    results = []
    for path in _files(paths):
        title = ""
        try:
            process = from_markdown(read_text(path), str(path))
            title = process.heading
            results.append(_import_one(memory, process, path, by, trust))
        except FinexpertError as error:
            results.append(Imported(str(path), title, "failed", str(error)))
    return results


def _import_one(memory: Memory, process: Process, path: Path, by: str, trust: bool) -> Imported:
    there = _with_id(memory, process.id)
    # What is retired has no name to itself: another may say the same and be in use.
    if there is None and not (trust and process.status == "retired"):
        there = memory.get(process.heading)
    if there is not None and there.same_as(process):
        if trust and there.status == "draft" and process.status == "active":
            memory.activate(there.heading, by)
            return Imported(str(path), process.heading, "added", "was there as a draft")
        return Imported(str(path), process.heading, "skipped", f"is there already ({there.status})")
    if trust:
        origin = f"import of version {process.version}" if process.version else "import"
        memory.restore(process, by, origin)
        return Imported(str(path), process.heading, "added", process.status)
    if process.status == "retired":
        return Imported(str(path), process.heading, "skipped", "is retired in the file")
    draft = process.model_copy(update={"id": "", "version": 0, "status": "draft", "note": NOT_CHECKED})
    memory.add(draft, by)
    return Imported(str(path), process.heading, "added", "draft")


def _with_id(memory: Memory, id: str) -> Process | None:
    entry = memory.entries.get(memory.name, id) if id else None
    return None if entry is None else memory.item(entry)


def _files(paths: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        inside = sorted(path.glob("*.md")) if path.is_dir() else [path]
        if not inside:
            raise StoreError(f"{path} holds no .md file: `finexpert memory export {path}` writes a process to each")
        found += inside
    return list(dict.fromkeys(found))


def read_text(path: Path) -> str:
    """The text of a file; StoreError where it cannot be read or is no text."""
    try:
        return foreign_files.read_bytes(path).decode("utf-8-sig")
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise StoreError(f"{path} is not text in UTF-8 (byte {error.start})") from error
