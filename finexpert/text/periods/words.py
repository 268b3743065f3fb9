"""The words of time in a question, as patterns: years, quarters, dates, spans, and words that are relative to today.

    FY14, FY 14, fiscal 2014       first quarter of 2025, Q1'25, 1Q25     year ended december 31 , 2012
    from 2010 to 2013, 2010-13     6 years ago, the last three years      a year before that, the prior year

Patterns only: what they mean is decided in `periods`.
"""

from __future__ import annotations

import re
from functools import cache

COUNTS = {
    word: count
    for count, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), start=1
    )
} | {"a": 1, "an": 1, "the": 1, "fifteen": 15, "twenty": 20}
ORDINALS = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "last": 4,
    "final": 4,
}
MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip

_COUNT = r"(?:\d{1,2}|" + "|".join(sorted(set(COUNTS) - {"the"}, key=len, reverse=True)) + ")"
_MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\.?"
_FULL_YEAR = r"(?:19[5-9]\d|20\d\d)"
_SHORT = r"['\u2019]?\s?\d\d"
_FISCAL = r"(?:fiscal(?:\s+years?)?|f\.?y\.?|financial\s+year|calendar(?:\s+year)?|cy)"
_MARKED_YEAR = rf"(?:{_FISCAL}\s*(?:of\s+)?(?:{_FULL_YEAR}|{_SHORT})|{_FULL_YEAR}\s+fiscal(?:\s+year)?)"
# A year may stand behind a dash or a quote, not inside a number or a longer word.
YEAR = rf"(?:(?<![\w.$\u20ac\u00a3]){_MARKED_YEAR}|(?<![\w.,$\u20ac\u00a3/]){_FULL_YEAR})(?![\w%]|[.,]\d|/\d)"
_LAST_YEAR = rf"(?:{_MARKED_YEAR}|{_FULL_YEAR}|['\u2019]?\d\d)(?![\w%]|[.,]\d|/\d)"
DATE = (
    rf"(?:\b{_MONTH}\s*\d{{1,2}}(?:st|nd|rd|th)?\s*,?\s*{_FULL_YEAR}|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of"
    rf"\s+)?{_MONTH}\s*,?\s*{_FULL_YEAR}"
    rf"|(?<![\w/-]){_FULL_YEAR}-\d{{1,2}}-\d{{1,2}}|(?<![\w/])\d{{1,2}}/\d{{1,2}}/{_FULL_YEAR})(?![\w%])"
)
_MONTH_OF_YEAR = rf"\b{_MONTH}\s*,?\s*(?:of\s+)?{_FULL_YEAR}(?![\w%])"
_QUARTER = rf"(?:\bq[1-4]|\b[1-4]q|\b(?:{'|'.join(ORDINALS)})[ -](?:fiscal\s+)?quarter)"
_YEAR_OF_QUARTER = (
    rf"(?:{_FISCAL}\s*(?:of\s+)?(?:{_FULL_YEAR}|{_SHORT})|{_FULL_YEAR}|['\u2019]?\s?\d\d)(?![\w%]|[.,]\d)"
)
_OWN_YEAR = r"(?:the\s+)?(?:last|this|current|prior|previous|preceding|next|following|same)\s+(?:fiscal\s+)?year"
_TO = r"\s*(?:\bto\b|\bthrough\b|\bthru\b|\buntil\b|\btill\b|-|\u2013|\u2014)\s*(?:the\s+(?:end\s+of\s+)?)?"
_AGO = r"(?:ago|back)"
_BEFORE = r"(?:earlier|before|prior|previously|previous|preceding)"
_AFTER = r"(?:later|after|afterwards|afterward|thereafter|following|subsequently)"


def _rule(name: str, *parts: str) -> tuple[str, re.Pattern[str]]:
    return name, re.compile("".join(parts), re.IGNORECASE)


