"""The sources of one FROM, and which of them multiply the rows of the others.

FROM accounts a JOIN trades t ON t.account_id = a.account_id      trades holds several rows of one account: it multiplies accounts
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.warehouse.checks.reading.grouping import columns_of, common_keys
from finexpert.warehouse.checks.reading.probing import SMALL, Probe
from finexpert.warehouse.checks.reading.select import Read, own_where, rows_of, runnable, unwrapped, withs
from finexpert.warehouse.dates import words
from finexpert.warehouse.keys import singular

# What one row more or less of a first look tells: rows of one key stand together or come back soon.
_FIRST = 20_000
_ROW = "finexpert_row"


class Joined:
    """The sources of one FROM, and which of them may hold several rows for one row of the rest."""

    def __init__(self, one: Read, scope: Scope, probe: Probe, over: exp.Window | None = None) -> None:
        """Of a SELECT's groups, or of the partitions of a window `over` its rows."""
        self._one, self._scope, self._probe = one, scope, probe
        select = scope.expression
        self._joins: list[exp.Join] = select.args.get("joins") or []
        self.names = {select.args["from_"].this.alias_or_name}
        # A semi join multiplies nothing, and an ASOF join finds one row.
        for join in self._joins:
            if not {join.side, join.kind, join.method} & {"SEMI", "ANTI", "ASOF", "POSITIONAL"}:
                self.names.add(join.this.alias_or_name)
        written = [select.args["from_"].this.alias_or_name, *(join.this.alias_or_name for join in self._joins)]
        self._sources = {name: scope.sources[name] for name in written if name in self.names & set(scope.sources)}
        self._conditions = list(all_conditions(select))
        # A row of a LATERAL or an UNNEST belongs to one row of each source that it is made from.
        self._made_from = {
            join.this.alias_or_name: found for join in self._joins if (found := self._read_by(join.this))
        }
        self._keys = common_keys(select) if over is None else over.args.get("partition_by") or []
        self._grouped = columns_of(self._keys)
        self._several: dict[tuple[str, frozenset[str]], bool] = {}

    def multiplying(self, counted: set[str]) -> str | None:
        """The source that multiplies the rows of others: of those counted, or of any where none is named, as count(*) does."""
        if not counted:
            return self._combined()
        several = [name for name in self._sources if name not in counted and self._holds_several(name)]
        # Where a period or another range ties two sources, only the joined rows tell.
        found = next((name for name in several if not self._is_ranged(name) or self._grows(counted)), None)
        return found or self._multiply_each_other(counted) or self._at_a_distance(counted)

    def _combined(self) -> str | None:
        """The sources of which a row of the result is a combination, so that it is a row of none of them."""
        several = [name for name in self._sources if self._holds_several(name)]
        if len(several) < 2 and len(self._sources) > 2:
            loose = {name: self._loose({name}) for name in self._sources}
            if all(loose.values()) and all(self._grows({name}) for name in self._sources):
                nearest = min(loose, key=lambda name: len(loose[name]))
                several = [nearest, *loose[nearest]]
        # Pairs of rows of one table are what such a join is written for.
        tables = [self._one.base_of(self._scope, name) for name in several]
        pairs = len(set(map(id, tables))) < len(tables)
        return " and ".join(several) if len(several) > 1 and not pairs else None

    def _at_a_distance(self, counted: set[str]) -> str | None:
        """The source that multiplies what is counted though its key is given: by a source that it multiplies itself."""
        loose = self._loose(counted)
        return loose[0] if loose and self._grows(counted) else None

    def _loose(self, known: set[str]) -> list[str]:
        """The sources of which one row of the known ones may meet several rows, in the order of the FROM."""
        told = set(known)
        loose = [name for name in self._sources if name not in told]
        while (single := next((name for name in loose if not self._holds_several(name, told)), None)) is not None:
            told.add(single)
            loose.remove(single)
        return loose

    def _multiply_each_other(self, counted: set[str]) -> str | None:
        """Of sources that are counted together, as an amount times a rate, one that holds several rows for several of another."""
        if len(counted) < 2 or len({id(self._one.base_of(self._scope, name)) for name in counted}) < len(counted):
            return None
        several = [name for name in sorted(counted) if self._holds_several(name)]
        # A range may tie several rows to one: only the joined rows tell.
        told = not any(map(self._is_ranged, several)) or all(self._grows({name}) for name in several)
        return several[1] if len(several) > 1 and told else None

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
                or name not in self._sources
                or asked
                or not (bound := sorted(self._bound(name, self.names)))
                or not self._holds_several(name)
            ):
                continue
            missing = exp.column(bound[0], table=name).is_(exp.null())
            if self._probe.any_row(rows_of(self._one, self._scope, own_where(self._scope, missing))) is True:
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

    def _holds_several(self, name: str, known: set[str] | None = None) -> bool:
        """Whether a source holds several rows for one row of the known ones; of all others, where none are named."""
        if any(name in self._made_from.get(other, ()) for other in (self.names if known is None else known)):
            return False
        columns = frozenset(self._bound(name, self.names if known is None else known))
        key = (name, columns)
        if key not in self._several:
            self._several[key] = self._found_several(name, columns)
        return self._several[key]

    def _found_several(self, name: str, columns: frozenset[str]) -> bool:
        if self._unique_by_key(name, columns):
            return False
        if name in self._made_from:
            return self._grows(self._made_from[name], {name})
        if not columns:
            # A cross join: only a source of one row leaves the others as they are.
            return self._probe.any_row(runnable(self._rows(name, columns, None))) is True
        table = self._one.base_of(self._scope, name)
        small = table is None or table.rows is None or table.rows <= SMALL
        looks = (_FIRST, None) if small else (_FIRST,)
        return any(self._probe.any_row(runnable(self._rows(name, columns, rows))) is True for rows in looks)

    def _is_ranged(self, name: str) -> bool:
        """Whether a condition other than an equality of a column ties a source to another one, as the month of a day does."""
        for condition in self._conditions:
            tables = {column.table for column in condition.find_all(exp.Column)}
            if name in tables and len(tables) > 1 and all(side.table != name for side, _ in _sides(condition)):
                return True
        return False

    def _read_by(self, source: exp.Expr) -> set[str]:
        """The sources of the same FROM that a LATERAL or an UNNEST is made from."""
        if not isinstance(source, exp.Lateral | exp.Unnest):
            return set()
        return {column.table for column in source.find_all(exp.Column)} & self.names - {source.alias_or_name}

    def _grows(self, counted: set[str], joined_to: set[str] | None = None) -> bool:
        """Whether one of the first rows of what is counted comes back more than once, within one group, when it is joined.

        It is joined to everything, or to some sources alone.
        """
        select = self._scope.expression
        kept = self.names if joined_to is None else counted | joined_to
        groups = [key for key in self._keys if {column.table for column in key.find_all(exp.Column)} <= kept]
        keys = [*(exp.column(_ROW, table=name) for name in sorted(counted)), *groups]
        joined = exp.select(*(key.copy().as_(f"k{number}") for number, key in enumerate(keys)))
        numbered = {name: self._numbered(name, first=name == min(counted)) for name in counted}
        source = select.args["from_"].this
        joined = joined.from_(numbered.get(source.alias_or_name, source).copy())
        for join in self._joins:
            if joined_to is not None and join.this.alias_or_name not in kept:
                continue
            made = join.copy()
            if join.this.alias_or_name in numbered:
                made.set("this", numbered[join.this.alias_or_name])
            joined.append("joins", made)
        where = select.args.get("where")
        if where is not None and joined_to is None:
            joined = joined.where(where.this.copy())
        names = [exp.column(f"k{number}") for number in range(len(keys))]
        # A row that a join leaves empty is no row of what is counted.
        there = [name.copy().is_(exp.null()).not_() for name in names[: len(counted)]]
        again = exp.select("1").from_(joined.subquery("joined_rows")).where(*there).group_by(*names)
        for with_ in withs(self._one, self._scope):
            again.set("with_", with_.copy())
        return self._probe.any_row(runnable(again.having("COUNT(*) > 1"))) is True

    def _numbered(self, name: str, *, first: bool) -> exp.Subquery:
        """A source with a number for each row; of the first one to be counted some rows tell."""
        number = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[exp.Ordered(this=exp.null())]))
        own = exp.select("*").from_(self._source(name).copy()).where(*self._own_conditions({name}))
        # Rows are numbered after the first ones are taken: a window numbers all that it is over.
        rows = (own.limit(_FIRST) if first else own).subquery(name)
        return exp.select("*", number.as_(_ROW)).from_(rows).subquery(name)

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

    def _unique_by_key(self, name: str, columns: frozenset[str]) -> bool:
        table = self._one.base_of(self._scope, name)
        if table is not None:
            bound = {column.lower() for column in columns}
            return any({part.lower() for part in key} <= bound for key in table.keys)
        source = self._sources[name]
        inner = source.expression if isinstance(source, Scope) else None
        if not isinstance(inner, exp.Select):
            return False
        limit = inner.args.get("limit")
        if limit is not None and limit.args["expression"] == exp.Literal.number(1):
            return True
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

    def _bound(self, name: str, known: set[str]) -> Iterator[str]:
        """The columns of a source that its conditions tie to one value: of a known source, a constant, or the group."""
        for side, other in (pair for condition in self._conditions for pair in _sides(condition)):
            tables = {column.table for column in other.find_all(exp.Column)} & self.names
            if side.table == name and name not in tables and tables <= known:
                yield side.name
        yield from (column.name for column in self._grouped if column.table == name)

    def _rows(self, name: str, columns: frozenset[str], rows: int | None) -> exp.Select:
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


def all_conditions(select: exp.Expr) -> Iterator[exp.Expr]:
    """Every condition of WHERE and ON that has to hold."""
    where = select.args.get("where")
    roots = [where.this] if where is not None else []
    roots += [join.args["on"] for join in select.args.get("joins") or [] if join.args.get("on") is not None]
    for root in roots:
        for condition in root.flatten() if isinstance(root, exp.And) else [root]:
            yield condition.unnest()


def _sides(condition: exp.Expr) -> list[tuple[exp.Column, exp.Expr]]:
    """The columns that a condition says to be equal to something, each with what that is."""
    if not isinstance(condition, exp.EQ | exp.NullSafeEQ):
        return []
    pairs = ((condition.this, condition.expression), (condition.expression, condition.this))
    return [(side, other) for wrapped, other in pairs if isinstance(side := unwrapped(wrapped), exp.Column)]
