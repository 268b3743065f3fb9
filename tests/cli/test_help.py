"""Every command and every option says what it is for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from finexpert.cli.main import app


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands and groups of commands with their names."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))


COMMANDS = list(commands(typer.main.get_command(app)))


def test_the_walk_is_not_empty() -> None:
    paths = {" ".join(path) for path, _ in COMMANDS}
    assert {
        "ask",
        "chat",
        "eval fred",
        "eval convfinqa",
        "data fred",
        "doctor",
        "replay",
        "export",
        "bench overhead",
    } < paths


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
def test_help_says_what_it_is_for(path: tuple[str, ...], command: Any) -> None:
    assert command.help.strip()
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"{' '.join(path)} {parameter.name}"
    # Commands of a group have their flags from it.
    for flag in ("--help", "-h") if len(path) < 2 else ("-h",):
        ran = CliRunner().invoke(app, [*path, flag], catch_exceptions=False)
        assert ran.exit_code == 0
        assert " ".join(command.help.split())[:30] in " ".join(ran.output.split())
