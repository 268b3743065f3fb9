"""Dates kept as texts of several forms, of which a comparison reads one: '20231001', '2023-10-01' and '01.10.2023' in one column.

replace(day, '-', '') BETWEEN '20231001' AND '20240930'     goes back where day also holds '01.10.2023', which it leaves out
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Origin, Read, text_of
from finexpert.warehouse.profile import from_named

_DAY = re.compile(r"(19|20)\d{6}|(19|20)\d\d-\d\d-\d\d")
# What people write for a day: by its year first or last, with any sign between.
WRITTEN = re.compile(r"(19|20)\d\d([-./]?)[01]\d\2[0-3]\d.*|[0-3]?\d([-./])[01]?\d\3(19|20)\d\d.*")
_COMPARED = (exp.Between, exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_MOST_ROWS, _MOST_VALUES = 5_000_000, 20_000


def check_date_forms(one: Read, probe: Probe) -> None:
    """Raises QueryError for a day that is compared as a text with a column whose days are in another form, too."""
    for test, side, day, origin in _compared(one):
        if (origin.table.rows or 0) > _MOST_ROWS:
            continue
        bare = side.copy()
        column = exp.column(origin.column.name, quoted=True)
        bare = bare.transform(lambda node, column=column: column.copy() if isinstance(node, exp.Column) else node)
        select = exp.select(column, exp.alias_(bare, "finexpert_read")).distinct().from_(from_named(origin.table.name))
        for written, read in probe.rows(select.limit(_MOST_VALUES)):
            # What is no text was made a date, and is compared as one.
            if isinstance(read, str) and WRITTEN.fullmatch(str(written).strip()) and _shape(read) != _shape(day):
                form = form_of(str(written))
                raise QueryError(
                    f"{text_of(one, test)}: {origin} also holds dates of the form {form}, which are not compared as {day!r} is: bring all of "
                    "them into one form first"
                )


def _compared(one: Read) -> Iterator[tuple[exp.Expr, exp.Expr, str, Origin]]:
    """Comparisons of one column of texts, in functions or bare, with a day that is written as a text."""
    for scope in one.scopes:
        for test in scope.find_all(*_COMPARED):
            sides = [test.this, test.args.get("low") or test.expression]
            days = [
                side.name
                for side in sides
                if isinstance(side, exp.Literal) and side.is_string and _DAY.fullmatch(side.name)
            ]
            others = [side for side in sides if side.find(exp.Column)]
            if len(days) != 1 or len(others) != 1 or others[0].find(exp.Query, exp.AggFunc, exp.Window):
                continue
            columns = list(others[0].find_all(exp.Column))
            origin = one.origin(columns[0], scope) if len({column.sql() for column in columns}) == 1 else None
            if origin is not None and origin.column.is_text and not origin.wraps:
                yield test, others[0], days[0], origin


def _shape(text: str) -> str:
    """
    >>> _shape("2023-10-01"), _shape("20231001")
    ('9999-99-99', '99999999')
    """
    return re.sub(r"\d", "9", text.strip())


def form_of(text: str) -> str:
    """The form of a text that begins as a day or a number does: what it says is left neither in digits nor in letters.

    >>> form_of("31.01.2024 paid by Miller"), form_of("(1,204.50) EUR")
    ('99.99.9999 a a a', '(9,999.99) a')
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "9", text.strip()))[:20]
