"""The rules that a SELECT must pass before DuckDB may run it.

One SELECT and what it is told:

    SELECT * FROM duckdb_settings()   ->   duckdb_settings() is not allowed: the only table functions are generate_series, range, unnest

The statement is read twice, by sqlglot and by DuckDB's own parser: both must see one SELECT, and the tables and functions are taken
from DuckDB's own tree, so what was checked is what runs. Columns are left to DuckDB's binder. The boundary itself is the locked
connection (`local/duckdb_warehouse.py`); these rules say early and clearly what to write instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.errors import QueryError
from finexpert.warehouse.isolated.function_rules import check_function, check_table_function
from finexpert.warehouse.isolated.growth_rules import Growth
from finexpert.warehouse.suggestions import unknown_table

MAX_CHARACTERS = 20_000
CURRENT_NAMES = {"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp", "current_user", "user",
                 "session_user", "current_role", "current_catalog", "current_schema", "current_database"}  # fmt: skip
QUERY_NODES = frozenset(("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"))
TABLE_NODES = frozenset(
    ("BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST", "EMPTY", "PIVOT", "CTE")
)
Node = dict[str, Any]


def check_select(
    select: str, cursor: duckdb.DuckDBPyConnection, columns: Mapping[str, Sequence[str]], *, growth_rules: bool = True
) -> list[str]:
    """The known tables that `select` reads; raises QueryError for anything but one harmless SELECT.

    `columns` holds the known tables; a table outside of the schema `main` stands there as `schema.table`. Without `growth_rules`
    texts and lists may be made as long as they like: memory is limited elsewhere then.

    >>> cursor = duckdb.connect()
    >>> check_select("SELECT max(value) FROM cpi", cursor, {"cpi": ["date", "value"]})
    ['cpi']
    >>> check_select("SELECT 1; SELECT 2", cursor, {})
    Traceback (most recent call last):
    finexpert.errors.QueryError: 2 statements were given: write exactly one SELECT
    """
    if len(select) > MAX_CHARACTERS:
        raise QueryError(f"the SELECT has {len(select)} characters, more than {MAX_CHARACTERS}: shorten it")
    if not _is_encodable(select):
        raise QueryError("the SELECT cannot be parsed: it holds characters that are no text")
    _check_statements(select, cursor)
    used = _check_tree(_tree(select, cursor), columns, Growth() if growth_rules else None)
    _check_second_reading(select)
    return used


def functions_of(select: str, cursor: duckdb.DuckDBPyConnection) -> set[str]:
    """The functions that a SELECT calls, also those in FROM and those that operators stand for, in lower case.

    >>> sorted(functions_of("SELECT lower(a) || 'b' FROM range(3) AS t(a)", duckdb.connect()))
    ['lower', 'range', '||']
    """
    found = set()
    for node, _ in _nodes(_tree(select, cursor)):
        called = node["function"] if node.get("type") == "TABLE_FUNCTION" else node
        found.add(str(called.get("function_name") or "").lower())
    return found - {""}


def _check_statements(select: str, cursor: duckdb.DuckDBPyConnection) -> None:
    try:
        statements = cursor.extract_statements(select)
    except duckdb.Error as error:
        raise QueryError(f"the SELECT cannot be parsed: {_first_line(error)}") from None
    if len(statements) != 1:
        raise QueryError(f"{len(statements)} statements were given: write exactly one SELECT")
    kind = statements[0].type.name
    if kind == "MULTI":
        raise QueryError("PIVOT needs the values to spread: write PIVOT ... ON column IN ('a', 'b') USING ...")
    if kind != "SELECT":
        raise QueryError(f"a {kind} statement is not allowed: write exactly one SELECT")


def _check_second_reading(select: str) -> None:
    try:
        statements = [one for one in sqlglot.parse(select, read="duckdb") if not isinstance(one, exp.Semicolon | None)]
    except (SqlglotError, RecursionError) as error:
        raise QueryError("the SELECT cannot be parsed: write it in plainer SQL") from error
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise QueryError("only a SELECT is allowed (WITH and UNION may be part of it): write exactly one SELECT")


def _tree(select: str, cursor: duckdb.DuckDBPyConnection) -> Node:
    rows = cursor.execute("SELECT json_serialize_sql(?)", [select]).fetchall()
    try:
        tree: Node = json.loads(rows[0][0])
    except RecursionError as error:
        raise QueryError("the SELECT is nested too deeply: write it in plainer SQL") from error
    if tree.get("error") or not tree.get("statements"):
        raise QueryError(f"the SELECT cannot be parsed: {tree.get('error_message', 'no statement was found')}")
    return tree


def _check_tree(tree: Node, columns: Mapping[str, Sequence[str]], growth: Growth | None) -> list[str]:
    known = {name.lower(): name for name in columns}
    named = {column.lower() for one in columns.values() for column in one} | set(_aliases(tree))
    used: dict[str, None] = {}
    for node, ctes in _nodes(tree):
        if "cte_map" in node and node["type"] not in QUERY_NODES:
            kind = str(node["type"]).partition("_")[0]
            raise QueryError(f"a {kind} inside of WITH is not allowed: only SELECT is")
        if node.get("sample") is not None:
            raise QueryError("a sample gives other rows each time: leave SAMPLE out")
        if "sample" in node and node["type"] not in TABLE_NODES | QUERY_NODES:
            raise QueryError("DESCRIBE, SHOW and SUMMARIZE are not allowed: the schema is known, write a SELECT")
        if node.get("type") == "BASE_TABLE":
            table = _table(node["qualified_name"]["path"], known, ctes, columns, tree)
            used.update({table: None} if table else {})
        elif node.get("type") == "TABLE_FUNCTION":
            check_table_function(node["function"])
        elif node.get("function_name"):
            check_function(node)
        elif node.get("type") == "COLUMN_REF":
            _check_current(node["column_names"], named)
        if growth is not None:
            growth.add(node)
    return list(used)


def _nodes(root: Node) -> Iterator[tuple[Node, frozenset[str]]]:
    """Every node with the names of the CTEs in sight; a CTE sees the earlier ones, and itself if it is recursive."""
    stack: list[tuple[Any, frozenset[str]]] = [(root, frozenset())]
    while stack:
        node, ctes = stack.pop()
        if isinstance(node, list):
            stack.extend((child, ctes) for child in reversed(node))
        if not isinstance(node, dict):
            continue
        for entry in (node.get("cte_map") or {}).get("map", ()):
            name, body = entry["key"].lower(), entry["value"]
            recursive = body["query_node"]["type"] == "RECURSIVE_CTE_NODE"
            stack.append((body, ctes | {name} if recursive else ctes))
            ctes |= {name}
        yield node, ctes
        is_function = node.get("type") == "TABLE_FUNCTION"
        children = [node["function"]["arguments"], node.get("sample")] if is_function else [*node.values()]
        stack.extend((child, ctes) for child in reversed(children) if child is not node.get("cte_map"))


def _aliases(tree: Node) -> Iterator[str]:
    for node, _ in _nodes(tree):
        yield str(node.get("alias") or "").lower()
        yield from (str(name).lower() for key in ("aliases", "column_name_alias") for name in node.get(key) or ())


def _table(
    path: Sequence[str],
    known: Mapping[str, str],
    ctes: frozenset[str],
    columns: Mapping[str, Sequence[str]],
    tree: Node,
) -> str | None:
    parts = [part.lower() for part in path]
    if len(parts) == 1 and parts[0] in ctes:
        return None
    name = ".".join(parts[1:] if len(parts) == 2 and parts[0] == "main" else parts)
    if name in known and len(parts) <= 2:
        return known[name]
    read = {str(node["column_names"][-1]) for node, _ in _nodes(tree) if node.get("type") == "COLUMN_REF"}
    raise QueryError(unknown_table(".".join(path), columns, read))


def _check_current(path: Sequence[str], named: set[str]) -> None:
    name = path[0].lower()
    if len(path) == 1 and name in CURRENT_NAMES and name not in named:
        raise QueryError(f"{name} differs from run to run: write the date itself, as DATE '2024-09-30'")


def _is_encodable(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
