"""Values of an earlier part in the words of a later one, where a model may see them.

    question "What do the last 10-Ks of {top.company} say about covenants?"  ->  "What do the last 10-Ks of Boeing, 3M say about covenants?"

What stands on a page may be shown. What stands in a warehouse may be shown only where its owner published the column: any other
value stays at home, and the question is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from finexpert.errors import PlanError, Unanswerable
from finexpert.signatures.source_planning import SourcePart

PLACE = re.compile(r"\{\{?\s*([A-Za-z_]\w*)\.([A-Za-z_]\w*)\s*\}?\}")
MOST = 10


@dataclass(frozen=True)
class Fetched:
    """The table of a part. `published` are the values of its columns that a prompt may hold; None where all of them may."""

    data: pd.DataFrame = field(repr=False)
    published: Mapping[str, frozenset[str]] | None = None

    def shown(self, part: str, column: str) -> list[str]:
        """The values of a column, each once; Unanswerable where a model may not see them."""
        if column not in self.data.columns:
            raise PlanError(f"{{{part}.{column}}}: the part {part} has only the columns {list(self.data.columns)}")
        values = [str(value) for value in self.data[column].dropna().unique()]
        if self.published is not None and not set(values) <= self.published.get(column, frozenset()):
            raise Unanswerable(
                f"the values of {part}.{column} are not published, so no filing may be searched for them: publish the column that"
                " they come from in the semantic model (`finexpert model publish`), or name them in the question"
            )
        if not values or len(values) > MOST:
            raise PlanError(f"{{{part}.{column}}} gives {len(values)} values, and 1 to {MOST} can be searched for")
        return values


def inserted(part: SourcePart, fetched: Mapping[str, Fetched]) -> SourcePart:
    """The part with the values of earlier ones in its question, companies and searches. PlanError for an unknown part."""

    def values(found: re.Match[str]) -> list[str]:
        if found[1] not in fetched:
            raise PlanError(f"{found[0]} names no earlier part; there are {sorted(fetched)}")
        return fetched[found[1]].shown(found[1], found[2])

    def words(text: str) -> str:
        return PLACE.sub(lambda found: ", ".join(values(found)), text)

    companies: list[str] = []
    for name in part.companies:
        whole = PLACE.fullmatch(name.strip())
        companies += values(whole) if whole else [words(name)]
    changes = {
        "question": words(part.question),
        "companies": companies,
        "searches": [words(search) for search in part.searches],
    }
    return part.model_copy(update=changes)
