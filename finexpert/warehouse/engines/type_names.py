"""Names of types, as engines write them.

LowCardinality(Nullable(String))  ->  VARCHAR        timestamp_ntz  ->  TIMESTAMP
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

_DUCKDB = {
    "TEXT": "VARCHAR", "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE", "TIMESTAMPLTZ": "TIMESTAMP WITH TIME ZONE", "INT": "INTEGER", "REAL": "FLOAT",
    "DATETIME": "TIMESTAMP", "DATETIME2": "TIMESTAMP", "DATETIME64": "TIMESTAMP", "DATE32": "DATE", "UINT": "BIGINT", "UBIGINT": "HUGEINT",
    "USMALLINT": "INTEGER", "UTINYINT": "SMALLINT",
}  # fmt: skip


def type_read(name: str, dialect: str) -> exp.DataType | None:
    """A type by its name in a dialect of sqlglot, without what is put around it; None for one that cannot be read."""
    try:
        read = exp.DataType.build(name, dialect=dialect)
    except (SqlglotError, ValueError):
        return None
    while read.this == exp.DataType.Type.LOWCARDINALITY and read.expressions:
        read = read.expressions[0]
    return read


def duckdb_type(name: str, dialect: str) -> str:
    """DuckDB's name of a type that an engine calls otherwise; the engine's own where it cannot be read.

    >>> duckdb_type("LowCardinality(Nullable(String))", "clickhouse"), duckdb_type("timestamp_ntz", "spark")
    ('VARCHAR', 'TIMESTAMP')
    >>> duckdb_type("VARCHAR(16777216)", "snowflake"), duckdb_type("nvarchar(max)", "tsql")
    ('VARCHAR', 'VARCHAR')
    >>> duckdb_type("INT64", "bigquery"), duckdb_type("DECIMAL(12,2)", "snowflake"), duckdb_type("datetimeoffset", "tsql")
    ('BIGINT', 'DECIMAL(12, 2)', 'TIMESTAMP WITH TIME ZONE')
    """
    read = type_read(name, dialect)
    if read is None:
        return name.upper()
    if read.is_type(*exp.DataType.TEXT_TYPES):
        return "VARCHAR"
    made = read.sql("duckdb").upper()
    return _DUCKDB.get(getattr(read.this, "name", ""), _DUCKDB.get(made, made))
