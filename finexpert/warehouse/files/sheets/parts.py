"""Several tables on one sheet, one below the other, each with names of its own columns.

    Average rates                         ->   ("Average rates", [["Currency", "2025-04-01"], ["EUR", "1.17"]])
    Currency | 2025-04-01                      ("Closing rates", [["Currency", "2025-04-01"], ["EUR", "1.16"]])
    EUR      | 1.17

    Closing rates
    Currency | 2025-04-01
    EUR      | 1.16

Groups of rows of one table, with empty rows between them, have no names of columns of their own, and stay together.
"""

from __future__ import annotations

from collections.abc import Sequence

from finexpert.warehouse.files.csv_shape import is_number, is_value
from finexpert.warehouse.files.date_forms import is_date
from finexpert.warehouse.files.number_forms import NUMBER_CELL

Rows = list[list[str]]
_LEAST_COLUMNS = 2
# A sheet with a block a customer or a month is one list.
_MOST = 12


def parts(rows: Rows) -> list[tuple[str, Rows]]:
    """The tables of a sheet with the lines above each, the last of which is its title; a sheet that is one table as it is, without a title.

    What stands above the first table, such as "in thousands", stands above each.

    >>> above, table = [["Rates"], [""]], [["Ccy", "Apr"], ["EUR", "1.2"], ["USD", "1.3"]]
    >>> [(title, len(part)) for title, part in parts([*above, *table, ["", ""], ["Closing", ""], *table])]
    [('', 6), ('Closing', 6)]
    >>> parts([*above, *table, ["", ""], ["CHF", "0.9"]])[0][0]
    ''
    """
    starts = [number for number in range(len(rows)) if begins(rows, number)]
    if not 2 <= len(starts) <= _MOST:
        return [("", rows)]
    tops = [top_of(rows, start) for start in starts]
    head = rows[: tops[0]]
    found = []
    for number, (top, start) in enumerate(zip(tops, starts, strict=True)):
        end = tops[number + 1] if number + 1 < len(tops) else len(rows)
        title = next((text.strip() for text in rows[start - 1] if text.strip()), "") if start > top else ""
        found.append((title, [*head, *rows[top:end]]))
    return found


def top_of(rows: Rows, start: int) -> int:
    """The first of the lines with one text that stand right above a table."""
    while start > 0 and filled(rows[start - 1]) == 1:
        start -= 1
    return start


def filled(row: Sequence[str]) -> int:
    return sum(bool(text.strip()) for text in row)


def begins(rows: Rows, number: int) -> bool:
    """Whether a row names the columns of a table: below an empty row or a title, over columns of numbers that it does not hold itself."""
    top = top_of(rows, number)
    if filled(rows[number]) < _LEAST_COLUMNS or (top > 0 and filled(rows[top - 1])):
        return False
    names = {place: text.strip() for place, text in enumerate(rows[number]) if text.strip()}
    values = [text for text in names.values() if text.startswith(NUMBER_CELL) or is_value(text)]
    first = names[min(names)]
    if first in values or len(set(names.values())) < len(names) or not all(map(is_date, values)):
        return False
    body = []
    for row in rows[number + 1 :]:
        if not filled(row):
            break
        body.append(row)
    return any(_holds_numbers(body, place) for place in names if names[place] != first)


def _holds_numbers(body: Rows, place: int) -> bool:
    given = [row[place].removeprefix(NUMBER_CELL).strip() for row in body if place < len(row) and row[place].strip()]
    return bool(given) and 2 * sum(map(is_number, given)) >= len(given) and not all(map(is_date, given))
