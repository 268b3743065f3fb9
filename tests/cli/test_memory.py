"""`finexpert memory`: what is shown, what is changed, and what is refused with the next command."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finexpert.knowledge.exchange import export_processes
from finexpert.knowledge.process import Process
from finexpert.knowledge.taught import Taught
from finexpert.settings import Settings

STORE = "knowledge.sqlite"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """The embedder that takes no time to load, and a store and a user of the test's own."""
    for name, value in {"EMBEDDER": "words", "STORE": STORE, "BY": "anna"}.items():
        monkeypatch.setenv(f"FINEXPERT_{name}", value)


def taught() -> Taught:
    return Taught.from_settings(Settings())


def process(heading: str = "Recession Calculation", *aliases: str, **given: Any) -> Process:
    steps = [{"text": "Get real GDP.", "sql": "SELECT date, gdpc1 FROM gdp"}]
    return Process.model_validate({"heading": heading, "aliases": aliases, "steps": steps, "status": "active", **given})


@pytest.fixture
def kept() -> Process:
    with taught() as store:
        return store.memory.add(process("Recession Calculation", "Slump"), "anna")


def test_an_empty_memory_says_what_to_do(finexpert: Any) -> None:
    ran = finexpert("memory", "list")
    assert (ran.code, ran.err) == (0, "")
    assert "finexpert chat" in ran.out
    assert not Path(STORE).exists()
    assert finexpert("memory", "list", "--json").json == []
    assert "No process is active" in finexpert("memory", "search", "recession").out


def test_list_and_search(finexpert: Any, kept: Process) -> None:
    with taught() as store:
        store.memory.add(process("Yield inversion", status="draft", note="no case"), "ben")
        store.memory.add(process("Old rule"), "ben")
        store.memory.retire("Old rule", "ben")
    ran = finexpert("memory", "list")
    for words in ("Recession Calculation", "Slump", "active", "anna", "Yield inversion", "draft", "no case"):
        assert words in ran.out
    assert "Old rule" not in ran.out
    assert "Old rule" in finexpert("memory", "list", "--all").out
    rows = finexpert("memory", "list", "--json").json
    assert [(row["heading"], row["status"], row["version"]) for row in rows] == [
        ("Recession Calculation", "active", 1),
        ("Yield inversion", "draft", 1),
    ]
    [found] = finexpert("memory", "search", "recession calculations", "--json").json
    assert found["heading"] == "Recession Calculation"
    assert "Recession Calculation" in finexpert("memory", "search", "recessions").out


def test_another_store_by_option(finexpert: Any, kept: Process) -> None:
    assert finexpert("memory", "list", "--store", "other.sqlite", "--json").json == []
    ran = finexpert("memory", "list", "--store", "mysql://host/db")
    assert (ran.code, "mysql://" in ran.err, "postgresql://" in ran.err) == (1, True, True)


def test_show(finexpert: Any, kept: Process) -> None:
    ran = finexpert("memory", "show", "slumps")
    assert "# Recession Calculation\n" in ran.out
    assert "   SELECT date, gdpc1 FROM gdp\n" in ran.out
    assert "\x1b" not in ran.out
    assert finexpert("memory", "show", "slump", "--json").json["steps"][0]["text"] == "Get real GDP."


def test_a_heading_that_is_not_there(finexpert: Any, kept: Process) -> None:
    ran = finexpert("memory", "show", "Recesion calc")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)
    for words in ("'Recesion calc'", "'Recession Calculation'", "finexpert memory list --all"):
        assert words in ran.err


@pytest.mark.parametrize(
    "arguments", [("show",), ("retire",), ("activate",), ("history",), ("revert", "1"), ("edit", "--from", "x.md")]
)
def test_a_heading_with_terminal_codes_is_not_printed_raw(finexpert: Any, arguments: tuple[str, ...]) -> None:
    ran = finexpert("memory", arguments[0], "x\x1b[31m\u202e", *arguments[1:])
    assert ran.code == 1
    assert "\x1b" not in ran.err + ran.out
    assert "\u202e" not in ran.err + ran.out


def test_retire_activate_and_undo(finexpert: Any, kept: Process) -> None:
    assert "retired: Recession Calculation (retired, version 2)" in finexpert("memory", "retire", "slump").out
    ran = finexpert("memory", "activate", "slump")
    assert ran.code == 1
    assert "finexpert memory check 'Recession Calculation'" in ran.err
    assert "--unchecked" in ran.err
    assert "(active, version 3)" in finexpert("memory", "activate", "slump", "--unchecked").out
    assert "undo activate: Recession Calculation (retired, version 4)" in finexpert("memory", "undo").out
    assert "(active, version 5)" in finexpert("memory", "undo").out
    assert "active already" in finexpert("memory", "activate", "slump").out


