"""An answer as Markdown, for a chat or a notebook that shows no HTML.

    >>> import pandas as pd
    >>> print(of_table(pd.DataFrame({"region": ["north | south"], "fee": [1234.5]})))
    | region | fee |
    | :-- | --: |
    | north \\| south | 1,234.5 |

What comes from cells, files and models is escaped: it makes no heading, link, picture or HTML of the page that shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from finexpert.core.display.cells import is_number, lines
from finexpert.core.display.columns import rows as rows_of
from finexpert.core.display.parts import Code, Parts

if TYPE_CHECKING:
    import pandas as pd

    from finexpert.core.display.shown import Shown

ROWS = 50
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~$!])")
_ADDRESS = re.compile(r"(?i)\b(https?|ftp|file|data|javascript|mailto|xmpp):|\b(www)\.")
# A list, or the line under a heading; of a number in front the point is escaped, as a digit cannot be.
_BLOCK = re.compile(r"(?m)^(\s*)([-+](?=\s)|[-=](?=[-=\s]*$))")
_NUMBERED = re.compile(r"(?m)^(\s*\d+)([.)])(?=\s)")


def of_answer(answer: Shown, *, rows: int = ROWS, code: bool = True) -> str:
    """An answer with its value or table, notes and citations, and with the SELECTs and scripts if `code`.

    >>> from finexpert.core.answers import Answer, AnswerFormat
    >>> print(of_answer(Answer(question="?", status="answered", value=3, format=AnswerFormat(kind="integer"))))
    **3**
    """
    return of_parts(Parts.of(answer), rows=rows, code=code)


def of_parts(parts: Parts, *, rows: int = ROWS, code: bool = True) -> str:
    """The same of an answer that is told apart already."""
    blocks = [escaped(line) for line in parts.before]
    if parts.table is not None:
        blocks.append(of_table(parts.table, rows, parts.rows))
    else:
        blocks.append(f"**{escaped(parts.text or '')}**" if parts.answered else escaped(parts.text or ""))
    blocks += [escaped(line) for line in parts.after]
    if parts.citations:
        blocks.append("\n".join(f"{number}. {escaped(line)}" for number, line in enumerate(parts.citations, 1)))
    if code:
        blocks += [_fence(each) for each in parts.code]
    return "\n\n".join(blocks)


def of_table(data: pd.DataFrame, rows: int = ROWS, whole: int | None = None) -> str:
    """A table of at most so many rows; what is left out of the `whole` is said below it."""
    whole = len(data) if whole is None else whole
    right = [is_number(kind) for kind in data.dtypes]
    said = [_row(str(column) for column in data.columns), _row_of("--:" if to else ":--" for to in right)]
    said += [_row(texts) for texts in rows_of(data.head(rows), data)]
    table = "\n".join(said)
    shown_rows = min(rows, len(data))
    return table if whole <= shown_rows else f"{table}\n\nThe first {shown_rows:,} of {whole:,} rows."


def escaped(text: str) -> str:
    """A text in which nothing is a mark of Markdown, an address or HTML.

    >>> escaped("![x](https://a.b) <script> # 1")
    '\\\\!\\\\[x\\\\](https\\u200b://a.b) \\\\<script\\\\> \\\\# 1'
    >>> escaped("412.00 million"), escaped("-5"), escaped("1. first"), escaped("- first")
    ('412.00 million', '-5', '1\\\\. first', '\\\\- first')
    """
    text = _MARKS.sub(r"\\\1", lines(text))
    # Many chats make a link of a bare address, and fetch it for a preview.
    text = _ADDRESS.sub(lambda found: f"{found[0][:-1]}\u200b{found[0][-1]}", text)
    return _NUMBERED.sub(r"\1\\\2", _BLOCK.sub(r"\1\\\2", text))


def _row(cells: Iterable[str]) -> str:
    return _row_of(escaped(cell).replace("\n", " ") for cell in cells)


def _row_of(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _fence(code: Code) -> str:
    longest = max((len(run) for run in re.findall(r"`+", code.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{escaped(code.title)}\n\n{fence}{code.language}\n{code.text.strip()}\n{fence}"
