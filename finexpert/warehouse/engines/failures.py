"""What a database's error means, without any value of its rows.

    22012, or Code: 153 of ClickHouse   ->   it divides by zero: write a / NULLIF(b, 0)

What a driver's numbers and names of errors stand for is said by the states of the SQL standard. An error of which nothing is known says its type and no more: what a database writes may quote what stands in the tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
import sqlalchemy.exc

from finexpert.errors import DataError, FinexpertError, QueryError
from finexpert.text.scrubbing import scrub
from finexpert.warehouse.engines.sqlite_connection import RAISED
from finexpert.warehouse.isolated.errors import took_too_long
from finexpert.warehouse.schema import TableSchema
from finexpert.warehouse.suggestions import unknown_column

STATES = (
    ("57014", ""),
    ("22012", "it divides by zero: write a / NULLIF(b, 0)"),
    ("22003", "a value is out of the range of its type: cast to DOUBLE before computing"),
    (
        "22",
        "a value does not have the form that a cast or a function needs: filter such rows out, or select the plain column",
    ),
    ("21", "a subquery gave more than one row where one value is needed: aggregate it"),
    ("25", "it would write: only reading is allowed"),
    ("53", "it needs more memory or disk than it may use: filter or aggregate earlier"),
    ("54", "it is too large or nested too deeply: write it in plainer SQL"),
    ("42501", "the database user may not read one of these tables"),
)
REFUSALS = (
    ("28", "it refuses the user or the password: see that both in the address are right"),
    ("3D", "the server has no such database: see that its name in the address is right"),
)
# psycopg tells no state of a connection that was never made; the words are the server's.
_SAID = (
    (re.compile(r"database .+ does not exist"), "3D"),
    (re.compile(r"role .+ does not exist|authentication failed|no pg_hba\.conf entry|no password supplied"), "28"),
)
RUNS = "see that it runs and that the address is right"
# Of what engines call their types.
TYPE_WORDS = ("double precision character varying without with time zone timestamptz numeric jsonb record",)


def sentence_of(state: str) -> str | None:
    """What a statement is told that failed with a state of the SQL standard, if the state is known."""
    return next((sentence for start, sentence in STATES if state.startswith(start)), None)


def failure(
    error: sqlalchemy.exc.SQLAlchemyError, select: str, tables: Sequence[TableSchema], seconds: float, name: str
) -> FinexpertError:
    """What a failed statement is told: a QueryError without values, or a DataError where the database cannot be asked."""
    orig = getattr(error, "orig", None)
    state = state_of(orig) or str(getattr(orig, "sqlstate", None) or getattr(orig, "pgcode", None) or "")
    message = message_of(orig)
    if state == "57014" or "interrupted" in message:
        return QueryError(took_too_long(seconds))
    if "user-defined function raised" in message:
        return QueryError(RAISED)
    if sentence := sentence_of(state):
        return QueryError(sentence)
    if state.startswith("42") or any(said in message for said in _PLANNED):
        return QueryError(_not_planned(message, select, tables))
    if state.startswith(("08", "28", "3D", "57P")) or (not state and _is_lost(error)):
        known = state or next((code for words, code in _SAID if words.search(message)), "")
        why = next((said for start, said in REFUSALS if known.startswith(start)), RUNS)
        kind = " ".join(filter(None, [type(orig).__name__, state]))
        return DataError(f"the database {name} cannot be asked ({kind}): {why}")
    if "prohibited" in message or "not authorized" in message:
        return QueryError("it reaches for something that is not allowed: read the tables of the schema only")
    if (
        isinstance(error, sa.exc.DataError)
        or "too big" in message
        or "overflow" in message
        or "nomem" in type(orig).__name__.lower()
    ):
        return QueryError("a value is larger than it may be: filter or aggregate earlier")
    return QueryError(f"it failed while running ({state or type(orig or error).__name__}): write it in plainer SQL")


# How SQLite begins what is wrong with a statement before it runs.
_PLANNED = (
    "no such", "syntax error", "ambiguous column", "misuse of", "wrong number of arguments", "a GROUP BY clause", "HAVING clause",
    "do not have the same number", "sub-select returns", "row value misused", "ORDER BY term", "GROUP BY term", "must have an", "cannot join",
    "Unrecognized name",
)  # fmt: skip
_UNKNOWN = (
    re.compile(r"no such column: (?P<name>.+)"),
    re.compile(r"Unknown column '(?P<name>[^']+)'"),
    re.compile(r'column "(?P<name>[^"]+)" (?:of relation .*)?does not exist'),
    re.compile(r"column (?P<name>\S+) does not exist"),
    # ClickHouse, Spark and Databricks, Snowflake, BigQuery, SQL Server, Trino.
    re.compile(r"expression identifier `(?P<name>[^`]+)`"),
    re.compile(r"with name (?P<name>\S+) cannot be resolved"),
    re.compile(r"invalid identifier '(?P<name>[^']+)'"),
    re.compile(r"Unrecognized name: (?P<name>[^\s;]+)"),
    re.compile(r"Invalid column name '(?P<name>[^']+)'"),
    re.compile(r"Column '(?P<name>[^']+)' cannot be resolved"),
)


def _not_planned(message: str, select: str, tables: Sequence[TableSchema]) -> str:
    """What the engine says of a statement that it cannot plan, as far as it speaks of names; the nearest name beside it."""
    found = next((match for pattern in _UNKNOWN if (match := pattern.search(message))), None)
    name = found["name"].replace("`", "").rpartition(".")[2] if found else ""
    if name and name.lower() in select.lower():
        used = [table.name for table in tables if re.search(rf"\b{re.escape(table.name)}\b", select, re.IGNORECASE)]
        said = unknown_column(name, used, {table.name: [one.name for one in table.columns] for table in tables})
        is_text = f'"{name}"' in select and not any(table.column(name) for table in tables)
        return f"{said}{'; if it is a text, write it in single quotes' if is_text else ''}"
    known = [table.name for table in tables] + [column.name for table in tables for column in table.columns]
    return f"the database cannot plan it: {scrub(message.partition(chr(10))[0], [select, *known, *TYPE_WORDS])}"


def message_of(orig: BaseException | None) -> str:
    """What a driver's error says: MySQL's stands behind its number."""
    arguments: tuple[Any, ...] = getattr(orig, "args", ())
    if len(arguments) > 1 and isinstance(arguments[0], int):
        return str(arguments[1])
    return str(orig or "")


def _is_lost(error: sqlalchemy.exc.SQLAlchemyError) -> bool:
    if isinstance(error, sa.exc.TimeoutError):
        return True
    lost = bool(getattr(error, "connection_invalidated", False))
    return lost or (
        isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError)
        and not hasattr(error.orig, "sqlite_errorcode")
    )


_NUMBERS = {
    "57014": (1028, 1205, 1317, 1969, 3024, 3636),
    "22012": (1365,),
    "22003": (1264, 1441, 1690, 1916),
    "22": (1265, 1292, 1300, 1366, 1406, 1411, 1525),
    "21000": (1242,),
    "25006": (1290, 1792),
    "42501": (1044, 1142, 1143, 1227, 1370),
    "53": (1021, 1037, 1038, 1041, 1114),
    "54": (1119, 1260, 1301, 1436),
    "28000": (1045, 1130, 1251, 1698, 2059, 2061),
    "3D000": (1049,),
    "08": (1040, 1053, 1153, 1158, 1159, 1160, 1161, 1203, 1226, 1927, 2002, 2003, 2005, 2006, 2013, 2026, 2055),
    "42": (1052, 1054, 1055, 1056, 1060, 1064, 1066, 1111, 1140, 1146, 1222, 1235, 1241, 1247, 1248, 1267, 1270, 1271, 1305, 1582,
           1583, 4015),
}  # fmt: skip
_STATES: Mapping[int, str] = {number: state for state, numbers in _NUMBERS.items() for number in numbers}
_CLICKHOUSE = {
    "57014": (159, 160), "22012": (153,), "22003": (69, 321, 407), "22": (6, 26, 27, 32, 38, 41, 70, 72, 321, 349, 376), "21000": (125,),
    "25006": (164, 392), "42501": (497,), "53": (173, 241, 307, 396, 516), "54": (162, 167, 168, 306), "28000": (192, 193, 194, 516),
    "3D000": (81,), "42": (10, 16, 36, 42, 43, 44, 46, 47, 50, 53, 60, 62, 63, 179, 184, 207, 215, 352, 386, 403),
}  # fmt: skip
_SQL_SERVER = {
    "57014": ("Timeout expired",), "22012": ("Division by zero",), "22003": ("Numeric value out of range",),
    "22": ("Invalid datetime format", "Datetime field overflow", "Invalid character value for cast specification", "String data, right-truncated"),
    "28000": ("Invalid authorization specification",), "08": ("Client unable to establish connection", "Communication link failure"),
    "42": ("Syntax error or access violation", "Base table or view not found", "Column not found"),
}  # fmt: skip
_TRINO = {
    "57014": ("EXCEEDED_TIME_LIMIT", "EXCEEDED_CPU_LIMIT", "USER_CANCELED", "ABANDONED_QUERY"), "22012": ("DIVISION_BY_ZERO",),
    "22003": ("NUMERIC_VALUE_OUT_OF_RANGE",), "22": ("INVALID_CAST_ARGUMENT", "INVALID_FUNCTION_ARGUMENT"), "42501": ("PERMISSION_DENIED",),
    "21000": ("SUBQUERY_MULTIPLE_ROWS",), "53": ("EXCEEDED_LOCAL_MEMORY_LIMIT", "EXCEEDED_GLOBAL_MEMORY_LIMIT", "EXCEEDED_SCAN_LIMIT"),
    "42": ("SYNTAX_ERROR", "COLUMN_NOT_FOUND", "FUNCTION_NOT_FOUND", "TYPE_MISMATCH", "TABLE_NOT_FOUND", "EXPRESSION_NOT_AGGREGATE",
           "AMBIGUOUS_NAME", "MISSING_COLUMN_NAME", "DUPLICATE_COLUMN_NAME", "EXPRESSION_NOT_SCALAR"),
}  # fmt: skip


def _turned(states: Mapping[str, Sequence[object]]) -> dict[object, str]:
    return {one: state for state, many in states.items() for one in many}


# By the package of a driver: where its errors keep their number or name, and what that stands for.
_DRIVERS: Mapping[str, tuple[Callable[[Any], object], Mapping[object, str]]] = {
    "pymysql": (lambda error: next(iter(error.args), 0), _turned(_NUMBERS)),
    "clickhouse_connect": (lambda error: getattr(error, "code", 0), _turned(_CLICKHOUSE)),
    "mssql_python": (lambda error: getattr(error, "driver_error", ""), _turned(_SQL_SERVER)),
    "trino": (lambda error: getattr(error, "error_name", ""), _turned(_TRINO)),
}


def state_of(error: BaseException | None) -> str:
    """The state of an error of the driver; an empty text where it is of another driver, or what it says is not known here.

    >>> state_of(ValueError(1365))
    ''
    """
    found = _DRIVERS.get(type(error).__module__.partition(".")[0])
    if found is None:
        written = (
            re.search(r"SQLSTATE: (\w{5})", str(error)) if type(error).__module__.startswith("databricks") else None
        )
        return written[1] if written else ""
    key, states = found
    return states.get(key(error), "")


def warned_of(numbers: Sequence[int]) -> str:
    """The state of the first warning; that of a cast that fails, where it is not known."""
    return next((_STATES.get(number, "22") for number in numbers), "22")
