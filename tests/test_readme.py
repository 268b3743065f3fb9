"""The README: every command stands in it, and what it shows can be run as shown."""

from __future__ import annotations

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
FOLDERS = ("datasets", "finexpert", "modules", "optimizers", "signatures", "tests")


def leaves(command: Any, path: tuple[str, ...] = ("finexpert",)) -> Iterator[tuple[str, Any]]:
    """Every command that does something, by its whole name."""
    inner = getattr(command, "commands", {})
    if not inner:
        yield " ".join(path), command
    for name, below in inner.items():
        yield from leaves(below, (*path, name))


COMMANDS = dict(leaves(typer.main.get_command(app)))


def blocks(*languages: str) -> list[str]:
    """The code blocks in one of these languages."""
    return [
        text
        for language, text in re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
        if language in languages
    ]


def shown() -> list[list[str]]:
    """The calls of `finexpert` in blocks and between back ticks, as words."""
    lines = [line.removeprefix("$ ") for text in blocks("bash", "sh", "console", "text") for line in text.splitlines()]
    lines += [line for line in re.findall(r"`(finexpert [^`]+)`", README) if "|" not in line]
    parts = [part.strip() for line in lines for part in line.split("&&")]
    return [shlex.split(part, comments=True) for part in parts if part.startswith("finexpert ")]


def alternatives() -> set[str]:
    """Commands that are named together: `finexpert memory list|show` are two."""
    # A bar within a table of Markdown is written \\|.
    groups = re.findall(r"`(finexpert [\w-]+) ([\w-]+(?:\|[\w-]+)+)`", README.replace("\\|", "|"))
    return {f"{group} {name}" for group, names in groups for name in names.split("|")}


def test_every_command_is_named() -> None:
    assert len(COMMANDS) >= 10
    assert [name for name in COMMANDS if name not in README and name not in alternatives()] == []


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
    name = next((name for name in COMMANDS if " ".join(words).startswith(name)), None)
    assert name is not None, f"there is no {words}"
    known = {flag for p in COMMANDS[name].params for flag in (*p.opts, *p.secondary_opts)} | {"--help", "-h"}
    assert {word.split("=")[0] for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("code", blocks("python"))
def test_python_is_python_and_names_what_is_there(code: str) -> None:
    import finexpert

    compile(code, "README.md", "exec")
    assert set(re.findall(r"\bfinexpert\.([A-Za-z]\w*)", code)) <= set(finexpert.__all__)


def test_files_that_are_named_exist() -> None:
    named = {name for name in re.findall(r"`([\w./-]+)`", README) if name.split("/")[0] in FOLDERS and "/" in name}
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_settings_that_are_named_exist() -> None:
    from finexpert.settings import Settings

    named = set(re.findall(r"FINEXPERT_([A-Z][A-Z_]*[A-Z])", README)) - {"HOME"}
    assert named
    assert {name.lower() for name in named} <= set(Settings.model_fields)
