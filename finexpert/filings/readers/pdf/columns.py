"""Columns of a PDF page: one with prose in it that stands beside something else is read apart, or its lines run into a table's rows.

    for column in apart(chars, rules): ...       # what is left of the page first, then each column with all that stands in it

Prose is told from labels by its lines: many of them begin in the middle of a sentence. Rules that are drawn across say that the words are
those of a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from finexpert.filings.readers.cells import Span
from finexpert.filings.readers.pdf.lines import SAME_LINE, Char, Rule, rows_of

_FEWEST_LINES, _FEWEST_BESIDE = 8, 4
_FEWEST_WORDS = 4
_IN_A_SENTENCE = 0.4
_NARROW = 0.65
_NEXT_LINE = 1.9
_EDGE = 2.0
_WELL = 8.0
_RULES_OF_A_TABLE = 2


@dataclass(frozen=True)
class _Line:
    """A stretch of words on a page."""

    cell: Span
    base: float
    size: float


@dataclass(frozen=True)
class _Box:
    left: float
    right: float
    top: float
    bottom: float

    def holds(self, char: Char) -> bool:
        inside = self.left - _EDGE <= char.left and char.right <= self.right + _EDGE
        return inside and self.bottom <= char.base <= self.top


def apart(chars: Sequence[Char], rules: Sequence[Rule]) -> list[list[Char]]:
    """What stands beside columns of prose, and the columns, from left to right."""
    rest, columns = list(chars), []
    for box in _boxes(chars):
        across = [rule for rule in rules if _crosses(rule, box)]
        if len(across) < _RULES_OF_A_TABLE:
            columns.append([char for char in rest if box.holds(char)])
            rest = [char for char in rest if not box.holds(char)]
    return [rest, *filter(None, columns)]


def _crosses(rule: Rule, box: _Box) -> bool:
    inside = box.bottom < rule.base < box.top
    return inside and any(rule.left < side - _WELL < side + _WELL < rule.right for side in (box.left, box.right))


def _boxes(chars: Sequence[Char]) -> Iterator[_Box]:
    lines = [_Line(cell, row.base, row.size) for row in rows_of(chars, ()) for cell in row.cells]
    width = max((line.cell.end for line in lines), default=0.0) - min((line.cell.start for line in lines), default=0.0)
    for column in _aligned([line for line in lines if len(line.cell.text.split()) >= _FEWEST_WORDS]):
        left, right = min(line.cell.start for line in column), max(line.cell.end for line in column)
        if right - left <= _NARROW * width:
            yield from _runs(column, lines, left, right)


def _aligned(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    """Lines that begin at the same place, from top to bottom."""
    group: list[_Line] = []
    for line in sorted(lines, key=lambda each: each.cell.start):
        if group and line.cell.start - group[-1].cell.start > _EDGE:
            yield sorted(group, key=lambda each: -each.base)
            group = []
        group.append(line)
    if group:
        yield sorted(group, key=lambda each: -each.base)


def _runs(column: Sequence[_Line], lines: Sequence[_Line], left: float, right: float) -> Iterator[_Box]:
    """The stretches of a column that nothing crosses, where they are prose and something stands beside them."""
    crossing = [
        line.base
        for line in lines
        if any(line.cell.start < side - _EDGE and line.cell.end > side + _EDGE for side in (left, right))
    ]
    runs: list[list[_Line]] = [[]]
    for line in column:
        if runs[-1] and any(line.base <= base <= runs[-1][-1].base for base in crossing):
            runs.append([])
        runs[-1].append(line)
    for run in runs:
        if len(run) >= _FEWEST_LINES and _is_prose(run):
            box = _box(run, lines, left, right)
            if sum(_is_beside(line, box) for line in lines) >= _FEWEST_BESIDE:
                yield box


def _is_prose(lines: Sequence[_Line]) -> bool:
    return sum(line.cell.text[0].islower() for line in lines) >= _IN_A_SENTENCE * len(lines)


def _box(run: Sequence[_Line], lines: Sequence[_Line], left: float, right: float) -> _Box:
    """The place of a run, with the short lines that end it."""
    last = run[-1]
    for line in sorted(lines, key=lambda each: -each.base):
        within = left - _EDGE <= line.cell.start and line.cell.end <= right + _EDGE
        if within and 0 < last.base - line.base <= _NEXT_LINE * last.size:
            last = line
    return _Box(left, right, run[0].base + SAME_LINE * run[0].size, last.base - SAME_LINE * last.size)


def _is_beside(line: _Line, box: _Box) -> bool:
    return box.bottom <= line.base <= box.top and (line.cell.end < box.left or line.cell.start > box.right)
