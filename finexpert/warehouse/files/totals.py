"""Rows of a table that are sums of its other rows, and notes that stand below it.

    desk,amount
    a,1.5
    b,2
    Total,3.5          left out: it would count everything twice
    Source: ledger,    left out

A row is called a total by one of its first fields. It is left out if it holds the sum of the rows above it, of those since the total
before it, or of all; otherwise it is read as any other, and the table's comment says that there are such rows. A row that names what it
sums ("Total assets") may be asked about: it goes only where it is the last.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb

from finexpert.warehouse.files.csv_shape import is_value
from finexpert.warehouse.quoting import literal

ROW = "finexpert_row"
_LABELS = 4
_MOST = 2_000
_WORDS = r"(grand|sub|sous|zwischen|gesamt|end)?[ -]?(totals?|summen?|sum|gesamt|insgesamt|subtotal|somme|ensemble)( g[eé]n[eé]ral)?"
_ALONE = rf"(?i)\s*{_WORDS}\s*[:.]?\s*"
_NAMED = r"(?i)\s*(grand |sub-?)?(total|summe|gesamt)\b.{1,80}|.{1,80}\b(sub-?)?total\s*:?\s*"
_LAST = re.compile(r"\s*(grand\s+|sub)?(totals?|sum|summe|gesamt)\b", re.IGNORECASE)
_FOOTNOTE = r"(?i)\s*(sources?|quellen?|notes?|hinweis|remarks?|disclaimer|footnotes?|generated|exported|printed|report date)\b.*[:. ].*|\s*(\*|†|©|\(\d\) ).*"


@dataclass(frozen=True)
class Found:
    """The numbers of rows by what they seem to be: `alone`, `named` or `unnamed` totals, or a `footnote`.

    `last` is the number of the last row above the footnotes.
    """

    rows: dict[int, str] = field(default_factory=dict)
    last: int = 0

    def without(self, texts: str) -> str:
        """The rows of a table without these, in their order."""
        if not self.rows:
            return texts
        listed = ", ".join(map(str, sorted(self.rows)))
        return f"(SELECT * EXCLUDE ({ROW}) FROM {numbered(texts)} WHERE {ROW} NOT IN ({listed}))"


@dataclass(frozen=True)
class Judged:
    """Which rows are left out, how many are kept after all, and what is said of both."""

    left_out: Found
    kept: int
    notes: list[str]
    comment: str = ""


def numbered(texts: str) -> str:
    """The rows of a table with their number."""
    return f"(SELECT *, row_number() OVER () AS {ROW} FROM {texts})"


def found(
    connection: duckdb.DuckDBPyConnection,
    texts: str,
    columns: Sequence[str],
    last: Sequence[str],
    sample: Sequence[Sequence[str | None]],
) -> Found:
    """The rows that may be no rows of the table; `last` is how the file ends, `sample` how it begins."""
    labels = [column for place, column in enumerate(columns[:_LABELS]) if _holds_words(sample, place)]
    found = _called(connection, texts, labels) if labels else {}
    ends = _ends(last)
    if not (found or ends) or len(columns) < 2:
        return Found()
    tail = connection.execute(
        f"SELECT {ROW}, {', '.join(columns)} FROM {numbered(texts)} ORDER BY {ROW} DESC LIMIT 20"
    ).fetchall()
    notes = list(itertools.takewhile(_is_footnote, tail))
    found |= dict.fromkeys((row[0] for row in notes), "footnote")
    if len(notes) < len(tail):
        number, *fields = tail[len(notes)]
        if found.get(number, "named") == "named" and any(_LAST.match(each or "") for each in fields):
            found[number] = "last"
        elif not (fields[0] or "").strip() and number > 2 and number not in found:
            found[number] = "unnamed"
    return Found(found, tail[len(notes)][0] if len(notes) < len(tail) else 0)


def _holds_words(sample: Sequence[Sequence[str | None]], place: int) -> bool:
    return any((text := row[place]) and not is_value(text) for row in sample)


def _called(connection: duckdb.DuckDBPyConnection, texts: str, labels: Sequence[str]) -> dict[int, str]:
    alone, named = (
        " OR ".join(f"(length({label}) < 100 AND regexp_full_match({label}, {literal(pattern)}))" for label in labels)
        for pattern in (_ALONE, _NAMED)
    )
    kinds = f"CASE WHEN {alone} THEN 'alone' WHEN {named} THEN 'named' END"
    # One quick look at all labels of a row: few rows are left for the other patterns.
    likely = f"regexp_matches(concat_ws('|', {', '.join(labels)}), '(?i)total|sum|gesamt|somme|ensemble')"
    called = f"SELECT {ROW}, {kinds} AS kind FROM {numbered(texts)} WHERE {likely}"
    rows = connection.execute(f"SELECT * FROM ({called}) WHERE kind IS NOT NULL LIMIT {_MOST + 1}").fetchall()
    return dict(rows) if len(rows) <= _MOST else {}


def _ends(last: Sequence[str]) -> bool:
    """Whether the end of a file is worth a look: a total by its name or without one, or a note."""
    return not last or not last[0].strip() or any(map(_LAST.match, last)) or bool(re.fullmatch(_FOOTNOTE, last[0]))


def _is_footnote(row: Sequence[Any]) -> bool:
    _, first, *others = row
    return bool(re.fullmatch(_FOOTNOTE, first or "", re.DOTALL)) and not any((each or "").strip() for each in others)


def judged(connection: duckdb.DuckDBPyConnection, texts: str, found: Found, numbers: Sequence[str]) -> Judged:
    """Which of the rows are sums of the others."""
    totals = sorted(number for number, kind in found.rows.items() if kind != "footnote")
    sums = _sums(connection, texts, found, totals, numbers)
    summed = {number for number in totals if sums[number].matches(found.rows[number])}
    out = {row: kind for row, kind in found.rows.items() if kind == "footnote" or (kind != "named" and row in summed)}
    kept = [row for row in totals if row not in out]
    notes = []
    if footnotes := sum(kind == "footnote" for kind in out.values()):
        notes.append(
            f"{footnotes} notes below the table were left out"
            if footnotes > 1
            else "a note below the table was left out"
        )
    last = found.last
    if (others := len(out) - footnotes - (last in out)) > 0:
        notes.append(f"{others + (last in out)} rows that are totals of others were left out")
    elif last in out:
        notes.append("the last row is the total of the others and was left out")
    if last in kept and found.rows[last] in ("last", "alone"):
        notes.append("the last row is called a total, and was read as any other: its numbers are no sum of the others")
    comment = ""
    if any(row in summed or found.rows[row] == "alone" for row in kept):
        comment = (
            "some rows are called totals and may be sums of other rows: leave them out of sums, counts and averages"
        )
        notes.append("some rows are called totals and were read as any other")
    return Judged(Found(out), len(kept), notes, comment)


@dataclass(frozen=True)
class _Sums:
    """By column of numbers, what a row holds, and the sums that it may be."""

    columns: list[tuple[float | None, tuple[float | None, ...]]]

    def matches(self, kind: str) -> bool:
        """Whether one of its numbers is a sum; of a row without a name, each. Only where a total is called so, zero is one."""
        told = [
            any(one is not None and math.isclose(value, one, rel_tol=1e-6, abs_tol=0.005) for one in sums)
            for value, sums in self.columns
            if value or (value is not None and kind == "alone")
        ]
        return all(told) and bool(told) if kind == "unnamed" else any(told)


def _sums(
    connection: duckdb.DuckDBPyConnection, texts: str, found: Found, totals: Sequence[int], numbers: Sequence[str]
) -> dict[int, _Sums]:
    """For each of these rows, its numbers and the sums of the others: above it, since the row before it, and all."""
    if not numbers or not totals:
        return {number: _Sums([]) for number in totals}
    held = ", ".join(map(str, totals))
    values = ", ".join(f"TRY({number})" for number in numbers)
    rows = connection.execute(f"SELECT {ROW}, {values} FROM {numbered(texts)} WHERE {ROW} IN ({held})").fetchall()
    own = {row[0]: row[1:] for row in rows}
    without = ", ".join(map(str, found.rows))
    before = f"list_aggregate(list_filter([{held}], lambda one: one < {ROW}), 'count')"
    parts = connection.execute(
        f"SELECT {before} AS part, {', '.join(f'sum({number})' for number in numbers)} FROM {numbered(texts)}"
        f" WHERE {ROW} NOT IN ({without}) GROUP BY part"
    ).fetchall()
    by_part = {int(row[0]): row[1:] for row in parts}
    return {
        number: _Sums([_one(own[number], by_part, place, column) for column in range(len(numbers))])
        for place, number in enumerate(totals)
    }


def _one(
    own: Sequence[Any], parts: Mapping[int, Sequence[Any]], place: int, column: int
) -> tuple[float | None, tuple[float | None, ...]]:
    value = own[column]
    summed = {part: float(row[column]) for part, row in parts.items() if row[column] is not None}
    above = [one for part, one in summed.items() if part <= place]
    everything = sum(summed.values()) if summed else None
    choices = (summed.get(place), sum(above) if above else None, everything)
    return None if value is None else float(value), choices
