"""Opening a store: a file, or a PostgreSQL server.

    open_entries("~/house.sqlite", embedder)                  ->  SqliteEntries
    open_entries("postgresql://desk@db/knowledge", embedder)  ->  PostgresEntries

A file that is not there yet is made by the first write, not by opening it.
"""

from __future__ import annotations

from pathlib import Path

from finexpert.embeddings.embedding import Embedder
from finexpert.errors import ConfigurationError
from finexpert.knowledge.entries.entries import EntryStore
from finexpert.knowledge.entries.sqlite import SqliteEntries

SERVERS = ("postgresql://", "postgres://")


def open_entries(place: Path | str, embedder: Embedder) -> EntryStore:
    """The store at a path or an address; ConfigurationError for an address of something else."""
    if isinstance(place, str) and "://" in place:
        if not place.startswith(SERVERS):
            scheme = place.split("://")[0]
            raise ConfigurationError(
                f"a store cannot be kept at {scheme}://...: give the path of a file, or postgresql://user@host/database"
            )
        from finexpert.knowledge.entries.postgres import PostgresEntries

        return PostgresEntries(place, embedder)
    path = Path(place).expanduser()
    if path.is_dir():
        raise ConfigurationError(f"{path} is a folder: name a file in it, such as {path / 'knowledge.sqlite'}")
    return SqliteEntries(path, embedder)
