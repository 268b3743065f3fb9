"""`finexpert model`: the semantic model of a database, a file that people review.

finexpert model init --data trades.duckdb             writes trades.model.yaml beside the data, with nothing published
finexpert model import models/ --data trades.duckdb   the same, with what dbt, Cube or LookML says of the tables
finexpert model publish trades.status --data trades.duckdb
finexpert model check --data trades.duckdb
finexpert model show --data trades.duckdb
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from finexpert.settings import Settings
    from finexpert.warehouse.semantic_model.document import SemanticModel
    from finexpert.warehouse.warehouse import Warehouse

model_app = typer.Typer(
    help="The semantic model of a database: meanings, metrics, published values.", no_args_is_help=True
)

File = Annotated[
    Path | None,
    typer.Option(
        "--file", help="The model's file; FINEXPERT_SEMANTIC_MODEL, or the one beside the data, if not given."
    ),
]
MOST_VALUES = 50


@model_app.command()
def init(data: common.Data = None, file: File = None) -> None:
    """Write a first model from the catalogue: every table, column and key, and no value."""
    from finexpert.errors import ConfigurationError
    from finexpert.warehouse.semantic_model.document import save
    from finexpert.warehouse.semantic_model.drafting import draft
    from finexpert.warehouse.semantic_model.publishing import WITH_DOMAIN, code_columns, house_rules, published_as

    settings = common.settings_from()
    target = _place(data, file, settings)
    if target.exists():
        raise ConfigurationError(f"{target} is there already: edit it, or name another file with --file")
    with closing(_opened(data, _without_model(settings))) as warehouse:
        model = draft(warehouse.tables, warehouse.name)
        rules = house_rules(warehouse.tables)
        codes = [table for table in warehouse.tables if table not in rules and len(code_columns(table)) == WITH_DOMAIN]
    try:
        save(model, target)
    except OSError as error:
        raise ConfigurationError(
            f"{target} cannot be written ({error.strerror}): name a file elsewhere with --file, and FINEXPERT_SEMANTIC_MODEL for questions"
        ) from error
    out = common.console()
    out.print(f"wrote {target}: {len(model.datasets)} tables, {len(model.relationships)} relationships", markup=False)
    out.print("Next: write what columns mean, publish values that a model may see (`finexpert model publish TABLE.COLUMN`), "
              "then `finexpert model check`")  # fmt: skip
    if rules:
        names = [table.name for table in rules]
        out.print(
            f"{', '.join(names)} {'seems' if len(names) == 1 else 'seem'} to hold rules or words of the house, which no model sees: look at"
            f" {'its' if len(names) == 1 else 'their'} rows, then `finexpert model publish {' '.join(names)}`",
            markup=False,
        )
    for table in codes:
        out.print(
            f"{table.name} seems to say what codes mean, which no model sees: `finexpert model publish {published_as(table)}` lets models read it",
            markup=False,
        )
    _say_how_found(target, data, settings)


@model_app.command("import")
def import_(
    source: Annotated[
        Path, typer.Argument(help="A YAML file of dbt or Cube, a file of LookML, or the folder of them.")
    ],
    data: common.Data = None,
    file: File = None,
) -> None:
    """Write a first model from the catalogue and from what dbt, Cube or LookML says: descriptions, keys, relationships, metrics, and no value.

    Every key and every metric is tried on the data. What cannot be taken over is listed with its file and the reason.
    """
    from finexpert.errors import ConfigurationError
    from finexpert.warehouse.semantic_model.document import save
    from finexpert.warehouse.semantic_model.drafting import draft
    from finexpert.warehouse.semantic_model.importing.importing import importing

    settings = common.settings_from()
    target = _place(data, file, settings)
    if target.exists():
        raise ConfigurationError(f"{target} is there already: name another file with --file")
    with closing(_opened(data, _without_model(settings))) as warehouse:
        taken = importing(draft(warehouse.tables, warehouse.name), source, warehouse)
    save(taken.model, target)
    out = common.console()
    out.print(f"wrote {target}: {len(taken.model.datasets)} tables, {len(taken.model.relationships)} relationships, "
              f"{len(taken.model.metrics)} metrics", markup=False)  # fmt: skip
    for one in taken.left_out:
        out.print(f"- not taken over: {one}", markup=False)
    for note in taken.notes:
        out.print(f"- note: {note}", markup=False)
    _say_how_found(target, data, settings)


@model_app.command()
def check(data: common.Data = None, file: File = None) -> None:
    """Try the model on the data: its names, every metric, every verified query. Exit code 1 if something does not fit."""
    from finexpert.errors import FinexpertError
    from finexpert.warehouse.semantic_model.checking import check as checked

    settings = common.settings_from()
    target = _existing(data, file, settings)
    try:
        with closing(_opened(data, settings, target)) as warehouse:
            problems, tried = checked(_loaded(target), warehouse)
    except FinexpertError as error:
        problems, tried = [str(error)], 0
    out = common.console()
    for problem in problems:
        out.print(f"- {problem}", markup=False, style="red")
    out.print(f"{target}: {tried} expressions and queries tried, {len(problems)} problems", markup=False)
    if problems:
        raise typer.Exit(1)


@model_app.command()
def show(data: common.Data = None, file: File = None) -> None:
    """Print what a prompt holds of the data."""
    settings = common.settings_from()
    with closing(_opened(data, settings, file)) as warehouse:
        common.echo(warehouse.schema_card())


@model_app.command()
def publish(
    columns: Annotated[list[str], typer.Argument(help="Columns, as table.column; small tables, by name.")],
    data: common.Data = None,
    file: File = None,
    hide: Annotated[bool, typer.Option("--hide", help="Take the values out again.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Also values that tell rows apart, as ids and names do.")] = False,
) -> None:
    """Put a column's values into the model, or all rows of a small table of rules or words, where a language model may see them."""
    from finexpert.errors import ConfigurationError
    from finexpert.warehouse.schema import find_table
    from finexpert.warehouse.semantic_model.document import save
    from finexpert.warehouse.semantic_model.publishing import tells_rows_apart, told_of

    settings = common.settings_from()
    target = _existing(data, file, settings)
    model = _loaded(target)
    out = common.console()
    with closing(_opened(data, settings, target)) as warehouse:
        for column in columns:
            is_table = find_table(warehouse.tables, column) is not None
            if not (is_table or hide or yes) and tells_rows_apart(warehouse, column):
                raise ConfigurationError(
                    f"{column} holds another value in nearly every row, as ids and names of people do: if models may see them, say so with --yes; "
                    "nothing was published"
                )
            model, told, more = told_of(model, warehouse, column, MOST_VALUES, not hide)
            out.print(f"{column}: {'hidden again' if hide else _said(told, more, is_table)}", markup=False)
    save(model, target)


