"""Lines of cells as a table: the columns that they have in common, and the lines of the heading as one text a column.

>>> rows = [[Span("December 31,", 46, 64)], [Span("(in millions)", 0, 13), Span("2018", 44, 50), Span("2017", 64, 70)],
...         [Span("Sales", 0, 5), Span("$ 5", 42, 50), Span("4", 69, 70)]]
>>> as_table(rows)
(('(in millions)', 'December 31, 2018', 'December 31, 2017'), ('Sales', '$ 5', '4'))
"""

from __future__ import annotations

from collections.abc import Sequence

from finexpert.filings.readers.cells import Span, is_body, is_money, is_value, is_year, rejoined
from finexpert.filings.readers.headings import headings, nearest

_FAR = 10_000.0
_TO = ("-", "\u2013", "to")


def as_table(rows: Sequence[Sequence[Span]]) -> tuple[tuple[str, ...], ...]:
    """Rows of cells as a table: its heading in one row, where it has one, then a section or a row of numbers each.

    A table of words alone has its first row for a heading.
    """
    rows = [row for row in rows if row]
    first = next((number for number, row in enumerate(rows) if is_body(row)), len(rows))
    rows = _labelled([*rows[:first], *rejoined(rows[first:])], first)
    body = rows[first:]
    columns = columns_of([row for row in body if is_body(row)]) or columns_of(rows)
    if not columns:
        return ()
    if first == len(rows):
        return tuple(_line(row, columns) for row in rejoined(rows))
    firsts = [row[0].text for row in body if row[0].covers(columns[0])]
    if all(map(is_value, firsts)) and not all(map(is_year, firsts)):
        # Far enough to the left for no heading to be that of the labels.
        columns = [Span("", -_FAR, -_FAR), *columns]
    over = [number for number, row in enumerate(rows[:first]) if any(_heads(cell, columns) for cell in row)]
    end = over[-1] + 1 if over else 0
    heading = headings(rows[:end], columns)
    table = [_line(row, columns) for row in rejoined(rows[end:]) if not is_money(row)]
    return _with_ranges([tuple(heading), *table]) if any(heading) else tuple(table)


def _with_ranges(table: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """The table with "5", "\u2013", "9" as one cell, where only the column of the signs has a heading of its own.

    >>> _with_ranges([("", "2021", "2021 Range", "2021"), ("Yield", "0%", "\u2013", "15%"), ("Loss", "2%", "\u2013", "9%"), ("Price", "", "9%", "")])
    (('', '2021 Range'), ('Yield', '0% \u2013 15%'), ('Loss', '2% \u2013 9%'), ('Price', '9%'))
    """
    heading, rows = table[0], [list(row) for row in table[1:]]
    joined = [
        place
        for place in range(2, len(heading) - 1)
        if heading[place - 1] == heading[place + 1] != heading[place]
        and heading[place].startswith(heading[place - 1])
        and all(row[place] in _TO for row in rows if row[place - 1] and row[place + 1])
        and 2 * sum(row[place] in _TO and bool(row[place - 1] and row[place + 1]) for row in rows) > len(rows)
    ]
    for place in reversed(joined):
        for row in [*rows, named := list(heading)]:
            texts = row[place - 1 : place + 2] if row is not named else [row[place]]
            row[place - 1 : place + 2] = [" ".join(text for text in texts if text)]
        heading = tuple(named)
    return (heading, *map(tuple, rows))


def _labelled(rows: Sequence[Sequence[Span]], first: int) -> list[Sequence[Span]]:
    """The rows with one label each, where only a few have it in two parts ("Net income:", "Basic")."""
    leading = [next((n for n, cell in enumerate(row) if is_value(cell.text)), len(row)) for row in rows]
    body = [count for row, count in zip(rows[first:], leading[first:], strict=True) if is_body(row)]
    if not body or sum(count > 1 for count in body) * 2 > len(body):
        return list(rows)
    return [
        [_whole(row[:count]), *row[count:]] if number >= first and 1 < count < len(row) else row
        for number, (row, count) in enumerate(zip(rows, leading, strict=True))
    ]


def _whole(parts: Sequence[Span]) -> Span:
    return Span(" ".join(part.text for part in parts), parts[0].start, parts[-1].end)


def _heads(cell: Span, columns: Sequence[Span]) -> bool:
    """Whether a cell stands over numbers; one that begins with the labels is the name of a section, however long."""
    if len(columns) == 1:
        return False
    left, edge = columns[0].start, columns[1].start
    return cell.start + cell.end > 2 * edge and cell.start > left + (edge - left) / 4


def columns_of(rows: Sequence[Sequence[Span]]) -> list[Span]:
    """The stretches that the columns of a table cover: those of its cells, put together where they overlap.

    Narrow cells tell the columns apart; one that lies over several of them, such as a heading, joins none. A label that
    reaches into the columns of the numbers ends before them.
    """
    columns: list[Span] = []
    rows = [row for row in rows if len(row) > 1]
    edge = min((row[1].start for row in rows), default=0.0)
    begins = [row[0].start < edge and not is_value(row[0].text) for row in rows]
    labels = [row[0] for row, labelled in zip(rows, begins, strict=True) if labelled]
    cells = [cell for row, labelled in zip(rows, begins, strict=True) for cell in row[labelled:]]
    for cell in sorted(cells, key=lambda each: (each.end - each.start, each.start)):
        under = [column for column in columns if column.covers(cell)]
        if len(under) == 1 or (under and is_value(cell.text) and not _stand_side_by_side(under, rows)):
            columns = [column for column in columns if column not in under]
            columns.append(Span("", min(cell.start, under[0].start), max(cell.end, under[-1].end)))
        elif not under:
            columns.append(Span("", cell.start, cell.end))
        columns.sort(key=lambda column: column.start)
    if labels:
        first = Span("", min(cell.start for cell in labels), min(edge, max(cell.end for cell in labels)))
        columns = [first, *(column for column in columns if not first.covers(column))]
    return columns


def _stand_side_by_side(columns: Sequence[Span], rows: Sequence[Sequence[Span]]) -> bool:
    """Whether a row has cells in several of some columns: they are not one column whose numbers are of many widths."""
    return any(
        sum(any(column.covers(cell) for cell in row) for column in columns) > 1
        for row in rows
        if not _bridges(row, columns)
    )


def _bridges(row: Sequence[Span], columns: Sequence[Span]) -> bool:
    return any(sum(column.covers(cell) for column in columns) > 1 for cell in row)


def _line(row: Sequence[Span], columns: Sequence[Span]) -> tuple[str, ...]:
    """The cells of a row in their columns: the first that each lies over, or the nearest."""
    line = [""] * len(columns)
    for cell in row:
        place = next((n for n, column in enumerate(columns) if column.covers(cell)), nearest(cell, columns))
        line[place] = f"{line[place]} {cell.text}".strip()
    return tuple(line)
