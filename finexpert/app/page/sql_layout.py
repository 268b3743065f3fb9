"""A SELECT of one long line as lines that a person reads. Nothing but white space is changed.

laid_out("SELECT a FROM t WHERE b = 'x FROM y'")      "SELECT a\\nFROM t\\nWHERE b = 'x FROM y'"
"""

from __future__ import annotations

import re

_INDENT = "  "
_TOKEN = re.compile(
    r"""(?P<kept>'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$|--[^\n]*|/\*.*?\*/)"""
    r"|(?P<open>\()|(?P<close>\))"
    r"|(?P<clause>\b(?:SELECT|FROM|WHERE|GROUP\s+BY|HAVING|QUALIFY|ORDER\s+BY|LIMIT|UNION(?:\s+ALL)?|INTERSECT|EXCEPT|"
    r"(?:(?:NATURAL|LEFT|RIGHT|FULL|INNER|CROSS|ASOF|SEMI|ANTI)\s+)*(?:OUTER\s+)?JOIN)\b)"
    r"|(?P<comma>,\s*(?=\w+\s+AS\s*\(\s*SELECT\b))"
    r"|(?P<space>\s+)|(?P<other>\w+|.)",
    re.IGNORECASE | re.DOTALL,
)
_LONG = 70


def laid_out(sql: str) -> str:
    """The SELECT with a line for each clause of a query; one that has lines already, or is short, stays as it is.

    So does one with a backslash: whether it ends a text before its quote depends on the engine.

    >>> print(laid_out("WITH a AS (SELECT x, sum(y) OVER (ORDER BY z) AS s FROM t WHERE x IN (1, 2)) SELECT max(s) FROM a"))
    WITH a AS (
      SELECT x, sum(y) OVER (ORDER BY z) AS s
      FROM t
      WHERE x IN (1, 2)
    )
    SELECT max(s)
    FROM a
    """
    if "\n" in sql.strip() or "\\" in sql or len(sql) < _LONG:
        return sql
    out: list[str] = []
    # For each open bracket, whether a query stands in it; the outermost is a query.
    queries = [True]
    tokens = list(_TOKEN.finditer(sql))
    for at, token in enumerate(tokens):
        margin = _INDENT * (sum(queries) - 1)
        if token["open"]:
            after = next((each for each in tokens[at + 1 :] if not each["space"]), None)
            queries.append(bool(after and after["clause"] and after[0].upper() == "SELECT"))
            out.append("(")
        elif token["close"]:
            was_query = queries.pop() if len(queries) > 1 else False
            out.append(f"\n{_INDENT * (sum(queries) - 1)})" if was_query else ")")
        elif token["clause"] and queries[-1] and out:
            out.append(f"\n{margin}{token[0]}")
        elif token["comma"] and queries[-1]:
            out.append(f",\n{margin}")
        else:
            out.append(" " if token["space"] else token[0])
    return re.sub(r"[ ]+\n", "\n", "".join(out)).strip()
