"""What a person should know of the rows that a SELECT counts and of those that it leaves out, though it runs as it was written.

    region <> 'EMEA'                              accounts.region is missing in some rows, which this leaves out
    count(*) FROM orders, beside deleted_at       orders.deleted_at marks rows as deleted, and the SELECT does not look at it
    sum(amount) FROM entries, beside direction    adds up both directions
    sum(fee) / count(*)                           divides by rows in which fee is missing
    count(region)                                 leaves out rows in which region is missing
    sum(TRY_CAST(cost AS DOUBLE))                 leaves out rows whose text is no number
    approx_count_distinct(id), USING SAMPLE       is no exact number
    GROUP BY region, on MySQL                     takes 'EMEA' and 'emea' for one region

No model is asked again: the question alone tells which is meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.warehouse.checks.reading.comparisons import says_not
from finexpert.warehouse.checks.reading.grouping import group_columns
from finexpert.warehouse.checks.reading.probing import FIRST_ROWS, Probe, is_small
from finexpert.warehouse.checks.reading.select import Read, columns_of, own_where, rows_of, text_of
from finexpert.warehouse.checks.reading.written import given_on
from finexpert.warehouse.dates import kind_of_type, words
from finexpert.warehouse.profile import from_named

_GONE = frozenset(("deleted", "voided", "archived", "reversed", "reversal"))
# A mark in letters says yes in one of these.
_YES = ("Y", "J", "T", "X", "1", "YES", "TRUE", "S")
_NO_BUSINESS = frozenset(("test", "dummy", "duplicate"))
_DIRECTIONS = frozenset(("direction", "drcr", "crdr", "debit_credit", "dr_cr", "cr_dr", "debitcredit", "credit_debit"))
_AMOUNTS = frozenset(("amount", "amt", "value", "total", "sum"))


def remarks(one: Read, probe: Probe) -> list[str]:
    """Notes for the person; nothing is refused."""
    said = [*_from_nothing(one), *_missing(one, probe), *_gone(one, probe), *_both_directions(one)]
    said += [*_averages(one, probe), *_sums(one, probe), *_counts(one, probe), *_merged(one, probe)]
    said += [*_lost_in_casts(one, probe), *_approximate(one)]
    return list(dict.fromkeys(said))


def _from_nothing(one: Read) -> Iterator[str]:
    if one.select is not None and one.select.find(exp.Table) is None:
        yield "the SELECT reads no table: what it gives is written in it"


def _missing(one: Read, probe: Probe) -> Iterator[str]:
    """Conditions that a missing value does not meet, though it differs from what is left out."""
    tested = {node.this.name.lower() for node in (one.select or exp.Select()).find_all(exp.Is) if node.this is not None}
    for column, scope in columns_of(one):
        condition = _leaving_out(column)
        origin = one.origin(column, scope) if condition is not None else None
        if condition is None or origin is None or origin.column.name.lower() in tested:
            continue
        if not is_small(origin.table):
            continue
        name = exp.column(origin.column.name, quoted=True)
        if probe.any_row(exp.select("1").from_(from_named(origin.table.name)).where(name.is_(exp.null()))) is True:
            yield f"{origin} is missing in some rows, which {text_of(one, condition)} leaves out"


def _leaving_out(column: exp.Column) -> exp.Expr | None:
    """The condition that leaves out some values of a column: <>, NOT IN, NOT LIKE or NOT."""
    node = column.parent
    if isinstance(node, exp.NEQ):
        return node if isinstance(node.expression, exp.Literal | exp.Boolean) else None
    if isinstance(node, exp.Not) or (node is not None and says_not(node) and isinstance(node, exp.Like | exp.ILike)):
        return node
    if isinstance(node, exp.In) and node.this is column and node.expressions and isinstance(node.parent, exp.Not):
        return node.parent
    return None


def _gone(one: Read, probe: Probe) -> Iterator[str]:
    mentioned = mentioned_by(one)
    for table in filter(is_small, one.used):
        for column in table.columns:
            said = set(words(column.name))
            is_mark = bool(said & {"flag", "flg", "ind", "yn"}) and bool(said & (_GONE | _NO_BUSINESS | {"del"}))
            gone = is_mark or said & _GONE or ("is" in said and said & _NO_BUSINESS)
            if not gone or column.name.lower() in mentioned:
                continue
            name = exp.column(column.name, quoted=True)
            is_flag = (is_mark or "is" in said) and not kind_of_type(column.type)
            marked: exp.Expr = name.is_(exp.null()).not_()
            if column.type.upper().startswith("BOOL"):
                marked = name
            elif is_flag and column.is_text:
                marked = exp.Upper(this=name.copy()).isin(*_YES)
            elif is_flag:
                marked = name.neq(exp.Literal.number(0))
            if probe.any_row(exp.select("1").from_(from_named(table.name)).where(marked)) is True:
                yield f"{table.name}.{column.name} marks some rows, and the SELECT does not look at it: they count like the others"


def _both_directions(one: Read) -> Iterator[str]:
    mentioned = mentioned_by(one)
    for column, scope in columns_of(one):
        origin = one.origin(column, scope) if column.find_ancestor(exp.Sum) is not None else None
        if origin is None or not set(words(origin.column.name)) & _AMOUNTS:
            continue
        for other in origin.table.columns:
            if other.is_text and other.name.lower() in _DIRECTIONS - mentioned:
                yield f"{origin} is added up for every {origin.table.name}.{other.name}"


def _averages(one: Read, probe: Probe) -> Iterator[str]:
    """A sum divided by the number of all rows, where what is added up is missing in some of them."""
    for scope in one.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or scope.external_columns or not all(map(is_small, one.used)):
            continue
        for node in scope.find_all(exp.Div):
            added = _sum_over_all(node) if node.find_ancestor(exp.Select) is select else None
            if added is None:
                continue
            missing = exp.Is(this=exp.paren(added.copy()), expression=exp.null())
            condition = own_where(scope, missing)
            if probe.any_row(rows_of(one, scope, condition)) is True:
                what = text_of(one, added)
                yield f"{text_of(one, node)} divides by all rows, also by those in which {what} is missing: avg({what}) leaves them out"


def _sums(one: Read, probe: Probe) -> Iterator[str]:
    """A sum of what is missing in some of its rows, as fees are where a rate is: they count as nothing."""
    for scope in one.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or scope.external_columns or not all(map(is_small, one.used)):
            continue
        outer = any(join.side for join in select.args.get("joins") or [])
        for node in scope.find_all(exp.Sum):
            added = _added_up(node) if node.find_ancestor(exp.Select) is select else []
            # What an outer join finds no match for is missing on purpose, but for a rate that an amount is multiplied by.
            for column in added if not outer or len({each.table for each in added}) > 1 else ():
                if (origin := one.origin(column, scope)) is not None and _is_missing(one, column, scope, probe):
                    yield f"{text_of(one, node)} leaves out the rows in which {origin} is missing"
            for column, instead in _rates_made_up(node):
                if (origin := one.origin(column, scope)) is not None and _is_missing(one, column, scope, probe):
                    yield f"{text_of(one, node)} multiplies by {instead} where {origin} is missing"


def _is_missing(one: Read, column: exp.Column, scope: Scope, probe: Probe) -> bool:
    """Whether a column is missing in some of the rows that a SELECT counts."""
    return probe.any_row(rows_of(one, scope, own_where(scope, column.copy().is_(exp.null())))) is True


def _rates_made_up(node: exp.Sum) -> Iterator[tuple[exp.Column, str]]:
    """Factors that are a number of the SELECT's own where they are missing, as coalesce(rate, 1) is."""
    for product in node.find_all(exp.Mul):
        for side in (product.this.unnest(), product.expression.unnest()):
            if isinstance(side, exp.Coalesce) and isinstance(side.this, exp.Column) and len(side.expressions) == 1:
                instead = side.expressions[0]
                if isinstance(instead, exp.Literal) and not instead.is_string and float(instead.name):
                    yield side.this, instead.name


