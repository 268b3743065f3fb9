"""Sources as a desk knows them: who sees which, where they are, and how they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from finexpert.app.actions.base import slug
from finexpert.app.people.people import Person
from finexpert.app.state import tables
from finexpert.app.state.stored import ColumnInfo, SourceInfo, SourceKind, TableInfo
from finexpert.warehouse.schema import TableSchema
from finexpert.warehouse.semantic_model.publishing import MOST_ROWS, house_rules


@dataclass(frozen=True)
class GivenSource:
    """A source that the command line or the settings name: everyone may ask it, and nobody removes it at a desk."""

    name: str
    kind: SourceKind = "data"
    place: str | None = None

    @property
    def id(self) -> str:
        return f"given-{slug(self.name)}"


@dataclass(frozen=True)
class Place:
    """Where a source is, as a desk opens it. `key` changes with whatever changes what is opened."""

    info: SourceInfo
    address: str | None
    key: str
    model: Path | None


def visible(person: Person) -> sa.Select[Any]:
    c = tables.sources.c
    of_team = sa.and_(c.shared, c.team == person.team)
    return sa.select(tables.sources).where(c.removed.is_(None), sa.or_(c.person == person.id, of_team))


def info_of(row: Any, person: Person) -> SourceInfo:
    mine = row["person"] == person.id
    removable = mine or person.can("manage")
    names = {name: row[name] for name in ("id", "name", "kind", "shared")}
    return SourceInfo(mine=mine, removable=removable, **names)


def given_info(source: GivenSource) -> SourceInfo:
    return SourceInfo(id=source.id, name=source.name, kind=source.kind, shared=True, mine=False, removable=False)


def table_of(table: TableSchema) -> TableInfo:
    columns = [
        ColumnInfo(
            name=column.name,
            type=column.type,
            comment=column.comment,
            published=None if column.categories is None else list(column.categories),
        )
        for column in table.columns
    ]
    small = table.rows is not None and table.rows <= MOST_ROWS and table.date is None
    return TableInfo(
        name=table.name,
        comment=table.comment,
        rows=table.rows,
        told=bool(table.told),
        rules=small and bool(house_rules([table])),
        small=small,
        columns=columns,
    )
