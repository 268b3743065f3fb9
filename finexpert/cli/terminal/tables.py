"""Tables and figures as a terminal can show them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from finexpert.core.display.columns import written

_ROWS = 24
_COLUMNS = 110
# A text, or the name of a column, is folded at this width before a table is shown in several parts.
_TEXT, _NAME = 24, 14
# What stands around a cell: a blank on each side, and a line.
_AROUND = 3


@dataclass(frozen=True)
class _Column:
    """A column as it is shown; `narrowest` is the width below which something would be cut."""

    name: Text
    cells: list[Text]
    number: bool

    @property
    def widest(self) -> int:
        return max(cell_len(text.plain) for text in (self.name, *self.cells))

    @property
    def narrowest(self) -> int:
        cells = max((cell_len(cell.plain) for cell in self.cells), default=0)
        return max(cells if self.number else min(cells, _TEXT), min(cell_len(self.name.plain), _NAME))


def tables(data: pd.DataFrame, width: int) -> list[Table]:
    """The first and last rows, and how many stand between them; columns that do not fit beside each other in parts below.

    A number or a day is never cut or folded. Each part begins with the first column.
    """
    half = _ROWS // 2
    shown = data.iloc[[*range(half), *range(-half, 0)]] if len(data) > _ROWS else data
    columns = [_column(shown.iloc[:, place], data.iloc[:, place]) for place in range(shown.shape[1])]
    if len(data) > _ROWS:
        for column in columns:
            column.cells.insert(half, Text("..."))
    parts = [_table(part, width) for part in _parts(columns, width)]
    if len(data) > _ROWS:
        parts[-1].caption = f"{len(data):,} rows"
    return parts


def _column(values: pd.Series, whole: pd.Series) -> _Column:
    cells = [Text(text or "") for text in written(values, whole)]
    # Days too: whatever is no text is read as a whole.
    as_one = values.dtype.kind in "iufbM" or not any(isinstance(value, str) for value in values)
    name = Text(str(values.name), justify="right" if values.dtype.kind in "iuf" else "left")
    return _Column(name, cells, as_one)


def _parts(columns: list[_Column], width: int) -> Iterator[list[_Column]]:
    """The columns in groups that fit; what is wider than the screen stands beside the first column alone."""
    part: list[_Column] = []
    for column in columns:
        if len(part) > 1 and sum(each.narrowest + _AROUND for each in (*part, column)) + 1 > width:
            yield part
            part = columns[:1]
        part.append(column)
    yield part


def _table(columns: list[_Column], width: int) -> Table:
    shown = Table()
    spare = width - 1 - sum(column.narrowest + _AROUND for column in columns)
    for column in columns:
        more = min(max(spare, 0), column.widest - column.narrowest)
        spare -= more
        justify = column.name.justify or "left"
        shown.add_column(column.name, justify=justify, width=column.narrowest + more, overflow="fold")
    for row in zip(*(column.cells for column in columns), strict=True):
        shown.add_row(*row)
    return shown


def figure(path: Path, width: int) -> Text:
    """A PNG in half blocks: two pixels of the picture a character, one above the other."""
    from PIL import Image

    with Image.open(path) as image:
        columns = min(width, _COLUMNS)
        rows = max(2, round(image.height / image.width * columns) // 2 * 2)
        small = image.convert("RGB").resize((columns, rows), Image.Resampling.LANCZOS)
    text = Text()
    for y in range(0, rows, 2):
        for x in range(columns):
            upper, lower = small.getpixel((x, y)), small.getpixel((x, y + 1))
            text.append("▀", style=f"rgb({_rgb(upper)}) on rgb({_rgb(lower)})")
        text.append("\n")
    return text


def _rgb(pixel: object) -> str:
    return ",".join(str(part) for part in pixel) if isinstance(pixel, tuple) else "0,0,0"
