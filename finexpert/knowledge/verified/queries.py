"""The verified queries of a store, beside processes and glossary, with the same history.

They are kept here and not in the semantic model: a store tells who verified what and when, takes it back, serves several people at once
and needs no file beside the data, while rewriting a model's file would lose the comments that people wrote into it.
"""

from __future__ import annotations

from typing import ClassVar

from finexpert.errors import NameTaken, StoreError
from finexpert.knowledge.collection import EVERY, Collection
from finexpert.knowledge.entries.entries import ACTIVE
from finexpert.knowledge.verified.matching import values_in
from finexpert.knowledge.verified.query import Source, VerifiedQuery
from finexpert.text.texts import as_asked

SHORT = 8  # characters of an id that people type


class VerifiedQueries(Collection[VerifiedQuery]):
    """Verified queries in a store."""

    name: ClassVar[str] = "verified"
    kind = VerifiedQuery

    def verify(self, query: VerifiedQuery, by: str) -> VerifiedQuery:
        """Keep a verified query; where the question has one already, as a new version of it."""
        query = self._stamped(query, by)
        entry = self.entries.named(self.name, query.names[0])
        if entry is None:
            return self._write(query.model_copy(update={"id": ""}), "verify", by, new=True)
        known = self.item(entry)
        if query.same_as(known):
            return known
        return self._write(query.model_copy(update={"id": known.id, "version": known.version}), "verify", by)

    def propose(self, query: VerifiedQuery, by: str) -> VerifiedQuery:
        """Keep a query as a draft, which answers nothing until a person makes it active; NameTaken where its question has one."""
        query = self._stamped(query, by).model_copy(update={"id": "", "version": 0, "status": "draft"})
        if entry := self.entries.named(self.name, query.names[0]):
            known = self.item(entry)
            if known.status == "draft" and query.model_copy(update={"status": "active"}).same_as(known):
                return known
            raise NameTaken(
                f"{known.title!r} has a verified query already ({known.status}): `finexpert verified show {known.id[:SHORT]}` shows it",
                entry_id=known.id,
            )
        return self._write(query, "propose", by, new=True)

    def find(self, name: str) -> VerifiedQuery:
        """The one with this id, the beginning of it, or these words; StoreError where there is none, or several."""
        wanted = as_asked(name)
        every = self.items(EVERY)
        found = [query for query in every if query.question == wanted and query.status != "retired"]
        found = found or [query for query in every if len(wanted) >= 4 and query.id.startswith(wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(query.id[:SHORT] for query in found)
            raise StoreError(f"several verified queries are called {wanted[:200]!r}: give one of the ids {ids}")
        raise StoreError(
            f"there is no verified query {wanted[:200]!r}; `finexpert verified list --all` shows all with their ids"
        )

    def of_source(self, source: Source) -> list[VerifiedQuery]:
        """The active ones over these data; read again only where something was changed."""
        active = self._unchanged("active", lambda: self.items(ACTIVE))
        return [query for query in active if query.source.key == source.key]

    def matching(self, question: str, source: Source) -> list[tuple[VerifiedQuery, dict[str, str]]]:
        """Those over these data that a question is, with the values of their variables.

        One in these very words wins over one without a variable, and that over one with variables.
        """
        said = as_asked(question)
        found = [(query, values) for query in self.of_source(source) if (values := values_in(said, query)) is not None]
        exact = [(query, values) for query, values in found if query.question == said]
        plain = [(query, values) for query, values in found if not query.variables]
        return exact or plain or found
