"""Several sources of one conversation, by name.

    Sources.of([warehouse, library]).name          "fred, filings"
    Sources.of({"macro": warehouse, "us": library})["macro"]

Names are what a plan calls the sources, so each is one word. Nothing is asked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from finexpert.core.plans import Extract, Script
from finexpert.core.workspace import NamedFrame, Turn, Workspace
from finexpert.errors import ConfigurationError
from finexpert.filings.library.library import Library
from finexpert.filings.page.filing import Filing
from finexpert.warehouse.files.frames import is_frame
from finexpert.warehouse.warehouse import Warehouse

Source = Warehouse | Library
ALL = "all"  # what a door calls all sources that it has
_BETWEEN = "/"


@dataclass(frozen=True)
class Sources:
    """The sources by name; there are at least two."""

    by_name: Mapping[str, Source]

    @classmethod
    def of(cls, given: Mapping[str, Source] | Iterable[Source]) -> Sources:
        """The sources of a mapping, or of a list, each by its own name. ConfigurationError for a page, or for fewer than two."""
        pairs = given.items() if isinstance(given, Mapping) else [(source.name, source) for source in _no_pages(given)]
        named = dict(zip(words_of_names(name for name, _ in pairs), (source for _, source in pairs), strict=True))
        _no_pages(named.values())
        if len(named) < 2:
            raise ConfigurationError(f"{len(named)} source is not several: give the source itself")
        return cls(named)

    @property
    def name(self) -> str:
        """The names in one line."""
        return ", ".join(self.by_name)

    @property
    def warehouses(self) -> dict[str, Warehouse]:
        """Those with tables."""
        return {name: source for name, source in self.by_name.items() if not isinstance(source, Library)}

    @property
    def libraries(self) -> dict[str, Library]:
        """Those with filings."""
        return {name: source for name, source in self.by_name.items() if isinstance(source, Library)}

    def __getitem__(self, name: str) -> Source:
        return self.by_name[name]

    def schema_card(self) -> str:
        """What is known of all sources, for a person."""
        said = [f"source {name}\n{source.schema_card()}" for name, source in self.warehouses.items()]
        said += [f"source {name}\n{len(source.filings()):,} filings" for name, source in self.libraries.items()]
        return "\n\n".join(said)


def are_several(source: object) -> TypeGuard[Sequence[Any] | Mapping[str, Any]]:
    """Whether a source is a list, or a dict of sources; a dict of frames is one source.

    >>> are_several(["a.duckdb", "b.csv"]), are_several("a.duckdb")
    (True, False)
    """
    return isinstance(source, list | tuple) or (isinstance(source, Mapping) and not is_frame(source))


def words_of_names(names: Iterable[str]) -> list[str]:
    """What plans call sources of these names: one word each, and no two the same.

    >>> words_of_names(["Macro 1", "us", "US"])
    ['macro_1', 'us', 'us_2']
    """
    words: dict[str, None] = {}
    for name in names:
        words[_unused(_word(name), words)] = None
    return list(words)


def view(workspace: Workspace, name: str, source: Source) -> Workspace:
    """The conversation as one source may see it: its own frames, and the turns without values of tables where it is a library.

    The prompts of a library show earlier answers, and what was computed from rows must not stand there.
    """
    start = name + _BETWEEN
    frames = {key.removeprefix(start): frame for key, frame in workspace.frames.items() if key.startswith(start)}
    turns = [_without_rows(turn) for turn in workspace.turns] if isinstance(source, Library) else workspace.turns
    return Workspace(frames, list(turns))


def keep(workspace: Workspace, name: str, frames: Mapping[str, NamedFrame]) -> None:
    """Keep the frames of one source in the conversation, apart from those of the others."""
    workspace.frames.update({f"{name}{_BETWEEN}{key}": frame for key, frame in frames.items()})


def _without_rows(turn: Turn) -> Turn:
    of_pages = turn.plan is not None and not any(isinstance(step, Extract | Script) for step in turn.plan.steps)
    return turn if of_pages else replace(turn, value=None)


def _no_pages(sources: Iterable[Any]) -> list[Any]:
    given = list(sources)
    for source in given:
        if isinstance(source, Filing):
            raise ConfigurationError(
                f"the page {source.id} cannot be asked together with other sources: put it into a library with"
                " `finexpert library add FILE`, and give the library"
            )
    return given


def _word(name: str) -> str:
    """
    >>> _word("sales 2023"), _word("10k")
    ('sales_2023', 's_10k')
    """
    word = re.sub(r"\W+", "_", name).strip("_").lower() or "source"
    return word if word[0].isalpha() else f"s_{word}"


def _unused(name: str, taken: Mapping[str, object]) -> str:
    number = 2
    unique = name
    while unique in taken:
        unique, number = f"{name}_{number}", number + 1
    return unique
