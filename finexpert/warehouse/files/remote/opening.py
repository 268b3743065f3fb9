"""Opening an address of files: which kind of place it is."""

from __future__ import annotations

from pathlib import Path

from finexpert.errors import DataError
from finexpert.warehouse.database_address import OF_FILES
from finexpert.warehouse.files.remote.files import Remote


def remote(data: Path | str, most: int) -> Remote:
    """The files of an address, at most so many bytes of them; DataError says what would be right."""
    match = OF_FILES.match(str(data))
    if match is None:
        raise DataError(
            "this is no address of files: write s3://bucket/path, gs://bucket/path or https://host/file.csv"
        )
    scheme, rest = match[1].lower(), match[2]
    found = _opened(scheme, rest, most)
    try:
        found.check()
    except DataError:
        found.close()
        raise
    return found


def _opened(scheme: str, rest: str, most: int) -> Remote:
    # Loading the libraries of the stores takes a tenth of a second, which a file on this machine does not need.
    if scheme.startswith("http"):
        from finexpert.warehouse.files.remote.web import WebFile

        return WebFile(f"{scheme}://{rest}", most)
    from finexpert.warehouse.files.remote.stores import StoreFiles

    return StoreFiles("gs" if scheme.startswith("g") else "s3", rest, most)
