"""One file after the other as typed tables, on a connection that reaches the named files and nothing else.

    for table in tables(connection, sources):
        table.name, table.notes, table.rows(connection)

It runs in the locked process of `child.py`, and where the system has none, in this one.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa

from finexpert.errors import DataError
from finexpert.warehouse.files import column_types, csv_shape, excel
from finexpert.warehouse.files.found import Source, unused
from finexpert.warehouse.local.warehouse_file import literal, quote

BATCH_ROWS = 1 << 16
_SAMPLE = 500
_TAIL = 1 << 14
_LINE = re.compile(r"CSV Error on Line: (\d+)|in line (\d+)", re.IGNORECASE)
_FIELDS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
# Types that a frame holds as they are; the rest is written as text, and what is nested as JSON.
_KEPT = ("boolean", "tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "float", "double",
         "decimal", "varchar", "date")  # fmt: skip
_TOTAL = re.compile(r"(^|[,;|\t\"])\s*(grand\s+|sub)?(totals?|sum|summe|gesamt)\b", re.IGNORECASE)
_NESTED = ("struct", "list", "map", "array", "union")


@dataclass
class Read:
    """A table that was found in a file: the SELECT that gives it, and what people and models should know."""

    name: str
    select: str
    path: Path
    skip: int = 0
    comment: str = ""
    comments: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)

    def rows(self, connection: duckdb.DuckDBPyConnection) -> pa.RecordBatchReader:
        """The rows; DataError names the line that cannot be read."""
        return connection.sql(self.select).to_arrow_reader(BATCH_ROWS)


def connect(sources: Sequence[Source], memory: str) -> duckdb.DuckDBPyConnection:
    """A connection that reads these files and no others, and that nothing can open again."""
    settings = {"memory_limit": memory, "threads": "1", "async_threads": "0", "temp_directory": ""}
    settings |= {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    connection = duckdb.connect(":memory:", config={**settings, "python_enable_replacements": "false"})
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(f"SET allowed_paths = {_listed(path for source in sources for path in source.paths)}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _listed(paths: Iterable[Path]) -> str:
    return f"[{', '.join(literal(str(path)) for path in paths)}]"


def tables(connection: duckdb.DuckDBPyConnection, sources: Sequence[Source]) -> Iterator[Read]:
    """The tables of the files, one a file, or one a sheet. DataError names the file and the line."""
    taken = {source.table.lower() for source in sources}
    for source in sources:
        try:
            yield from _READERS[source.kind](connection, source, taken)
        except duckdb.Error as error:
            raise refusal(source.path, error) from None
        except (OSError, UnicodeError, csv.Error) as error:
            raise DataError(f"{source.path} cannot be read: {error}") from None


def refusal(path: Path, error: Exception) -> DataError:
    """What DuckDB could not read, in our words and with the line."""
    said = str(error)
    line = next((f", line {one or other}" for one, other in _LINE.findall(said)), "")
    if found := _FIELDS.search(said):
        why = (
            f"it has {found[2]} fields, and the table {found[1]}. Mend that line, or delete what is no row of the table"
        )
    elif "unterminated quote" in said:
        why = "a quoted text does not end. Close the quote, or double one that stands within a text"
    elif "Out of Memory" in said:
        why = "reading it takes more memory than FINEXPERT_SQL_MEMORY_MB allows"
    else:
        why = said.splitlines()[0][:300]
    return DataError(f"{path}{line}: {why}")


def _csv(connection: duckdb.DuckDBPyConnection, source: Source, taken: set[str]) -> Iterator[Read]:
    shape = csv_shape.shape_of(source.path)
    columns = ", ".join(f"'c{number}': 'VARCHAR'" for number in range(len(shape.layout.names)))
    texts = (
        f"read_csv({literal(str(source.path))}, auto_detect = false, header = false, skip = {shape.layout.skip},"
        f" delim = {literal(shape.delimiter)}, quote = '\"', escape = '\"', encoding = '{shape.encoding}',"
        f" columns = {{{columns}}})"
    )
    if len(shape.layout.names) == 1:
        texts = f"(SELECT * FROM {texts} WHERE c0 IS NOT NULL)"
    read = _typed(connection, source.table, source.path, texts, shape.layout, shape.delimiter, _last_line(source.path))
    if shape.encoding == "latin-1":
        read.notes.append("it is not UTF-8, and was read as Latin-1")
    yield read


def _excel(connection: duckdb.DuckDBPyConnection, source: Source, taken: set[str]) -> Iterator[Read]:
    sheets = excel.sheets(source.path)
    if not sheets:
        raise DataError(f"{source.path} holds no sheet with a table")
    for number, (title, records) in enumerate(sheets):
        place = f"{source.path}, sheet {title!r}"
        layout = csv_shape.layout_of(records, place)
        held = pa.table(
            {
                f"c{column}": pa.array([_field(record, column) for record in records[layout.skip :]], pa.string())
                for column in range(len(layout.names))
            }
        )
        view = f"sheet_{source.table}_{number}"
        connection.register(view, held)
        empty = " AND ".join(f"c{column} IS NULL" for column in range(len(layout.names)))
        texts = f"(SELECT * FROM {quote(view)} WHERE NOT ({empty}))"
        name = source.table if len(sheets) == 1 else unused(excel.table_name(source.table, title), taken)
        yield _typed(connection, name, source.path, texts, layout, ",", ",".join(records[-1]), f", sheet {title}")


def _field(record: Sequence[str], column: int) -> str | None:
    return (record[column] or None) if column < len(record) else None


def _typed(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    path: Path,
    texts: str,
    layout: csv_shape.Layout,
    delimiter: str,
    last: str,
    about: str = "",
) -> Read:
    """The table of a file of texts, without a last row that is called a total and is one: it would count everything twice."""
    given = (connection, name, path, texts, layout, delimiter, about)
    if not _TOTAL.search(last):
        return _typed_rows(*given)
    rows = connection.execute(f"SELECT count(*) FROM {texts}").fetchall()[0][0]
    above = f"(SELECT * FROM {texts} LIMIT {rows - 1})"
    if rows > 2:
        read = _typed_rows(connection, name, path, above, layout, delimiter, about)
        if _is_total(connection, read.numbers, above, f"(SELECT * FROM {texts} OFFSET {rows - 1})"):
            read.notes.append("the last row is the total of the others and was left out")
            return read
    read = _typed_rows(*given)
    read.notes.append("the last row is called a total, and was read as any other: its numbers are no sum of the others")
    return read


def _is_total(connection: duckdb.DuckDBPyConnection, numbers: Sequence[str], above: str, row: str) -> bool:
    """Whether a row holds the sum of a column."""
    if not numbers:
        return False
    sums = connection.execute(f"SELECT {', '.join(f'sum({number})' for number in numbers)} FROM {above}").fetchall()[0]
    last = connection.execute(f"SELECT {', '.join(f'TRY({number})' for number in numbers)} FROM {row}").fetchall()[0]
    return any(
        total and summed is not None and math.isclose(total, summed, rel_tol=1e-6, abs_tol=0.005)
        for total, summed in zip(last, sums, strict=True)
    )


def _typed_rows(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    path: Path,
    texts: str,
    layout: csv_shape.Layout,
    delimiter: str,
    about: str,
) -> Read:
    """The table of a file of texts, every column converted where all of its values can be."""
    read = Read(name, "", path, layout.skip, f"file {path.name}{about}, in its order of rows")
    sources = [f"c{number}" for number in range(len(layout.names))]
    sample = connection.execute(f"SELECT * FROM {texts} LIMIT {_SAMPLE}").fetchall()
    wanted = {source: column_types.wanted_of([row[place] for row in sample]) for place, source in enumerate(sources)}
    counted = _counted(connection, texts, wanted)
    unlike = [source for source in sources if not wanted[source].settled(counted[source])]
    counted |= _counted(connection, texts, dict.fromkeys(unlike, column_types.EVERYTHING))
    shared = column_types.conventions(list(counted.values()), delimiter)
    if shared.comma and (again := [source for source in sources if wanted[source].quick and source not in unlike]):
        # 1.234 is no decimal number in a file with decimal commas.
        counted |= _counted(connection, texts, dict.fromkeys(again, column_types.EVERYTHING))
    selected = []
    for title, source in zip(layout.names, sources, strict=True):
        try:
            column = column_types.decided(title, source, counted[source], shared)
        except column_types.AmbiguousDates as error:
            line = _line(connection, read, texts, delimiter, error.condition)
            raise DataError(f'{path}{about}, line {line}: a date of the column "{error.column}" {error.why}') from None
        selected.append(f"{column.select} AS {quote(title)}")
        if column.kind in ("integer", "number"):
            read.numbers.append(column.select)
        if column.comment:
            read.comments[title] = column.comment
        if column.note:
            read.notes.append(f'column "{title}": {column.note}')
    read.select = f"SELECT {', '.join(selected)} FROM {texts}"
    read.notes += layout.notes
    return read


def _last_line(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        lines = file.read().decode(errors="replace").replace("\0", "").splitlines()
    return next((line for line in reversed(lines) if line.strip()), "")


def _counted(
    connection: duckdb.DuckDBPyConnection, texts: str, wanted: Mapping[str, column_types.Wanted]
) -> dict[str, column_types.Counted]:
    """What is asked of every column, in as few passes as there are hundreds of conditions."""
    asked = [
        (source, kind, conditions[kind])
        for source, one in wanted.items()
        for conditions in [column_types.conditions_of(source, one.forms)]
        for kind in one.kinds
    ]
    found: dict[str, dict[str, int]] = {source: {} for source in wanted}
    for start in range(0, len(asked), 400):
        part = asked[start : start + 400]
        counts = ", ".join(f"count(*) FILTER ({condition})" for _, _, condition in part)
        row = connection.execute(f"SELECT {counts} FROM {texts}").fetchall()[0]
        for (source, kind, _), count in zip(part, row, strict=True):
            found[source][kind] = count
    return {
        source: column_types.Counted(kinds.get("given", 0), kinds, wanted[source].forms)
        for source, kinds in found.items()
    }


def _line(connection: duckdb.DuckDBPyConnection, read: Read, texts: str, delimiter: str, condition: str) -> int:
    """In which line of the file the first row stands for which a condition is true."""
    numbered = f"SELECT *, row_number() OVER () AS finexpert_row FROM {texts}"
    row = connection.execute(f"SELECT min(finexpert_row) FROM ({numbered}) WHERE {condition}").fetchall()[0]
    wanted = int(row[0]) if row and row[0] is not None else 1
    if read.path.suffix.lower() in excel.SUFFIXES:
        return read.skip + wanted
    encoding = csv_shape.shape_of(read.path).encoding
    with read.path.open(encoding=encoding, newline="") as file:
        reader, rows = csv.reader(file, delimiter=delimiter), 0
        for number, fields in enumerate(reader):
            rows += number >= read.skip and bool(fields)
            if rows == wanted:
                return reader.line_num
    return read.skip + wanted


def _parquet(connection: duckdb.DuckDBPyConnection, source: Source, taken: set[str]) -> Iterator[Read]:
    yield _as_typed(connection, source, f"read_parquet({_listed(source.paths)})")


def _json(connection: duckdb.DuckDBPyConnection, source: Source, taken: set[str]) -> Iterator[Read]:
    if not source.path.stat().st_size:
        raise DataError(f"{source.path} is empty: a table needs a header and rows")
    rows = f"read_json({literal(str(source.path))}, sample_size = -1)"
    relation = connection.sql(f"SELECT * FROM {rows}")
    if any(str(kind.id) == "list" for kind in relation.types):
        few = connection.execute(f"SELECT count(*) FROM (SELECT 1 FROM {rows} LIMIT 2)").fetchall()[0]
        if few == (1,):
            raise DataError(
                f"{source.path} is one record whose fields are lists: write a list of records, or one record a line"
            )
    yield _as_typed(connection, source, rows)


def _as_typed(connection: duckdb.DuckDBPyConnection, source: Source, rows: str) -> Read:
    """A file that has types of its own."""
    read = Read(source.table, "", source.path, comment=_about(source))
    select_plain(connection, rows, read)
    if not read.select:
        raise DataError(f"{source.path} holds no column that could be asked about")
    return read


def _about(source: Source) -> str:
    if source.parts:
        return f"{len(source.paths)} files of the folder {source.path.parent.name}, in their order of rows"
    return f"file {source.path.name}, in its order of rows"


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


_READERS = {"csv": _csv, "excel": _excel, "parquet": _parquet, "json": _json}
