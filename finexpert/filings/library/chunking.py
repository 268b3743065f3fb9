"""A page cut into chunks: the stretches of text and table that an index holds.

    page_chunks(page)  ->  ("text", "..."), ("table", "( in millions ) | 2007\\nnet sales | 5"), ...

Text is cut at the end of a sentence or a word, and the next chunk begins a little earlier, so that what stands at a cut
is whole in one of the two. A table is cut between rows, and every chunk of it begins with the header rows: a number
without its year says nothing. The company and the year are not written into the chunks: they are columns of the index.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from finexpert.errors import ConfigurationError
from finexpert.filings.page.table import PageTable
from finexpert.filings.records import ChunkKind, LibraryPage

_SENTENCE_END = re.compile(r"[.;:!?]\s+")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Chunking:
    """How large a chunk may be, and how much of it the next one repeats; in characters."""

    size: int = 1000
    overlap: int = 200

    def __post_init__(self) -> None:
        if self.size < 100 or not 0 <= self.overlap <= self.size // 2:
            raise ConfigurationError(
                f"chunks of {self.size} characters with an overlap of {self.overlap}: "
                f"the size is at least 100, and the overlap at most half of it"
            )

    def __str__(self) -> str:
        return f"{self.size}/{self.overlap}"


STANDARD = Chunking()


def page_chunks(page: LibraryPage, chunking: Chunking = STANDARD) -> Iterator[tuple[ChunkKind, str]]:
    """The chunks of a page in the order of reading, each with its kind."""
    for text in text_chunks(" ".join(page.pre_text), chunking):
        yield "text", text
    for text in table_chunks(page.table, chunking):
        yield "table", text
    for text in text_chunks(" ".join(page.post_text), chunking):
        yield "text", text


def text_chunks(text: str, chunking: Chunking = STANDARD) -> Iterator[str]:
    """Stretches of a text, none longer than the size.

    >>> words = " ".join(f"w{n}" for n in range(60))
    >>> for chunk in text_chunks(words, Chunking(100, 20)):
    ...     print(len(chunk), chunk[:7], chunk[-7:])
    97 w0 w1 w w25 w26
    99 w22 w23 w45 w46
    71 w42 w43 w58 w59
    """
    text = _SPACE.sub(" ", text).strip()
    start = 0
    while len(text) - start > chunking.size:
        end = _cut(text, start, start + chunking.size)
        yield text[start:end].strip()
        start = _restart(text, end, chunking.overlap)
    if text[start:].strip():
        yield text[start:].strip()


def _cut(text: str, start: int, end: int) -> int:
    """Where a chunk ends: after its last sentence that is not too short, else after a word, else anywhere."""
    middle = (start + end) // 2
    ends = [match.end() for match in _SENTENCE_END.finditer(text, middle, end)]
    if ends:
        return ends[-1]
    space = text.rfind(" ", middle, end + 1)
    return space if space > 0 else end


def _restart(text: str, end: int, overlap: int) -> int:
    """Where the next chunk begins: at a word, at most the overlap before the end of the last."""
    space = text.find(" ", max(end - overlap - 1, 0), end)
    return space + 1 if 0 <= space < end - 1 else end - overlap


def table_chunks(table: Sequence[Sequence[str]], chunking: Chunking = STANDARD) -> Iterator[str]:
    """A table as lines of cells, cut between rows; a row that is longer than a chunk makes a longer chunk.

    >>> rows = [["", "2007", "2006"], *([f"item {n}", "1,000", "900"] for n in range(10))]
    >>> first, second, third = table_chunks(rows, Chunking(100, 20))
    >>> print(second)
     | 2007 | 2006
    item 4 | 1,000 | 900
    item 5 | 1,000 | 900
    item 6 | 1,000 | 900
    item 7 | 1,000 | 900
    """
    lines = [" | ".join(_SPACE.sub(" ", cell).strip() for cell in row) for row in table]
    if not any(line.strip(" |") for line in lines):
        return
    header_rows = min(PageTable(tuple(map(tuple, table))).header_rows, len(lines) - 1)
    header, body = lines[:header_rows], lines[header_rows:]
    # A header as long as a chunk would leave one row to each.
    room = max(chunking.size - sum(len(line) + 1 for line in header), chunking.size // 2)
    taken: list[str] = []
    length = 0
    for line in body:
        if taken and length + len(line) > room:
            yield "\n".join([*header, *taken])
            taken, length = [], 0
        taken.append(line)
        length += len(line) + 1
    yield "\n".join([*header, *taken])
