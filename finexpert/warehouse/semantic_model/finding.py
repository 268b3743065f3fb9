"""Where the semantic model of a warehouse lies: the file that is named, else the one beside the data."""

from __future__ import annotations

from pathlib import Path

from finexpert.errors import ConfigurationError
from finexpert.warehouse.database_address import address_in, is_remote
from finexpert.warehouse.semantic_model.document import SemanticModel, load

SUFFIX = ".model.yaml"


def beside(data: Path) -> Path | None:
    """The place of a model beside a file, a folder or a database in a file; None for the address of a server or of files elsewhere.

    >>> beside(Path("desk/trades.duckdb")).as_posix(), beside(Path("sqlite:///desk/trades.db")).as_posix()
    ('desk/trades.model.yaml', 'desk/trades.model.yaml')
    >>> beside(Path("postgresql+psycopg://desk@db/markets"))
    """
    if is_remote(data):
        return None
    if address := address_in(data):
        if not address.startswith("sqlite"):
            return None
        data = Path(address.partition(":///")[2])
    return data.parent / f"{data.stem if data.suffix else data.name}{SUFFIX}"


def find(named: Path | None, data: Path | None) -> SemanticModel | None:
    """The model that applies, or None. A file that is named has to be there."""
    if named is not None:
        if not named.is_file():
            raise ConfigurationError(
                f"the semantic model {named} is not there: `finexpert model init --file {named}` writes a first one"
            )
        return load(named)
    place = beside(data) if data is not None else None
    return load(place) if place is not None and place.is_file() else None
