"""Opening several sources at once.

    several, opened = open_several(["fred.duckdb", Library.open("filings")], settings)

What was given as a path is closed with the session; what was given open stays open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from finexpert.answers.sources.sources import Source, Sources
from finexpert.errors import ConfigurationError
from finexpert.filings.library.library import Library
from finexpert.filings.library.store import FILE
from finexpert.filings.page.filing import Filing
from finexpert.settings import Settings
from finexpert.warehouse.opening import is_warehouse, open_data


def open_several(given: Sequence[Any] | Mapping[str, Any], settings: Settings) -> tuple[Source | Sources, list[Source]]:
    """The sources of a list or a dict by names, and those that were opened here; of one source, that source itself.

    A path with a library in it is the library; any other is data. Raises ConfigurationError for an empty list, DataError and
    LibraryError for what cannot be opened: then nothing stays open.
    """
    if not given:
        raise ConfigurationError("no source was given: give a warehouse, a library, or a list of them")
    opened: list[Source] = []
    try:
        if isinstance(given, Mapping):
            named = {str(name): _opened(source, settings, opened) for name, source in given.items()}
            return (next(iter(named.values())) if len(named) == 1 else Sources.of(named)), opened
        listed = [_opened(source, settings, opened) for source in given]
        return (listed[0] if len(listed) == 1 else Sources.of(listed)), opened
    except BaseException:
        for source in opened:
            source.close()
        raise


def is_library(place: object) -> bool:
    """Whether a path is the folder of a library."""
    return isinstance(place, str | Path) and (Path(place) / FILE).is_file()


def _opened(source: Any, settings: Settings, opened: list[Source]) -> Any:
    if isinstance(source, Filing | Library) or is_warehouse(source):
        return source
    made: Source = Library.open(source) if is_library(source) else open_data(source, settings=settings)
    opened.append(made)
    return made
