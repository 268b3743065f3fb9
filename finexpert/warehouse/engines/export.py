"""Plain Python that reads a database again, for an exported answer.

The tables come into DuckDB as they stood on the day, since a SELECT is DuckDB SQL. The address is not written down, for it may
hold a password: it is read from the variable DATABASE_URL.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from finexpert.warehouse.engines.connections import DIALECTS
from finexpert.warehouse.engines.dialects import Place, Translator
from finexpert.warehouse.schema import TableSchema


def python_source(
    engine: sa.Engine, tables: Sequence[TableSchema], places: Mapping[str, Place], as_of: dt.date | None
) -> str:
    """Python that defines `query(select)` over the tables up to a day."""
    translator = Translator(DIALECTS[engine.dialect.name], tuple(tables), places)
    reads = {}
    for table in tables:
        names = ", ".join('"' + column.name.replace('"', '""') + '"' for column in table.columns)
        where = '"' + table.name.replace('"', '""') + '"'
        reads[table.name] = translator.translate(f"SELECT {names} FROM {where}", as_of)
    dates = {table.name: [one.name for one in table.columns if one.type == "DATE"] for table in tables}
    return _SOURCE.format(reads=reads, dates=dates)


_SOURCE = """import os
import re

import duckdb
import sqlalchemy

database = sqlalchemy.create_engine(os.environ["DATABASE_URL"])
tables = {reads!r}
dates = {dates!r}


def query(select: str) -> pd.DataFrame:
    connection = duckdb.connect()
    for name, read in tables.items():
        if re.search(rf"\\b{{re.escape(name)}}\\b", select, re.IGNORECASE):
            with database.connect() as opened:
                rows = pd.read_sql_query(sqlalchemy.text(read.replace(":", "\\\\:")), opened)
            for column in dates[name]:
                rows[column] = pd.to_datetime(rows[column])
            connection.register("read", rows)
            columns = ", ".join(
                f'CAST("{{one}}" AS DATE) AS "{{one}}"' if one in dates[name] else f'"{{one}}"' for one in rows.columns
            )
            connection.execute(f'CREATE TABLE "{{name}}" AS SELECT {{columns}} FROM read')
    return connection.execute(select).df()
"""