def _added_up(node: exp.Sum) -> list[exp.Column]:
    """The columns of a sum that does not say what a missing value counts as, and is no part of an average."""
    if node.find(exp.Case, exp.If, exp.Coalesce, exp.Distinct, exp.Query) or node.find_ancestor(exp.Filter, exp.Window):
        return []
    above = node.find_ancestor(exp.Div, exp.Select)
    return [] if isinstance(above, exp.Div) and above.find(exp.Count) else list(node.find_all(exp.Column))


def _counts(one: Read, probe: Probe) -> Iterator[str]:
    """A number of values of one table's column that is shown itself, where some are missing."""
    for scope in one.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or select.args.get("joins") or scope.external_columns:
            continue
        for node in (projected.unalias() for projected in select.selects):
            column = node.this if isinstance(node, exp.Count) else None
            origin = one.origin(column, scope) if isinstance(column, exp.Column) else None
            if column is None or origin is None or not is_small(origin.table):
                continue
            missing = column.copy().is_(exp.null())
            condition = own_where(scope, missing)
            if probe.any_row(rows_of(one, scope, condition)) is True:
                yield f"{text_of(one, node)} leaves out the rows in which {origin} is missing"


def _sum_over_all(node: exp.Div) -> exp.Expr | None:
    """What sum(x) / count(*) adds up, unless it says itself what a missing value counts as."""
    above, below = _plain(node.this), _plain(node.expression)
    if not isinstance(above, exp.Sum) or not isinstance(below, exp.Count):
        return None
    # count(1) counts all rows as well.
    every = isinstance(below.this, exp.Star | exp.Literal)
    said = above.this.find(exp.Case, exp.If, exp.Coalesce, exp.Distinct, exp.Query)
    return above.this if every and said is None and above.find(exp.Column) else None


