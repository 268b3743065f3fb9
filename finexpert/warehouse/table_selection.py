"""Which tables of a large schema a question may need, before any of it is shown to a language model.

    select_tables("overdue consumer loans by branch", schemas)   ->   ["crd_loan_arrears_m", "crd_loan_master", ...]

A table counts by the words of its name, comments and columns, rare words more than common ones, by what the parts of its name
mean in other tables, and by its nearness in meaning. No model is asked and no row is read. What was selected is a guess: the limit should leave room for it.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from finexpert.embeddings.embedding import Embedder, embedder
from finexpert.embeddings.vectors import Vectors
from finexpert.storage.whole_files import writing
from finexpert.text.terms import words_of
from finexpert.warehouse.keys import by_name
from finexpert.warehouse.schema import TableSchema

NAME, COMMENT, COLUMN, BORROWED = 1.3, 1.2, 1.0, 0.9
LEAST_SHARE, LEAST_TABLES = 0.5, 3
MEANING = 0.5
NEAR_WORDS, LEAST_COSINE = 4, 0.35
_words = str.split
SHORTEST_START = 3
START = 0.6
BATCH = 256
COLUMNS_IN_TEXT = 30
SAME = 0.8
LONGEST_INITIALS = 5
LINK = 0.8
# Words of the trade that stand for one another, and that a sentence model does not know to be near.
_GROUPS = tuple(
    frozenset(_words(line))
    for line in """
    credit lending loan
    arrear overdue delinquent
    human personnel staff employee workforce
    salary wage payroll compensation
    customer client
    counterparty obligor
    security bond stock
    equity share stock
    fx currency exchange
    vendor supplier
    procurement purchasing
    card plastic
    collateral pledge
    provision allowance impairment
    writeoff wof chargeoff
    position holding
    trade deal execution
    revenue turnover sale
    profit income earning
    expense cost spending
    branch outlet office
    premium insurance
    claim loss
    liquidity cash funding
    tax duty levy
