"""An answer and a frame as HTML, for a notebook: one block without script, request or style of its own beyond attributes.

Everything is escaped; charts stand in the block itself; what is long is folded. Colours come from the page, so that it is readable
on light and dark ground.
"""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING

from finexpert.core.display.cells import is_number, lines
from finexpert.core.display.columns import rows as rows_of
from finexpert.core.display.parts import Code, Parts
from finexpert.text.texts import visible

if TYPE_CHECKING:
    import pandas as pd

    from finexpert.core.display.shown import Shown, ShownFrame

ROWS = 20
_DIM = "opacity:0.75;margin:0.2em 0"
_NOTE = "border-left:3px solid #d08700;padding-left:0.6em;margin:0.2em 0"
_LARGE = "font-size:1.25em;font-weight:600;margin:0.4em 0"
_PRE = "white-space:pre-wrap;margin:0.3em 0;padding:0.5em;border:1px solid rgba(128,128,128,0.4)"


def of_answer(answer: Shown) -> str:
    """An answer with its table or value, charts, citations and notes; SELECTs and scripts are folded.

    >>> from finexpert.core.answers import Answer
    >>> "<b>" in of_answer(Answer(question="<b>What?</b>", status="answered", value="a < b"))
    False
    """
    parts = Parts.of(answer)
    blocks = [_line(parts.question, "font-weight:600;margin:0.2em 0")]
    blocks += [_line(line, _DIM) for line in parts.before]
    if parts.table is not None:
        blocks.append(of_table(parts.table))
    else:
        blocks.append(_line(parts.text or "", _LARGE))
    blocks += [_chart(png, parts.question) for png in answer.figures]
    blocks += [_line(line, _NOTE if line.startswith("Note: ") else _DIM) for line in parts.after]
    if parts.citations:
        cited = "".join(f"<li>{_text(line)}</li>" for line in parts.citations)
        blocks.append(f'<ol style="{_DIM};padding-left:2em">{cited}</ol>')
    blocks += [_fold(code) for code in parts.code]
    blocks.append(_line(parts.cost + (f", record {parts.record}" if parts.record else ""), f"{_DIM};font-size:0.85em"))
    return f'<div class="finexpert-answer">{"".join(blocks)}</div>'


def of_frame(frame: ShownFrame) -> str:
    """A frame of the conversation: its first and last rows, and the SELECT that it came from."""
    fold = _fold(Code(f"SQL → {frame.name}", "sql", frame.select))
    return f'<div class="finexpert-frame">{of_table(frame.data)}{fold}</div>'


def of_table(data: pd.DataFrame, rows: int = ROWS) -> str:
    """A table with its first and last rows, and how many there are."""
    right = [is_number(kind) for kind in data.dtypes]
    head = "".join(_cell("th", str(column), to) for column, to in zip(data.columns, right, strict=True))
    cut = len(data) > rows
    kept = [data.head(rows // 2), data.tail(rows // 2)] if cut else [data]
    body = [_rows(part, data, right) for part in kept]
    gap = f"<tr>{'<td>…</td>' * len(right)}</tr>" if cut else ""
    said = f"{len(data):,} rows" + (f", {rows} of them shown: answer.to_frame() gives all" if cut else "")
    return (
        f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{gap.join(body)}</tbody></table>'
        + _line(said, f"{_DIM};font-size:0.85em")
    )


def _rows(part: pd.DataFrame, whole: pd.DataFrame, right: list[bool]) -> str:
    said = ("".join(_cell("td", text, to) for text, to in zip(row, right, strict=True)) for row in rows_of(part, whole))
    return "".join(f"<tr>{line}</tr>" for line in said)


def _cell(tag: str, text: str, right: bool) -> str:
    return f'<{tag} style="text-align:{"right" if right else "left"};padding:0.2em 0.8em">{_text(text)}</{tag}>'


def _fold(code: Code) -> str:
    return (
        f'<details><summary>{_text(code.title)}</summary><pre style="{_PRE}"><code class="language-{code.language}">'
        f"{escape(code.text)}</code></pre></details>"
    )


def _chart(png: bytes, about: str) -> str:
    data = base64.b64encode(png).decode("ascii")
    return f'<img alt="Chart: {escape(visible(about))}" style="max-width:100%" src="data:image/png;base64,{data}">'


def _line(text: str, style: str) -> str:
    return f'<p style="{style}">{_text(text)}</p>'


def _text(text: str) -> str:
    return escape(lines(text)).replace("\n", "<br>")
