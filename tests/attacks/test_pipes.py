"""A named pipe, and a link to a device, where a file is expected: whoever opened one waited without an end, or read without one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from finexpert.answers import feedback, saved_session
from finexpert.answers.export.run import run_export
from finexpert.answers.records import Record
from finexpert.batch import questions
from finexpert.batch.reports import earlier, reading
from finexpert.datasets.desk.transcripts import read_transcript
from finexpert.datasets.evaluations.saved_evaluations import ways_in
from finexpert.embeddings.embedding import embedder
from finexpert.errors import FinexpertError
from finexpert.filings.companies.table import read_companies
from finexpert.filings.library.adding import add_files
from finexpert.filings.library.library import Library
from finexpert.filings.library.listed import read_list
from finexpert.filings.page.file import read_records
from finexpert.knowledge import exchange
from finexpert.knowledge.taught import Taught
from finexpert.language_models.recordings import recorded
from finexpert.optimizers.program import manifest
from finexpert.settings import Settings
from finexpert.storage import foreign_files, foreign_yaml
from finexpert.storage.private_files import make_file
from finexpert.warehouse.opening import open_data


def _opened(address: str) -> None:
    with open_data(address, settings=Settings()) as source:
        source.schema_card()


def _added(path: Path) -> Iterable[Any]:
    with Library.open(path.parent / "library", make=True) as library:
        return [_raised(each) for each in add_files(library, [path])]


def _raised(added: Any) -> Any:
    if added.outcome == "failed":
        raise FinexpertError(added.message)
    return added


def _runs(path: Path) -> None:
    if not earlier.Runs.load(path).answers:
        raise FinexpertError("nothing is kept")


# The name of what stands there, and what reads it.
READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a saved session": ("talk.json", lambda path: saved_session.load(path.parent, path.stem)),
    "a record": ("r.json", Record.load),
    "an exported script": ("r.py", run_export),
    "feedback": (feedback.FILE, lambda path: feedback.queue(path.parent)),
    "questions of CSV": ("q.csv", questions.table_of),
    "questions of JSON lines": ("q.jsonl", questions.table_of),
    "questions of Parquet": ("q.parquet", questions.table_of),
    "a report": ("r.yaml", reading.read),
    "runs of a report": ("r.json", _runs),
    "a transcript": ("t.jsonl", read_transcript),
    "an evaluation": ("e.json", ways_in),
    "a table of companies": ("c.csv", read_companies),
    "a list of filings": ("l.csv", read_list),
    "a manifest of filings": ("l.ndjson", read_list),
    "a page": ("p.json", read_records),
    "a filing of HTML": ("f.html", _added),
    "a filing of PDF": ("f.pdf", _added),
    "pages of a library": ("f.jsonl", _added),
    "what was taught": ("k.md", exchange.read_text),
    "a store of what was taught": ("k.sqlite", lambda path: Taught.open(path, embedder("words"))),
    "recordings": ("r.jsonl", lambda path: list(recorded.read(path))),
    "a compiled program": (manifest.MANIFEST, lambda path: manifest.read(path.parent)),
    "a DuckDB file": ("d.duckdb", lambda path: _opened(str(path))),
    "a SQLite file": ("d.sqlite", lambda path: _opened(f"sqlite:///{path}")),
    "data without an ending": ("data", lambda path: _opened(str(path))),
    "a table of CSV": ("d.csv", lambda path: _opened(str(path))),
    "a table of Parquet": ("d.parquet", lambda path: _opened(str(path))),
    "a workbook": ("d.xlsx", lambda path: _opened(str(path))),
    "a folder of tables": ("only.csv", lambda path: _opened(str(path.parent))),
}


@pytest.mark.timeout(25)
@pytest.mark.parametrize("what", ["a pipe", "a device"])
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, reader: str, what: str) -> None:
    name, read = READERS[reader]
    path = tmp_path / "place" / name
    path.parent.mkdir(parents=True)
    if what == "a pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(FinexpertError):
        read(path)


@pytest.mark.timeout(20)
def test_a_pipe_is_no_semantic_model_and_no_file_to_write(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.yaml")
    with pytest.raises(foreign_yaml.YamlError, match="no file"):
        foreign_yaml.read(tmp_path / "m.yaml")
    with pytest.raises(OSError, match="No such device"):
        make_file(tmp_path / "m.yaml")


def test_what_the_shell_opened_is_read() -> None:
    reading_end, writing_end = os.pipe()
    os.write(writing_end, b"## Process")
    os.close(writing_end)
    try:
        assert foreign_files.read_bytes(Path(f"/dev/fd/{reading_end}")) == b"## Process"
    finally:
        os.close(reading_end)
