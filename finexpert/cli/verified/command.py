"""`finexpert verified`: questions with the SELECT that a person approved, looked at, tried again, taken back.

finexpert verified list
finexpert verified check
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from finexpert.cli import common
from finexpert.cli.taught import stores

if TYPE_CHECKING:
    from finexpert.knowledge.taught import Taught
    from finexpert.knowledge.verified.query import VerifiedQuery
    from finexpert.settings import Settings
    from finexpert.warehouse.warehouse import Warehouse

verified_app = typer.Typer(help="Questions with the SELECT that a person approved.", no_args_is_help=True)

From = Literal["vanna", "csv", "json"]
Which = Annotated[str, typer.Argument(help="The id of a verified query, its beginning, or the question.")]


@verified_app.command("list")
def list_(store: common.Store = None, every: stores.All = False, as_json: common.Json = False) -> None:
    """List the verified queries: question, data, who verified it and when."""
    with stores.opened(store) as (taught, _):
        queries = taught.verified.items(stores.statuses(every))
    if as_json:
        stores.as_json([query.model_dump(mode="json") for query in queries])
    elif not queries:
        stores.say(
            "Nothing was verified yet. Next: finexpert verify RECORD, with the record that `finexpert ask` prints"
        )
    else:
        rows = [
            (q.id[:8], q.title, _variables(q), q.source.name, q.status, q.taught_by, stores.day(q.taught_at))
            for q in sorted(queries, key=lambda query: query.question)
        ]
        stores.table(("id", "question", "variables", "data", "status", "by", "at"), rows)


def _variables(query: VerifiedQuery) -> str:
    return ", ".join(f"{each.name}={each.value}" for each in query.variables)


@verified_app.command()
def show(query: Which, store: common.Store = None, as_json: common.Json = False) -> None:
    """Show a verified query with all that it needs, and its history."""
    with stores.opened(store) as (taught, _):
        found = taught.verified.find(query)
        versions = taught.verified.history(found.id)
    if as_json:
        history = [stores.facts(entry) for entry, _ in versions]
        stores.as_json({**found.model_dump(mode="json"), "history": history})
        return
    stores.show_page(_page(found))
    for entry, _ in versions:
        stores.say(f"version {entry.version}, {stores.day(entry.at)}, {entry.by}: {entry.action} ({entry.status})")


def _page(query: VerifiedQuery) -> str:
    """A verified query as lines that people read."""
    reads = "; ".join(f"{table}: {', '.join(columns)}" for table, columns in query.tables.items())
    unit = f", in {query.answer_format.unit}" if query.answer_format.unit else ""
    facts = {
        "id": query.id,
        "data": query.source.address or query.source.name,
        "answer": f"{query.answer_format.kind}{unit}",
        "period": query.period or "",
        "variables": _variables(query),
        "reads": reads,
        "metrics": ", ".join(query.metrics),
        "rests on": ", ".join(query.meanings),
        "verified": f"by {query.taught_by}, {stores.day(query.taught_at)}, from record {query.record}, as of {query.as_of}",
    }
    lines = [f"{name}: {value}" for name, value in facts.items() if value]
    return "\n".join([f"# {query.question}", "", "```sql", query.sql, "```", "", *lines])


@verified_app.command()
def activate(query: Which, store: common.Store = None) -> None:
    """Let a draft, or a retired one, answer its question: a person has looked at it."""
    with stores.opened(store) as (taught, by):
        stores.say_changed(taught.verified.activate(query, by), "activated")


@verified_app.command()
def retire(query: Which, store: common.Store = None) -> None:
    """Take a verified query out of use; its history stays."""
    with stores.opened(store) as (taught, by):
        stores.say_changed(taught.verified.retire(query, by), "retired")


@verified_app.command()
def export(
    file: Annotated[Path, typer.Argument(help="A .yaml, .json or .csv file.")], store: common.Store = None
) -> None:
    """Write the verified queries in use to a file: question, SELECT, variables."""
    from finexpert.knowledge.verified.files import export_queries

    with stores.opened(store) as (taught, _):
        queries = taught.verified.items(("active",))
    export_queries(queries, file)
    stores.say(f"{len(queries)} verified quer{'y' if len(queries) == 1 else 'ies'} in {file}")


@verified_app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A .yaml, .json or .csv file of questions with their SELECTs.")],
    data: common.Data = None,
    form: Annotated[
        From | None,
        typer.Option(
            "--from", help="What another tool wrote: vanna's training data, or question and sql as CSV or JSON."
        ),
    ] = None,
    trust: Annotated[bool, typer.Option("--trust", help="Use them at once; else all are drafts.")] = False,
    as_of: common.AsOf = None,
    store: common.Store = None,
) -> None:
    """Try pairs of question and SELECT on the data with all checks, and keep those that pass; exit code 1 if one did not."""
    import datetime as dt

    from finexpert.knowledge.verified.files import rows_of
    from finexpert.knowledge.verifying import Day, import_pairs

    settings = common.settings_from(store=store, as_of=as_of)
    pairs = list(rows_of(file, form))
    with closing(common.open_data(data, settings)) as warehouse, stores.opened(store) as (taught, by):
        day = Day(settings.as_of or dt.date.today(), settings.as_of is not None)
        results = import_pairs(pairs, warehouse, taught, day, by, trust=trust)
    if not trust and any(result.outcome == "added" for result in results):
        stores.say("Drafts answer nothing: look at them, then finexpert verified activate ID, or import with --trust.")
    stores.show_imported(results)


@verified_app.command()
def check(data: common.Data = None, store: common.Store = None, as_json: common.Json = False) -> None:
    """Run every verified query on the data as they are now, and say what changed; exit code 1 if one no longer fits them.

    Without --data each runs on the data that it names, if these are a file; a server has to be named.
    """
    settings = common.settings_from(store=store)
    with stores.opened(store) as (taught, _):
        results = tried(taught, data, settings)
    if as_json:
        stores.as_json(results)
    else:
        show_tried(results)
        stores.say(f"{len(results)} tried, {sum(bool(each['problem']) for each in results)} broke")
    if any(each["problem"] for each in results):
        raise typer.Exit(1)


def tried(taught: Taught, data: Path | None, settings: Settings) -> list[dict[str, str]]:
    """What became of each verified query in use; of other data than those that were named nothing is said."""
    active = taught.verified.items(("active",))
    return [each for query in active if (each := _tried(query, taught, data, settings)) is not None]


def show_tried(results: Sequence[Mapping[str, str]]) -> None:
    for each in results:
        said = f"broke: {each['problem']}" if each["problem"] else f"fits: {each['value']}{each['changed']}"
        stores.say(f"{each['id']}  {each['question']}\n  {said}")


def _tried(query: VerifiedQuery, taught: Taught, data: Path | None, settings: Settings) -> dict[str, str] | None:
    """What became of a verified query; None where it is of other data than those that were named."""
    from finexpert.core.answers import show as shown
    from finexpert.errors import FinexpertError
    from finexpert.knowledge.verifying import result_hash, source_of
    from finexpert.modules.flow.verifying import checked

    about = {"id": query.id[:8], "question": query.question, "value": "", "changed": "", "problem": ""}
    try:
        with _opened(query, data, settings) as warehouse:
            if source_of(warehouse).key == query.source.key:
                problems, value = checked(query, warehouse, taught, settings.as_of)
                said = "" if problems else shown(value, query.answer_format)
                other = query.result and not problems and result_hash(value) != query.result
                changed = f", another result than when it was verified (record {query.record})" if other else ""
                return {**about, "value": said, "changed": changed, "problem": "; ".join(problems)}
    except (FinexpertError, OSError) as error:
        return {**about, "problem": str(error)}
    if data is not None:
        return None
    return {**about, "problem": f"its data, {query.source.address or query.source.name}, are not there any more"}


@contextmanager
def _opened(query: VerifiedQuery, data: Path | None, settings: Settings) -> Iterator[Warehouse]:
    """The data that a verified query is tried on; ConfigurationError for a server that nobody named."""
    from finexpert.errors import ConfigurationError
    from finexpert.trust import is_address

    place = data or (Path(query.source.address) if query.source.address else None)
    if data is None and place is not None and is_address(str(place)):
        raise ConfigurationError(f"it is of the server {place}: say so with --data {place}")
    with closing(common.open_data(place, settings)) as warehouse:
        yield warehouse
