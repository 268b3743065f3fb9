"""A sum or an average of amounts in several currencies, or of quantities in several units.

sum(amount) over rows in EUR and USD, as trades.currency says           is an amount of nothing
sum(weight) over rows in kg and lb, as shipments.weight_unit says       is a weight of nothing
avg(value) over rows of GDP and its deflator, as gdp.gdp_index says     is an average of nothing
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.grouping import common_keys, has_totals, of_several, shown
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, own_where, rows_of, text_of
from finexpert.warehouse.dates import words
from finexpert.warehouse.schema import Column, TableSchema, find_table

_ADDED_UP = (exp.Sum, exp.Avg, exp.Median, exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Quantile, exp.PercentileCont)
_CURRENCY = frozenset(("currency", "ccy", "cur", "curr", "currencycode"))
_AMOUNT = frozenset(
    ("amount", "amt", "notional", "value", "price", "cost", "fee", "fees", "revenue", "balance", "outstanding", "total",
     "proceeds", "cash", "payment", "payout", "principal", "salary", "wage", "income", "premium", "premia", "prem", "gwp", "nwp",
     "exposure", "commission", "tax", "turnover", "sales", "spend", "budget", "profit", "loss", "pnl", "charge", "interest",
     "nav", "aum", "deposit", "withdrawal", "rent", "debit", "credit")
)  # fmt: skip
# Rates of amounts are the same in every currency, and so are their numbers, days and kinds.
_NO_AMOUNT = frozenset(
    ("bp", "bps", "pct", "percent", "percentage", "rate", "ratio", "share", "yield", "change", "growth", "id", "no", "nr", "num",
     "number", "count", "cnt", "qty", "quantity", "units", "days", "day", "date", "dt", "month", "year", "type", "code", "flag",
     "status")
)  # fmt: skip
# What may be anything else in a column of decimals.
_OF_NO_CURRENCY = _NO_AMOUNT | frozenset(
    ("weight", "volume", "size", "score", "rating", "hours", "minutes", "seconds", "lat", "lon", "latitude", "longitude", "age",
     "duration", "distance", "probability", "factor", "index", "beta", "delta", "correlation", "temperature", "kg", "km", "lots",
     "contracts", "pieces", "shares", "seats", "hectares", "tons", "barrels", "mwh", "kwh", "litres", "gallons")
)  # fmt: skip
_DECIMALS = ("DOUBLE", "FLOAT", "REAL", "DEC", "NUM", "MONEY")
_UNIT = frozenset(("unit", "units", "uom"))
_OF_UNITS = _UNIT | {"of", "measure", "measurement"}
# Of what a column says the unit that is called `unit` alone.
_QUANTITY = frozenset(("quantity", "qty", "weight", "volume", "distance", "length", "area", "consumption"))
_ONE_CURRENCY = re.compile(r"\b(usd|eur|gbp|jpy|chf|in dollars|base|home|reporting|local|converted)\b", re.IGNORECASE)
_FIRST = 20_000


def check_currencies(one: Read, probe: Probe) -> list[str]:
    """Raises QueryError for amounts of several currencies or units that are added up; notes where another table may say that they are."""
    notes: list[str] = []
    for scope in one.scopes:
        for node in scope.walk():
            if isinstance(node, _ADDED_UP):
                notes += _check_currency(one, node, scope, probe)
                notes += _of_parents(one, node, scope, probe)
    return list(dict.fromkeys(notes))


def _added(node: exp.Expr) -> Iterator[exp.Column]:
    """The columns whose values are added up, without those of conditions, which choose rows.

    >>> from sqlglot import parse_one
    >>> [column.name for column in _added(parse_one("sum(CASE WHEN amount > 100 THEN fee END)"))]
    ['fee']
    """
    for column in node.find_all(exp.Column):
        within = column.find_ancestor(exp.Predicate, type(node))
        if within is None or not isinstance(within, exp.Predicate):
            yield column


def _of_parents(one: Read, node: exp.Expr, scope: Scope, probe: Probe) -> Iterator[str]:
    """Amounts without a currency beside them, of things that are in several."""
    mentioned = {column.name.lower() for column in (one.select or exp.Select()).find_all(exp.Column)}
    for column in _added(node):
        origin = one.origin(column, scope)
        if (
            origin is None
            or not _may_be_amount(origin.column)
            or _currency_of(origin.table)
            or _in_one_currency(origin)
        ):
            continue
        for key in origin.table.foreign_keys:
            table = find_table(one.tables, key.table)
            currency = _currency_of(table) if table is not None else None
            if table is None or currency is None or currency.name.lower() in mentioned:
                continue
            if len(_different(probe.distinct(Origin(table, currency)))) > 1:
                yield (
                    f"{text_of(one, node)} may add up several currencies: {table.name}.{currency.name} holds several, and the SELECT does not look at it"
                )


def _check_currency(one: Read, node: exp.Expr, scope: Scope, probe: Probe) -> Iterator[str]:
    """A sum or an average of amounts in several currencies or units, told by a column beside them, is no amount.

    What may be an amount and need not be is said.
    """
    for column in _added(node):
        origin = one.origin(column, scope)
        if origin is None or origin.column.is_text:
            continue
        unit = _unit_of(origin) or _series_of(origin)
        if unit is not None and not _is_told_apart(one, unit, column, scope):
            if _are_several(one, Origin(origin.table, unit), column, scope, probe):
                raise QueryError(f"{text_of(one, node)} adds up {origin.column.name} {_of_several_kinds(origin, unit)}")
            continue
        currency = _currency_of(origin.table) if _may_be_amount(origin.column) else None
        if currency is None or _in_one_currency(origin) or _is_told_apart(one, currency, column, scope):
            continue
        if not _are_several(one, Origin(origin.table, currency), column, scope, probe):
            continue
        if _is_amount(origin.column):
            raise QueryError(
                f"{text_of(one, node)} adds up amounts in several currencies, as {origin.table.name}.{currency.name} says: group by it, "
                "keep one currency, or convert with exchange rates of these data; if the column is in one currency, the owner says so in the "
                "comment of the column or in the semantic model"
            )
        yield f"{text_of(one, node)} adds up rows in several currencies, as {origin.table.name}.{currency.name} says"


def _is_amount(column: Column) -> bool:
    """
    >>> [_is_amount(Column(name, "DOUBLE")) for name in ("fee_amount", "commission_bp", "sales_qty")]
    [True, False, False]
    >>> _is_amount(Column("payment_date", "DATE"))
    False
    """
    said = set(words(column.name))
    return bool(said & _AMOUNT) and not said & _NO_AMOUNT and not _is_day(column)


def _may_be_amount(column: Column) -> bool:
    """Whether a column is an amount by its name, or holds decimals that its name calls nothing else.

    >>> [_may_be_amount(Column(name, "DOUBLE")) for name in ("recovered", "gross_weight")], _may_be_amount(Column("seats", "INTEGER"))
    ([True, False], False)
    """
    decimals = any(kind in column.type.upper() for kind in _DECIMALS)
    return _is_amount(column) or (decimals and not set(words(column.name)) & _OF_NO_CURRENCY and not _is_day(column))


def _is_day(column: Column) -> bool:
    return bool(column.dates) or column.type.upper().startswith(("DATE", "TIME"))


def _different(values: Iterable[str] | None) -> set[str]:
    """Codes of currencies without those that differ in case or blanks alone. A small last letter is a unit of its own: GBp are pence.

    >>> sorted(_different(["usd", "USD ", "Usd", "GBP", "GBp"]))
    ['GBP', 'GBp', 'USD']
    """
    codes = (value.strip() for value in values or ())
    return {code.upper() if code[1:] == code[1:].lower() else code for code in codes}


def _one_code(column: exp.Column) -> exp.Expr:
    """The same in SQL."""
    code = exp.Trim(this=column)
    rest = exp.Substring(this=code, start=exp.Literal.number(2), length=exp.Literal.number(9))
    return exp.case().when(rest.eq(exp.Lower(this=rest.copy())), exp.Upper(this=code.copy())).else_(code.copy())


def _currency_of(table: TableSchema) -> Column | None:
    return next((column for column in table.columns if column.is_text and set(words(column.name)) & _CURRENCY), None)


def _unit_of(origin: Origin) -> Column | None:
    """The column that says in which unit a quantity of the same row is.

    >>> weight, unit, price = Column("gross_weight", "DOUBLE"), Column("weight_uom", "VARCHAR"), Column("unit_price", "DOUBLE")
    >>> table = TableSchema("parcels", "", (weight, unit, price, Column("business_unit", "VARCHAR")))
    >>> [_unit_of(Origin(table, column)) is unit for column in (weight, price)]
    [True, False]
    >>> measured = TableSchema("readings", "", (Column("quantity", "DOUBLE"), Column("unit_of_measure", "VARCHAR")))
    >>> _unit_of(Origin(measured, measured.columns[0])).name
    'unit_of_measure'
    """
    said = set(words(origin.column.name))
    for column in origin.table.columns:
        named = words(column.name)
        of = set(named) - _OF_UNITS
        if column.is_text and set(named) & _UNIT and (of <= said if of else bool(said & _QUANTITY)):
            return column
    return None


def _series_of(origin: Origin) -> Column | None:
    """The published column that says of which series a value of the same row is, where the owner describes the value series by series.

    >>> index = Column("cpi_index", "VARCHAR", categories=("CPI", "Core CPI"))
    >>> value = Column("value", "DOUBLE", "CPI: index, 1982-1984 = 100 | Core CPI: index, 1982-1984 = 100")
    >>> table = TableSchema("cpi", "", (index, value, Column("weight", "DOUBLE", "in percent")))
    >>> _series_of(Origin(table, value)) is index, _series_of(Origin(table, table.columns[2]))
    (True, None)
    """
    described = {part.partition(":")[0].strip() for part in origin.column.comment.split("|") if ":" in part}
    return next(
        (column for column in origin.table.columns if len(described & set(column.categories or ())) > 1),
        None,
    )


def _of_several_kinds(origin: Origin, by: Column) -> str:
    place = f"as {origin.table.name}.{by.name} says"
    if _unit_of(origin) is None:
        return f"of several series, {place}: group by it, or keep one"
    return f"in several units, {place}: convert each to one unit with CASE, group by it, or keep one unit"


def _in_one_currency(origin: Origin) -> bool:
    said = " ".join((*words(origin.column.name), origin.column.comment, origin.table.comment))
    return bool(_ONE_CURRENCY.search(said))


def _are_several(one: Read, currency: Origin, amount: exp.Column, scope: Scope, probe: Probe) -> bool:
    """Whether the rows that are added up in one group have several currencies: of a first part of them, or of all of their table."""
    if one.base_of(scope, amount.table) is None:
        return len(_different(probe.distinct(currency))) > 1
    rows = rows_of(one, scope, own_where(scope))
    code = exp.column(currency.column.name, table=amount.table)
    is_currency = bool(set(words(currency.column.name)) & _CURRENCY)
    kept = [code if not is_currency else _one_code(code), *common_keys(scope.expression)]
    rows.set("expressions", [part.copy().as_(f"c{number}") for number, part in enumerate(kept)])
    return probe.any_row(of_several(rows.limit(_FIRST), len(kept) - 1)) is True


def _is_told_apart(one: Read, currency: Column, amount: exp.Column, scope: Scope) -> bool:
    """Whether the SELECT, or one that it is part of or made from, does more with the currency than keep some of them."""
    where = scope.expression.args.get("where") if one.base_of(scope, amount.table) is not None else None
    # What a condition keeps may still be several, and so may what a total of ROLLUP adds up: the rows tell.
    parts = [where] if where is not None else []
    parts += shown(scope.expression) if has_totals(scope.expression) else []
    kept = {id(node) for part in parts for node in part.walk()}
    return any(
        column.name.lower() == currency.name.lower() and id(column) not in kept
        for column in (one.select or exp.Select()).find_all(exp.Column)
    )
