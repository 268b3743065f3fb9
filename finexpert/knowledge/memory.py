"""The memory: the processes that experts taught.

    memory = Memory.open()
    memory.add(Process(heading="Recession Calculation", steps=[...]), by="anna")     a draft
    memory.activate("recession calculations", by="anna")
    memory.search(["when did recessions start?"])  ->  [(Process(heading="Recession Calculation", ...), 0.71)]

It does not find out whether a process is right, nor whether a question needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from finexpert.errors import NameTaken, StoreError
from finexpert.knowledge.collection import Collection
from finexpert.knowledge.entries.entries import ACTIVE, CURRENT, Status
from finexpert.knowledge.process import Process
from finexpert.knowledge.scopes import EVERYWHERE
from finexpert.text.terms import normalise
from finexpert.warehouse.named_selects import NamedSelect

# Two headings from this cosine on say the same in other words. Of 16 pairs that do, the packaged sentence model puts 12
# above it, and of 27 that are merely related none ("start dates" and "end dates" of the same: 0.89). A miss leaves two
# processes side by side; a false alarm asks the expert in vain.
SAME_HEADING = 0.93
# Embeddings hardly tell opposites apart ("months above", "months below": 0.96), so these words must be in both or in none.
_CONTRASTS = frozenset(
    (
        "above", "below", "with", "without", "including", "excluding", "first", "last", "start", "end", "before",
        "after", "rising", "falling", "up", "down", "upper", "lower", "real", "nominal", "gross", "net", "long",
        "short", "high", "low", "max", "min", "maximum", "minimum", "peak", "trough", "month", "quarter", "year",
        "not", "no",
    )
)  # fmt: skip


class Memory(Collection[Process]):
    """Processes in a store; what is active may be used for a question."""

    name: ClassVar[str] = "memory"
    kind = Process

    def processes(self, statuses: Sequence[Status] = CURRENT) -> list[Process]:
        return self.items(statuses)

    def add(self, process: Process, by: str) -> Process:
        """Keep a new process; NameTaken where `clash` finds one, which the expert then decides."""
        if taken := self.clash(process):
            raise self._taken(process, taken)
        return self._write(self._stamped(process, by), "add", by, new=True)

    def clash(self, process: Process) -> Process | None:
        """Another one with the same heading or alias, or an active one whose heading says nearly the same."""
        return self._same_name(process) or self._same_heading(process)

    def replace(self, process: Process, by: str, id: str) -> Process:
        """Put a process that is not kept yet in the place of the one with this id, whose versions stay."""
        old = self.entries.get(self.name, id)
        if old is None:
            raise StoreError(f"there is no process with the id {id!r} to replace")
        place = {"id": id, "version": old.version, "scope": self.item(old).scope}
        new = self._stamped(process, by).model_copy(update=place)
        return self._write(new, "replace", by)

    def keep_both(self, process: Process, heading: str, by: str) -> Process:
        """Keep a new process beside the one that it clashes with: under another heading, without aliases in use."""
        free = [alias for alias in process.aliases if self.get(alias) is None]
        renamed = process.model_copy(update={"heading": heading, "aliases": free})
        if taken := self._same_name(renamed):
            raise self._taken(renamed, taken)
        return self._write(self._stamped(renamed, by), "add", by, new=True)

    def restore(self, process: Process, by: str, action: str) -> Process:
        """Keep a process with the status that it says; only names that are taken are refused."""
        if taken := self._same_name(process):
            raise self._taken(process, taken)
        if process.id and (kept := self.entries.get(self.name, process.id)):
            raise self._taken(process, self.item(kept))
        return self._write(self._stamped(process, by), action, by, new=True, id=process.id, expected=0)

    def named_selects(self) -> dict[str, tuple[NamedSelect, Process]]:
        """The SELECTs of the processes in use, by the names by which they are read; that of a scope before one of everywhere."""
        return self._unchanged("named selects", self._named_selects)

    def nearest_selects(self, question: str) -> list[tuple[NamedSelect, float]]:
        """The named SELECTs with the nearness of their names and rows in meaning to a question, the nearest first."""
        named = [one for one, _ in self.named_selects().values()]
        if not named:
            return []
        told = [f"{one.name.replace('_', ' ')}: {one.says}" for one in named]
        vectors = self._unchanged("vectors of named selects", lambda: self.embedder.embed(told))
        scores = vectors @ self.embedder.embed([question])[0]
        pairs = [(one, float(score)) for one, score in zip(named, scores, strict=True)]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0].name))

    def named_elsewhere(self, id: str) -> dict[str, NamedSelect]:
        """The named SELECTs of all processes in use but this one."""
        return {
            name: one if owner.id != id else replace(one, of=one.also)
            for name, (one, owner) in self.named_selects().items()
            if owner.id != id or one.also
        }

    def _named_selects(self) -> dict[str, tuple[NamedSelect, Process]]:
        held = [self.item(entry) for entry in self.entries.entries(self.name, ACTIVE) if self._holds(entry)]
        named: dict[str, tuple[NamedSelect, Process]] = {}
        for process in sorted(held, key=lambda each: bool(each.scope), reverse=True):
            for one in process.named_selects:
                first, owner = named.setdefault(one.name, (one, process))
                if owner.id != process.id and owner.scope == process.scope:
                    named[one.name] = replace(first, also=one.of), owner
        return named

    def _same_name(self, process: Process) -> Process | None:
        if process.status == "retired":
            return None
        # What holds everywhere meets what holds for any source.
        found = (self.get_in(process.scope, name) or self._of_everywhere(process, name) for name in process.phrases)
        return next((other for other in found if other is not None and other.id != process.id), None)

    def _of_everywhere(self, process: Process, name: str) -> Process | None:
        return self.get_in(EVERYWHERE, name) if process.scope else self.get(name)

    def _same_heading(self, process: Process) -> Process | None:
        heading = normalise(process.heading)
        for near, _ in self.search([process.heading], limit=4):
            # The nearest phrase may be an alias, and an alias only says what the process is also found by.
            theirs = normalise(near.heading)
            one, other = self.embedder.embed([heading, theirs])
            elsewhere = near.scope not in ("", process.scope)
            if (
                not elsewhere
                and near.id != process.id
                and float(one @ other) >= SAME_HEADING
                and not _opposed(heading, theirs)
            ):
                return near
        return None

    def _taken(self, process: Process, taken: Process) -> NameTaken:
        shared = next((phrase for phrase in process.phrases if normalise(phrase) in taken.names), None)
        if shared:
            what = f"the name {shared!r} is taken by"
        elif process.id == taken.id:
            what = f"{process.heading!r} was changed, and renamed, since; it is"
        else:
            what = f"{process.heading!r} says nearly the same as"
        return NameTaken(
            f"{what} the process {taken.heading!r} ({taken.status}, version {taken.version}). Replace it, keep both "
            f"under another heading, or leave it; `finexpert memory show {taken.heading!r}` shows it",
            entry_id=taken.id,
        )


def _opposed(heading: str, other: str) -> bool:
    """Whether normalised headings differ in a number or in a word that has an opposite.

    >>> _opposed("month above 5", "month below 5"), _opposed("2 quarter rule", "3 quarter rule"), _opposed("a b", "b c")
    (True, True, False)
    """
    differing = set(heading.split()) ^ set(other.split())
    return any(word in _CONTRASTS or any(char.isdigit() for char in word) for word in differing)
