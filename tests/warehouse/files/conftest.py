"""Reads a file as the process that reads files does, without that process: many small files are read here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from finexpert.warehouse.files.found import find
from finexpert.warehouse.files.reading import connect, tables


@dataclass
class Table:
    """A table of a file: the types of its columns, its rows, and what is said of it."""

    types: dict[str, str]
    rows: list[tuple[Any, ...]]
    comment: str
    comments: dict[str, str]
    notes: list[str]

    def column(self, name: str) -> list[Any]:
        place = list(self.types).index(name)
        return [row[place] for row in self.rows]


ReadFile = Callable[..., Table]


@pytest.fixture
def read_file(tmp_path: Path) -> ReadFile:
    """The one table of a file of this name and content, or of what already lies there."""

    def read(name: str = "", content: str | bytes | None = None) -> Table:
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        sources = find(path)
        with connect(sources, "500MB") as connection:
            (table,) = tables(connection, sources)
            relation = connection.sql(table.select)
            types = dict(zip(relation.columns, map(str, relation.types), strict=True))
            rows = connection.execute(table.select).fetchall()
        return Table(types, rows, table.comment, table.comments, table.notes)

    return read
