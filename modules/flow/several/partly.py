"""What the parts of a plan gave, and what they could not give: told from what planner, readers and SELECTs say already.

    gathered.fetched      {"amounts": Fetched(...)}
    gathered.missing      [Missing(source="filings", what="What were net sales in 2020? (not found in the library: ...)")]

A SELECT that was planned over all parts is right over fewer rows only where it looks at one row of each part at a time: a sum, a rank
or a difference to the row before would be another number. Else the parts are shown as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.answers.sources.gaps import empty_columns, ends_early, gaps, holes, years_missing
from finexpert.answers.sources.parts import Part, fingerprint
from finexpert.core.answers import Answer, Missing
from finexpert.errors import FinexpertError
from finexpert.modules.flow.several.independent import is_independent
from finexpert.modules.flow.several.inserting import Fetched
from finexpert.modules.flow.several.library_part import LibraryPart
from finexpert.modules.flow.several.warehouse_part import WarehousePart, published
from finexpert.signatures.source_planning import SourcePart

_ROW_BY_ROW = (
    exp.Select, exp.From, exp.Join, exp.Where, exp.Order, exp.Ordered, exp.Table, exp.TableAlias, exp.Column, exp.Star,
    exp.Identifier, exp.Alias, exp.Literal, exp.Paren, exp.Neg, exp.Binary, exp.Round, exp.Cast, exp.DataType, exp.Nullif,
)  # fmt: skip
_PART = "part"


@dataclass
class Gathered:
    """The tables of the parts with their answers, and what is missing, by source."""

    fetched: dict[str, Fetched] = field(default_factory=dict)
    answers: list[tuple[Part, Answer]] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    lost: list[Exception] = field(default_factory=list)
    lacks: list[Missing] = field(default_factory=list)

    def take(self, part: SourcePart, asked: WarehousePart | LibraryPart, answer: Answer) -> None:
        """Keep the table of a part, with what it lacks of what it was asked for: pages say it, or years have no row.

        A SELECT may choose years by a condition, so of a warehouse only years before its first or after its last row are missing.
        """
        self.fetched[part.name] = _fetched(part, asked, answer)
        self.answers.append((_kept(part, asked, answer), answer))
        lacks = list(asked.lacking) if isinstance(asked, LibraryPart) else []
        if isinstance(asked, LibraryPart) or ends_early(part.question, answer.value):
            lacks += _of_years(part.name, years_missing(part.question, answer.value))
        else:
            self.doubts += gaps(part.question, answer.value, part.name)
        self.lacks += [Missing(source=part.source, what=each) for each in lacks]

    def lose(self, part: SourcePart, why: Exception, error: FinexpertError) -> None:
        """Keep why a part gave nothing."""
        self.missing.append(Missing(source=part.source, what=f"{part.question.rstrip()} ({error})"))
        self.lost.append(why)

    def selects(self, planned: str) -> list[str]:
        """The SELECTs of the answer, the best first: the planned one where it stays right, then one that shows the parts as they are."""
        if not self.lost and not self.lacks:
            return [planned]
        shown = of_parts({name: list(each.data.columns) for name, each in self.fetched.items()})
        if not self.lost and is_independent(planned, {name: each.data for name, each in self.fetched.items()}):
            self.doubts += [f"{each.text}; the answer does not depend on it" for each in self.lacks]
            self.lacks = []
            return [planned, shown]
        self.missing += self.lacks
        return [shown] if self.lost or not is_row_by_row(planned) else [planned, shown]

    def judge(self, answer: Answer, question: str, planned: str) -> None:
        """Say on the answer what is to be said of all parts, and keep what its planned SELECT lacks."""
        given = [*(each for _, each in self.answers), answer]
        doubts = list(self.doubts)
        if planned:
            doubts += [*gaps(question, answer.value), *holes(answer.value)]
            self.missing += self._lost_in_join(question, planned, answer.value)
        answer.flags = list(dict.fromkeys([*(flag for each in given for flag in each.flags), *doubts]))
        sure = [each.confidence for each in given if each.confidence is not None]
        answer.confidence = max(20, min(sure, default=90) - 15 * len(doubts)) if sure or doubts else None
        self.missing = list({each.text: each for each in self.missing}.values())

    def _lost_in_join(self, question: str, planned: str, value: object) -> Iterator[Missing]:
        """What rows and cells of the answer lack because a part has none for them; no row where a condition chose them."""
        if not is_row_by_row(planned):
            return
        empty, is_chosen = empty_columns(value), sqlglot.parse_one(planned, read="duckdb").find(exp.Where)
        years = set() if is_chosen else set(years_missing(question, value))
        for part, answer in self.answers:
            none = _of_years(part.name, sorted(years & set(years_missing(question, answer.value))))
            cells = [f"{name} of {empty[name]} rows" for name in map(str, answer.value.columns) if name in empty]
            yield from (Missing(source=part.source, what=what) for what in [*none, *cells])


def _of_years(name: str, years: Sequence[int]) -> list[str]:
    return [f"{name} of {', '.join(map(str, years))}"] if years else []


def _fetched(part: SourcePart, asked: WarehousePart | LibraryPart, answer: Answer) -> Fetched:
    if isinstance(asked, LibraryPart):
        return Fetched(answer.value)
    select = asked.workspace.frames[part.name].select
    return Fetched(answer.value, published(select, list(answer.value.columns), asked.source))


def _kept(part: SourcePart, asked: WarehousePart | LibraryPart, answer: Answer) -> Part:
    """The part for the record, without its rows."""
    return Part(
        name=part.name,
        source=part.source,
        record=answer.record.model_copy(update={"value": None}),
        columns=part.columns,
        rows=asked.rows if isinstance(asked, LibraryPart) else [],
        fingerprint=fingerprint(answer.value),
    )


def is_row_by_row(select: str) -> bool:
    """Whether a SELECT looks at one row of each of its tables at a time.

    >>> is_row_by_row("SELECT a.x / b.y AS z FROM a JOIN b USING (year) WHERE year = 2020")
    True
    >>> is_row_by_row("SELECT max(x) FROM a"), is_row_by_row("SELECT coalesce(x, 0) FROM a LEFT JOIN b USING (year)")
    (False, False)
    >>> is_row_by_row("SELECT a.year FROM a LEFT JOIN b USING (year) WHERE b.y IS NULL")
    False
    """
    try:
        tree = sqlglot.parse_one(select, read="duckdb")
    except SqlglotError:
        return False
    # IS NULL is true of the very rows that a part lacks.
    return all(isinstance(node, _ROW_BY_ROW) and not isinstance(node, exp.Is) for node in tree.walk())


def of_parts(columns: dict[str, list[str]]) -> str:
    """A SELECT that gives the rows of all parts, each with the name of its part where there are several.

    >>> of_parts({"a": ["year", "x"]})
    'SELECT "year", "x" FROM "a"'
    >>> of_parts({"a": ["x"], "b": ["y"]})
    'SELECT \\'a\\' AS "part", "x", NULL AS "y" FROM "a" UNION ALL SELECT \\'b\\' AS "part", NULL AS "x", "y" FROM "b"'
    """
    names = list(dict.fromkeys(column for each in columns.values() for column in each))
    label = _PART
    while label in names:
        label = f"_{label}"
    several = len(columns) > 1
    selects = []
    for part, own in columns.items():
        cells = [f'"{name}"' if name in own else f'NULL AS "{name}"' for name in names]
        cells = [f"'{part}' AS \"{label}\"", *cells] if several else cells
        selects.append(f'SELECT {", ".join(cells)} FROM "{part}"')
    return " UNION ALL ".join(selects)
