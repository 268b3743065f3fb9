"""`finexpert memory`: look at the processes that were taught, correct them, and carry them from one store to another.

finexpert memory list
finexpert memory show "Recession Calculation"
finexpert memory history "Recession Calculation" --diff
finexpert memory undo
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common
from finexpert.cli.options import Given, takes
from finexpert.cli.taught import stores
from finexpert.cli.taught.versions import add_search, add_versions
from finexpert.cli.terminal import completing
from finexpert.cli.waiting import waiting

if TYPE_CHECKING:
    from finexpert.knowledge.process import Process

memory_app = typer.Typer(help="Look at the processes that were taught, and correct them.", no_args_is_help=True)

Heading = Annotated[
    str, typer.Argument(help="The heading of a process, or an alias.", autocompletion=completing.headings)
]
Unchecked = Annotated[bool, typer.Option("--unchecked", help="Without running the taught case.")]


@memory_app.command("list")
def list_(store: common.Store = None, every: stores.All = False, as_json: common.Json = False) -> None:
    """List the processes: active ones and drafts."""
    with stores.opened(store) as (taught, _):
        processes = taught.memory.processes(stores.statuses(every))
    if as_json:
        brief = {"id", "heading", "aliases", "status", "version", "taught_by", "taught_at", "note"}
        stores.as_json([process.model_dump(mode="json", include=brief) for process in processes])
    elif not processes:
        stores.say(
            "No process was taught yet. Next: finexpert chat, and `remember` there; or finexpert teach TRANSCRIPT"
        )
    else:
        rows = [
            (p.heading, ", ".join(p.aliases), p.status, str(p.version), p.taught_by, stores.day(p.taught_at), p.note)
            for p in processes
        ]
        stores.table(("heading", "also", "status", "version", "taught by", "at", "note"), rows)


@memory_app.command()
@takes("data lm api_base recordings record store")
def check(
    given: Given,
    heading: Heading,
    accept: Annotated[
        bool, typer.Option("--accept-case", help="The question and result that came with an imported file are right.")
    ] = False,
) -> None:
    """Run a process on the case that it was taught on: active if it gives the accepted result, else a draft.

    The exit code is 3 where it is a draft. The case of an imported process came with its file, so it proves nothing
    until somebody has accepted it.
    """
    settings = given.settings()
    from finexpert.cli.chat.teaching import show_remembered
    from finexpert.knowledge.exchange import NOT_CHECKED
    from finexpert.session import Session

    with Session(common.open_data(given.data, settings), settings=settings) as session:
        process = session.stores.memory.find(heading)
        if process.note == NOT_CHECKED and process.case is not None and not accept:
            stores.say(f"Its case came with the file: {process.case.question}")
            stores.say(f"Result: {process.case.expected}")
            stores.say("If that is right, say --accept-case.")
            raise typer.Exit(3)
        with waiting():
            checked = session.check(process)
    show_remembered(checked)
    if checked.problems:
        raise typer.Exit(3)


@memory_app.command()
def show(heading: Heading, store: common.Store = None, as_json: common.Json = False) -> None:
    """Show a process as the markdown that `export` writes."""
    from finexpert.knowledge.processes.files import to_markdown

    with stores.opened(store) as (taught, _):
        process = taught.memory.find(heading)
    if as_json:
        stores.as_json(process.model_dump(mode="json"))
    else:
        stores.show_page(to_markdown(process).rstrip("\n"))


@memory_app.command()
def edit(
    heading: Heading,
    file: Annotated[Path | None, typer.Option("--from", help="Take this file instead of opening $EDITOR.")] = None,
    unchecked: Unchecked = False,
    store: common.Store = None,
) -> None:
    """Change a process in $EDITOR; what was active becomes a draft if what it does was changed."""
    from finexpert.errors import StoreError
    from finexpert.knowledge.exchange import read_text
    from finexpert.knowledge.processes.files import from_markdown, to_markdown

    with stores.opened(store) as (taught, by):
        old = taught.memory.find(heading)
        before = to_markdown(old)
        text, path = (read_text(file), file) if file else stores.edited(before, ".md")
        try:
            new = _as_edited(old, from_markdown(text, str(path)), unchecked)
            kept = taught.memory.edit(new, by) if new != old else old
        except StoreError as error:
            if file is None:
                error.add_note(f"your text is kept: finexpert memory edit {old.heading!r} --from {path}")
                stores.say(error.__notes__[-1])
            raise
        if file is None:
            path.unlink()
    if kept == old:
        stores.say("nothing was changed")
        return
    stores.say_changed(kept, "kept")
    if kept.status == "draft" and old.status == "active":
        stores.say(f"It is not used until it is checked: finexpert memory check {kept.heading!r}")


def _as_edited(old: Process, new: Process, unchecked: bool) -> Process:
    """The process of an edited file as the next version of the old one."""
    from finexpert.errors import ProcessFileError, StaleEntry
    from finexpert.knowledge.process import EDITED

    if new.id in ("", old.id) and new.version not in (0, old.version):
        raise StaleEntry(
            f"the file was made from version {new.version} of {old.heading!r}, which has version {old.version} by now: "
            f"see `finexpert memory history {old.heading!r} --diff`, and set the version in the file"
        )
    if new.status != old.status and not (new.status == "draft" and new.id == ""):
        raise ProcessFileError(
            f"the file says that {old.heading!r} is {new.status}, and it is {old.status}: "
            f"`finexpert memory activate` and `retire` change that"
        )
    update = {"id": old.id, "version": old.version, "status": old.status}
    update |= {key: getattr(new, key) or getattr(old, key) for key in ("taught_by", "taught_at")}
    if old.status == "active" and not new.does_as(old) and not unchecked:
        update |= {"status": "draft", "note": EDITED}
    return new.model_copy(update=update)


@memory_app.command()
def activate(heading: Heading, unchecked: Unchecked = False, store: common.Store = None) -> None:
    """Let questions use a draft, or a retired process again, without a check."""
    from finexpert.errors import StoreError

    with stores.opened(store) as (taught, by):
        found = taught.memory.find(heading)
        if found.status == "active":
            stores.say(f"{found.heading} is active already")
            return
        if not unchecked:
            raise StoreError(
                f"{found.heading!r} is not in use ({found.status}): `finexpert memory check {found.heading!r}` runs its taught case "
                f"and makes it active if the answer is the same. --unchecked makes it active without"
            )
        stores.say_changed(taught.memory.activate(heading, by), "activated")


def _page(process: Process) -> str:
    from finexpert.knowledge.processes.files import to_markdown

    return to_markdown(process)


add_versions(memory_app, Heading, "process", lambda taught: taught.memory, _page)


@memory_app.command()
def export(
    folder: Annotated[Path, typer.Argument(file_okay=False, help="Where to write.")], store: common.Store = None
) -> None:
    """Write each process as a markdown file, also drafts and retired ones."""
    from finexpert.knowledge import exchange

    with stores.opened(store) as (taught, _):
        paths = exchange.export_processes(taught.memory, folder)
    stores.say(f"{len(paths)} file{'' if len(paths) == 1 else 's'} in {folder}")


@memory_app.command("import")
def import_(
    paths: Annotated[list[Path], typer.Argument(help="Markdown files, or folders of them.")],
    trust: Annotated[bool, typer.Option("--trust", help="Take the status from the file; else all are drafts.")] = False,
    store: common.Store = None,
) -> None:
    """Read processes from files; exit code 1 if one could not be taken. Nothing in the store is changed."""
    from finexpert.knowledge import exchange

    with stores.opened(store) as (taught, by):
        results = exchange.import_processes(taught.memory, paths, by, trust=trust)
    stores.show_imported(results)


@memory_app.command()
def reindex(
    embedder: Annotated[
        str | None, typer.Option(help="As FINEXPERT_EMBEDDER names it; the one at hand if not given.")
    ] = None,
    store: common.Store = None,
) -> None:
    """Make the vectors of memory and glossary anew after a change of the embedder; all versions stay as they are.

    Until it is done, and where it is interrupted, the store is as it was before.
    """
    stores.reindex(store, embedder)


add_search(
    memory_app,
    "active processes",
    lambda taught: taught.memory,
    {"heading": lambda process: process.heading, "also": lambda process: ", ".join(process.aliases)},
    "No process is active. finexpert memory list shows drafts",
)
