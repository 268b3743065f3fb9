"""The tagged numbers of inline XBRL, with the contexts and units that they refer to.

    <ix:nonFraction name="us-gaap:Revenues" contextRef="c-1" unitRef="usd" scale="6">274,515</ix:nonFraction>

    xbrl = InlineXbrl(root)
    xbrl.tag(element, "274,515")     # Tag("us-gaap:Revenues", "274,515", "USD", 6, "2019-09-29", "2020-09-26")

A tag whose context or unit is not in the file says nothing that can be relied on, and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from finexpert.errors import DataError
from finexpert.filings.page.tags import PURE, Tag, checked

NUMBER = "ix:nonfraction"
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SCALE = re.compile(r"[+-]?\d{1,2}")
_CURRENCY = "iso4217"


class InlineXbrl:
    """What the head of a file defines; it never changes."""

    def __init__(self, root: etree._Element) -> None:
        self._contexts: dict[str, tuple[str, str, tuple[str, ...]]] = {}
        self._units: dict[str, str] = {}
        for element in root.iter():
            local = _local(element)
            if local == "context" and (period := _period(element)):
                members = tuple(_text(each) for each in _all(element, "explicitmember"))
                self._contexts[element.get("id", "")] = (*period, members)
            elif local == "unit" and (unit := _unit(element)):
                self._units[element.get("id", "")] = unit

    def tag(self, element: etree._Element, printed: str) -> Tag | None:
        """The tag of a number that is printed so; None where it cannot be relied on."""
        context = self._contexts.get(element.get("contextref", ""))
        unit = self._units.get(element.get("unitref", ""))
        scale = element.get("scale", "0").strip() or "0"
        if context is None or unit is None or not printed or not _SCALE.fullmatch(scale):
            return None
        start, end, members = context
        try:
            return checked([[element.get("name", ""), printed, unit, int(scale), start, end, members, -1, -1]], "")[0]
        except DataError:
            return None


def _period(context: etree._Element) -> tuple[str, str] | None:
    for names in (("startdate", "enddate"), ("instant",)):
        days = [day[0] for name in names for each in _all(context, name) if (day := _DAY.match(_text(each)))]
        if len(days) == len(names):
            return days[0] if len(days) > 1 else "", days[-1]
    return None


def _unit(unit: etree._Element) -> str:
    """
    >>> from lxml import html
    >>> text = "<u><x:divide><x:unitNumerator><x:measure>iso4217:USD</x:measure></x:unitNumerator><x:unitDenominator>"
    >>> _unit(html.fromstring(text + "<x:measure>xbrli:shares</x:measure></x:unitDenominator></x:divide></u>"))
    'USD per share'
    """
    measures = [_measure(_text(each)) for each in _all(unit, "measure")]
    if len(measures) == 2 and any(True for _ in _all(unit, "unitdenominator")):
        return f"{measures[0]} per {'share' if measures[1] == 'shares' else measures[1]}"
    return measures[0] if len(measures) == 1 else ""


def _measure(text: str) -> str:
    prefix, _, name = text.rpartition(":")
    return name.upper() if prefix == _CURRENCY else PURE if name == PURE else name


def _all(element: etree._Element, local: str) -> Iterator[etree._Element]:
    return (each for each in element.iter() if _local(each) == local)


def _local(element: etree._Element) -> str:
    return element.tag.rpartition(":")[2] if isinstance(element.tag, str) else ""


def _text(element: etree._Element) -> str:
    return "".join(element.itertext()).strip()
