"""Files of LookML that somebody else wrote: what is none is refused with its reason, in a process that reaches nothing else."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from finexpert.errors import ConfigurationError
from finexpert.isolation.guests.zygote import problem
from finexpert.warehouse.semantic_model.document import SemanticModel
from finexpert.warehouse.semantic_model.importing import lookml_child, lookml_process
from finexpert.warehouse.semantic_model.importing.lookml_process import read_lookml
from finexpert.warehouse.semantic_model.importing.taken import Taken

VIEW = "view: orders { measure: count { type: count } }"
HOSTILE = {
    "deep": ("a: {" * 50_000, "it is nested too deep"),
    "no end": ("view: orders {", "line 1"),
    "a text without an end": ('a: "' + "x" * 100, "may have no end"),
    "a list without an end": ("a: [b, c", "LookML|line 1"),
    "an expression without an end": ("a: { sql: x", "line 1|may have no end"),
    "a name twice": ("view: a { sql_table_name: x ;; sql_table_name: y ;; }", "already exists"),
    "long": ("#" * (lookml_child.MOST_BYTES + 1), "it is longer than 1 MB"),
    "braces": ("{}" * 1_000, "line 1"),
    "no text": ("\udcff", "it is not text in UTF-8"),
}


def nothing_taken() -> Taken:
    return Taken(SemanticModel(name="desk"), None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_lookml_is_refused(name: str, tmp_path: Path) -> None:
    text, said = HOSTILE[name]
    file = tmp_path / "given.lkml"
    file.write_bytes(text.encode(errors="surrogateescape"))
    began = time.monotonic()
    with pytest.raises(ConfigurationError, match=said) as refused:
        read_lookml([file], file, nothing_taken())
    assert "given.lkml" in str(refused.value)
    assert len(str(refused.value)) < 700
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("here", [False, True], ids=["locked", "here"])
def test_the_others_of_a_folder_are_read(here: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if here:
        monkeypatch.setattr(lookml_process, "problem", lambda: "made up")
    elif problem():
        pytest.skip(str(problem()))
    files = []
    for name, (text, _) in HOSTILE.items():
        files += [tmp_path / f"{name}.lkml", tmp_path / f"{name} after.lkml"]
        files[-2].write_bytes(text.encode(errors="surrogateescape"))
        files[-1].write_text(VIEW)
    taken = nothing_taken()
    found = read_lookml(files, tmp_path, taken)
    assert [one["file"] for one in found] == [f"{name} after.lkml" for name in HOSTILE]
    assert [one["views"] for one in found] == [
        [{"measures": [{"type": "count", "name": "count"}], "name": "orders"}]
    ] * len(HOSTILE)
    assert [one.partition(":")[0] for one in taken.left_out] == [f"{name}.lkml" for name in HOSTILE]


@pytest.mark.parametrize("made", ["missing", "folder"])
def test_what_is_no_file_is_refused(made: str, tmp_path: Path) -> None:
    file = tmp_path / "given.lkml"
    if made == "folder":
        file.mkdir()
    with pytest.raises(ConfigurationError, match=r"given\.lkml cannot be read"):
        read_lookml([file], file, nothing_taken())


def test_the_process_reads_no_other_file(tmp_path: Path) -> None:
    if problem():
        pytest.skip(str(problem()))
    (tmp_path / "secret").write_text(VIEW)
    (tmp_path / "a.lkml").write_text(VIEW)
    (tmp_path / "b.lkml").symlink_to(tmp_path / "a.lkml")
    taken = nothing_taken()
    found = read_lookml([tmp_path / "a.lkml", tmp_path / "b.lkml"], tmp_path, taken)
    assert len(found) == 2, taken.left_out
    (tmp_path / "a.lkml").unlink()
    (tmp_path / "a.lkml").symlink_to(tmp_path / "gone")
    with pytest.raises(ConfigurationError, match="it is no file"):
        read_lookml([tmp_path / "a.lkml"], tmp_path, taken)


def test_without_the_package_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.lkml").write_text(VIEW)
    monkeypatch.setattr(lookml_process, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"pip install 'finexpert\[lookml\]'"):
        read_lookml([tmp_path / "a.lkml"], tmp_path, nothing_taken())
