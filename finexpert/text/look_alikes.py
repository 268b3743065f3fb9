"""Look-alike letters: a name that reads like another one, and is not.

    "Re\u0441ession" holds a Cyrillic letter that looks like a Latin c, so it would stand beside "Recession" as a second process

Such a name is refused. It is not folded to the Latin one: which letter another looks like differs by font and by case,
so a list of pairs always lacks some, and one that it lacks would go through. A name that is of one script throughout
is never refused, though it may look like a Latin one as a whole.
"""

from __future__ import annotations

import re
import unicodedata

# Scripts that have letters like those of another; a house with Japanese or Arabic terms writes "GDP" right beside them.
_SCRIPTS = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"})
# Greek letters that look like no other, as in \u0394GDP or \u03c3spread; not in words of Greek.
_SYMBOLS = frozenset(
    "\u0393\u0394\u0398\u039b\u039e\u03a0\u03a3\u03a6\u03a8\u03a9\u03b4\u03b8\u03bb\u03bc\u03be\u03c0\u03c3\u03c6\u03c8"
)
# Cyrillic and Greek letters that look like Latin ones: a word of nothing else, among Latin words, is taken for one.
_ALIKE = frozenset(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u04bb\u04cf\u0501\u051b\u051d"
    "\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u04ae\u04c0\u051a\u051c"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf"
)
_WORD = re.compile(r"[^\W_]+")


def look_alike(name: str) -> str | None:
    """What in a name could be taken for something else, in words, or None.

    >>> look_alike("Re\u0441ession rule")
    "'Re\u0441ession' mixes letters of two scripts: U+0441 CYRILLIC SMALL LETTER ES among LATIN ones"
    >>> look_alike("GDP \u0441\u0430\u0440")
    "'\u0441\u0430\u0440' is not LATIN, though it looks so: U+0441 CYRILLIC SMALL LETTER ES"
    >>> look_alike("\u0394GDP"), look_alike("\u0440\u043e\u0441\u0442 GDP"), look_alike("Jensen's \u03b1")
    (None, None, None)
    """
    if name.isascii():
        return None
    words = [_by_script(word) for word in _WORD.findall(name)]
    for word, letters in words:
        if len(letters) > 1:
            most = max(letters, key=lambda script: len(letters[script]))
            odd = next(script for script in letters if script != most)
            return f"{word!r} mixes letters of two scripts: {_described(letters[odd][0])} among {most} ones"
    if any("LATIN" in letters for _, letters in words):
        for word, letters in words:
            if letters and _ALIKE.issuperset(char for char in word if char.isalpha()):
                return f"{word!r} is not LATIN, though it looks so: {_described(next(iter(letters.values()))[0])}"
    return None


def _by_script(word: str) -> tuple[str, dict[str, list[str]]]:
    """A word with its letters by script; letters that cannot be mistaken are left out where others are."""
    letters: dict[str, list[str]] = {}
    for char in word:
        if (script := _script(char)) and char not in _SYMBOLS:
            letters.setdefault(script, []).append(char)
    return word, letters


def _script(char: str) -> str:
    script = unicodedata.name(char, "").partition(" ")[0]
    return script if script in _SCRIPTS else ""


def _described(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char)}"
