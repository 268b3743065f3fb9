"""The layers that a question's journey asks, as it sees them: no journey knows the program that made it."""

from __future__ import annotations

from typing import Any, Protocol

from finexpert.modules.adversarial_review import AdversarialReview
from finexpert.modules.critique import Critique
from finexpert.modules.filing_search import FilingSearch
from finexpert.modules.keyword_rephrasing import KeywordRephrasing
from finexpert.modules.learning.listening import Listening
from finexpert.modules.learning.memorization import Memorization
from finexpert.modules.library.planning import LibraryPlanning
from finexpert.modules.library.reading import LibraryReading
from finexpert.modules.library.search import LibrarySearch
from finexpert.modules.library.table import LibraryTable
from finexpert.modules.memory_lookup import MemoryLookup
from finexpert.modules.panel import Panel
from finexpert.modules.planning import Planning
from finexpert.modules.script_generation import ScriptGeneration
from finexpert.modules.source_planning import SourcePlanning
from finexpert.modules.sql_extraction import SqlExtraction


class Layers(Protocol):
    """The capabilities of a program, by their names."""

    keyword_rephrasing: KeywordRephrasing
    memory_lookup: MemoryLookup
    planning: Planning
    sql_extraction: SqlExtraction
    script_generation: ScriptGeneration
    filing_search: FilingSearch
    library_planning: LibraryPlanning
    library_search: LibrarySearch
    library_reading: LibraryReading
    library_table: LibraryTable
    source_planning: SourcePlanning
    critique: Critique
    panel: Panel
    adversarial_review: AdversarialReview


class Program(Layers, Protocol):
    """The layers combined: called with a question and what it is asked of, it gives a prediction with an `answer`."""

    memorization: Memorization
    listening: Listening

    def __call__(self, **asked: Any) -> Any: ...
