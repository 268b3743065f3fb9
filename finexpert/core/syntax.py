"""Reading Python source as a tree, in a program with many threads.

    parse("answer = 1")  ->  ast.Module

CPython 3.11 and 3.12 count the depth of the tree in a place that all threads share: when two threads parse at once, one
of them may get a SystemError ("AST constructor recursion depth mismatch") for source that is right. Parsing again
helps. Nothing here judges the source.
"""

from __future__ import annotations

import ast

_TIMES = 5


def parse(source: str) -> ast.Module:
    """The tree of a source. SyntaxError where it is none, also where Python cannot hold it (too deep, too long).

    >>> type(parse("answer = 1").body[0]).__name__
    'Assign'
    """
    for last in range(_TIMES - 1, -1, -1):
        try:
            return ast.parse(source)
        except SystemError:
            if last == 0:
                raise
        except (RecursionError, MemoryError, ValueError) as error:
            raise SyntaxError(str(error) or type(error).__name__) from error
    raise AssertionError("unreachable")
