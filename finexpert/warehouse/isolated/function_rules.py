"""Which functions a SELECT may call: everything that DuckDB has, but for the groups below.

    SELECT current_setting('home_directory')  ->  refused: it reads settings or the catalog

A group is a data table: a new name is a new word in it. Table functions are the other way round: only three are allowed.
"""

from __future__ import annotations

import re
from typing import Any

from finexpert.errors import QueryError

TABLE_FUNCTIONS = ("generate_series", "range", "unnest")
MAX_ELEMENTS = 10_000
MAX_PADDING = 1_000
LONG_UNITS = ("day", "week", "month", "quarter", "year", "decade")

# Where DuckDB's own functions stand; a function elsewhere is the file's.
OWN_SCHEMAS = ("main", "pg_catalog")
AGGREGATES_BY_NAME = ("list_aggregate", "list_aggr", "array_aggregate", "array_aggr", "aggregate")

INTERNAL = "it reads settings, files or the catalog"
VARIES = "it differs from run to run; write the value itself, as DATE '2024-09-30'"
UNBOUNDED = "it can make a value of any size; select the plain value and leave its form to the script"
MEMBERS = "it names the members of a type, seen or not on any day; select the column itself"
HALTS = "it only stops or delays the query"

GROUPS = {
    INTERNAL: ["getvariable", "getenv", "version", "in_search_path", "glob", "query", "query_table", "col_description",
               "obj_description", "shobj_description", "get_block_size", "txid_current", "nextval", "currval", "setval",
               "user", "session_user", "write_log", "parse_duckdb_log_message", "which_secret", "stats", "vector_type"],
    VARIES: ["random", "setseed", "uuid", "gen_random_uuid", "uuidv4", "uuidv7", "now", "today", "ago", "current_date",
             "current_time", "current_timestamp", "current_localtime", "current_localtimestamp", "get_current_time",
             "get_current_timestamp", "transaction_timestamp", "reservoir_quantile"],
    UNBOUNDED: ["repeat", "repeat_row", "list_resize", "array_resize", "bitstring", "printf", "format", "bar"],
    MEMBERS: ["enum_range", "enum_range_boundary", "enum_first", "enum_last", "typeof", "get_type", "cast_to_type"],
    HALTS: ["error", "assert_true", "sleep_ms"],
}  # fmt: skip
INTERNAL_PREFIXES = ("pg_", "duckdb_", "pragma_", "read_", "has_", "inet_", "current_", "parquet_", "force_", "enable_",
                     "disable_", "json_execute", "json_serialize", "json_deserialize", "register_", "deregister_",
                     "test_", "sql_auto_")  # fmt: skip
REASONS = {name: reason for reason, names in GROUPS.items() for name in names}
Node = dict[str, Any]


def check_table_function(function: Node) -> None:
    """Refuses a function in FROM that is not one of three.

    >>> check_table_function({"function_name": "read_csv"})
    Traceback (most recent call last):
    finexpert.errors.QueryError: read_csv() is not allowed in FROM: only generate_series, range, unnest are, and tables by name
    """
    name = str(function["function_name"]).lower()
    _check_place(function)
    if name not in TABLE_FUNCTIONS:
        raise QueryError(f"{name}() is not allowed in FROM: only {', '.join(TABLE_FUNCTIONS)} are, and tables by name")


def check_function(node: Node) -> None:
    """Refuses a call that reads internals, differs from run to run, or makes a value of any size.

    >>> check_function({"function_name": "random", "arguments": []})
    Traceback (most recent call last):
    finexpert.errors.QueryError: random() is not allowed: it differs from run to run; write the value itself, as DATE '2024-09-30'
    """
    name = str(node["function_name"]).lower()
    _check_place(node)
    arguments = [argument.get("expression", argument) for argument in node.get("arguments") or ()]
    reason = REASONS.get(name) or (INTERNAL if name.startswith(INTERNAL_PREFIXES) else None)
    if name == "age" and len(arguments) == 1:
        reason = VARIES
    if name in AGGREGATES_BY_NAME and _text(arguments[1:2]) is None:
        raise QueryError(f"{name}() needs the name of its aggregate written as a text, as 'sum'")
    if reason:
        raise QueryError(f"{name}() is not allowed: {reason}")
    if name in AGGREGATES_BY_NAME:
        check_function({"function_name": _text(arguments[1:2]) or "", "arguments": []})
    if name in ("lpad", "rpad") and not _small(arguments[1:2], MAX_PADDING):
        raise QueryError(f"{name}() needs a length written as a number up to {MAX_PADDING}")
    if name in ("range", "generate_series") and not _bounded(arguments):
        raise QueryError(
            f"{name}() as a value needs numbers up to {MAX_ELEMENTS:,} or a step in days or longer: "
            f"write it in FROM, as FROM {name}(1, 10) AS t(i)"
        )


def _check_place(node: Node) -> None:
    """Refuses a function of a schema: what is not DuckDB's own is a macro of the file, whatever its name."""
    if node.get("catalog") or str(node.get("schema") or "main").lower() not in OWN_SCHEMAS:
        raise QueryError(f"{node['function_name']}() is not allowed with a schema before it: write its plain name")


def _bounded(arguments: list[Node]) -> bool:
    if len(arguments) == 3 and _is_long_step(arguments[2]):
        return True
    return _small(arguments, MAX_ELEMENTS)


def _text(arguments: list[Node]) -> str | None:
    """The text that an argument spells out."""
    value = (arguments[0].get("value") or arguments[0].get("literal") or {}) if arguments else {}
    text = value.get("value", value.get("text"))
    return text if isinstance(text, str) else None


def _small(arguments: list[Node], most: int) -> bool:
    numbers = [_integer(argument) for argument in arguments]
    return bool(numbers) and all(number is not None and abs(number) <= most for number in numbers)


def _integer(node: Node) -> int | None:
    literal = node.get("literal") or {}
    text = str(literal.get("text", ""))
    return int(text) if literal.get("kind") == "INTEGER" and re.fullmatch(r"-?\d{1,18}", text) else None


def _is_long_step(node: Node) -> bool:
    """`INTERVAL 1 MONTH` (a call of to_months) or `INTERVAL '1 month'` (a cast of text)."""
    name = str(node.get("function_name") or "").lower()
    if name == "-" and len(node["arguments"]) == 1:
        return _is_long_step(node["arguments"][0].get("expression", node["arguments"][0]))
    if name.removeprefix("to_").rstrip("s") in LONG_UNITS:
        return True
    text = str(((node.get("child") or {}).get("literal") or {}).get("text", "")).lower()
    return any(unit in text for unit in LONG_UNITS)
