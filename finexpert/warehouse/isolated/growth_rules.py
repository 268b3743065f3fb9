"""How much longer a SELECT may make its texts and lists: at most 4,096 times.

    SELECT hex(hex(hex(name))) FROM firms     8 times: allowed
    thirteen of them                          refused

DuckDB counts the memory of tables, joins and groups, but not that of the texts and lists within one batch of rows, and it
cannot be interrupted within a batch. So what a call can multiply is added up before anything runs, as powers of two, over
the whole statement. It is a bound on what the statement's own words can do; a cell that is long already stays as it is.
"""

from __future__ import annotations

import math
from typing import Any

from finexpert.errors import QueryError

MAX_DOUBLINGS = 12.0
MAX_STARS = 30
FREE_CHARACTERS = 64
FREE_ELEMENTS = 64
JOINING = {"||", "concat", "concat_ws", "list_concat", "array_concat", "list_cat", "array_cat", "list_value", "list_pack",
           "path_join", "overlay", "json_array", "json_object", "json_merge_patch", "struct_pack", "row", "list_zip",
           "array_zip", "map_concat"}  # fmt: skip
# Numbers are added everywhere; that lists are joined by it, too, counts only where a statement makes lists.
ADDING = {"+", "add"}
LISTS = ("list", "array", "range", "generate_series", "split", "string_split", "str_split", "regexp_", "flatten", "map_",
         "string_to_array")  # fmt: skip
REPLACING = {"replace": 2, "regexp_replace": 2, "translate": 2}
PADDING = {"lpad": 1, "rpad": 1}
SERIES = {"range", "generate_series"}
# What one call multiplies at most, as a power of two; what gathers rows starts from as many as there are.
DOUBLINGS = {"hex": 1, "to_hex": 1, "bin": 3, "to_binary": 3, "url_encode": 2, "base64": 1, "to_base64": 1, "json_quote": 1,
             "to_json": 1, "regexp_escape": 1, "json_pretty": 2, "create_sort_key": 1, "encode": 0, "string_agg": 3,
             "group_concat": 3, "listagg": 3, "array_to_string": 1, "list_aggregate": 3, "array_aggregate": 3,
             "aggregate": 3, "list_aggr": 3, "list_reduce": 12, "reduce": 12, "array_reduce": 12, "string_split": 3,
             "split": 3, "str_split": 3, "string_to_array": 3, "regexp_split_to_array": 3, "str_split_regex": 3,
             "string_split_regex": 3, "regexp_extract_all": 3, "equi_width_bins": 6,
             # Not longer, but as slow as the square of the length, and without an end to wait for.
             "levenshtein": 6, "editdist3": 6, "damerau_levenshtein": 6, "jaro_similarity": 6,
             "jaro_winkler_similarity": 6}  # fmt: skip
Node = dict[str, Any]


class Growth:
    """Adds up what the calls of one statement can multiply; refuses the call that is too much."""

    def __init__(self) -> None:
        self._doublings = self._additions = 0.0
        self._has_lists = False
        self._stars = 0

    def add(self, node: Node) -> None:
        """Count one node of DuckDB's tree.

        >>> growth = Growth()
        >>> growth.add({"function_name": "range", "arguments": [{"literal": {"kind": "INTEGER", "text": "9000"}}]})
        >>> growth.add({"function_name": "range", "arguments": [{"literal": {"kind": "INTEGER", "text": "9000"}}]})
        Traceback (most recent call last):
        finexpert.errors.QueryError: range() and the calls before it can make a text or list far too long: join fewer texts
        """
        if node.get("type") == "STAR":
            self._stars += 1
            if self._stars > MAX_STARS:
                raise QueryError(f"the SELECT says * more than {MAX_STARS} times: name the columns")
        name = str(node.get("function_name") or "").lower()
        if not name:
            return
        arguments = [one.get("expression", one) for one in node.get("arguments") or ()]
        self._has_lists |= name.startswith(LISTS)
        if name in ADDING:
            self._additions += len(arguments) > 1 and not any(_length(argument) for argument in arguments)
        self._doublings += _doublings(name, arguments)
        if self._doublings + (self._additions if self._has_lists else 0) > MAX_DOUBLINGS:
            raise QueryError(f"{name}() and the calls before it can make a text or list far too long: join fewer texts")


def _doublings(name: str, arguments: list[Node]) -> float:
    if name in JOINING:
        growing = sum(_length(argument) is None for argument in arguments)
        return math.log2(max(growing, 1)) + sum(_beyond(_length(argument)) for argument in arguments)
    if name in REPLACING:
        length = _length(arguments[REPLACING[name]]) if len(arguments) > REPLACING[name] else None
        return MAX_DOUBLINGS if length is None else math.log2(length + 1) if length > 1 else 0.0
    if name in PADDING and len(arguments) > 1:
        return _beyond(_number(arguments[1]))
    if name in SERIES:
        numbers = [_number(argument) for argument in arguments]
        known = [abs(number) for number in numbers if number is not None]
        return max(0.0, math.log2(max(known, default=FREE_ELEMENTS) / FREE_ELEMENTS)) if known else 3.0
    return float(DOUBLINGS.get(name, 0))


def _beyond(length: int | None) -> float:
    """What a text of known length adds to a short one."""
    return max(0.0, math.log2(length / FREE_CHARACTERS)) if length else 0.0


def _length(node: Node) -> int | None:
    """The length of a text that the statement spells out."""
    literal = node.get("literal")
    return None if not literal else len(str(literal.get("text", "")))


def _number(node: Node) -> int | None:
    text = str((node.get("literal") or {}).get("text", ""))
    return max(int(text), 1) if text.isdecimal() and len(text) < 19 else None
