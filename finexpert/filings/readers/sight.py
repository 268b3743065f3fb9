"""Which words of an HTML page a person sees: the others are no words of the filing.

    sight = Sight(root)
    sight.skips(element)          # nothing in it is seen: display:none, a box without height, moved off the page
    sight.shows(element)          # its own words are seen: not white on white, of size 0, or transparent

Told by styles and old attributes. Not told: words below a picture or another box, and what a script hides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lxml import etree
from tinycss2 import color3

from finexpert.filings.readers.css import Styles

_words = str.split

_NO_TEXT = frozenset(
    _words("""script style head noscript template ix:header ix:hidden iframe object svg math textarea select datalist audio video canvas
    noframes noembed""")
)
_FAR = -400.0
_OLD_ATTRIBUTES = ("color", "text", "bgcolor", "background")
_HALF = 50.0
_SIDES = (
    "width",
    "height",
    "max-width",
    "max-height",
    "block-size",
    "inline-size",
    "max-block-size",
    "max-inline-size",
)
_SMALLEST_LETTER, _SMALLEST_BOX = 2.0, 1.0
_LEAST_OPACITY, _LEAST_CONTRAST = 0.06, 0.06
_LENGTH = re.compile(r"(-?(?:\d+\.?\d*|\.\d+))(px|pt|em|rem|%|in|cm|mm|vw|vh|ex|ch)?(?![\w.])")
_PIXELS = {"px": 1.0, "pt": 4 / 3, "in": 96.0, "cm": 37.8, "mm": 3.78, "rem": 16.0, "em": 16.0, "ex": 8.0, "ch": 8.0,
           "vw": 10.0, "vh": 8.0}  # fmt: skip
_NOTHING = re.compile(
    r"scale(?:3d|x|y)?\(\s*0*(?:\.0+)?\s*[,)]|opacity\(\s*0*(?:\.0+)?%?\s*\)|(?:circle|ellipse)\(\s*0"
    r"|polygon\(\s*([^,()]+?)\s*(?:,\s*\1\s*)*\)"
)
_ZERO = re.compile(r"0*(?:\.0+)?%?(?: .*)?(?<=.)")
_MOVED = re.compile(r"translate(?:3d|x|y)?\(([^)]*)\)")

Colour = tuple[float, float, float, float]
_WHITE: Colour = (1.0, 1.0, 1.0, 1.0)
_BLACK: Colour = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class _Look:
    """What an element hands down to those within it; no background is a picture, of which no colour is known."""

    visible: bool = True
    colour: Colour = _BLACK
    background: Colour | None = _WHITE
    letter: float = 16.0
    indent: float = 0.0


class Sight:
    """What is seen of one page, and the words that are not."""

    def __init__(self, root: etree._Element) -> None:
        self._styles = Styles(root)
        self._looks: dict[etree._Element, _Look] = {}
        self._known: dict[tuple[_Look, tuple[str | None, ...]], _Look] = {}
        self._known_gone: dict[str, bool] = {}
        self.unseen: list[str] = []

    def skips(self, element: etree._Element) -> bool:
        """Whether nothing within an element is seen; its words are kept in `unseen`."""
        if not isinstance(element.tag, str) or element.tag in _NO_TEXT:
            return True
        closed = (element.tag == "dialog" and element.get("open") is None) or element.get("popover") is not None
        if not (closed or element.get("hidden") is not None or self._gone(element)):
            return False
        # The facts that inline XBRL keeps for machines are hidden in every filing.
        if next(element.iter("ix:header", "ix:nonnumeric", "ix:nonfraction"), None) is None:
            self._note("".join(element.itertext(etree.Element)) or "".join(element.itertext()))
        return True

    def seen(self, element: etree._Element, words: str | None) -> str:
        """Words that stand in an element itself, if they are seen; else nothing, and they are kept in `unseen`."""
        if not words or not words.strip() or self.shows(element):
            return words or ""
        self._note(words)
        return " "

    def shows(self, element: etree._Element) -> bool:
        """Whether the words of an element itself are seen."""
        look = self._look(element)
        if (
            not look.visible
            or look.letter < _SMALLEST_LETTER
            or look.indent <= _FAR
            or look.colour[3] <= _LEAST_OPACITY
        ):
            return False
        back = look.background
        return back is None or max(abs(a - b) for a, b in zip(look.colour[:3], back[:3], strict=True)) > _LEAST_CONTRAST

    def _note(self, words: str) -> None:
        if said := re.sub(r"\s+", " ", words).strip():
            self.unseen.append(said)

    def _look(self, element: etree._Element) -> _Look:
        """The look of an element; without recursion, for files nest deeply."""
        above: list[etree._Element] = []
        each: etree._Element | None = element
        while each is not None and each not in self._looks:
            above.append(each)
            each = each.getparent()
        look = self._looks[each] if each is not None else _Look()
        for each in reversed(above):
            look = self._looks[each] = self._below(look, each)
        return look

    def _below(self, look: _Look, element: etree._Element) -> _Look:
        """The look of an element within one of that look; a filing has the same few styles thousands of times."""
        attributes = tuple(map(element.get, ("style", *_OLD_ATTRIBUTES)))
        if self._styles.has_rules(element):
            return _handed_down(look, element, self._styles.of(element))
        if not any(attributes):
            return look
        if (look, attributes) not in self._known:
            self._known[look, attributes] = _handed_down(look, element, self._styles.of(element))
        return self._known[look, attributes]

    def _gone(self, element: etree._Element) -> bool:
        if self._styles.has_rules(element):
            return _is_gone(self._styles.of(element))
        style = element.get("style", "")
        if style not in self._known_gone:
            self._known_gone[style] = _is_gone(self._styles.of(element))
        return self._known_gone[style]


def _handed_down(look: _Look, element: etree._Element, style: dict[str, str]) -> _Look:
    if said := style.get("visibility"):
        look = replace(look, visible=said not in ("hidden", "collapse") if said != "inherit" else look.visible)
    colour = style.get("-webkit-text-fill-color") or style.get("color") or element.get("color") or element.get("text")
    if colour and (parsed := _colour(colour)):
        look = replace(look, colour=parsed)
    for said in (element.get("bgcolor"), style.get("background"), style.get("background-color")):
        if said and (parsed := _colour(said)) and parsed[3] > 0.5:
            look = replace(look, background=parsed)
    pictures = " ".join(
        filter(None, (style.get("background"), style.get("background-image"), element.get("background")))
    )
    if "url(" in pictures or "gradient" in pictures or element.get("background"):
        look = replace(look, background=None)
    for said in (style.get("font"), style.get("font-size")):
        if said and (size := _letter(said, look.letter)) is not None:
            look = replace(look, letter=size)
    if said := style.get("text-indent"):
        look = replace(look, indent=_pixels(said) or 0.0)
    return look


def _is_gone(style: dict[str, str]) -> bool:
    """Whether a style takes a whole element away.

    >>> _is_gone({"position": "absolute", "left": "-9999px"}), _is_gone({"max-height": "0", "overflow": "hidden"})
    (True, True)
    """
    if not style:
        return False
    if style.get("display") == "none" or style.get("mso-hide") == "all" or style.get("content-visibility") == "hidden":
        return True
    opacity = _LENGTH.match(style.get("opacity", ""))
    if opacity and float(opacity[1]) * (0.01 if opacity[2] == "%" else 1.0) <= _LEAST_OPACITY:
        return True
    if any(_ZERO.fullmatch(style.get(name, "")) for name in ("scale", "zoom")):
        return True
    drawn = " ".join(filter(None, (style.get("transform"), style.get("filter"), style.get("clip-path"))))
    if drawn and (
        _NOTHING.search(drawn) or _is_far([part for each in _MOVED.findall(drawn) for part in each.split(",")])
    ):
        return True
    if _is_far([*style.get("translate", "").split(), *style.get("margin", "").split()]) or _is_inset(style):
        return True
    placed = style.get("position") in ("absolute", "fixed", "relative", "sticky")
    names = ("left", "top", "right", "bottom", "margin-left", "margin-top") if placed else ("margin-left", "margin-top")
    inset = style.get("inset", "").split() if placed else []
    if _is_far([*inset, *(style[name] for name in names if name in style)]) or (placed and _is_clipped(style)):
        return True
    cut = any(style.get(name, "").startswith(("hidden", "clip")) for name in ("overflow", "overflow-x", "overflow-y"))
    sides = [_pixels(style[name]) for name in _SIDES if name in style]
    return cut and any(side is not None and side <= _SMALLEST_BOX for side in sides)


def _is_clipped(style: dict[str, str]) -> bool:
    """Whether nothing is left of a clipped box: rect(0 0 0 0), inset(50%)."""
    if "rect(" in style.get("clip", ""):
        top, right, bottom, left = ([float(size) for size, _ in _LENGTH.findall(style["clip"])] + [9.0] * 4)[:4]
        return "auto" not in style["clip"] and (bottom - top <= _SMALLEST_BOX or right - left <= _SMALLEST_BOX)
    return False


def _is_inset(style: dict[str, str]) -> bool:
    inset = re.match(r"inset\(\s*(\d+(?:\.\d+)?)%", style.get("clip-path", ""))
    return inset is not None and float(inset[1]) >= _HALF


def _is_far(lengths: list[str]) -> bool:
    sizes = [size for each in lengths if (size := _pixels(each)) is not None]
    return any(size <= _FAR for size in sizes)


def _pixels(text: str) -> float | None:
    """
    >>> _pixels("-10em"), _pixels("12pt"), _pixels("0"), _pixels("auto"), _pixels("-100%")
    (-160.0, 16.0, 0.0, None, -1000.0)
    """
    found = _LENGTH.match(text.strip())
    return float(found[1]) * (10.0 if found[2] == "%" else _PIXELS.get(found[2] or "px", 1.0)) if found else None


def _letter(text: str, above: float) -> float | None:
    """The height of letters in pixels; of a `font`, the first length is that."""
    found = _LENGTH.search(text)
    if not found:
        return None
    size = float(found[1])
    if found[2] in ("em", "%", "ex", "ch"):
        return above * size * (0.01 if found[2] == "%" else 1.0)
    # A number alone is the weight of a `font`, if it is not 0.
    return size * _PIXELS.get(found[2] or "px", 1.0) if found[2] or size == 0 else None


def _colour(text: str) -> Colour | None:
    """The first colour that a value names.

    >>> _colour("url(x.png) #fff no-repeat"), _colour("inherit")
    ((1.0, 1.0, 1.0, 1.0), None)
    """
    for word in re.findall(r"(?:rgb|hsl)a?\([^)]*\)|#?[\w-]+", text[:200]):
        parsed = color3.parse_color(_with_commas(word)) or (
            color3.parse_color(f"#{word}") if re.fullmatch(r"[0-9a-f]{6}", word) else None
        )
        if isinstance(parsed, color3.RGBA):
            return (parsed.red, parsed.green, parsed.blue, parsed.alpha)
    return None


def _with_commas(word: str) -> str:
    """A colour as it was written before its parts were told by blanks.

    >>> _with_commas("rgb(255 255 255 / 50%)"), _with_commas("hsl(0 0% 100%)"), _with_commas("white")
    ('rgba(255,255,255,0.5)', 'hsl(0,0%,100%)', 'white')
    """
    found = re.fullmatch(r"(rgb|hsl)a?\((.*)\)", word)
    parts = re.split(r"[,\s/]+", found[2].strip()) if found else []
    if found is None or len(parts) not in (3, 4) or "," in found[2]:
        return word
    if len(parts) == 3:
        return f"{found[1]}({','.join(parts)})"
    alpha = parts[3]
    if alpha.endswith("%") and _LENGTH.fullmatch(alpha):
        alpha = str(float(alpha[:-1]) / 100)
    return f"{found[1]}a({','.join([*parts[:3], alpha])})"
