"""What `finexpert memory` and `finexpert glossary` share: the store, who changes it, and how a change is shown."""

from __future__ import annotations

import datetime as dt
import difflib
import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from finexpert.knowledge.collection import Collection
    from finexpert.knowledge.entries.entries import Entry, Status
    from finexpert.knowledge.exchange import Imported
    from finexpert.knowledge.items import Item
    from finexpert.knowledge.taught import Taught

All = Annotated[bool, typer.Option("--all", help="Also what is retired.")]
Diff = Annotated[bool, typer.Option("--diff", help="Show what each version changed.")]
Limit = Annotated[int, typer.Option(min=1, max=100, help="How many to show.")]


@contextmanager
def opened(store: str | None) -> Iterator[tuple[Taught, str]]:
    """The store, and who works on it."""
    settings = common.settings_from(store=store)
    from finexpert.knowledge.taught import Taught

    with Taught.from_settings(settings) as taught:
        yield taught, settings.teacher


def reindex(store: str | None, embedder: str | None) -> None:
    """Make the vectors of the store anew, and say what they are of now."""
    at_hand = common.settings_from(store=store)
    settings = common.settings_from(store=store, embedder=embedder)
    from finexpert.knowledge.collection import EVERY
    from finexpert.knowledge.taught import Taught

    with Taught.from_settings(settings) as taught:
        entries, new = taught.memory.entries, taught.memory.embedder.name
        if (old := entries.made_with()) in (None, new):
            say(f"{entries.place} holds nothing yet" if old is None else f"the vectors are of {new} already")
            return
        count = sum(entries.count(each.name, EVERY) for each in (taught.memory, taught.glossary, taught.verified))
        with common.progress("entries embedded", count) as done:
            count = entries.reindex(done)
    say(f"{count} entries of {entries.place}: {old} before, {new} now")
    if settings.embedder != at_hand.embedder:
        say(f"Next: set FINEXPERT_EMBEDDER={settings.embedder}, or questions are refused")


EVERYWHERE = "everywhere"
Scope = Annotated[
    str,
    typer.Argument(help=f"Name of the source that it holds for, such as the name of its file, or {EVERYWHERE!r}."),
]


def scoped(collection: Collection[Any], name: str, scope: str, by: str) -> None:
    """Have an item hold for another source, or everywhere, and say so."""
    found = collection.find(name)
    kept = collection.edit(found.model_copy(update={"scope": "" if scope == EVERYWHERE else scope}), by)
    say_changed(kept, f"holds for {kept.scope}" if kept.scope else "holds everywhere")


def statuses(every: bool) -> tuple[Status, ...]:
    return ("draft", "active", "retired") if every else ("draft", "active")


def say(text: str) -> None:
    """A line for people: wrapped by the terminal, nothing in it taken for markup or for a terminal's codes."""
    from finexpert.text.texts import visible

    common.console().print(visible(text), markup=False, soft_wrap=True)


def say_changed(item: Item, done: str) -> None:
    say(f"{done}: {item.title} ({item.status}, version {item.version})")


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from finexpert.text.texts import visible

    shown = Table(*columns, box=None, header_style="bold")
    for row in rows:
        shown.add_row(*(Text(visible(cell)) for cell in row))
    common.console().print(shown)


def as_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=1))


def day(at: dt.datetime | None) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}" if at else ""


def show_history(collection: Collection[Any], name: str, text: Callable[[Any], str], diff: bool, json_: bool) -> None:
    """Every version: which, when, by whom, what was done; with `diff`, what it changed."""
    versions = collection.history(name)
    changes = [
        "" if not diff else _difference(*pair, text) for pair in zip(versions, [*versions[1:], None], strict=True)
    ]
    if json_:
        rows = [
            facts(entry) | ({"diff": change} if diff else {})
            for (entry, _), change in zip(versions, changes, strict=True)
        ]
        as_json(rows)
        return
    if not diff:
        columns = ("version", "when", "by", "action", "status", "name")
        table(columns, [(str(e.version), day(e.at), e.by, e.action, e.status, item.title) for e, item in versions])
        return
    for (entry, _), change in zip(versions, changes, strict=True):
        say(f"version {entry.version}, {day(entry.at)}, {entry.by}: {entry.action} ({entry.status})")
        _highlighted(change, "diff")


def facts(entry: Entry) -> dict[str, Any]:
    return {
        "version": entry.version,
        "at": entry.at.isoformat(),
        "by": entry.by,
        "action": entry.action,
        "status": entry.status,
    }


def _difference(new: tuple[Entry, Any], old: tuple[Entry, Any] | None, text: Callable[[Any], str]) -> str:
    lines = difflib.unified_diff(
        text(old[1]).splitlines() if old else [],
        text(new[1]).splitlines(),
        f"version {old[0].version}" if old else "nothing",
        f"version {new[0].version}",
        lineterm="",
    )
    return "\n".join(lines)


def _highlighted(text: str, language: str) -> None:
    """The text with colours on a terminal, and as it is in a pipe."""
    from finexpert.text.texts import visible

    console = common.console()
    if not console.is_terminal:
        common.echo(visible(text))
        return
    from rich.syntax import Syntax

    console.print(Syntax(visible(text), language, theme="ansi_dark", background_color="default", word_wrap=True))


def show_page(text: str) -> None:
    _highlighted(text, "markdown")


def show_imported(results: Sequence[Imported]) -> None:
    """What became of each file or line; exit code 1 if one failed."""
    table(("", "outcome", "name", ""), [(r.place, r.outcome, r.title, r.message) for r in results])
    if any(result.outcome == "failed" for result in results):
        raise typer.Exit(1)


def edited(text: str, suffix: str) -> tuple[str, Path]:
    """The text as somebody leaves it in $EDITOR, and the file that holds it, which is the caller's to remove."""
    from finexpert.errors import ConfigurationError
    from finexpert.knowledge.exchange import read_text

    handle, name = tempfile.mkstemp(prefix="finexpert-", suffix=suffix)
    path = Path(name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        ended = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
    except OSError as error:
        path.unlink()
        raise ConfigurationError(
            f"the editor {editor!r} cannot be started: {error.strerror}. Set EDITOR, or give a file with --from"
        ) from error
    if ended != 0:
        path.unlink()
        raise ConfigurationError(f"the editor {editor!r} ended with code {ended}: nothing was changed")
    return read_text(path), path
