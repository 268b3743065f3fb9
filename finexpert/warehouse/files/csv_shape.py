"""How a CSV file is written: its encoding and delimiter, where its table begins, and what its columns are called.

    Quarterly report,,                    a title above the table: left out, and said so
    ,Revenue,Revenue
    Company,2023,2024                     two header rows: "Company", "Revenue 2023", "Revenue 2024"
    Apple,383.3,391.0

Only the first rows are looked at here. What the values are is found over the whole file, see `column_types`.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from finexpert.errors import DataError
from finexpert.warehouse.files.date_forms import is_date
from finexpert.warehouse.files.found import unused
from finexpert.warehouse.files.scales import scale_of

HEAD = 1 << 18
DELIMITERS = (",", ";", "\t", "|")
MOST_COLUMNS = 2_000
_MOST_NAME = 120
_CHUNK = 1 << 20
_NUMBER = re.compile(
    r"[(+\-\u2212]?\s?[$€£¥]?\s?[(+\-\u2212]?\s?\d[\d.,'\u2019 \u00a0\u2009\u202f]*([eE][+-]?\d+)?\s?[$€£¥]?[%)]{0,2}[$€£¥]?-?"
    r"|[+-]?[.,]\d+"
)
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}([-/.]\d{1,4})?([ T]\d.*)?|\d{1,2}[-. ][A-Za-z]{3,9}[-. ]\d{2,4}|[A-Za-z]{3,9} \d{1,2}, \d{4}"
)
_IN_BRACKETS = re.compile(r"[(\[].*[)\]]")
_SAID = re.compile(r"sep=([,;|\t])\r?\n", re.IGNORECASE)
_RANGE = re.compile(r"\d{1,3} ?[-\u2013] ?\d{1,3}")
_YEAR = re.compile(r"(19|20)\d\d")
MISSING = frozenset(
    ["", "na", "n/a", "n.a.", "n/m", "n.m.", "#n/a", "#n/a n/a", "nan", "null", "none", "-", "--", "\u2013", "\u2014", ".", "nat",
     "nil", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"]
)  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """Where a table begins in rows of texts: how many rows stand before its values, and the names of its columns.

    `comment` is what the rows above it say of its numbers.
    """

    skip: int
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    comment: str = ""


@dataclass(frozen=True)
class Shape:
    """How a CSV file is written, and where its table begins: its encoding as Python calls it, and as DuckDB does, if it reads it."""

    encoding: str
    duckdb: str | None
    delimiter: str
    layout: Layout


def shape_of(path: Path) -> Shape:
    """The shape of a file. DataError names the line that cannot be read."""
    encoding, duckdb = _encoding(path)
    with path.open("rb") as file:
        head, more = file.read(HEAD), bool(file.read(1))
    text = codecs.getincrementaldecoder(encoding)().decode(head).removeprefix("\ufeff")
    if not text.strip():
        raise DataError(f"{path} is empty: a table needs a header and rows")
    delimiter, records = _records(text, more)
    if len(max(records, key=len)) > MOST_COLUMNS:
        raise DataError(f"{path} has more than {MOST_COLUMNS} columns: it is no table, or it has to be turned first")
    return Shape(encoding, duckdb, delimiter, layout_of(records, str(path)))


# The longer marks first: that of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, ("utf-32", None)),
    (codecs.BOM_UTF32_BE, ("utf-32", None)),
    (codecs.BOM_UTF16_LE, ("utf-16", "utf-16")),
    (codecs.BOM_UTF16_BE, ("utf-16", None)),
)
# What stands in no text of Latin-1, but in the texts of Windows: the signs of the euro and of quotes.
_OF_WINDOWS = re.compile(rb"[\x80-\x9f]")
GUESSED = {"latin-1": "Latin-1", "cp1252": "Windows-1252"}


def _encoding(path: Path) -> tuple[str, str | None]:
    """As Python and DuckDB call it; what has no mark and is not UTF-8 is read as Latin-1, or as what Windows made of it."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        first = file.read(_CHUNK)
        if marked := next((names for mark, names in _MARKS if first.startswith(mark)), None):
            return marked
        if b"\0" in first:
            raise DataError(f"{path} is no text: a CSV file is expected behind this suffix")
        try:
            while first:
                decoder.decode(first)
                first = file.read(_CHUNK)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            file.seek(0)
            windows = any(_OF_WINDOWS.search(chunk) for chunk in iter(lambda: file.read(_CHUNK), b""))
            return ("cp1252", None) if windows else ("latin-1", "latin-1")
    return "utf-8", "utf-8"


