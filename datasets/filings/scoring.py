"""Scoring answers over a library of filings: the answer, the pages that were found, the citations.

    >>> right("$ 1.708 billion", 1708.0, AnswerFormat(kind="number", unit="USD million"))
    True
    >>> right("8.1%", 0.08098, AnswerFormat(kind="number", unit="fraction")), right("Apple Inc.", "apple")
    (True, True)

Numbers are compared by `close` of `finexpert.datasets.evaluations.answer_matching` after words of unit are taken off; a share may be given as a fraction or in
percent where the question asks for one. Names are compared without case and legal form. A gold of `{"not_found": true}` is met by
an answer that says so, and by nothing else. Search is measured by recall@k and by the rank of the first right page.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from finexpert.core.answers import Answer, AnswerFormat, Citation
from finexpert.core.plans import Quote
from finexpert.datasets.evaluations.answer_matching import close
from finexpert.datasets.filings.questions import NOT_FOUND, FilingQuestion
from finexpert.errors import CellError, LibraryError, QuoteError
from finexpert.filings.companies.names import words_in
from finexpert.filings.companies.words import LEGAL_FORMS
from finexpert.filings.page.folding import fold
from finexpert.filings.records import FilingInfo, LibraryPage

_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "mm": 1e6, "bn": 1e9}
_SCALE = re.compile(r"\b(thousand|million|billion|trillion|mm|bn)\b", re.IGNORECASE)
_NUMBER = re.compile(r"[-\u2212(]?\s*[$\u20ac\u00a3]?\s*-?\d[\d,]*(?:\.\d+)?|[-\u2212]?\.\d+")
_PERCENT = re.compile(r"%|\bper\s?cent|\bpercentage", re.IGNORECASE)
_SHARES = ("fraction", "percent", "%")


class Shelf(Protocol):
    """A library whose pages can be found by what citations call them: a `Library`."""

    def page(self, id: str) -> LibraryPage: ...

    def filings(self) -> list[FilingInfo]: ...

    def pages_of(self, filing: str) -> list[LibraryPage]: ...


class CitedPages:
    """Finds the pages that citations name, by id or by label; parts of a page share their label."""

    def __init__(self, library: Shelf) -> None:
        self._library = library
        self._by_label: dict[str, list[LibraryPage]] | None = None

    def of(self, source: str) -> list[LibraryPage]:
        """The pages that a source names, none where there is none of that name."""
        try:
            return [self._library.page(source)]
        except LibraryError:
            return self._labels().get(fold(source), [])

    def _labels(self) -> Mapping[str, list[LibraryPage]]:
        if self._by_label is None:
            self._by_label = defaultdict(list)
            for filing in self._library.filings():
                for page in self._library.pages_of(filing.id):
                    self._by_label[fold(page.label)].append(page)
        return self._by_label


@dataclass(frozen=True)
class FilingScore:
    """What became of one question. `found` is the share of its pages among the citations, None where it has none."""

    question: str
    category: str
    right: bool
    found: float | None
    citations_right: int
    citations: int


def score(question: FilingQuestion, gold: Any, answer: Answer, cited: CitedPages) -> FilingScore:
    """The score of an answer against the gold, with its citations checked on the pages they name."""
    checked = [standing for citation in answer.citations if (standing := stands(citation, cited)) is not None]
    pages = [page.id for citation in answer.citations for page in cited.of(citation.source)]
    is_right = answer.status == "not_found" if gold == NOT_FOUND else answer.status == "answered"
    return FilingScore(
        question.id,
        question.category or "all",
        is_right and (gold == NOT_FOUND or right(answer.value, gold, _format(question, answer))),
        recall(question, pages) if question.pages else None,
        sum(checked),
        len(checked),
    )


def right(value: Any, gold: Any, answer_format: AnswerFormat | None = None) -> bool:
    """Whether a value is the gold, as a number, a name, a boolean, a day or a list of these."""
    wanted = answer_format or AnswerFormat()
    if isinstance(gold, Sequence) and not isinstance(gold, str):
        same_size = isinstance(value, Sequence) and not isinstance(value, str) and len(value) == len(gold)
        return same_size and all(right(mine, theirs, wanted) for mine, theirs in zip(value, gold, strict=True))
    if isinstance(gold, bool) or (isinstance(gold, str) and gold.strip().casefold() in ("yes", "no")):
        return _yes(value) is not None and _yes(value) == _yes(gold)
    if isinstance(gold, int | float):
        return _is_number(value, float(gold), wanted)
    if isinstance(gold, str) and (number := _plain_number(gold)) is not None:
        return _is_number(value, number, wanted)
    return value is not None and name_of(str(value)) == name_of(str(gold))


def name_of(text: str) -> tuple[str, ...]:
    """A name in the form that is compared: folded words, without legal forms.

    >>> name_of("The Goldman Sachs Group, Inc.") == name_of("Goldman Sachs")
    True
    """
    words = [word.text for word in words_in(text)]
    return tuple(word for word in words if word not in LEGAL_FORMS) or tuple(words)


def recall(question: FilingQuestion, pages: Iterable[str]) -> float:
    """The share of the question's pages among these; a page that holds the same numbers stands for it."""
    given = set(pages)
    if not question.pages:
        return math.nan
    hit = [not given.isdisjoint({page, *question.alternatives.get(page, ())}) for page in question.pages]
    return sum(hit) / len(hit)


