"""What the catalogue does not say of tables: dates in texts and numbers, and keys that no constraint declares.

    trades.trade_dt VARCHAR  ->  dates as texts YYYYMMDD, and the date column of trades

A few rows of a few columns are looked at, within a budget of seconds, once a state of the data; no value is kept.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from sqlglot import exp

from finexpert.core.pace import Pace
from finexpert.storage import foreign_files
from finexpert.storage.private_files import make_folder, write_whole
from finexpert.warehouse.dates import KINDS, SAMPLE, DateColumn, choose, kind_of_type, kind_of_values, may_be_date
from finexpert.warehouse.keys import key_of, with_inferred
from finexpert.warehouse.schema import Column, ForeignKey, TableSchema

if TYPE_CHECKING:
    import pandas as pd

# Once a state of the data: what is found is kept.
SECONDS = 3.0
LOOKS = 2
"""Raised where forms, names or keys are found in another way than before."""
# A table of more rows is not read whole to see whether a column is unique.
SMALL = 2_000_000
_FIRST = 5_000
_LOOKED_UP = 1_000
Ask = Callable[[str, float], "pd.DataFrame | None"]


def profiled(
    tables: Sequence[TableSchema], ask: Ask, dialect: str, *, cache: Path | None = None, state: str | None = None
) -> list[TableSchema]:
    """The tables with the forms of their dates, their date columns and inferred keys.

    `ask` runs a SELECT within seconds and gives None where it cannot. With a `state` of the data, what was found is kept in the
    folder `cache`: names and kinds, no values. Where the time was too short for all, the next time goes on.
    """
    path = cache / f"{_key(tables, state)}.json" if cache is not None and state is not None else None
    if path is not None and (kept := _read(path, tables)) is not None:
        return _applied(tables, kept)
    partly = path.with_suffix(".looks.json") if path is not None else None
    look = _Looking(ask, dialect, SECONDS, _looks(partly))
    kinds = {f"{table.name}.{column.name}": kind for table in tables for column, kind in _kinds(table, look)}
    own = {table.name: key for table in tables if not table.keys and (key := key_of(table, look))}
    with_keys = with_inferred([_with_key(table, own) for table in tables], look)
    inferred = [
        [table.name, key.columns[0], key.table, key.referred[0]]
        for table in with_keys
        for key in table.foreign_keys
        if key.inferred
    ]
    found = {"dates": kinds, "keys": inferred, "own": own}
    if path is not None and partly is not None:
        make_folder(path.parent)
        if look.left > 0:
            write_whole(path, json.dumps(found))
            partly.unlink(missing_ok=True)
        else:
            # Of many tables the next opening goes on from here.
            write_whole(partly, json.dumps(look.found))
    return _applied(tables, found)


def _kinds(table: TableSchema, look: _Looking) -> list[tuple[Column, str]]:
    found = []
    for column in table.columns:
        typed = kind_of_type(column.type) is not None
        if typed and not look.dates_are_texts:
            continue
        if not typed and (not may_be_date(column.name) or not (column.is_text or _is_number(column))):
            continue
        if kind := look.kind(table, column.name):
            found.append((column, kind))
    return found


def _is_number(column: Column) -> bool:
    name = column.type.upper()
    return any(word in name for word in ("INT", "DOUBLE", "FLOAT", "REAL", "NUMERIC", "DECIMAL", "NUMBER"))


def _applied(tables: Sequence[TableSchema], found: dict[str, Any]) -> list[TableSchema]:
    keys: dict[str, list[ForeignKey]] = {}
    for name, column, other, target in found["keys"]:
        keys.setdefault(name, []).append(ForeignKey((column,), other, (target,), inferred=True))
    return [
        with_date(
            replace(
                _with_key(table, found["own"]),
                columns=tuple(_dated(table.name, column, found["dates"]) for column in table.columns),
                foreign_keys=(*table.foreign_keys, *keys.get(table.name, ())),
            )
        )
        for table in tables
    ]


def _with_key(table: TableSchema, own: dict[str, str]) -> TableSchema:
    return replace(table, primary_key=(own[table.name],), key_inferred=True) if table.name in own else table


def _dated(table: str, column: Column, kinds: dict[str, str]) -> Column:
    kind = kinds.get(f"{table}.{column.name}")
    return replace(column, dates=kind) if kind else column


def with_date(table: TableSchema) -> TableSchema:
    """The table with the column by which `as_of` hides rows, where none was declared."""
    if table.date is not None and table.date.declared:
        return replace(table, date=date_of(table, table.date.name))
    if table.date is not None or table.timeless:
        return table
    found = choose((one.name, kind) for one in table.columns if (kind := one.dates or kind_of_type(one.type)))
    return replace(table, date=found) if found else table


def date_of(table: TableSchema, name: str) -> DateColumn:
    """The date column that an owner declared, with the kind of its dates."""
    column = table.column(name)
    kind = (column.dates or kind_of_type(column.type)) if column else ""
    return DateColumn(name, kind or "date", declared=True)


class _Looking:
    """Looks at a few rows within a budget of seconds, as of an idle machine. `found` is what came out so far: kinds, yes and no."""

    def __init__(self, ask: Ask, dialect: str, seconds: float, found: dict[str, bool | str]) -> None:
        self._ask, self._dialect, self.left, self._pace = ask, dialect, seconds, Pace()
        self.found = found
        # A column of SQLite that is called DATE holds whatever was put into it.
        self.dates_are_texts = dialect == "sqlite"

    def kind(self, table: TableSchema, column: str) -> str:
        """The form of the dates of a column; empty where it holds none, or there was no time."""
        return str(self._once(("kind", table.name, column), lambda: self._kind(table, column)) or "")

    def unique(self, table: TableSchema, column: str) -> bool | None:
        return self._told(self._once(("unique", table.name, column), lambda: self._unique(table, column)))

    def included(self, table: TableSchema, column: str, other: TableSchema, other_column: str) -> bool | None:
        key = ("included", table.name, column, other.name, other_column)
        return self._told(self._once(key, lambda: self._included(table, column, other, other_column)))

    def _once(self, key: tuple[str, ...], look: Callable[[], bool | str | None]) -> bool | str | None:
        """What a look gave before, else gives now; None where it gave nothing, or there is no time."""
        name = json.dumps(key)
        if name not in self.found and self.left > 0 and (made := look()) is not None:
            self.found[name] = made
        return self.found.get(name)

    def _told(self, found: bool | str | None) -> bool | None:
        return found if isinstance(found, bool) else None

    def _kind(self, table: TableSchema, column: str) -> str | None:
        data = self._run(_some(table, column, SAMPLE))
        return None if data is None else kind_of_values(data.iloc[:, 0].tolist()) or ""

    def _unique(self, table: TableSchema, column: str) -> bool | None:
        small = table.rows is not None and table.rows <= SMALL
        first = () if table.rows is not None and table.rows <= _FIRST else (_FIRST,)
        for rows in (*first, *((None,) if small else ())):
            twice = exp.select("1").from_(_some(table, column, rows).subquery("some_rows")).group_by(_quoted(column))
            data = self._run(twice.having("count(*) > 1").limit(1))
            if data is None or len(data):
                return None if data is None else False
        return True if small else None

    def _included(self, table: TableSchema, column: str, other: TableSchema, other_column: str) -> bool | None:
        wanted = (
            exp.select(_quoted(column).as_("value"))
            .distinct()
            .from_(_some(table, column, _LOOKED_UP).subquery("some_rows"))
        )
        there = (
            exp.select("1")
            .from_(from_named(other.name))
            .where(exp.EQ(this=_quoted(other_column), expression=exp.column("value", "wanted")))
        )
        missing = exp.select("1").from_(wanted.subquery("wanted")).where(exp.Not(this=exp.Exists(this=there)))
        some = self._run(_some(table, column, 1))
        if some is None or not len(some):
            return None
        data = self._run(missing.limit(1))
        return None if data is None else len(data) == 0

    def _run(self, select: exp.Query) -> pd.DataFrame | None:
        if self.left <= 0:
            return None
        sql, slowness = select.sql(self._dialect), self._pace.slowness
        started = time.monotonic()
        with self._pace.elsewhere():
            data = self._ask(sql, self.left * slowness)
        self.left -= (time.monotonic() - started) / slowness
        return data


def _some(table: TableSchema, column: str, rows: int | None) -> exp.Select:
    select = exp.select(_quoted(column)).from_(from_named(table.name)).where(_quoted(column).is_(exp.null()).not_())
    return select if rows is None else select.limit(rows)


def _quoted(column: str) -> exp.Column:
    return exp.column(column, quoted=True)


def from_named(name: str) -> exp.Table:
    """A table of the warehouse as it stands in a FROM."""
    schema, _, last = name.rpartition(".")
    return exp.table_(last, db=schema or None, quoted=True)


def _key(tables: Sequence[TableSchema], state: str | None) -> str:
    shape = [(table.name, [(column.name, column.type) for column in table.columns]) for table in tables]
    # What a release finds another does not: what an earlier one kept is looked at anew.
    return hashlib.sha256(repr((LOOKS, state, shape)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


_LOOKS = TypeAdapter(dict[str, bool | str])


class _Kept(BaseModel):
    dates: dict[str, str]
    keys: list[tuple[str, str, str, str]]
    own: dict[str, str]


def _looks(path: Path | None) -> dict[str, bool | str]:
    """What the looks gave for which there was time at earlier openings."""
    try:
        found = _LOOKS.validate_json(path.read_bytes()) if path is not None else {}
    except (OSError, ValidationError):
        return {}
    return {name: told for name, told in found.items() if isinstance(told, bool) or told in ("", *KINDS)}


def _read(path: Path, tables: Sequence[TableSchema]) -> dict[str, Any] | None:
    """What was kept, if it is of these tables and columns; else it is found anew."""
    try:
        kept = _Kept.model_validate_json(foreign_files.read_bytes(path))
    except (OSError, ValidationError):
        return None
    columns = {f"{table.name}.{column.name}" for table in tables for column in table.columns}
    named = [*kept.dates, *(f"{table}.{column}" for table, column in kept.own.items())]
    named += [f"{table}.{column}" for key in kept.keys for table, column in (key[:2], key[2:])]
    return kept.model_dump() if set(named) <= columns and set(kept.dates.values()) <= set(KINDS) else None
