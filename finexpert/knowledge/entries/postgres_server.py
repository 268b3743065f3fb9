"""The PostgreSQL server of a store: its tables, how it is reached, and what its errors mean.

    connect("postgresql://desk@db/knowledge", "postgresql://db/knowledge")  ->  a connection to the schema `finexpert`

The first who connects makes the schema, which needs the right to make it, and the extension pgvector. What stands in
the tables is told in `sql.py`; the table of vectors is made when their width is known.
"""

from __future__ import annotations

import functools
import select
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from finexpert.errors import ConfigurationError, StoreError
from finexpert.knowledge.entries.sql_rows import SCHEMA_VERSION

if TYPE_CHECKING:
    import psycopg

WAIT_SECONDS = 30
STATEMENT_SECONDS = 60
# An index over all vectors of a large store.
REBUILD_SECONDS = 3600
# How much longer than the server's own limit is waited for a server that says nothing at all.
GRACE_SECONDS = 5.0
WRITERS = 0x46584E50  # the key of the advisory lock
SETTINGS = (
    "SET search_path = finexpert, public",
    f"SET lock_timeout = '{WAIT_SECONDS}s'",
    f"SET statement_timeout = '{STATEMENT_SECONDS}s'",
    "SET hnsw.ef_search = 100",
    # Goes on where the nearest are drafts or aliases of one entry, instead of giving fewer than were asked for.
    "SET hnsw.iterative_scan = strict_order",
)
TABLES = (
    "CREATE SCHEMA IF NOT EXISTS finexpert",
    """CREATE TABLE versions (
        seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, collection TEXT NOT NULL, id TEXT NOT NULL,
        names TEXT NOT NULL, status TEXT NOT NULL, version INTEGER NOT NULL, action TEXT NOT NULL, author TEXT NOT NULL,
        written_at TEXT NOT NULL, body TEXT NOT NULL, phrases TEXT NOT NULL, UNIQUE (collection, id, version))""",
    """CREATE TABLE latest (
        collection TEXT NOT NULL, id TEXT NOT NULL, seq BIGINT NOT NULL UNIQUE, status TEXT NOT NULL,
        PRIMARY KEY (collection, id))""",
    "CREATE INDEX latest_status ON latest (collection, status)",
    "CREATE TABLE names (collection TEXT NOT NULL, name TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (collection, name))",
    "CREATE INDEX names_id ON names (collection, id)",
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    f"INSERT INTO about VALUES ('schema', '{SCHEMA_VERSION}')",
)


def connect(url: str, place: str) -> psycopg.Connection:
    """Connect, and make the tables where they are not there yet; errors name `place`, which has no password.

    A statement ends after STATEMENT_SECONDS, also where the server says nothing any more.
    """
    connection: psycopg.Connection = _bounded().connect(url, autocommit=True, connect_timeout=WAIT_SECONDS)
    try:
        _prepare(connection, place)
    except BaseException:
        connection.close()
        raise
    return connection


@functools.cache
def _bounded() -> Any:
    """The driver's connection with a deadline of its own for whatever is waited for."""
    base: Any = driver().Connection

    class Bounded(base):  # type: ignore[misc]
        seconds: float = STATEMENT_SECONDS

        def wait(self, steps: Generator[Any, Any, Any], *given: Any, **more: Any) -> Any:
            return super().wait(_until(time.monotonic() + self.seconds + GRACE_SECONDS, self, steps), *given, **more)

    return Bounded


def _until(deadline: float, connection: Any, steps: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """The steps of the driver, which is woken now and then while nothing comes; OperationalError after the deadline."""
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > deadline:
                connection.pgconn.finish()
                raise driver().OperationalError("the server does not answer any more")
            wanted = steps.send(ready)
    except StopIteration as done:
        return done.value


@contextmanager
def allowing(connection: Any, seconds: int) -> Iterator[None]:
    """How long one statement of the transaction may take from here on."""
    connection.execute(f"SET LOCAL statement_timeout = '{seconds}s'")
    connection.seconds = seconds
    try:
        yield
    finally:
        connection.seconds = STATEMENT_SECONDS


def alive(connection: psycopg.Connection) -> bool:
    """Whether the server has not hung up meanwhile, as after its restart."""
    if connection.closed:
        return False
    # Between statements a server says nothing, unless it says good-bye.
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        try:
            connection.execute("SELECT 1")
        except driver().OperationalError:
            connection.close()
            return False
    return True


def _prepare(connection: psycopg.Connection, place: str) -> None:
    for setting in SETTINGS:
        connection.execute(setting)
    if _schema(connection) == 0:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (WRITERS,))
            if _schema(connection) == 0:  # nobody else was faster
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
                for statement in TABLES:
                    connection.execute(statement)
    if (version := _schema(connection)) != SCHEMA_VERSION:
        raise StoreError(
            f"the store {place} has schema {version}, and this finexpert reads {SCHEMA_VERSION}: "
            f"a newer one made it; `pip install -U finexpert`"
        )


def _schema(connection: psycopg.Connection) -> int:
    found = connection.execute("SELECT to_regclass('finexpert.about')").fetchone()
    if found is None or found[0] is None:
        return 0
    row = connection.execute("SELECT value FROM finexpert.about WHERE key = 'schema'").fetchone()
    return 0 if row is None else int(row[0])


@contextmanager
def explained(place: str) -> Iterator[None]:
    """An error of the driver or the server as a StoreError that names the place and what to do."""
    errors = driver().errors
    try:
        yield
    except errors.QueryCanceled as error:
        raise StoreError(
            f"the store {place} took longer than {STATEMENT_SECONDS} seconds: see what else its server does, and try again"
        ) from error
    except errors.LockNotAvailable as error:
        raise StoreError(
            f"another program kept the store {place} locked for {WAIT_SECONDS} seconds; try again"
        ) from error
    except (
        errors.UndefinedFile,
        errors.FeatureNotSupported,
        errors.InsufficientPrivilege,
    ) as error:
        raise StoreError(
            f"the store {place} cannot be set up ({_first_line(error)}): let an administrator run "
            f"CREATE EXTENSION vector, and CREATE SCHEMA finexpert AUTHORIZATION your user, in that database"
        ) from error
    except errors.OperationalError as error:
        raise StoreError(
            f"cannot reach the store {place} ({_first_line(error)}): see that the server runs and that the "
            f"address given with --store or FINEXPERT_STORE is right"
        ) from error
    except errors.Error as error:
        raise StoreError(f"the store {place} refused: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def without_password(url: str) -> str:
    """What errors may show of an address."""
    psycopg = driver()
    try:
        parts = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # The driver's own words may quote the address, and in it a password.
        raise ConfigurationError(
            "the address of the store is not one of PostgreSQL: write postgresql://user@host:port/database"
        ) from None
    return f"postgresql://{parts.get('host', 'localhost')}/{parts.get('dbname', parts.get('user', ''))}"


def driver() -> Any:
    """psycopg, loaded when the first server is named."""
    try:
        import psycopg
    except ImportError as error:
        raise ConfigurationError(
            "a store on PostgreSQL needs psycopg, which is not installed: `pip install 'finexpert[postgres]'`"
        ) from error
    return psycopg
