"""A table that was found in a file: the SELECT that gives it, and what people and models should know of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa

BATCH_ROWS = 1 << 16


@dataclass
class Read:
    """A table of a file; `numbers` are the expressions of its columns of numbers."""

    name: str
    select: str
    path: Path
    comment: str = ""
    comments: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)

    def rows(self, connection: duckdb.DuckDBPyConnection) -> pa.RecordBatchReader:
        """The rows; DataError names the line that cannot be read."""
        return connection.sql(self.select).to_arrow_reader(BATCH_ROWS)
