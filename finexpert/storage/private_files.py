"""Writing files that may hold confidential numbers: whole or not at all, and readable by their owner only.

write_whole(Path("records/20241122-ab12cd.json"), "{...}")
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from finexpert.storage import foreign_files
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


def append_line(path: Path, line: str) -> None:
    """Write a further line of a file whole or not at all; what an end of the program or a full disk cut off before it is taken away.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = (Path(place) / "said.jsonl").write_text('{"a": 1}\\n{"a"')
    ...     append_line(Path(place) / "said.jsonl", '{"a": 2}')
    ...     (Path(place) / "said.jsonl").read_text()
    '{"a": 1}\\n{"a": 2}\\n'
    """
    make_file(path)
    with open(path, "r+b", buffering=0, opener=foreign_files.regular) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        end = file.read().rfind(b"\n") + 1
        content = f"{line}\n".encode()
        try:
            file.truncate(end)
            if os.pwrite(file.fileno(), content, end) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            os.fsync(file.fileno())
        except OSError:
            file.truncate(end)
            raise


def whole_lines(path: Path) -> list[str]:
    """The lines of a file that were written whole; none where there is no file."""
    content = foreign_files.read_bytes(path) if path.exists() else b""
    return content[: content.rfind(b"\n") + 1].decode().split("\n")[:-1]
