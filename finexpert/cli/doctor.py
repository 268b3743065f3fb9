"""`finexpert doctor`: what was found on this machine, in a line each, and what to do about what was not."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from finexpert import tracking
from finexpert.cli import common
from finexpert.cli.options import Given, takes
from finexpert.warehouse.database_address import public_address

if TYPE_CHECKING:
    from finexpert.settings import Settings
    from finexpert.warehouse.files.files_warehouse import FilesWarehouse
    from finexpert.warehouse.warehouse import Warehouse

MOST_DATED = 20


class Found(NamedTuple):
    """What a check found: in a line, and in full where there is more to say; `status` is what stands before it."""

    brief: str
    full: str = ""
    status: str = "ok"


@takes("data lm api_base store as_json")
def doctor(
    given: Given,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Say all: tables, columns, what the sandbox denies, other boundaries."),
    ] = False,
    ask: Annotated[bool, typer.Option("--ask", help="Ask the model for one word, which may cost a little.")] = False,
) -> None:
    """Show which model, sandbox, data and stores would be used; exit code 1 if a question could not be answered."""
    settings = given.settings()
    from finexpert.errors import FinexpertError

    def tried(check: Callable[[], Found]) -> tuple[bool, Found]:
        try:
            return True, check()
        except FinexpertError as error:
            return False, Found(str(error))

    checks = {
        "model": tried(lambda: _model(settings, ask)),
        "sandbox": tried(_sandbox),
        "data": tried(lambda: _data(given.data, settings)),
        "taught": tried(lambda: _taught(settings)),
        "MLflow": (True, Found(public_address(tracking.address(settings)))),
        "home": (True, Found(str(settings.home))),
    }
    if given.as_json:
        shown = {
            name: {"ok": good, "status": found.status if good else "missing", "found": found.full or found.brief}
            for name, (good, found) in checks.items()
        }
        typer.echo(json.dumps(shown, indent=1))
    else:
        from rich.table import Table
        from rich.text import Text

        table = Table(show_header=False, box=None)
        for name, (good, found) in checks.items():
            text = found.full if verbose and found.full else found.brief
            status = (
                Text(found.status, "green" if found.status == "ok" else "yellow") if good else Text("missing", "red")
            )
            table.add_row(name, status, Text(text))
        common.console().print(table)
    if not all(good for good, _ in checks.values()):
        raise typer.Exit(1)


def _model(settings: Settings, ask: bool) -> Found:
    """The model, which is asked nothing unless somebody says so: a key may be wrong, and an address is only knocked at."""
    from finexpert.errors import ModelUnreachable
    from finexpert.language_models.discovery import answers
    from finexpert.language_models.roles import LanguageModels

    models = LanguageModels.from_settings(settings)
    described = models.describe()
    words, base = common.model_words(described), described.get("api_base")
    if models.replaying:
        return Found(words)
    if base and not answers(base):
        raise ModelUnreachable(f"{words}: nothing answers at {base}: start the server, or name another with --api-base")
    if not ask:
        return Found(f"{words}; `finexpert doctor --ask` asks it for one word", status="not asked")
    models.default.copy(cache=False, num_retries=0)("Answer with the one word: ready")
    return Found(f"{words}; it answered")


def _sandbox() -> Found:
    from finexpert.isolation.rungs import RUNGS, not_covered, problem
    from finexpert.sandbox import Sandbox

    with Sandbox() as sandbox:
        sandbox.warm()
        denied = sandbox.self_test
        tested = ", ".join(f"{name}: {error}" for name, error in denied)
        others = "; ".join(f"{rung}: {problem(rung) or 'works'}" for rung in RUNGS if rung != sandbox.rung)
        covered = "; ".join(not_covered(sandbox.rung))
        return Found(
            f"{sandbox.rung}; each of {len(denied)} attempts to break out was denied",
            f"{sandbox.rung}; self-test: {tested}; not covered: {covered}. The other boundaries: {others}",
        )


def _data(data: Path | None, settings: Settings) -> Found:
    from finexpert.errors import DataError
    from finexpert.warehouse.files.files_warehouse import FilesWarehouse
    from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse

    data = common.data_of(data, settings)
    with closing(common.open_data(data, settings)) as source:
        unread = _unread(source)
        if len(unread) == len(source.tables) and unread:
            raise DataError(
                f"{source.name}: none of its {len(unread)} tables may be read, {unread[0]} for one: ask its owner for the right to SELECT"
            )
        if isinstance(source, FilesWarehouse):
            said = _files(source)
        else:
            tables = ", ".join(source.columns())
            around = f"; {source.boundary}" if isinstance(source, DuckDBWarehouse) else ""
            said = f"{source.name}{f' ({source.label})' if source.label else ''}: {tables}{around}"
        dated = [f"{table.name} by {table.date_column}" for table in source.tables if table.date_column]
        more = f" and {len(dated) - MOST_DATED} more" if len(dated) > MOST_DATED else ""
        day = (
            f"--as-of hides rows of: {', '.join(dated[:MOST_DATED])}{more}"
            if dated
            else "no table has a date: --as-of is refused"
        )
        columns = sum(len(names) for names in source.columns().values())
        brief = (
            f"{source.name}{f' ({source.label})' if source.label else ''}: {len(source.tables)} tables, {columns} columns; "
            f"{f'--as-of knows the dates of {len(dated)}' if dated else day}"
        )
        if unread:
            brief += f"; {len(unread)} may not be read or cannot be: {', '.join(unread[:MOST_DATED])}"
        model = _semantic_model(data, settings)
        return Found(f"{brief}; {model.brief}", f"{said}\n{day}\n{model.full}")


def _unread(source: Warehouse) -> list[str]:
    """The tables that the catalogue lists and that give no row, of the first few: a user may see more than may be read."""
    from sqlglot import exp

    from finexpert.errors import QueryError
    from finexpert.warehouse.profile import from_named

    unread = []
    for table in source.tables[:MOST_DATED]:
        try:
            source.query(exp.select("1").from_(from_named(table.name)).limit(1).sql(source.dialect), seconds=5)
        except QueryError:
            unread.append(table.name)
    return unread


def _semantic_model(data: Path | None, settings: Settings) -> Found:
    from finexpert.warehouse.semantic_model.finding import beside

    place = settings.semantic_model or (beside(data) if data is not None else None)
    if place is not None and place.is_file():
        return Found(f"semantic model: {place.name}", f"semantic model: {place}")
    where = "" if data is None else " --data ..."
    on_server = data is not None and beside(data) is None
    init = f"`finexpert model init{where}`" + (", FINEXPERT_SEMANTIC_MODEL names its file" if on_server else "")
    return Found(
        f"no semantic model ({init})",
        f"no semantic model: {init} writes a first one, for meanings, metrics and published values",
    )


def _files(source: FilesWarehouse) -> str:
    """How files were read: the type of every column, and what was mended or not understood."""
    lines = [f"{source.name}: {source.boundary}", *source.notes]
    for table in source.tables:
        columns = ", ".join(f"{column.name} {column.type}" for column in table.columns)
        lines += [f"{table.name}: {columns}", *(f"  {note}" for note in source.read_notes.get(table.name, ()))]
    return "\n".join(lines)


def _taught(settings: Settings) -> Found:
    """What was taught, and whether a question could look it up; what only teaching would be refused is said and no error."""
    if not settings.memory:
        return Found("not used (FINEXPERT_MEMORY is false)")
    from finexpert.errors import EmbedderMismatch
    from finexpert.knowledge.taught import Taught

    with Taught.from_settings(settings) as taught:
        entries, made_with = taught.memory.entries, taught.memory.entries.made_with()
        if made_with is None:
            return Found(f"{entries.place}: nothing yet")
        name = taught.memory.embedder.name
        counts = f"active processes: {taught.memory.size}, terms: {taught.glossary.size}"
        if made_with == name:
            return Found(f"{entries.place}: {counts}; embedder {name}")
        wrong = (
            f"{entries.place}: {counts}; embedder {made_with}, and the one at hand is {name}: set FINEXPERT_EMBEDDER "
            f"as it was, or `finexpert memory reindex`"
        )
        if taught.empty:
            return Found(wrong)
        raise EmbedderMismatch(wrong)
