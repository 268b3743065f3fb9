"""Writing files that may hold confidential numbers: whole or not at all, and readable by their owner only.

write_whole(Path("records/20241122-ab12cd.json"), "{...}")
"""

from __future__ import annotations

import os
from pathlib import Path

from finexpert.storage.whole_files import writing


def make_folder(folder: Path) -> None:
    """Make a folder, and what is missing above it, for its owner only; one that is there keeps its mode.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     make_folder(Path(place) / "home" / "records")
    ...     [oct(path.stat().st_mode & 0o777) for path in sorted(Path(place).rglob("*"))]
    ['0o700', '0o700']
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    # `parents=True` would make the ones above with the usual mode.
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file for its owner only, where there is none."""
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC, 0o600))


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all, also where the machine stops right after.

    It has mode 0600 where it is new, and keeps its mode where it is not.
    """
    # A link is replaced; what it names says nothing of who may read this.
    mode = path.stat().st_mode & 0o777 if path.exists() and not path.is_symlink() else 0o600
    with writing(path, mode) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
