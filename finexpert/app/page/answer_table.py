"""One page of the rows of an answer, sorted by their values.

page_of("a1", data, sort=1, down=True).rows[0]      ["2020-04-01", "14.8"]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from finexpert.core.display.columns import Kind, kind, missing, written

ROWS = 100

Order = Literal["ascending", "descending", ""]


@dataclass(frozen=True)
class Heading:
    name: str
    kind: Kind
    order: Order


@dataclass(frozen=True)
class TablePage:
    """`first` and `last` count rows from 1; `sort` is the number of a column, -1 for the order in which the rows came."""

    answer: str
    caption: str
    columns: list[Heading]
    rows: list[list[str | None]]
    first: int
    last: int
    total: int
    page: int
    sort: int
    down: bool


def page_of(
    answer: str, data: pd.DataFrame, *, page: int = 1, sort: int = -1, down: bool = False, caption: str = ""
) -> TablePage:
    """The rows of a page; what lies outside of the table is taken to be its first page, and its own order."""
    sort = sort if 0 <= sort < data.shape[1] else -1
    pages = max(1, math.ceil(len(data) / ROWS))
    page = page if 1 <= page <= pages else 1
    kinds = [kind(data.iloc[:, at]) for at in range(data.shape[1])]
    ordered = data if sort < 0 else data.iloc[_order(data.iloc[:, sort], down)]
    start = (page - 1) * ROWS
    part = ordered.iloc[start : start + ROWS]
    texts = [written(part.iloc[:, at], data.iloc[:, at]) for at in range(data.shape[1])]
    columns = [
        Heading(str(name), of, ("descending" if down else "ascending") if at == sort else "")
        for at, (name, of) in enumerate(zip(data.columns, kinds, strict=True))
    ]
    rows = [list(row) for row in zip(*texts, strict=True)]
    last = start + len(part)
    return TablePage(answer, caption, columns, rows, min(start + 1, last), last, len(data), page, sort, down)


def _order(column: pd.Series, down: bool) -> list[int]:
    """The places of the rows, sorted; what is missing comes last both ways, and equal rows stay in their order."""
    try:
        ranks = column.rank(method="dense", na_option="keep")
    except TypeError:  # values of several types have no order but that of their texts
        ranks = column.map(lambda value: None if missing(value) else str(value)).rank(method="dense")
    return (
        (-ranks if down else ranks).reset_index(drop=True).sort_values(kind="stable", na_position="last").index.tolist()
    )
