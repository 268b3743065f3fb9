"""Planning over a library: a question into searches and what joins them, and the plan for a page that was found.

It stands beside `Planning`, which knows one page or one warehouse: the two are compiled apart, on other examples.
"""

from __future__ import annotations

import dspy
from pydantic import ValidationError

from finexpert.core.plans import Compute, Lookup, Plan, Search, Step, reference
from finexpert.errors import OutputError
from finexpert.modules.calling import ask
from finexpert.signatures import rules
from finexpert.signatures.library.planning import CompanyLookup, DecomposeQuestion, MakePagePlan, PageSearch

LAYER = "planning"


class LibraryPlanning(dspy.Module):  # type: ignore[misc]
    """Two predictors: `parts` splits a question, `page` plans over one page or says that it does not answer."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = dspy.Predict(DecomposeQuestion)
        self.page = dspy.Predict(MakePagePlan)

    def forward(
        self,
        *,
        question: str,
        companies: str,
        company_table: str = rules.NONE,
        today: str,
        knowledge: str = rules.NONE,
        conversation: str = rules.NONE,
        feedback: str = rules.NONE,
    ) -> dspy.Prediction:
        """A prediction with `plan`, whose steps search, look up and compute; raises OutputError for unusable text."""
        made = ask(
            self.parts,
            LAYER,
            companies=companies,
            company_table=company_table,
            knowledge=knowledge,
            conversation=conversation,
            today=today,
            question=question,
            feedback=feedback,
        )
        return dspy.Prediction(plan=_plan([_step(step) for step in made.steps], made.answer, made.interpretation))

    def over_page(
        self, *, question: str, page: str, knowledge: str = rules.NONE, feedback: str = rules.NONE
    ) -> dspy.Prediction:
        """A prediction with `plan`, or None and what the page `lacks`; raises OutputError for unusable text."""
        made = ask(self.page, LAYER, page=page, knowledge=knowledge, question=question, feedback=feedback)
        if not made.answers or not made.steps:
            return dspy.Prediction(plan=None, lacks=made.entity)
        return dspy.Prediction(plan=_plan(made.steps, made.answer, made.entity), lacks="")


def _step(made: PageSearch | CompanyLookup | Compute) -> Step:
    if isinstance(made, PageSearch):
        return Search(id=made.id, question=made.question, company=made.company, year=made.year, quarter=made.quarter)
    if isinstance(made, CompanyLookup):
        return Lookup(id=made.id, select=made.select)
    return made


def _plan(steps: list[Step], answer: str, about: str) -> Plan:
    answer = answer.strip()
    if answer and reference(answer) is None:
        raise OutputError(f"answer is {answer[:60]!r}, and must be 'step N'")
    if not steps:
        raise OutputError("the plan has no steps")
    try:
        return Plan(steps=steps, answer=answer or None, entity=about, interpretation=about)
    except ValidationError as error:
        raise OutputError(f"the steps do not form a plan: {error.errors()[0]['msg']}") from error
