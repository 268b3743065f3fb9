"""The commands that every store of what was taught has: scope, retire, history, revert, undo and search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.taught import stores

if TYPE_CHECKING:
    from finexpert.knowledge.collection import Collection
    from finexpert.knowledge.taught import Taught


def add_versions(
    app: typer.Typer, which: Any, noun: str, of: Callable[[Taught], Collection[Any]], text: Callable[[Any], str]
) -> None:
    """Add the commands for one collection; `which` is the argument that names an item, `text` what a diff compares."""

    def retire(name: str, store: common.Store = None) -> None:
        with stores.opened(store) as (taught, by):
            stores.say_changed(of(taught).retire(name, by), "retired")

    def history(name: str, diff: stores.Diff = False, store: common.Store = None, as_json: common.Json = False) -> None:
        with stores.opened(store) as (taught, _):
            stores.show_history(of(taught), name, text, diff, as_json)

    def revert(
        name: str, version: Annotated[int, typer.Argument(help="As `history` shows it.")], store: common.Store = None
    ) -> None:
        with stores.opened(store) as (taught, by):
            stores.say_changed(of(taught).revert(name, version, by), f"reverted to version {version}")

    def undo(store: common.Store = None) -> None:
        with stores.opened(store) as (taught, by):
            undone = of(taught).undo(by)
            entry, _ = of(taught).history(undone.id)[0]
        stores.say_changed(undone, entry.action)

    def scope(name: str, to: stores.Scope, store: common.Store = None) -> None:
        with stores.opened(store) as (taught, by):
            stores.scoped(of(taught), name, to, by)

    for command in (retire, history, revert, scope):
        command.__annotations__["name"] = which
    app.command(help=f"Say what a {noun} holds for: one source, or all of them.")(scope)
    app.command(help=f"Take a {noun} out of use; nothing of it is lost.")(retire)
    app.command(help=f"Show every version of a {noun}: when, by whom, and what was done.")(history)
    app.command(help="Take back an earlier version, as a new one.")(revert)
    app.command(help="Take back the last change; once more, and the change is there again.")(undo)


def add_search(
    app: typer.Typer,
    what: str,
    of: Callable[[Taught], Collection[Any]],
    columns: Mapping[str, Callable[[Any], str]],
    nothing: str,
) -> None:
    """Add the search of one collection by meaning; the first of the columns names an item."""

    def search(
        text: Annotated[str, typer.Argument(help="A question, or words of it.")],
        limit: stores.Limit = 8,
        store: common.Store = None,
        as_json: common.Json = False,
    ) -> None:
        with stores.opened(store) as (taught, _):
            found = of(taught).search([text], limit)
        if as_json:
            stores.as_json([{next(iter(columns)): item.title, "score": round(score, 4)} for item, score in found])
        elif not found:
            stores.say(nothing)
        else:
            rows = [(f"{score:.2f}", *(cell(item) for cell in columns.values())) for item, score in found]
            stores.table(("score", *columns), rows)

    app.command(help=f"Show the {what} that are nearest in meaning, with their cosine.")(search)
