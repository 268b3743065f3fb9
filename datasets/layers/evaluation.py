"""Memory lookup and keyword rephrasing on their labelled sets, as the layers really run: with stores and a model.

    lookup = lookup_function(MemoryLookup(), memory, models)
    lookup("How many recessions have there been since 1980?", "")  ->  (["Recession periods"], "whole", 2)

The labels and the scoring stand in `lookup_evaluation` and `keyword_evaluation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from finexpert.datasets.layers import keyword_examples
from finexpert.datasets.layers.keyword_evaluation import Rephrased
from finexpert.datasets.layers.keyword_examples import KeywordExample, Scenario
from finexpert.datasets.layers.lookup_evaluation import Lookup, Tier
from finexpert.embeddings.embedding import Embedder
from finexpert.knowledge.memory import Memory
from finexpert.knowledge.taught import Taught
from finexpert.language_models.roles import LanguageModels
from finexpert.language_models.usage import Meter
from finexpert.modules.calling import using
from finexpert.modules.keyword_rephrasing import KeywordRephrasing
from finexpert.modules.memory_lookup import MemoryLookup
from finexpert.signatures import rules


def lookup_function(module: MemoryLookup, memory: Memory, models: LanguageModels, *, judge: bool = True) -> Lookup:
    """The layer as the scoring calls it: headings recalled, tier, calls of the model."""

    def look_up(question: str, conversation: str) -> tuple[Sequence[str], Tier, int]:
        with using(models), Meter() as meter:
            found = module(question=question, memory=memory, conversation=conversation or rules.NONE, judge=judge)
        return [process.heading for process in found.processes], found.tier, meter.usage().calls

    return look_up


def glossaries(folder: Path, embedder: Embedder) -> dict[str, Taught]:
    """A store for each scenario with its glossary, in files under `folder`."""
    stores = {}
    for name, scenario in keyword_examples.load_scenarios().items():
        stores[name] = Taught.open(folder / f"{name}.sqlite", embedder)
        keyword_examples.fill(stores[name].glossary, scenario)
    return stores


def rephrase_function(
    module: KeywordRephrasing, stores: Mapping[str, Taught], models: LanguageModels, *, judge: bool = True
) -> Callable[[KeywordExample], Rephrased]:
    """The layer as the scoring calls it."""
    scenarios: Mapping[str, Scenario] = keyword_examples.load_scenarios()

    def rephrase(example: KeywordExample) -> Rephrased:
        taught = stores[example.scenario]
        with using(models), Meter() as meter:
            found = module(
                question=example.question,
                schema_card=scenarios[example.scenario].schema_card,
                glossary=taught.glossary,
                memory=taught.memory,
                conversation=example.conversation or rules.NONE,
                judge=judge,
            )
        return Rephrased(
            question=found.question,
            terms=[keyword.term for keyword in found.meanings],
            asked=[unclear.term for unclear in found.unknown],
            calls=meter.usage().calls,
        )

    return rephrase