def _records(text: str, cut: bool) -> tuple[str, list[list[str]]]:
    """The delimiter by which most rows have the same number of fields, and the rows."""
    if said := _SAID.match(text):
        # A line for Excel that says how fields are set apart: no row of the table.
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=said[1]))
        return said[1], [[], *(rows[1:-1] if cut and len(rows) > 2 else rows[1:])]
    best: tuple[tuple[float, int], str, list[list[str]]] | None = None
    for delimiter in DELIMITERS:
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        except csv.Error:
            continue
        rows = rows[:-1] if cut and len(rows) > 1 else rows
        widths = Counter(len(row) for row in rows if row)
        width, count = max(widths.items(), key=lambda item: (item[1] * (item[0] > 1), item[0]))
        score = (count / sum(widths.values()) if width > 1 else 0.0, width)
        if best is None or score > best[0]:
            best = (score, delimiter, rows)
    if best is None:
        raise DataError("its first rows cannot be read as CSV: a quoted text does not end")
    return best[1], best[2]


def layout_of(records: Sequence[Sequence[str]], place: str) -> Layout:
    """Where the table begins in its first rows.

    >>> layout_of([["Report"], [], ["day", "price"], ["2024-01-02", "1.5"]], "x.csv")
    Layout(skip=3, names=('day', 'price'), notes=('2 lines above the table were left out',), comment='')
    """
    width = _width(records)
    first = next((row for row in range(len(records)) if _may_be_header(records, row, width)), None)
    if first is None:
        raise DataError(f"{place}: no row could be the names of its columns. Leave one row of names above the values")
    if first and len(records[first - 1]) >= width - 1 and sum(map(bool, records[first - 1])) > 1:
        first -= 1  # groups of columns stand above their names
    body = [fields for fields in records[first + 1 :] if any(each.strip() for each in fields)]
    notes = [f"{first} lines above the table were left out"] if any(any(fields) for fields in records[:first]) else []
    comment = scale_of(" ".join(each for fields in records[:first] for each in fields))
    if not _is_header(records[first], body, f"{place}, line {first + 1}"):
        names = [f"column{number}" for number in range(1, width + 1)]
        return Layout(first, named(names), (*notes, "its columns have no names"), comment)
    if len(records[first]) < width and any(len(fields) == width and fields[-1].strip() for fields in body):
        raise DataError(
            f"{place}, line {first + 1}: it names {len(records[first])} columns, and the rows below hold {width} values. Name every column,"
            " and put numbers with a decimal comma in quotes"
        )
    last = first
    while last < first + 2 and last + 1 < len(records) and _is_further_header(records, last + 1):
        last += 1
    header = [list(fields) + [""] * (width - len(fields)) for fields in records[first : last + 1]]
    if last > first:
        notes.append(f"{last - first + 1} header rows were joined")
    for row, fields in enumerate(records[last + 1 :], last + 2):
        if any(each.strip() for each in fields) and len(fields) != width:
            raise DataError(
                f"{place}, line {row}: it has {len(fields)} fields, and the table {width}. Mend that line, or delete what is no row"
                f" of the table"
            )
    return Layout(last + 1, named(_joined(header)), tuple(notes), comment)


def _width(records: Sequence[Sequence[str]]) -> int:
    """How many columns the table has: as many as most rows have; a title or a note has fewer."""
    widths = Counter(len(fields) for fields in records if any(each.strip() for each in fields))
    if not widths:
        return 1
    return max(widths.items(), key=lambda item: (item[1] * (1 if item[0] > 1 else 0.3), item[0]))[0]


