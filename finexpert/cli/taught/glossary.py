"""`finexpert glossary`: the terms of this house and what they mean here.

finexpert glossary define "stress month" "a month in which the spread is below 0.5" --alias "tense month"
finexpert glossary show "stress month"
finexpert glossary export terms.csv
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common
from finexpert.cli.taught import stores
from finexpert.cli.taught.versions import add_search, add_versions
from finexpert.cli.terminal import completing

if TYPE_CHECKING:
    from finexpert.knowledge.glossary import Keyword

glossary_app = typer.Typer(help="Terms of this house and what they mean here.", no_args_is_help=True)

Term = Annotated[str, typer.Argument(help="A term, or an alias.", autocompletion=completing.terms)]
Alias = Annotated[list[str] | None, typer.Option(help="Another name for it; may be given more than once.")]


def _page(keyword: Keyword) -> str:
    """A keyword as lines that people read and that a diff compares."""
    also = [f"also: {', '.join(keyword.aliases)}"] if keyword.aliases else []
    when = stores.day(keyword.taught_at)
    also += [f"a convention, about {', '.join(keyword.about) or 'everything'}"] if keyword.kind == "convention" else []
    also += [f"holds for {keyword.scope}"] if keyword.scope else []
    facts = f"{keyword.status}, version {keyword.version}, from {keyword.source}, by {keyword.taught_by}, {when}"
    return "\n".join([f"# {keyword.term}", "", keyword.meaning, "", *also, facts])


@glossary_app.command("list")
def list_(store: common.Store = None, every: stores.All = False, as_json: common.Json = False) -> None:
    """List the terms."""
    with stores.opened(store) as (taught, _):
        keywords = taught.glossary.keywords(stores.statuses(every))
    if as_json:
        stores.as_json([keyword.model_dump(mode="json") for keyword in keywords])
    elif not keywords:
        stores.say('No term is defined yet. Next: finexpert glossary define "TERM" "what it means here"')
    else:
        rows = [
            (k.term, k.meaning, ", ".join(k.aliases), k.scope, k.status, str(k.version), k.taught_by) for k in keywords
        ]
        stores.table(("term", "meaning", "also", "for", "status", "version", "by"), rows)


@glossary_app.command()
def show(term: Term, store: common.Store = None, as_json: common.Json = False) -> None:
    """Show a term with its meaning."""
    with stores.opened(store) as (taught, _):
        keyword = taught.glossary.find(term)
    if as_json:
        stores.as_json(keyword.model_dump(mode="json"))
    else:
        stores.show_page(_page(keyword))


@glossary_app.command()
def define(
    term: Annotated[str, typer.Argument(help="The term.")],
    meaning: Annotated[str, typer.Argument(help="What it means here.")],
    alias: Alias = None,
    scope: Annotated[str, typer.Option(help="Name of the source that it holds for; everywhere if not given.")] = "",
    store: common.Store = None,
) -> None:
    """Define a term; the meaning that it had stays in its history."""
    values = {"term": term, "meaning": meaning, "aliases": alias or [], "scope": scope}
    with stores.opened(store) as (taught, by):
        stores.say_changed(taught.glossary.define(_keyword(values), by), "defined")


def _keyword(values: dict[str, Any]) -> Keyword:
    from pydantic import ValidationError

    from finexpert.errors import StoreError
    from finexpert.knowledge.glossary import Keyword
    from finexpert.text.texts import sentence

    try:
        return Keyword.model_validate(values)
    except ValidationError as error:
        raise StoreError(f"{str(values['term'])[:200]!r} cannot be kept: {sentence(error)}") from error


def _meaning_as_edited(old: Keyword) -> str:
    """The meaning as somebody leaves it in $EDITOR; the text stays in its file where it cannot be kept."""
    from finexpert.errors import StoreError

    meaning, path = stores.edited(old.meaning + "\n", ".txt")
    try:
        _keyword(old.model_dump(mode="json") | {"meaning": meaning})
    except StoreError as error:
        raise StoreError(f"{error}. Your text is kept in {path}") from error
    path.unlink()
    return meaning


@glossary_app.command()
def edit(
    term: Term,
    meaning: Annotated[str | None, typer.Option(help="The new meaning; without an option $EDITOR opens.")] = None,
    alias: Annotated[
        list[str] | None, typer.Option(help="The new aliases, in the place of all before; '' for none.")
    ] = None,
    rename: Annotated[str | None, typer.Option(help="The new spelling of the term.")] = None,
    store: common.Store = None,
) -> None:
    """Change the meaning, the aliases or the spelling of a term."""
    with stores.opened(store) as (taught, by):
        old = taught.glossary.find(term)
        if meaning is None and alias is None and rename is None:
            meaning = _meaning_as_edited(old)
        aliases = None if alias is None else [name for name in alias if name.strip()]
        given = {"meaning": meaning, "aliases": aliases, "term": rename}
        values = old.model_dump(mode="json") | {key: value for key, value in given.items() if value is not None}
        new = _keyword(values)
        if new == old:
            stores.say("nothing was changed")
            return
        stores.say_changed(taught.glossary.edit(new, by), "kept")


add_versions(glossary_app, Term, "term", lambda taught: taught.glossary, _page)


add_search(
    glossary_app,
    "terms",
    lambda taught: taught.glossary,
    {"term": lambda keyword: keyword.term, "meaning": lambda keyword: keyword.meaning},
    "No term is defined yet",
)


@glossary_app.command()
def export(file: Annotated[Path, typer.Argument(help="A .csv or .jsonl file.")], store: common.Store = None) -> None:
    """Write the terms to a file, for a spreadsheet or a program."""
    from finexpert.knowledge import keyword_files

    with stores.opened(store) as (taught, _):
        keyword_files.export_keywords(taught.glossary, file)
        count = len(taught.glossary.keywords())
    stores.say(f"{count} term{'' if count == 1 else 's'} in {file}")


@glossary_app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A .csv or .jsonl file with terms and meanings.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the meaning of the file for terms that have one.")
    ] = False,
    store: common.Store = None,
) -> None:
    """Define terms from a file; exit code 1 if a line could not be taken."""
    from finexpert.knowledge import keyword_files

    with stores.opened(store) as (taught, by):
        results = keyword_files.import_keywords(taught.glossary, file, by, replace=replace)
    stores.show_imported(results)
