"""Sources: connect, look at, publish, remove.

desk.add_source(owner, "Trades", "postgresql+psycopg://desk:pw@db/markets", shared=True)
desk.schema(reader, source.id).tables
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import sqlalchemy as sa

from finexpert.app.actions.base import Base
from finexpert.app.actions.places import GivenSource, Place, given_info, info_of, table_of, visible
from finexpert.app.guarding import uploads
from finexpert.app.guarding.addresses import checked_address
from finexpert.app.opened import Opened, OpenSources, open_place
from finexpert.app.people.people import Person
from finexpert.app.state import tables
from finexpert.app.state.naming import named, new_id, now
from finexpert.app.state.stored import FilingRow, SourceInfo, SourceKind, SourceSchema
from finexpert.errors import DataError, FinexpertError, NotFound, Refused
from finexpert.filings.library.library import Library
from finexpert.language_models.secrets import redacted
from finexpert.settings import Settings
from finexpert.warehouse.database_address import address_in
from finexpert.warehouse.semantic_model.document import load, save
from finexpert.warehouse.semantic_model.drafting import draft
from finexpert.warehouse.semantic_model.finding import beside
from finexpert.warehouse.semantic_model.publishing import lines_of, rows_of, told_of, values_of
from finexpert.warehouse.warehouse import Warehouse

MOST_VALUES = 50
MOST_FILINGS = 5_000


class Sources(Base):
    """What can be asked, and by whom."""

    def __init__(self, *args: Any, given: Sequence[GivenSource] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.given = {source.id: source for source in given or (GivenSource("Economy"),)}
        self.opened = OpenSources(self.options.idle_minutes * 60)

    def sources(self, person: Person) -> list[SourceInfo]:
        """The sources that a person may ask: the given ones, those of the team, and the person's own."""
        person.need("read")
        rows = self.state.rows(visible(person).order_by(tables.sources.c.made))
        return [*(given_info(source) for source in self.given.values()), *(info_of(row, person) for row in rows)]

    def add_source(
        self,
        person: Person,
        name: str,
        address: str | None = None,
        *,
        file: BinaryIO | None = None,
        filename: str = "",
        kind: SourceKind = "data",
        shared: bool = False,
    ) -> SourceInfo:
        """Connect a database, a folder or a library by address, or a file that is sent. It is opened once, to see that it can be.

        An address needs the right to manage, as it is the server that connects; a file needs the right to ask. Refused says
        what is not accepted; DataError and LibraryError say why it cannot be opened.
        """
        name = named(name, "a source")
        if (address is None) == (file is None):
            raise Refused("a source is an address or a file: give one of them")
        if shared or file is None:
            person.need("manage")
        person.need("ask")
        id = new_id()
        folder = self.folder / "uploads" / id
        if file is not None:
            self._check_room(person)
            place = str(uploads.keep(file, folder, filename or name, int(self.options.upload_mb * 1e6)))
        else:
            place = self._checked(str(address), kind)
        try:
            with self._computing.one(person.id), self._looked_at(kind, place, f"{id}:1"):
                pass
            row = {"id": id, "name": name, "kind": kind, "place": self.sealer.seal(place), "person": person.id,
                   "team": person.team, "shared": shared, "revision": 1, "made": now()}  # fmt: skip
            with self.state.writing() as connection:
                connection.execute(tables.sources.insert().values(row))
                self.log(connection, person, "add source", id, name)
        except BaseException as error:
            # Whatever went wrong, nobody could find the file again to remove it.
            uploads.remove(folder)
            if isinstance(error, FinexpertError):
                raise type(error)(self._without_paths(str(error), place)) from None
            raise
        return info_of(row, person)

    def remove_source(self, person: Person, source: str) -> None:
        """Take a source out. Conversations over it stay to be read; a file that was sent is deleted."""
        info = self._place(person, source).info
        if not info.removable:
            raise Refused(f"the source {info.name!r} was named when the server was started: start it without")
        if not info.mine:
            person.need("manage")
        with self.state.writing() as connection:
            connection.execute(
                tables.sources.update().where(tables.sources.c.id == source).values(removed=now(), place="")
            )
            connection.execute(tables.credentials.delete().where(tables.credentials.c.source == source))
            self.log(connection, person, "remove source", source, info.name)
        uploads.remove(self.folder / "uploads" / source)

    def connect_as(self, person: Person, source: str, user: str, password: str) -> None:
        """Have a shared database asked as this person: its own rights then decide which rows they see.

        Only user and password are replaced. Empty ones go back to those of the source.
        """
        person.need("ask")
        place = self._shared_place(person, source)
        if not _has_users(place):
            raise Refused(f"the source {place.info.name!r} has no users: only databases on a server have")
        sealed = self.sealer.seal(f"{user}\n{password}") if user else None
        if sealed is not None:
            # Tried before it is kept: a wrong password is said here, and the one from before stays.
            tried = self._as_person(place, person, sealed)
            try:
                with self._computing.one(person.id), self.opened.using(tried.key, self._maker(tried)):
                    pass
            except FinexpertError as error:
                raise type(error)(redacted(str(error), [password] if password else [])) from None
        own = tables.credentials.c
        with self.state.writing() as connection:
            connection.execute(tables.credentials.delete().where(own.source == source, own.person == person.id))
            if sealed is not None:
                row = {"source": source, "person": person.id, "sealed": sealed}
                connection.execute(tables.credentials.insert().values(row))
            self.log(connection, person, "connect as", source)

    def connected_as(self, person: Person, source: str) -> str | None:
        """The user that this person gave for a database, empty where it is asked as everybody does; None for what has no users."""
        person.need("read")
        own = tables.credentials.c
        if not _has_users(self._shared_place(person, source)):
            return None
        row = self.state.row(sa.select(own.sealed).where(own.source == source, own.person == person.id))
        return "" if row is None else self.sealer.open(row["sealed"]).partition("\n")[0]

    def schema(self, person: Person, source: str) -> SourceSchema:
        """The tables with their columns, or the filings of a library."""
        person.need("read")
        with self.source(person, source) as opened:
            info = self._place(person, source).info.model_copy(update={"label": getattr(opened, "label", None)})
            if isinstance(opened, Library):
                rows = [
                    FilingRow(**{name: getattr(each, name) for name in FilingRow.model_fields})
                    for each in opened.filings()
                ]
                return SourceSchema(source=info, card="", filings=rows[:MOST_FILINGS])
            return SourceSchema(
                source=info, card=opened.schema_card(), tables=[table_of(table) for table in opened.tables]
            )

    def values(self, person: Person, source: str, column: str) -> list[str]:
        """The most frequent values of a column ("table.column"), at most 50, or all rows of a small table, for the person's eyes."""
        person.need("ask")
        with self.warehouse(person, source) as warehouse:
            if (rows := rows_of(warehouse, column)) is not None:
                return lines_of(rows)
            return values_of(warehouse, column, MOST_VALUES)[:MOST_VALUES]

    def publish(self, person: Person, source: str, column: str, on: bool = True) -> list[str]:
        """Let models see the values of a column, or all rows of a small table, from now on, or hide them again; what they see then."""
        person.need("manage")
        place = self._place(person, source)
        target = place.model or self._model_place(place)
        with self.warehouse(person, source) as warehouse:
            model = load(target) if target.is_file() else draft(warehouse.tables, warehouse.name)
            model, values, _ = told_of(model, warehouse, column, MOST_VALUES, on)
        target.parent.mkdir(parents=True, exist_ok=True)
        save(model, target)
        with self.state.writing() as connection:
            changed = tables.sources.c
            connection.execute(
                tables.sources.update().where(changed.id == source).values(revision=changed.revision + 1)
            )
            self.log(connection, person, "publish values" if on else "hide values", source, column)
        return values

    @contextmanager
    def source(self, person: Person, source: str) -> Iterator[Any]:
        """An open source that a person may ask; NotFound for any other."""
        place = self._place(person, source)
        with self.opened.using(place.key, self._maker(place)) as opened:
            yield opened

    @contextmanager
    def warehouse(self, person: Person, source: str) -> Iterator[Warehouse]:
        """An open source that has tables."""
        with self.source(person, source) as opened:
            yield with_tables(opened)

    @contextmanager
    def library(self, person: Person, source: str) -> Iterator[Library]:
        """An open source that has filings."""
        with self.source(person, source) as opened:
            if not isinstance(opened, Library):
                raise Refused("a warehouse has no filings: this needs a library")
            yield opened

    def _maker(self, place: Place) -> Callable[[], Opened]:
        return lambda: open_place(place.info.kind, place.address, self._opening_settings(place.model))

    def _opening_settings(self, model: Path | None) -> Settings:
        """The settings of the server, whose semantic model counts for given sources alone."""
        return self.settings.model_copy(update={"semantic_model": model if model and model.is_file() else None})

    def _place(self, person: Person, source: str) -> Place:
        """Where a source is for a person, with the user and the password that they gave for it; NotFound for one that is not theirs."""
        place, own = self._shared_place(person, source), tables.credentials.c
        row = self.state.row(sa.select(own.sealed).where(own.source == source, own.person == person.id))
        return place if row is None else self._as_person(place, person, row["sealed"])

    def _shared_place(self, person: Person, source: str) -> Place:
        """Where a source is for everybody who may ask it."""
        if source in self.given:
            given = self.given[source]
            model = self.settings.semantic_model or (beside(Path(given.place)) if given.place else None)
            if model is None or not model.is_file():
                model = self.folder / "models" / f"{source}.model.yaml"
            state = model.stat().st_mtime_ns if model.is_file() else 0
            return Place(given_info(given), given.place, f"{source}:{state}", model)
        row = self.state.row(visible(person).where(tables.sources.c.id == source))
        if row is None:
            raise NotFound(f"there is no source {source[:80]!r}")
        model = self.folder / "models" / f"{source}.model.yaml"
        return Place(info_of(row, person), self.sealer.open(row["place"]), f"{source}:{row['revision']}", model)

    def _as_person(self, place: Place, person: Person, sealed: str) -> Place:
        user, _, password = self.sealer.open(sealed).partition("\n")
        url = sa.make_url(str(address_in(str(place.address))))
        # Not `url.set`: for it no password means the one that is there, which is not this person's.
        url = sa.URL.create(url.drivername, user, password or None, url.host, url.port, url.database, url.query)
        # What was opened with the credentials from before is not asked any more: each seal is another text.
        key = f"{place.key}:{person.id}:{hashlib.sha256(sealed.encode()).hexdigest()[:16]}"
        return replace(place, address=url.render_as_string(hide_password=False), key=key)

    def _model_place(self, place: Place) -> Path:
        return self.folder / "models" / f"{place.info.id}.model.yaml"

    def _checked(self, address: str, kind: SourceKind) -> str:
        place = checked_address(address, self.rules)
        if kind == "library" and "://" in place:
            raise Refused("a library is connected by its folder")
        return place

    @contextmanager
    def _looked_at(self, kind: SourceKind, place: str, key: str) -> Iterator[Any]:
        with self.opened.using(key, lambda: open_place(kind, place, self._opening_settings(None))) as opened:
            if not isinstance(opened, Library) and not opened.tables:
                raise DataError("it holds no table")
            yield opened

    def _check_room(self, person: Person) -> None:
        sent = self.state.rows(
            sa.select(tables.sources.c.id).where(
                tables.sources.c.person == person.id, tables.sources.c.removed.is_(None)
            )
        )
        if len(sent) >= self.options.uploads:
            raise Refused(f"you have connected {len(sent)} sources, and may have {self.options.uploads}: remove one")

    def _without_paths(self, message: str, place: str) -> str:
        """A message without the server's own folders and without a password."""
        if "://" in place:
            return redacted(message.replace(place, "the database"), [])
        # As it lies first: a relative place stands within it.
        for each in (Path(place).resolve(), Path(place).absolute(), place):
            message = message.replace(str(each), Path(place).name)
        return redacted(self.without_folders(message), [])


def _has_users(place: Place) -> bool:
    """Whether it is a database on a server."""
    return place.address is not None and not (address_in(place.address) or "sqlite").startswith("sqlite")


def with_tables(opened: Any) -> Warehouse:
    """A source that has tables; Refused for a library."""
    if isinstance(opened, Library):
        raise Refused("a library of filings has no tables: this needs a warehouse")
    warehouse: Warehouse = opened
    return warehouse
