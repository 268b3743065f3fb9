"""Files that are written whole or not at all, for everybody to read: what was fetched from a public server.

write_whole(Path("fred/GDP.csv"), b"DATE,VALUE")
with building(Path("trades.duckdb")) as unfinished: duckdb.connect(unfinished)

What may be confidential is written by `private_files`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def writing(path: Path, mode: int = 0o644) -> Iterator[BinaryIO]:
    """A file under another name, which takes the place of `path` when the block ends; nothing is left when it fails.

    Its name begins with a dot and ends with `.tmp`: nobody takes what a killed process left for a file. Raises OSError.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".tmp", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def building(path: Path) -> Iterator[Path]:
    """The name of a file that a library writes, in a new folder of its own, which takes the place of `path` when the block ends.

    Nobody can have put a link under the name, and what is written beside it goes with it. Raises OSError.
    """
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent))
    try:
        yield folder / "unfinished"
        (folder / "unfinished").replace(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old one or the whole new one, also after an interrupt."""
    with writing(path) as file:
        file.write(content)
