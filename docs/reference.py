"""Writes docs/reference.md: every command with its options, and every setting. `python docs/reference.py`"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel

from finexpert.app.options import ServeOptions
from finexpert.cli.main import app
from finexpert.settings import Settings

PAGE = Path(__file__).with_name("reference.md")


def leaves(command: Any, path: tuple[str, ...] = ("finexpert",)) -> Iterator[tuple[str, Any]]:
    """Every command that does something, by its whole name."""
    inner = getattr(command, "commands", {})
    if not inner or getattr(command, "invoke_without_command", False):
        yield " ".join(path), command
    for name, below in inner.items():
        yield from leaves(below, (*path, name))


def page() -> str:
    """The page, from the commands and settings as they are."""
    lines = ["# Commands and settings", "", "Written by `docs/reference.py` from the code.", "", "## Commands", ""]
    for name, command in sorted(leaves(typer.main.get_command(app))):
        lines += [f"### `{name}`", "", inspect.cleandoc(command.help or "").split("\n\n")[0].replace("\n", " "), ""]
        lines += [_option(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)] + [""]
    lines += ["## Settings", "", "Each is a line of `finexpert.toml`, or an environment variable.", ""]
    lines += _settings("FINEXPERT_", Settings)
    lines += [
        "",
        "### Of a server",
        "",
        "Each is a line of the table `[serve]` in `finexpert.toml`, or an environment variable.",
        "",
    ]
    lines += _settings("FINEXPERT_SERVE_", ServeOptions)
    return "\n".join(lines) + "\n"


def _option(parameter: Any) -> str:
    flags = ", ".join(f"`{flag}`" for flag in (*parameter.opts, *parameter.secondary_opts))
    name = flags if flags.startswith("`-") else f"`{parameter.name.upper()}`"
    return f"- {name} {_cell(getattr(parameter, 'help', None) or '')}".rstrip()


def _settings(prefix: str, options: type[BaseModel]) -> list[str]:
    rows = [_setting(prefix + name.upper(), field) for name, field in sorted(options.model_fields.items())]
    return ["| setting | default | |", "|---|---|---|", *rows]


def _setting(name: str, field: Any) -> str:
    default = "" if field.default_factory or field.default is None else f"`{field.default}`"
    return f"| `{name}` | {_cell(default)} | {_cell(field.description or '')} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


if __name__ == "__main__":
    sys.exit(PAGE.write_text(page(), encoding="utf-8") == 0)
