"""Understanding a question: what its terms mean here, and which processes it needs.

A strong planner is shown what it may mean and says itself what it follows (`choosing`, one call). Before any other two layers are
asked (`understand`): what comes out is the question with its terms explained, and the knowledge that the layers behind are given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from finexpert.core import progress
from finexpert.core.answers import Clarification
from finexpert.errors import OutputError
from finexpert.knowledge.glossary import Keyword
from finexpert.knowledge.process import Process
from finexpert.knowledge.processes.tables import Offered, offered
from finexpert.knowledge.taught import Taught
from finexpert.modules.flow.layers import Layers
from finexpert.modules.keyword_rephrasing import Known
from finexpert.modules.known_here import NOTHING, KnownHere, find
from finexpert.signatures import rules
from finexpert.text.terms import normalise
from finexpert.warehouse.warehouse import Warehouse

NO_OFFER = Offered()


@dataclass(frozen=True)
class Understood:
    """A question as it goes to planning; `unknown` is what nobody has explained yet, `flags` what could not be found out.

    `examples` are verified queries near it, as a prompt may hold them; `known_here` is what planning may choose from. `offered`
    is what a planner may read that only fills in.
    """

    question: str
    meanings: list[Keyword] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)
    unknown: list[Clarification] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    known_here: KnownHere = NOTHING
    offered: Offered = NO_OFFER

    def following(self, numbers: Sequence[int] = (), unclear: Sequence[str] = ()) -> Understood:
        """The same with what a plan says it follows of what is known here, and nothing else of that; raises OutputError where that cannot be."""
        followed = self.known_here.followed(numbers, unclear)
        offered = {each.id for each in self.known_here.entries}
        meanings = [each for each in self.meanings if each.id not in offered]
        processes = [each for each in self.processes if each.id not in offered]
        return replace(
            self,
            meanings=[*meanings, *(each for each in followed if isinstance(each, Keyword))],
            processes=[*processes, *(each for each in followed if isinstance(each, Process))],
        )

    def told(self, known: Known) -> Understood:
        """The same with one of what is known here told as what holds, which leaves no choice."""
        meanings = [*self.meanings, *([known] if isinstance(known, Keyword) else [])]
        processes = [*self.processes, *([known] if isinstance(known, Process) else [])]
        return replace(self, meanings=meanings, processes=processes, known_here=self.known_here.without(known))

    def passed_over(self) -> list[str]:
        """Titles of what the question plainly names and was not followed."""
        followed = {each.id for each in (*self.meanings, *self.processes)}
        return [each.title for each in self.known_here.passed_over(followed, self.question)]

    def knowledge(self, given: str) -> str:
        """What was given already, then meanings, processes and verified queries, as one text for a prompt."""
        parts = [given] if given and given != rules.NONE else []
        parts += [keyword.told for keyword in self.meanings]
        parts += [process.recipe() for process in self.processes]
        parts += self.examples
        return "\n\n".join(parts) or rules.NONE


def choosing(question: str, taught: Taught, schema_card: str, conversation: str = rules.NONE) -> Understood:
    """What holds for the question in any case, and what planning may choose from; no model is asked."""
    said = [keyword for keyword in taught.glossary.named_in(question) if not keyword.id]
    with progress.stage("recalling"):
        known_here = find(question, taught, schema_card, conversation)
    conventions = taught.glossary.conventions(question, schema_card)
    return Understood(question, [*said, *conventions], known_here=known_here)


def filling(question: str, taught: Taught, warehouse: Warehouse, schema_card: str) -> Understood:
    """What a planner is told that only fills in: what the question's words mean, and the SELECTs that it may read by name; no model is asked."""
    meanings = [*taught.glossary.named_in(question), *taught.glossary.conventions(question, schema_card)]
    return Understood(question, meanings, offered=offered(question, taught.memory, warehouse))


def understand(
    layers: Layers,
    question: str,
    taught: Taught,
    schema_card: str,
    conversation: str = rules.NONE,
    ask_first: Callable[[Collection[Clarification]], bool] = lambda unknown: False,
    judge: bool = True,
) -> Understood:
    """Ask the two layers; neither asks a model where the stores and the schema can tell.

    Where `ask_first` says that the user is asked about what is unknown, memory is not searched yet. Where the text of
    a layer cannot be used, the question goes on as it is, with what it names in its very words.
    """
    flags = []
    try:
        words: Any = layers.keyword_rephrasing(
            question=question,
            schema_card=schema_card,
            glossary=taught.glossary,
            memory=taught.memory,
            conversation=conversation,
            judge=judge,
        )
    except OutputError:
        words = Understood(question, taught.glossary.named_in(question))
        flags.append("its words were not checked")
    if ask_first(words.unknown):
        return Understood(words.question, words.meanings, [], words.unknown)
    try:
        with progress.stage("recalling"):
            recalled: Any = layers.memory_lookup(
                question=words.question,
                memory=taught.memory,
                conversation=conversation,
                meant=words.processes,
                judge=judge,
            )
    except OutputError:
        recalled = Understood(question, processes=taught.memory.named_in(question))
        flags.append("memory was not searched")
    meanings = [*words.meanings, *taught.glossary.conventions(question, schema_card)]
    return Understood(words.question, meanings, recalled.processes, words.unknown, flags)


def with_unclear(understood: Understood, terms: Sequence[str], hint: str = "") -> Understood:
    """What was understood, with terms that the planner could only guess; those that are explained already are left out. The `hint` goes with the question back."""
    known = {normalise(name) for entry in (*understood.meanings, *understood.processes) for name in entry.names}
    asked = {normalise(unknown.term) for unknown in understood.unknown}
    new = [
        Clarification(
            kind="term",
            term=term,
            question=f"What do you mean by {term!r}?{hint}",
            candidates=understood.known_here.alike(term),
        )
        for term in dict.fromkeys(terms)
        if normalise(term) not in known | asked
    ]
    return replace(understood, unknown=[*understood.unknown, *new])


def named_only(question: str, taught: Taught, *cards: str) -> Understood:
    """What the stores know by the very words of a question, and conventions by those of its sources, without asking a model."""
    meanings = [*taught.glossary.named_in(question), *taught.glossary.conventions(question, *cards)]
    return Understood(question, meanings, taught.memory.named_in(question))


def still_open(unknown: Collection[Clarification], declined: Collection[str]) -> Clarification | None:
    """The first term that is to be asked about: none that the user was asked before and did not explain."""
    passed = [f" {normalise(term)} " for term in declined]

    def asked_before(term: str) -> bool:
        name = f" {normalise(term)} "
        return any(name in other or other in name for other in passed)

    return next((clarification for clarification in unknown if not asked_before(clarification.term)), None)
