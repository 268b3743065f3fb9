"""What a server keeps: tables in SQLite at home, or in PostgreSQL for several servers side by side.

    with State.open(settings, options) as state, state.writing() as connection:
        connection.execute(tables.audit.insert().values(...))

What was written is durable when the `with` block ends. A change of several rows is one transaction.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

from finexpert.app.state import tables
from finexpert.errors import ConfigurationError, StoreError
from finexpert.language_models.secrets import known_secrets, redacted
from finexpert.settings import Settings
from finexpert.storage.closing import Closing
from finexpert.storage.private_files import make_file, make_folder

VERSION = "1"
WAIT_SECONDS = 30


class State(Closing):
    """The tables of a server. Many threads and several servers may use them at once."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self._is_file = engine.dialect.name == "sqlite"
        # SQLite has one writer. Waiting here is fair; waiting in SQLite is a race of tries.
        self._one_writer = threading.Lock()
        self._prepare()

    @classmethod
    def open(cls, settings: Settings, address: str | None = None) -> Self:
        """Open the state at an address, or in `home`; ConfigurationError where the address is of something else."""
        if address is None:
            folder = settings.home / "serve"
            make_folder(folder)
            make_file(folder / "state.sqlite")
            address = f"sqlite:///{folder / 'state.sqlite'}"
        return cls(_engine(address))

    def _prepare(self) -> None:
        with self._explained(), self.engine.begin() as connection:
            if not self._is_file:
                # Two servers that start at once make the tables one after the other.
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(1179403083)"))
            tables.metadata.create_all(connection)
            found = connection.scalar(sa.select(tables.meta.c.value).where(tables.meta.c.key == "version"))
            if found is None:
                connection.execute(tables.meta.insert().values(key="version", value=VERSION))
            elif found != VERSION:
                raise StoreError(
                    f"the state at {self.place} has the form {found}, and this version of finexpert reads {VERSION}: "
                    "use the version that made it, or name another with FINEXPERT_SERVE_STATE"
                )

    @property
    def place(self) -> str:
        """Where the state is, without a password."""
        return self.engine.url.render_as_string(hide_password=True)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection that reads one state of the tables."""
        with self._explained(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction: all of it is kept, or nothing."""
        if not self._is_file:
            with self._explained(), self.engine.begin() as connection:
                yield connection
            return
        with self._one_writer, self._explained(), self.engine.connect() as connection:
            connection = connection.execution_options(finexpert_writes=True)
            with connection.begin():
                yield connection

    def rows(self, statement: sa.Select[Any]) -> list[sa.RowMapping]:
        """The rows of a SELECT."""
        with self.reading() as connection:
            return list(connection.execute(statement).mappings())

    def row(self, statement: sa.Select[Any]) -> sa.RowMapping | None:
        """The first row of a SELECT, or None."""
        with self.reading() as connection:
            return connection.execute(statement).mappings().first()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            # SQLAlchemy's own words hold the statement; the driver's may hold the address.
            cause = redacted(str(getattr(error, "orig", None) or type(error).__name__).strip(), known_secrets())
            raise StoreError(
                f"the state at {self.place} cannot be used ({cause.splitlines()[0][:200]}): see to the disk or the server, "
                "or name another with FINEXPERT_SERVE_STATE"
            ) from error

    def close(self) -> None:
        self.engine.dispose()


def _engine(address: str) -> sa.Engine:
    try:
        url = sa.make_url(address)
    except sa.exc.ArgumentError:
        # SQLAlchemy's own words quote the address, and in it a password.
        raise ConfigurationError("FINEXPERT_SERVE_STATE is no address: write postgresql://user@host/database") from None
    kind = url.get_backend_name()
    if kind == "sqlite":
        return _sqlite(url)
    if kind != "postgresql":
        raise ConfigurationError(f"FINEXPERT_SERVE_STATE names a {kind}: the state is kept in SQLite or PostgreSQL")
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    try:
        return sa.create_engine(
            url, pool_size=10, max_overflow=20, pool_pre_ping=True, pool_timeout=WAIT_SECONDS, hide_parameters=True
        )
    except (ImportError, NoSuchModuleError):
        raise ConfigurationError(
            f"FINEXPERT_SERVE_STATE names the driver {url.drivername}, which is not installed: write postgresql+psycopg://, "
            "and `pip install 'finexpert[postgres]'`"
        ) from None


def _sqlite(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(
        url, pool_size=8, max_overflow=56, connect_args={"timeout": WAIT_SECONDS}, hide_parameters=True
    )

    @sa.event.listens_for(engine, "connect")
    def _prepared(connection: sqlite3.Connection, _: object) -> None:
        # Transactions are begun below: the driver would begin them late, and fail where two write.
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @sa.event.listens_for(engine, "begin")
    def _begun(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("finexpert_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
