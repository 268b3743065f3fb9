"""The styles of an HTML page, as far as they decide whether its words are seen: style sheets, and `style` of a tag.

    styles = Styles(root)
    styles.of(element)            # {"display": "none", "color": "#fff"}

The rules of CSS order what several say: importance, specificity, place. Rules for other media than a screen are left out. A sheet that
cannot be read is left out too: what it would hide is read, as any other word.
"""

from __future__ import annotations

import re
from functools import lru_cache

import cssselect
import tinycss2
from lxml import etree

_words = str.split

# What may hide words; all else of a style is not kept.
PROPERTIES = frozenset(
    _words("""display visibility opacity font-size font color background background-color background-image position left top right bottom
    text-indent margin-left margin-top width height max-width max-height overflow overflow-x overflow-y clip clip-path transform
    content-visibility -webkit-text-fill-color filter mso-hide""")
)
_LARGEST_SHEET = 1 << 20
_MOST_SELECTORS = 2_000
_MEDIA = re.compile(r"\b(?:all|screen)\b")

Declared = tuple[tuple[str, str, bool], ...]
_Rank = tuple[bool, bool, tuple[int, int, int], int]


class Styles:
    """The declared styles of the elements of one page."""

    def __init__(self, root: etree._Element) -> None:
        # Elements are kept here, as lxml makes new ones for those that nobody holds.
        self._ranked: dict[etree._Element, dict[str, tuple[_Rank, str]]] = {}
        self._order = 0
        sheets = "\n".join("".join(element.itertext()) for element in root.iter("style"))
        if len(sheets) <= _LARGEST_SHEET:
            self._add_sheet(root, sheets)

    def of(self, element: etree._Element) -> dict[str, str]:
        """What is declared for an element; nothing of it is inherited here."""
        ranked = self._ranked.get(element, {})
        if inline := element.get("style"):
            ranked = dict(ranked)
            for name, value, important in declarations(inline):
                _put(ranked, name, value, (important, True, (0, 0, 0), self._order))
        return {name: value for name, (_, value) in ranked.items()}

    def has_rules(self, element: etree._Element) -> bool:
        """Whether a style sheet speaks of an element."""
        return element in self._ranked

    def _add_sheet(self, root: etree._Element, sheet: str) -> None:
        try:
            rules = tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)
            for rule in _for_screens(rules):
                self._add_rule(root, rule)
        except RecursionError:
            return

    def _add_rule(self, root: etree._Element, rule: tinycss2.ast.QualifiedRule) -> None:
        declared = _declared(rule.content)
        if not declared or self._order > _MOST_SELECTORS:
            return
        try:
            selectors = cssselect.parse(tinycss2.serialize(rule.prelude))
        except cssselect.SelectorError:
            return
        for selector in selectors:
            self._order += 1
            if selector.pseudo_element is not None:
                continue
            try:
                found = root.xpath(_TRANSLATOR.selector_to_xpath(selector))
            except (cssselect.SelectorError, etree.XPathError):
                continue
            for element in found:
                ranked = self._ranked.setdefault(element, {})
                for name, value, important in declared:
                    _put(ranked, name, value, (important, False, selector.specificity(), self._order))


_TRANSLATOR = cssselect.HTMLTranslator()


@lru_cache(maxsize=4096)
def declarations(style: str) -> Declared:
    """What a `style` says that may hide words: name, value in small letters, whether it is important.

    >>> declarations("Color: #FFF; display:none !important; margin: 3px")
    (('color', '#fff', False), ('display', 'none', True))
    """
    try:
        return _declared(style[:_LARGEST_SHEET])
    except RecursionError:
        return ()


def _declared(content: str | list[tinycss2.ast.Node]) -> Declared:
    parsed = tinycss2.parse_blocks_contents(content)
    return tuple(
        (node.lower_name, tinycss2.serialize(node.value).strip().lower(), node.important)
        for node in parsed
        if node.type == "declaration" and node.lower_name in PROPERTIES
    )


def _for_screens(rules: list[tinycss2.ast.Node]) -> list[tinycss2.ast.QualifiedRule]:
    found = []
    for rule in rules:
        if rule.type == "qualified-rule":
            found.append(rule)
        elif rule.type == "at-rule" and rule.lower_at_keyword == "media" and rule.content:
            said = tinycss2.serialize(rule.prelude).lower()
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            found += [each for each in inner if each.type == "qualified-rule" and _MEDIA.search(said)]
    return found


def _put(ranked: dict[str, tuple[_Rank, str]], name: str, value: str, rank: _Rank) -> None:
    if name not in ranked or rank >= ranked[name][0]:
        ranked[name] = rank, value
