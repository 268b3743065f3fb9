"""An answer as plain text, for a terminal without colours.

>>> from finexpert.core.answers import Answer, AnswerFormat
>>> print(of_answer(Answer(question="How many?", status="answered", value=3, format=AnswerFormat(kind="integer"))))
How many?
3
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from finexpert.core.display.cells import lines
from finexpert.core.display.columns import rows as rows_of
from finexpert.core.display.parts import Parts

if TYPE_CHECKING:
    import pandas as pd

    from finexpert.core.display.shown import Shown

ROWS = 20


def of_answer(answer: Shown) -> str:
    """An answer with its table or value, notes and citations, and without its code."""
    parts = Parts.of(answer)
    said = [parts.question, *parts.before, parts.text or "", *parts.after]
    said += [f"[{number}] {line}" for number, line in enumerate(parts.citations, 1)]
    table = [] if parts.table is None else [of_table(parts.table)]
    return "\n".join([*map(lines, filter(None, said)), *table])


def of_table(data: pd.DataFrame, rows: int = ROWS) -> str:
    """The first rows of a table, every number whole, and how many there are."""
    import pandas as pd

    names = [lines(str(column)) for column in data.columns]
    head = pd.DataFrame(rows_of(data.head(rows), data), columns=names, dtype=object)
    text = head.to_string(index=False)
    return text if len(data) <= rows else f"{text}\n... {len(data):,} rows: answer.to_frame() gives all"
