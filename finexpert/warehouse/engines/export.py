"""Plain Python that reads a database again, for an exported answer.

    query("SELECT max(value) FROM cpi")   runs   WITH cpi AS (SELECT ... FROM "macro"."cpi" WHERE "date" <= ...) SELECT max(value) FROM cpi

A SELECT runs in the database, as it did for the answer: tables with rows to hide are put before it under their own names. The address is
not written down, for it may hold a password: it is read from the variable DATABASE_URL.
"""

from __future__ import annotations

import datetime as dt

from finexpert.errors import ConfigurationError
from finexpert.warehouse.engines.kinds import KINDS
from finexpert.warehouse.engines.statements import QUOTIENT_DIGITS, Statements


def python_source(statements: Statements, as_of: dt.date | None, declared_only: bool) -> str:
    """Python that defines `query(select)` over the tables up to a day."""
    reads = {}
    for table in statements.tables:
        name = statements.places[table.name].table
        if name in reads:
            raise ConfigurationError(
                f"two schemas have a table {name}, so that an answer cannot be exported as a script: `finexpert replay` computes it again"
            )
        reads[name] = statements.rows_of(table, as_of, declared_only)
    schemas = list(dict.fromkeys(place.schema for place in statements.places.values()))
    kind = next(kind for kind in KINDS.values() if kind.dialect == statements.dialect)
    if kind.dialect == "spark":
        raise ConfigurationError(
            "an answer over Spark cannot be exported as a script: `finexpert replay` computes it again on the server"
        )
    start = kind.export.format(schema='", "'.join(schemas) if kind.dialect == "postgres" else "".join(schemas[:1]))
    if kind.dialect == "mysql":
        start += f"; SET SESSION div_precision_increment = {QUOTIENT_DIGITS}"
    return _SOURCE.format(reads=reads, schemas=schemas, dates=kind.dialect == "sqlite", start=start)


_SOURCE = """import datetime
import os
import re

import sqlalchemy

# Nothing stays connected: it is gone before the model's own lines run.
database = sqlalchemy.create_engine(os.environ["DATABASE_URL"], poolclass=sqlalchemy.NullPool)
schemas = {schemas!r}
# By table, its name in SQL and its rows as they were known on the day.
tables = {reads!r}


def query(select: str) -> pd.DataFrame:
    for schema in schemas:
        for name in tables:
            # Of several schemas one stays, unless rows of the table are hidden.
            if tables[name][1] or len(schemas) == 1:
                select = re.sub(rf'["`]?\\b{{re.escape(schema)}}\\b["`]?\\s*\\.\\s*(["`]?{{re.escape(name)}}\\b)', r"\\1", select)
    used = [name for name in tables if re.search(rf"\\b{{re.escape(name)}}\\b", select, re.IGNORECASE)]
    known = ", ".join(f"{{tables[name][0]}} AS ({{tables[name][1]}})" for name in used if tables[name][1])
    if known:
        first = re.match(r"\\s*WITH(\\s+RECURSIVE)?\\b", select, re.IGNORECASE)
        rest = ", " + select[first.end() :] if first else " " + select
        select = f"WITH{{(first and first[1]) or ''}} {{known}}{{rest}}"
    with database.connect() as connection:
        for statement in {start!r}.split("; "):
            connection.exec_driver_sql(statement)
        result = connection.exec_driver_sql(select, execution_options={{"no_parameters": True}})
        rows = pd.DataFrame(result.fetchall(), columns=list(result.keys()))
    for name in rows.columns:
        rows[name] = plain(rows[name])
    return rows


def plain(column: pd.Series) -> pd.Series:
    values = column.dropna()
    if len(values) and values.map(lambda value: isinstance(value, datetime.date)).all():
        return pd.to_datetime(column)
    if len(values) and {dates!r} and values.map(lambda value: isinstance(value, str) and is_date(value)).all():
        return pd.to_datetime(column, format="ISO8601")
    return pd.to_numeric(column) if column.dtype == object and not values.map(lambda v: isinstance(v, str | bool)).any() else column


def is_date(text: str) -> bool:
    return re.fullmatch(r"\\d{{4}}-\\d\\d-\\d\\d([ T]\\d\\d:\\d\\d(:\\d\\d(\\.\\d{{1,6}})?)?)?", text) is not None
"""
