"""The characters of a PDF page as lines of cells, by their places and by the rules that are drawn below headings.

    rows_of(chars, rules)[0].cells       # [Span("(in millions)", 36, 95), Span("2018", 310, 358, ruled=True), ...]

A gap of a letter's height parts two cells, a small one two words. An empty line stands where there is room for one.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, zip_longest

from finexpert.filings.readers.cells import Span, is_body, is_value, is_year, joined

SAME_LINE = 0.45
_CELL_GAP = 1.1
_WORD_GAP = 0.17
_AFTER_NUMBER = 0.65
_HEADING_GAP, _CELLS_OF_A_TABLE = 0.65, 3
_SPACE_GAP = 0.04
_EMPTY_LINE = 1.9
_NEARER = 0.8
_BELOW = 0.9
_EDGE = 1.5
_OFF_THE_MIDDLE = 0.15
_RAISED, _SMALL, _BESIDE = 0.9, 0.85, 1.0
_MONEY = "$\u20ac\u00a3\u00a5"


@dataclass(frozen=True)
class Char:
    """A printed character; `spaced` says whether the file itself has a space before it."""

    text: str
    left: float
    right: float
    base: float
    size: float
    spaced: bool = False


@dataclass(frozen=True)
class Rule:
    """A line drawn from left to right, as below a heading."""

    base: float
    left: float
    right: float


@dataclass(frozen=True)
class Row:
    """The cells of a line, and where it stands; an empty one has neither."""

    cells: list[Span] = field(default_factory=list)
    base: float = 0.0
    size: float = 0.0


def lowered(chars: Sequence[Char]) -> list[Char]:
    """The characters with marks of footnotes on the line of the word that they follow in the file."""
    found: list[Char] = []
    word: Char | None = None
    for char in chars:
        if word is not None and _is_mark(char, found[-1], word):
            char = replace(char, base=word.base)
        else:
            word = char
        found.append(char)
    return found


def _is_mark(char: Char, before: Char, word: Char) -> bool:
    """Whether a small character stands a little above a word and right behind it, or behind another mark of it."""
    near = -_EDGE <= char.left - before.right <= _BESIDE * word.size
    return near and char.size < _SMALL * word.size and 0 < char.base - word.base < _RAISED * word.size


def rows_of(chars: Sequence[Char], rules: Sequence[Rule]) -> list[Row]:
    """The lines of a page from top to bottom."""
    rows: list[Row] = []
    last: Char | None = None
    for line in lines_of(sorted(chars, key=lambda char: -char.base)):
        first = line[0]
        if last is not None and last.base - first.base > _EMPTY_LINE * max(first.size, last.size):
            # Two, so that a table whose lines stand far apart is not taken for one with room in it.
            rows += [Row(), Row()]
        rows.append(Row(_row(line, rules), first.base, first.size))
        last = first
    return rows


def lines_of(chars: Sequence[Char]) -> list[list[Char]]:
    """Characters that follow each other on about the same height, a line each."""
    lines: list[list[Char]] = []
    for char in chars:
        if lines and abs(lines[-1][0].base - char.base) <= SAME_LINE * max(char.size, lines[-1][0].size):
            # A mark of a footnote may stand higher than its line, which goes by letters of its own size.
            lines[-1].insert(0 if lines[-1][0].size < _SMALL * char.size else len(lines[-1]), char)
        else:
            lines.append([char])
    return lines


def whole_labels(rows: Sequence[Row]) -> list[list[Span]]:
    """The rows of a table, lines of one label as one row: they stand nearer to each other than the rows do."""
    pitches = [one.base - other.base for one, other in pairwise(rows) if is_body(one.cells) and is_body(other.cells)]
    near = _NEARER * statistics.median(pitches) if pitches else 0.0
    gaps = [one.base - other.base for one, other in pairwise(rows)]
    whole: list[list[Span]] = []
    for number, row in enumerate(rows):
        above = gaps[number - 1] if number else near
        # A line between two rows is of the nearer one.
        below = gaps[number] if len(row.cells) == 1 and number < len(gaps) else near
        if above < near and above <= below and _is_one_label(whole[-1], row.cells):
            label = replace(whole[-1][0], text=f"{whole[-1][0].text} {row.cells[0].text}")
            whole[-1] = [replace(label, end=max(label.end, row.cells[0].end)), *whole[-1][1:], *row.cells[1:]]
        else:
            whole.append(row.cells)
    return whole


def _is_one_label(above: Sequence[Span], below: Sequence[Span]) -> bool:
    """Whether two lines may be of one label: at most one of them has numbers beside it."""
    if any(is_value(row[0].text) for row in (above, below)) or not above[0].covers(below[0]):
        return False
    beside = [row for row in (above, below) if len(row) > 1]
    return not above[0].text.endswith(":") and len(beside) < 2 and all(is_body(row) for row in beside)


def words_of(line: Sequence[Char]) -> str:
    """The words of a line of text."""
    return " ".join(word.text for cell in _cells(line, ()) for word in cell)


def _row(line: Sequence[Char], rules: Sequence[Rule]) -> list[Span]:
    """The cells of a line with the stretches that rules below them say; a rule below several cells is of none."""
    base, size = line[0].base, max(char.size for char in line)
    near = [rule for rule in rules if base - _BELOW * size <= rule.base <= base + _EDGE]
    near.sort(key=lambda rule: rule.left)
    cuts = [(one.right + other.left) / 2 for one, other in pairwise(near) if 0 <= other.left - one.right < size]
    found = _cells(line, cuts)
    if len(found) >= _CELLS_OF_A_TABLE:
        # Prose is stretched to its margins; between the headings of two columns there may be less room than that.
        found = [part for words in found for part in _apart(words, _HEADING_GAP * size)]
    cells = joined(map(_cell, found))
    return [_by_rule(cell, cells, near) for cell in cells]


def _by_rule(cell: Span, cells: Sequence[Span], rules: Sequence[Rule]) -> Span:
    if is_value(cell.text) and not is_year(cell.text):
        return cell
    own = [
        replace(cell, start=min(rule.left, cell.start), end=max(rule.right, cell.end), ruled=True)
        for rule in rules
        if _is_below(rule, cell)
    ]
    alone = [span for span in own if not any(span.covers(other) for other in cells if other is not cell)]
    return min(alone, key=lambda span: span.end - span.start, default=cell)


def _is_below(rule: Rule, cell: Span) -> bool:
    """Whether a rule is that of a heading, which stands over its middle or at a side of it; underlined words are no heading."""
    width = rule.right - rule.left
    if rule.left > cell.start + _EDGE or rule.right < cell.end - _EDGE or width <= cell.end - cell.start + 2 * _EDGE:
        return False
    off = abs(rule.left + rule.right - cell.start - cell.end) / 2
    return off <= _OFF_THE_MIDDLE * width or min(cell.start - rule.left, rule.right - cell.end) <= 3 * _EDGE


def _apart(words: list[Span], gap: float) -> Iterator[list[Span]]:
    start = 0
    for place in range(1, len(words)):
        if words[place].start - words[place - 1].end > gap:
            yield words[start:place]
            start = place
    yield words[start:]


def _cells(line: Sequence[Char], cuts: Sequence[float]) -> list[list[Span]]:
    """The characters of a line as cells of words; where two rules end and begin a word's gap parts them."""
    cells: list[list[Span]] = []
    chars = sorted(line, key=lambda each: each.left)
    for char, following in zip_longest(chars, chars[1:]):
        gap = char.left - cells[-1][-1].end if cells else 0.0
        if not cells or _parts_cells(cells[-1], char, following, gap, cuts):
            cells.append([Span(char.text, char.left, char.right)])
            continue
        word = cells[-1][-1]
        # Narrow type has spaces that are hardly wider than what stands between two letters: the file knows better.
        if gap > (_SPACE_GAP if char.spaced else _WORD_GAP) * char.size:
            cells[-1].append(Span(char.text, char.left, char.right))
        else:
            cells[-1][-1] = Span(word.text + char.text, word.start, max(word.end, char.right))
    return cells


