"""A CSV file in an encoding that DuckDB does not read, as rows of texts."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator

import pyarrow as pa

from finexpert.errors import DataError
from finexpert.warehouse.files.csv_shape import Shape
from finexpert.warehouse.files.found import Source
from finexpert.warehouse.files.table_read import BATCH_ROWS


def rows(source: Source, shape: Shape) -> pa.Table:
    """All rows below the header. DataError names the line of a row that has more or fewer fields than the table."""
    width = len(shape.layout.names)
    schema = pa.schema([(f"c{number}", pa.string()) for number in range(width)])
    batches = []
    with source.path.open(encoding=shape.encoding, newline="") as file:
        records = _records(source, csv.reader(file, delimiter=shape.delimiter, strict=True), shape.layout.skip, width)
        while part := list(itertools.islice(records, BATCH_ROWS)):
            columns = [pa.array([field or None for field in column], pa.string()) for column in zip(*part, strict=True)]
            batches.append(pa.record_batch(columns, schema))
    return pa.Table.from_batches(batches, schema)


def _records(source: Source, reader: Iterator[list[str]], skip: int, width: int) -> Iterator[list[str]]:
    for number, record in enumerate(reader):
        if number < skip or not record:
            continue
        if len(record) != width:
            line = getattr(reader, "line_num", number + 1)
            raise DataError(
                f"{source.path}, line {line}: it has {len(record)} fields, and the table {width}. Mend that line, or delete what is no"
                " row of the table"
            )
        yield record
