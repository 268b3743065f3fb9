"""The engines that are asked by address, and what differs between them.

    clickhouse://desk@db:8443/markets?secure=true
        sqlglot's dialect clickhouse, SQLAlchemy's driver clickhousedb+connect, the extra `finexpert[clickhouse]`

A connection is told to read only where the engine can be told so, to stop a statement after its seconds, to count in UTC, and to compute as
the SQL standard says where the engine does otherwise. What no setting can forbid, the rights of the account have to.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from finexpert.warehouse.isolated.answer import MAX_RESULT_BYTES

WAIT_SECONDS = 30


@dataclass(frozen=True)
class EngineLimits:
    """How long a statement may take, and how many rows it may give."""

    seconds: float
    rows: int

    @property
    def whole_seconds(self) -> int:
        """The seconds for engines that count whole ones; at least one, since 0 often means no limit."""
        return max(1, math.ceil(self.seconds))


def _nothing(limits: EngineLimits) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Kind:
    """One engine: sqlglot's name of it, SQLAlchemy's driver, the extra that brings it, and how its address is written.

    `arguments` are those of the driver's connect, `begin` the statements that a transaction starts with. `counts` is a SELECT for the names
    of tables and about how many rows each has, `:schema` being their schema. `export` is what an exported script says first.
    """

    dialect: str
    driver: str
    extra: str
    form: str
    arguments: Callable[[EngineLimits], dict[str, Any]] = _nothing
    begin: Callable[[EngineLimits], list[str]] = lambda limits: []
    counts: str = ""
    export: str = "SELECT 1"


# Joins that find nothing give NULL, sums of nothing are NULL, a name means the column and not an alias of the same SELECT, and tables that
# are merged later are read as merged, days before 1970 are days: without these ClickHouse answers otherwise than other engines, without a word.
CLICKHOUSE = {
    "join_use_nulls": 1,
    "aggregate_functions_null_for_empty": 1,
    "union_default_mode": "DISTINCT",
    "except_default_mode": "DISTINCT",
    "intersect_default_mode": "DISTINCT",
    "prefer_column_name_to_alias": 1,
    "cast_keep_nullable": 1,
    "final": 1,
    "date_time_overflow_behavior": "throw",
    "enable_extended_results_for_datetime_functions": 1,
    "session_timezone": "UTC",
}


def _clickhouse(limits: EngineLimits) -> dict[str, Any]:
    # 2 forbids to write and to lift that; under 1 the other settings could not be set.
    settings = CLICKHOUSE | {
        "readonly": 2,
        "max_execution_time": limits.whole_seconds,
        "limit": limits.rows + 1,
        "max_result_bytes": MAX_RESULT_BYTES,
        "result_overflow_mode": "throw",
    }
    return {f"ch_{name}": value for name, value in settings.items()}


def _snowflake(limits: EngineLimits) -> dict[str, Any]:
    settings = {
        "STATEMENT_TIMEOUT_IN_SECONDS": limits.whole_seconds,
        "STATEMENT_QUEUED_TIMEOUT_IN_SECONDS": limits.whole_seconds,
        "ROWS_PER_RESULTSET": limits.rows + 1,
        "MULTI_STATEMENT_COUNT": 1,
        "TIMEZONE": "UTC",
        "QUERY_TAG": "finexpert",
    }
    return {"session_parameters": settings, "login_timeout": WAIT_SECONDS}


def _databricks(limits: EngineLimits) -> dict[str, Any]:
    settings = {"STATEMENT_TIMEOUT": str(limits.whole_seconds), "ANSI_MODE": "true", "TIMEZONE": "UTC"}
    return {"session_configuration": settings}


def _trino(limits: EngineLimits) -> dict[str, Any]:
    settings = {"query_max_run_time": f"{limits.whole_seconds}s"}
    return {"session_properties": settings, "timezone": "UTC", "request_timeout": WAIT_SECONDS, "source": "finexpert"}


def _sql_server(limits: EngineLimits) -> list[str]:
    settings = (
        f"LOCK_TIMEOUT {limits.whole_seconds * 1000}",
        f"ROWCOUNT {limits.rows + 1}",
        "ANSI_NULLS, ANSI_WARNINGS, ARITHABORT, QUOTED_IDENTIFIER, CONCAT_NULL_YIELDS_NULL ON",
        "LANGUAGE us_english",
        "DATEFORMAT ymd",
        "DATEFIRST 1",
    )
    return ["; ".join(f"SET {one}" for one in settings)]


POSTGRES = Kind("postgres", "postgresql+psycopg", "postgres", "postgresql://user@host/database", export=(
    "SET search_path = \"{schema}\"; SET TimeZone = 'UTC'"
))  # fmt: skip
MYSQL = Kind("mysql", "mysql+pymysql", "mysql", "mysql+pymysql://user@host/database", export="USE `{schema}`")
KINDS: dict[str, Kind] = {
    "postgresql": POSTGRES,
    "mysql": MYSQL,
    "mariadb": MYSQL,
    "sqlite": Kind("sqlite", "sqlite", "", "sqlite:///file.db"),
    "clickhouse": Kind(
        "clickhouse", "clickhousedb+connect", "clickhouse", "clickhouse://user@host:8443/database?secure=true", _clickhouse,
        counts="SELECT name, total_rows FROM system.tables WHERE database = :schema",
        export="; ".join(f"SET {name} = {value!r}" for name, value in CLICKHOUSE.items()),
    ),
    "sc": Kind("spark", "sc", "spark", "sc://host:15002/database", lambda limits: {"rows": limits.rows + 1}),
    "snowflake": Kind(
        "snowflake", "snowflake", "snowflake", "snowflake://user@account/DATABASE/SCHEMA?warehouse=NAME&role=NAME", _snowflake,
        counts="SELECT table_name, row_count FROM information_schema.tables WHERE table_schema = :schema",
        export="ALTER SESSION SET TIMEZONE = 'UTC'",
    ),
    "bigquery": Kind("bigquery", "bigquery", "bigquery", "bigquery://project/dataset?maximum_bytes_billed=10000000000"),
    "databricks": Kind(
        "databricks", "databricks", "databricks", "databricks://token@host?http_path=/sql/1.0/warehouses/ID&catalog=NAME&schema=NAME",
        _databricks, export="SET TIME ZONE 'UTC'",
    ),
    "mssql": Kind(
        "tsql", "mssql+mssqlpython", "sqlserver", "mssql://user@host/database",
        lambda limits: {"timeout": limits.whole_seconds}, _sql_server,
        counts="SELECT t.name, sum(p.rows) FROM sys.tables AS t JOIN sys.partitions AS p ON p.object_id = t.object_id "
        "WHERE p.index_id IN (0, 1) AND schema_name(t.schema_id) = :schema GROUP BY t.name",
    ),
    "trino": Kind("trino", "trino", "trino", "trino://user@host:443/catalog/schema", _trino),
}  # fmt: skip


def kind_named(backend: str) -> Kind:
    """The kind of what SQLAlchemy calls by this name."""
    return KINDS["clickhouse" if backend == "clickhousedb" else backend]


def kind_of(engine: sa.Engine) -> Kind:
    """The kind of an engine that was made for one of `KINDS`."""
    return kind_named(engine.url.get_backend_name())
