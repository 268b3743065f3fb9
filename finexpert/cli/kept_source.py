"""The source of a record: the one that a command was given, else the one that the record names.

A record that somebody sent may name any server. So an address on the network is taken from the records in the home alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from finexpert.cli import common
from finexpert.errors import DataError, RecordError
from finexpert.trust import is_address

if TYPE_CHECKING:
    from finexpert.answers.records import Record
    from finexpert.filings.library.library import Library
    from finexpert.filings.page.filing import Filing
    from finexpert.settings import Settings
    from finexpert.warehouse.warehouse import Warehouse

_OPTIONS = {"filing": "--filing FILE", "library": "--library FOLDER"}


def source_of(
    kept: Record,
    file: Path,
    settings: Settings,
    data: Path | None = None,
    filing: Path | None = None,
    id: str | None = None,
    library: Path | None = None,
) -> Warehouse | Filing | Library:
    """Open the source of the record in `file`; RecordError says which option is missing where nothing tells it."""
    page = id or (kept.source.name if kept.source.dialect == "filing" else None)
    if not (data is None and filing is None and library is None):
        return common.open_source(data, filing, page if filing is not None else id, settings, library)
    option = _OPTIONS.get(kept.source.dialect, "--data FILE, FOLDER or ADDRESS")
    address = kept.source.address
    if address is None and kept.source.dialect in _OPTIONS:
        raise RecordError(
            f"the record {kept.id} does not say where the {kept.source.dialect} {kept.source.name} lies: give {option}"
        )
    if address is None:
        return common.open_data(None, settings)
    if is_address(address) and not file.resolve().is_relative_to(settings.home.resolve()):
        raise RecordError(
            f"the record {file} names the server {address}, and does not lie in {settings.home}: if that is where it is to be "
            f"computed, say so with --data {address}"
        )
    try:
        if kept.source.dialect == "library":
            return common.open_source(None, None, None, settings, Path(address))
        if kept.source.dialect == "filing":
            return common.open_source(None, Path(address), page, settings)
        return common.open_data(Path(address), settings)
    except (DataError, OSError) as error:
        password = "; a record keeps no password" if is_address(address) else ""
        raise RecordError(f"the record {kept.id} is of {address}: {error}{password}. Give {option}") from error
