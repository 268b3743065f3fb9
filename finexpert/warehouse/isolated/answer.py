"""How one SELECT is answered on a locked connection, in whichever process that is.

    answer(cursor, Request("SELECT max(value) AS top FROM cpi"), Known({"cpi": ["date", "value"]}, card))

        Rows(names=["top"], kinds=["double"], batches=[...], truncated=False)

Seconds and the memory of the process are not limited here: `local/duckdb_warehouse.py` and `child.py` do that.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from finexpert.errors import QueryError
from finexpert.warehouse.column_kinds import check_types
from finexpert.warehouse.isolated.errors import RUN_FAILURES, plan_failure, run_failure
from finexpert.warehouse.isolated.locked_connection import CATALOG, View, set_horizon
from finexpert.warehouse.isolated.select_rules import check_select

MAX_RESULT_BYTES = 256 << 20
BATCH_ROWS = 8_192
MOST_LOOKED_AT = 10_000


@dataclass(frozen=True)
class Request:
    """One SELECT with the last day that it may see (`2024-09-30`) and its limits."""

    select: str
    as_of: str | None = None
    row_cap: int = 200_000
    seconds: float = 10.0
    growth_rules: bool = True
    declared_only: bool = False


@dataclass(frozen=True)
class Known:
    """What the SELECT's author was told of the tables, and so may be named in an error; and the views of the tables."""

    columns: Mapping[str, Sequence[str]]
    card: str
    views: Sequence[View] = ()


@dataclass(frozen=True)
class Rows:
    """What the SELECT gave: DuckDB's names and kinds of the columns, and the rows as Arrow; `seconds` without the wait for a free process."""

    names: list[str]
    kinds: list[str]
    schema: pa.Schema
    batches: list[pa.RecordBatch]
    truncated: bool
    seconds: float = 0.0


def answer(cursor: duckdb.DuckDBPyConnection, request: Request, known: Known) -> Rows:
    """The rows of the SELECT; raises QueryError, without any value of a row, for whatever a better SELECT could repair.

    >>> answer(duckdb.connect(), Request("SELECT 6 * 7 AS n"), Known({}, "")).kinds
    ['integer']
    """
    try:
        return _answer(cursor, request, known)
    except MemoryError:
        raise QueryError(dict(RUN_FAILURES)["Out of Memory Error"]) from None


def too_large() -> QueryError:
    """The refusal of a result that passes the limit of bytes."""
    return QueryError(f"the result is larger than {MAX_RESULT_BYTES >> 20} MB: select fewer rows or columns")


def _answer(cursor: duckdb.DuckDBPyConnection, request: Request, known: Known) -> Rows:
    select = request.select
    used = check_select(select, cursor, known.columns, growth_rules=request.growth_rules)
    if request.as_of is not None:
        set_horizon(cursor, known.views, dt.date.fromisoformat(request.as_of[:10]), request.declared_only)
    try:
        relation = cursor.sql(select)
    except duckdb.Error as error:
        raise QueryError(plan_failure(error, select, used, known.columns, known.card)) from None
    names, kinds = list(relation.columns), [str(kind.id) for kind in relation.types]
    check_types(names, kinds)
    try:
        batches, schema, truncated = _fetch(relation, request.row_cap)
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise QueryError(run_failure(error, select, request.seconds)) from None
    return Rows(names, kinds, schema, batches, truncated)


def look(cursor: duckdb.DuckDBPyConnection, select: str) -> Rows:
    """The rows of a SELECT that the program itself wrote over the attached file; raises duckdb.Error or QueryError."""
    with closing(cursor):
        cursor.execute(f"USE {CATALOG}")
        relation = cursor.sql(select)
        names, kinds = list(relation.columns), [str(kind.id) for kind in relation.types]
        check_types(names, kinds)
        batches, schema, truncated = _fetch(relation, MOST_LOOKED_AT)
        return Rows(names, kinds, schema, batches, truncated)


def _fetch(relation: duckdb.DuckDBPyRelation, row_cap: int) -> tuple[list[pa.RecordBatch], pa.Schema, bool]:
    batches: list[pa.RecordBatch] = []
    rows = size = 0
    reader = relation.limit(row_cap + 1).to_arrow_reader(BATCH_ROWS)
    for batch in reader:
        batches.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if size > MAX_RESULT_BYTES:
            raise too_large()
    if rows > row_cap:
        batches[-1] = batches[-1].slice(0, batches[-1].num_rows - (rows - row_cap))
    return batches, reader.schema, rows > row_cap
