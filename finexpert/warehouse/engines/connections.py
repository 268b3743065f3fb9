"""Connections to a database by its URL, which read and do nothing else.

    postgresql+psycopg://desk@db/markets   a read-only transaction, an empty search path, the server's own time limit
    mysql+pymysql://desk@db/markets        MySQL or MariaDB: a read-only transaction, the server's own time limit
    sqlite:///markets.db                   a file opened read-only, with SQLite's authorizer
    clickhouse://desk@db/markets           and the others of `kinds.py`: what their sessions can be told

Give a server a user that can only read its tables all the same: what no statement asks for, no mistake gives away.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import NullPool

from finexpert.errors import ConfigurationError, DataError
from finexpert.warehouse.engines.kinds import KINDS, WAIT_SECONDS, EngineLimits, Kind, kind_of
from finexpert.warehouse.engines.sqlite_connection import confine, open_sqlite

CONNECTIONS = 8
# What makes a client read files, run statements before a transaction is read-only, or ask another host than the one that is shown.
_REFUSED = {
    "init_command": "leave it out, a session begins with statements of its own",
    "read_default_file": "write the user and the password into the address",
    "read_default_group": "write the user and the password into the address",
    "passfile": "set PGPASSFILE in the environment",
    "service": "set PGSERVICE in the environment",
    "servicefile": "set PGSERVICEFILE in the environment",
    "hostaddr": "write that address in the place of the host",
    "sslkeylogfile": "leave it out",
}


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


def schema_in(address: str) -> str | None:
    """The schema that stands in the path of an address, where SQLAlchemy does not look for it: a dataset of BigQuery."""
    return make_url(address).database if address.startswith("bigquery:") else None


def engine_of(address: str, limits: EngineLimits) -> tuple[sa.Engine, str]:
    """The engine of a URL and sqlglot's name of its dialect. Nothing is connected yet."""
    try:
        url = make_url(address)
    except ArgumentError:
        # SQLAlchemy's own words quote the address, and in it a password.
        raise ConfigurationError(
            f"the address of the database is no URL: write {', '.join(dict.fromkeys(kind.form for kind in KINDS.values()))}"
        ) from None
    if "@" in (url.host or ""):
        # Its end would be taken for the host, and shown.
        raise ConfigurationError("the user or the password in the address of the database holds an @: write %40 for it")
    name = url.get_backend_name()
    if name not in KINDS:
        raise ConfigurationError(
            f"databases of the kind {name} are not read: {', '.join(KINDS)} are (sc:// is Spark), and DuckDB files"
        )
    kind = KINDS[name]
    if name == "sqlite":
        return _sqlite(url), kind.dialect
    if option := next((option for option in url.query if option.lower() in _REFUSED), None):
        raise ConfigurationError(
            f"the address of the database may not hold the option {option}: {_REFUSED[option.lower()]}"
        )
    if url.drivername == name:
        url = url.set(drivername=kind.driver if name != "mariadb" else "mariadb+pymysql")
    if kind.dialect == "mysql" and (url.get_driver_name() != "pymysql" or not url.database):
        raise ConfigurationError(f"the address must name the driver and a database: write {kind.form}")
    try:
        return _made(url, kind, limits), kind.dialect
    except (ImportError, NoSuchModuleError):
        raise ConfigurationError(
            f"the driver {url.drivername} is not installed: `pip install 'finexpert[{kind.extra}]'`, and write {kind.form}"
        ) from None


def _made(url: URL, kind: Kind, limits: EngineLimits) -> sa.Engine:
    if kind.dialect == "spark":
        from finexpert.warehouse.engines import spark

        spark.register()
    arguments: dict[str, Any] = kind.arguments(limits)
    if kind.dialect in ("postgres", "mysql"):
        arguments["connect_timeout"] = WAIT_SECONDS
    if url.drivername.endswith("+psycopg"):
        # Prepared statements: the server itself refuses a text that holds two of them.
        arguments["prepare_threshold"] = 0
    made = sa.create_engine(
        url,
        connect_args=arguments,
        pool_size=CONNECTIONS,
        max_overflow=CONNECTIONS * 2,
        pool_timeout=WAIT_SECONDS,
        pool_pre_ping=kind.dialect in ("postgres", "mysql"),
        hide_parameters=True,
    )
    if kind.dialect == "mysql":
        from finexpert.warehouse.engines import mysql_connection

        sa.event.listen(made, "do_connect", mysql_connection.connect)
    elif kind.dialect == "bigquery":
        sa.event.listen(made, "do_connect", partial(_limit_jobs, limits))
    return made


def _limit_jobs(
    limits: EngineLimits, dialect: object, record: object, positional: object, arguments: dict[str, Any]
) -> None:
    """Lets BigQuery itself end a job after its seconds; the driver has no argument for it."""
    from google.cloud.bigquery import QueryJobConfig

    client = arguments["client"]
    # There is none where the address names no dataset.
    config = client.default_query_job_config or QueryJobConfig()
    config.job_timeout_ms = limits.whole_seconds * 1000
    client.default_query_job_config = config


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
    name = Path(url.database or kind_of(engine).dialect).stem
    return f"{name} at {url.host}{f':{url.port}' if url.port else ''}" if url.host else name


def _connected(engine: sa.Engine) -> sa.Connection:
    try:
        return engine.connect()
    except (TypeError, ValueError, LookupError, AttributeError, struct.error) as error:
        # SQLAlchemy and the drivers take the first words of a server for what they should be.
        raise DataError(
            f"{place_of(engine)} does not answer as a server of {kind_of(engine).dialect} ({type(error).__name__}): see to the address and its port"
        ) from error


@contextmanager
def reading(
    engine: sa.Engine, tables: Collection[str], seconds: float | None, rows: int | None = None
) -> Iterator[sa.Connection]:
    """A connection in a transaction that cannot write; `seconds` and `rows` are the server's own limits for a statement."""
    connection = _connected(engine)
    limits = EngineLimits(seconds, rows) if seconds is not None and rows is not None else None
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
        elif engine.dialect.name in ("mysql", "mariadb"):
            from finexpert.warehouse.engines import mysql_connection

            mysql_connection.begin(connection, seconds)
        elif engine.dialect.name == "sqlite":
            if tables:
                confine(driver_connection(connection), tables)
        elif limits is not None:
            for statement in kind_of(engine).begin(limits):
                connection.exec_driver_sql(statement)
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
