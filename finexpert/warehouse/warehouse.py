"""A warehouse answers one SELECT with one frame. What every kind of them has to do stands here.

    with open_data("trades.duckdb") as warehouse:
        warehouse.query("SELECT count(*) AS n FROM trades", as_of=dt.date(2024, 9, 30)).data

The SELECT is in the database's own SQL.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from finexpert.warehouse.frames import Frame
from finexpert.warehouse.schema import Metric, TableSchema

Privacy = Literal["schema", "samples"]
SAMPLE_ROWS = 3
# How prompts and messages name the SQL of sqlglot's dialects.
DIALECTS = {
    "duckdb": "DuckDB", "postgres": "PostgreSQL", "mysql": "MySQL", "mariadb": "MariaDB", "sqlite": "SQLite", "spark": "Spark SQL",
    "clickhouse": "ClickHouse", "snowflake": "Snowflake", "bigquery": "BigQuery", "databricks": "Databricks SQL", "tsql": "SQL Server",
    "trino": "Trino",
}  # fmt: skip


class Warehouse(Protocol):
    """A source of tables that is asked in SQL.

    It must run exactly one SELECT a call and nothing else, must be safe to call from many threads, must hide every row dated after
    `as_of`, must say in `Frame.truncated` that rows were cut, and must raise QueryError, without any cell value in its text, for
    whatever a better SELECT could repair; DataError or ConfigurationError for the rest.
    It may refuse functions, limit rows, memory and seconds, and keep connections open until `close`.
    It must not change data, must not return more than was asked for, must not read rows for anything but the SELECTs that it is asked, within
    seconds, and must not put anything into the schema card that depends on rows, other than published values, unless `privacy` says so.
    """

    name: str
    dialect: str
    label: str | None
    metrics: Sequence[Metric]

    @property
    def tables(self) -> Sequence[TableSchema]:
        """The tables with their columns and keys."""

    def schema_card(self, privacy: Privacy = "schema", question: str = "") -> str:
        """What a language model is told of the tables; the same for every vintage of the data.

        Of a schema with many tables, those that the question may need, and how many more there are.
        """

    def ready(self) -> None:
        """Wait until a SELECT can be asked at once: what has to start for the first one starts here."""

    def query(
        self, select: str, *, as_of: dt.date | None = None, declared_only: bool = False, seconds: float | None = None
    ) -> Frame:
        """The rows of one SELECT, dated on or before `as_of`; `seconds` may shorten the time that it is given.

        With `declared_only` rows are hidden by date columns that an owner declared, and by no others.
        """

    def snapshot(self) -> str | None:
        """What tells this state of the data from a later one without reading a row: the same text, the same data. None if nothing does."""

    def columns(self) -> Mapping[str, Sequence[str]]:
        """The columns of every table; a table outside of the main schema is called `schema.table`."""

    def python_source(self, as_of: dt.date | None, *, declared_only: bool = False) -> str:
        """Plain Python that defines `query(select)` over the same data as of that day, for an exported answer."""

    def close(self) -> None:
        """Lets go of every connection; a later call raises DataError."""
