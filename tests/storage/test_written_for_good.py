"""Files that are written whole are on the disk before they take the place of others."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from finexpert.storage import private_files, whole_files


@pytest.mark.parametrize("write", [private_files.write_whole, whole_files.write_whole])
def test_a_file_is_on_the_disk_before_it_is_there(
    write: Callable[[Path, bytes], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, seen = tmp_path / "record.json", []
    path.write_bytes(b"old")

    def synced(descriptor: int) -> None:
        seen.append((os.fstat(descriptor).st_size, path.read_bytes()))

    monkeypatch.setattr(os, "fsync", synced)
    write(path, b"whole")
    assert (seen, path.read_bytes()) == ([(5, b"old")], b"whole")
