"""The sources of one FROM, and which of them multiply the rows of the others.

FROM accounts a JOIN trades t ON t.account_id = a.account_id      trades holds several rows of one account: it multiplies accounts
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.warehouse.checks.probing import Probe
from finexpert.warehouse.checks.reading import Read, rows_of, runnable, unwrapped, withs
from finexpert.warehouse.dates import words
from finexpert.warehouse.keys import singular

SMALL = 5_000_000
# What one row more or less of a first look tells: rows of one key stand together or come back soon.
_FIRST = 20_000
_ROW = "finexpert_row"


class Joined:
    """The sources of one FROM, and which of them may hold several rows for one row of the rest."""

    def __init__(self, one: Read, scope: Scope, probe: Probe) -> None:
        self._one, self._scope, self._probe = one, scope, probe
        select = scope.expression
        self._joins: list[exp.Join] = select.args.get("joins") or []
        self.names = {select.args["from_"].this.alias_or_name}
        # A semi join multiplies nothing, and an ASOF join finds one row.
        for join in self._joins:
            if not {join.side, join.kind, join.method} & {"SEMI", "ANTI", "ASOF", "POSITIONAL"}:
                self.names.add(join.this.alias_or_name)
        self._sources = {name: source for name, source in scope.sources.items() if name in self.names}
        self._conditions = list(_all_conditions(select))
        self._grouped = group_columns(select)
        self._several: dict[str, bool] = {}

    def multiplying(self, counted: set[str]) -> str | None:
        """The source that multiplies the rows of others: of those counted, or of any where none is named, as count(*) does."""
        if counted:
            several = [name for name in self._sources if name not in counted and self._holds_several(name)]
            # Where a period or another range ties two sources, only the joined rows tell.
            found = next((name for name in several if not self._is_ranged(name) or self._grows(counted)), None)
            return found or self._multiply_each_other(counted)
        several = [name for name in self._sources if self._holds_several(name)]
        # Pairs of rows of one table are what such a join is written for.
        tables = [self._one.base_of(self._scope, name) for name in several]
        pairs = len(set(map(id, tables))) < len(tables)
        return " and ".join(several) if len(several) > 1 and not pairs else None

    def _multiply_each_other(self, counted: set[str]) -> str | None:
        """Of sources that are counted together, as an amount times a rate, one that holds several rows for several of another."""
        if len(counted) < 2 or len({id(self._one.base_of(self._scope, name)) for name in counted}) < len(counted):
            return None
        several = [name for name in sorted(counted) if self._holds_several(name)]
        # A range may tie several rows to one: only the joined rows tell.
        return several[1] if len(several) > 1 and not any(map(self._is_ranged, several)) else None

    def named(self, things: Sequence[str]) -> set[str]:
        """The source whose rows a count is meant to count: the first that is named, and of `order lines` the last; none for groups of one."""
        tables = {name: table for name in self.names if (table := self._one.base_of(self._scope, name))}
        several = [table.name for table in tables.values()]
        by_word = {
            singular(words(table.name)[-1]): name for name, table in tables.items() if several.count(table.name) == 1
        }
        found = ""
        for thing in things:
            if found and thing not in by_word:
                break
            found = by_word.get(thing, "")
        if not found:
            return set()
        keys = {part.lower() for key in tables[found].keys for part in key}
        grouped = {column.name.lower() for column in self._grouped}
        return set() if keys & grouped else {found}

    def without_match(self) -> str | None:
        """The source of a LEFT JOIN that holds several rows of a key, where a row on the left has none and counts all the same."""
        where = self._scope.expression.args.get("where")
        for join in self._joins:
            name: str = join.this.alias_or_name
            asked = where is not None and any(column.table == name for column in where.find_all(exp.Column))
            if (
                join.side != "LEFT"
                or asked
                or not (bound := sorted(self._bound(name)))
                or not self._holds_several(name)
            ):
                continue
            missing = exp.column(bound[0], table=name).is_(exp.null())
            condition = exp.and_(where.this.copy(), missing) if where is not None else missing
            if self._probe.any_row(rows_of(self._one, self._scope, condition)) is True:
                return name
        return None

    def only_selects(self, name: str, counted: set[str]) -> bool:
        """Whether a source does nothing but choose rows of the one that the SELECT is from."""
        select = self._scope.expression
        if counted != {select.args["from_"].this.alias_or_name}:
            return False
        parts = [*select.expressions, *(select.args.get(part) for part in ("group", "having", "order", "qualify"))]
        return not any(
            column.table == name for part in parts if part is not None for column in part.find_all(exp.Column)
        )

    def _holds_several(self, name: str) -> bool:
        if name not in self._several:
            self._several[name] = self._found_several(name)
        return self._several[name]

    def _found_several(self, name: str) -> bool:
        columns = set(self._bound(name))
        if self._unique_by_key(name, columns):
            return False
        if not columns:
            # A cross join: only a source of one row leaves the others as they are.
            return self._probe.any_row(runnable(self._rows(name, columns, None))) is True
        table = self._one.base_of(self._scope, name)
        small = table is None or table.rows is None or table.rows <= SMALL
        looks = (_FIRST, None) if small else (_FIRST,)
        return any(self._probe.any_row(runnable(self._rows(name, columns, rows))) is True for rows in looks)

    def _is_ranged(self, name: str) -> bool:
        """Whether a condition other than an equality ties a source to another one."""
        for condition in self._conditions:
            tables = {column.table for column in condition.find_all(exp.Column)}
            if name in tables and len(tables) > 1 and not isinstance(condition, exp.EQ | exp.NullSafeEQ):
                return True
        return False

    def _grows(self, counted: set[str]) -> bool:
        """Whether one of the first rows of what is counted comes back more than once when it is joined."""
        first = min(counted)
        select = self._scope.expression
        number = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[exp.Ordered(this=exp.null())]))
        own = exp.select("*", number.as_(_ROW)).from_(self._source(first).copy()).where(*self._own_conditions({first}))
        numbered = own.limit(_FIRST).subquery(first)
        source = select.args["from_"].this
        rows = exp.Count(this=exp.Star()), exp.Count(this=exp.Distinct(expressions=[exp.column(_ROW, table=first)]))
        joined = exp.select(rows[0].as_("every"), rows[1].as_("single"))
        joined = joined.from_(numbered.copy() if source.alias_or_name == first else source.copy())
        for join in self._joins:
            made = join.copy()
            if join.this.alias_or_name == first:
                made.set("this", numbered.copy())
            joined.append("joins", made)
        where = select.args.get("where")
        joined = joined.where(where.this.copy()) if where is not None else joined
        for with_ in withs(self._one, self._scope):
            joined.set("with_", with_.copy())
        more = exp.select("1").from_(joined.subquery("counted")).where("every > single")
        return self._probe.any_row(runnable(more)) is True

    def _source(self, name: str) -> exp.Expr:
        sources: tuple[exp.Expr, ...] = (
            self._scope.expression.args["from_"].this,
            *(join.this for join in self._joins),
        )
        return next(source for source in sources if source.alias_or_name == name)

    def _own_conditions(self, names: set[str]) -> list[exp.Expr]:
        """The conditions on these sources alone."""
        return [
            condition.copy()
            for condition in self._conditions
            if {column.table for column in condition.find_all(exp.Column)} == names and not condition.find(exp.Query)
        ]

    def _unique_by_key(self, name: str, columns: set[str]) -> bool:
        table = self._one.base_of(self._scope, name)
        if table is not None:
            bound = {column.lower() for column in columns}
            return any({part.lower() for part in key} <= bound for key in table.keys)
        source = self._sources[name]
        inner = source.expression if isinstance(source, Scope) else None
        if not isinstance(inner, exp.Select):
            return False
        group = inner.args.get("group")
        if group is not None and not group.args.get("all"):
            made = {
                grouped.sql(): projected.alias_or_name
                for projected in inner.selects
                for grouped in [projected.unalias()]
            }
            keys = {made.get(part.sql(), part.alias_or_name) for part in group.expressions}
            return keys <= columns
        if inner.args.get("distinct"):
            return {projected.alias_or_name for projected in inner.selects} <= columns
        return group is None and all(projected.find(exp.AggFunc) for projected in inner.selects)

    def _bound(self, name: str) -> Iterator[str]:
        """The columns of a source that its conditions tie to one value: of another source, a constant, or the group."""
        for condition in self._conditions:
            if not isinstance(condition, exp.EQ | exp.NullSafeEQ):
                continue
            for wrapped, other in ((condition.this, condition.expression), (condition.expression, condition.this)):
                side = unwrapped(wrapped)
                if not isinstance(side, exp.Column) or side.table != name:
                    continue
                if name not in {column.table for column in other.find_all(exp.Column)}:
                    yield side.name
        yield from (column.name for column in self._grouped if column.table == name)

    def _rows(self, name: str, columns: set[str], rows: int | None) -> exp.Select:
        """The SELECT for one key with several rows, among those that the conditions on this source alone let through."""
        own = self._own_conditions({name})
        keys = [exp.column(column, table=name) for column in sorted(columns)]
        inner = (
            exp.select(*keys, *(() if keys else (exp.alias_(exp.Literal.string("all"), "k"),)))
            .from_(self._source(name).copy())
            .where(*own)
        )
        for key in keys:
            inner = inner.where(key.copy().is_(exp.null()).not_())
        inner = inner.limit(rows) if rows else inner
        outer = exp.select("1").from_(inner.subquery("some_rows"))
        outer = outer.group_by(*[exp.column(column) for column in sorted(columns) or ["k"]]).having("COUNT(*) > 1")
        for with_ in withs(self._one, self._scope):
            outer.set("with_", with_.copy())
        return outer.limit(1)


def _all_conditions(select: exp.Expr) -> Iterator[exp.Expr]:
    """Every condition of WHERE and ON that has to hold."""
    where = select.args.get("where")
    roots = [where.this] if where is not None else []
    roots += [join.args["on"] for join in select.args.get("joins") or [] if join.args.get("on") is not None]
    for root in roots:
        for condition in root.flatten() if isinstance(root, exp.And) else [root]:
            yield condition.unnest()


def group_columns(select: exp.Expr) -> list[exp.Column]:
    """The columns that a SELECT groups by, where they are columns."""
    if not isinstance(select, exp.Select):
        return []
    group = select.args.get("group")
    if group is None:
        return []
    if group.args.get("all"):
        return [column for part in select.selects if isinstance(column := part.unalias(), exp.Column)]
    projected = {number: part.unalias() for number, part in enumerate(select.selects, 1)}
    found = []
    for part in group.expressions:
        node = projected.get(int(part.name)) if isinstance(part, exp.Literal) and not part.is_string else part
        if isinstance(node, exp.Column):
            found.append(node)
    return found


def of_several(rows: exp.Select, groups: int) -> exp.Select:
    """The SELECT that gives a row where c0 of some rows has several values within one group of c1, c2 and so on.

    >>> of_several(exp.select("a AS c0").from_("t"), 0).sql()
    'SELECT 1 FROM (SELECT COUNT(DISTINCT c0) AS several FROM (SELECT a AS c0 FROM t) AS first_rows) AS counted WHERE several > 1'
    """
    counted = exp.select("COUNT(DISTINCT c0) AS several").from_(rows.subquery("first_rows"))
    if groups:
        counted = counted.group_by(*(exp.column(f"c{number}") for number in range(1, groups + 1)))
    return exp.select("1").from_(counted.subquery("counted")).where("several > 1")