def _may_be_header(records: Sequence[Sequence[str]], row: int, width: int) -> bool:
    """Most fields hold a name; one may be missing at the end where every row ends with a delimiter."""
    fields = records[row]
    if sum(bool(each.strip()) for each in fields) < max(1, (width + 1) // 2):
        return False
    ends_empty = len(fields) == width - 1 and not any(len(each) == width and each[-1] for each in records[row + 1 :])
    return len(fields) == width or ends_empty


def is_number(text: str) -> bool:
    """Whether a text is written as a number, with whatever marks.

    >>> is_number("(1,204.50)"), is_number("12 %"), is_number("Q1")
    (True, True, False)
    """
    return bool(_NUMBER.fullmatch(text.strip()))


def is_value(text: str) -> bool:
    """Whether a text is a number or a date, as no name of a column is."""
    text = text.strip()
    return is_number(text) or bool(_DATE.fullmatch(text))


def _is_header(fields: Sequence[str], body: Sequence[Sequence[str]], place: str) -> bool:
    """Names are no values; years and days may be names, where what stands under them are none."""
    values = [place for place, each in enumerate(fields) if is_value(each) and not _is_range(place, fields, body)]
    if not values or not body:
        return True
    numbers = [int(text) for place in values if (text := fields[place].strip()).isdecimal()]
    if len(values) == len(numbers) >= 3 and numbers == list(range(numbers[0], numbers[0] + len(numbers))) and values[0]:
        raise DataError(f"{place}: 1, 2, 3 may be names or values. Give every column a name that is no number")
    below = [row[place].strip() for row in body for place in values if place < len(row) and row[place].strip()]
    told_apart = len({fields[place] for place in values}) == len(values)
    if all(is_date(fields[place].strip()) for place in values):
        return told_apart and not any(map(is_date, below)) and 0 not in values
    years = all(_YEAR.fullmatch(fields[place].strip()) for place in values)
    return years and told_apart and not all(map(_YEAR.fullmatch, below))


def _is_range(place: int, fields: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether a field is a range over what is none, as the 31-60 days of a list of what is overdue."""
    below = (row[place].strip() for row in body if place < len(row))
    return bool(_RANGE.fullmatch(fields[place].strip())) and not any(map(_RANGE.fullmatch, below))


def _is_further_header(records: Sequence[Sequence[str]], row: int) -> bool:
    """Words over columns of values, such as units; or years, where the row above does not tell the columns apart."""
    fields, above, body = records[row], [each.strip() for each in records[row - 1]], records[row + 1 :]
    if not any(each.strip() for each in fields[1:]):
        return False  # the title of a group of rows
    values = _columns_of_values(body)
    over = [fields[place].strip() for place in values if place < len(fields)]
    named = [each for each in over if each.lower() not in MISSING]
    # Names of groups stand above these: then every column has its name here.
    of_groups = sum(map(bool, fields)) > sum(map(bool, above)) and len(named) == len(values)
    if not of_groups and any(each.strip() and name and not _IN_BRACKETS.fullmatch(each.strip()) for place, (each, name)
           in enumerate(zip(fields, above, strict=False)) if place not in values):  # fmt: skip
        return False  # a text below a name: a row of the table
    if not named or any(
        is_value(each) and not _YEAR.fullmatch(each) for each in (fields if of_groups else named) if each.strip()
    ):
        return False
    if any(_YEAR.fullmatch(each) for each in named):
        return "" in above[1:] or len(set(above)) < len(above)
    return True


def _columns_of_values(body: Sequence[Sequence[str]]) -> list[int]:
    """The columns that hold numbers or dates, but for a few fields."""
    columns = []
    for place in range(max(map(len, body), default=0)):
        texts = [fields[place].strip() for fields in body if place < len(fields)]
        given = [text for text in texts if text.lower() not in MISSING]
        if len(given) >= 2 and sum(map(is_value, given)) >= 0.8 * len(given):
            columns.append(place)
    return columns


def _joined(header: Sequence[Sequence[str]]) -> list[str]:
    """Several header rows as one: an empty field of an upper row takes what stands to its left, as in merged cells."""
    filled: list[list[str]] = []
    for row in header[:-1]:
        left, full = "", []
        for each in row:
            left = each.strip() or left
            full.append(left)
        filled.append(full)
    filled.append([each.strip() for each in header[-1]])
    return [" ".join(dict.fromkeys(part for part in parts if part)) for parts in zip(*filled, strict=True)]


def named(names: Sequence[str]) -> tuple[str, ...]:
    """Names on one line, none empty and none twice."""
    taken: set[str] = set()
    clean = [" ".join("".join(char if char.isprintable() else " " for char in name).split()) for name in names]
    return tuple(unused(name[:_MOST_NAME] or f"column{number}", taken) for number, name in enumerate(clean, 1))
