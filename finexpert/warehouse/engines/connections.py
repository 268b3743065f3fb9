"""Connections to a database by its URL, which read and do nothing else.

    postgresql+psycopg://desk@db/markets   a read-only transaction, an empty search path, the server's own time limit
    mysql+pymysql://desk@db/markets        MySQL or MariaDB: a read-only transaction, the server's own time limit
    sqlite:///markets.db                   a file opened read-only, with SQLite's authorizer

Give a server a user that can only read its tables all the same: what no statement asks for, no mistake gives away.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import NullPool

from finexpert.errors import ConfigurationError, DataError
from finexpert.warehouse.engines.sqlite_connection import WAIT_SECONDS, confine, open_sqlite

DIALECTS = {"postgresql": "postgres", "mysql": "mysql", "mariadb": "mysql", "sqlite": "sqlite"}
DRIVERS = {"postgresql": "psycopg", "mysql": "pymysql", "mariadb": "pymysql"}
CONNECTIONS = 8


def without_schema(address: str) -> tuple[str, str | None]:
    """An address without the schema that `?schema=` names, and that schema.

    >>> without_schema("postgresql://db/markets?schema=macro")
    ('postgresql://db/markets', 'macro')
    """
    try:
        url = make_url(address)
    except ArgumentError:
        return address, None
    schema = url.query.get("schema")
    if not isinstance(schema, str):
        return address, None
    return url.difference_update_query(["schema"]).render_as_string(hide_password=False), schema


def engine_of(address: str) -> tuple[sa.Engine, str]:
    """The engine of a URL and sqlglot's name of its dialect. Nothing is connected yet."""
    try:
        url = make_url(address)
    except ArgumentError:
        # SQLAlchemy's own words quote the address, and in it a password.
        raise ConfigurationError(
            "the address of the database is no URL: write postgresql://user@host/database, mysql://user@host/database or sqlite:///file.db"
        ) from None
    name = url.get_backend_name()
    if name not in DIALECTS:
        raise ConfigurationError(
            f"databases of the kind {name} are not read yet: {', '.join(DIALECTS)} are, and DuckDB files"
        )
    if name == "sqlite":
        return _sqlite(url), DIALECTS[name]
    if url.drivername == name:
        url = url.set(drivername=f"{name}+{DRIVERS[name]}")
    if DIALECTS[name] == "mysql" and (url.get_driver_name() != "pymysql" or not url.database):
        raise ConfigurationError(
            "the address must name the driver and a database: write mysql+pymysql://user@host/database"
        )
    try:
        # Prepared statements: the server itself refuses a text that holds two of them.
        options: dict[str, Any] = {"prepare_threshold": 0} if url.get_driver_name() == "psycopg" else {}
        made = sa.create_engine(
            url,
            connect_args={"connect_timeout": WAIT_SECONDS, **options},
            pool_size=CONNECTIONS,
            max_overflow=CONNECTIONS * 2,
            pool_timeout=WAIT_SECONDS,
            pool_pre_ping=True,
            hide_parameters=True,
        )
        if DIALECTS[name] == "mysql":
            from finexpert.warehouse.engines import mysql_connection

            sa.event.listen(made, "do_connect", mysql_connection.connect)
    except (ImportError, NoSuchModuleError):
        extra = DIALECTS[name]
        raise ConfigurationError(
            f"the driver {url.drivername} is not installed: `pip install 'finexpert[{extra}]'`, and write {name}+{DRIVERS[name]}://"
        ) from None
    return made, DIALECTS[name]


def _sqlite(url: URL) -> sa.Engine:
    path = Path(url.database or "")
    if not path.is_file():
        raise DataError(
            f"there is no SQLite file at {path}: write sqlite:///file.db, with four slashes before a path from the root"
        )

    return sqlite_engine(lambda: open_sqlite(path))


def sqlite_engine(connect: Callable[[], sqlite3.Connection], pool: type[sa.pool.Pool] = NullPool) -> sa.Engine:
    """The engine of a SQLite file, which `connect` opens."""
    return sa.create_engine("sqlite://", creator=connect, poolclass=pool, hide_parameters=True)


def place_of(engine: sa.Engine) -> str:
    """A database and its server, without user and password."""
    url = engine.url
    name = Path(url.database or DIALECTS[engine.dialect.name]).stem
    return f"{name} at {url.host}{f':{url.port}' if url.port else ''}" if url.host else name


@contextmanager
def reading(engine: sa.Engine, tables: Collection[str], seconds: float | None) -> Iterator[sa.Connection]:
    """A connection in a transaction that cannot write; `seconds` is the server's own limit for a statement."""
    connection = engine.connect()
    try:
        if engine.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            settings = {
                "search_path": "",
                "statement_timeout": str(int((seconds or 0) * 1000)),
                "lock_timeout": str(int((seconds or 0) * 1000)),
                "TimeZone": "UTC",
                "standard_conforming_strings": "on",
                "cursor_tuple_fraction": "1",
                "default_transaction_read_only": "on",
            }
            calls = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())
            connection.exec_driver_sql(f"SELECT {calls}")
        elif DIALECTS[engine.dialect.name] == "mysql":
            from finexpert.warehouse.engines import mysql_connection

            mysql_connection.begin(connection, seconds)
        elif tables:
            confine(driver_connection(connection), tables)
        yield connection
    finally:
        # Closing rolls back, which also undoes the settings above.
        connection.close()


def driver_connection(connection: sa.Connection) -> Any:
    """The connection of the driver itself."""
    return connection.connection.driver_connection


def interrupter(connection: sa.Connection) -> Callable[[], None]:
    """What stops the statement that runs on a connection, from another thread."""
    driver = driver_connection(connection)
    if isinstance(driver, sqlite3.Connection):
        return driver.interrupt
    return getattr(driver, "cancel", lambda: None)