def test_history_and_revert(finexpert: Any, kept: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINEXPERT_BY", "ben \x1b[31m")
    with taught() as store:
        store.memory.edit(kept.model_copy(update={"aliases": ["Dip"]}), "ben \x1b[31m")
    ran = finexpert("memory", "history", "dip")
    assert "\x1b" not in ran.out
    assert [line.split()[0] for line in ran.out.splitlines()] == ["version", "2", "1"]
    diff = finexpert("memory", "history", "dip", "--diff").out
    assert "\n-  - Slump\n" in diff
    assert "\n+  - Dip\n" in diff
    assert "\x1b" not in diff
    rows = finexpert("memory", "history", "dip", "--json", "--diff").json
    assert [(row["version"], row["action"]) for row in rows] == [(2, "edit"), (1, "add")]
    assert "+  - Dip" in rows[0]["diff"]
    assert "reverted to version 1" in finexpert("memory", "revert", "dip", "1").out
    assert finexpert("memory", "show", "slump", "--json").json["version"] == 3
    ran = finexpert("memory", "revert", "slump", "9")
    assert (ran.code, "it has 1 to 3" in ran.err) == (1, True)


def test_a_file_is_no_place_to_export_to(finexpert: Any) -> None:
    Path("notes.txt").write_text("mine")
    ran = finexpert("memory", "export", "notes.txt")
    assert (ran.code, "is a file" in ran.err) == (2, True)


def test_export_and_import(finexpert: Any, kept: Process) -> None:
    assert finexpert("memory", "export", "out").out == "1 file in out\n"
    ran = finexpert("memory", "import", "out", "--store", "other.sqlite")
    assert (ran.code, "added" in ran.out, "draft" in ran.out) == (0, True, True)
    assert finexpert("memory", "import", "out", "--trust", "--store", "third.sqlite").code == 0
    assert finexpert("memory", "list", "--json", "--store", "third.sqlite").json[0]["status"] == "active"
    Path("out/bad.md").write_text("# Bad \x1b\n")
    ran = finexpert("memory", "import", "out")
    assert ran.code == 1
    for words in ("bad.md", "line 1", "skipped", "failed"):
        assert words in ran.out
    assert "\x1b" not in ran.out


def exported(change: Callable[[str], str]) -> str:
    with taught() as store:
        [path] = export_processes(store.memory, Path("out"))
    path.write_text(change(path.read_text()))
    return str(path)


def test_an_edit_of_the_names_stays_active(finexpert: Any, kept: Process) -> None:
    path = exported(lambda text: text.replace("  - Slump", "  - Dip"))
    assert "kept: Recession Calculation (active, version 2)" in finexpert("memory", "edit", "slump", "--from", path).out
    assert finexpert("memory", "show", "dip", "--json").json["taught_by"] == "anna"


def test_an_edit_of_the_steps_has_to_be_checked(finexpert: Any, kept: Process) -> None:
    path = exported(lambda text: text.replace("real GDP", "nominal GDP"))
    ran = finexpert("memory", "edit", "slump", "--from", path)
    assert "(draft, version 2)" in ran.out
    assert "finexpert memory check 'Recession Calculation'" in ran.out
    shown = finexpert("memory", "show", "slump", "--json").json
    assert (shown["status"], shown["note"]) == ("draft", "edited; not checked again")


def test_an_edit_may_stay_unchecked(finexpert: Any, kept: Process) -> None:
    path = exported(lambda text: text.replace("real GDP", "nominal GDP"))
    assert "(active, version 2)" in finexpert("memory", "edit", "slump", "--from", path, "--unchecked").out


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("status: active", "status: retired", "finexpert memory activate"),
        ("version: 1", "version: 7", "was made from version 7"),
        ("## Steps", "## Stepps", "line 13"),
        ("# Recession Calculation", "# ?!", "is empty"),
        ("  - Slump", "  - Yield inversion", "'yield inversion'"),
    ],
)
def test_an_edit_that_is_refused_changes_nothing(finexpert: Any, kept: Process, old: str, new: str, words: str) -> None:
    with taught() as store:
        store.memory.add(process("Yield inversion"), "ben")
        export_processes(store.memory, Path("out"))
    path = Path("out/recession-calculation.md")
    path.write_text(path.read_text().replace(old, new))
    ran = finexpert("memory", "edit", "slump", "--from", str(path))
    assert (ran.code, len(ran.err.splitlines())) == (1, 1)
    assert words in ran.err
    assert finexpert("memory", "show", "slump", "--json").json["version"] == 1