""".splitlines()
    if line.strip()
)
_ALIKE = {
    word: frozenset().union(*(one for one in _GROUPS if word in one)) - {word} for group in _GROUPS for word in group
}
_COMMON = frozenset(
    _words("what which was were is are the a an of in by per and or how me show side total for to out on did do")
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_made: dict[tuple[str, int], tuple[Sequence[TableSchema], TableIndex]] = {}
_lock = threading.Lock()
MOST_INDEXES = 8


class TableIndex:
    """The tables of a schema, ready to be searched; making one embeds a text a table.

    `cache` is a folder in which the vectors are kept for the next time.
    """

    def __init__(self, schemas: Sequence[TableSchema], by: Embedder | None = None, cache: Path | None = None) -> None:
        self._names = [table.name for table in schemas]
        self._embedder = by or embedder()
        self._vectors = self._embedded([describe(table) for table in schemas], cache)
        weights: dict[str, dict[int, float]] = defaultdict(dict)
        own = [_weights(table) for table in schemas]
        said = _said_by_parts(schemas, own)
        for number, table in enumerate(schemas):
            for part in _parts(table.name):
                for word in said.get(part, ()):
                    weights[word][number] = BORROWED
            for word, weight in own[number].items():
                weights[word][number] = max(weight, weights[word].get(number, 0.0))
        self._words: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        for word, found in weights.items():
            rarity = np.log(1 + len(schemas) / len(found))
            self._words[word] = (np.array([*found]), np.array([*found.values()]) * rarity)
        # In one order, so that the vectors that are kept are found.
        self._vocabulary = sorted(word for word in self._words if len(word) > SHORTEST_START and word.isalpha())
        self._word_vectors = self._embedded(self._vocabulary, cache)
        places = {name: number for number, name in enumerate(self._names)}
        pairs = {(places[name], places[other]) for name, other in by_name(schemas) if other in places}
        pairs |= {(other, one) for one, other in pairs}
        self._joined = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
        self._starts: dict[str, list[str]] = defaultdict(list)
        for word in self._words:
            self._starts[word[:SHORTEST_START]].append(word)

    @property
    def size(self) -> int:
        """How many tables there are."""
        return len(self._names)

    def select(self, question: str, limit: int = 10) -> list[str]:
        """The names of the tables that fit best, best first."""
        if not self._names:
            return []
        asked = list(dict.fromkeys(words_of(question)))
        unknown = [word for word in asked if word not in self._words and word not in _COMMON]
        vectors = self._embedder.embed([question, *unknown])
        near = {word: self._near(vector) for word, vector in zip(unknown, vectors[1:], strict=True)}
        words = np.zeros(len(self._names))
        for word in [*asked, *self._initials(question)]:
            best = np.zeros(len(self._names))
            alike = [(other, SAME) for other in _ALIKE.get(word, ()) if other in self._words]
            for other, share in [*self._like(word), *alike, *near.get(word, ())]:
                numbers, weights = self._words[other]
                best[numbers] = np.maximum(best[numbers], weights * share)
            words += best
        meaning = self._vectors @ vectors[0]
        score = words / (words.max() or 1.0) + MEANING * meaning
        order = np.argsort(-(score + LINK * self._between(score)), kind="stable")[:limit]
        return [self._names[number] for number in order]

    def _between(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each table counts as the one by which two others are joined: as much as the second of those that it may be joined to."""
        one, other = self._joined
        order = np.lexsort((-score[other], one))
        one, other = one[order], other[order]
        second = np.zeros(len(one), dtype=bool)
        second[1:] = one[1:] == one[:-1]
        second[2:] &= one[2:] != one[:-2]
        found = np.zeros(len(score))
        found[one[second]] = score[other[second]]
        return found

    def _initials(self, question: str) -> Iterator[str]:
        """The words of tables that are the initials of words of a question, as `var` is of value at risk."""
        words = words_of(question)
        for start, first in enumerate(words):
            for last in range(start + 2, min(start + LONGEST_INITIALS, len(words))):
                initials = "".join(word[0] for word in words[start : last + 1])
                if initials in self._words and not {first, words[last]} & _COMMON:
                    yield initials

    def _like(self, word: str) -> Iterable[tuple[str, float]]:
        """The words of tables that mean a word: itself, and where one is the beginning of the other (`dep` for deposit)."""
        for other in self._starts.get(word[:SHORTEST_START], ()):
            if other == word:
                yield other, 1.0
            elif other.startswith(word) or word.startswith(other):
                yield other, START

    def _near(self, vector: Vectors) -> list[tuple[str, float]]:
        """The words of tables that are nearest in meaning to a word that no table has."""
        cosines = self._word_vectors @ vector
        order = np.argsort(-cosines, kind="stable")[:NEAR_WORDS]
        return [
            (self._vocabulary[number], float(cosines[number])) for number in order if cosines[number] >= LEAST_COSINE
        ]

    def _embedded(self, texts: Sequence[str], cache: Path | None) -> Vectors:
        key = hashlib.sha256("\0".join([self._embedder.name, *texts]).encode("utf-8", "surrogatepass")).hexdigest()
        path = cache / f"tables-{key[:24]}.npy" if cache else None
        if path is not None and path.is_file():
            kept: Vectors = np.load(path, allow_pickle=False)
            if kept.shape == (len(texts), self._embedder.dimensions):
                return kept
        parts = [self._embedder.embed(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
        vectors = np.concatenate(parts) if parts else np.zeros((0, self._embedder.dimensions), dtype=np.float32)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            with writing(path) as file:
                np.save(file, vectors, allow_pickle=False)
        return vectors


def select_tables(
    question: str,
    schemas: Sequence[TableSchema],
    limit: int = 10,
    *,
    by: Embedder | None = None,
    cache: Path | None = None,
) -> list[str]:
    """The names of up to `limit` tables that a question may need, best first; the index of a schema is made once
    for the same object, which must not be changed meanwhile.

    >>> from finexpert.warehouse.schema import Column
    >>> loans = TableSchema("crd_loan", "consumer loans", (Column("branch_id", "INTEGER"),))
    >>> rates = TableSchema("mkt_fx_rates", "exchange rates", (Column("ccy", "VARCHAR"),))
    >>> select_tables("Which branch has most loans?", [rates, loans], 1, by=embedder("words"))
    ['crd_loan']
    """
    if len(schemas) <= limit:
        return [table.name for table in schemas]
    used = by or embedder()
    key = (used.name, id(schemas))
    with _lock:
        kept = _made.get(key)
        # The schemas are kept beside the index, so that no other object can come to have their id.
        if kept is None or kept[0] is not schemas or kept[1].size != len(schemas):
            while len(_made) >= MOST_INDEXES:
                del _made[next(iter(_made))]
            kept = _made[key] = (schemas, TableIndex(schemas, used, cache))
    index = kept[1]
    return index.select(question, limit)


def describe(table: TableSchema) -> str:
    """A table as a text to embed.

    >>> from finexpert.warehouse.schema import Column
    >>> describe(TableSchema("gl_balance_m", "Monthly balances", (Column("acctNo", "INTEGER"),)))
    'gl balance m: Monthly balances. acct No'
    """
    columns = ", ".join(_spaced(column.name) for column in table.columns[:COLUMNS_IN_TEXT])
    return f"{_spaced(table.name)}: {table.comment}. {columns}"


def _spaced(name: str) -> str:
    return _HUMP.sub(" ", name).replace("_", " ").replace(".", " ")


def _weights(table: TableSchema) -> dict[str, float]:
    """What each word of a table counts: by its best place."""
    found: Counter[str] = Counter()
    places = [(_spaced(table.name), NAME), (" ".join((table.comment, *table.synonyms)), COMMENT)]
    for column in table.columns:
        values = " ".join(column.categories or ())
        places.append((" ".join((_spaced(column.name), column.comment, *column.synonyms, values)), COLUMN))
    for text, weight in places:
        for word in words_of(text):
            found[word] = max(found[word], weight)  # type: ignore[assignment]
    return dict(found)


def _parts(name: str) -> set[str]:
    return set(words_of(_spaced(name)))


def _said_by_parts(schemas: Sequence[TableSchema], weights: Sequence[dict[str, float]]) -> dict[str, list[str]]:
    """What a part of a name stands for: the words that most tables with it use, and few others.

    So `arr` of a table without a comment means arrears, if other tables with `arr` in their names say so.
    """
    everywhere: Counter[str] = Counter(word for one in weights for word in one)
    tables: dict[str, list[int]] = defaultdict(list)
    for number, table in enumerate(schemas):
        for part in _parts(table.name):
            tables[part].append(number)
    said = {}
    for part, numbers in tables.items():
        if len(numbers) >= LEAST_TABLES:
            counts = Counter(word for number in numbers for word in weights[number])
            least = LEAST_SHARE * len(numbers)
            said[part] = [w for w, n in counts.items() if n >= least and n >= LEAST_SHARE * everywhere[w]]
    return said