def _said(told: Sequence[str], more: bool, are_rows: bool) -> str:
    """What models see of a column or a small table.

    >>> _said(["DONE", "OPEN"], False, False)
    '2 values, which models see from now on: DONE, OPEN'
    """
    if are_rows:
        return "\n  ".join([f"{len(told)} rows, which models see from now on:", *told])
    shown = ", ".join(told)
    if not more:
        return f"{len(told)} values, which models see from now on: {shown}"
    return (
        f"its {MOST_VALUES} most frequent values of more, which models see from now on: {shown}. A column with so many "
        "may hold names or ids: --hide takes them out again"
    )


def _place(data: Path | None, file: Path | None, settings: Settings) -> Path:
    from finexpert.errors import ConfigurationError
    from finexpert.warehouse.semantic_model.finding import beside

    if named := file or settings.semantic_model:
        return named
    data = common.data_of(data, settings)
    if data is None:
        raise ConfigurationError(
            "say what the model is of: --data FILE, FOLDER or ADDRESS; or where it lies: --file NAME.model.yaml"
        )
    if place := beside(data):
        return place
    raise ConfigurationError(
        "say where the model of a server lies: --file NAME.model.yaml, or FINEXPERT_SEMANTIC_MODEL"
    )


def _without_model(settings: Settings) -> Settings:
    """The settings for opening data whose model is about to be written, where they name it already."""
    return settings.model_copy(update={"semantic_model": None})


def _say_how_found(target: Path, data: Path | None, settings: Settings) -> None:
    """What questions need to find a model that is not beside its data, as one of a server's."""
    from finexpert.warehouse.semantic_model.finding import beside

    data = common.data_of(data, settings)
    if target != settings.semantic_model and (data is None or target != beside(data)):
        common.console().print(f"Questions use it where FINEXPERT_SEMANTIC_MODEL={target} is set", markup=False)


def _existing(data: Path | None, file: Path | None, settings: Settings) -> Path:
    from finexpert.errors import ConfigurationError

    target = _place(data, file, settings)
    if not target.is_file():
        raise ConfigurationError(f"there is no semantic model {target}: `finexpert model init` writes a first one")
    return target


def _loaded(path: Path) -> SemanticModel:
    from finexpert.warehouse.semantic_model.document import load

    return load(path)


def _opened(data: Path | None, settings: Settings, model: Path | None = None) -> Warehouse:
    return common.open_data(data, settings.model_copy(update={"semantic_model": model} if model else {}))
