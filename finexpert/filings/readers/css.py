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
    content-visibility -webkit-text-fill-color filter mso-hide margin inset scale zoom translate block-size inline-size max-block-size
    max-inline-size""")
)
_LARGEST_SHEET = 1 << 20
_MOST_SELECTORS = 2_000
_MEDIA = re.compile(r"\b(?:all|screen)\b|\bnot\s+print\b")
# Of media of no name those hold that every screen of a desk has.
_WIDE = re.compile(r"\s*\(\s*min-(?:width|height)\s*:\s*(\d{1,3})(?:\.\d+)?px\s*\)\s*")
_WITHIN = frozenset({"layer", "supports", "container", "scope"})
_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,([^()]*))?\)")
_CALCULATED = re.compile(r"calc\(\s*([^()*/+]*?)\s*\)")
_DEEPEST, _LONGEST = 8, 5_000

Declared = tuple[tuple[str, str, bool], ...]
_Rank = tuple[bool, bool, tuple[int, int, int], int]


class Styles:
    """The declared styles of the elements of one page."""

    def __init__(self, root: etree._Element) -> None:
        # Elements are kept here, as lxml makes new ones for those that nobody holds.
        self._ranked: dict[etree._Element, dict[str, tuple[_Rank, str]]] = {}
        self._order = 0
        self._variables: dict[str, str] = {}
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
        return {name: self._plain(value) for name, (_, value) in ranked.items()}

    def has_rules(self, element: etree._Element) -> bool:
        """Whether a style sheet speaks of an element."""
        return element in self._ranked

    def _plain(self, value: str) -> str:
        """A value with its variables in their places, wherever in the page they are set."""
        for _ in range(_DEEPEST):
            if "var(" not in value or len(value) > _LONGEST:
                break
            value = _VARIABLE.sub(lambda found: self._variables.get(found[1], found[2] or "").strip(), value)
        return _CALCULATED.sub(r"\1", value)

    def _add_sheet(self, root: etree._Element, sheet: str) -> None:
        try:
            rules = tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)
            for rule in _for_screens(rules):
                self._add_rule(root, rule)
        except RecursionError:
            return

    def _add_rule(self, root: etree._Element, rule: tinycss2.ast.QualifiedRule, above: str = "", deep: int = 0) -> None:
        prelude = tinycss2.serialize(rule.prelude).strip()
        if above:
            prelude = prelude.replace("&", f":is({above})") if "&" in prelude else f":is({above}) {prelude}"
        self._variables |= _variables_of(rule.content)
        for inner in _nested(rule.content) if deep < _DEEPEST and len(prelude) <= _LONGEST else ():
            self._add_rule(root, inner, prelude, deep + 1)
        declared = _declared(rule.content)
        if not declared or self._order > _MOST_SELECTORS or len(prelude) > _LONGEST:
            return
        try:
            selectors = cssselect.parse(prelude)
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
    (('color', '#fff', False), ('display', 'none', True), ('margin', '3px', False))
    """
    try:
        return _declared(style[:_LARGEST_SHEET])
    except RecursionError:
        return ()


def _declared(content: str | list[tinycss2.ast.Node]) -> Declared:
    parsed = tinycss2.parse_blocks_contents(content)
    return tuple(
        (node.lower_name, _said(node), node.important)
        for node in parsed
        if node.type == "declaration" and node.lower_name in PROPERTIES
    )


def _said(node: tinycss2.ast.Declaration) -> str:
    said = tinycss2.serialize([each for each in node.value if each.type != "comment"])
    return " ".join(said.lower().split())


def _variables_of(content: list[tinycss2.ast.Node]) -> dict[str, str]:
    parsed = tinycss2.parse_blocks_contents(content)
    return {node.name: _said(node) for node in parsed if node.type == "declaration" and node.name.startswith("--")}


def _nested(content: list[tinycss2.ast.Node]) -> list[tinycss2.ast.QualifiedRule]:
    parsed = tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True)
    return _for_screens([each for each in parsed if each.type != "declaration"])


def _for_screens(rules: list[tinycss2.ast.Node], deep: int = 0) -> list[tinycss2.ast.QualifiedRule]:
    found = []
    for rule in rules:
        if rule.type == "qualified-rule":
            found.append(rule)
        elif rule.type == "at-rule" and rule.content and deep < _DEEPEST and _holds(rule):
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            found += _for_screens(inner, deep + 1)
    return found


def _holds(rule: tinycss2.ast.AtRule) -> bool:
    """Whether the rules within another hold for a reader at a desk."""
    said = tinycss2.serialize(rule.prelude).lower()
    if rule.lower_at_keyword in _WITHIN:
        return not said.strip().startswith("not")
    return rule.lower_at_keyword == "media" and bool(_MEDIA.search(said) or _WIDE.fullmatch(said))


def _put(ranked: dict[str, tuple[_Rank, str]], name: str, value: str, rank: _Rank) -> None:
    if name not in ranked or rank >= ranked[name][0]:
        ranked[name] = rank, value
