"""Terms: when two spellings are the same term, and which known terms stand in a text.

    "The Stress-Months'"  ->  "stress month"
    "How deep were our Stress Months?"  holds  "stress month"

Only spelling is folded here: case, punctuation, plurals, articles. Words of like meaning ("jobless rate",
"unemployment rate") are the business of embeddings and of aliases.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence

ARTICLES = frozenset({"a", "an", "the"})

_INITIALS = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_POSSESSIVE = re.compile(r"['\u2019`]s\b|['\u2019`]")
_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")
_IRREGULAR = {"crises": "crisis", "indices": "index", "analyses": "analysis", "bases": "basis", "halves": "half"}
_NO_PLURAL = frozenset({"goods", "news", "series"})


def normalise(text: str) -> str:
    """The spelling by which a term is compared: casefolded, in the singular, without articles and punctuation.

    The plural is folded by rule, so the result is a key and not always an English word. An article at the end is
    none, as in `Series A`.

    >>> normalise("The Stress-Months'"), normalise("desk's  hot quarters"), normalise("U.S. recoveries")
    ('stress month', 'desk hot quarter', 'us recovery')
    >>> normalise("Series A"), normalise("20,000 boxes"), normalise("?!")
    ('series a', '20000 box', '')
    """
    return _joined(words_of(text))


def phrases_in(text: str, names: Collection[str]) -> list[str]:
    """Those of the normalised `names` that stand in the text as whole words, the longest first.

    Where found names overlap, the longer counts: a name that stands only inside another found one is not given.

    >>> phrases_in("How long did the stress-months last in Japan?", {"stress", "stress month", "japan"})
    ['stress month', 'japan']
    >>> phrases_in("turmoil in markets", {"oil"})
    []
    """
    known = names if isinstance(names, (set, frozenset, dict)) else set(names)
    return list(dict.fromkeys(name for _, _, name in spans_in(words_of(text), known)))


def spans_in(words: Sequence[str], names: Collection[str]) -> list[tuple[int, int, str]]:
    """Where the normalised `names` stand among words as `words_of` gives them: from, to, name; the longest first.

    >>> spans_in(["the", "stress", "month"], {"stress", "stress month"})
    [(1, 3, 'stress month')]
    """
    if not names:
        return []
    longest = max(name.count(" ") for name in names) + 1
    found = [
        (start, end, name)
        for start in range(len(words))
        for end in range(start + 1, _reach(words, start, longest) + 1)
        if (end - start == 1 or words[start] not in ARTICLES) and (name := _joined(words[start:end])) in names
    ]
    found.sort(key=lambda span: (span[0] - span[1], -len(span[2]), span[0]))
    taken: set[int] = set()
    kept = []
    for start, end, name in found:
        if taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            kept.append((start, end, name))
    return kept


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared, articles included.

    >>> words_of("The 10-year yields' rise of 2.5%")
    ['the', '10', 'year', 'yield', 'rise', 'of', '2.5']
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    folded = _INITIALS.sub(lambda match: match[0].replace(".", ""), folded)
    return [_singular(word.replace(",", "")) for word in _WORD.findall(_POSSESSIVE.sub("", folded))]


def _joined(words: Sequence[str]) -> str:
    return " ".join([word for word in words[:-1] if word not in ARTICLES] + list(words[-1:]))


def _reach(words: Sequence[str], start: int, longest: int) -> int:
    """Where the longest name that starts here could end: articles within a name are not counted."""
    end = start
    while end < len(words) and longest > 0:
        longest -= words[end] not in ARTICLES
        end += 1
    return min(len(words), end + 1)


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or word in _NO_PLURAL:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ie"):
        return word[:-2] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")) and len(word) > 4:
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
