"""Variables of a verified query: parts of its question that may be others, and the literals of the SELECT that go with them.

    "What was the fee income in 2023"   with year=2023   also answers   "What was the fee income in 2022"
    WHERE day >= DATE '2023-01-01' AND day < DATE '2024-01-01'   becomes   WHERE day >= DATE '2022-01-01' AND day < DATE '2023-01-01'

A person declares each. Literals are replaced in the syntax tree, never in the text. Where a SELECT holds a literal of which it cannot be
told whether it belongs to the variable, the variable is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.errors import NotKept
from finexpert.knowledge.verified.query import Variable
from finexpert.knowledge.verified.words import tokens
from finexpert.warehouse.checks.reading.comparisons import comparisons
from finexpert.warehouse.checks.reading.select import Origin, read
from finexpert.warehouse.schema import TableSchema

YEARS = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
DAY = re.compile(r"(\d{4})-(\d\d-\d\d)((?:[ T]00:00(?::00)?)?)")
# First and last days of months, which every year has.
_EDGE = re.compile(r"\d\d-(?:01|31)|(?:0[469]|11)-30")
_AROUND = (exp.Cast, exp.TryCast, exp.Paren, exp.Date, exp.TsOrDsToDate)
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_SAYS_YEAR = re.compile(r"year|%y|yyyy|\bfy", re.IGNORECASE)
_SAYS_TIME = re.compile(r"year|quarter|month|week|day|hour|date|time|extract", re.IGNORECASE)
_SAYS_QUARTER = re.compile(r"quarter|qtr", re.IGNORECASE)
# Days and weeks of months, quarters, halves and years, and trading days of a year.
_LENGTHS = frozenset(
    map(Decimal, (*range(28, 32), *range(90, 93), *range(181, 185), *range(248, 263), 52, 53, 364, 365, 366))
)
Change = Callable[[str], str]


def with_values(
    select: str,
    question: str,
    dialect: str,
    tables: Sequence[TableSchema],
    variables: Sequence[Variable],
    values: Mapping[str, str],
) -> str:
    """The SELECT with other values of its variables; as it stands where there are none. NotKept where a literal is in doubt."""
    if not variables:
        return select
    one = _Written.of(select, question, dialect, tables)
    changes: dict[int, tuple[exp.Literal, str]] = {}
    for variable in variables:
        claimed = list(one.claims(variable))
        if not claimed:
            raise NotKept(
                f"the SELECT holds no literal {variable.value!r} that is compared with a column, so "
                f"{variable.name}={variable.value} cannot be a variable of it"
            )
        for literal, change in claimed:
            if id(literal) in changes:
                raise NotKept(f"{literal.sql(dialect)} in the SELECT may belong to two variables: declare one")
            changes[id(literal)] = (literal, change(values[variable.name]))
    if all(literal.name == new for literal, new in changes.values()):
        return select
    for literal, new in changes.values():
        literal.set("this", new)
    return one.tree.sql(dialect)


def stands_once(variable: Variable, select: str, question: str, dialect: str, tables: Sequence[TableSchema]) -> bool:
    """Whether a SELECT holds a variable as one literal, or at both ends of one range, and nothing that could go with it."""
    try:
        claimed = [literal for literal, _ in _Written.of(select, question, dialect, tables).claims(variable)]
    except NotKept:
        return False
    sides = {side.sql() for literal in claimed if DAY.fullmatch(literal.name) and (side := _other_side(literal))}
    return len(claimed) == 1 or (len(claimed) == 2 and variable.kind == "year" and len(sides) == 1)


def text_origins(select: str, dialect: str, tables: Sequence[TableSchema]) -> dict[int, tuple[str, Origin]]:
    """The texts that columns equal as they are named, with the columns, by where a literal begins."""
    return {
        literal.meta["start"]: (literal.name, comparison.origin)
        for comparison in comparisons(read(select, dialect, tables))
        if not comparison.pattern and not comparison.wraps
        for literal in comparison.against
    }


@dataclass(frozen=True)
class _Written:
    """A SELECT in which the literals of variables are looked for."""

    question: str
    tree: exp.Expr = field(repr=False)
    text_columns: Mapping[int, str]

    @classmethod
    def of(cls, select: str, question: str, dialect: str, tables: Sequence[TableSchema]) -> _Written:
        """NotKept for a SELECT that cannot be read."""
        try:
            tree = sqlglot.parse_one(select, read=dialect)
        except (SqlglotError, RecursionError):
            raise NotKept("the SELECT cannot be read, so nothing in it can be a variable") from None
        columns = {start: str(origin) for start, (_, origin) in text_origins(select, dialect, tables).items()}
        return cls(question, tree, columns)

    def claims(self, variable: Variable) -> Iterator[tuple[exp.Literal, Change]]:
        """The literals of a variable, each with what makes its text of a new value."""
        self._check_names(variable)
        claims = {
            "year": self._of_year,
            "quarter": self._of_quarter,
            "date": self._of_date,
            "number": self._of_number,
            "text": self._of_text,
        }
        if variable.kind in ("year", "quarter", "date"):
            self._check_factors(variable)
        yield from claims[variable.kind](variable)

    def _check_factors(self, variable: Variable) -> None:
        """Days of a period and rates of a year go with it, though they say no year: what is divided by 365 is of a year of 365 days."""
        said = {token.said for token in tokens(self.question)}
        for literal in self._literals():
            node: exp.Expr = literal
            while isinstance(node.parent, exp.Paren | exp.Cast | exp.Neg):
                node = node.parent
            number = _number(literal)
            if number is None or literal.name in said or not isinstance(node.parent, exp.Mul | exp.Div | exp.IntDiv):
                continue
            if number in _LENGTHS or (number % 1 and number.normalize().as_tuple().digits != (1,)):
                raise _doubt(literal, variable, "may be the length of the period, or a rate of it")

    def _check_names(self, variable: Variable) -> None:
        before, after = (r"(?<!\d)", r"(?!\d)") if variable.kind == "year" else (r"(?<![^\W_])", r"(?![^\W_])")
        said = re.compile(before + re.escape(variable.value) + after, re.IGNORECASE)
        for name in self.tree.find_all(exp.Identifier):
            if said.search(name.name.replace("_", " ")):
                raise NotKept(f"the SELECT names {name.name!r}, which says {variable.value!r}: it cannot be a variable")

    def _literals(self) -> Iterator[exp.Literal]:
        yield from self.tree.find_all(exp.Literal)

    def _of_text(self, variable: Variable) -> Iterator[tuple[exp.Literal, Change]]:
        columns = set()
        for literal in self._literals():
            if not literal.is_string or variable.value.casefold() not in literal.name.casefold():
                continue
            column = self.text_columns.get(literal.meta.get("start", -1))
            if literal.name != variable.value or column is None:
                raise _doubt(literal, variable, "is not compared with a column of texts as it stands")
            columns.add(column)
            yield literal, str
        if len(columns) > 1:
            raise NotKept(
                f"{variable.value!r} is compared with {' and '.join(sorted(columns))}: of several columns it is no variable"
            )

    def _of_quarter(self, variable: Variable) -> Iterator[tuple[exp.Literal, Change]]:
        number = variable.value[-1]
        for literal in self._literals():
            day = DAY.fullmatch(literal.name)
            if day and day[2] not in ("01-01", "12-31"):
                raise _doubt(literal, variable, "is a day within a year, which may go with the quarter")
            side = _other_side(literal)
            if literal.name == number:
                if side is None or not _SAYS_QUARTER.search(side.sql()):
                    raise _doubt(literal, variable, "is not compared with a quarter")
                yield literal, lambda value: value[-1]
            elif re.search(rf"(?<!\w){variable.value}(?!\w)", literal.name, re.IGNORECASE):
                if literal.name != variable.value or not isinstance(side, exp.Column):
                    raise _doubt(literal, variable, "is not compared with a column")
                yield literal, str

    def _of_date(self, variable: Variable) -> Iterator[tuple[exp.Literal, Change]]:
        others = {token.said for token in tokens(self.question)}
        for literal in self._literals():
            day = DAY.fullmatch(literal.name) if literal.is_string else None
            said = f"{day[1]}-{day[2]}" if day else ""
            if day and said == variable.value and _other_side(literal) is not None:
                yield literal, lambda value, end=day[3]: f"{value}{end}"  # type: ignore[misc]
            elif (day and said not in others) or (not day and any(_years(literal))):
                raise _doubt(literal, variable, "may depend on the day")

    def _of_number(self, variable: Variable) -> Iterator[tuple[exp.Literal, Change]]:
        own = Decimal(variable.value)
        for literal in self._literals():
            if _number(literal) == own:
                side = _other_side(literal)
                counts = isinstance(literal.parent, exp.Limit | exp.Interval)
                if (side is None and not counts) or (side is not None and _SAYS_TIME.search(side.sql())):
                    raise _doubt(literal, variable, "is not compared with an amount or a count")
                yield literal, str
            elif _number(literal) in _near(own):
                raise _doubt(literal, variable, "may depend on the number")

    def _of_year(self, variable: Variable) -> Iterator[tuple[exp.Literal, Change]]:
        own = int(variable.value)
        others = {int(year) for year in YEARS.findall(self.question)} - {own}
        for literal in self._literals():
            side = _other_side(literal)
            day = DAY.fullmatch(literal.name) if literal.is_string else None
            if literal.name == variable.value:
                if side is None or not _SAYS_YEAR.search(side.sql()):
                    raise _doubt(literal, variable, "is not compared with a year")
                yield literal, str
            elif day:
                yield from self._of_day(literal, day, variable, others)
            elif any(int(year) not in others for year in _years(literal)):
                raise _doubt(literal, variable, "may depend on the year")

    def _of_day(
        self, literal: exp.Literal, day: re.Match[str], variable: Variable, others: set[int]
    ) -> Iterator[tuple[exp.Literal, Change]]:
        own, year, rest = int(variable.value), int(day[1]), day[2]
        ends = rest == "01-01" and _is_end(literal)
        mine = year == own or (ends and year == own + 1)
        theirs = year in others or (ends and year - 1 in others)
        if mine and theirs:
            raise _doubt(literal, variable, "may belong to another year of the question")
        if not mine and not theirs:
            raise _doubt(literal, variable, "may depend on the year")
        if not mine:
            return
        if rest in ("02-28", "02-29") or _other_side(literal) is None:
            raise _doubt(literal, variable, "is not the same day in every year, or is not compared")
        if isinstance(_compared(literal).parent, exp.In | exp.EQ | exp.NEQ) and not _EDGE.fullmatch(rest):
            raise _doubt(literal, variable, "is a day of one year alone, as a holiday is")
        yield literal, lambda value: f"{int(value) + year - own}-{rest}{day[3]}"


def _doubt(literal: exp.Literal, variable: Variable, why: str) -> NotKept:
    return NotKept(
        f"{literal.sql()[:80]} in the SELECT {why}: {variable.name}={variable.value} cannot be a variable of it"
    )


def _number(literal: exp.Literal) -> Decimal | None:
    """The number that a literal is, also as the text of an interval."""
    if literal.is_string and not isinstance(literal.parent, exp.Interval):
        return None
    try:
        return Decimal(literal.name)
    except InvalidOperation:
        return None


def _near(number: Decimal) -> set[Decimal]:
    """What a SELECT may hold because its question says a number: rows before the fifth, five percent, five thousand."""
    return {number - 1, number + 1, *(number.scaleb(place) for place in (-9, -6, -3, -2, 2, 3, 6, 9))}


def _years(literal: exp.Literal) -> Iterator[int]:
    """What in a literal may be a year, also at the beginning of a day written in digits alone."""
    if re.fullmatch(r"(?:19|20)\d{4}(?:\d\d)?", literal.name):
        yield int(literal.name[:4])
    yield from (int(year) for year in YEARS.findall(literal.name))


def _compared(literal: exp.Expr) -> exp.Expr:
    """The literal with casts and brackets around it."""
    while isinstance(literal.parent, _AROUND) and literal.parent.this is literal:
        literal = literal.parent
    return literal


def _other_side(literal: exp.Literal) -> exp.Expr | None:
    """What a literal is compared with; None where it is not compared."""
    node = _compared(literal)
    parent = node.parent
    if isinstance(parent, exp.In | exp.Between):
        return parent.this if parent.this is not node else None
    if isinstance(parent, _COMPARED):
        return parent.expression if parent.this is node else parent.this  # type: ignore[no-any-return]
    return None


def _is_end(literal: exp.Literal) -> bool:
    """Whether a day is the first that no longer counts: `day < DATE '2024-01-01'`."""
    node = _compared(literal)
    parent = node.parent
    return (isinstance(parent, exp.LT) and parent.expression is node) or (
        isinstance(parent, exp.GT) and parent.this is node
    )
