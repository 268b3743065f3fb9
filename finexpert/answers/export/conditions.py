"""The conditions of `DataFrame.query` in an exported script: a condition in a text is code like any other."""

from __future__ import annotations

import ast

_QUOTED = "quoted_"


def refused(node: ast.Call) -> str | None:
    """The word for which a call of `query` is refused; None where its condition compares columns and nothing else."""
    given = node.args[0] if len(node.args) == 1 else None
    if not isinstance(given, ast.Constant) or any(one.arg is None for one in node.keywords):
        return "query"
    text = str(given.value)
    try:
        inner = list(ast.walk(ast.parse(_unquoted(text), mode="eval")))
    except (SyntaxError, RecursionError):
        return "query"
    # A backtick in a text quotes nothing: pandas and we would read another condition each.
    hidden = any(isinstance(one, ast.Constant) and _QUOTED in str(one.value) for one in inner)
    code = hidden or any(isinstance(one, ast.Call | ast.Attribute) for one in inner)
    return f"query({text[:40]!r})" if code else None


def _unquoted(text: str) -> str:
    """A condition of pandas as Python: a column in backticks and a variable behind @ are names; SyntaxError for a comment.

    >>> _unquoted("`net sales` > @least")
    'quoted_ > least'
    """
    if "#" in text:
        raise SyntaxError("a comment")
    return _QUOTED.join(text.split("`")[::2]).replace("@", "")
