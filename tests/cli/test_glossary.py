"""`finexpert glossary`: terms are defined, shown, changed, taken back, and carried in files."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """The embedder that takes no time to load, and a user of the test's own."""
    for name, value in {"EMBEDDER": "words", "STORE": "knowledge.sqlite", "BY": "anna"}.items():
        monkeypatch.setenv(f"FINEXPERT_{name}", value)


@pytest.fixture
def defined(finexpert: Any) -> None:
    ran = finexpert("glossary", "define", "stress month", "a month below 0.5", "--alias", "tense month")
    assert ran.out == "defined: stress month (active, version 1)\n"


def test_an_empty_glossary_says_what_to_do(finexpert: Any) -> None:
    assert "finexpert glossary define" in finexpert("glossary", "list").out
    assert finexpert("glossary", "list", "--json").json == []
    assert "No term" in finexpert("glossary", "search", "stress").out


def test_what_is_defined_is_shown(finexpert: Any, defined: None) -> None:
    for words in ("stress month", "a month below 0.5", "tense month", "anna"):
        assert words in finexpert("glossary", "list").out
        assert words in finexpert("glossary", "show", "Tense months").out
    [row] = finexpert("glossary", "list", "--json").json
    assert (row["term"], row["status"], row["source"]) == ("stress month", "active", "expert")
    assert finexpert("glossary", "show", "stress month", "--json").json == row
    assert finexpert("glossary", "search", "stress months", "--json").json[0]["term"] == "stress month"
    assert "stress month" in finexpert("glossary", "search", "stress").out


def test_a_new_meaning_can_be_taken_back(finexpert: Any, defined: None) -> None:
    assert "version 2" in finexpert("glossary", "define", "Stress Month", "a month below 0.25").out
    diff = finexpert("glossary", "history", "stress month", "--diff").out
    assert "\n-a month below 0.5\n" in diff
    assert "\n+a month below 0.25\n" in diff
    assert "undo define" in finexpert("glossary", "undo").out
    assert "reverted to version 2" in finexpert("glossary", "revert", "stress month", "2").out
    rows = finexpert("glossary", "history", "stress month", "--json").json
    assert [row["action"] for row in rows] == ["revert to 2", "undo define", "define", "define"]
    assert "(retired, version 5)" in finexpert("glossary", "retire", "stress month").out
    assert finexpert("glossary", "list", "--json").json == []
    assert len(finexpert("glossary", "list", "--all", "--json").json) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("define", " ", "x"), "term: is empty"),
        (("define", "x", " "), "meaning: is empty"),
        (("define", "x\x1b[31m", "y"), "U+001B"),
        (("define", "x", "y\u202e"), "RIGHT-TO-LEFT"),
        (("define", "x" * 121, "y"), "has 121 characters"),
        (("define", "x", "y" * 2001), "has 2,001 characters"),
        (("define", "tense months", "y"), "'stress month'"),
        (("define", "x", "y", "--alias", "stress months"), "'stress month'"),
        (("define", "x", "y", "--alias", "the rates"), "the alias 'the rates' of 'x' is an everyday word"),
        (("edit", "stress month", "--alias", "month"), "the alias 'month' of 'stress month' is an everyday word"),
        (("show", "strss month"), "Spelt alike: 'stress month'"),
        (("edit", "nothing", "--meaning", "x"), "finexpert glossary list --all"),
        (("edit", "stress month", "--rename", "?"), "term: is empty"),
        (("revert", "stress month", "9"), "it has 1 to 1"),
        (("export", "terms.txt"), ".csv nor a .jsonl"),
        (("import", "none.csv"), "none.csv"),
    ],
)
def test_what_is_refused(finexpert: Any, defined: None, arguments: tuple[str, ...], words: str) -> None:
    ran = finexpert("glossary", *arguments)
    assert (ran.code, len(ran.err.splitlines())) == (1, 1)
    assert words in ran.err
    assert "\x1b" not in ran.err
    assert [row["version"] for row in finexpert("glossary", "list", "--json").json] == [1]


def test_edit(finexpert: Any, defined: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    finexpert("glossary", "edit", "stress month", "--meaning", "another", "--alias", "red month")
    finexpert("glossary", "edit", "stress month", "--rename", "stressed month")
    row = finexpert("glossary", "show", "red month", "--json").json
    assert (row["term"], row["meaning"], row["aliases"], row["version"]) == (
        "stressed month",
        "another",
        ["red month"],
        3,
    )
    finexpert("glossary", "edit", "red month", "--alias", "")
    assert finexpert("glossary", "show", "stressed month", "--json").json["aliases"] == []
    script = tmp_path / "editor.py"
    script.write_text("import pathlib, sys\npathlib.Path(sys.argv[-1]).write_text('a third\\n')\n")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    finexpert("glossary", "edit", "stressed month")
    assert finexpert("glossary", "show", "stressed month", "--json").json["meaning"] == "a third"
    assert finexpert("glossary", "edit", "stressed month").out == "nothing was changed\n"


@pytest.mark.parametrize(
    ("written", "said"), [(b"", "cannot be kept"), (b"caf\xe9", "is not text in UTF-8")], ids=["empty", "latin-1"]
)
def test_a_meaning_that_cannot_be_kept_stays_in_its_file(
    finexpert: Any, defined: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, written: bytes, said: str
) -> None:
    script = tmp_path / "editor.py"
    script.write_text(f"import pathlib, sys\npathlib.Path(sys.argv[-1]).write_bytes({written!r})\n")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    ran = finexpert("glossary", "edit", "stress month")
    assert ran.code == 1
    assert said in ran.err
    found = re.search(r"/\S+\.txt", ran.err)
    assert found
    assert Path(found[0]).read_bytes() == written
    Path(found[0]).unlink()
    assert finexpert("glossary", "show", "stress month", "--json").json["version"] == 1


@pytest.mark.parametrize("file", ["terms.csv", "terms.jsonl"])
def test_export_and_import(finexpert: Any, defined: None, file: str) -> None:
    assert finexpert("glossary", "export", file).out == f"1 term in {file}\n"
    ran = finexpert("glossary", "import", file, "--store", "other.sqlite")
    assert (ran.code, "added" in ran.out) == (0, True)
    finexpert("glossary", "define", "stress month", "another")
    ran = finexpert("glossary", "import", file)
    assert (ran.code, "failed" in ran.out) == (1, True)
    assert finexpert("glossary", "import", file, "--replace").code == 0
    assert finexpert("glossary", "show", "stress month", "--json").json["meaning"] == "a month below 0.5"
