"""The files that an address means, wherever they lie, and a copy of them for as long as they are read.

    with remote("s3://desk/exports/*.parquet", 4 << 30) as found:
        found.states                ->   [("s3://desk/exports/2024.parquet", 1048576, "2024-09-30T18:00:00Z")]
        found.copied(folder)        ->   [Path("folder/desk/exports/2024.parquet")]

What an address may hold beside the place, a signature or a token, stands in nothing that is shown or kept.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

from finexpert.core import progress
from finexpert.errors import DataError

_OTHERS = re.compile(r"(r2|az|azure|abfss?|wasbs?|hf|ftp|hdfs|adl):/", re.IGNORECASE)
State = tuple[str, int, str]


@dataclass(frozen=True)
class RemoteFile:
    """One file: its path below the place, its size (-1 where it is not known), and what changes with it."""

    path: str
    size: int
    state: str


class Remote(ABC):
    """What lies elsewhere. `place` is its address as it may be shown. To be used in a `with`."""

    def __init__(self, place: str, most: int) -> None:
        self.place, self._most = place, most
        self.files: list[RemoteFile] = []

    @abstractmethod
    def parts(self, file: RemoteFile) -> Iterable[bytes]:
        """The bytes of a file, one part after the other; DataError where it cannot be read."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of every connection."""

    @property
    def root(self) -> str:
        """What stands before the paths of the files in their addresses."""
        return self.place.partition("://")[0] + "://"

    @property
    def states(self) -> list[State]:
        return [(f"{self.root}{file.path}", file.size, file.state) for file in self.files]

    def check(self) -> None:
        """Raises DataError for more than is copied."""
        size = sum(max(0, file.size) for file in self.files)
        if size > self._most:
            raise self._too_much(f"means {size >> 20:,} MB")

    def copied(self, folder: Path) -> list[Path]:
        """The files as copies under a folder, in the same order; one that is longer than it was said to be is refused."""
        taken, copies = 0, []
        for file in self.files:
            copy = folder.joinpath(*_safe(file.path))
            copy.parent.mkdir(parents=True, exist_ok=True)
            before = taken
            with copy.open("wb") as written:
                for part in self.parts(file):
                    progress.check()
                    taken += written.write(part)
                    if taken > self._most:
                        raise self._too_much("holds more")
            if file.size >= 0 and taken - before != file.size:
                raise DataError(f"{self.root}{file.path} changed while it was copied: ask again")
            copies.append(copy)
        return copies

    def _too_much(self, what: str) -> DataError:
        return DataError(
            f"{self.place} {what}, and at most {self._most >> 20:,} MB are copied (FINEXPERT_REMOTE_MB): name fewer files with a pattern, or ask an"
            " engine that reads them where they lie (docs/engines.md)"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def check_known(data: Path | str) -> None:
    """Raises DataError for files in a store that is not read."""
    if other := _OTHERS.match(str(data)):
        # The rest of the address may hold a key.
        raise DataError(
            f"files at {other[1]}:// are not read: s3://, gs:// and https:// are. Copy the file and name its path, or ask an engine that reads it"
            " where it lies (docs/engines.md)"
        )


def _safe(path: str) -> tuple[str, ...]:
    """The parts of a path that leads nowhere else."""
    parts = PurePosixPath(path).parts
    if not parts or any(part in ("..", "/", "") or "\0" in part or "\\" in part for part in parts):
        raise DataError(f"the name {path[:80]!r} is none of a file")
    return parts
