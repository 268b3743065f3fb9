"""What of a page's words is marked: the quoted sentence in its text, the cited cell in its table.

marks_for(citation)["marked"]("net sales rose 4.5%")      Markup('net sales <mark>rose 4.5%</mark>')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup, escape

from finexpert.core.answers import Citation
from finexpert.errors import CellError
from finexpert.filings.page.folding import fold
from finexpert.filings.page.numbers import read_number
from finexpert.text.texts import visible

_FEWEST_LETTERS = 3


def marks_for(citation: Citation) -> dict[str, Callable[..., Any]]:
    """The functions of `page_words.html`: how a line is written, and whether a cell is the cited one."""
    # A cell is cited as "row / column", or by the printed row with bars between its cells.
    row = re.split(r" / | \| ", citation.place, maxsplit=1)[0]

    def is_cited(cells: Sequence[str], at: int) -> bool:
        return at > 0 and _same(cells[0], row) and _is(cells[at], citation.value)

    return {"marked": lambda line: marked(line, citation.place), "is_cited": is_cited}


def marked(line: str, quote: str) -> Markup:
    """A line with the quoted words marked, whatever the white space and the case.

    >>> marked("Sales  ROSE <4.5%", "sales rose <4.5%")
    Markup('<mark>Sales  ROSE &lt;4.5%</mark>')
    """
    line = visible(line)
    words = quote.split()
    if len("".join(words)) < _FEWEST_LETTERS:
        return escape(line)
    found = re.search(r"\s+".join(map(re.escape, words)), line, re.IGNORECASE)
    if found is None:
        return escape(line)
    mark = Markup("<mark>{}</mark>").format(found[0])
    return escape(line[: found.start()]) + mark + escape(line[found.end() :])


def _same(label: str, row: str) -> bool:
    return fold(label).strip() == fold(row).strip()


def _is(cell: str, value: Any) -> bool:
    """Whether a cell prints a value, whatever its sign.

    >>> _is("$ 2,085", 2085.0), _is("2,086", 2085.0), _is("n/a", 1.0)
    (True, False, False)
    """
    if not isinstance(value, int | float):
        return fold(cell).strip() == fold(str(value)).strip() != ""
    try:
        return abs(read_number(cell).value) == abs(value)
    except CellError:
        return False
