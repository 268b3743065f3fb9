"""A sum over several days of what is counted anew each day, or of what is added up already.

sum(balance) over a table of balances with a row an account and day     each day's money once more
sum(income_ytd) over the months or quarters of a year                   January twelve times
count(sku) of inventory_daily, asked "how many items are in stock"      each item once a day

Told by an owner (`stock: true` beside a field of the semantic model), else by names and by rows: a column that says what is there at a
time, in a table that holds the same key at several times, over more than one of them.
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.grouping import common_keys, group_keys, has_totals, of_several
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, own_where, rows_of, text_of
from finexpert.warehouse.dates import kind_of_type, words
from finexpert.warehouse.schema import TableSchema

_split = str.split
_AT_A_TIME = frozenset(
    _split(
        "balance balances holding holdings outstanding inventory headcount exposure aum nav position reserve reserves backlog"
    )
)
_VALUES = frozenset(("market", "book", "fair", "carrying"))
_SNAPSHOTS = _AT_A_TIME | frozenset(
    _split("positions snapshot snapshots eod exposures navs stock valuation valuations")
)
_MOVES = frozenset(
    _split("change changes delta movement movements added released increase decrease inflow outflow net")
)
_FLOWS = frozenset(
    _split(
        "sold received shipped issued fee fees cost charge charges interest payment payments sales revenue income paid amount"
    )
)
_RUNNING = frozenset(_split("ytd mtd qtd cumulative cumul cum running todate"))
# Parts of a year, by which the rows of a running total are told apart where they have no dates.
_PARTS = frozenset(_split("quarter qtr month mon week"))
_ON_HAND = (frozenset(("on", "hand")), frozenset(("in", "stock")), frozenset(("in", "force")))
_TAKEN_DOWN = frozenset(_split("snapshot snapshots eod inventory holding holdings positions balances"))
_AMOUNTS_THERE = frozenset(_split("value qty quantity units"))
_HOW_MANY = re.compile(r"\bhow many\b|\bnumber of\b|\bcount of\b", re.IGNORECASE)
# Who counts days, rows or changes counts a thing once each time.
_TIMES = re.compile(
    r"\b(?:days?|times|weeks?|months?|rows?|records?|snapshots?|entries|observations?|occasions?|often|data ?points?|daily|each|per)\b",
    re.IGNORECASE,
)
_FIRST = 200_000
_DAYS_OF_A_YEAR = 366


def check_stocks(one: Read, probe: Probe) -> None:
    """Raises QueryError for a sum of balances of several days, or of running totals."""
    for scope in one.scopes:
        for node in scope.walk():
            if isinstance(node, exp.Sum | exp.Avg):
                _check_sum(one, node, scope, probe)


def check_snapshots(one: Read, probe: Probe, question: str) -> None:
    """Raises QueryError for a number of rows over several days of what was there on each, where the question asks how many things there are."""
    if not _HOW_MANY.search(question) or _TIMES.search(question):
        return
    for scope in one.scopes:
        for node in scope.find_all(exp.Count):
            _check_count(one, node, scope, probe)


def _check_count(one: Read, node: exp.Count, scope: Scope, probe: Probe) -> None:
    """Raises QueryError for a number of rows of a table that holds the same things anew each day."""
    select = scope.expression
    if not isinstance(select, exp.Select) or select.args.get("joins") or len(scope.sources) != 1:
        return
    if node.find_ancestor(exp.Window, exp.Filter, exp.Div) is not None or node.find(exp.Distinct, exp.Case) is not None:
        return
    (source,) = scope.sources
    table = one.base_of(scope, source)
    day = _snapshot_day(table) if table is not None else ""
    if table is None or not day or _is_told_apart(one, scope, day):
        return
    if _are_several(one, scope, exp.column(day, table=source), probe):
        raise QueryError(
            f"{text_of(one, node)} counts rows of several days, and {table.name} holds what was there on each: keep one day, as the last {day} "
            "that the question means, or count different things with DISTINCT"
        )


def _snapshot_day(table: TableSchema) -> str:
    """The day on which a table's rows say what is there; nothing for a table of anything else."""
    day = table.date_column or ""
    of_day, about = set(words(day)), set(words(table.name.rpartition(".")[2]))
    if not of_day or any(len(key) == 1 for key in table.keys):
        return ""
    again = any(len(key) > 1 and day in key for key in table.keys)
    taken = {"snapshot", "eod", "asof"} & of_day or {"as", "of"} <= of_day or {"snapshot", "snapshots", "daily"} & about
    return day if (about | of_day) & _TAKEN_DOWN and (taken or again) else ""


def _check_sum(one: Read, node: exp.Sum | exp.Avg, scope: Scope, probe: Probe) -> None:
    if node.find_ancestor(exp.Window, exp.Filter) is not None or _is_average(node):
        return
    for column in node.find_all(exp.Column):
        origin = one.origin(column, scope)
        if origin is None or one.base_of(scope, column.table) is None:
            continue
        # A balance has an average over some days; what runs since a beginning has none.
        if isinstance(node, exp.Avg) and not _is_running(origin):
            continue
        for day in _times_of(origin):
            if not _is_at_a_time(origin, day) or _is_share(one, node, scope, day) or _is_told_apart(one, scope, day):
                continue
            if not _are_several(one, scope, exp.column(day, table=column.table), probe):
                continue
            raise QueryError(
                f"{text_of(one, node)} {'adds up' if isinstance(node, exp.Sum) else 'averages'} rows of several {_called(origin.table, day)}, and {origin} says what was there on each: keep one day, as the last "
                f"{day} that the question means, or group by {day}"
            )