def _plain(node: exp.Expr) -> exp.Expr:
    """What stands in casts, brackets, NULLIF and products with a number."""
    while True:
        if isinstance(node, exp.Cast | exp.Paren | exp.Nullif | exp.Round):
            node = node.this
        elif isinstance(node, exp.Mul) and isinstance(node.this, exp.Literal):
            node = node.expression
        elif isinstance(node, exp.Mul) and isinstance(node.expression, exp.Literal):
            node = node.this
        else:
            return node


def _merged(one: Read, probe: Probe) -> Iterator[str]:
    """Texts that MySQL groups as one though they are written differently."""
    for scope in one.scopes if one.dialect == "mysql" else ():
        for column in _grouped(scope):
            origin = one.origin(column, scope)
            if origin is None or not origin.column.is_text:
                continue
            name = exp.column(origin.column.name, quoted=True)
            first = exp.select(name).from_(from_named(origin.table.name)).limit(FIRST_ROWS).subquery("first_rows")
            # A cast brings it into the character set of the connection.
            exact = exp.Collate(this=exp.cast(name.copy(), "char"), expression=exp.to_identifier("utf8mb4_bin"))
            spelled = exp.Count(this=exp.Distinct(expressions=[exact]))
            found = exp.select("1").from_(first).group_by(name.copy())
            if probe.any_row(found.having(spelled > exp.Literal.number(1))) is True:
                yield f"{origin} is grouped whatever its case and accents: values that differ in these alone are one here"


def _grouped(scope: Scope) -> Iterator[exp.Column]:
    """The columns of which equal values become one: of GROUP BY, SELECT DISTINCT and count(DISTINCT ...)."""
    select = scope.expression
    yield from group_columns(select)
    if isinstance(select, exp.Select) and select.args.get("distinct") is not None:
        made = [projected.unalias() for projected in select.selects]
        yield from (column for column in made if isinstance(column, exp.Column))
    for node in scope.find_all(exp.Distinct):
        if isinstance(node.parent, exp.Count):
            yield from node.find_all(exp.Column)


def mentioned_by(one: Read) -> set[str]:
    """The columns that a SELECT names anywhere, in lower case."""
    return {column.name.lower() for column in (one.select or exp.Select()).find_all(exp.Column)}


def _lost_in_casts(one: Read, probe: Probe) -> Iterator[str]:
    """Texts that a TRY_CAST cannot read, and makes missing values of."""
    for scope in one.scopes:
        select = scope.expression
        if not isinstance(select, exp.Select) or scope.external_columns or not all(map(is_small, one.used)):
            continue
        for node in scope.find_all(exp.TryCast):
            if not select.args.get("from_") or node.find(exp.AggFunc, exp.Window) or not node.find(exp.Column):
                continue
            where = select.args.get("where")
            # A bound on the very cast would hide what it loses.
            condition = where.this if where is not None else exp.true()
            parts = condition.flatten() if isinstance(condition, exp.And) else [condition]
            kept = [part.copy() for part in parts if part.find(exp.TryCast) is None]
            # What another branch reads is not lost; what a number stands in for is.
            whole = given_on(node).copy()
            for filled in whole.find_all(exp.Coalesce):
                filled.set("expressions", [each for each in filled.expressions if not isinstance(each, exp.Literal)])
            lost = exp.and_(whole.is_(exp.null()), node.this.copy().is_(exp.null()).not_())
            rows = rows_of(one, scope, exp.and_(*kept, lost))
            rows.set("expressions", [node.this.copy().as_("lost")])
            if found := probe.first(rows, 1):
                yield f"{text_of(one, node)} leaves out rows whose text it cannot read, as {found[0]!r}"


def _approximate(one: Read) -> Iterator[str]:
    """Functions and samples that give about the number that is asked for."""
    for node in (one.select or exp.Select()).find_all(
        exp.ApproxDistinct, exp.ApproxQuantile, exp.TableSample, exp.Anonymous
    ):
        if not isinstance(node, exp.Anonymous) or node.name.lower().startswith(("approx_", "reservoir_")):
            yield f"{text_of(one, node).strip()} is an approximation: an exact number takes another function, or all rows"
