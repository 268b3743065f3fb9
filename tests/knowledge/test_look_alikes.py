"""Names that could be taken for others because of their letters, and names that only have letters of other scripts."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.process import Process
from finexpert.text.look_alikes import look_alike
from finexpert.text.texts import sentence

REFUSED = {
    "one Cyrillic letter": (
        "Re\u0441ession rule",
        "'Re\u0441ession' mixes letters of two scripts: U+0441 CYRILLIC SMALL",
    ),
    "a capital": ("\u0421PI", "U+0421 CYRILLIC CAPITAL LETTER ES among LATIN ones"),
    "one Latin letter": ("\u0440o\u0441\u0442", "U+006F LATIN SMALL LETTER O among CYRILLIC ones"),
    "a Greek letter": ("stress m\u03bfnth", "U+03BF GREEK SMALL LETTER OMICRON"),
    "a Greek capital": ("\u039det margin", "U+039D GREEK CAPITAL LETTER NU"),
    "Greek with an accent": ("recessi\u03ccn", "GREEK SMALL LETTER OMICRON WITH TONOS"),
    "no letter like it, yet mixed": ("sto\u0436k", "CYRILLIC SMALL LETTER ZHE"),
    "Armenian": ("yie\u0578d", "ARMENIAN SMALL LETTER VO"),
    "Cherokee": ("\u13aaDP", "CHEROKEE LETTER GO"),
    "Greek and Cyrillic": ("\u03b1\u0431\u03b1", "CYRILLIC SMALL LETTER BE among GREEK ones"),
    "beside a digit": ("2\u0440 gap", "is not LATIN, though it looks so: U+0440"),
    "a whole word": ("GDP \u0441\u0430\u0440", "is not LATIN, though it looks so"),
    "a series": ("Series \u0410", "U+0410 CYRILLIC CAPITAL LETTER A"),
}
KEPT = [
    "Recession rule",
    "K\u00fcnftige Ertr\u00e4ge f\u00fcr Stra\u00dfe",
    "\u0420\u043e\u0441\u0442 \u0412\u0412\u041f",  # all Cyrillic
    "\u0440\u043e\u0441\u0442 GDP",  # a Cyrillic word that does not look Latin
    "\u0410\u041e",  # all Cyrillic, and alone
    "\u0394GDP",
    "\u03c3spread",
    "\u00b5s of delay",
    "\u03bc-spread (10y-2y)",
    "Jensen's \u03b1",
    "\u03b2 of the desk",
    "\u039b\u03cc\u03b3\u03bf\u03c2 GDP",
    "\u03bb\u03bf GDP",  # the one has a letter that looks like no other
    "GDP\u6210\u9577\u7387",
    "ETF\u0647\u0627",
    "\uff23\uff30\uff29",
]


@pytest.mark.parametrize(("name", "words"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("field", ["heading", "alias", "term", "alias of a term"])
def test_a_name_that_looks_like_another_is_refused(field: str, name: str, words: str) -> None:
    step = [{"text": "Get it."}]
    given: dict[str, tuple[type[Process | Keyword], dict[str, Any]]] = {
        "heading": (Process, {"heading": name, "steps": step}),
        "alias": (Process, {"heading": "Slump", "aliases": [name], "steps": step}),
        "term": (Keyword, {"term": name, "meaning": "x"}),
        "alias of a term": (Keyword, {"term": "slump", "meaning": "x", "aliases": [name]}),
    }
    kind, values = given[field]
    with pytest.raises(ValidationError) as error:
        kind.model_validate(values)
    assert words in sentence(error.value)
    assert sentence(error.value).endswith("Write it in one script")


@pytest.mark.parametrize("name", KEPT, ids=ascii)
def test_other_scripts_are_kept(name: str) -> None:
    assert look_alike(name) is None
    assert Keyword(term=name, meaning="x").term
