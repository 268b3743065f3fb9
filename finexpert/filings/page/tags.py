"""Tags of inline XBRL: what a filing itself says a printed number is, its concept, period, unit and scale.

    >>> tag = Tag("us-gaap:Revenues", "274,515", "USD", 6, "2019-09-29", "2020-09-26", row=1, column=1)
    >>> tag.words
    'us-gaap:Revenues, 2019-09-29 to 2020-09-26, USD in millions'
    >>> tag.settled(None, 1.0)
    ('USD', 1000000.0, ())

Where a number has a tag, its unit and scale are those of the tag, and not what the words around it suggest. A tag's sign is that of
its concept ("payments" are positive) and not that of the page, so it is not kept.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

from finexpert.errors import DataError

MOST = 20_000
_NAME = re.compile(r"[\w.-]{1,100}:[\w.-]{1,200}", re.ASCII)
_UNIT = re.compile(r"[\w.:/ -]{0,100}", re.ASCII)
_DATE = re.compile(r"(?:\d{4}-\d\d-\d\d)?", re.ASCII)
_NOT_DIGITS = re.compile(r"[^\d.,]")
_SCALES = {3: " in thousands", 6: " in millions", 9: " in billions", 12: " in trillions"}
_LARGEST_SCALE = 15
_LONGEST = 60
_MONEY = re.compile(r"[A-Z]{3}(?: per share)?")
PURE = "pure"
DIFFERS = "its tag says"


@dataclass(frozen=True)
class Tag:
    """A tagged number. `start` is empty where it holds at a point in time; `row` is -1 where it stands in no cell of the table."""

    concept: str
    printed: str
    unit: str
    scale: int
    start: str
    end: str
    about: tuple[str, ...] = ()
    row: int = -1
    column: int = -1

    @property
    def words(self) -> str:
        """What the tag says, in a line."""
        time = f"{self.start} to {self.end}" if self.start else self.end
        unit = f"{self.unit}{_SCALES.get(self.scale, f' times 10^{self.scale}' if self.scale else '')}".strip()
        return ", ".join(filter(None, [self.concept, *self.about, time, unit]))

    def settled(self, unit: str | None, scale: float) -> tuple[str | None, float, tuple[str, ...]]:
        """Unit and scale of the number, in place of what the page's words say, and a flag where those name another scale.

        A percentage stays as it was read.
        """
        if unit == "fraction" or self.scale < 0:
            return unit, scale, ()
        own = self.unit if self.unit == "shares" or _MONEY.fullmatch(self.unit) else None
        # Words that name no scale say nothing, and none means amounts per share.
        differs = scale not in (1.0, 10.0**self.scale) and not self.unit.endswith(" per share")
        flag = f"{DIFFERS} {10**self.scale:,} times what is printed, the words of the page {scale:,.0f} times"
        return own, 10.0**self.scale, (flag,) if differs else ()


def placed(table: Sequence[Sequence[str]], first: int, tags: Sequence[Tag]) -> list[Tag]:
    """The tags of a table, each with its cell: tags and the cells with the same digits stand in the same order.

    Rows from `first` are of the body. Where there are more cells with the same digits than tags, or fewer, it is not known which is
    meant, and none is.

    >>> rows = [("", "2020", "2019"), ("Sales", "$ 5", "4"), ("Costs", "(4)", "3")]
    >>> [(tag.row, tag.column) for tag in placed(rows, 1, [Tag("a:B", each, "USD", 6, "", "2020-01-31") for each in "4453"])]
    [(1, 2), (2, 1), (1, 1), (2, 2)]
    """
    cells: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in range(first, len(table)):
        for column in range(1, len(table[row])):
            cells[_digits(table[row][column])].append((row, column))
    by_digits: dict[str, list[Tag]] = defaultdict(list)
    for tag in tags:
        by_digits[_digits(tag.printed)].append(tag)
    found = []
    for digits, some in by_digits.items():
        places = cells[digits]
        if len(places) != len(some):
            found += some
            continue
        found += [replace(tag, row=row, column=column) for tag, (row, column) in zip(some, places, strict=True)]
    return found


def of_text(tags: Iterable[Tag], number: str, printed: int) -> Tag | None:
    """The tag of a number that the text prints so many times, where each has one, and all say the same of it."""
    found = [replace(tag, printed="") for tag in tags if tag.row < 0 and _digits(tag.printed) == _digits(number)]
    return found[0] if len(found) == printed and len(set(found)) == 1 else None


def _digits(text: str) -> str:
    return _NOT_DIGITS.sub("", text).strip(".,") or text.strip("$()% ")


def as_json(tags: Iterable[Tag]) -> list[list[Any]]:
    return [list(astuple(tag)) for tag in tags]


def checked(raw: Any, place: str) -> tuple[Tag, ...]:
    """Tags as another process or a file gives them; DataError where they are none."""
    if not isinstance(raw, list | tuple) or len(raw) > MOST:
        raise DataError(f"{place}: its tags are no list of at most {MOST:,}")
    return tuple(_tag(each, place) for each in raw)


def _tag(raw: Any, place: str) -> Tag:
    try:
        concept, printed, unit, scale, start, end, about, row, column = raw
        tag = Tag(concept, printed, unit, scale, start, end, tuple(about), row, column)
        right = (
            all(_NAME.fullmatch(name) for name in (concept, *tag.about))
            and _UNIT.fullmatch(unit)
            and all(_DATE.fullmatch(day) for day in (start, end))
            and isinstance(printed, str)
            and len(printed) <= _LONGEST
            and all(type(number) is int for number in (scale, row, column))
            and abs(scale) <= _LARGEST_SCALE
        )
    except (TypeError, ValueError):
        right = None
    if not right:
        raise DataError(f"{place}: {str(raw)[:100]!r} is no tag of a number")
    return tag
