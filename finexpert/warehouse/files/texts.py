"""A table of texts, as a CSV file or a sheet holds it, with a type for every column.

Texts("trades", path, "read_csv(...)", layout, ",")   ->   SELECT CAST(c0 AS DATE) AS "day", ... FROM read_csv(...)
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from finexpert.errors import DataError
from finexpert.warehouse.files import column_types, csv_shape, forms, totals
from finexpert.warehouse.files.number_forms import NUMBER_CELL
from finexpert.warehouse.files.table_read import Read
from finexpert.warehouse.quoting import quote

_SAMPLE = 500
_MOST_CONDITIONS = 400
_LEAST_PERCENT = 3


@dataclass(frozen=True)
class Texts:
    """Rows of texts in the columns c0, c1, ..., or as `columns` calls them; `last` is the last of them.

    `encoding` is Python's, None for what is no file of lines; `marked` says that numbers of cells are marked.
    """

    name: str
    path: Path
    rows: str
    layout: csv_shape.Layout
    delimiter: str
    last: tuple[str, ...] = ()
    about: str = ""
    encoding: str | None = None
    marked: bool = False
    line: str = "line"
    columns: tuple[str, ...] = ()

    @property
    def sources(self) -> Sequence[str]:
        """The columns as they are called in `rows`."""
        return self.columns or [f"c{number}" for number in range(len(self.layout.names))]


def typed(connection: duckdb.DuckDBPyConnection, texts: Texts) -> Read:
    """The table, without rows that are sums of others: they would count everything twice."""
    sample = connection.execute(f"SELECT * FROM {texts.rows} LIMIT {_SAMPLE}").fetchall()
    found = totals.found(connection, texts.rows, texts.sources, texts.last, sample)
    if not found.rows:
        return _typed(connection, texts)
    read = _typed(connection, replace(texts, rows=found.without(texts.rows)))
    judged = totals.judged(connection, texts.rows, found, read.numbers)
    if judged.kept:
        read = _typed(connection, replace(texts, rows=judged.left_out.without(texts.rows)))
    read.notes += judged.notes
    if judged.comment:
        read.comment += f"; {judged.comment}"
    return read


def _typed(connection: duckdb.DuckDBPyConnection, texts: Texts) -> Read:
    """The table, every column converted where all of its values can be."""
    read = Read(texts.name, "", texts.path, f"file {texts.path.name}{texts.about}, in its order of rows")
    if texts.layout.comment:
        read.comment += f"; {texts.layout.comment}"
    selected = []
    columns = typed_columns(connection, texts)
    for column in columns:
        selected.append(f"{column.select} AS {quote(column.name)}")
        if column.kind in ("integer", "number"):
            read.numbers.append(column.select)
        if column.comment:
            read.comments[column.name] = column.comment
        if column.note:
            read.notes.append(f'column "{column.name}": {column.note}')
    read.select = f"SELECT {', '.join(selected)} FROM {texts.rows}"
    read.notes += texts.layout.notes
    return read


def typed_columns(connection: duckdb.DuckDBPyConnection, texts: Texts) -> list[column_types.Column]:
    """The columns of the table with their types. DataError names the line of a date that can be read in two ways."""
    sources = texts.sources
    sample = connection.execute(f"SELECT {', '.join(sources)} FROM {texts.rows} LIMIT {_SAMPLE}").fetchall()
    wanted = {source: column_types.wanted_of([row[place] for row in sample]) for place, source in enumerate(sources)}
    counted = _counted(connection, texts.rows, wanted)
    unlike = [source for source in sources if not wanted[source].settled(counted[source])]
    counted |= _counted(connection, texts.rows, dict.fromkeys(unlike, column_types.EVERYTHING))
    shared = column_types.conventions(list(counted.values()), texts.delimiter)
    if shared.comma and (again := [source for source in sources if wanted[source].quick and source not in unlike]):
        # 1.234 is no decimal number in a file with decimal commas.
        counted |= _counted(connection, texts.rows, dict.fromkeys(again, column_types.EVERYTHING))
    in_percent = _percent_rows(connection, texts.rows, counted)
    counted |= in_percent
    try:
        columns = [
            column_types.decided(title, source, counted[source], shared)
            for title, source in zip(texts.layout.names, sources, strict=True)
        ]
    except column_types.AmbiguousDates as error:
        place = f"{texts.line} {_line(connection, texts, error.condition)}"
        raise DataError(
            f'{texts.path}{texts.about}, {place}: a date of the column "{error.column}" {error.why}'
        ) from None
    for column in columns:
        if column.source in in_percent and column.kind != "text":
            column.comment = "some rows are in percent"
        if column.kind == "text" and column.comment:
            column.comment += forms.told(connection, texts.rows, column.source, counted[column.source])
        if texts.marked and column.kind == "text":
            column.select = f"replace({column.source}, '{NUMBER_CELL}', '')"
    return columns


def _percent_rows(
    connection: duckdb.DuckDBPyConnection, rows: str, counted: Mapping[str, column_types.Counted]
) -> dict[str, column_types.Counted]:
    """Columns of numbers in which whole rows are in percent, as the margins below a profit and loss are: they are columns of numbers."""
    mixed = [source for source, one in counted.items() if 0 < one.kinds.get("percent", 0) < one.given]
    if len(mixed) < _LEAST_PERCENT:
        return {}
    conditions = {source: column_types.conditions_of(source, ()) for source in mixed}
    percent = " OR ".join(f"({conditions[source]['percent']})" for source in mixed)
    plain = " OR ".join(f"(({each['given']}) AND NOT ({each['percent']}))" for each in conditions.values())
    if connection.execute(f"SELECT count(*) FROM {rows} WHERE ({percent}) AND ({plain})").fetchall()[0][0]:
        return {}
    return {source: replace(counted[source], kinds={**counted[source].kinds, "percent": 0}) for source in mixed}


def _counted(
    connection: duckdb.DuckDBPyConnection, rows: str, wanted: Mapping[str, column_types.Wanted]
) -> dict[str, column_types.Counted]:
    """What is asked of every column, in as few passes as there are hundreds of conditions."""
    asked = [
        (source, kind, conditions[kind])
        for source, one in wanted.items()
        for conditions in [column_types.conditions_of(source, one.forms)]
        for kind in one.kinds
    ]
    found: dict[str, dict[str, int]] = {source: {} for source in wanted}
    for start in range(0, len(asked), _MOST_CONDITIONS):
        part = asked[start : start + _MOST_CONDITIONS]
        counts = ", ".join(f"count(*) FILTER ({condition})" for _, _, condition in part)
        row = connection.execute(f"SELECT {counts} FROM {rows}").fetchall()[0]
        for (source, kind, _), count in zip(part, row, strict=True):
            found[source][kind] = count
    return {
        source: column_types.Counted(kinds.get("given", 0), kinds, wanted[source].forms, wanted[source].dots)
        for source, kinds in found.items()
    }


def _line(connection: duckdb.DuckDBPyConnection, texts: Texts, condition: str) -> int:
    """In which line of the file the first row stands for which a condition is true."""
    row = connection.execute(
        f"SELECT min({totals.ROW}) FROM {totals.numbered(texts.rows)} WHERE {condition}"
    ).fetchall()[0]
    wanted = int(row[0]) if row and row[0] is not None else 1
    if texts.encoding is None:
        return texts.layout.skip + wanted
    with texts.path.open(encoding=texts.encoding, newline="") as file:
        reader, rows = csv.reader(file, delimiter=texts.delimiter), 0
        for number, fields in enumerate(reader):
            rows += number >= texts.layout.skip and any(fields)
            if rows == wanted:
                return reader.line_num
    return texts.layout.skip + wanted
