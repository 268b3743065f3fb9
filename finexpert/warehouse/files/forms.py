"""In which forms the numbers and dates of a column of texts are written: what a model has to know to read them, without any of them.

told(connection, "trades", "c3", counted)   ->   "; written as 9.9, (9.9), £ 9,9.9"
told(connection, "trades", "c0", counted)   ->   "; written as 9999-99-99, 99/99/9999; days come before months"
"""

from __future__ import annotations

import duckdb

from finexpert.warehouse.files.column_types import Counted
from finexpert.warehouse.files.number_forms import trimmed

_MOST = 8
_DATE = r"[0-9]{1,4}[-./ ][0-9]{1,2}[-./ ][0-9]{1,4}.*|[0-9]{8}"
# Digits, signs and one word at most, as a month or a currency is: what is no number and no date is not told.
_SIGNS = "[-+() .,/:'\u2019\u2212$€£¥%9]*"


def told(connection: duckdb.DuckDBPyConnection, rows: str, source: str, counted: Counted) -> str:
    """What is added to a column's comment; nothing where one form alone is found. A word is told as `a`, digits as 9."""
    text = trimmed(source)
    dated = f"regexp_replace({text}, '[0-9]', '9', 'g')"
    plain = f"regexp_replace({text}, '[0-9]+', '9', 'g')"
    form = f"CASE WHEN regexp_full_match({text}, '{_DATE}') THEN {dated} ELSE {plain} END"
    form = rf"regexp_replace({form}, '\p{{L}}+', 'a', 'g')"
    allowed = f"{_SIGNS}a?{_SIGNS}".replace("'", "''")
    found = connection.execute(
        f"SELECT form FROM (SELECT {form} AS form FROM {rows}) WHERE contains(form, '9') AND regexp_full_match(form, '{allowed}')"
        f" GROUP BY form ORDER BY count(*) DESC, form LIMIT {_MOST}"
    ).fetchall()
    if len(found) < 2:
        return ""
    days, months, all_ = (counted.kinds.get(kind, 0) for kind in ("date day", "date month", "date"))
    order = (
        "; days come before months"
        if months < days == all_
        else "; months come before days"
        if days < months == all_
        else ""
    )
    return f"; written as {', '.join(one for (one,) in found)}{order}"
