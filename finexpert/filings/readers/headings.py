"""The headings of a table's columns: the lines above its numbers as one text a column.

    headings([[Span("December 31,", 46, 64)], [Span("2018", 44, 50), Span("2017", 64, 70)]], columns)

A line that is ruled off says by the rule how far it reaches, and a grid by its spans. Elsewhere a heading that is wider than its column, or
lies between two, or names a period without its year, reaches over the columns that it is the middle of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from finexpert.filings.readers.cells import Span, is_value, is_year

_NOTE = re.compile(
    r"\(?\W*(?:(?:unaudited|amounts?|dollars?|u\.?s\.? dollars?|expense \(income\))\W+)?\(?in (?:u\.?s\.? )?(?:dollars |\$ ?)?"
    r"(?:thousands|millions|billions)\b.*|\(?unaudited\)?",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\s+\d{1,2},?$"
    r"|\b(?:fiscal|calendar)?\s*years?(?: ended| ending)?,?$|\b(?:months|weeks|quarter)s?(?: ended| ending)?,?$",
    re.IGNORECASE,
)
_TIME = re.compile(r"\b(?:(?:19|20)\d\d|months|weeks|quarter|years?|ended|ending)\b", re.IGNORECASE)
_UNCOVERED = 0.15
_OFF_THE_MIDDLE = 0.3
_WIDE = 0.8
_NEAR = 2.0
_WIDEST_SEARCH = 24
_IN_THE_MIDDLE, _AT_THE_SIDE = 0.35, 0.05


def headings(lines: Sequence[Sequence[Span]], columns: Sequence[Span]) -> list[str]:
    """The heading of each column, from top to bottom; what stands before the second column or is a note of units heads the first."""
    first, values = columns[0], list(columns[1:])
    corner: list[str] = []
    below: list[list[str]] = [[] for _ in values]
    for line in reversed(lines):
        over = [cell for cell in line if not _is_of_labels(cell, first, values)]
        corner[:0] = [cell.text for cell in line if cell not in over]
        over = _no_more_than(over, values)
        lowest = not any(below)
        reach = _over_all(over, values, below) or _in_blocks(over, values, below) or _reach(over, values, lowest)
        for cell, places in zip(over, reach, strict=True):
            for place in places:
                below[place].insert(0, cell.text)
            if len(places) == 1:
                # A column is as wide as its heading, which may be wider than its numbers.
                column = values[places[0]]
                values[places[0]] = Span("", min(column.start, cell.start), max(column.end, cell.end))
    # A label beside several lines of headings stands once.
    return [_joined(texts) for texts in (list(dict.fromkeys(corner)), *below)]


def _in_blocks(line: Sequence[Span], columns: Sequence[Span], below: Sequence[Sequence[str]]) -> list[list[int]]:
    """Equal blocks of columns for the cells of a line, where the lowest headings repeat themselves in each and each cell is above its own."""
    lowest = [texts[-1:] for texts in below]
    pitch = (columns[-1].end - columns[0].start) / len(columns)
    for count in range(max(2, len(line)), len(columns) // 2 + 1) if lowest[0] else ():
        size, rest = divmod(len(columns), count)
        if rest or any(lowest[place] != lowest[place % size] for place in range(len(columns))):
            continue
        blocks = [range(start, start + size) for start in range(0, len(columns), size)]
        own = [
            [block for block in blocks if _is_above(cell, columns[block[0]].start, columns[block[-1]].end, pitch)]
            for cell in line
        ]
        ruled = [
            set(_under(cell, columns)) <= set(*found)
            for cell, found in zip(line, own, strict=True)
            if cell.ruled and len(found) == 1
        ]
        if all(len(found) == 1 for found in own) and all(ruled) and len({found[0] for found in own}) == len(line):
            return [list(found[0]) for found in own]
    return []


def _is_above(cell: Span, left: float, right: float, pitch: float) -> bool:
    """Whether a cell stands over the middle of a stretch, or at its right side."""
    return (
        abs(cell.start + cell.end - left - right) / 2 <= _IN_THE_MIDDLE * pitch
        or abs(cell.end - right) <= _AT_THE_SIDE * pitch
    )


def _over_all(line: Sequence[Span], columns: Sequence[Span], below: Sequence[Sequence[str]]) -> list[list[int]]:
    """All columns for a period that stands alone over the middle of them, each of which has a heading of its own."""
    if len(line) != 1 or line[0].ruled or len(columns) < 2 or not all(below) or not _TIME.search(line[0].text):
        return []
    left, right = columns[0].start, columns[-1].end
    return [list(range(len(columns)))] if _is_above(line[0], left, right, (right - left) / len(columns)) else []


def _no_more_than(line: Sequence[Span], columns: Sequence[Span]) -> list[Span]:
    """The cells of a line, of which those that are nearest are one where they are more than the columns."""
    found = list(line)
    while len(found) > len(columns) > 0:
        near = min(range(1, len(found)), key=lambda place: found[place].start - found[place - 1].end)
        one, other = found[near - 1], found[near]
        found[near - 1 : near + 1] = [Span(f"{one.text} {other.text}", one.start, other.end)]
    return found


def _joined(texts: Sequence[str]) -> str:
    """
    >>> _joined(["Mark-to-", "market net", "impact"])
    'Mark-to-market net impact'
    """
    whole = ""
    for text in texts:
        whole += text if not whole or whole.endswith("-") else f" {text}"
    return whole


def _is_of_labels(cell: Span, first: Span, values: Sequence[Span]) -> bool:
    if not values or _NOTE.fullmatch(cell.text):
        return True
    left, edge = first.start, values[0].start
    return cell.end <= edge or (cell.start < left + (edge - left) / 2 and not cell.ruled)


def _reach(line: Sequence[Span], columns: Sequence[Span], lowest: bool) -> list[list[int]]:
    """Over which columns each cell of a line reaches; one of the lowest line heads one column, if it is no period."""
    if len(line) == len(columns):
        return [[place] for place in range(len(columns))]
    exact = [_under(cell, columns) if cell.ruled else [] for cell in line]
    if all(exact):
        return exact
    if len(columns) > _WIDEST_SEARCH:
        return [found or [nearest(cell, columns)] for cell, found in zip(line, exact, strict=True)]
    return _shared(line, columns, exact, lowest)


def _under(cell: Span, columns: Sequence[Span]) -> list[int]:
    """The columns of which the middle lies below a cell that says how far it reaches, else those that it covers."""
    middles = [
        place for place, column in enumerate(columns) if cell.start <= (column.start + column.end) / 2 <= cell.end
    ]
    return middles or [place for place, column in enumerate(columns) if column.covers(cell)]


def nearest(cell: Span, columns: Sequence[Span]) -> int:
    """The place of the column that a cell stands nearest to."""
    return min(range(len(columns)), key=lambda place: _away(cell, columns[place]))


def _away(cell: Span, column: Span) -> float:
    """How far a heading stands from a column that it may be of: by the middles, or by one of the sides."""
    return min(
        abs((cell.start + cell.end) - (column.start + column.end)) / 2,
        abs(cell.end - column.end),
        abs(cell.start - column.start),
    )


def _shared(line: Sequence[Span], columns: Sequence[Span], exact: Sequence[list[int]], lowest: bool) -> list[list[int]]:
    """The columns shared out among the cells of a line, in their order, so that each is near the middle of its own."""
    pitch = (columns[-1].end - columns[0].start) / len(columns)
    best: dict[int, tuple[float, list[list[int]]]] = {0: (0.0, [])}
    for number, cell in enumerate(line):
        following: dict[int, tuple[float, list[list[int]]]] = {}
        for start, (cost, done) in best.items():
            for places in [exact[number]] if exact[number] else _groups(cell, columns, pitch, start, lowest):
                if places[0] < start:
                    continue
                total = cost + _UNCOVERED * (places[0] - start) + _off(cell, columns, places) / pitch
                known = following.get(places[-1] + 1)
                if known is None or total < known[0]:
                    following[places[-1] + 1] = (total, [*done, places])
        if not following:
            return [found or [nearest(each, columns)] for each, found in zip(line, exact, strict=True)]
        best = following
    ends = {end: cost + _UNCOVERED * (len(columns) - end) for end, (cost, _) in best.items()}
    return best[min(ends, key=lambda end: ends[end])][1]


def _groups(cell: Span, columns: Sequence[Span], pitch: float, start: int, lowest: bool) -> list[list[int]]:
    """Which columns a cell may reach over: one, or several where it is wide, stands between two, or wants a year."""
    single = [[place] for place in range(start, len(columns))]
    inside = any(column.start <= cell.start + _NEAR and cell.end - _NEAR <= column.end for column in columns)
    wide = cell.end - cell.start > _WIDE * pitch and not inside
    may = not lowest or _TIME.search(cell.text)
    several = _PERIOD.search(cell.text) or (may and (wide or _is_between(cell, columns)))
    if not several or is_value(cell.text) or is_year(cell.text):
        return single
    return single + [list(range(a, b)) for a in range(start, len(columns)) for b in range(a + 2, len(columns) + 1)]


def _is_between(cell: Span, columns: Sequence[Span]) -> bool:
    """Whether the middle of a cell lies between two columns, and over none."""
    middle = (cell.start + cell.end) / 2
    for one, other in pairwise(columns):
        share = (2 * middle - one.start - one.end) / max(1e-9, other.start + other.end - one.start - one.end)
        if _OFF_THE_MIDDLE <= share <= 1 - _OFF_THE_MIDDLE:
            return not any(column.start <= middle <= column.end for column in (one, other))
    return False


def _off(cell: Span, columns: Sequence[Span], places: Sequence[int]) -> float:
    if len(places) == 1:
        return _away(cell, columns[places[0]])
    group = Span("", columns[places[0]].start, columns[places[-1]].end)
    outside = max(0.0, group.start - cell.start) + max(0.0, cell.end - group.end)
    return abs((cell.start + cell.end) - (group.start + group.end)) / 2 + outside