def recall_at(question: FilingQuestion, ranked: Sequence[str], k: int) -> float:
    """The share of the question's pages among the first k that a search gives."""
    return recall(question, ranked[:k])


def reciprocal_rank(question: FilingQuestion, ranked: Sequence[str]) -> float:
    """One over the rank of the first page that is right, 0 where there is none."""
    wanted = {page for one in question.pages for page in (one, *question.alternatives.get(one, ()))}
    return next((1 / rank for rank, page in enumerate(ranked, start=1) if page in wanted), 0.0)


def stands(citation: Citation, cited: CitedPages) -> bool | None:
    """Whether a citation's number stands on its page at its place; None for a citation of a frame, which has no page."""
    if re.match(r"\s*(?:select|with)\b", citation.place, re.IGNORECASE):
        return None
    return any(_stands_on(citation, page) for page in cited.of(citation.source))


def _stands_on(citation: Citation, page: LibraryPage) -> bool:
    filing = page.as_filing()
    for _, _, value in filing.cells():
        own = value.citations[0]
        if fold(own.place) == fold(citation.place) and _same_print(citation.value, own.value, value.value):
            return True
    try:
        filing.quote(Quote(id=1, quote=citation.place, value=str(citation.value)))
    except (QuoteError, CellError):
        return False
    return True


def _same_print(given: Any, printed: Any, number: object) -> bool:
    if isinstance(given, int | float) and isinstance(number, int | float):
        return math.isclose(float(given), float(number), rel_tol=1e-9)
    return fold(str(given)) == fold(str(printed))


def _format(question: FilingQuestion, answer: Answer) -> AnswerFormat:
    given = question.answer_format
    return given if given.unit or given.kind != "number" else answer.format


def _is_number(value: Any, gold: float, wanted: AnswerFormat) -> bool:
    unit, text = wanted.unit or "", value if isinstance(value, str) else ""
    number = _plain_number(text) if text else value
    if isinstance(number, bool) or not isinstance(number, int | float):
        return False
    full_gold, full_number = gold * _scale_in(unit), number * _scale_in(text)
    # A number with a scale of its own is compared at full size; one without may be at the scale asked for, or at full size.
    readings = (
        [(full_number, full_gold)]
        if _SCALE.search(text) and _SCALE.search(unit)
        else [(number, gold), (full_number, full_gold)]
    )
    if any(word in unit.casefold() for word in _SHARES) or _PERCENT.search(text):
        readings += [(number / 100, gold), (number, gold / 100)]
    return any(close(mine, theirs) for mine, theirs in readings)


def _plain_number(text: str) -> float | None:
    """The one number of a text, words of unit and sign of currency taken off; None where there is none, or several.

    >>> _plain_number("USD 1,234.5 million"), _plain_number("( 12 )"), _plain_number("3M and 4")
    (1234.5, -12.0, None)
    """
    found = _NUMBER.findall(text)
    if len(found) != 1:
        return None
    digits = re.sub(r"[^\d.]", "", found[0])
    negative = found[0].lstrip()[0] in "(-\u2212" or "-" in found[0]
    return -float(digits) if negative else float(digits)


def _scale_in(text: str) -> float:
    found = _SCALE.search(text)
    return _SCALES[found[1].lower()] if found else 1.0


def _yes(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"yes": True, "no": False, "true": True, "false": False}.get(str(value).strip().casefold())
