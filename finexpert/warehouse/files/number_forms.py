"""How numbers are written as texts, and the SQL that reads them: thousands, decimals, signs, currencies, percents."""

from __future__ import annotations

from finexpert.warehouse.files.csv_shape import MISSING
from finexpert.warehouse.files.date_forms import matches

_PLAIN = r"(0|[1-9]\d{0,17})"
# 12,34,567 is how thousands and lakhs are set apart in India.
_INDIAN = r"[1-9]\d?(,\d\d)+,\d{3}"
_GROUPED = rf"([1-9]\d{{0,2}}(,\d{{3}})+|{_INDIAN})"
_DOTTED = r"[1-9]\d{0,2}(\.\d{3})+"
PATTERNS = {
    "integer": rf"[+-]?{_PLAIN}",
    "number": rf"[+-]?({_PLAIN}(\.\d*)?|\.\d+)([eE][+-]?\d{{1,3}})?",
    "grouped integer": rf"[+-]?({_PLAIN}|{_GROUPED})",
    "grouped": rf"[+-]?({_PLAIN}|{_GROUPED})(\.\d*)?|[+-]?\.\d+",
    "comma": rf"[+-]?({_PLAIN}|{_DOTTED})(,\d*)?|[+-]?,\d+",
}
# A number that can be read in one of both ways alone.
ONLY_GROUPED = rf"[+-]?{_GROUPED}\.\d+|[+-]?[1-9]\d{{0,2}}(,\d{{3}}){{2,}}|[+-]?{_INDIAN}"
ONLY_DOT = r"[+-]?(\d+\.(\d{1,2}|\d{4,})|0?\.\d+|\d{4,}\.\d*)"
# 1.234 is a thousand or one.
ONE_DOT = r"[+-]?[1-9]\d{0,2}\.\d{3}"
ONLY_DOTTED = rf"[+-]?{_DOTTED},\d+|[+-]?[1-9]\d{{0,2}}(\.\d{{3}}){{2,}}"
ONLY_COMMA = rf"{ONLY_DOTTED}|[+-]?0?,\d+|[+-]?{_PLAIN},(\d{{1,2}}|\d{{4,}})|[+-]?\d{{4,}},\d*"
_BLANKS = " \u00a0\u2009\u202f"
_BLANK = f"[\t{_BLANKS}]"
_SET_APART = f"[{_BLANKS}''\u2019]"
_APART = rf"[+-]?[1-9]\d{{0,2}}({_SET_APART}\d{{3}})+([.,]\d*)?"
CURRENCY = "[$€£¥]"
PERCENT = r"[^%]+%\)?"
# What stands before a number of an Excel cell: it is known, whatever the texts of its sheet look like.
NUMBER_CELL = "\u2060"


def trimmed(source: str) -> str:
    """SQL of a text without the blanks around it."""
    return f"trim({source}, ' \t\u00a0{NUMBER_CELL}')"


def is_given(source: str) -> str:
    """SQL of whether a text is no word for a missing value."""
    words = ", ".join(f"'{word}'" for word in sorted(MISSING))
    return f"({source} IS NOT NULL AND lower({trimmed(source)}) NOT IN ({words}))"


def bare(source: str) -> str:
    """SQL of a text without currency, percent, and what sets thousands apart but dots and commas; a minus stands in front.

    Blanks between digits go only where they set thousands apart: 1 2 is no number.
    """
    text = f"regexp_replace({trimmed(source)}, '{_BLANK}*({CURRENCY}|%){_BLANK}*', '', 'g')"
    for found, written in (
        ("\u2212", "-"),
        (rf"^\({_BLANK}*(.*?){_BLANK}*\)$", r"-\1"),
        (rf"^(\d.*?){_BLANK}*-$", r"-\1"),
        (rf"^([+-]){_BLANK}+", r"\1"),
    ):
        text = f"regexp_replace({text}, '{found}', '{written}')"
    return f"CASE WHEN {matches(text, _APART)} THEN regexp_replace({text}, '{_SET_APART}', '', 'g') ELSE {text} END"
