"""Files whose columns have types of their own: Parquet and JSON.

Their types are kept. Of several Parquet files of one table, a column has the type that holds the numbers of all; other differences are
refused. A text of JSON is read as a date where a CSV file's would be, and so is a column that mixes texts and numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import duckdb

from finexpert.errors import DataError
from finexpert.warehouse.files import csv_shape
from finexpert.warehouse.files.found import Source
from finexpert.warehouse.files.number_forms import NUMBER_CELL
from finexpert.warehouse.files.table_read import Read
from finexpert.warehouse.files.texts import Texts, typed_columns
from finexpert.warehouse.quoting import literal, quote

# Types that a frame holds as they are; the rest is written as text, and what is nested as JSON.
_KEPT = ("boolean", "tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "float", "double",
         "decimal", "varchar", "date")  # fmt: skip
_NESTED = ("struct", "list", "map", "array", "union")
_NUMBERS = {"tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger", "ubigint", "uhugeint",
            "float", "double", "decimal"}  # fmt: skip
_TIMES = {"date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"}
# A column of which every value is missing.
_EMPTY = "null"
_UTC = "timestamp with time zone"
_TEXT_OF_JSON = (
    f"CASE json_type({{0}}) WHEN 'VARCHAR' THEN {{0}} ->> '$' WHEN 'DOUBLE' THEN '{NUMBER_CELL}' || CAST({{0}} AS VARCHAR)"
    " ELSE CAST({0} AS VARCHAR) END"
)


def parquet(connection: duckdb.DuckDBPyConnection, source: Source) -> Read:
    """The table of a Parquet file, or of several. DataError names a file whose types are none of the others'."""
    read = _table(source)
    if not source.parts:
        return _selected(connection, source, f"read_parquet({listed(source.paths)})", read)
    kinds = {path: _kinds(connection, path) for path in source.paths}
    first = dict(kinds[source.path])
    for path, found in kinds.items():
        for name, kind in found.items():
            if name in first and not _alike(first[name], kind):
                raise DataError(
                    f'{path}: the column "{name}" is {kind.upper()}, and {first[name].upper()} in {source.path.name}. Write the files of'
                    " one table with one type a column"
                )
        first |= {name: kind for name, kind in found.items() if first.get(name, _EMPTY) == _EMPTY}
    for name in first:
        if lacking := sum(name not in found for found in kinds.values()):
            read.comments[name] = f"not in {lacking} of {len(kinds)} files, and missing in their rows"
            read.notes.append(f'column "{name}": {read.comments[name]}')
    return _selected(connection, source, f"read_parquet({listed(source.paths)}, union_by_name = true)", read)


def _kinds(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, str]:
    relation = connection.sql(f"SELECT * FROM read_parquet({listed([path])})")
    return {name.lower(): str(kind.id) for name, kind in zip(relation.columns, relation.types, strict=True)}


def _alike(one: str, other: str) -> bool:
    """Whether a type holds the values of both as they are."""
    return one == other or _EMPTY in (one, other) or any({one, other} <= both for both in (_NUMBERS, _TIMES))


def json(connection: duckdb.DuckDBPyConnection, source: Source) -> Read:
    """The table of a list of records, or of one record a line."""
    with source.path.open("rb") as file:
        first = file.read(3)
    if not first:
        raise DataError(f"{source.path} is empty: a table needs a header and rows")
    if first.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise DataError(
            f"{source.path} begins with a byte order mark, which JSON has not: save it as UTF-8 without one"
        )
    rows = f"read_json({literal(str(source.path))}, sample_size = -1)"
    relation = connection.sql(f"SELECT * FROM {rows}")
    if any(str(kind.id) == "list" for kind in relation.types):
        few = connection.execute(f"SELECT count(*) FROM (SELECT 1 FROM {rows} LIMIT 2)").fetchall()[0]
        if few == (1,):
            raise DataError(
                f"{source.path} is one record whose fields are lists: write a list of records, or one record a line"
            )
    read = _table(source)
    return _selected(connection, source, _with_texts_read(connection, source, rows, read), read)


def _with_texts_read(connection: duckdb.DuckDBPyConnection, source: Source, rows: str, read: Read) -> str:
    """The rows, with those columns of texts converted that are dates, or that mix texts and numbers."""
    relation = connection.sql(f"SELECT * FROM {rows}")
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    mixed = [name for name, kind in kinds.items() if kind == "JSON"]
    names = [name for name, kind in kinds.items() if kind in ("JSON", "VARCHAR")]
    if not names:
        return rows
    if mixed:
        plain = ", ".join(f"{_TEXT_OF_JSON.format(quote(name))} AS {quote(name)}" for name in mixed)
        rows = f"(SELECT * REPLACE ({plain}) FROM {rows})"
    texts = Texts(
        read.name,
        source.path,
        rows,
        csv_shape.Layout(0, tuple(names)),
        "",
        line="record",
        marked=True,
        columns=tuple(map(quote, names)),
    )
    columns = [
        column
        for column in typed_columns(connection, texts)
        if column.name in mixed or column.kind in ("date", "timestamp")
    ]
    for column in columns:
        if column.comment:
            read.comments[column.name] = column.comment
        if column.note:
            read.notes.append(f'column "{column.name}": {column.note}')
    replaced = ", ".join(f"{column.select} AS {quote(column.name)}" for column in columns)
    return f"(SELECT * REPLACE ({replaced}) FROM {rows})" if replaced else rows


def listed(paths: Iterable[Path]) -> str:
    """Paths as a list of SQL."""
    return f"[{', '.join(literal(str(path)) for path in paths)}]"


def _table(source: Source) -> Read:
    about = (
        f"{len(source.paths)} files of the folder {source.path.parent.name}"
        if source.parts
        else f"file {source.path.name}"
    )
    return Read(
        source.table, "", source.path, comment=f"{about}, in {'their' if source.parts else 'its'} order of rows"
    )


def _selected(connection: duckdb.DuckDBPyConnection, source: Source, rows: str, read: Read) -> Read:
    select_plain(connection, rows, read)
    if not read.select:
        raise DataError(f"{source.path} holds no column that could be asked about")
    return read


def select_plain(connection: duckdb.DuckDBPyConnection, rows: str, read: Read) -> None:
    """The SELECT of rows that have types: they are kept where a frame can hold them."""
    relation = connection.sql(f"SELECT * FROM {rows}")
    selected = []
    names = csv_shape.named(relation.columns)
    for own, title, kind in zip(relation.columns, names, relation.types, strict=True):
        word = str(kind.id)
        if word == "blob":
            read.notes.append(f'column "{title}" holds bytes and was left out')
            continue
        selected.append(f"{_kept(quote(own), word)} AS {quote(title)}")
        if word in _NESTED:
            read.comments[title] = "JSON as text"
        if word == _UTC:
            read.comments[title] = "in UTC"
    read.select = f"SELECT {', '.join(selected)} FROM {rows}" if selected else ""


def _kept(column: str, kind: str) -> str:
    if kind in _KEPT:
        return column
    if kind.startswith("timestamp"):
        return f"CAST({column} AS TIMESTAMP)"
    if kind in ("hugeint", "uhugeint", "ubigint", "bignum"):
        return f"CAST({column} AS DECIMAL(38, 0))"
    if kind in _NESTED:
        return f"CAST(to_json({column}) AS VARCHAR)"
    return f"CAST({column} AS VARCHAR)"
