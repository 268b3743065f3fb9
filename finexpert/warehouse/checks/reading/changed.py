"""Texts inside functions: a column as in nfc_normalize(coalesce(payer, '')), and a value as lower(trim(...)) makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp


def changed_column(node: exp.Expr) -> exp.Column | None:
    """The one column that functions of texts are put around; None where there is another, or a SELECT or an aggregate inside.

    >>> from sqlglot import parse_one
    >>> changed_column(parse_one("nfc_normalize(coalesce(payer, ''))")).sql(), changed_column(parse_one("max(payer)"))
    ('payer', None)
    """
    columns = list(node.find_all(exp.Column))
    inside = node.find(exp.AggFunc, exp.Query, exp.Window, exp.Case, exp.If, exp.Binary)
    return columns[0] if isinstance(node, exp.Func) and len(columns) == 1 and inside is None else None


def as_wrapped(wraps: Sequence[type[exp.Expr]], value: str) -> str:
    """A value as lower(), upper() and trim() around its column make it.

    >>> as_wrapped([exp.Upper, exp.Trim], " filled")
    'FILLED'
    """
    changes: dict[type[exp.Expr], Callable[[str], str]] = {
        exp.Lower: str.lower,
        exp.Upper: str.upper,
        exp.Trim: str.strip,
    }
    for wrap in reversed(wraps):
        value = changes[wrap](value)
    return value
