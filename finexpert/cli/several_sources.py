"""The sources of a question that may be asked of several: options given more than once, or `sources` of finexpert.toml.

finexpert ask --data fred.duckdb --data trades.csv --library filings/ "..."
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finexpert.cli import common

if TYPE_CHECKING:
    from finexpert.answers.records import Record
    from finexpert.answers.replaying import Replay
    from finexpert.answers.sources.sources import Sources
    from finexpert.filings.library.library import Library
    from finexpert.filings.page.filing import Filing
    from finexpert.settings import Settings
    from finexpert.warehouse.warehouse import Warehouse

Data = Annotated[
    list[Path] | None,
    typer.Option(
        "--data",
        help="A DuckDB or SQLite file; a CSV, Parquet, Excel or JSON file, a folder or 'pattern*' of them; or a postgresql+psycopg:// or "
        "mysql+pymysql:// address; may be given again. FINEXPERT_DATA, or what `finexpert data fred` built, if not given.",
    ),
]
Libraries = Annotated[
    list[Path] | None,
    typer.Option(
        "--library",
        help="Folder of a library of filings, see `finexpert library`; may be given again, and beside --data. Or FINEXPERT_LIBRARY.",
    ),
]


def open_sources(
    data: Sequence[Path] | None,
    filing: Path | None,
    id: str | None,
    settings: Settings,
    library: Sequence[Path] | None,
) -> Warehouse | Filing | Library | Sources:
    """What a question is asked of: all that the options name, else `sources` of the settings, else the one source of the settings."""
    tables, filings = list(data or ()), list(library or ())
    if filing is not None and (tables or filings):
        raise typer.BadParameter(
            f"--filing is one page, which is asked alone: put it into a library with `finexpert library add {filing}`, and "
            "give --library beside --data"
        )
    if filing is None and not tables and not filings and settings.sources:
        return _together(list(settings.sources), settings)
    if len(tables) + len(filings) <= 1:
        return common.open_source(next(iter(tables), None), filing, id, settings, next(iter(filings), None))
    return _together([*(common.open_data(place, settings) for place in tables), *map(_library, filings)], settings)


def _together(given: list[Any], settings: Settings) -> Warehouse | Library | Sources:
    from finexpert.answers.sources.opening import open_several

    return open_several(given, settings)[0]


def _library(folder: Path) -> Library:
    from finexpert.filings.library.library import Library

    return Library.open(folder)


def replayed(kept: Record, file: Path, settings: Settings, moved: bool) -> Replay:
    """The answer of a record over several sources, had again from the sources that its parts name."""
    from finexpert.answers.sources import parts
    from finexpert.cli.kept_source import source_of
    from finexpert.errors import RecordError
    from finexpert.sandbox import Limits, Sandbox

    if moved:
        raise RecordError(
            f"the record {kept.id} is of several sources, {kept.source.name}: leave --data, --filing and --library out"
        )
    found = {part.source: part for part in parts.parts_of(kept)}
    sources: dict[str, Any] = {name: source_of(part.record, file, settings) for name, part in found.items()}
    with Sandbox(Limits(wall_seconds=settings.script_seconds)) as sandbox:
        try:
            return parts.replay(kept, sources, sandbox)
        finally:
            for source in sources.values():
                source.close()
