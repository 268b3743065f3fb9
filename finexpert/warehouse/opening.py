"""Opening what holds the tables, whatever it is.

open_data("trades.duckdb")               a DuckDB file, or one of SQLite
open_data("exports/"), ("*.csv")         CSV, Parquet, Excel and JSON files, also at s3://, gs:// and https://
open_data("postgresql+psycopg://...")    a database
open_data({"trades": df})                frames of pandas, polars or Arrow
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

from finexpert.errors import DataError
from finexpert.settings import Settings
from finexpert.storage import foreign_files
from finexpert.warehouse.database_address import address_in, is_remote
from finexpert.warehouse.files.found import is_files, missing
from finexpert.warehouse.files.remote.files import check_known
from finexpert.warehouse.local.duckdb_warehouse import DuckDBWarehouse
from finexpert.warehouse.local.options import options
from finexpert.warehouse.semantic_model.finding import find

if TYPE_CHECKING:
    from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse
    from finexpert.warehouse.warehouse import Warehouse


class Tabular(Protocol):
    """A frame of any library that gives its rows as Arrow: pandas, polars, pyarrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def is_warehouse(source: object) -> TypeGuard[Warehouse]:
    """Whether it can be asked as it is."""
    return hasattr(source, "schema_card") and hasattr(source, "query")


def open_data(data: Any, *, settings: Settings | None = None) -> DuckDBWarehouse | SQLWarehouse:
    """The warehouse of a path, a pattern, an address, a frame, or a dict of frames by the names of their tables.

    DataError says what would be right, and where a file cannot be read.
    """
    settings = settings or Settings()
    if not isinstance(data, str | Path):
        from finexpert.warehouse.files.frames import is_frame, open_frames

        if is_frame(data):
            return open_frames(data, settings=settings)
        raise DataError(
            f"a {type(data).__name__} is no source of data: give a path, an address, a frame of pandas, polars or Arrow, or a"
            " dict of frames by the names of their tables"
        )
    check_known(data)
    if is_remote(data):
        from finexpert.warehouse.files.files_warehouse import open_files

        return open_files(data, settings=settings)
    if address := address_in(data):
        # Loading SQLAlchemy takes a tenth of a second, which a file does not need.
        from finexpert.warehouse.engines.sql_warehouse import SQLWarehouse

        return SQLWarehouse(
            address,
            row_cap=settings.row_cap,
            seconds=settings.sql_seconds,
            cache=settings.home / "cache" / "profiles",
            model=find(settings.semantic_model, Path(data)),
            memory_mb=settings.sql_memory_mb,
        )
    if is_files(data):
        from finexpert.warehouse.files.files_warehouse import open_files

        return open_files(data, settings=settings)
    if _is_sqlite(Path(data)):
        return open_data(f"sqlite:///{Path(data).absolute()}", settings=settings)
    return open_duckdb(Path(data), settings)


def _is_sqlite(path: Path) -> bool:
    if not path.exists():
        return False
    try:
        with open(path, "rb", opener=foreign_files.regular) as file:
            return file.read(15) == b"SQLite format 3"
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error


def open_duckdb(path: Path, settings: Settings) -> DuckDBWarehouse:
    """The warehouse of a DuckDB file."""
    if not path.exists():
        raise DataError(missing(path))
    return DuckDBWarehouse(path, **options(settings, path))
