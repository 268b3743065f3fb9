"""A small table read on pages of filings: every number is proved or computed by the program.

    year  revenue                       rows [["2021", "{r21}"], ["2022", "{r22}"]] over the columns year and revenue (million USD)
    2021  400.0
    2022  500.0

A cell that is a number names a value of the reading. What a model writes itself is a label: a year, a company, words in quotes.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, Field

from finexpert.core.workspace import Value
from finexpert.filings.page.numbers import SCALES
from finexpert.plans.pages.proved import Reading
from finexpert.plans.pages.reading import CarriedOut, FindPage, other_year
from finexpert.plans.pages.wording import in_unit

_NAME = re.compile(r"\{\{?\s*([A-Za-z_]\w*)\s*\}?\}")
_SCALE = re.compile(r"\b(thousand|million|billion|trillion)s?\b", re.IGNORECASE)
_PERCENT = re.compile(r"%|percent", re.IGNORECASE)
_EMPTY = ("", "-", "null", "none", "n/a", "nan")
_DTYPES = {"number": "float64", "year": "int64", "date": "datetime64[us]", "text": "str"}
_YEARS = range(1900, 2101)


class TableColumn(BaseModel):
    """One column of a table."""

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="small letters, digits and _")
    kind: Literal["number", "text", "date", "year"] = "number"
    unit: str = Field(default="", description="of numbers: million USD, %, USD per share, ...; '' if none")


@dataclass
class Tabled:
    """The table, what may be doubted of it, what it lacks, and why it cannot be used, if so."""

    data: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def tabled(
    reading: Reading, carried: CarriedOut, page: FindPage, columns: Sequence[TableColumn], rows: Sequence[Sequence[str]]
) -> Tabled:
    """The table of rows whose numbers are names of what was read and computed."""
    done = Tabled(pd.DataFrame())
    cells = _Cells(reading, carried, page, done)
    made = []
    for number, row in enumerate(rows, 1):
        if len(row) != len(columns):
            done.problems.append(f"row {number} has {len(row)} cells, and the table {len(columns)} columns")
            continue
        year = next((cell for cell, column in zip(row, columns, strict=True) if column.kind == "year"), "")
        made.append([cells.value(cell, column, year) for cell, column in zip(row, columns, strict=True)])
    if not rows:
        done.problems.append("the table has no row")
    done.data = pd.DataFrame(
        {column.name: _column(column, [row[n] for row in made]) for n, column in enumerate(columns)}
    )
    return done


def _column(column: TableColumn, values: Sequence[Any]) -> pd.Series[Any]:
    # A year that is missing makes its column one of floats.
    dtype = "float64" if column.kind == "year" and None in values else _DTYPES[column.kind]
    return pd.Series(list(values), dtype=dtype)


class _Cells:
    """Turns what stands in cells into values."""

    def __init__(self, reading: Reading, carried: CarriedOut, page: FindPage, done: Tabled) -> None:
        self._reading, self._carried, self._page, self._done = reading, carried, page, done

    def value(self, cell: str, column: TableColumn, year: str) -> Any:
        said = cell.strip()
        if said.lower() in _EMPTY:
            self._done.lacks.append(f"a row has no {column.name}: it is left empty")
            return None
        if column.kind == "number":
            return self._number(said, column, year)
        named = _NAME.fullmatch(said)
        text = self._carried.shown.get(named[1], said) if named else said
        return _label(text, column, self._done)

    def _number(self, said: str, column: TableColumn, year: str) -> float | None:
        named = _NAME.fullmatch(said)
        name = named[1] if named else said
        value = self._carried.values.get(name)
        if value is None or not isinstance(value.value, int | float):
            self._done.problems.append(
                f"{column.name} is {said!r}, and must be {{name}} of a number that a page prints"
            )
            return None
        for proved in self._reading.values:
            if proved.name == name and year.isdigit():
                doubts = other_year(self._page(proved.page), proved.model_copy(update={"name": f"{name} {year}"}))
                self._done.problems += doubts
        return self._in_unit(name, value, column)

    def _in_unit(self, name: str, value: Value, column: TableColumn) -> float:
        """The number in the unit of its column; the scale is that of its page."""
        number = float(value.value)  # type: ignore[arg-type]
        percent = bool(_PERCENT.search(column.unit))
        computed = next((each for each in self._reading.computed if each.name == name), None)
        if computed is not None and percent:
            return in_unit(value, computed.model_copy(update={"unit": "%"}))
        if value.unit in ("fraction", "ratio"):
            return number * 100 if percent and value.unit == "fraction" else number
        wanted = SCALES.get(found[1].lower(), 1.0) if (found := _SCALE.search(column.unit)) else 1.0
        if wanted != 1.0 and value.scale == 1.0:
            self._done.notes.append(f"{found[0]!r} of {name} is the plan's own word: its page names no scale")  # type: ignore[index]
            return number
        return number if " per " in column.unit else number * value.scale / wanted


def _label(said: str, column: TableColumn, done: Tabled) -> Any:
    """A year, a day or words."""
    if column.kind == "text":
        return said
    try:
        if column.kind == "date":
            return pd.Timestamp(dt.date.fromisoformat(said[:10]))
        year = int(re.sub(r"(?i)^FY\s*", "", said))
        if year in _YEARS:
            return year
    except ValueError:
        pass
    done.problems.append(f"{column.name} is {said!r}, and must be a {column.kind}")
    return None
