"""What is written to a terminal: letters, and no character that moves its cursor, changes its colours or turns the direction of a line.

    plain("net sales \\x1b[2J")   ->   "net sales \\\\x1b[2J"

Names of columns, cells, answers and errors come from files and models, and a terminal obeys what stands in them.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def plain(text: str) -> str:
    """The text with every such character written out; line breaks and tabs stay.

    >>> plain("1,234\\x1b]0;title\\x07 \\u202eabc"), plain("two\\nlines")
    ('1,234\\\\x1b]0;title\\\\x07 \\\\u202eabc', 'two\\nlines')
    """
    if text.isprintable():
        return text
    return "".join(
        char if char in "\n\t" or unicodedata.category(char) not in _HIDDEN else _written_out(char) for char in text
    )


def _written_out(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii") if char != "\r" else "\\r"


def screen(*, stderr: bool = False) -> Console:
    """A console of rich that writes everything plain but its own colours and links."""
    from rich.console import Console
    from rich.segment import Segment

    class Screen(Console):
        def render(self, *arguments: object, **given: object) -> Iterable[Segment]:
            for segment in super().render(*arguments, **given):  # type: ignore[arg-type]
                yield segment if segment.control else Segment(plain(segment.text), segment.style)

    return Screen(stderr=stderr, highlight=False)
