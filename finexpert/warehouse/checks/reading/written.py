"""Numbers and days that are kept as texts, and that a cast loses or reads as others: '(45.00)', '12,50', '17.03.2025'.

TRY_CAST(replace(amount, ',', '') AS DOUBLE)      goes back where amount also holds '12,50', which it reads as 1250
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import pandas as pd
from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.date_forms import WRITTEN, form_of
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, text_of
from finexpert.warehouse.profile import from_named

_MOST_ROWS, _MOST_VALUES, _MOST_NODES = 5_000_000, 20_000, 400
# What stands around a cast and gives on what it read, or something in its place.
_GIVES_ON = (exp.Paren, exp.Neg, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Cast)
# What only brings a text into another form. Where anything else is called, a part of the text may be meant.
_FORMS = (
    *(*_GIVES_ON, exp.Column, exp.Identifier, exp.Literal, exp.DataType, exp.Null, exp.Connector, exp.Predicate, exp.Not),
    *(exp.Replace, exp.RegexpReplace, exp.Trim, exp.Upper, exp.Lower, exp.Concat, exp.DPipe, exp.Array, exp.StrToTime),
    *(exp.StartsWith, exp.EndsWith, exp.Contains, exp.RegexpLike, exp.DataTypeParam, exp.Interval, exp.Translate),
)  # fmt: skip
_NUMERIC = {exp.DType.DOUBLE, exp.DType.FLOAT, exp.DType.DECIMAL}
_CURRENCY = r"(?:[$€£¥]|EUR|USD|GBP|CHF|JPY)?"
_NUMBER = re.compile(
    rf"({_CURRENCY})\s*([-+\u2212]?)\s*{_CURRENCY}\s*(\d[\d.,'\u2019\s]*?)\s*(-?)\s*{_CURRENCY}", re.IGNORECASE
)
_LONGEST = 40
_GROUPED = re.compile(r"\d{1,3}(?:[ ,.'\u2019\s]\d{3})*")


class _Cast(NamedTuple):
    """What a text of one column is read as, written over the table itself, with the rows of it that are read."""

    shown: exp.Expr
    read: exp.Expr
    origin: Origin
    where: exp.Expr | None
    is_day: bool
    is_signed: bool


def check_written(one: Read, probe: Probe) -> None:
    """Raises QueryError for a cast of a column of texts that leaves out some of its numbers or days, or reads them as others."""
    for cast in _casts(one):
        column = exp.column(cast.origin.column.name, quoted=True)
        select = exp.select(column, exp.alias_(cast.read, "finexpert_read")).distinct()
        select = select.from_(from_named(cast.origin.table.name))
        select = select.where(cast.where) if cast.where is not None else select
        for text, read in probe.rows(select.limit(_MOST_VALUES)):
            if (wrong := _misread(str(text), read, cast)) is not None:
                form = re.sub("9+", "9", form_of(str(text)))
                kind = "days" if cast.is_day else "numbers"
                raise QueryError(
                    f"{text_of(one, cast.shown)}: {cast.origin} also holds {kind} written as {form}, which it {wrong}: read every form in"
                    " which they are written"
                )


def _misread(text: str, read: Any, cast: _Cast) -> str | None:
    missing = bool(pd.isna(read))
    if cast.is_day:
        return "makes missing values of" if missing and WRITTEN.fullmatch(text.strip()) else None
    number = number_in(text)
    if number is None:
        return None
    if missing:
        return "makes missing values of"
    said, got = float(number), float(read) if isinstance(read, int | float | Decimal) else float(number)
    if not cast.is_signed:
        said, got = abs(said), abs(got)
    if abs(got - said) <= 1e-6 * max(1, abs(said)):
        return None
    return "reads as other numbers"


def number_in(text: str) -> Decimal | None:
    """The number that a text says, where it says one alone; None for 1.234, which is a thousand to some.

    >>> [str(number_in(text)) for text in ("(1,234.50)", "1.234,5-", "£ 12", "12,50", "1 234 567", "-3.25")]
    ['-1234.50', '-1234.5', '12', '12.50', '1234567', '-3.25']
    >>> [number_in(text) for text in ("1.234", "1,234", "12%", "A-1", "1,2,3", "2024-01-31", "")]
    [None, None, None, None, None, None, None]
    """
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    in_brackets = text.startswith("(") and text.endswith(")")
    found = _NUMBER.fullmatch(text[1:-1].strip() if in_brackets else text)
    if found is None:
        return None
    _, sign, digits, behind = found.groups()
    number = _digits(digits)
    return None if number is None else -number if in_brackets or behind or sign in ("-", "\u2212") else number


def _digits(text: str) -> Decimal | None:
    point = max(text.rfind("."), text.rfind(","))
    if point < 0 or text.count(text[point]) > 1:
        whole, decimals = text, ""
    else:
        whole, decimals = text[:point], text[point + 1 :]
        # Three digits behind the only sign may be thousands.
        if not decimals.isdigit() or (len(decimals) == 3 and len(whole) <= 3 and whole != "0"):
            return None
    if not (whole.isdigit() or (_GROUPED.fullmatch(whole) and len(set(re.sub(r"\d", "", whole))) == 1)):
        return None
    if point >= 0 and text[point] in whole and decimals:
        return None
    return Decimal(re.sub(r"\D", "", whole) + (f".{decimals}" if decimals else ""))


def _casts(one: Read) -> Iterator[_Cast]:
    """Every cast of one column of texts, with all that gives its value on, each once."""
    for scope in one.scopes:
        seen: set[int] = set()
        for node in scope.find_all(exp.Cast, exp.StrToTime, exp.Anonymous):
            is_day = _makes_days(node)
            if not is_day and not (isinstance(node, exp.Cast) and node.to.this in _NUMERIC):
                continue
            whole = given_on(node)
            if id(whole) in seen:
                continue
            seen.add(id(whole))
            if (found := _over_the_table(one, whole, scope)) is not None:
                # CASE WHEN amount LIKE '(%' THEN -1 ELSE 1 END * ... gives the sign apart.
                yield _Cast(whole, *found, is_day, not _has_sign_apart(whole))


def _makes_days(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in ("try_strptime", "strptime")
    is_cast = isinstance(node, exp.Cast) and node.is_type(exp.DType.DATE, exp.DType.TIMESTAMP)
    return is_cast or isinstance(node, exp.StrToTime)


def given_on(node: exp.Expr) -> exp.Expr:
    """The whole of what gives a cast's value on: COALESCE(TRY_CAST(a AS DATE), ...) and not the cast in it.

    >>> from sqlglot import parse_one
    >>> tree = parse_one("SELECT sum(CASE WHEN a LIKE '(%' THEN -TRY_CAST(b AS DOUBLE) ELSE 0 END) FROM t", read="duckdb")
    >>> given_on(tree.find(exp.TryCast)).key
    'case'
    """
    whole = node
    while isinstance(above := node.parent, _GIVES_ON):
        # A condition takes a value in and gives none on.
        if isinstance(above, exp.If) and node.arg_key == "this":
            break
        if isinstance(above, exp.Cast) and above.is_type(*exp.DataType.TEXT_TYPES):
            break
        node = above
        if not isinstance(node, exp.If | exp.Neg):
            whole = node
    return whole


def _has_sign_apart(node: exp.Expr) -> bool:
    """Whether a number is multiplied by what a CASE gives."""
    while isinstance(node.parent, exp.Paren):
        node = node.parent
    above = node.parent
    return isinstance(above, exp.Mul) and any(
        side is not node and isinstance(side.unnest(), exp.Case | exp.If) for side in (above.this, above.expression)
    )


def _over_the_table(one: Read, node: exp.Expr, scope: Scope) -> tuple[exp.Expr, Origin, exp.Expr | None] | None:
    """An expression of one column of texts with what SELECTs in between made of it put in, and the conditions on its table."""
    made = exp.Paren(this=node.copy())
    bases: dict[str, tuple[Origin, Scope]] = {}
    if not _put_in(one, made, scope, bases, 0) or len(bases) != 1:
        return None
    ((origin, inner),) = bases.values()
    if not origin.column.is_text or (origin.table.rows or 0) > _MOST_ROWS:
        return None
    if not all(isinstance(part, _FORMS) or _makes_days(part) for part in made.walk()):
        return None
    where = inner.expression.args.get("where")
    parts = [] if where is None else list(where.this.flatten() if isinstance(where.this, exp.And) else [where.this])
    kept = [part.copy() for part in parts if _is_of(one, part, inner, origin)]
    for column in [column for part in [made, *kept] for column in part.find_all(exp.Column)]:
        column.replace(exp.column(column.name, quoted=True))
    return made, origin, exp.and_(*kept) if kept else None


def _put_in(one: Read, made: exp.Expr, scope: Scope, bases: dict[str, tuple[Origin, Scope]], depth: int) -> bool:
    if depth > 20 or sum(1 for _ in made.walk()) > _MOST_NODES:
        return False
    for column in list(made.find_all(exp.Column)):
        source = scope.sources.get(column.table)
        if isinstance(source, exp.Table):
            origin = one.origin(column, scope)
            if origin is None:
                return False
            bases[str(origin)] = (origin, scope)
            continue
        inner = source.expression if isinstance(source, Scope) else None
        if not isinstance(inner, exp.Select):
            return False
        found = [one_of for one_of in inner.selects if one_of.alias_or_name.lower() == column.name.lower()]
        if len(found) != 1:
            return False
        part = exp.Paren(this=found[0].unalias().copy())
        if part.find(exp.AggFunc, exp.Window, exp.Query) or not isinstance(source, Scope):
            return False
        if not _put_in(one, part, source, bases, depth + 1):
            return False
        column.replace(part)
    return True


def _is_of(one: Read, part: exp.Expr, scope: Scope, origin: Origin) -> bool:
    """Whether a condition reads columns of this table alone."""
    if part.find(exp.Query, exp.TryCast, exp.Cast, exp.StrToTime):
        return False
    origins = [one.origin(column, scope) for column in part.find_all(exp.Column)]
    return bool(origins) and all(found is not None and found.table.name == origin.table.name for found in origins)
