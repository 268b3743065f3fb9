"""A transcript of an earnings call: who said what, turn by turn.

    Tim Cook -- Chief Executive Officer      TIM COOK: Thank you. Revenue was ...
    Thank you. Revenue was ...

Each paragraph carries its speaker, so that a chunk of it still says who speaks; a page is several whole turns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from finexpert.filings.readers.blocks import PAGE_CHARACTERS, Paragraph, PrintedPage

_NAME = r"[A-Z][\w.'\u2019-]+(?: (?:[A-Z][\w.'\u2019-]*|de|van|von|der)){0,4}"
_ALONE = re.compile(rf"({_NAME})\s*(?:--|\u2013|\u2014| - )\s*[A-Z][^.!?]{{2,100}}")
_INLINE = re.compile(rf"({_NAME})(?: ?\([^)]{{2,60}}\))?:\s+(\S.*)")
_SECTION = re.compile(
    r"(?:prepared remarks|presentation|questions?(?: |-)?(?:and|&)(?: |-)?answers?(?: session)?|q ?& ?a)\W*",
    re.IGNORECASE,
)
_OPERATOR = re.compile(r"operator\W*", re.IGNORECASE)
_FEWEST_TURNS = 3


def is_transcript(text: str) -> bool:
    """Whether a text is a call: it says so at its top, and people take turns.

    >>> is_transcript("Q1 2025 Earnings Call Transcript\\nOperator\\nHello.\\nAnn Lee -- Analyst\\nHi.\\nOperator\\nBye.")
    True
    """
    if not re.search(r"earnings|conference call|transcript", text[:2000], re.IGNORECASE):
        return False
    turns = sum(1 for line in text.splitlines() if _speaker(line.strip())[0])
    return turns >= _FEWEST_TURNS


def read_transcript(text: str) -> list[PrintedPage]:
    """The turns of a call on pages of about the same length; what precedes the first turn is on the first page."""
    pages = [PrintedPage(1)]
    length = 0
    for section, words, starts in _turns(text):
        full = (starts and length > PAGE_CHARACTERS * 3 // 4) or length > PAGE_CHARACTERS
        if pages[-1].blocks and (full or pages[-1].section not in ("", section)):
            pages.append(PrintedPage(pages[-1].number + 1))
            length = 0
        pages[-1].section = section
        pages[-1].blocks.append(Paragraph(words))
        length += len(words)
    return pages if pages[0].blocks else []


def _turns(text: str) -> Iterator[tuple[str, str, bool]]:
    """Every paragraph with its section, its speaker before it, and whether the speaker begins with it."""
    section = speaker = ""
    starts = False
    for line in (re.sub(r"\s+", " ", each).strip() for each in text.splitlines()):
        if not line:
            continue
        if _SECTION.fullmatch(line):
            section, speaker = line.strip(" :.-").capitalize(), ""
            continue
        name, words = _speaker(line)
        if name:
            speaker, starts = name, True
        if words:
            yield section, f"{speaker}: {words}" if speaker else words, starts
            starts = False


def _speaker(line: str) -> tuple[str, str]:
    """Who begins to speak with a line, and the words that follow on it; no name where it goes on.

    >>> _speaker("Ann Lee -- Chief Financial Officer"), _speaker("ANN LEE: Sales rose."), _speaker("Sales rose.")
    (('Ann Lee', ''), ('ANN LEE', 'Sales rose.'), ('', 'Sales rose.'))
    """
    if _OPERATOR.fullmatch(line):
        return "Operator", ""
    if match := _ALONE.fullmatch(line):
        return match[1], ""
    if match := _INLINE.fullmatch(line):
        return match[1], match[2]
    return "", line
