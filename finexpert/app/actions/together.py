"""Sources that are asked together: which a person means, and how all of them are open while a question runs.

    desk.meant(person, "all")                  "given-trades_52d1e5,given-filings_0ab1c2"
    desk.create(person, "Trades,filings")      a conversation over both

A conversation names them by their ids, with commas between; nothing is kept of them but that, so each is looked up for its person
every time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from finexpert.answers.sources import sources as several
from finexpert.app.actions.meaning import Meaning
from finexpert.app.actions.places import Place
from finexpert.app.people.people import Person
from finexpert.errors import NotFound

_BETWEEN = ","


class Together(Meaning):
    """One source, or several, of a conversation."""

    def meant(self, person: Person, words: str) -> str:
        """The id of a source by its id or its name, or the ids of several: of all, or of those with commas between them.

        NotFound for one that is not the person's. Several stand in the order in which the person sees them. What somebody calls a source
        "all", or by the names of two others, is meant by its id alone.
        """
        known = self.sources(person)
        ids = {each.name: each.id for each in reversed(known)} | {each.id: each.id for each in known}
        named = list(ids) if words == several.ALL else [word.strip() for word in words.split(_BETWEEN)]
        wanted = {ids.get(name) for name in named}
        if None in wanted:
            wanted = {ids.get(words)}
        if not wanted or None in wanted:
            raise NotFound(f"there is no source {words[:80]!r}")
        return _BETWEEN.join(each.id for each in known if each.id in wanted)

    def ids_meant(self, person: Person, words: str) -> list[str]:
        """The ids of the sources that a person means, one by one."""
        return self.meant(person, words).split(_BETWEEN)

    def names_of(self, person: Person, ids: str) -> str:
        """What the sources of a conversation are called, for a person."""
        names = {each.id: each.name for each in self.sources(person)}
        return ", ".join(names.get(id, "a source that was removed") for id in ids.split(_BETWEEN))

    def _places(self, person: Person, ids: str) -> dict[str, Place]:
        """Where each source of a conversation is, by the name that plans call it; NotFound where one is not the person's any more."""
        places = [self._place(person, id) for id in ids.split(_BETWEEN)]
        return dict(zip(several.words_of_names(place.info.name for place in places), places, strict=True))

    @contextmanager
    def _opened_at(self, places: Mapping[str, Place]) -> Iterator[Any]:
        """The one source of a conversation, or `Sources` of several, for as long as the block runs."""
        with ExitStack() as held:
            opened = {
                name: held.enter_context(self.opened.using(place.key, self._maker(place)))
                for name, place in places.items()
            }
            yield several.Sources(opened) if len(opened) > 1 else next(iter(opened.values()))
