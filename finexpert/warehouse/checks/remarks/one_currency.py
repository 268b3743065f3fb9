"""Amounts that are asked for in one currency, over the rows in that currency alone.

"top claimants in pounds"     WHERE ccy = 'GBP'     leaves the claims in euros out, which were to be converted
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from finexpert.warehouse.checks.reading.comparisons import Comparison
from finexpert.warehouse.checks.reading.probing import Probe
from finexpert.warehouse.checks.reading.select import Read, text_of
from finexpert.warehouse.dates import words

_CURRENCY = frozenset(("currency", "ccy", "cur", "curr", "currencycode", "waehr", "waehrung", "devise", "valuta"))
# "Refunds in PLN" are mostly those that were paid in it.
_ASKED = re.compile(r"[£€$]|\b(in|into)\s+(pounds?|sterling|euros?|dollars?)\b", re.IGNORECASE)
# Who says one of these means the rows in that currency.
_ALONE = re.compile(
    r"\b(only|alone|nur|seulement|denominated|invoiced in|booked in|paid in|held in|currency|"
    r"(sterling|euro|dollar|gbp|eur|usd|chf)[- ]\w+s|\w+s in (gbp|eur|usd|chf|sterling))\b",
    re.IGNORECASE,
)


def one_currency(compared: Sequence[Comparison], one: Read, probe: Probe, question: str) -> Iterator[str]:
    """What a person is told of rows in other currencies that a sum leaves out: whether "in pounds" means them the question does not tell."""
    adds_up = one.select is not None and one.select.find(exp.Sum, exp.Avg) is not None
    if not adds_up or not _ASKED.search(question) or _ALONE.search(question):
        return
    for comparison in compared:
        said = {text.strip().upper() for text in comparison.texts}
        is_filter = (
            comparison.node.find_ancestor(exp.Where) is not None and comparison.node.find_ancestor(exp.Case) is None
        )
        if (
            comparison.negated
            or comparison.pattern
            or not is_filter
            or not _CURRENCY & {*words(comparison.origin.column.name)}
        ):
            continue
        held = {value.strip().upper() for value in probe.distinct(comparison.origin) or () if value.strip()}
        if held - said and held & said:
            yield f"{text_of(one, comparison.node)} leaves out rows in other currencies"
