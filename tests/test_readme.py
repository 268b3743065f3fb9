"""The README and the pages under docs/: every command stands there, and what they show can be run as shown."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from finexpert.cli.main import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = "\n".join(page.read_text() for page in PAGES)
FOLDERS = ("datasets", "finexpert", "modules", "optimizers", "signatures", "tests")


def leaves(command: Any, path: tuple[str, ...] = ("finexpert",)) -> Iterator[tuple[str, Any]]:
    """Every command that does something, by its whole name."""
    inner = getattr(command, "commands", {})
    if not inner or getattr(command, "invoke_without_command", False):
        yield " ".join(path), command
    for name, below in inner.items():
        yield from leaves(below, (*path, name))


COMMANDS = dict(leaves(typer.main.get_command(app)))
# `finexpert model` alone names its commands together.
GROUPS = {name.rpartition(" ")[0] for name in COMMANDS} - {"finexpert"}


def blocks(*languages: str) -> list[str]:
    """The code blocks in one of these languages."""
    return [
        text
        for language, text in re.findall(r"^```(\w*)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
        if language in languages
    ]


def shown() -> list[list[str]]:
    """The calls of `finexpert` in blocks and between back ticks, as words."""
    lines = [line.removeprefix("$ ") for text in blocks("bash", "sh", "console", "text") for line in text.splitlines()]
    lines += [line for line in re.findall(r"`(finexpert [^`]+)`", TEXT) if "|" not in line]
    parts = [part.strip() for line in lines for part in line.split("&&")]
    return [shlex.split(part, comments=True) for part in parts if part.startswith("finexpert ") and part not in GROUPS]


def alternatives() -> set[str]:
    """Commands that are named together: `finexpert memory list|show` are two."""
    # A bar within a table of Markdown is written \\|.
    groups = re.findall(r"`(finexpert [\w-]+) ([\w-]+(?:\|[\w-]+)+)`", TEXT.replace("\\|", "|"))
    return {f"{group} {name}" for group, names in groups for name in names.split("|")}


def test_every_command_is_named() -> None:
    assert len(COMMANDS) >= 10
    assert [name for name in COMMANDS if f"`{name}`" not in TEXT and name not in alternatives()] == []


def test_no_command_is_named_that_is_not_there() -> None:
    assert alternatives() <= set(COMMANDS)


def test_the_two_commands_are_named() -> None:
    assert "make demo" in README
    assert "make test" in README
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"^make ([a-z]+)", README, re.MULTILINE)) <= set(targets)


def test_the_guards_below_see_something() -> None:
    assert len(shown()) >= 8
    assert blocks("python")


@pytest.mark.parametrize("words", shown(), ids=" ".join)
def test_a_command_is_shown_with_options_that_it_has(words: list[str]) -> None:
    name = max((name for name in COMMANDS if " ".join(words).startswith(name)), key=len, default=None)
    assert name is not None, f"there is no {words}"
    known = {flag for p in COMMANDS[name].params for flag in (*p.opts, *p.secondary_opts)} | {"--help", "-h"}
    assert {word.split("=")[0] for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("code", blocks("python"))
def test_python_is_python_and_names_what_is_there(code: str) -> None:
    import finexpert

    compile(code, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    modules = {path.stem for path in (ROOT / "finexpert").iterdir()}
    assert set(re.findall(r"\bfinexpert\.([A-Za-z]\w*)", code)) <= set(finexpert.__all__) | modules


def test_files_that_are_named_exist() -> None:
    named = {
        name
        for name in re.findall(r"`([\w./-]+)`", TEXT)
        if name.split("/")[0] in FOLDERS and "/" in name and name != "finexpert/NAME"
    }
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_settings_that_are_named_exist() -> None:
    from finexpert.app.options import ServeOptions
    from finexpert.settings import Settings

    named = set(re.findall(r"FINEXPERT_(?!TEST_)([A-Z][A-Z_]*[A-Z])", TEXT)) - {"HOME", "SERVE_NAME"}
    assert named
    served = {f"serve_{name}" for name in ServeOptions.model_fields}
    assert {name.lower() for name in named} <= set(Settings.model_fields) | served


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 200


def test_the_reference_is_that_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    reference = importlib.import_module("reference")

    assert reference.PAGE.read_text(encoding="utf-8") == reference.page(), "run: python docs/reference.py"


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[\w-]+)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