@cache
def rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The name of a rule, and what it looks for. Where two begin at the same place, the longer one counts, then the earlier.

    Made when they are first needed: they take longer than all that a question without a period needs of this package.
    """
    return (
        _rule("ended", rf"\b(?:(?P<fiscal>fiscal)\s+)?(?:(?P<count>{_COUNT})[\s-]+)?",
            r"(?P<unit>years?(?:[\s-]period)?|months?(?:\s+period)?|quarters?|weeks?(?:\s+period)?)\s+",
            r"(?:ended|ending|ends)\s+(?:on\s+|in\s+)?",
            rf"(?P<end>{DATE}|{_MONTH_OF_YEAR}|{YEAR})"),
        _rule("quarters", rf"(?:\bfrom\s+|\bbetween\s+)?(?P<from>{_QUARTER})(?:\s*(?:of\s+)?(?P<year>{_YEAR_OF_QUARTER}))?",
                     rf"(?:{_TO}|\s+and\s+(?:the\s+)?)(?P<to>{_QUARTER})\s*,?\s*(?:of\s+)?(?P<last>{_YEAR_OF_QUARTER})"),
        _rule("quarter", rf"(?:\bthe\s+)?(?P<calendar>\bcalendar\s+)?(?P<quarter>{_QUARTER})\s*,?\s*(?:of\s+)?(?:the",
            rf"\s+)?(?P<year>{_YEAR_OF_QUARTER})"),
        _rule("quarter", rf"(?P<year>{YEAR.replace('(?![', '(?!(?!q[1-4])[')})\s*,?\s*(?P<quarter>q[1-4]\b)"),
        _rule("quarter_of_own_year", rf"(?:\bthe\s+)?(?P<quarter>{_QUARTER})\s+(?:of\s+)?(?P<year>{_OWN_YEAR})\b"),
        _rule("quarter_alone", rf"(?:\bthe\s+)?\b(?!last\b)(?P<quarter>{_QUARTER})\b"),
        _rule("half", r"(?:\bthe\s+)?(?:(?P<ordinal>first|second)\s+half\s+(?:of\s+)?|\bh(?P<half>[12])\s*(?:of\s+)?|\b",
            r"(?P<before>[12])h\s*)",
                 rf"(?P<year>{_YEAR_OF_QUARTER})"),
        _rule("span", rf"\bbetween\s+(?:the\s+years?\s+)?(?P<from>{YEAR})\s+and\s+(?P<to>{YEAR})"),
        _rule("span", rf"\b(?:from|between)\s+(?P<from>{DATE}|{_MONTH_OF_YEAR})\s*,?\s*(?:to|through|until|till|and)\s+",
                 rf"(?P<to>{DATE}|{_MONTH_OF_YEAR}|{YEAR})"),
        _rule("span", rf"(?:\bfrom\s+(?:the\s+years?\s+)?)?(?P<from>{YEAR}){_TO}(?P<to>{_LAST_YEAR})"),
        _rule("since", r"\b(?:ever\s+)?(?:since|starting\s+(?:in|from|with)|beginning\s+(?:in|with))\s+(?:the\s+",
            r"(?:start|beginning|end)\s+of\s+)?",
                  rf"(?P<from>{DATE}|{_MONTH_OF_YEAR}|{YEAR})(?:\s+(?:onwards?|on)\b)?"),
        _rule("since", rf"\bfrom\s+(?P<from>{YEAR})\s+(?:onwards?|on|to\s+(?:date|now|today|the\s+present))\b"),
        _rule("decade", r"(?<![\w$])(?:the\s+)?(?P<decade>19[5-9]0|20\d0)['\u2019]?s\b"),
        _rule("year_to_date", r"\byear[\s-]to[\s-]date\b|\bytd\b|\bso\s+far\s+this\s+year\b"),
        _rule("ago", rf"\b(?P<count>{_COUNT})\s+(?P<fiscal>fiscal\s+)?(?P<unit>years?|quarters?|decades?)\s+{_AGO}\b"),
        _rule("last_some", rf"\b(?:the\s+)?(?:last|past|previous|latest|most\s+recent|trailing)\s+(?P<count>{_COUNT})\s+",
            r"(?P<fiscal>fiscal\s+)?",
                      r"(?P<unit>years?|quarters?|decades?)\b(?!\s+(?:ended|ending))"),
        _rule("last_some", r"\b(?:the\s+)?(?:last|past)\s+(?P<unit>decade)\b"),
        _rule("next_some", rf"\b(?:the\s+)?(?:next|coming|following)\s+(?P<count>{_COUNT})\s+(?P<fiscal>fiscal\s+)?",
            r"(?P<unit>years?|quarters?)\b"),
        _rule("own", r"\b(?:(?:the\s+)?(?P<which>last|past|this|current)|(?<!the\s)(?P<next>next))\s+(?P<fiscal>fiscal",
            r"\s+)?(?P<unit>year|quarter)\b(?!\s+(?:ended|ending))"),
        _rule("chained_same_quarter", r"\b(?:the\s+)?(?:same|corresponding|comparable)\s+(?:fiscal\s+)?",
            r"(?:quarter|period)\s+(?:of\s+|in\s+)?(?:the\s+)?",
                                 r"(?:prior|previous|preceding|last|a)\s+year(?:\s+(?:earlier|before|ago))?\b"),
        _rule("chained_same_quarter", r"\b(?:the\s+)?(?:year[\s-]ago|(?:prior|previous)[\s-]year)\s+(?:quarter|period)\b"),
        _rule("chained_span", rf"\bthe\s+(?P<count>{_COUNT})\s+(?:fiscal\s+)?years\s+(?:(?P<before>before|prior",
            r"\s+to|preceding)|(?P<after>after|following))\s+",
                         rf"(?:(?P<anchor>{YEAR})|that\b|then\b)"),
        _rule("chained", rf"\b(?P<count>{_COUNT}|the)\s+(?P<fiscal>fiscal\s+)?(?P<unit>years?|quarters?)\s+",
                    r"(?:(?P<before>before|prior\s+to|preceding|earlier\s+than)|(?P<after>after|following|later",
            rf"\s+than))\s+(?P<anchor>{YEAR})"),
        _rule("chained", rf"\b(?P<count>{_COUNT}|the)\s+(?P<fiscal>fiscal\s+)?(?P<unit>years?|quarters?)\s+",
                    rf"(?:(?P<before>{_BEFORE})|(?P<after>{_AFTER}))\b(?:\s+(?:that|then|this)\b(?!\s+\w+\s+\w*ed\b))?"),
        _rule("chained", r"\b(?:the\s+|its\s+|that\s+)?(?:(?P<before>prior|previous|preceding)|",
            r"(?P<after>following|subsequent|succeeding|next))[\s-]",
                    r"(?P<fiscal>fiscal\s+)?(?P<unit>year|quarter)\b(?!\s+(?:ended|ending))"),
        _rule("date", DATE),
        _rule("date", _MONTH_OF_YEAR),
        _rule("marked_year", rf"(?<![\w.$\u20ac\u00a3]){_MARKED_YEAR}(?![\w%]|[.,]\d)"),
        _rule("short_year", r"(?:(?<=\s)|^)['\u2019](?P<year>\d\d)(?![\w%]|[.,]\d)"),
        _rule("bare_year", rf"(?<![\w.,$\u20ac\u00a3/#]){_FULL_YEAR}(?!\w|\s?%|[.,]\d|/\d)"),
    )  # fmt: skip


# What stands before or after four digits that are no year.
NOT_A_YEAR_BEFORE = re.compile(
    r"(?:[$\u20ac\u00a3#]|\b"
    r"(?:pages?|p\.|pp\.|no\.|number|form|section|sec\.|rule|item|room|note|chapter|article|line|version|"
    r"model|about|approximately|roughly|around|usd|us\$|over\s+a|exactly))\s*$",
    re.IGNORECASE,
)
NOT_A_YEAR_AFTER = re.compile(
    r"\s*(?:million|billion|thousand|trillion|mm\b|bn\b|%|percent|per"
    r"\s?cent|basis|bps\b|dollars|usd|euros?\b|pounds|yen|cents)",
    re.IGNORECASE,
)
COUNTED_AFTER = re.compile(
    r"\s+(?:(?:full|part)-time\s+|new\s+|common\s+|square\s+)?"
    r"(?:shares|employees|people|stores|units|customers|barrels|tons|tonnes|miles|"
    r"feet|acres|megawatts|mw|locations|patents|options|warrants|hotels|rooms|ships|vehicles|aircraft|sites|towers|restaurants|branches)\b",
    re.IGNORECASE,
)
YEAR_BEFORE = re.compile(
    r"\b(?:in|of|for|during|since|from|by|until|through|fiscal|year|and|to|vs\.?|versus|between|than|with|or|compared)\s*,?\s*$",
    re.IGNORECASE,
)
# Words after which "in" before a year would be wrong.
TAKES_A_YEAR = re.compile(
    r"\b(?:in|of|for|during|since|from|to|with|than|versus|vs\.?|between|by|over|through|until|till|at|as|on|across|within|against|"
    r"after|before|is|was|fiscal|year|into|per|about|each|every|did|does|do|had|has|will|would|that)\s*$",
    re.IGNORECASE,
)
