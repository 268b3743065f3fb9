"""Conditions that compare a column of texts with texts, as they stand in a SELECT.

status IN ('DONE', 'FILLED') OR status LIKE 'PART%'      two comparisons, of which one has to match: one list of guesses
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from finexpert.warehouse.checks.reading.changed import changed_column
from finexpert.warehouse.checks.reading.select import Origin, Read, unwrapped, wraps_of
from finexpert.warehouse.dates import words
from finexpert.warehouse.profile import from_named

_UNEQUAL = (exp.NEQ, exp.NullSafeNEQ)
_EQUAL = (exp.EQ, exp.NullSafeEQ, *_UNEQUAL)
_PATTERN = (
    exp.Like,
    exp.ILike,
    exp.SimilarTo,
    exp.RegexpLike,
    exp.RegexpILike,
    exp.StartsWith,
    exp.EndsWith,
    exp.Contains,
)
_WORD = re.compile(r"[^\W_]")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
# Of a regular expression what says where a word begins and ends, or that cases are alike.
_BARE = re.compile(r"\\[mMyYbB]|\(\?i\)")


@dataclass(frozen=True)
class Comparison:
    """A condition on one column of texts: `against` is what it is compared with, `lists` that one match is enough."""

    origin: Origin
    node: exp.Expr = field(repr=False)
    against: tuple[exp.Literal, ...] = field(repr=False)
    wraps: tuple[type[exp.Expr], ...] = ()
    pattern: bool = False

    @property
    def texts(self) -> list[str]:
        return [literal.name for literal in self.against]

    @property
    def negated(self) -> bool:
        """Whether it leaves out what it matches, as <>, NOT IN and NOT LIKE do."""
        above = self.node.parent
        while isinstance(above, exp.Paren):
            above = above.parent
        return isinstance(self.node, _UNEQUAL) or says_not(self.node) or isinstance(above, exp.Not)

    @property
    def side(self) -> exp.Expr:
        """The column as it is compared, with lower(), upper() and trim() around it."""
        made: exp.Expr = exp.column(self.origin.column.name, quoted=True)
        for wrap in reversed(self.wraps):
            made = wrap(this=made)
        return made

    def holds(self) -> exp.Select:
        """The SELECT that finds a row of the table for which the comparison is true."""
        condition = self._positive().copy()
        for column in list(condition.find_all(exp.Column)):
            compared = column
            while self.wraps and isinstance(compared.parent, exp.Lower | exp.Upper | exp.Trim | exp.Paren):
                compared = compared.parent  # type: ignore[assignment]
            compared.replace(self.side)
        return self._where(condition)

    def equals(self, literal: exp.Literal) -> exp.Select:
        """The SELECT that finds a row whose value is one text."""
        return self._where(exp.EQ(this=self.side, expression=literal.copy()))

    def _where(self, condition: exp.Expr) -> exp.Select:
        return exp.select("1").from_(from_named(self.origin.table.name)).where(condition)

    def _positive(self) -> exp.Expr:
        node = self.node
        if isinstance(node, _UNEQUAL):
            return exp.EQ(this=node.this.copy(), expression=node.expression.copy())
        if says_not(node):
            node = node.copy()
            node.set("negate", None)
        return node


def says_not(node: exp.Expr) -> bool:
    """Whether sqlglot keeps the NOT of a condition in the condition itself, as of NOT LIKE, and not around it, as of NOT IN.

    >>> import sqlglot
    >>> [says_not(sqlglot.parse_one(text)) for text in ("a NOT LIKE 'x%'", "a LIKE 'x%'", "a NOT IN ('x')")]
    [True, False, False]
    """
    return bool(node.args.get("negate"))


def comparisons(one: Read) -> Iterator[Comparison]:
    """Every condition that compares one column of texts with texts."""
    for scope in one.scopes:
        for node in scope.walk():
            if isinstance(node, (*_EQUAL, exp.In, *_PATTERN)):
                yield from _comparison(one, node, scope)
            elif isinstance(node, exp.Case) and node.this is not None:
                texts = [branch.this for branch in node.args["ifs"]]
                yield from _made(one, node.this, texts, scope, exp.In(this=node.this.copy(), expressions=texts))


def compared_columns(one: Read) -> Iterator[Origin]:
    """The columns of texts that conditions compare with texts or with those of a SELECT, also by way of functions."""
    for scope in one.scopes:
        for node in scope.walk():
            if isinstance(node, (*_EQUAL, exp.In, *_PATTERN)) and _says_a_text(node):
                found = [one.origin(column, scope) for column in node.find_all(exp.Column)]
                yield from (origin for origin in found if origin is not None and origin.column.is_text)
            elif (
                isinstance(node, exp.In)
                and node.args.get("query")
                and isinstance(tested := unwrapped(node.this), exp.Column)
            ):
                found = [one.origin(tested, scope)]
                yield from (origin for origin in found if origin is not None and origin.column.is_text)
    yield from (comparison.origin for comparison in comparisons(one))


def _says_a_text(node: exp.Expr) -> bool:
    texts = node.expressions if isinstance(node, exp.In) else [node.this, node.expression]
    return any(isinstance(text, exp.Literal) and text.is_string and _WORD.search(text.name) for text in texts)


def _comparison(one: Read, node: exp.Expr, scope: Scope) -> Iterator[Comparison]:
    if isinstance(node, exp.In):
        if node.args.get("query") or not node.expressions:
            return
        yield from _made(one, node.this, node.expressions, scope, node)
        return
    left, right = node.this, node.expression
    if isinstance(node, exp.EQ) and isinstance(right, exp.Any) and isinstance(listed := right.this.unnest(), exp.Array):
        yield from _made(one, left, listed.expressions, scope, node)
        return
    if isinstance(left, exp.Literal):
        left, right = right, left
    if left is not None and right is not None:
        yield from _made(one, left, [right], scope, node)


def _made(one: Read, side: exp.Expr, against: Sequence[exp.Expr], scope: Scope, node: exp.Expr) -> Iterator[Comparison]:
    texts = [text for text in against if isinstance(text, exp.Literal) and text.is_string]
    inner = unwrapped(side)
    changed = None if isinstance(inner, exp.Column) else changed_column(inner)
    column = changed or inner
    if not texts or len(texts) != len(against) or not isinstance(column, exp.Column):
        return
    if isinstance(node, _PATTERN) and not _WORD.search(texts[0].name):
        # A pattern that any text is like says nothing of its column.
        return
    defaults = list(side.find_all(exp.Literal)) if changed else []
    if changed and not all(_LETTERS.search(text.name) and text not in defaults for text in texts):
        return
    origin = one.origin(column, scope)
    if origin is not None and origin.column.is_text and not (changed and origin.wraps):
        pattern = isinstance(node, _PATTERN) or bool(changed)
        made = Comparison(replace(origin, wraps=()), node, tuple(texts), (*wraps_of(side), *origin.wraps), pattern)
        # What leaves out what it names, with a text for NULL, is a caution more often than a guess.
        if not (changed and made.negated):
            yield made


def guesses(found: Iterable[Comparison]) -> list[list[Comparison]]:
    """Comparisons of which one has to match: alternatives of one OR, or what several conditions leave out of one column.

    >>> from finexpert.warehouse.checks.reading.select import read
    >>> from finexpert.warehouse.schema import Column, TableSchema
    >>> trades = TableSchema("trades", "", (Column("status", "VARCHAR"), Column("side", "VARCHAR")))
    >>> select = "SELECT 1 FROM trades WHERE (status IN ('F', 'X') OR status LIKE 'FILL%') AND side = 'B'"
    >>> [[one.texts for one in group] for group in guesses(comparisons(read(select, "duckdb", [trades])))]
    [[['F', 'X'], ['FILL%']], [['B']]]

    The same texts that are looked for in several columns have to be in one of them, as has a code or what a table of codes calls it.

    >>> select = "SELECT 1 FROM trades WHERE status ILIKE '%acme%' OR side ILIKE 'Acme%'"
    >>> [[one.texts for one in group] for group in guesses(comparisons(read(select, "duckdb", [trades])))]
    [[['%acme%'], ['Acme%']]]
    >>> select = "SELECT 1 FROM trades WHERE regexp_matches(status, '(acme|ajax)') OR side ILIKE '%acme%' OR side ILIKE '%acm%'"
    >>> [[one.texts for one in group] for group in guesses(comparisons(read(select, "duckdb", [trades])))]
    [[['(acme|ajax)'], ['%acme%'], ['%acm%']]]
    """
    grouped: dict[tuple[int, str], list[Comparison]] = {}
    for comparison in found:
        joined = exp.And if comparison.negated else exp.Or
        above = (joined, exp.Paren, *((exp.Not,) if comparison.negated else ()))
        top = _above(comparison.node, above)
        if not comparison.negated and (branch := _branch_of(top)) is not None:
            top = _above(branch, above)
        grouped.setdefault((id(top), meant(comparison.origin)), []).append(comparison)
    together: dict[tuple[int, object], list[Comparison]] = {}
    for (top_id, meaning), group in sorted(grouped.items(), key=lambda one: -len(_sought(one[1]))):
        sought = _sought(group)
        shared = (key for key in together if key[0] == top_id and isinstance(key[1], frozenset) and sought & key[1])
        anywhere = not any(comparison.negated for comparison in group)
        together.setdefault(next(shared, (top_id, sought)) if anywhere else (top_id, meaning), []).extend(group)
    return list(together.values())


def _sought(group: Iterable[Comparison]) -> frozenset[str]:
    """The texts that are looked for, without what makes patterns of them."""
    texts = (text for one in group for said in one.texts for text in (said.split("|") if one.pattern else (said,)))
    return frozenset(_BARE.sub("", text).strip("%_ ^$()").casefold() for text in texts)


def _above(node: exp.Expr, kinds: tuple[type[exp.Expr], ...]) -> exp.Expr:
    while isinstance(node.parent, kinds):
        node = node.parent
    return node


def _branch_of(condition: exp.Expr) -> exp.Expr | None:
    """The IN of an OR whose SELECT has a condition, alone or beside others: where it lets nothing through, the rest of the OR decides."""
    where = _above(condition, (exp.And, exp.Paren)).parent
    select = where.parent if isinstance(where, exp.Where) else None
    branch = _above(select, (exp.Subquery, exp.Paren)).parent if isinstance(select, exp.Select) else None
    return branch if isinstance(branch, exp.In) and isinstance(_above(branch, (exp.Paren,)).parent, exp.Or) else None


def other_way(comparison: Comparison) -> exp.Select | None:
    """Whether its column is in a row among the values of a SELECT, where the other part of its OR asks that: x IN ('EQ') OR x IN (SELECT ...)."""
    top = _above(comparison.node, (exp.Or, exp.Paren))
    column = next(comparison.node.find_all(exp.Column), None)
    parts = [part.unnest() for part in top.unnest().flatten()] if isinstance(top.unnest(), exp.Or) else []
    for part in parts:
        tested = unwrapped(part.this) if isinstance(part, exp.In) and part.args.get("query") else None
        if isinstance(tested, exp.Column) and column is not None and tested.sql() == column.sql():
            asked = part.copy()
            unwrapped(asked.this).replace(exp.column(comparison.origin.column.name, quoted=True))
            return exp.select("1").from_(from_named(comparison.origin.table.name)).where(asked)
    return None


def is_caution(comparison: Comparison, whole: exp.Expr | None) -> bool:
    """Whether it is a branch of a CASE that takes rows out of the others: it gives what ELSE gives, or what no condition asks for; or
    one that brings spellings together where ELSE gives the column itself.

    >>> from finexpert.warehouse.checks.reading.select import read
    >>> from finexpert.warehouse.schema import Column, TableSchema
    >>> one = read("SELECT CASE WHEN name ILIKE '%tax%' THEN 'rest' WHEN name ILIKE '%fee%' THEN 'fee' ELSE 'rest' END FROM t", "duckdb",
    ...     [TableSchema("t", "", (Column("name", "VARCHAR"),))])
    >>> [is_caution(each, one.select) for each in comparisons(one)]
    [True, False]
    """
    branch = _above(comparison.node, (exp.Or, exp.And, exp.Paren)).parent
    case = branch.parent if isinstance(branch, exp.If) else None
    if branch is None or not isinstance(case, exp.Case) or comparison.negated or len(case.args["ifs"]) == 1:
        return False
    given, default = branch.args["true"], case.args.get("default")
    if not isinstance(given, exp.Literal):
        return False
    columns = {column.sql() for column in comparison.node.find_all(exp.Column)}
    if default is not None and columns & {column.sql() for column in default.find_all(exp.Column)}:
        # Where the label is asked for elsewhere, what is spelled otherwise would be missed there.
        texts = whole.find_all(exp.Literal) if whole is not None else ()
        return not any(text.name == given.name and text.find_ancestor(exp.Case) != case for text in texts)
    return given == default or (whole is not None and _is_asked_for_by_none(given, case, whole))


def _is_asked_for_by_none(label: exp.Literal, case: exp.Case, whole: exp.Expr) -> bool:
    """Whether a CASE makes a column inside a SELECT of which conditions ask for other labels, and nothing else is done with it."""
    name = case.parent.alias if isinstance(case.parent, exp.Alias) else ""
    uses = [column.parent for column in whole.find_all(exp.Column) if name and column.name == name]
    tests = [test for test in uses if isinstance(test, exp.EQ | exp.In)]
    asked = {text.name for test in tests for text in test.find_all(exp.Literal)}
    return bool(tests) and len(tests) == len(uses) and label.name not in asked


def meant(origin: Origin) -> str:
    """What columns of one table are alternatives of each other: `desk_name` and `desk_cd` both say which desk.

    >>> from finexpert.warehouse.schema import Column, TableSchema
    >>> meant(Origin(TableSchema("desks", "", ()), Column("desk_cd", "VARCHAR")))
    'desks desk'
    """
    said = [word for word in words(origin.column.name) if word not in _SAYS_HOW]
    return " ".join((origin.table.name, *(said or [origin.column.name])))


_SAYS_HOW = frozenset(
    ("name", "code", "cd", "id", "desc", "description", "label", "short", "long", "full", "text", "title")
)
