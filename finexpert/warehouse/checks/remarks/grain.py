"""What a person should know where one thing has several rows, and the SELECT takes each for a thing of its own.

sum(insured), beside valid_from               what was insured before counts as well
count(*) FROM applications, beside ver        a restated application counts twice
count(DISTINCT customer_key)                  each version of a customer has a key of its own
avg(claimed), asked "per claim"               a claim has several lines: the average is a line's
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.warehouse.checks.reading.grouping import group_columns
from finexpert.warehouse.checks.reading.probing import FIRST_ROWS, SMALL, Probe
from finexpert.warehouse.checks.reading.select import Read, own_where, rows_of, text_of
from finexpert.warehouse.checks.times.versions import thing_of
from finexpert.warehouse.dates import words
from finexpert.warehouse.keys import singular
from finexpert.warehouse.profile import from_named
from finexpert.warehouse.schema import Column, TableSchema, find_table

_ENDS = frozenset(("from", "to", "start", "end", "until", "thru", "through", "since"))
_NUMBERS = frozenset(("ver", "version", "rev", "revision"))
_IDS = frozenset(("id", "no", "nr", "num", "number", "key", "code", "cd"))
# Equal numbers are looked for among all rows of a table up to it, and in one of so many numbers of a larger one.
_WHOLE, _ONE_IN = 1_000_000, 17
_ADDED = (exp.Sum, exp.Count, exp.Avg)
_PER = re.compile(r"\b(?:(per|for each)|how many|number of|average)(?=((?:\s+[a-z]+){1,3}))", re.IGNORECASE)


def grain(one: Read, probe: Probe, question: str = "") -> list[str]:
    """Notes for the person; nothing is refused."""
    found = [*_versions(one, probe), *_keys_of_versions(one, probe), *_things(one, probe, question)]
    return list(dict.fromkeys(found))


def _versions(one: Read, probe: Probe) -> Iterator[str]:
    """Rows that held at other times, or that were replaced, where nothing is said of which."""
    mentioned = {column.name.lower() for column in (one.select or exp.Select()).find_all(exp.Column)}
    for scope in one.scopes:
        groups = bool(group_columns(scope.expression))
        if not any(
            not isinstance(node.this, exp.Distinct) or (groups and isinstance(node, exp.Count))
            for node in scope.find_all(*_ADDED)
        ):
            continue
        for name in scope.sources:
            table = one.base_of(scope, name)
            thing = _several_rows_of(table, probe) if table is not None and not _ends(table) & mentioned else ()
            # Whoever joins by the key of the rows themselves takes one version of each.
            if table is not None and thing and not (_own_key(table, thing) & _joined_by(scope, name)):
                yield f"{table.name} holds several rows of one {', '.join(thing)}, told apart by {', '.join(_said(table))}: all of them count"


def _keys_of_versions(one: Read, probe: Probe) -> Iterator[str]:
    """Numbers of different keys that are one a version."""
    for scope in one.scopes:
        for node in scope.find_all(exp.Distinct):
            columns = list(node.find_all(exp.Column)) if isinstance(node.parent, exp.Count) else []
            # USING makes one of the columns of both sides.
            origin = one.origin(columns[0], scope) if len({column.name for column in columns}) == 1 else None
            if origin is None:
                continue
            name = (origin.column.name,)
            key = next((key for key in origin.table.foreign_keys if key.columns == name), None)
            table = find_table(one.tables, key.table) if key is not None else origin.table
            own = key.referred if key is not None else name
            if table is not None and own in table.keys and _ends(table) and (thing := _several_rows_of(table, probe)):
                yield f"count(DISTINCT {origin.column.name}) counts each version as one: {table.name} holds several of one {', '.join(thing)}"


def _several_rows_of(table: TableSchema, probe: Probe) -> tuple[str, ...]:
    """The columns that say what the rows of a table are versions of, where one of it has several."""
    ends = _ends(table)
    if not ends or table.rows is None or table.rows > SMALL:
        return ()
    thing = thing_of(table, ends) or _business_key(table)
    numbered = [column.name for column in table.columns if _is_number_of_version(table, column)]
    if numbered and table.date_column and not table.keys:
        thing = [*thing, table.date_column] if thing else []
    if not thing:
        return ()
    return tuple(thing) if _repeat(table, thing, probe) else ()


def _repeat(table: TableSchema, thing: Sequence[str], probe: Probe) -> bool | None:
    """Whether a table holds several rows of one thing; found once, whatever a question asks of it."""
    rows = exp.select("1").from_(from_named(table.name))
    return _agree(rows, table, [exp.column(name, quoted=True) for name in thing], probe)


def _agree(rows: exp.Select, table: TableSchema, keys: Sequence[exp.Column], probe: Probe) -> bool | None:
    """Whether several rows of a table agree in some columns: the first ones mostly tell, else all; None where there was no time.

    Of a large table the rows of one number in 17 are read, each with all its equals: what repeats is found unless less than some fifty numbers do.
    """
    named = [key.copy().as_(f"k{number}") for number, key in enumerate(keys)]
    first = rows.copy()
    first.set("expressions", named)
    with_ = first.args.get("with_")
    first.set("with_", None)
    again = exp.select("1").from_(first.limit(FIRST_ROWS).subquery("first_rows"))
    again.set("with_", with_)
    if probe.any_row(again.group_by(*(exp.column(name.alias) for name in named)).having("COUNT(*) > 1")) is True:
        return True
    types = ((key, table.column(key.name)) for key in keys)
    number = next((key for key, column in types if column is not None and "INT" in column.type.upper()), None)
    if number is not None and (table.rows is None or table.rows > _WHOLE):
        rows = rows.where(exp.Mod(this=number.copy(), expression=exp.Literal.number(_ONE_IN)).eq(0))
    return probe.any_row(rows.group_by(*(key.copy() for key in keys)).having("COUNT(*) > 1"))


def _business_key(table: TableSchema) -> list[str]:
    """The number of what a table is called after, where its key is another one: customer_id in dim_customer by customer_key."""
    called = {singular(word) for word in words(table.name.rpartition(".")[2])}
    keys = {name for key in table.keys for name in key}
    named = [
        column.name
        for column in table.columns
        if column.name not in keys and set(words(column.name)) & _IDS and set(words(column.name)) - _IDS <= called
    ]
    return named if len(named) == 1 and keys else []


def _ends(table: TableSchema) -> set[str]:
    return {
        column.name.lower()
        for column in table.columns
        if _of_a_version(column.name) or _is_number_of_version(table, column)
    }


def _said(table: TableSchema) -> list[str]:
    return [column.name for column in table.columns if column.name.lower() in _ends(table)]


def _is_number_of_version(table: TableSchema, column: Column) -> bool:
    """Whether a column numbers the versions of a row: of a key, or of a table without one."""
    in_key = any(len(key) > 1 and column.name in key for key in table.keys)
    return "INT" in column.type.upper() and set(words(column.name)) <= _NUMBERS and (in_key or not table.keys)


def _own_key(table: TableSchema, thing: tuple[str, ...]) -> set[str]:
    return {name.lower() for key in table.keys for name in key} - set(map(str.lower, thing))


def _joined_by(scope: Scope, name: str) -> set[str]:
    """The columns of a source that its own SELECT joins it by."""
    select = scope.expression
    parts = [*(select.args.get("joins") or []), *([select.args["where"]] if select.args.get("where") else [])]
    equal = [node for part in parts for node in part.find_all(exp.EQ) if node.find_ancestor(exp.Select) is select]
    return {side.name.lower() for node in equal for side in node.find_all(exp.Column) if side.table == name}


def _of_a_version(name: str) -> bool:
    """Whether a column says from when to when its row holds, or that it holds now.

    >>> [_of_a_version(name) for name in ("valid_from", "effective_end_date", "is_current", "from_account", "current_price")]
    [True, True, True, False, False]
    """
    said = set(words(name))
    return bool(said & {"valid", "effective"} and said & _ENDS) or {"is", "current"} <= said


def _things(one: Read, probe: Probe, question: str) -> Iterator[str]:
    """An average or a number of rows, where the question asks for one a thing and the thing has several rows."""
    asked: dict[str, bool] = {}
    for match in _PER.finditer(question.lower()):
        asked |= {word: bool(match[1]) or asked.get(word, False) for word in map(singular, match[2].split())}
    select = one.select
    scope = next((scope for scope in one.scopes if scope.expression is select), None)
    if scope is None or not isinstance(select, exp.Select) or scope.external_columns:
        return
    for name in scope.sources:
        table = one.base_of(scope, name)
        if table is None:
            return
        shown = [
            node for made in select.selects for node in made.find_all(exp.Avg, exp.Count) if _is_of(node, scope, name)
        ]
        if not shown or table.rows is None or table.rows > SMALL or _ends(table):
            continue
        for column in _things_of(table, asked, averaged=isinstance(shown[0], exp.Avg)):
            if any(
                _is_told_apart(each)
                for each in select.find_all(exp.Column)
                if each.name.lower() == column.name.lower() and each.find_ancestor(exp.Join) is None
            ):
                continue
            joined = select.args.get("joins") or select.args.get("laterals")
            if not joined and _repeat(table, [column.name], probe) is False:
                continue
            rows = rows_of(one, scope, own_where(scope))
            if _agree(rows, table, [exp.column(column.name, table=name, quoted=True)], probe):
                yield f"{text_of(one, shown[0])} takes each row of {table.name} as one, and one {column.name} has several rows"


def _is_of(node: exp.Expr, scope: Scope, name: str) -> bool:
    """Whether what is averaged or counted is of one source alone."""
    columns = {column.table for column in node.find_all(exp.Column)}
    return columns == {name} or (not columns and len(scope.sources) == 1)


def _things_of(table: TableSchema, asked: dict[str, bool], *, averaged: bool) -> Iterator[Column]:
    """The columns that number a thing which the question asks for: "per" it, or as an average or a number of it.

    Where the question names the rows of the table themselves, these are meant, but for an average "per" thing.
    """
    for column in table.columns:
        said = words(column.name)
        thing = set(map(singular, said[:-1]))
        if len(said) < 2 or said[-1] not in _IDS or not thing <= set(asked) or (column.name,) in table.keys:
            continue
        if (averaged and all(asked[word] for word in thing)) or not _is_called(table, set(asked) - {singular(said[0])}):
            yield column


def _is_told_apart(column: exp.Column) -> bool:
    """Whether a SELECT does more with a column than count the rows in which it is there."""
    return not isinstance(column.parent, exp.Count | exp.Is)


def _is_called(table: TableSchema, asked: set[str]) -> bool:
    """Whether the question names the rows of the table themselves."""
    return bool({singular(word) for word in words(table.name.rpartition(".")[2])} & asked)
