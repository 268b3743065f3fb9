"""Tables and figures as a terminal can show them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table
    from rich.text import Text

_ROWS = 24
_COLUMNS = 110


def table(data: pd.DataFrame) -> Table:
    """A table with its first and last rows, and how many stand between them."""
    from rich.table import Table
    from rich.text import Text

    shown = Table()
    for column, kind in zip(data.columns, data.dtypes, strict=True):
        shown.add_column(Text(str(column)), justify="right" if kind.kind in "iuf" else "left")
    rows = [[_cell(value) for value in row] for row in data.itertuples(index=False, name=None)]
    half = _ROWS // 2
    cut = len(rows) > _ROWS
    for row in rows[:half] if cut else rows:
        shown.add_row(*row)
    if cut:
        shown.add_row(*["..." for _ in data.columns])
        for row in rows[-half:]:
            shown.add_row(*row)
        shown.caption = f"{len(rows):,} rows"
    return shown


def _cell(value: object) -> Text:
    import datetime as dt

    import pandas as pd
    from rich.text import Text

    if value is pd.NaT:
        return Text("")
    if isinstance(value, float):
        return Text(f"{value:,.4g}" if abs(value) < 1 else f"{value:,.2f}")
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return Text(value.date().isoformat())
    return Text(str(value))


def figure(path: Path, width: int) -> Text:
    """A PNG in half blocks: two pixels of the picture a character, one above the other."""
    from PIL import Image
    from rich.text import Text

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
