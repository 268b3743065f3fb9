"""Spark through Spark Connect, as SQLAlchemy and the rest of the program know databases.

    sc://host:15002/macro                        a server without a password
    sc://user:TOKEN@host:443/macro?use_ssl=true  with one

`connect` is a driver of the usual form (PEP 249) over a Connect session, as far as reading needs it; `SparkDialect` reads the catalogue.
Sessions count in UTC and compute by ANSI rules: a division by zero and a cast that fails are errors.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NoReturn

import sqlalchemy as sa
from sqlalchemy.dialects import registry
from sqlalchemy.engine import URL
from sqlalchemy.engine.default import DefaultDialect
from sqlglot import exp

NAME = "sc"
paramstyle, threadsafety, apilevel = "qmark", 1, "2.0"
SETTINGS = {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "true"}


class Error(Exception):
    """What Spark says went wrong, with its state of the SQL standard."""

    def __init__(self, message: str, sqlstate: str = "") -> None:
        super().__init__(message)
        self.sqlstate = sqlstate


class DatabaseError(Error):
    """Raised for a statement that fails."""


class InterfaceError(Error):
    """Raised where there is no server to ask."""


# SQLAlchemy looks for every class of PEP 249.
OperationalError = IntegrityError = InternalError = ProgrammingError = NotSupportedError = DataError = DatabaseError


def register() -> None:
    """Lets SQLAlchemy know addresses of Spark; ImportError where its client is not installed."""
    with warnings.catch_warnings():
        # It warns of pandas 3, whose frames are not used here: rows come as Arrow.
        warnings.simplefilter("ignore")
        import pyspark.sql.connect.session  # noqa: F401
    # It writes each failed statement with its values to standard error.
    logging.getLogger("SQLQueryContextLogger").disabled = True
    registry.register(NAME, __name__, "SparkDialect")


def connect(address: str, rows: int) -> Connection:
    """A session of its own on the server, in which a statement gives at most so many rows."""
    from pyspark.sql.connect.session import SparkSession

    try:
        session = SparkSession.builder.remote(address).create()
        for name, value in SETTINGS.items():
            session.conf.set(name, value)
    except Exception as error:  # noqa: BLE001 - its client raises its own errors, those of gRPC and ValueError
        _raise(error)
    return Connection(session, rows)


def _raise(error: Exception) -> NoReturn:
    """The error in the form of PEP 249."""
    state = getattr(error, "getSqlState", lambda: None)() or ""
    kind = DatabaseError if type(error).__module__.startswith("pyspark") else InterfaceError
    said = getattr(error, "getMessage", lambda: None)() or str(error)
    raise kind(said.partition("\n\nJVM stacktrace")[0], "" if state == "XXKCM" else state) from None


class Connection:
    """A session as a connection."""

    def __init__(self, session: Any, rows: int) -> None:
        self.session, self._most = session, rows

    def cursor(self) -> Cursor:
        return Cursor(self.session, self._most)

    def cancel(self) -> None:
        """Ends what runs in this session, from another thread."""
        self.session.interruptAll()

    def commit(self) -> None:
        """Nothing was written."""

    def rollback(self) -> None:
        """Nothing was written."""

    def close(self) -> None:
        self.session.stop()


class Cursor:
    """The rows of one statement, which come in parts."""

    arraysize, rowcount = 1, -1

    def __init__(self, session: Any, most: int) -> None:
        self._session, self._most = session, most
        self._rows: Iterator[Sequence[Any]] = iter(())
        self.description: list[tuple[Any, ...]] | None = None

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        if parameters:
            raise InterfaceError("statements are sent whole, without parameters")
        try:
            frame = self._session.sql(statement).limit(self._most)
            table = frame.toArrow()
        except Exception as error:  # noqa: BLE001 - as above
            _raise(error)
        self.description = [(field.name, field.dataType.simpleString(), *[None] * 5) for field in frame.schema.fields]
        self._rows = (row for batch in table.to_batches() for row in zip(*(c.to_pylist() for c in batch), strict=True))

    def fetchmany(self, size: int = 1) -> list[Sequence[Any]]:
        return list(islice(self._rows, size))

    def fetchone(self) -> Sequence[Any] | None:
        return next(self._rows, None)

    def fetchall(self) -> list[Sequence[Any]]:
        return list(self._rows)

    def close(self) -> None:
        self._rows = iter(())


class SparkDialect(DefaultDialect):
    """Reads databases, tables, views, columns and comments; Spark declares no keys."""

    name = NAME
    supports_statement_cache = False

    @classmethod
    def import_dbapi(cls) -> Any:
        return sys.modules[__name__]

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        options = dict(url.query) | ({"user_id": url.username} if url.username else {})
        options |= {"token": url.password, "use_ssl": "true"} if url.password else {}
        written = ";".join(f"{name}={value}" for name, value in options.items())
        return [f"sc://{url.host}:{url.port or 15002}/{f';{written}' if written else ''}"], {}

    def initialize(self, connection: sa.Connection) -> None:
        self.default_schema_name = connection.engine.url.database or "default"

    def do_ping(self, dbapi_connection: Any) -> bool:
        return True

    def get_schema_names(self, connection: sa.Connection, **kw: Any) -> list[str]:
        return [row[0] for row in connection.exec_driver_sql("SHOW DATABASES")]

    def get_table_names(self, connection: sa.Connection, schema: str | None = None, **kw: Any) -> list[str]:
        place = _quoted(schema or str(self.default_schema_name))
        return [row[1] for row in connection.exec_driver_sql(f"SHOW TABLES IN {place}") if not row[2]]

    def get_columns(
        self, connection: sa.Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[Any]:
        place = f"{_quoted(schema or str(self.default_schema_name))}.{_quoted(table_name)}"
        found = []
        for name, kind, comment in connection.exec_driver_sql(f"DESCRIBE TABLE {place}"):
            if not name or name.startswith("#"):
                # The columns it is partitioned by stand below once more.
                break
            found.append({"name": name, "type": _Named(kind), "nullable": True, "default": None, "comment": comment})
        return found

    def get_table_comment(
        self, connection: sa.Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        place = f"{_quoted(schema or str(self.default_schema_name))}.{_quoted(table_name)}"
        rows = connection.exec_driver_sql(f"DESCRIBE TABLE EXTENDED {place}")
        return {"text": next((value for name, value, _ in rows if name == "Comment"), None)}

    def get_view_names(self, connection: sa.Connection, schema: str | None = None, **kw: Any) -> list[str]:
        # SHOW TABLES has them too.
        return []

    def get_pk_constraint(self, *args: Any, **kw: Any) -> Any:
        return {"constrained_columns": [], "name": None}

    def get_foreign_keys(self, *args: Any, **kw: Any) -> list[Any]:
        return []

    get_unique_constraints = get_indexes = get_foreign_keys


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("spark")


class _Named(sa.types.UserDefinedType[Any]):
    """A type by Spark's own name for it."""

    def __init__(self, name: str) -> None:
        self.spelled = name

    def get_col_spec(self, **kw: Any) -> str:
        return self.spelled
