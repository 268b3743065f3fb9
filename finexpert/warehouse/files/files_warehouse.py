"""Files as a warehouse: read once into a DuckDB file of the home's cache, and again only when one of them has changed.

    with open_files("exports/", settings=settings) as warehouse:
        warehouse.read_notes     ->   {"trades": ["2 lines above the table were left out"]}

The cache is for its owner only. It is named after the files' paths, sizes and times; a newer state takes the place of the older one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from finexpert.errors import DataError
from finexpert.settings import Settings
from finexpert.storage.private_files import make_folder
from finexpert.storage.whole_files import building
from finexpert.warehouse.database_address import is_remote
from finexpert.warehouse.files.found import Source, empty_files, find, sources_of
from finexpert.warehouse.files.remote.opening import remote
from finexpert.warehouse.isolated.file_views import reasons
from finexpert.warehouse.isolated.warehouse_file import METADATA_TABLE
from finexpert.warehouse.local.building import UNWRITABLE
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
from finexpert.warehouse.local.options import options
from finexpert.warehouse.quoting import literal, quote

# Of the way in which files are read: a cache of another one is read anew.
VERSION = 4


class FilesWarehouse(DuckDBWarehouse):
    """Tables that were read from files; `read_notes` says by table what was mended, left out or not understood."""

    def __init__(self, path: Path, name: str, state: str | None, **given: Any) -> None:
        super().__init__(path, **given)
        self.name = name
        self._state = state

    def snapshot(self) -> str | None:
        """The sizes and times of the files when they were read."""
        return self._state or super().snapshot()


def open_files(data: Path | str, *, settings: Settings | None = None) -> FilesWarehouse:
    """The warehouse of a file, a folder or a pattern, here or in a store. DataError names a file that cannot be read, and the line."""
    settings = settings or Settings()
    if is_remote(data):
        return _open_remote(data, settings)
    sources = find(data)
    states = [state for source in sources for state in source.states]
    kept = _Kept(
        settings.home / "cache", [(str(path), source.table) for source in sources for path in source.paths], states
    )
    if not kept.path.is_file():
        write(kept.path, sources, settings)
        kept.drop_older()
    name = Path(data).name if len(sources) > 1 else sources[0].path.stem
    warehouse = FilesWarehouse(kept.path, name, kept.told, **options(settings, Path(data)))
    warehouse.address = str(Path(data).absolute())
    warehouse.notes = [*warehouse.notes, *reasons(dict.fromkeys(empty_files(data), "nothing is written in the file"))]
    return warehouse


def _open_remote(data: Path | str, settings: Settings) -> FilesWarehouse:
    """Files that lie elsewhere: copied for as long as they are read, and only where they are not in the cache as they are now."""
    cache = settings.home / "cache"
    make_folder(cache)
    with remote(data, settings.remote_mb << 20) as found, TemporaryDirectory(prefix="remote-", dir=cache) as folder:
        states, copies = found.states, list[Path]()
        if not all(state for _, _, state in states):
            # The server says nothing that tells one state from the next: the bytes do.
            copies = found.copied(Path(folder))
            states = [(where, size, _digest(copy)) for (where, size, _), copy in zip(states, copies, strict=True)]
        kept = _Kept(cache, [where for where, _, _ in states], states)
        if not kept.path.is_file():
            try:
                write(kept.path, sources_of(copies or found.copied(Path(folder))), settings)
            except DataError as error:
                raise DataError(str(error).replace(f"{Path(folder).resolve()}/", found.root)) from None
            kept.drop_older()
    name = PurePosixPath(found.files[0].path if len(found.files) == 1 else found.place.rstrip("/")).stem
    warehouse = FilesWarehouse(kept.path, name, kept.told, **options(settings, None))
    warehouse.address = found.place
    return warehouse


@dataclass(frozen=True)
class _Kept:
    """The file of the cache for these places, in this state of their files."""

    cache: Path
    places: Sequence[Any]
    states: Sequence[tuple[str, int, int | str]]

    @property
    def path(self) -> Path:
        return self.cache / f"{self._named}-{self._state}.duckdb"

    @property
    def _named(self) -> str:
        return f"files-{hashlib.sha256(repr(self.places).encode()).hexdigest()[:16]}"

    @property
    def _state(self) -> str:
        return hashlib.sha256(repr((VERSION, self.states)).encode()).hexdigest()[:16]

    @property
    def told(self) -> str:
        """The first of the states, for people."""
        told = "; ".join(f"{PurePosixPath(where).name} {size} bytes {time}" for where, size, time in self.states[:20])
        more = f"; and {len(self.states) - 20} more" if len(self.states) > 20 else ""
        return f"{told}{more}; {self._state}"

    def drop_older(self) -> None:
        for older in self.cache.glob(f"{self._named}-*.duckdb"):
            if older != self.path:
                older.unlink(missing_ok=True)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(path: Path, sources: Sequence[Source], settings: Settings) -> None:
    """Read the files into a DuckDB file, whole or not at all."""
    from finexpert.warehouse.files.process import Part, read

    def parts() -> Iterable[Part]:
        return read(sources, memory_mb=settings.sql_memory_mb)

    write_parts(path, parts())


def write_parts(path: Path, parts: Iterable[Any]) -> None:
    """A DuckDB file with the tables of these parts."""
    make_folder(path.parent)
    notes: dict[str, Sequence[str]] = {}
    try:
        with building(path) as unfinished, duckdb.connect(str(unfinished)) as connection:
            unfinished.chmod(0o600)
            connection.execute("SET python_enable_replacements = false")
            for part in parts:
                _write_part(connection, part, first=part.table not in notes)
                notes[part.table] = part.notes
            connection.execute(f"CREATE TABLE {METADATA_TABLE} (key VARCHAR, value VARCHAR)")
            content = json.dumps({"label": None, "tables": {}, "notes": notes}, sort_keys=True)
            connection.execute(f"INSERT INTO {METADATA_TABLE} VALUES ('metadata', ?)", [content])
    except UNWRITABLE as error:
        raise DataError(f"{path} cannot be written: {error}. Name another home with FINEXPERT_HOME") from error


def _write_part(connection: duckdb.DuckDBPyConnection, part: Any, *, first: bool) -> None:
    connection.register("incoming_rows", part.rows)
    table = quote(part.table)
    if first:
        connection.execute(f"CREATE TABLE {table} AS SELECT * FROM incoming_rows")
        if part.comment:
            connection.execute(f"COMMENT ON TABLE {table} IS {literal(part.comment)}")
        for column, comment in part.comments.items():
            connection.execute(f"COMMENT ON COLUMN {table}.{quote(column)} IS {literal(comment)}")
    else:
        connection.execute(f"INSERT INTO {table} SELECT * FROM incoming_rows")
    connection.unregister("incoming_rows")
