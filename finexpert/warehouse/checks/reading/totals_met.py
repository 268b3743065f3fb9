"""A sum over rows of which some are totals of the others: 'Total revenue' beside 'Revenue, shops', met by one pattern; and guards that leave out nothing.

sum(amount) ... WHERE account ILIKE '%revenue%'     counts the shops twice, once in the total
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlglot import exp

from finexpert.errors import QueryError
from finexpert.warehouse.checks.reading.comparisons import Comparison
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, text_of

_SMALL = 2_000_000
_MOST = 60
_LONGEST = 40
# As a word of its own, at an end: "Total Energies SE" is a company, which a pattern meets alone.
_TOTAL = re.compile(
    r"^(sub|grand )?totals?\b|\b(sub)?totals?$|^(zwischen)?summe\b|\bsumme$|^gesamt\b|\b(insgesamt|overall)$",
    re.IGNORECASE,
)

_NONE = re.compile(r"|null|none|n/a|-|0[0.:/ -]*|9999\D?12\D?31.*")  # what NULL says, days among it that stand for none
_NUMBER = re.compile(r"\s*[-+(]?\s*[\d.,' ]*\d[\d.,' ]*%?\s*\)?\s*")
_SAYS_TOTAL = re.compile(r"(sub|grand )?totals?|sum|(zwischen)?summen?|gesamt|insgesamt|overall", re.IGNORECASE)


def check_totals(compared: Iterable[Comparison], one: Read, probe: Probe) -> None:
    """Raises QueryError for a condition that meets totals beside what they are totals of, where the SELECT adds up."""
    if not any(scope.expression.find(exp.Sum) for scope in one.scopes):
        return
    for comparison in compared:
        rows = comparison.origin.table.rows
        if not comparison.pattern or comparison.negated or rows is None or rows > _SMALL:
            continue
        values = {
            value.strip() for value in probe.values(comparison.origin, comparison.holds().args["where"].this, _MOST)
        }
        totals = {value for value in values if _TOTAL.search(value)}
        if totals and values - totals and not _left_out(comparison, compared):
            raise QueryError(
                f"{text_of(one, comparison.node)} meets totals of {comparison.origin} beside what they are totals of, and the sum counts both: "
                "leave the totals out, or take them alone"
            )


def is_guard(comparison: Comparison, values: Iterable[str], complete: bool) -> bool:
    """Whether a condition leaves out what may stand in any sheet and here does not: totals, or words in a column of numbers alone.

    It leaves out nothing, and no other spelling of a total is among the values.
    """
    if not comparison.negated or not complete:
        return False
    texts = [re.sub(r"[%_]+", " ", text).strip() for text in comparison.texts]
    of_totals = all(map(_SAYS_TOTAL.fullmatch, texts)) and not any(map(_TOTAL.search, values))
    return of_totals or (
        all(len(value) <= _LONGEST and _NUMBER.fullmatch(value) for value in values)
        and not any(re.search(r"\d", text) for text in texts)
    )


def is_of_none(comparison: Comparison) -> bool:
    """Whether a condition guards against texts that say what NULL says: it leaves them out, or takes them beside those that are NULL.

    Where there are none, the rows are the same.
    """
    top = comparison.node
    while isinstance(top.parent, exp.Or | exp.Paren):
        top = top.parent
    tested = {node.this.sql() for node in top.find_all(exp.Is) if isinstance(node.expression, exp.Null)}
    columns = {column.sql() for column in comparison.node.find_all(exp.Column)}
    none = all(_NONE.fullmatch(text.strip().lower()) for text in comparison.texts)
    return none and (comparison.negated or columns <= tested)


def _left_out(comparison: Comparison, compared: Iterable[Comparison]) -> bool:
    """Whether another condition leaves totals of the same column out."""
    return any(
        other.negated
        and str(other.origin) == str(comparison.origin)
        and any("tot" in text.casefold() for text in other.texts)
        for other in compared
    )
