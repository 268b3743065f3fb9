"""One file after the other as typed tables, on a connection that reaches the named files and nothing else.

    for table in tables(connection, sources):
        table.name, table.notes, table.rows(connection)

It runs in the locked process of `child.py`, and where the system has none, in this one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa

from finexpert.errors import DataError
from finexpert.warehouse.files import csv_shape, decoded, own_types
from finexpert.warehouse.files.found import Source, unused
from finexpert.warehouse.files.own_types import listed
from finexpert.warehouse.files.sheets import excel, lines
from finexpert.warehouse.files.sheets.parts import Rows, filled
from finexpert.warehouse.files.table_read import Read
from finexpert.warehouse.files.texts import Texts, typed
from finexpert.warehouse.quoting import literal, quote

_TAIL = 1 << 14
_LINE = re.compile(r"CSV Error on Line: (\d+)|in line (\d+)", re.IGNORECASE)
# What DuckDB says of a file whose lines end in several ways.
_MIXED_LINES = "invalid state"
_FIELDS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")


def connect(sources: Sequence[Source], memory: str) -> duckdb.DuckDBPyConnection:
    """A connection that reads these files and no others, and that nothing can open again."""
    settings = {"memory_limit": memory, "threads": "1", "async_threads": "0", "temp_directory": ""}
    settings |= {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    connection = duckdb.connect(":memory:", config={**settings, "python_enable_replacements": "false"})
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(f"SET allowed_paths = {listed(path for source in sources for path in source.paths)}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def tables(connection: duckdb.DuckDBPyConnection, sources: Sequence[Source]) -> Iterator[Read]:
    """The tables of the files, one a file, or one a sheet. DataError names the file and the line."""
    taken = {source.table.lower() for source in sources}
    for source in sources:
        try:
            yield from _READERS[source.kind](connection, source, taken)
        except duckdb.Error as error:
            raise refusal(source.path, error) from None
        except UnicodeError:
            raise DataError(f"{source.path}: its encoding is not known. Save it as UTF-8") from None
        except (OSError, csv.Error) as error:
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
    if shape.duckdb is None:
        rows = _decoded(connection, source, shape)
    else:
        columns = ", ".join(f"'c{number}': 'VARCHAR'" for number in range(len(shape.layout.names)))
        rows = (
            f"read_csv({literal(str(source.path))}, auto_detect = false, header = false, skip = {shape.layout.skip},"
            f" delim = {literal(shape.delimiter)}, quote = '\"', escape = '\"', encoding = '{shape.duckdb}',"
            f" columns = {{{columns}}})"
        )
    rows = _without_empty(rows, len(shape.layout.names))
    last = _last_record(source.path, shape.delimiter)
    texts = Texts(source.table, source.path, rows, shape.layout, shape.delimiter, last, encoding=shape.encoding)
    try:
        read = typed(connection, texts)
    except duckdb.InvalidInputException as error:
        if _MIXED_LINES not in str(error):
            raise
        read = typed(
            connection,
            replace(texts, rows=_without_empty(_decoded(connection, source, shape), len(shape.layout.names))),
        )
    if name := csv_shape.GUESSED.get(shape.encoding):
        read.notes.append(f"it is not UTF-8, and was read as {name}")
    yield read


def _without_empty(rows: str, columns: int) -> str:
    """The rows in which anything is written."""
    return f"(SELECT * FROM {rows} WHERE coalesce({', '.join(f'c{column}' for column in range(columns))}) IS NOT NULL)"


def _decoded(connection: duckdb.DuckDBPyConnection, source: Source, shape: csv_shape.Shape) -> str:
    view = f"decoded_{source.table}"
    connection.register(view, decoded.rows(source, shape))
    return quote(view)


def _last_record(path: Path, delimiter: str) -> tuple[str, ...]:
    """The last row of a file that is written; of one that ends within a quoted text, what its last line looks like."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        # Without its zeros, UTF-16 is near enough to what it says.
        lines = file.read().decode(errors="replace").replace("\0", "").splitlines()
    last = next((line for line in reversed(lines) if line.strip()), "")
    return tuple(next(csv.reader([last], delimiter=delimiter), ()))


def _excel(connection: duckdb.DuckDBPyConnection, source: Source, taken: set[str]) -> Iterator[Read]:
    sheets, hidden = excel.sheets(source.path)
    if not sheets:
        raise DataError(f"{source.path} holds no sheet with a table")
    around: list[tuple[str, str]] = []
    for number, (title, records) in enumerate(sheets):
        layout, body, remarks = _laid_out(records, f"{source.path}, sheet {title!r}")
        around += [(title, remark) for remark in remarks]
        if hidden and not number:
            layout = replace(
                layout, notes=(*layout.notes, f"hidden sheets of the file were left out: {', '.join(hidden)}")
            )
        view = f"sheet_{source.table}_{number}"
        columns = range(len(layout.names))
        held = {f"c{column}": pa.array([_field(record, column) for record in body], pa.string()) for column in columns}
        connection.register(view, pa.table(held))
        rows = _without_empty(quote(view), len(layout.names))
        name = source.table if len(sheets) == 1 else unused(excel.table_name(source.table, title), taken)
        last = tuple(body[-1]) if body else ()
        yield typed(connection, Texts(name, source.path, rows, layout, "", last, f", sheet {title}", marked=True))
    if around:
        view = f"notes_{source.table}"
        texts = (pa.array(each, pa.string()) for each in zip(*around, strict=True))
        connection.register(view, pa.table(dict(zip(("sheet", "line"), texts, strict=True))))
        comment = f"file {source.path.name}: the lines above and below its tables"
        yield Read(unused(f"{source.table}_notes", taken), f"SELECT * FROM {quote(view)}", source.path, comment)


def _laid_out(records: Rows, place: str) -> tuple[csv_shape.Layout, Rows, list[str]]:
    """The layout and the rows of one table of a sheet, and, where lines between or below are no rows, the lines around it."""
    records, below = lines.without_notes(records)
    layout = csv_shape.layout_of([[excel.unmarked(text) for text in record] for record in records], place)
    body, between = lines.without_remarks(records[layout.skip :], len(layout.names))
    remarks = [*between, *below]
    if remarks:
        layout = replace(layout, notes=(*layout.notes, f"{len(remarks)} lines between or below are no rows of it"))
        remarks = [
            text.strip() for row in records[: layout.skip] if filled(row) == 1 for text in row if text.strip()
        ] + remarks
    if (grouped := lines.with_sections(body, len(layout.names))) is not None:
        body, layout = grouped, replace(layout, names=csv_shape.named([*layout.names, lines.SECTION]))
    return layout, body, remarks


def _field(record: Sequence[str], column: int) -> str | None:
    return (record[column] or None) if column < len(record) else None


def _parquet(connection: duckdb.DuckDBPyConnection, source: Source, taken: set[str]) -> Iterator[Read]:
    yield own_types.parquet(connection, source)


def _json(connection: duckdb.DuckDBPyConnection, source: Source, taken: set[str]) -> Iterator[Read]:
    yield own_types.json(connection, source)


_READERS = {"csv": _csv, "excel": _excel, "parquet": _parquet, "json": _json}
