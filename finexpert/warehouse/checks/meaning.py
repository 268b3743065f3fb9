"""Conditions and sums that run and mean something else than they say.

    trade_dt >= '2023-01-01' where the column holds '20230131'      max(price) of a text

Each is told to the layer that wrote the SELECT, with what to write instead.
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.probing import Probe, table_name
from finexpert.warehouse.checks.reading.select import Origin, Read, text_of, unwrapped
from finexpert.warehouse.dates import KINDS, kind_of_values, words
from finexpert.warehouse.schema import Column

_RANGES = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_SORTED_AS_TEXT = {"iso", "slashed", "compact", "month", "compact month", "quarter", "year text"}
# What sorts among days as texts: a day, or the beginning of one.
_ISO_START = re.compile(r"\d{4}(-\d\d){0,2}-?|\d{4}-\d\d-\d\d[ T].*")
_NUMBER = re.compile(r"[-+]?\s*[$€£]?\s*\d[\d,.' ]*%?")
_SAMPLE = 200


def check_meaning(one: Read, probe: Probe) -> None:
    """Raises QueryError for the first part of the SELECT that means something else than it says."""
    for scope in one.scopes:
        for node in scope.walk():
            if isinstance(node, _RANGES):
                _check_range(one, node, scope, probe)
            elif isinstance(node, exp.Max | exp.Min):
                _check_order(one, node.this, scope, probe, text_of(one, node))
            elif isinstance(node, exp.ArgMax | exp.ArgMin):
                _check_order(one, node.expression, scope, probe, text_of(one, node))
            elif isinstance(node, exp.Ordered):
                _check_order(one, node.this, scope, probe, f"ORDER BY {text_of(one, node.this)}")
            elif isinstance(node, exp.StrToTime | exp.Anonymous):
                _check_form(one, node, scope)


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


def _holds_numbers(origin: Origin, probe: Probe) -> bool:
    column = exp.column(origin.column.name, quoted=True)
    values = probe.first(
        exp.select(column).from_(table_name(origin.table.name)).where(column.copy().is_(exp.null()).not_()), _SAMPLE
    )
    known = [str(value).strip() for value in values if str(value).strip()]
    return len(known) > 1 and all(_NUMBER.fullmatch(value) for value in known)
