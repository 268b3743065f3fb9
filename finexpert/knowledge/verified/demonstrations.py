"""Verified queries near a question that they do not answer: shown to planning as examples, at most two, without values that stay at home.

    A question that was verified over these tables: What was the fee income of <text> in 2023
    ```sql
    SELECT sum(fee_usd) FROM trades WHERE region = '<text>' AND year(day) = 2023
    ```

Only of the same data, where the SELECT still fits them, and none that speaks of days after the one that counts as today.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from finexpert.knowledge.verified.queries import VerifiedQueries
from finexpert.knowledge.verified.query import Source, VerifiedQuery
from finexpert.knowledge.verified.variables import DAY, YEARS, text_origins
from finexpert.knowledge.verified.words import YEAR
from finexpert.warehouse.named_selects import NamedSelect, folded
from finexpert.warehouse.schema import TableSchema

MOST = 2
HIDDEN = "<text>"
_HIDDEN_NUMBER = "0"
# Below it a verified question says little of another one; by the beginning of the embedder's name. Not measured: at most two are shown.
_FLOORS = {"minilm": 0.5, "words": 0.3}
_FLOOR = 0.5
_DAY_CAST = re.compile(r"CAST\(('\d{4}-\d\d-\d\d') AS DATE\)")
_UNITS = re.compile(
    r"(?:year|quarter|month|week|day|hour|minute|second)s?|%[A-Za-z](?:[-/ .]?%[A-Za-z])*", re.IGNORECASE
)


def near(question: str, verified: VerifiedQueries, source: Source) -> Iterator[VerifiedQuery]:
    """The active verified queries over these data that are nearest to a question, the nearest first."""
    if not verified.of_source(source):
        return
    floor = next((low for name, low in _FLOORS.items() if verified.embedder.name.startswith(name)), _FLOOR)
    for query, score in verified.search([question], limit=50):
        if score >= floor and query.source.key == source.key:
            yield query


def shown(
    query: VerifiedQuery,
    question: str,
    tables: Sequence[TableSchema],
    as_of: dt.date,
    known: Mapping[str, NamedSelect] = MappingProxyType({}),
) -> str:
    """A verified query as a prompt may hold it beside a question; empty where it cannot be shown.

    A literal is shown where it is a published value, a day or a unit, or stands in the question that is asked now. What is `known` by
    name stands there by its name.
    """
    select = folded(query.sql, known, query.source.dialect) if known else query.sql
    try:
        tree = sqlglot.parse_one(select, read=query.source.dialect)
    except (SqlglotError, RecursionError):
        return ""
    published = {
        start
        for start, (text, origin) in text_origins(select, query.source.dialect, tables).items()
        if text in (origin.column.categories or ())
    }
    said, open_ = query.question, f" {question.casefold()} "
    for literal in list(tree.find_all(exp.Literal)):
        if _later(literal, as_of):
            return ""
        if literal.meta.get("start") in published or _known(literal, open_):
            continue
        said = re.sub(rf"(?<!\w){re.escape(literal.name.strip('%_') or '%')}(?!\w)", HIDDEN, said, flags=re.IGNORECASE)
        literal.set("this", HIDDEN if literal.is_string else _HIDDEN_NUMBER)
    # As a model is asked to write days.
    select = _DAY_CAST.sub(r"DATE \1", tree.sql(query.source.dialect, comments=False))
    return f"A question that was verified over these tables: {' '.join(said.split())}\n```sql\n{select}\n```"


def _known(literal: exp.Literal, question: str) -> bool:
    """Whether a literal says nothing of a row that the question, a calendar or arithmetic does not say."""
    text = literal.name
    if re.search(rf"(?<!\w){re.escape(text.casefold())}(?!\w)", question):
        return True
    if literal.is_string:
        return bool(DAY.fullmatch(text) or _UNITS.fullmatch(text) or isinstance(literal.parent, exp.Interval))
    equal = isinstance(literal.parent, exp.EQ | exp.NEQ | exp.In) and isinstance(_beside(literal), exp.Column)
    return not equal or bool(YEAR.fullmatch(text))


def _beside(literal: exp.Literal) -> object:
    """What a literal is set equal to."""
    parent = literal.parent
    if isinstance(parent, exp.EQ | exp.NEQ):
        return parent.expression if parent.this is literal else parent.this
    return parent.this if isinstance(parent, exp.In) else None


def _later(literal: exp.Literal, as_of: dt.date) -> bool:
    """Whether a literal names a day or a year that is not there yet; the end of a range may be the next year's first day."""
    if day := DAY.fullmatch(literal.name):
        return f"{day[1]}-{day[2]}" > f"{as_of.year + 1}-01-01"
    return any(int(year) > as_of.year for year in YEARS.findall(literal.name))
