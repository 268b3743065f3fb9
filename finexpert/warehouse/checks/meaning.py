"""Conditions and sums that run and mean something else than they say.

    trade_dt >= '2023-01-01' where the column holds '20230131'      max(price) of a text
    version < '1.9' where the column holds '1.10'                   CAST(version AS DOUBLE), which makes 1.1 of it
    grade > 'low' of an ENUM                                        in the order in which its values are declared: that is said

Each is told to the layer that wrote the SELECT, with what to write instead.
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.grouping import called
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, text_of, unwrapped
from finexpert.warehouse.dates import KINDS, kind_of_values, words
from finexpert.warehouse.profile import from_named
from finexpert.warehouse.schema import Column

_RANGES = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_SORTED_AS_TEXT = {"iso", "slashed", "compact", "month", "compact month", "quarter", "year text"}
# What sorts among days as texts: a day, or the beginning of one.
_ISO_START = re.compile(r"\d{4}(-\d\d){0,2}-?|\d{4}-\d\d-\d\d[ T].*")
_NUMBER = re.compile(r"[-+]?\s*[$€£]?\s*\d[\d,.' ]*%?")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*", re.IGNORECASE)
# A part of two digits behind a dot, or a second dot: no decimals.
_LATE = re.compile(r"\.\d{2,}|\.\d+\.")
_BY_PARTS = "{} holds versions, compare their parts as numbers, as string_split(..., '.')::INTEGER[] does"
_SHOWN = 8
_SAMPLE = 200


def check_meaning(one: Read, probe: Probe) -> list[str]:
    """Notes on ENUMs; raises QueryError for the first part of the SELECT that means something else than it says."""
    notes: list[str] = []
    for scope in one.scopes:
        for node in scope.walk():
            notes += _declared_order(one, node, scope)
            if isinstance(node, _RANGES):
                _check_range(one, node, scope, probe)
            elif isinstance(node, exp.Max | exp.Min):
                _check_order(one, node.this, scope, probe, text_of(one, node))
            elif isinstance(node, exp.ArgMax | exp.ArgMin):
                _check_order(one, node.expression, scope, probe, text_of(one, node))
            elif isinstance(node, exp.Ordered):
                _check_order(one, _deciding(node.this, scope), scope, probe, f"ORDER BY {text_of(one, node.this)}")
            elif isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.REAL_TYPES):
                _check_version(one, node, scope, probe)
            elif isinstance(node, exp.StrToTime | exp.Anonymous):
                _check_form(one, node, scope)
    return list(dict.fromkeys(notes))


def _deciding(node: exp.Expr, scope: Scope) -> exp.Expr:
    """What decides by its order which rows are kept, where it is called by the name of a result."""
    return called(node, scope) if scope.expression.args.get("limit") else node


def _declared_order(one: Read, node: exp.Expr, scope: Scope) -> list[str]:
    """A note on values of an ENUM that are compared in another order than that of their letters."""
    sides = [node.this, node.args.get("expression")] if isinstance(node, (*_RANGES, exp.ArgMax, exp.ArgMin)) else []
    sides += [node.this] if isinstance(node, exp.Max | exp.Min) else []
    for side in sides:
        origin = one.origin(side, scope) if isinstance(side, exp.Column) else None
        values = (
            re.findall(r"'((?:[^']|'')*)'", origin.column.type)
            if origin and origin.column.type.upper().startswith("ENUM")
            else []
        )
        if origin is not None and values != sorted(values):
            shown = ", ".join(values[:_SHOWN]) + (", ..." if len(values) > _SHOWN else "")
            return [f"{text_of(one, node)} compares {origin} in the order in which its values are declared: {shown}"]
    return []


def _check_version(one: Read, node: exp.Cast, scope: Scope, probe: Probe) -> None:
    """Raises QueryError for a version that is made one number, which makes 1.1 of 1.10."""
    origin = _plain(one, node.this, scope)
    if origin is not None and _is_version(origin, probe):
        raise QueryError(f"{text_of(one, node)} makes one number of a version: {_BY_PARTS.format(origin)}")


def _is_version(origin: Origin, probe: Probe) -> bool:
    """Whether a column of texts holds versions such as 1.10, by its name and its values."""
    if not set(words(origin.column.name)) & {"version", "ver", "release", "build", "firmware"}:
        return False
    values = _first_values(origin, probe)
    return bool(values) and all(map(_VERSION.fullmatch, values)) and any(map(_LATE.search, values))


def _check_range(one: Read, node: exp.Expr, scope: Scope, probe: Probe) -> None:
    sides = [node.this, *(node.args.get(name) for name in ("expression", "low", "high"))]
    texts = [side.name for side in sides if isinstance(side, exp.Literal) and side.is_string]
    for side in sides:
        if side is None or not texts or (origin := _plain(one, side, scope)) is None:
            continue
        kind = origin.column.dates
        if kind and kind_of_values(texts) != kind and not (kind == "iso" and all(map(_ISO_START.fullmatch, texts))):
            raise QueryError(
                f"{text_of(one, node)} compares texts, and {origin} holds {KINDS[kind]}: convert the column to a date, or write the "
                "text in the form of the column where that form sorts by time"
            )
        if kind and kind not in _SORTED_AS_TEXT:
            raise QueryError(
                f"{text_of(one, node)} compares texts, and {KINDS[kind]} do not sort by time: convert {origin} to a date"
            )
        if not kind and all(_NUMBER.fullmatch(text.strip()) for text in texts):
            if _is_version(origin, probe):
                raise QueryError(
                    f"{text_of(one, node)} compares texts, where '1.9' is more than '1.10': {_BY_PARTS.format(origin)}"
                )
            raise QueryError(
                f"{text_of(one, node)} compares texts, where '9' is more than '10': cast {origin} to a number"
            )


def _check_order(one: Read, node: exp.Expr, scope: Scope, probe: Probe, said: str) -> None:
    """The greatest, the least and the order of texts that hold numbers, or dates that do not sort."""
    origin = _plain(one, node, scope)
    if origin is None:
        return
    kind = origin.column.dates
    if kind and kind not in _SORTED_AS_TEXT:
        raise QueryError(f"{said} compares texts, and {KINDS[kind]} do not sort by time: convert {origin} to a date")
    if not kind and _is_version(origin, probe):
        raise QueryError(f"{said} compares texts, where '1.9' is more than '1.10': {_BY_PARTS.format(origin)}")
    if not kind and not _names_a_code(origin.column) and _holds_numbers(origin, probe):
        raise QueryError(
            f"{said} compares texts, where '9' is more than '10': {origin} holds numbers as texts, cast it to a number"
        )


def _check_form(one: Read, node: exp.StrToTime | exp.Anonymous, scope: Scope) -> None:
    """A form that takes months for days gives another date, or none where a function may fail quietly."""
    arguments = [node.this, node.args["format"]] if isinstance(node, exp.StrToTime) else node.expressions
    if len(arguments) != 2 or (isinstance(node, exp.Anonymous) and "strptime" not in node.name.lower()):
        return
    origin, form = _plain(one, arguments[0], scope), arguments[1].name.lower()
    kind = origin.column.dates if origin is not None else ""
    day, month = form.find("%d"), form.find("%m")
    if (kind == "dmy" and 0 <= month < day) or (kind == "mdy" and 0 <= day < month):
        raise QueryError(f"{text_of(one, node)} reads another form: {origin} holds {KINDS[kind]}")


def _plain(one: Read, node: exp.Expr, scope: Scope) -> Origin | None:
    inner = unwrapped(node)
    origin = one.origin(inner, scope) if isinstance(inner, exp.Column) else None
    return origin if origin is not None and origin.column.is_text else None


def _names_a_code(column: Column) -> bool:
    return bool(
        set(words(column.name))
        & {"id", "code", "cd", "key", "no", "nr", "zip", "postal", "phone", "isin", "cusip", "account"}
    )


def _first_values(origin: Origin, probe: Probe) -> list[str]:
    column = exp.column(origin.column.name, quoted=True)
    known = exp.select(column).from_(from_named(origin.table.name)).where(column.copy().is_(exp.null()).not_())
    return [str(value).strip() for value in probe.first(known, _SAMPLE) if str(value).strip()]


def _holds_numbers(origin: Origin, probe: Probe) -> bool:
    known = _first_values(origin, probe)
    return len(known) > 1 and all(_NUMBER.fullmatch(value) for value in known)
