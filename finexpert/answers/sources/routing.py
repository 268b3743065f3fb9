"""Which one source a question is for, where words tell; nothing is asked and no row is read.

    "What was the unemployment rate in March 1995?"           the warehouse that has unemployment, if no company and no filing is named
    "What was Boeing's revenue in 2022?"                      the only library with Boeing, if no warehouse knows any other of its words
    "How did Boeing's margin move with inflation?"            None: a planner looks

None is safe: the planner then chooses. So a source is named only where nothing points to another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from weakref import WeakKeyDictionary

from finexpert.answers.sources.sources import Sources
from finexpert.filings.library.library import Library
from finexpert.plans.pages import measures, whose
from finexpert.text.terms import normalise, phrases_in, words_of
from finexpert.warehouse.schema import Metric, TableSchema
from finexpert.warehouse.warehouse import Warehouse

_OF_FILINGS = re.compile(
    r"\b(10-?[KQ]s?|8-Ks?|filings?|filed|(?:annual|quarterly) reports?|transcripts?|earnings calls?|footnotes?|notes to|item \d+\w?"
    r"|MD&A|risk factors?|management|covenants?|shareholders?|stockholders?|compan(?:y|ies)|firms?|issuers?|corporations?|its|their|they"
    r"|segments?|guidance|auditors?|litigation|legal proceedings)\b",
    re.IGNORECASE,
)
# Words that say nothing of where an answer lies.
_PLAIN = frozenset(
    words_of(
        "a an and any are as at average be been before after between both but by change changed compare compared count date day did do does"
        " each end ended every fell few first fiscal for from full give had has have high higher highest how i in increase is it larger largest"
        " last latest least less list long low lower lowest many maximum mean median minimum month monthly months more most much new not number"
        " of on or our out over per percent percentage point points quarter quarterly quarters rank rate ratio rise rose same share show since"
        " smallest start than that the them then there these this those time times to top total under until up us value values was were what when"
        " where which while who whole with year yearly years calendar january february march april may june july august september october"
        " november december find tell me please only during within growth grew grow annual down units unit data level levels dollars usd"
    )
)


_vocabularies: WeakKeyDictionary[Warehouse, set[str]] = WeakKeyDictionary()


def route(question: str, sources: Sources) -> str | None:
    """The name of the source that alone can answer; None where that cannot be told."""
    named = [name for name, library in sources.libraries.items() if _names_company(question, library)]
    words = _content(question)
    knowing = {name: words & _vocabulary(warehouse) for name, warehouse in sources.warehouses.items()}
    if not named and not _speaks_of_filings(question):
        return _only_warehouse(words, {name: known for name, known in knowing.items() if known}, sources)
    if len(named) != 1:
        return None
    # A line that statements print, such as operating income, is of the filings although a table may hold some income too.
    left = words - {word for phrase in phrases_in(question, _lines()) for word in phrase.split()}
    knows = any(left & known for known in knowing.values())
    return named[0] if not knows and left <= _filing_words() | _words_of_names(sources.libraries[named[0]]) else None


def _only_warehouse(words: set[str], knowing: Mapping[str, set[str]], sources: Sources) -> str | None:
    """The one warehouse that knows words of the question; with others at hand it has to know all of them."""
    if len(knowing) != 1:
        return None
    (name,) = knowing
    return name if len(sources.warehouses) == 1 or words <= knowing[name] else None


def _content(question: str) -> set[str]:
    return {word for word in words_of(question) if word not in _PLAIN and not any(char.isdigit() for char in word)}


def _names_company(question: str, library: Library) -> bool:
    return bool(library.companies.resolve(question)) or bool(whose.named_in(question, library.filings()))


def _speaks_of_filings(question: str) -> bool:
    return bool(_OF_FILINGS.search(question)) or bool(measures.named_in(question))


def _vocabulary(warehouse: Warehouse) -> set[str]:
    """The words of tables, columns, comments, published values and metrics; read once for a schema, which may be large."""
    if warehouse not in _vocabularies:
        texts = [*map(_of_table, warehouse.tables), *map(_of_metric, warehouse.metrics)]
        _vocabularies[warehouse] = {word for word in words_of(" ".join(texts)) if word not in _PLAIN}
    return _vocabularies[warehouse]


def _of_table(table: TableSchema) -> str:
    columns: Iterable[str] = (
        " ".join((column.name, column.comment, *column.synonyms, *(column.categories or ())))
        for column in table.columns
    )
    return " ".join((table.name, table.comment, *table.synonyms, *columns)).replace("_", " ")


def _of_metric(metric: Metric) -> str:
    return " ".join((metric.name, metric.description, *metric.synonyms)).replace("_", " ")


@cache
def _lines() -> frozenset[str]:
    """The measures and lines that statements print, of more than one word each: one word alone may be of anything."""
    names = [name for measure in measures.catalogue() for name in (measure.name, *measure.also, *measure.lines)]
    return frozenset(key for name in names if " " in (key := normalise(name)))


@cache
def _filing_words() -> frozenset[str]:
    """The words of measures and of the lines that they are computed from."""
    texts = [text for measure in measures.catalogue() for text in (measure.name, *measure.also, *measure.lines)]
    return frozenset(words_of(" ".join(texts)))


def _words_of_names(library: Library) -> set[str]:
    names = [" ".join((filing.company, filing.ticker, whose.name_of(filing))) for filing in library.filings()]
    return {*words_of(" ".join(names)), *words_of("company corporation inc")}
