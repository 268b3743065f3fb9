"""Lines of a sheet that are no rows of its table: notes below it, and titles of groups of rows.

Pers. no.         | Name       | FTE                Pers. no. | Name       | FTE | Section
Production (4100) |            |           ->       2001      | Pohl, Jan  | 1   | Production (4100)
2001              | Pohl, Jan  | 1
(empty)
FTE: as of the last day
"""

from __future__ import annotations

from collections.abc import Sequence

from finexpert.warehouse.files.csv_shape import is_value
from finexpert.warehouse.files.number_forms import NUMBER_CELL
from finexpert.warehouse.files.sheets.parts import Rows, filled

SECTION = "Section"
_LEAST_COLUMNS = 3
_WIDE = 5


def without_notes(rows: Rows) -> tuple[Rows, list[str]]:
    """The rows up to the notes below them, and these: texts alone in their line, behind an empty one, as far as the sheet goes.

    >>> table = [["no", "name", "cases"], ["1", "x", "12"], ["2", "y", "13"]]
    >>> without_notes([*table, ["", "", ""], ["B = blocked", "", ""], ["", "", ""], ["", "in EUR", ""]])[1]
    ['B = blocked', 'in EUR']
    >>> without_notes([*table, ["3", "", ""]])[1]
    []
    """
    if max(map(len, rows)) < _LEAST_COLUMNS:
        return rows, []
    end = len(rows)
    for number in range(len(rows) - 1, 0, -1):
        texts = [text.strip() for text in rows[number] if text.strip()]
        if not texts:
            end = number
        elif len(texts) > 1 or is_value(texts[0].removeprefix(NUMBER_CELL)):
            break
    notes = [text.strip() for row in rows[end:] for text in row if text.strip()]
    # A list of names, with groups of one column alone, has no notes.
    return (rows[:end], notes) if notes and sum(filled(row) > 1 for row in rows[:end]) > 1 else (rows, [])


def without_remarks(body: Rows, width: int) -> tuple[Rows, list[str]]:
    """The rows without lines between them, and these: one text alone, in a column that is not the first, as "Export: 40 customers" is.

    >>> rows = [["a", "1", "x", "2", "y"], ["", "", "A: 1 row", "", ""], ["b", "1", "z", "3", "y"]]
    >>> without_remarks(rows, 5)[1], without_remarks([["Sales", "", "", "", ""], *rows[:1] * 5], 5)[1]
    (['A: 1 row'], [])
    """
    remarks = [filled(row) == 1 and not row[0].strip() and not any(map(_is_value, filter(None, row))) for row in body]
    if width < _WIDE or not any(remarks) or sum(map(filled, body)) < 0.4 * width * len(body):
        return body, []
    texts = [text.strip() for row, is_one in zip(body, remarks, strict=True) if is_one for text in row if text.strip()]
    return [row for row, is_one in zip(body, remarks, strict=True) if not is_one], texts


def with_sections(body: Rows, width: int) -> list[list[str]] | None:
    """The rows, with the title of its group behind each; None where no group has a title.

    A title stands alone, in a first column of numbers: where that column holds texts, such a row is a line of the table.

    >>> with_sections([["Retail", "", ""], ["1", "x", "12"], ["2", "y", "13"], ["Export", "", ""], ["3", "z", "14"]], 3)
    [['1', 'x', '12', 'Retail'], ['2', 'y', '13', 'Retail'], ['3', 'z', '14', 'Export']]
    >>> with_sections([["Sales", "", ""], ["Retail", "1", "2"]], 3)
    """
    titles = [filled(row) == 1 and bool(row[0].strip()) and not _is_value(row[0]) for row in body]
    firsts = [row[0] for row, title in zip(body, titles, strict=True) if not title and row[0].strip()]
    if width < _LEAST_COLUMNS or not any(titles) or sum(map(_is_value, firsts)) < max(2.0, 0.8 * len(firsts)):
        return None
    made, section = [], ""
    for row, title in zip(body, titles, strict=True):
        if title:
            section = row[0].strip()
        else:
            made.append([*_padded(row, width), section if filled(row) else ""])
    return made


def _padded(row: Sequence[str], width: int) -> list[str]:
    return [*row[:width], *[""] * (width - len(row))]


def _is_value(text: str) -> bool:
    return is_value(text.removeprefix(NUMBER_CELL))
