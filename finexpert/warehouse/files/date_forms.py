"""The forms in which dates and times are written as texts, and how DuckDB reads them.

Sep 17, 2017    "%b %d, %Y"
03/04/2024      day or month first: known only from other dates
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# The form of a date, how DuckDB reads it, and whether day or month comes first, where that has to be known.
DATES = (
    (r"\d{4}-\d{1,2}-\d{1,2}", "%Y-%m-%d", ""),
    (r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d", ""),
    (r"\d{4}\.\d{1,2}\.\d{1,2}", "%Y.%m.%d", ""),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y", ""),
    (r"\d{1,2}\.\d{1,2}\.\d{2}", "%d.%m.%y", ""),
    (r"\d{1,2}-[A-Za-z]{3}-\d{4}", "%d-%b-%Y", ""),
    (r"\d{1,2}-[A-Za-z]{3}-\d{2}", "%d-%b-%y", ""),
    (r"\d{1,2} [A-Za-z]{3} \d{4}", "%d %b %Y", ""),
    (r"\d{1,2} [A-Za-z]{4,9} \d{4}", "%d %B %Y", ""),
    (r"[A-Za-z]{3} \d{1,2}, \d{4}", "%b %d, %Y", ""),
    (r"[A-Za-z]{4,9} \d{1,2}, \d{4}", "%B %d, %Y", ""),
    *(
        (rf"\d{{1,2}}{mark}\d{{1,2}}{mark}\d{{{digits}}}", f"{first}{mark}{second}{mark}{year}", order)
        # 20-01-02 may begin with its year.
        for mark, digits, year in (("/", 4, "%Y"), ("/", 2, "%y"), ("-", 4, "%Y"))
        for first, second, order in (("%m", "%d", "month"), ("%d", "%m", "day"))
    ),
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?Z?", "iso", ""),
    *(
        (rf"\d{{1,2}}/\d{{1,2}}/\d{{4}} \d{{1,2}}:\d\d{seconds}", f"{days} %H:%M{reading}", order)
        for seconds, reading in (("", ""), (r":\d\d", ":%S"))
        for days, order in (("%m/%d/%Y", "month"), ("%d/%m/%Y", "day"))
    ),
)  # fmt: skip
FORMS = [re.compile(pattern) for pattern, _, _ in DATES]
ALL_FORMS = range(len(DATES))
# A year of two digits is read as one from 1969 to 2068: these may be of the last century.
DOUBTFUL_YEAR = r"\d{1,2}(-[A-Za-z]{3}-|/\d{1,2}/|\.\d{1,2}\.)([3-5]\d|6[0-8])"


def is_date(text: str) -> bool:
    """Whether a text has one of the forms.

    >>> is_date("Sep 17, 2017"), is_date("12.5")
    (True, False)
    """
    return any(pattern.fullmatch(text) for pattern in FORMS)


def dates(text: str, order: str | None, forms: Sequence[int]) -> str:
    """SQL of a text as a time, in those of the forms that need no order, and in those of this order."""
    used = [DATES[form] for form in forms]
    read = [_date(text, pattern, form) for pattern, form, needs in used if not needs or needs == order]
    return f"coalesce({', '.join([*read, 'NULL::TIMESTAMP'])})"


def _date(text: str, pattern: str, form: str) -> str:
    read = f"try_cast(rtrim({text}, 'Z') AS TIMESTAMP)" if form == "iso" else f"try_strptime({text}, '{form}')"
    return f"CASE WHEN {matches(text, pattern)} THEN {read} END"


def matches(text: str, pattern: str) -> str:
    """SQL of whether a text is of a pattern, from its first to its last character."""
    return f"regexp_full_match({text}, '{pattern}')"