def _is_average(node: exp.Expr) -> bool:
    """Whether a sum over some days is divided by their number."""
    over = node.find_ancestor(exp.Div, exp.Select)
    by = over.expression.unnest() if isinstance(over, exp.Div) else None
    return by is not None and (by.find(exp.Count) is not None or (by.is_int and 1 < int(by.name) <= _DAYS_OF_A_YEAR))


def _is_share(one: Read, node: exp.Expr, scope: Scope, day: str) -> bool:
    """Whether a sum is divided by one of the same table that says what was there on the same days, as pallets by room for them."""
    over = node.find_ancestor(exp.Div, exp.Select)
    if not isinstance(over, exp.Div):
        return False
    sides = [[*side.find_all(exp.Sum)] for side in (over.this, over.expression)]
    columns = [column for side in sides for made in side for column in made.find_all(exp.Column)]
    origins = [one.origin(column, scope) for column in columns]
    return all(sides) and all(
        origin is not None and column.table == columns[0].table and _is_at_a_time(origin, day)
        for origin, column in zip(origins, columns, strict=True)
    )


def _times_of(origin: Origin) -> list[str]:
    """The columns of which one group may hold one value only."""
    table, day = origin.table, _time_of(origin)
    kind = table.date.kind if table.date is not None and table.date.name == day else ""
    if not _is_running(origin) or (day and kind not in ("year", "year text")):
        return [day] if day else []
    # At the end of each year a running total may be added up.
    parts = [
        column.name
        for column in table.columns
        if set(words(column.name)) & _PARTS and not _is_running(Origin(table, column))
    ]
    return parts or ([day] if day else [])


def _called(table: TableSchema, name: str) -> str:
    """What the values of a column of times are called."""
    column = table.column(name)
    return "days" if name == table.date_column or (column and kind_of_type(column.type)) else f"values of {name}"


def _is_running(origin: Origin) -> bool:
    """Whether a column's name says that it is added up from a beginning on."""
    said = set(words(origin.column.name))
    return bool(said & _RUNNING) or {"to", "date"} <= said


def _time_of(origin: Origin) -> str:
    """The column that tells the rows of one key apart by time."""
    table = origin.table
    dated = {column.name for column in table.columns if column.dates or kind_of_type(column.type)}
    of_key = [name for key in table.keys if len(key) > 1 for name in key if name in dated]
    return table.date_column or (of_key[0] if of_key else "")


def _is_at_a_time(origin: Origin, day: str) -> bool:
    """Whether a value says what is there at a time, or what was added up until then."""
    table, said = origin.table, set(words(origin.column.name))
    if origin.column.stock is not None:
        return origin.column.stock
    if _is_running(origin):
        return True
    if said & _MOVES or any(len(key) == 1 for key in table.keys):
        return False
    about = set(words(table.name.rpartition(".")[2])) | set(words(day))
    again = any(len(key) > 1 and day in key for key in table.keys)
    named = said & _AT_A_TIME or (said & _VALUES and "value" in said) or any(both <= said for both in _ON_HAND)
    named = named or (said & _AMOUNTS_THERE and about & _TAKEN_DOWN and not said & _FLOWS)
    # The whole table is of what is there: pallets in inventory_daily.
    counted = bool(about & _AT_A_TIME) and again and not said & _FLOWS and not origin.column.is_text
    return bool((named and (about & _SNAPSHOTS or again)) or counted)


def _is_told_apart(one: Read, scope: Scope, day: str) -> bool:
    """Whether the SELECT joins by the day, or says more of it than a condition on a span, a group or an order does.

    A join that looks the day up in a calendar keeps every day.
    """
    select = scope.expression
    if not isinstance(select, exp.Select):
        return False
    parts = [select.args.get(name) for name in ("where", "group", "order")]
    grouped = {key.sql() for key in group_keys(select)}
    parts += [made for made in select.selects if made.unalias().sql() in grouped]
    parts += [join for join in select.args.get("joins") or [] if _looks_up(one, scope, join, day)]
    inside = {id(node) for part in parts if part is not None for node in part.walk()}
    # A total of ROLLUP adds up all days, though a day is among its keys.
    if has_totals(select):
        inside |= {
            id(node) for made in select.selects if isinstance(made.unalias(), exp.Column) for node in made.walk()
        }
    return any(
        column.name.lower() == day.lower() and id(column) not in inside for column in select.find_all(exp.Column)
    )


def _looks_up(one: Read, scope: Scope, join: exp.Expr, day: str) -> bool:
    """Whether a join finds the one row of a table that has the day for its key."""
    table = one.base_of(scope, join.this.alias_or_name)
    on = join.args.get("on")
    sides = list(on.find_all(exp.Column)) if isinstance(on, exp.EQ) else []
    keyed = [side for side in sides if side.table == join.this.alias_or_name]
    by_day = any(side.name.lower() == day.lower() for side in sides if side not in keyed)
    return table is not None and by_day and len(keyed) == 1 and (keyed[0].name,) in table.keys


def _are_several(one: Read, scope: Scope, day: exp.Column, probe: Probe) -> bool:
    """Whether one group holds rows of several days: among all rows where there is one group, else among the first."""
    rows = rows_of(one, scope, own_where(scope))
    if keys := common_keys(scope.expression):
        kept = [day, *keys]
        rows.set("expressions", [part.copy().as_(f"c{number}") for number, part in enumerate(kept)])
        return probe.any_row(of_several(rows.limit(_FIRST), len(keys))) is True
    rows.set("expressions", [day.as_("d")])
    first, every = rows.copy().limit(1).subquery(), rows.subquery("days")
    # It ends at the first row of another day.
    return probe.any_row(exp.select("1").from_(every).where(exp.column("d", table="days").neq(first))) is True
