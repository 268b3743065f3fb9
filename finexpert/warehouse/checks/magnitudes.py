"""Amounts that a column holds in cents, thousands or millions, and that an answer shows as if they were whole ones.

    sum(amount_cents), shown in EUR            100 times too much: divide by 100
    amount_cents > 500, asked "above 500"      from 5 on: compare with 50000
    max(assets), "in thousands of USD"         a thousandth, where the answer says USD

A column says so by its name or its comment, an answer by its unit or by the names of its columns. A ratio of two such amounts has no unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.select import Origin, Read, columns_of, text_of
from finexpert.warehouse.dates import words

_split = str.split
_MINOR = frozenset(_split("cents cent pence penny pennies centimes centime paise rappen kopecks groszy"))
_AMOUNTS = frozenset(
    _split(
        "amount amt price fee fees total balance value cost costs tax net gross revenue sales units unit assets ebitda"
    )
)
_LARGE = {
    "thousands": "thousand",
    "thousand": "thousand",
    "millions": "million",
    "million": "million",
    "billions": "billion",
    "billion": "billion",
}
# `amount_keur`, `sales_musd`: a letter before the currency; `amount_eur_k`, `revenue_bn`: a word beside it, or beside what is an amount.
_CURRENCIES = frozenset(_split("eur usd gbp chf jpy cad aud cny sek nok dkk pln inr brl hkd sgd"))
_BEFORE_CURRENCY = {
    "k": "thousand",
    "t": "thousand",
    "m": "million",
    "mn": "million",
    "mio": "million",
    "mm": "million",
    "bn": "billion",
}
_SHORT_WORDS = {
    **dict.fromkeys(_split("k tsd thsd 000 000s"), "thousand"),
    **dict.fromkeys(_split("m mm mn mio mln mill"), "million"),
    **dict.fromkeys(_split("bn bln mrd"), "billion"),
}
# "in whole units (not cents)" says that it is none of them.
_IN_MINOR = re.compile(
    rf"(?:^|[,;:(]\s*|(?<!not )\bin\s)(?:(?!not\b|per\b)\w+\s){{0,2}}({'|'.join(sorted(_MINOR))}|minor (?:currency )?units?)\b",
    re.IGNORECASE,
)
# What an amount is multiplied by is none itself: "0.01 for shares quoted in pence".
_FACTORS = frozenset(_split("mult multiplier factor rate rt ratio fx"))
_IN_LARGE = re.compile(
    r"\bin (?:(?-i:[A-Z]{3}) )?(thousand|million|billion)s?\b|(?:^|\b)(thousand|million|billion)s? (?:of\b|(?-i:[A-Z]{3})\b|dollars|euros|pounds|persons|shares)"
    r"|\b(?-i:[A-Z]{3}) (thousand|million|billion|000|mm?|mn|bn)\b|^(thousand|million|billion)s?$",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:never|not) in\b[^.;:()]*", re.IGNORECASE)
_SHORT = {"000": "thousand", "m": "million", "mm": "million", "mn": "million", "bn": "billion"}
_SAID = {
    "cents": re.compile(r"cent(s|imes?)?\b|pence|penn|minor|paise|rappen|kopeck|grosz", re.IGNORECASE),
    "thousand": re.compile(
        rf"thousand|\bk\b|\b000|\bth?sd\b|\b[kt](?:{'|'.join(sorted(_CURRENCIES))})\b", re.IGNORECASE
    ),
    "million": re.compile(rf"million|\b(?:mm?|mn|mio|mln)(?:{'|'.join(sorted(_CURRENCIES))})?\b", re.IGNORECASE),
    "billion": re.compile(rf"billion|\b(?:bn|b|bln|mrd)(?:{'|'.join(sorted(_CURRENCIES))})?\b", re.IGNORECASE),
}
_MONEY = re.compile(r"^(?:[A-Z]{3}|[$€£¥]|dollars?|euros?|pounds?|yen|francs?)$", re.IGNORECASE)
_BY = {
    "cents": "divide by 100.0",
    "thousand": "multiply by 1000",
    "million": "multiply by 1000000",
    "billion": "multiply by 1000000000",
}
_SAME = (
    exp.Alias, exp.Paren, exp.Cast, exp.TryCast, exp.Round, exp.Floor, exp.Ceil, exp.Abs, exp.Neg, exp.Nullif, exp.Filter, exp.Window, exp.Distinct,
    exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.AnyValue, exp.ArgMax, exp.ArgMin, exp.Stddev, exp.StddevSamp, exp.Quantile,
    exp.FirstValue, exp.LastValue, exp.Lag, exp.Lead, exp.WithinGroup, exp.Ordered,
)  # fmt: skip
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_NUMBER = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)(?: ?(k|thousand|million|mn|m|billion|bn)s?\b)?", re.IGNORECASE)
_TIMES = {"k": 1_000, "th": 1_000, "m": 1_000_000, "b": 1_000_000_000}
_DEEPEST = 40


def check_magnitudes(one: Read, question: str, unit: str | None) -> list[str]:
    """Notes on amounts that are in cents or thousands, where the answer does not say so; raises QueryError where it says another unit."""
    return list(dict.fromkeys(_unsaid(one, question, unit or "")))


def check_bounds(one: Read, question: str) -> list[str]:
    """Notes on amounts in thousands that are compared with a number as the question says it; raises QueryError for one of cents."""
    asked, found = _numbers_in(question), []
    for column, scope in columns_of(one):
        origin = one.origin(column, scope)
        node = column.parent
        size = size_of(origin) if origin is not None and isinstance(node, _COMPARED) else None
        if node is None or size is None or _SAID[size].search(question):
            continue
        for number in _compared_with(column):
            if number not in asked:
                continue
            said = f"{text_of(one, node)} compares {_called(size)}, as {origin} holds them, and the question says {number:,g}"
            if size == "cents":
                raise QueryError(f"{said}: compare with {number * 100:g}, unless it means cents")
            found.append(said)
    return list(dict.fromkeys(found))


def _compared_with(column: exp.Column) -> Iterator[float]:
    """The numbers that a comparison holds a column against."""
    node = column.parent
    if isinstance(node, exp.Between):
        others = [node.args["low"], node.args["high"]] if node.this is column else []
    else:
        others = [node.expression if node.this is column else node.this] if isinstance(node, exp.Binary) else []
    for other in others:
        literal = other.unnest()
        if isinstance(literal, exp.Literal) and not literal.is_string and float(literal.name):
            yield float(literal.name)


def _numbers_in(question: str) -> set[float]:
    """The numbers that a question says.

    >>> sorted(_numbers_in("Payments above 1,500 euro or 2.5k, and 3 million in 2024?"))
    [1500.0, 2024.0, 2500.0, 3000000.0]
    """
    found = set()
    for number, more in _NUMBER.findall(question):
        by = next((value for word, value in _TIMES.items() if more.lower().startswith(word)), 1) if more else 1
        found.add(float(number.replace(",", "")) * by)
    return found


def _unsaid(one: Read, question: str, unit: str) -> Iterator[str]:
    select = one.select
    scope = next((scope for scope in one.scopes if scope.expression is select), None)
    if scope is None or not isinstance(select, exp.Select):
        return
    for made in select.selects:
        found = _Looking(one).of(made, scope)
        if found is None:
            continue
        origin, size = found
        named = " ".join(words(made.alias_or_name)) if isinstance(made, exp.Alias) or len(select.selects) > 1 else ""
        if any(_SAID[size].search(said) for said in (unit, named, question)):
            continue
        what = f"{text_of(one, made.unalias())} is in {_called(size)}, as {origin} is"
        if _MONEY.match(unit.strip()):
            raise QueryError(f"{what}, and the answer in {unit.strip()}: {_BY[size]}")
        yield what


def _called(size: str) -> str:
    return size if size == "cents" else f"{size}s"


class _Looking:
    """Looks for the one column whose size an expression has."""

    def __init__(self, one: Read) -> None:
        self._one = one
        self._scopes = {id(scope.expression): scope for scope in one.scopes}

    def of(self, node: exp.Expr | None, scope: Scope, depth: int = 0) -> tuple[Origin, str] | None:
        """The column that gives an expression its size, and that size; None where it has none, or another one by computing."""
        if node is None or depth > _DEEPEST:
            return None
        if isinstance(node, _SAME):
            return self.of(node.this, scope, depth + 1)
        if isinstance(node, exp.Column):
            return self._of_column(node, scope, depth)
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select) and len(node.this.selects) == 1:
            inner = self._scopes.get(id(node.this))
            return self.of(node.this.selects[0], inner, depth + 1) if inner is not None else None
        if isinstance(node, exp.Add | exp.Sub):
            return self.of(node.this, scope, depth + 1) or self.of(node.expression, scope, depth + 1)
        if isinstance(node, exp.Coalesce):
            return self._first([node.this, *node.expressions], scope, depth)
        if isinstance(node, exp.Case):
            return self._first(
                [*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default")], scope, depth
            )
        if isinstance(node, exp.If):
            return self._first([node.args.get("true"), node.args.get("false")], scope, depth)
        if isinstance(node, exp.Mul | exp.Div | exp.IntDiv):
            return self._of_product(node, scope, depth)
        return None

    def _first(self, parts: list[exp.Expr | None], scope: Scope, depth: int) -> tuple[Origin, str] | None:
        return next((found for part in parts if (found := self.of(part, scope, depth + 1))), None)

    def _of_product(self, node: exp.Binary, scope: Scope, depth: int) -> tuple[Origin, str] | None:
        left, right = (self.of(side, scope, depth + 1) for side in (node.this, node.expression))
        # By 100 or 1000 it is made another size, and a ratio has none.
        if any(_is_power_of_ten(side) for side in (node.this, node.expression)) or (left and right):
            return None
        return left or (right if isinstance(node, exp.Mul) else None)

    def _of_column(self, column: exp.Column, scope: Scope, depth: int) -> tuple[Origin, str] | None:
        source = scope.sources.get(column.table)
        if isinstance(source, exp.Table):
            origin = self._one.origin(column, scope)
            size = size_of(origin) if origin is not None else None
            return (origin, size) if origin is not None and size is not None else None
        inner = source.expression if isinstance(source, Scope) else None
        if not isinstance(inner, exp.Select) or not isinstance(source, Scope):
            return None
        made = next((each for each in inner.selects if each.alias_or_name.lower() == column.name.lower()), None)
        return self.of(made, source, depth + 1)


def size_of(origin: Origin) -> str | None:
    """What the values of a column are counted in: cents, or thousand, million, billion; None where nothing says that it is another one.

    >>> from finexpert.warehouse.schema import Column, TableSchema
    >>> table = TableSchema("payments", "", ())
    >>> [size_of(Origin(table, Column(*column))) for column in (("amount_cents", "BIGINT"), ("assets", "DOUBLE", "in thousands of USD"), ("fee", "DOUBLE"))]
    ['cents', 'thousand', None]
    >>> [size_of(Origin(table, Column(name, "BIGINT"))) for name in ("amount_minor", "is_minor", "per_cent", "price_pence")]
    ['cents', None, None, 'cents']
    >>> [size_of(Origin(table, Column(name, "BIGINT"))) for name in ("amount_keur", "sales_usd_mn", "revenue_bn", "weight_k", "m_eur", "key_usd")]
    ['thousand', 'million', 'billion', None, 'million', None]
    >>> said = ("billions of chained dollars", "EUR mn", "thousand persons", "USD thousand", "of firms above a million", "amount in m")
    >>> [size_of(Origin(table, Column("x", "DOUBLE", comment))) for comment in said]
    ['billion', 'million', 'thousand', 'thousand', None, None]
    >>> said = ("hundredths (cents) of the currency", "EUR cents", "whole units (not cents)", "1 for pounds, 0.01 where quoted in pence")
    >>> [size_of(Origin(table, Column(name, "DOUBLE", comment))) for name, comment in zip(("x", "x", "x", "px_mult"), said)]
    ['cents', 'cents', None, None]
    >>> size_of(Origin(table, Column("value", "DOUBLE", "in the unit beside it, as a whole number of units: never in thousands or millions")))
    >>> size_of(Origin(table, Column("shares", "BIGINT", "no of shares, in thousands")))
    'thousand'
    """
    if origin.column.is_text:
        return None
    said = words(origin.column.name)
    if ("minor" in said and set(said) & _AMOUNTS) or (set(said) & _MINOR and "per" not in said):
        return "cents"
    if len(said) > 1 and (large := next((_LARGE[word] for word in said if word in _LARGE), None)):
        return large
    if short := _shortened(said):
        return short
    comment = _NOT.sub("", origin.column.comment)
    if _IN_MINOR.search(comment) and not set(said) & _FACTORS:
        return "cents"
    found = _IN_LARGE.search(comment)
    if found is None:
        return None
    size = str(next(filter(None, found.groups()))).lower()
    return _SHORT.get(size, size)


def _shortened(said: list[str]) -> str | None:
    """The size in a name such as `amount_keur` or `sales_usd_mn`."""
    for word in said:
        before, currency = word[:-3], word[-3:]
        if currency in _CURRENCIES and before in _BEFORE_CURRENCY:
            return _BEFORE_CURRENCY[before]
    if not set(said) & (_CURRENCIES | _AMOUNTS):
        return None
    return next((_SHORT_WORDS[word] for word in said if word in _SHORT_WORDS), None)


def _is_power_of_ten(node: exp.Expr) -> bool:
    node = node.unnest()
    while isinstance(node, exp.Cast):
        node = node.this
    if isinstance(node, exp.Pow):
        # 10 ^ c.minor_digits: each currency has its own.
        return node.this.unnest().name in ("10", "10.0")
    if not isinstance(node, exp.Literal) or node.is_string:
        return False
    try:
        return float(node.name) != 1 and bool(re.fullmatch(r"1(?:\.0)?e[+-]\d+", f"{float(node.name):.1e}"))
    except ValueError:
        return False
