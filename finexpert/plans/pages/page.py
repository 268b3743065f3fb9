"""Reading a page of a library: the plan for it is run as over any filing, and its citations say whose page it is.

value, sure = read_page(library.page("AAL/2010/page_72.pdf"), plan)
value.citations[0].period, value.citations[0].page         # 'FY 2010', 'AAL/2010/page_72.pdf'
"""

from __future__ import annotations

from dataclasses import replace

from finexpert.core.answers import Citation
from finexpert.core.plans import Plan
from finexpert.core.workspace import Value, Workspace
from finexpert.errors import PlanError
from finexpert.filings.records import LibraryPage
from finexpert.plans import checks, execution


def read_page(page: LibraryPage, plan: Plan) -> tuple[Value, int]:
    """Run a plan over a page: the value, cited as this page's, and how sure it is from 0 to 100.

    Raises StepError or `execution.StepFailed` where the plan does not run.
    """
    filing = page.as_filing()
    if problems := checks.before(plan, filing, Workspace()):
        raise PlanError("; ".join(problems))
    outcome = execution.run(plan, Workspace(), execution.Surroundings(filing=filing))
    flags, sure = checks.after(outcome.plan, outcome.registers, outcome.value, filing=filing)
    value = outcome.value
    cited = tuple(_cited(citation, page) for citation in value.citations)
    # Values of several filings are told apart by company and period.
    value = replace(value, entity=page.company or page.ticker, period=value.period or period_of(page))
    return replace(value, citations=cited, flags=tuple(dict.fromkeys([*value.flags, *flags]))), sure


def _cited(citation: Citation, page: LibraryPage) -> Citation:
    return citation.model_copy(
        update={"company": page.company or page.ticker, "period": period_of(page), "page": page.id}
    )


def period_of(page: LibraryPage) -> str | None:
    """The period of the filing that a page belongs to."""
    if page.fiscal_year is None:
        return None
    return f"Q{page.quarter} {page.fiscal_year}" if page.quarter else f"FY {page.fiscal_year}"
