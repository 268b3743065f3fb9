"""An answer as Markdown, for clients that show nothing else.

    >>> escaped("![x](https://a.b) | <b>")
    '\\\\!\\\\[x\\\\](https\\u200b://a.b) \\\\| \\\\<b\\\\>'

What comes from data or from a model is escaped: a cell must not become a picture, a link or a tag of the client.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from finexpert.app.state.stored import StoredAnswer
from finexpert.core.display import markdown as display

MOST_ROWS = 50

Link = Callable[[StoredAnswer, str], str]


def escaped(text: str) -> str:
    """A text of one line that Markdown shows as it is."""
    return display.escaped(" ".join(text.split()))


def markdown(answer: StoredAnswer, link: Link) -> str:
    """The answer with its table, charts, notes and where it came from; `link(answer, what)` is an address to have it at."""
    if answer.clarification is not None:
        choices = [f"{number}. {escaped(each)}" for number, each in enumerate(answer.clarification.candidates, 1)]
        return "\n".join([escaped(answer.clarification.question), "", *choices]).strip()
    parts = ["Answered in part."] if answer.status == "partial" else []
    parts += [f"**{escaped(answer.text)}**" if answer.row_count is None else _table(answer, link)]
    parts += [f"![Chart {number}]({link(answer, f'figures/{number}.png')})" for number in range(1, answer.figures + 1)]
    parts += [escaped(answer.explanation)] if answer.explanation else []
    unit = answer.format.unit if answer.row_count is not None else None
    parts += [f"Unit: {escaped(unit)}"] if unit else []
    parts += [f"Period: {escaped(answer.period)}"] if answer.period else []
    parts += [f"Confidence: {answer.confidence} of 100"] if answer.confidence is not None else []
    parts += ["\n".join(f"> Explained ({n}): {escaped(str(each))}" for n, each in enumerate(answer.offers, 1))]
    parts += ["> Say `keep it`, or `keep 1`, to have it kept."] if answer.offers else []
    cited = answer.citations if any(each.page for each in answer.citations) else []
    parts += ["\n".join(f"- [{n}] {escaped(each.source)}: {escaped(each.place)}" for n, each in enumerate(cited, 1))]
    parts += ["\n".join(f"> Note: {escaped(flag)}" for flag in answer.flags)]
    parts += [f"Record: {link(answer, 'record')}"] if answer.has_record else []
    return "\n\n".join(part for part in parts if part)


def _table(answer: StoredAnswer, link: Link) -> str:
    rows = pd.DataFrame(answer.rows[:MOST_ROWS], columns=answer.columns)
    count = answer.row_count or 0
    more = f"; all of them: {link(answer, 'table.csv')}" if count > MOST_ROWS else ""
    return display.of_table(rows, MOST_ROWS, count) + more
