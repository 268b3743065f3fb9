"""The full-text index of a library: which pages have the words of a question, by BM25.

    index.update(store)                                  only filings that are new or gone are read
    index.search(["net", "sale", "2010"], filters, 60)   [Found("AAL/2010/page_72.pdf", 21.3, packed words), ...]

Tantivy keeps it in a folder: a commit is whole or not there, so a killed process leaves the index as it was. The index
says itself which filings it holds, and is compared with the store's; one that cannot be read is made anew. While one
process writes, others search what is there.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from finexpert.errors import LibraryError
from finexpert.filings.library.file import cannot_use
from finexpert.filings.library.index.words import PageWords, pack
from finexpert.filings.records import ChunkKind, FilingInfo, LibraryPage

if TYPE_CHECKING:
    from finexpert.filings.library.store import LibraryStore

log = logging.getLogger(__name__)

UNKNOWN = -1
_HEAP = 64_000_000
_COMMIT_AFTER = 5000


@dataclass(frozen=True)
class Filters:
    """What a page must be; empty lets everything through, and a page whose year or quarter is not known passes."""

    tickers: frozenset[str] = frozenset()
    years: frozenset[int] = frozenset()
    quarters: frozenset[int] = frozenset()
    kinds: frozenset[ChunkKind] = frozenset()


@dataclass(frozen=True)
class Found:
    """A page with its BM25, 0 where it was not asked for by words; `words` as `finexpert.filings.library.index.words.pack` gave them."""

    page: str
    score: float
    year: int | None
    quarter: int | None
    words: bytes


class LexicalIndex:
    """A full-text index in a folder, one entry a page. Many threads may search; `update` takes turns."""

    def __init__(self, folder: Path) -> None:
        try:
            import tantivy
        except ModuleNotFoundError as error:
            raise LibraryError(
                f"searching a library needs the package {error.name}: `pip install 'finexpert[library]'`"
            ) from error

        self.folder = folder
        self._tantivy = tantivy
        self._schema = _schema(tantivy)
        self._index = self._open()
        self._lock = threading.Lock()
        self._searcher = self._index.searcher()

    @property
    def size(self) -> int:
        """How many pages it holds."""
        return int(self._searcher.num_docs)

    def count(self, word: str) -> int:
        """On how many pages a word stands."""
        return int(self._searcher.doc_freq("words", word))

    # searching

    def search(self, words: Collection[str], filters: Filters, limit: int) -> list[Found]:
        """The pages with most of the words, the rare ones counting more, best first."""
        query, occur = self._tantivy.Query, self._tantivy.Occur
        asked = [(occur.Should, self._term("words", word)) for word in dict.fromkeys(words)]
        if not asked or limit < 1:
            return []
        clauses = [(occur.Must, query.boolean_query(asked)), *self._must(filters)]
        return self._found(query.boolean_query(clauses), limit)

    def pages(self, ids: Sequence[str]) -> list[Found]:
        """Those of the pages that are in the index."""
        return self._found(self._tantivy.Query.term_set_query(self._schema, "page", list(ids)), len(ids), scored=False)

    def _found(self, query: Any, limit: int, *, scored: bool = True) -> list[Found]:
        if limit < 1:
            return []
        searcher = self._searcher
        found = []
        for score, address in searcher.search(query, limit, count=False).hits:
            kept = searcher.doc(address)
            year, quarter = kept.get_first("year"), kept.get_first("quarter")
            found.append(
                Found(
                    kept.get_first("page"),
                    score if scored else 0.0,
                    None if year == UNKNOWN else year,
                    None if quarter == UNKNOWN else quarter,
                    bytes(kept.get_first("content")),
                )
            )
        return found

    def _must(self, filters: Filters) -> list[tuple[Any, Any]]:
        sets: list[tuple[str, list[Any]]] = [
            ("ticker", sorted(filters.tickers)),
            ("year", sorted(filters.years | {UNKNOWN}) if filters.years else []),
            ("quarter", sorted(filters.quarters | {UNKNOWN}) if filters.quarters else []),
            ("kinds", sorted(filters.kinds)),
        ]
        query, must = self._tantivy.Query, self._tantivy.Occur.Must
        return [
            (must, query.const_score_query(query.term_set_query(self._schema, field, values), 0.0))
            for field, values in sets
            if values
        ]

    def _term(self, field: str, value: str) -> Any:
        return self._tantivy.Query.term_query(self._schema, field, value, index_option="freq")

    # writing

    def update(self, store: LibraryStore, progress: Callable[[int], None] = lambda pages: None) -> None:
        """Bring the index up to what the store holds. The caller sees to it that one process does so at a time."""
        with self._lock:
            self.reload()
            filings = {_key(info): info for info in store.filings()}
            held = self._held()
            if filings.keys() != held:
                writer = self._writer()
                for gone in held - filings.keys():
                    writer.delete_documents_by_term("filing", gone)
                self._add(writer, store, {key: filings[key] for key in sorted(filings.keys() - held)}, progress)
                writer.commit()
                writer.wait_merging_threads()
                self.reload()

    def _add(
        self, writer: Any, store: LibraryStore, filings: dict[str, FilingInfo], progress: Callable[[int], None]
    ) -> None:
        waiting = 0
        for key, info in filings.items():
            for page in store.pages_of(info.id):
                writer.add_document(self._document(key, page))
                progress(1)
                waiting += 1
            # Between filings: half a filing must not look like a whole one.
            if waiting >= _COMMIT_AFTER:
                writer.commit()
                waiting = 0

    def _held(self) -> set[str]:
        # Counted by a query, because the terms of what was deleted stay until segments are merged.
        everything = self._tantivy.Query.all_query()
        terms = self._searcher.terms_with_prefix("filing", "", filter_query=everything)
        return {term for term, count in terms if count}

    def _document(self, key: str, page: LibraryPage) -> Any:
        words = PageWords.of(page)
        document = self._tantivy.Document()
        document.add_text("page", page.id)
        document.add_text("filing", key)
        document.add_text("ticker", page.ticker)
        document.add_integer("year", UNKNOWN if page.fiscal_year is None else page.fiscal_year)
        document.add_integer("quarter", UNKNOWN if page.quarter is None else page.quarter)
        for kind, there in (("table", page.table), ("text", words.sentences)):
            if there:
                document.add_text("kinds", kind)
        document.add_text("words", " ".join(words.all()))
        document.add_bytes("content", pack(page, words))
        return document

    def _writer(self) -> Any:
        try:
            return self._index.writer(_HEAP, 1)
        except ValueError as error:
            raise LibraryError(
                f"the index {self.folder} cannot be written ({error}): see to its rights and to room on the disk; "
                "it may also be deleted, and the next search makes it anew"
            ) from None

    def reload(self) -> None:
        """Know what another process has written."""
        self._index.reload()
        self._searcher = self._index.searcher()

    def _open(self) -> Any:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_use(self.folder, error) from None
        try:
            return self._tantivy.Index(self._schema, path=str(self.folder))
        except ValueError as error:
            log.warning("the index %s cannot be read and is made anew: %s", self.folder, error)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        return self._tantivy.Index(self._schema, path=str(self.folder))


def _key(info: FilingInfo) -> str:
    """Names a filing as it was added, so that one that was replaced is another one."""
    return f"{info.id}\x1f{info.sha256}\x1f{info.added.isoformat()}"


def _schema(tantivy: Any) -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("page", stored=True, tokenizer_name="raw", index_option="basic")
    for name in ("filing", "ticker", "kinds"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    builder.add_integer_field("year", stored=True, indexed=True)
    builder.add_integer_field("quarter", stored=True, indexed=True)
    builder.add_bytes_field("content", stored=True)
    return builder.build()