@pytest.fixture
def other_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedder like "words" that can be named."""
    from finexpert.embeddings import embedding

    class Other(embedding.WordHashing):
        dimensions, name = 512, "words-v1-512"

    made = embedding._make
    monkeypatch.setattr(embedding, "_make", lambda setting: Other() if setting == "other-words" else made(setting))
    monkeypatch.setattr(embedding, "_made", {})


@pytest.mark.usefixtures("other_words")
def test_vectors_are_made_anew_for_another_embedder(
    finexpert: Any, kept: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    finexpert("memory", "retire", "slump")
    finexpert("memory", "activate", "slump", "--unchecked")
    finexpert("glossary", "define", "stress month", "a month")
    history = finexpert("memory", "history", "slump", "--json").out
    assert finexpert("memory", "reindex").out == "the vectors are of words-v1-1024 already\n"

    ran = finexpert("memory", "reindex", "--embedder", "other-words")
    assert ran.code == 0
    assert f"2 entries of {STORE}: words-v1-1024 before, words-v1-512 now" in ran.out
    assert "FINEXPERT_EMBEDDER=other-words" in ran.out
    ran = finexpert("memory", "search", "slump")
    assert (ran.code, "finexpert memory reindex" in ran.err) == (1, True)

    monkeypatch.setenv("FINEXPERT_EMBEDDER", "other-words")
    assert finexpert("memory", "search", "recessions", "--json").json[0]["heading"] == "Recession Calculation"
    assert finexpert("glossary", "search", "stress months", "--json").json[0]["term"] == "stress month"
    assert finexpert("memory", "history", "slump", "--json").out == history

    monkeypatch.setenv("FINEXPERT_EMBEDDER", "words")
    ran = finexpert("memory", "reindex")
    assert (ran.code, "Next" in ran.out) == (0, False)
    assert finexpert("memory", "search", "slump", "--json").json


def test_an_empty_store_is_not_made_by_a_reindex(finexpert: Any) -> None:
    assert finexpert("memory", "reindex").out == f"{STORE} holds nothing yet\n"
    assert not Path(STORE).exists()


def editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, old: str, new: str) -> None:
    """An editor that replaces words, and notes whether others may read the file."""
    script = tmp_path / "editor.py"
    script.write_text(
        "import pathlib, sys\n"
        "path = pathlib.Path(sys.argv[-1])\n"
        f"pathlib.Path({str(tmp_path / 'mode')!r}).write_text(oct(path.stat().st_mode))\n"
        f"path.write_text(path.read_text().replace({old!r}, {new!r}))\n"
    )
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")


def test_an_edit_in_the_editor(finexpert: Any, kept: Process, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    editor(monkeypatch, tmp_path, "Slump", "Dip")
    assert "(active, version 2)" in finexpert("memory", "edit", "slump").out
    assert stat.S_IMODE(int((tmp_path / "mode").read_text(), 8)) == 0o600
    assert finexpert("memory", "edit", "dip").out == "nothing was changed\n"


def test_a_text_that_is_refused_is_kept(
    finexpert: Any, kept: Process, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    editor(monkeypatch, tmp_path, "## Steps", "## Stepps")
    ran = finexpert("memory", "edit", "slump")
    assert (ran.code, "'Stepps'" in ran.err) == (1, True)
    path = Path(ran.out.split("--from ")[1].strip())
    assert "## Stepps" in path.read_text()
    path.unlink()


@pytest.mark.parametrize(
    ("command", "words"), [("/nowhere/editor", "cannot be started"), ("false", "ended with code 1")]
)
def test_an_editor_that_fails(
    finexpert: Any, kept: Process, monkeypatch: pytest.MonkeyPatch, command: str, words: str
) -> None:
    monkeypatch.setenv("VISUAL", command)
    ran = finexpert("memory", "edit", "slump")
    assert (ran.code, words in ran.err) == (1, True)


def test_who_taught_is_the_login_name_if_not_set(
    finexpert: Any, kept: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FINEXPERT_BY")
    monkeypatch.setattr("getpass.getuser", lambda: "login")
    finexpert("memory", "retire", "slump")
    rows = finexpert("memory", "history", "slump", "--json").json
    assert [row["by"] for row in rows] == ["login", "anna"]
    assert json.loads(json.dumps(rows)) == rows
