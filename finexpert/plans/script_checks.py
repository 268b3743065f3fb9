"""What a script leaves to a library's default, though it decides the result: sent back before it runs.

stats.ttest_ind(a, b)                      takes the variances of both samples for equal
stats.ttest_ind(a, b, equal_var=False)     Welch's test: passes, as equal_var=True does
"""

from __future__ import annotations

import ast

from finexpert.core.syntax import parse
from finexpert.errors import ScriptError

_VARIANCES = (
    "takes the variances of both samples for equal: write equal_var=False, which is Welch's test, or equal_var=True where the question says that "
    "they are equal"
)
# By function: the argument that has to be written, and what its default means.
_UNSAID = {"ttest_ind": ("equal_var", _VARIANCES)}


def check_script(code: str) -> None:
    """Raises ScriptError for a call whose unsaid argument decides the result; code that does not parse is left to the sandbox.

    >>> check_script("t, p = stats.ttest_ind(a, b)")
    Traceback (most recent call last):
    finexpert.errors.ScriptError: line 1: ttest_ind() takes the variances of both samples for equal: write equal_var=False, which is Welch's test, or equal_var=True where the question says that they are equal
    >>> check_script("t, p = stats.ttest_ind(a, b, equal_var=False)")
    """
    try:
        tree = parse(code)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        argument, meaning = _UNSAID.get(name, ("", ""))
        named = {each.arg for each in node.keywords}
        # Two samples stand first; more that have no name may be the argument.
        if argument and argument not in named and None not in named and len(node.args) <= 2:
            raise ScriptError(f"line {node.lineno}: {name}() {meaning}")
