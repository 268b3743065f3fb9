"""Source planning: one call that chooses among several sources, and plans what each gives."""

from __future__ import annotations

from collections.abc import Collection

import dspy

from finexpert.core.answers import AnswerFormat
from finexpert.errors import NotInSources, OutputError
from finexpert.modules.calling import ask
from finexpert.modules.planning import RESULT, format_of, unclear_terms
from finexpert.signatures import rules
from finexpert.signatures.source_planning import PlanSources, SourcePart
from finexpert.signatures.text import NOTHING, said_missing, without_fences

LAYER = "planning"


class SourcePlanning(dspy.Module):  # type: ignore[misc]
    """From a question and the cards of its sources to parts, and how they meet."""

    def __init__(self) -> None:
        super().__init__()
        self.plan = dspy.Predict(PlanSources)

    def forward(
        self,
        *,
        question: str,
        sources: str,
        databases: Collection[str],
        libraries: Collection[str],
        today: str,
        answer_format: AnswerFormat | None = None,
        measures: str = rules.NONE,
        knowledge: str = rules.NONE,
        conversation: str = rules.NONE,
        feedback: str = rules.NONE,
    ) -> dspy.Prediction:
        """A prediction with `parts`, `combine`, `understood`, `answer_format`, `unclear`, and what is `missing` beside the parts.

        Raises OutputError for parts that do not fit together, NotInSources where the sources cannot answer the question.
        """
        made = ask(
            self.plan,
            LAYER,
            sources=sources,
            measures=measures,
            knowledge=knowledge,
            conversation=conversation,
            today=today,
            question=question,
            answer_type=answer_format.instruction() if answer_format else "decide from the question",
            feedback=feedback,
        )
        missing = said_missing(made.missing)
        if missing and not made.parts:
            raise NotInSources(missing)
        combine = without_fences(made.combine or "").strip().rstrip("; \n")
        combine = "" if combine.lower() in NOTHING else combine
        _check(made.parts, combine, databases, libraries)
        return dspy.Prediction(
            parts=made.parts,
            combine=combine,
            understood=made.understood,
            answer_format=answer_format or format_of(made.answer_kind, made.unit),
            unclear=unclear_terms(made, question),
            missing=missing,
        )


def _check(parts: list[SourcePart], combine: str, databases: Collection[str], libraries: Collection[str]) -> None:
    """Raise OutputError where the parts are no plan."""
    if not parts:
        raise OutputError("there is neither a part nor anything missing: name the sources that the question needs")
    names = [part.name.lower() for part in parts]
    if len(set(names)) != len(names):
        raise OutputError(f"two parts have the same name: {names}")
    if RESULT in names:
        raise OutputError(f"a part is called {RESULT!r}, as the answer is: give it another name")
    if len(parts) > 1 and not combine:
        raise OutputError(f"there are {len(parts)} parts and no `combine`: write the SELECT over {', '.join(names)}")
    for part in parts:
        if part.source not in (*databases, *libraries):
            raise OutputError(f"there is no source {part.source!r}: {', '.join((*databases, *libraries))}")
        if combine and not part.columns:
            raise OutputError(f"the part {part.name} names no columns, and `combine` reads it: name them")
        if combine and part.source in databases and not part.select.strip():
            raise OutputError(f"the part {part.name} is of the database {part.source}, and has no SELECT")
        if part.source in libraries and part.select.strip():
            raise OutputError(
                f"the part {part.name} is of filings, which know no SELECT: name the columns of its table"
            )
