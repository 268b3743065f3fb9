"""What the planner is told of each source: the schema card of a database, the companies, forms and years of a library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from finexpert.answers.sources.sources import Sources
from finexpert.filings.library.library import Library
from finexpert.modules.flow.library import filings_told
from finexpert.settings import Privacy
from finexpert.warehouse.warehouse import DIALECTS


def cards(sources: Sources, said: Sequence[str], privacy: Privacy) -> Iterator[tuple[str, str]]:
    """What is told of each source, with what it is; `said` are the question and what was asked before it."""
    for name, source in sources.by_name.items():
        if isinstance(source, Library):
            yield f"{name}: filings of companies, with forms and fiscal years", filings_told(source, said)
        else:
            card = source.schema_card(privacy, " ".join(reversed(said)))
            yield f"{name}: a database that speaks {DIALECTS[source.dialect]}", card
