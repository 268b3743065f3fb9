"""A filing in HTML, as the SEC publishes it: its pages, and what its inline XBRL says of it.

    read_html(b"<p>Net sales rose.</p><table>...</table><hr style='page-break-after:always'>...")

Tags of inline XBRL are unwrapped, those of numbers kept beside the words (`xbrl`), and what no reader of the page sees is left
out and said (`sight`). Pages end where a style breaks them, else at rules (`<hr>`), else after about the same length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from lxml import etree, html

from finexpert.errors import LibraryError
from finexpert.filings.page.tags import Tag
from finexpert.filings.readers import AGAIN
from finexpert.filings.readers.blocks import Block, Paragraph, PrintedPage, running_pages
from finexpert.filings.readers.decoding import decoded
from finexpert.filings.readers.html_tables import table_block
from finexpert.filings.readers.sight import Sight
from finexpert.filings.readers.xbrl import NUMBER, InlineXbrl

_words = str.split

_BLOCK_TAGS = frozenset(
    _words("""address article aside blockquote body center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header hr html li
    main nav ol p pre section table tbody td tfoot th thead tr ul""")
)
_BREAK_BEFORE = re.compile(r"(?:page-)?break-before\s*:\s*(?:always|page|left|right)", re.IGNORECASE)
_BREAK_AFTER = re.compile(r"(?:page-)?break-after\s*:\s*(?:always|page|left|right)", re.IGNORECASE)
_SPACE = re.compile(r"[\s\u00a0]+")
_FEWEST_RULES = 3
# The parser ends there, with all that follows.
_DEEPEST = 2_000
# A long tag with so many attributes is no part of a filing, and takes a parser the square of their number.
_TAG = re.compile(rb"<[a-zA-Z](?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+")
_LONG_TAG, _MOST_ATTRIBUTES = 20_000, 2_000
_ATTRIBUTE = re.compile(rb"[\s/][^\s=<>\"'/]+")


@dataclass
class HtmlFiling:
    """The pages of a file, and its facts about itself, such as {"EntityRegistrantName": "Apple Inc."}."""

    pages: list[PrintedPage]
    facts: dict[str, str] = field(default_factory=dict)
    title: str = ""
    unseen: list[str] = field(default_factory=list)


class _PageBreak:
    pass


def read_html(content: bytes, place: str) -> HtmlFiling:
    """Read a file; LibraryError names it where there is nothing in it to read."""
    _check_tags(content, place)
    # Without `huge_tree` what is nested deeper than 256 tags is dropped.
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = html.document_fromstring(decoded(content).encode("utf-8"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise LibraryError(f"cannot read {place} as HTML ({error}): fetch it again, then {AGAIN}") from error
    if any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log):
        raise LibraryError(f"cannot read {place}: its tags are nested deeper than {_DEEPEST:,}, as in no filing")
    styles = [element.get("style", "") for element in root.iter() if isinstance(element.tag, str)]
    styled = any(_BREAK_BEFORE.search(style) or _BREAK_AFTER.search(style) for style in styles)
    rules = not styled and sum(1 for _ in root.iter("hr")) >= _FEWEST_RULES
    sight = Sight(root)
    found = list(_walk(root, rules, sight, InlineXbrl(root)))
    pages = list(_pages(found) if styled or rules else running_pages(b for b in found if not isinstance(b, _PageBreak)))
    if not pages:
        raise LibraryError(f"there is no text in {place}: is it a page that scripts fill? Save it as it is shown")
    return HtmlFiling(pages, _facts(root), _clean(root.findtext(".//title") or ""), sight.unseen)


def _check_tags(content: bytes, place: str) -> None:
    for tag in _TAG.finditer(content):
        if tag.end() - tag.start() > _LONG_TAG and sum(1 for _ in _ATTRIBUTE.finditer(tag[0])) > _MOST_ATTRIBUTES:
            raise LibraryError(
                f"cannot read {place}: a tag of it has more than {_MOST_ATTRIBUTES:,} attributes, as in no filing"
            )


def _pages(found: list[Block | _PageBreak]) -> Iterator[PrintedPage]:
    page = PrintedPage(1)
    for block in [*found, _PageBreak()]:
        if not isinstance(block, _PageBreak):
            page.blocks.append(block)
        elif page.blocks:
            yield page
            page = PrintedPage(page.number + 1)


def _walk(root: etree._Element, rules: bool, sight: Sight, xbrl: InlineXbrl) -> Iterator[Block | _PageBreak]:
    """Paragraphs, tables and page breaks in the order of the file; without recursion, for files nest deeply."""
    words: list[str] = []
    tags: list[Tag] = []
    stack: list[tuple[etree._Element, bool]] = [(root, False)]
    while stack:
        element, closing = stack.pop()
        tag = element.tag if isinstance(element.tag, str) else ""
        block = tag in _BLOCK_TAGS
        if closing:
            if block:
                yield from _flushed(words, tags)
            if _BREAK_AFTER.search(element.get("style", "")) or (tag == "hr" and rules):
                yield _PageBreak()
            words.append(_tail(element, sight))
            continue
        if sight.skips(element):
            words.append(_tail(element, sight))
            continue
        if block:
            yield from _flushed(words, tags)
        if _BREAK_BEFORE.search(element.get("style", "")):
            yield from _flushed(words, tags)
            yield _PageBreak()
        stack.append((element, True))
        if tag == "br":
            words.append("\n")
        elif tag == "table" and element.find(".//table") is None:
            yield from _tagged(
                table_block(element, partial(_text, sight=sight), sight.skips), _tags(element, sight, xbrl)
            )
        else:
            if tag == NUMBER and (found := xbrl.tag(element, _text(element, sight))):
                tags.append(found)
            words.append(_SPACE.sub(" ", sight.seen(element, element.text)))
            stack.extend((child, False) for child in reversed(element))


def _flushed(words: list[str], tags: list[Tag]) -> Iterator[Block]:
    """The paragraphs of the words so far; two line breaks part them."""
    parts = [Paragraph(text) for part in re.split(r"\n\s*\n", "".join(words)) if (text := _clean(part))]
    yield from _tagged(parts, tags)
    words.clear()
    tags.clear()


def _tagged(blocks: Iterable[Block], tags: Sequence[Tag]) -> Iterator[Block]:
    """The blocks, with tags that stand somewhere in them."""
    for place, block in enumerate(blocks):
        yield block if place or not tags else replace(block, tags=tuple(tags))


def _tags(table: etree._Element, sight: Sight, xbrl: InlineXbrl) -> list[Tag]:
    """The tags of numbers that a table shows, in their order."""
    if next(table.iter(NUMBER), None) is None:
        return []
    found = []
    stack = [table]
    while stack:
        element = stack.pop()
        if sight.skips(element):
            continue
        if element.tag == NUMBER and (tag := xbrl.tag(element, _text(element, sight))):
            found.append(tag)
        stack.extend(reversed(element))
    return found


def _tail(element: etree._Element, sight: Sight) -> str:
    """The words after an element: they are those of its parent."""
    parent = element.getparent()
    return _SPACE.sub(" ", sight.seen(parent, element.tail)) if parent is not None else ""


def _text(element: etree._Element, sight: Sight) -> str:
    """The words that a cell shows."""
    parts: list[str] = []
    stack: list[tuple[etree._Element, bool]] = [(element, False)]
    while stack:
        each, closing = stack.pop()
        tag = each.tag if isinstance(each.tag, str) else ""
        if closing:
            parts.append((" " if tag in _BLOCK_TAGS else "") + (_tail(each, sight) if each is not element else ""))
        elif sight.skips(each):
            parts.append(_tail(each, sight) if each is not element else "")
        else:
            parts.append((" " if tag in _BLOCK_TAGS or tag == "br" else "") + sight.seen(each, each.text))
            stack.append((each, True))
            stack.extend((child, False) for child in reversed(each))
    return _clean("".join(parts))


def _facts(root: etree._Element) -> dict[str, str]:
    """What inline XBRL says of the document itself; of several registrants, the first."""
    facts: dict[str, str] = {}
    for element in root.iter("ix:nonnumeric"):
        name = element.get("name", "")
        if name.startswith("dei:") and (text := _clean("".join(element.itertext()))):
            facts.setdefault(name.removeprefix("dei:"), text)
    return facts


def _clean(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