def _cell(words: Sequence[Span]) -> Span:
    return Span(" ".join(word.text for word in words), words[0].start, max(word.end for word in words))


def _parts_cells(cell: Sequence[Span], char: Char, following: Char | None, gap: float, cuts: Sequence[float]) -> bool:
    """Whether a character begins another cell."""
    if gap > _CELL_GAP * char.size:
        return True
    if gap > _WORD_GAP * char.size and any(cell[-1].end - _EDGE <= cut <= char.left + _EDGE for cut in cuts):
        return True
    if char.text in _MONEY and following is not None:
        # A sign of money is of the next column behind a number, and where its own number stands apart from it.
        apart = following.left - char.right > _CELL_GAP * char.size
        return (gap > 0 and not following.text.isalpha() and _is_value(cell)) or (gap > _WORD_GAP * char.size and apart)
    return gap > _AFTER_NUMBER * char.size and (char.text.isalnum() or char.text == "(") and _is_value(cell)


def _is_value(cell: Sequence[Span]) -> bool:
    return is_value(" ".join(word.text for word in cell))


def paragraphs_of(chars: Sequence[Char], gap: float, usual: float) -> Iterator[str]:
    """Text in the order of the file; a gap between lines, or a jump upwards to the next column, parts paragraphs."""
    words = ""
    last: float | None = None
    for line in lines_of(chars):
        base = line[0].base
        if last is not None and not 0 <= last - base <= gap * usual:
            yield words
            words = ""
        words += ("" if not words or words.endswith("-") else " ") + words_of(line)
        last = base
    if words:
        yield words
