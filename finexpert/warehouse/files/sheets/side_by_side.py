"""Several tables on one sheet, one beside the other, with empty columns between.

A) Finished goods |      |  | B) Raw materials |         ->   ("A) Finished goods", ...), ("B) Raw materials", ...)
Article           | Cases|  | Material         | Tons
40101             | 12   |  | Sugar            | 1.5
"""

from __future__ import annotations

from finexpert.warehouse.files.csv_shape import is_value
from finexpert.warehouse.files.sheets.parts import Rows, begins, top_of

_MOST = 4


def blocks(rows: Rows) -> list[tuple[str, Rows]]:
    """The tables with the title of each; a sheet that is one table as it is, without a title.

    An empty column between labels and numbers, or before totals, sets no table apart: each has names, texts and a title of its own.

    >>> left, right = [["A", ""], ["Article", "Cases"], ["x", "12"]], [["B", ""], ["Material", "Tons"], ["Sugar", "1.5"]]
    >>> [title for title, _ in blocks([[*one, "", *other] for one, other in zip(left, right)])]
    ['A', 'B']
    >>> blocks([["", "", "Jan", "Feb", "", "Year"], ["Sales", "", "1", "2", "", "3"]])[0][0]
    ''
    """
    width = max(map(len, rows))
    used = [any(place < len(row) and row[place].strip() for row in rows) for place in range(width)]
    starts = [place for place in range(width) if used[place] and (place == 0 or not used[place - 1])]
    if not 2 <= len(starts) <= _MOST:
        return [("", rows)]
    found, begun = [], set()
    for start, end in zip(starts, [*starts[1:], width], strict=True):
        block = [row[start:end] for row in rows]
        while not any(row[-1:] != [""] for row in block):
            block = [row[:-1] for row in block]
        begin = next((number for number in range(len(block)) if begins(block, number)), None)
        if begin is None or (start and not _has_labels(block[begin + 1 :])):
            return [("", rows)]
        last = max(number for number, row in enumerate(block) if any(row))
        top = top_of(block, begin)
        title = next((text.strip() for text in block[begin - 1] if text.strip()), "") if begin > top else ""
        found.append((title, block[: last + 1]))
        begun.add(begin)
    # Names in one row, without titles above them, are those of one table with an empty column.
    return found if len(begun) > 1 or all(title for title, _ in found) else [("", rows)]


def _has_labels(body: Rows) -> bool:
    labels = [row[0] for row in body if row[0].strip()]
    return 2 * sum(map(is_value, labels)) < len(labels)
