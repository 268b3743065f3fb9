"""`finexpert feedback`: what people said about answers, as a queue, and what a person makes of it.

finexpert feedback add 20240930T101500-3f2a1c --wrong "net of rebates"
finexpert feedback list
finexpert feedback keep 20240930T101500-3f2a1c --select "SELECT ..." --data trades.duckdb
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from finexpert.cli import common
from finexpert.cli.taught import stores
from finexpert.cli.terminal import completing

if TYPE_CHECKING:
    from finexpert.answers.feedback import Feedback
    from finexpert.knowledge.verified.query import VerifiedQuery
    from finexpert.settings import Settings

feedback_app = typer.Typer(help="What people said about answers, and what becomes of it.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="Id of an entry, as `list` shows it.")]


@feedback_app.command()
def add(
    record: Annotated[
        str, typer.Argument(help="A record's file, or its id, as `ask` prints it.", autocompletion=completing.records)
    ],
    wrong: Annotated[str | None, typer.Option("--wrong", help="It is wrong, and why.")] = None,
    right: Annotated[str | None, typer.Option("--right", help="It is right, and why.")] = None,
) -> None:
    """Say that an answer is right or wrong. It is kept at home, and used for nothing until a person makes something of it."""
    if (wrong is None) == (right is None):
        raise typer.BadParameter("say one of --wrong REASON and --right REASON", param_hint="--wrong")
    settings = common.settings_from()
    from finexpert.answers import feedback
    from finexpert.cli.record import load

    kept, _ = load(record, settings)
    said = feedback.of_record(kept, "command line", right is not None, right or wrong or "", settings.teacher)
    feedback.add(settings.home, said)
    stores.say(f"kept: {said.id}; `finexpert feedback list` shows the queue")


@feedback_app.command("list")
def list_(
    every: Annotated[bool, typer.Option("--all", help="Also thumbs up, and what is settled.")] = False,
    as_json: common.Json = False,
) -> None:
    """List what is open: answers that were called wrong and SELECTs that were edited, of all doors."""
    found = [each for each in _queue(common.settings_from()) if every or not (each.up or each.settled)]
    if as_json:
        stores.as_json([each.model_dump(mode="json") for each in found])
    elif not found:
        stores.say("Nothing is open. Next: finexpert feedback add RECORD --wrong REASON, or thumbs down on the page")
    else:
        for each in found:
            thumb = "right" if each.up else "wrong"
            stores.say(f"{each.id}  {each.question}")
            stores.say(f"  {thumb}: {each.reason or 'no reason given'} ({each.by}, {each.door}, {stores.day(each.at)})")
            if each.settled:
                stores.say(f"  became {each.settled}")


@feedback_app.command()
def keep(
    id: Id,
    define: Annotated[str | None, typer.Option("--define", help="Keep what a term means: 'TERM = MEANING'.")] = None,
    select: Annotated[
        str | None, typer.Option("--select", help="Keep this SELECT as the question's verified query.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Keep the SELECT of the entry as the verified query.")
    ] = False,
    example: Annotated[
        bool,
        typer.Option(
            "--example", help="Keep it as an example of sql_extraction, for `finexpert compile --from-feedback`."
        ),
    ] = False,
    file: Annotated[
        Path | None, typer.Option("--file", help="The file for --example; examples.jsonl at home if not given.")
    ] = None,
    split: Annotated[
        Literal["train", "val", "holdout"], typer.Option("--split", help="The split of the example.")
    ] = "train",
    data: common.Data = None,
    store: common.Store = None,
) -> None:
    """Make a definition, a verified query or an example of an entry. A SELECT is run with all checks first."""
    settings = common.settings_from(store=store)
    from finexpert.answers.feedback import settle
    from finexpert.datasets.layers import kept
    from finexpert.errors import ConfigurationError
    from finexpert.knowledge import explaining

    example = example or file is not None
    entry = _found(id, settings)
    sql = select or entry.select
    if not (define or select or verify or example):
        raise ConfigurationError(f"say what {entry.id} becomes: --define, --select, --verify or --example")
    term, _, meaning = (part.strip() for part in (define or "").partition("="))
    if define and not (term and meaning):
        raise typer.BadParameter("write 'TERM = MEANING'", param_hint="--define")
    became = []
    # A SELECT may be refused: nothing is kept before it was tried.
    if select or verify or example:
        if not sql:
            raise ConfigurationError(f"the answer {entry.id} is not one SELECT: give the right one with --select")
        query = _tried(entry, sql, data, store, settings, keep=bool(select or verify))
        became += [f"verified query {query.id[:8]}"] if query.id else []
        if example:
            file = file or kept.examples_file(settings.home)
            kept.keep(file, entry.id, query, split)
            became.append(f"an example in {file}")
    if define:
        with stores.opened(store) as (taught, by):
            explaining.define(taught.glossary, by, term=term, meaning=meaning, source="expert")
        became.append(f"the term {term!r}")
    settle(settings.home, entry.id, ", ".join(became))
    stores.say(f"{entry.id} became {', '.join(became)}")


@feedback_app.command()
def drop(id: Id) -> None:
    """Take an entry out of the queue; what was said stays in the file."""
    settings = common.settings_from()
    from finexpert.answers.feedback import settle

    entry = _found(id, settings)
    settle(settings.home, entry.id, "dropped")
    stores.say(f"{entry.id} is out of the queue")


@feedback_app.command()
def export(file: Annotated[Path, typer.Argument(help="A JSON file.")]) -> None:
    """Write all that was said, also what is settled, to a file."""
    from finexpert.storage.private_files import write_whole

    found = [each.model_dump(mode="json") for each in _queue(common.settings_from())]
    write_whole(file, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    stores.say(f"{len(found)} in {file}")


def _queue(settings: Settings) -> list[Feedback]:
    from finexpert.answers.feedback import queue
    from finexpert.app.state.feedback import of_server

    return queue(settings.home, of_server(settings))


def _found(id: str, settings: Settings) -> Feedback:
    from finexpert.errors import NotFound

    found = [each for each in _queue(settings) if each.id.startswith(id)]
    if len(found) != 1:
        raise NotFound(f"{len(found)} entries are called {id[:80]!r}: `finexpert feedback list --all` shows all")
    return found[0]


def _tried(
    entry: Feedback, sql: str, data: Path | None, store: str | None, settings: Settings, *, keep: bool
) -> VerifiedQuery:
    """The question with its SELECT, tried on the data; kept as a verified query where `keep` says so."""
    import datetime as dt

    from finexpert.knowledge.verifying import Day, Pair, of_pair

    day = Day(settings.as_of or dt.date.today(), settings.as_of is not None)
    with closing(common.open_data(data, settings)) as warehouse, stores.opened(store) as (taught, by):
        query = of_pair(Pair(entry.question, sql), warehouse, taught, day)
        return taught.verified.verify(query, by) if keep else query
